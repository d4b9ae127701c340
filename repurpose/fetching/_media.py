"""Media types: which of them may hold a text that somebody wants to read."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

__all__ = ["ENDINGS", "declared", "told_by_content", "wanted"]

_CHARSET = re.compile(r"""charset\s{0,9}=\s{0,9}["']?([\w.:+-]{1,40})""", re.IGNORECASE)
_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}")
_WANTED = frozenset(
    {
        "application/epub+zip",
        "application/gzip",  # sitemaps
        "application/json",
        "application/pdf",
        "application/rtf",
        "application/srt",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/x-gzip",
        "application/x-pdf",
        "application/x-subrip",
        "application/xml",
        "message/rfc822",
    }
)
_NOT_WANTED = frozenset({"text/css", "text/javascript", "text/event-stream", "text/calendar"})
_UNTOLD = frozenset(
    {
        "application/binary",
        "application/download",
        "application/force-download",
        "application/octet-stream",
        "application/x-download",
        "application/x-zip-compressed",
        "application/zip",
        "binary/octet-stream",
    }
)
"""What servers say when they do not know."""

ENDINGS = frozenset(
    [
        "html",
        "htm",
        "xhtml",
        "markdown",
        "md",
        "mdown",
        "mkd",
        "text",
        "txt",
        "pdf",
        "docm",
        "docx",
        "pptm",
        "pptx",
        "odt",
        "rtf",
        "epub",
        "eml",
        "srt",
        "vtt",
        "json3",
        "rss",
        "atom",
        "json",
        "xml",
        "gz",
    ]
)
"""Endings of names that tell what an untold content is."""
_MAGIC = (b"%PDF-", b"PK\x03\x04", b"{\\rtf", b"WEBVTT")


def declared(header: str | None) -> tuple[str | None, str | None]:
    """Media type and character set of a `Content-Type` header, in lower case; None if not told.

    >>> declared('Text/HTML; charset="ISO-8859-2"')
    ('text/html', 'iso-8859-2')
    """
    if not header:
        return None, None
    kind, _, parameters = header.partition(";")
    named = _TYPE.fullmatch(kind.strip())
    charset = _CHARSET.search(parameters[:500])
    return (named[0].lower() if named else None, charset[1].lower() if charset else None)


def wanted(media_type: str | None) -> bool | None:
    """Whether such a content may be read; None where only the content can tell."""
    if media_type is None or media_type in _UNTOLD:
        return None
    if media_type.startswith("text/"):
        return media_type not in _NOT_WANTED
    structured = media_type.startswith("application/") and media_type.endswith(("+xml", "+json"))
    return structured or media_type in _WANTED


def told_by_content(path: str, content: bytes) -> bool:
    """Whether an ending or the first bytes show a content of a kind that may be read."""
    if PurePosixPath(path).suffix.lower().removeprefix(".") in ENDINGS:
        return True
    head = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    return head.startswith(_MAGIC) or head.startswith(b"<")
