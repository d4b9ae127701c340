"""Files that a browser sends: bounded, kept under names of our own, and never for long."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from threading import Lock

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from repurpose.web.faults import HttpFault

__all__ = ["MOST_BYTES", "Upload", "Uploads"]

MOST_BYTES = 20_000_000
_FRAME = 20_000
"""What a form may add to the file: names, types and borders."""
_KEPT_SECONDS = 3600.0
_MOST_KEPT = 20
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that waits to be used."""

    id: str
    name: str
    """What the browser called it; never a path of ours."""
    path: Path
    size: int
    kept_until: float


class Uploads:
    """The files that wait, in a folder that only this process's user may open."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._kept: dict[str, Upload] = {}
        self._folder: Path | None = None
        self._lock = Lock()

    async def received(self, request: Request) -> Upload:
        """The file in the form field `file`.

        Raises:
            HttpFault: it is too large, or there is none. Nothing is kept then.
        """
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            raise HttpFault(415, "upload", "send the file as multipart/form-data")
        parser = MultiPartParser(
            request.headers, _bounded(request), max_files=1, max_fields=4, max_part_size=_FRAME
        )
        try:
            form = await parser.parse()
        except MultiPartException as fault:
            raise HttpFault(400, "upload", f"the form cannot be read: {fault.message}") from None
        try:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise HttpFault(422, "upload", "the form has no file", field="file")
            content = await file.read(MOST_BYTES + 1)
        finally:
            await form.close()
        if len(content) > MOST_BYTES:
            raise _too_large()
        return self._keep(content, _shown(file.filename or ""))

    def _keep(self, content: bytes, name: str) -> Upload:
        self.sweep()
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="repurpose-uploads-"))
            upload_id = secrets.token_hex(16)
            path = self._folder / upload_id
            path.touch(mode=0o600)
            path.write_bytes(content)
            kept = Upload(upload_id, name, path, len(content), self._seconds() + _KEPT_SECONDS)
            while len(self._kept) >= _MOST_KEPT:
                self._drop(next(iter(self._kept)))
            self._kept[upload_id] = kept
        return kept

    def content(self, upload_id: str) -> tuple[bytes, str]:
        """The bytes of a file and its name.

        Raises:
            HttpFault: there is none of that id any more.
        """
        self.sweep()
        kept = self._kept.get(upload_id)
        try:
            if kept is not None:
                return kept.path.read_bytes(), kept.name
        except OSError:
            pass
        raise HttpFault(
            404,
            "upload",
            "that upload is not there any more",
            hint="send the file again",
            field="upload",
        )

    def drop(self, upload_id: str | None) -> None:
        """Delete a file; it was used."""
        with self._lock:
            if upload_id is not None:
                self._drop(upload_id)

    def sweep(self) -> None:
        """Delete the files that waited for too long."""
        now = self._seconds()
        with self._lock:
            for kept in [each for each in self._kept.values() if each.kept_until <= now]:
                self._drop(kept.id)

    def close(self) -> None:
        """Delete all of them, and their folder."""
        with self._lock:
            self._kept.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def __len__(self) -> int:
        return len(self._kept)

    def _drop(self, upload_id: str) -> None:
        kept = self._kept.pop(upload_id, None)
        if kept is not None:
            kept.path.unlink(missing_ok=True)


async def _bounded(request: Request) -> AsyncGenerator[bytes, None]:
    """The body as it comes, counted: what it says of its own length is not relied on."""
    size = 0
    try:
        async for chunk in request.stream():
            size += len(chunk)
            if size > MOST_BYTES + _FRAME:
                raise _too_large()
            yield chunk
    except ClientDisconnect:
        raise HttpFault(400, "upload", "the file was cut short on its way") from None


def _too_large() -> HttpFault:
    megabytes = MOST_BYTES // 1_000_000
    return HttpFault(
        413,
        "too_large",
        f"the file is larger than {megabytes} MB",
        hint="repurpose run reads larger ones",
        field="file",
    )


def _shown(name: str) -> str:
    r"""The name of a file without folders and control characters.

    >>> _shown("C:\\papers\\a\x00b.pdf"), _shown("../../etc/passwd"), _shown("")
    ('ab.pdf', 'passwd', 'upload')
    """
    last = PureWindowsPath(name).name  # it knows both kinds of slashes
    plain = "".join(char for char in last if char.isprintable())
    return plain[-_LONGEST_NAME:].strip() or "upload"
