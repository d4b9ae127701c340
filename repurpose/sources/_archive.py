"""Documents in ZIP containers: their parts, read without trusting what the container says.

Nothing is ever written to disk, so the names of parts are only names. Sizes are counted while
parts are unpacked, for declared sizes lie. A damaged part costs that part.
"""

from __future__ import annotations

import io
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import unquote

from lxml import etree

from repurpose.errors import SourceError
from repurpose.sources._raw import MAX_BYTES, Raw, shown
from repurpose.sources._xml import TooManyNodesError, parsed_xml

__all__ = ["MAX_PART", "MAX_PARTS", "MAX_RATIO", "MAX_UNPACKED", "Archive", "place_of"]

MAX_UNPACKED = 200_000_000
"""Bytes that all parts may have when they are unpacked, by their own word and by count."""
MAX_RATIO = 100
"""How much larger an archive may be unpacked; prose in XML is about ten times as large."""
MAX_PART = 50_000_000
"""Bytes of one part; the text of a thousand pages in Word's markup is about 20 MB."""
MAX_PARTS = 20_000

_FLOOR = 20_000_000  # bytes; what unpacks to less does no harm, and small files repeat themselves
_CHUNK = 65_536
_MOST_WARNINGS = 10
_ENCRYPTED = 0x1  # APPNOTE 4.4.4: bit 0 of the general purpose flags
# ECMA-376 part 2, ODF part 2 and EPUB OCF 4.2.2 know these two alone; zipfile would take more,
# one of which reserves as much memory as the archive asks for.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_FAULTS = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


def place_of(href: str, base: str) -> str:
    """The part that `href` names in the part `base`; it never leaves the container.

    >>> place_of("../media/My%20note.xml#a", "ppt/slides/one.xml"), place_of("/../x", "a/b")
    ('ppt/media/My note.xml', 'x')
    """
    path = unquote(href.partition("#")[0])
    whole = posixpath.join("/", posixpath.dirname(base), path)
    return posixpath.normpath(whole).lstrip("/")


class Archive:
    """The parts of one document, by name. Faults of single parts are collected in `warnings`.

    Raises:
        SourceError: `corrupt`, `encrypted` or `too-large`, also while parts are read.
    """

    def __init__(self, raw: Raw) -> None:
        self._where = shown(raw.origin)
        self._unpacked = 0
        self._warnings: list[str] = []
        if len(raw.content) > MAX_BYTES:
            raise self.too_large(f"larger than {MAX_BYTES // 1_000_000} MB")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(raw.content))
        except _FAULTS:
            raise self.corrupt("a damaged or incomplete file") from None
        entries = self._file.infolist()
        self._check(entries, len(raw.content))
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            # Part names are equal whatever their case (ECMA-376 part 2, 6.2.2.3); some programs
            # write backslashes. Of equal names the last one counts, as for ZIP tools.
            self._entries[_key(entry.filename)] = entry

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._entries

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a user should know, one line each; the first ones where there are many."""
        further = len(self._warnings) - _MOST_WARNINGS
        rest = (f"and {further} more",) if further > 0 else ()
        return (*self._warnings[:_MOST_WARNINGS], *rest)

    @property
    def unpacked(self) -> int:
        """How many bytes were read so far, unpacked."""
        return self._unpacked

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, in the order of the archive."""
        return tuple(one.filename for one in self._entries.values())

    def read(self, name: str) -> bytes | None:
        """The content of a part; None where it is absent, or damaged, which leaves a warning."""
        entry = self._entries.get(_key(name))
        if entry is None:
            return None
        try:
            return self._inflated(entry)
        except _FAULTS:
            self.lost(name, "damaged")
            return None

    def xml(
        self, name: str, renamed: Mapping[bytes, bytes] = MappingProxyType({})
    ) -> etree._Element | None:
        """The root of a part in XML; None where it is absent, or damaged: see `read`.

        `renamed` holds names of namespaces that have several, and the one that is looked for.
        """
        content = self.read(name)
        if content is None:
            return None
        for old, new in renamed.items():
            content = content.replace(old, new)
        try:
            return parsed_xml(content)
        except TooManyNodesError:
            raise self.too_large("holds a part of too many elements") from None
        except ValueError as fault:
            self.lost(name, str(fault))
            return None

    def lost(self, name: str, why: str) -> None:
        """Note that a part could not be read."""
        self.warn(f"the part {shown(name)} was left out: {why}")

    def warn(self, line: str) -> None:
        """Note what a user should know about this document."""
        self._warnings.append(line)

    def corrupt(self, what: str) -> SourceError:
        """The refusal of a document that cannot be read at all."""
        return SourceError("corrupt", f"{self._where}: {what}; save or download it again")

    def encrypted(self) -> SourceError:
        """The refusal of a document that only a password or a licence opens."""
        return SourceError(
            "encrypted", f"{self._where}: protected by a password or a licence; save it without"
        )

    def too_large(self, what: str) -> SourceError:
        """The refusal of a document that would take too long or too much memory to read."""
        return SourceError("too-large", f"{self._where}: {what}; split it into parts")

    def _check(self, entries: list[zipfile.ZipInfo], packed: int) -> None:
        unpacked = sum(one.file_size for one in entries)
        if len(entries) > MAX_PARTS:
            raise self.too_large(f"holds more than {MAX_PARTS:,} parts")
        if unpacked > MAX_UNPACKED:
            raise self.too_large(f"unpacks to more than {MAX_UNPACKED // 1_000_000} MB")
        if unpacked > max(_FLOOR, MAX_RATIO * packed):
            raise self.too_large(f"unpacks to more than {MAX_RATIO} times its size")
        if any(one.flag_bits & _ENCRYPTED for one in entries):
            raise self.encrypted()

    def _inflated(self, entry: zipfile.ZipInfo) -> bytes:
        """The whole content; zipfile stops at the declared size and compares the check sum."""
        if entry.compress_type not in _METHODS:
            raise NotImplementedError
        chunks: list[bytes] = []
        size = 0
        with self._file.open(entry) as stream:
            while chunk := stream.read(_CHUNK):
                size += len(chunk)
                if size > MAX_PART:
                    raise self.too_large(f"holds a part of more than {MAX_PART // 1_000_000} MB")
                if self._unpacked + size > MAX_UNPACKED:
                    limit = MAX_UNPACKED // 1_000_000
                    raise self.too_large(f"unpacks to more than {limit} MB")
                chunks.append(chunk)
        self._unpacked += size
        return b"".join(chunks)


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()
