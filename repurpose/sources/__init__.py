"""Where long texts come from: one loader for each kind, found by name and loaded on use.

Nothing here reads standard input or the network; callers that do hand over the bytes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from repurpose.core.source import Source
from repurpose.core.table import member
from repurpose.errors import SourceError, UsageError
from repurpose.sources._raw import MAX_BYTES, Loader, Raw, shown

__all__ = ["SOURCES", "kind_of", "load_bytes", "load_path"]

SOURCES: dict[str, str] = {
    "html": "repurpose.sources.html:load",
    "markdown": "repurpose.sources.markdown:load",
    "text": "repurpose.sources.text:load",
}
"""Kinds of sources; each value names a module and its loader."""

_KINDS = {
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "markdown": "markdown",
    "md": "markdown",
    "mdown": "markdown",
    "mkd": "markdown",
    "text": "text",
    "txt": "text",
}
_NOT_READ = {
    "pdf": "a PDF file",
    "doc": "a Word document",
    "docx": "a Word document",
    "odt": "an OpenDocument text",
    "rtf": "an RTF document",
    "ppt": "a presentation",
    "pptx": "a presentation",
    "odp": "a presentation",
    "xls": "a spreadsheet",
    "xlsx": "a spreadsheet",
    "ods": "a spreadsheet",
    "epub": "an e-book",
    "mobi": "an e-book",
    "eml": "a mail",
    "msg": "a mail",
    "srt": "a caption file",
    "vtt": "a caption file",
    "zip": "an archive",
    "gz": "an archive",
    "png": "an image",
    "jpg": "an image",
    "jpeg": "an image",
    "gif": "an image",
    "webp": "an image",
    "mp3": "a sound file",
    "m4a": "a sound file",
    "wav": "a sound file",
    "mp4": "a film",
    "mov": "a film",
    "webm": "a film",
}
_MAGIC = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "an Office document, e-book or archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or encrypted Office document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x1f\x8b", "an archive"),
    (b"\x89PNG\r\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"ID3", "a sound file"),
    (b"WEBVTT", "a caption file"),
)
_HEAD = 4_096  # bytes; what a kind shows, it shows at its beginning
_SPACE = rb"(?:\xef\xbb\xbf)?\s{0,500}"
_PAGE = re.compile(
    _SPACE + rb"(?:<\?xml[^>]{0,200}\?>\s{0,99}|<!--.{0,1000}?-->\s{0,99})?"
    rb"<(?:!doctype\s+html|html|head|body|article|main|div|section|h[1-6]|p|cite)\b",
    re.IGNORECASE | re.DOTALL,
)
_FRONT_MATTER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:---[ \t]*\r?\n[\w.\"'-]{1,40}[ \t]*:|\+\+\+[ \t]*\r?\n)"
)
_HEADING = re.compile(rb"^ {0,3}#{1,6} \S|^\S.{0,200}\r?\n(?:={3,}|-{3,})[ \t]*\r?$", re.MULTILINE)
_MARKUP = re.compile(rb"^(?:[-*+] |\d{1,3}\. |> |```)|\]\(https?://|\*\*\S", re.MULTILINE)


def kind_of(name: str, content: bytes) -> str:
    r"""The kind of source that `content` is, by the ending of `name`, else by its beginning.

    Raises:
        SourceError: `unsupported`, for a kind that is known but cannot be read.

    >>> kind_of("talk.md", b""), kind_of("-", b"<!doctype html><p>Hi"), kind_of("-", b"Hi")
    ('markdown', 'html', 'text')
    """
    ending = Path(name).suffix.lower().removeprefix(".")
    for magic, what in _MAGIC:
        if content.startswith(magic):
            raise _unsupported(name, what)
    if ending in _KINDS:
        return _KINDS[ending]
    if ending in _NOT_READ:
        raise _unsupported(name, _NOT_READ[ending])
    return _sniffed(content[:_HEAD])


def load_bytes(content: bytes, origin: str, kind: str | None = None) -> Source:
    """The source that `content` holds; `kind` is found by `kind_of` unless it is given.

    Raises:
        SourceError: the content cannot be read; the message is one line.
        UsageError: `kind` is not a key of `SOURCES`.
    """
    if kind is not None and kind not in SOURCES:
        raise UsageError(f"unknown kind of source {kind!r}; known are {', '.join(SOURCES)}")
    return _loader(kind or kind_of(origin, content))(Raw(origin, content))


def load_path(path: str | Path, kind: str | None = None) -> Source:
    """The source in the file at `path`; `kind` is found by `kind_of` unless it is given.

    Raises:
        SourceError: `not-found`, `unreadable`, or any reason of `load_bytes`.
        UsageError: `kind` is not a key of `SOURCES`.
    """
    place, where = Path(path), shown(str(path))
    try:
        with place.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # one more byte shows that it is too large
    except FileNotFoundError:
        message = f"{where}: no such file; check the path"
        raise SourceError("not-found", message) from None
    except IsADirectoryError:
        message = f"{where}: is a folder; name one file in it"
        raise SourceError("unreadable", message) from None
    except PermissionError:
        folder = place.is_dir()  # Windows says so for folders
        advice = "is a folder; name one file in it" if folder else "not allowed to read this file"
        raise SourceError("unreadable", f"{where}: {advice}") from None
    except (OSError, ValueError) as fault:  # ValueError: a path with a zero byte
        reason = (getattr(fault, "strerror", None) or "not a usable path").lower()
        raise SourceError("unreadable", f"{where}: cannot be read: {reason}") from None
    return load_bytes(content, str(path), kind)


def _unsupported(name: str, what: str) -> SourceError:
    return SourceError(
        "unsupported",
        f"{shown(name)}: {what} cannot be read; save its text as Markdown, plain text or HTML",
    )


def _loader(kind: str) -> Loader:
    return cast(Loader, member(SOURCES[kind]))


def _sniffed(head: bytes) -> str:
    if _PAGE.match(head):
        return "html"
    if _FRONT_MATTER.match(head) or _HEADING.search(head):
        return "markdown"
    # One asterisk proves nothing; several kinds of markup do.
    return "markdown" if len({one[0].strip()[:1] for one in _MARKUP.finditer(head)}) > 1 else "text"
