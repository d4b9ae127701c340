"""Files that grow by whole lines, each line read once, wherever its file is moved meanwhile.

A file is known by its inode, so one that is rotated away is read to its end under its new name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, TypeAlias

from repurpose.schema.intake import IntakeError, decode

__all__ = ["Growing", "Place"]

_BACKLOG = 64 * 1024 * 1024
"""Bytes that are read of what was there before; what is older is about other runs."""
_LONGEST = 16 * 1024 * 1024
"""Bytes of a line; a longer one is passed over."""
_HEAD = 1024
"""Bytes by which a file is told from one that took its place, or its inode."""
_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".log", ".txt"})
"""Of the files in a folder that are read."""
_Identity: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands."""

    identity: _Identity
    offset: int
    length: int


@dataclass(slots=True)
class _File:
    path: Path
    offset: int = 0
    """Everything before it has been read."""
    inside: bool = False
    """Whether the offset is inside a line of which the beginning was passed over."""
    head: bytes = b""
    """How it begins."""


@dataclass(slots=True)
class Growing:
    """A file with those it was rotated into, or the files of a folder."""

    path: Path
    """It need not be there yet."""
    _files: dict[_Identity, _File] = field(default_factory=dict)

    def __post_init__(self) -> None:
        left = _BACKLOG
        with contextlib.suppress(OSError):  # whoever asks for lines is told
            for _, identity, path, size in sorted(self._seen(), reverse=True):  # the latest first
                begin = max(0, size - left)
                left -= size - begin
                self._files[identity] = _File(path, begin, inside=begin > 0)

    def lines(self) -> Iterator[tuple[Place, bytes]]:
        """The lines that came since the last time, without half of one at the end.

        Raises:
            OSError: the folder or a file in it cannot be read.
        """
        seen = {identity: path for _, identity, path, _ in sorted(self._seen())}
        for identity in [known for known in self._files if known not in seen]:
            del self._files[identity]
        for identity, path in seen.items():
            file = self._files.setdefault(identity, _File(path))
            file.path = path
            try:
                with path.open("rb") as stream:
                    if _identity(os.fstat(stream.fileno())) == identity:
                        yield from _new_lines(identity, file, stream)
            except FileNotFoundError:  # moved meanwhile; it is found again the next time
                continue

    def line(self, place: Place) -> bytes:
        """A line that was there before; empty where it is gone."""
        file = self._files.get(place.identity)
        if file is None:
            return b""
        try:
            with file.path.open("rb") as stream:
                if _identity(os.fstat(stream.fileno())) != place.identity:
                    return b""
                stream.seek(place.offset)
                return stream.read(place.length)
        except OSError:
            return b""

    def _seen(self) -> Iterator[tuple[int, _Identity, Path, int]]:
        """Time of change, identity, path and size of each file that is there."""
        if self.path.is_dir():
            folder, wanted = self.path, None
        else:
            folder, wanted = self.path.parent, self.path
        if not folder.is_dir():
            return
        for path in folder.iterdir():
            fits = _is_rotated(path, wanted) if wanted else path.suffix in _SUFFIXES
            try:
                if fits and path.is_file():
                    found = path.stat()
                    yield found.st_mtime_ns, _identity(found), path, found.st_size
            except FileNotFoundError:  # it was moved away between two looks
                continue


def _is_rotated(path: Path, wanted: Path) -> bool:
    """Whether it is that file, or a name that it has after it was rotated.

    The collector puts a time before the suffix, `spans-2026-01-31T10-00-00.000.json`; logrotate
    a number behind it, `spans.json.1`.
    """
    if path.name == wanted.name:
        return True
    behind = path.name.removeprefix(f"{wanted.name}.")
    timed = path.name.startswith(f"{wanted.stem}-") and path.suffix == wanted.suffix
    return timed or (behind != path.name and behind.isdecimal())


def _new_lines(identity: _Identity, file: _File, stream: BinaryIO) -> Iterator[tuple[Place, bytes]]:
    head = stream.read(_HEAD)
    if not head.startswith(file.head) or os.fstat(stream.fileno()).st_size < file.offset:
        file.offset, file.inside = 0, False  # emptied and written anew, or another file
    file.head = head
    stream.seek(file.offset)
    while line := stream.readline(_LONGEST):
        ends = line.endswith(b"\n")
        if not (ends or file.inside or len(line) == _LONGEST or _is_whole(line)):
            return  # the rest of it is still to come
        place, skipped = Place(identity, file.offset, len(line)), file.inside
        file.offset += len(line)
        file.inside = not ends and (skipped or len(line) == _LONGEST)
        if not skipped and not file.inside:
            yield place, line


def _is_whole(line: bytes) -> bool:
    """Whether a last line without its end is one all the same; half an object is no JSON."""
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        decode(line.decode(errors="replace"))
    except IntakeError:
        return False
    return True


def _identity(found: os.stat_result) -> _Identity:
    return found.st_dev, found.st_ino
