"""Which kind of source some bytes are: by what they show, else by the ending of their name."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from pathlib import PurePath
from urllib.parse import urlsplit

from repurpose.errors import SourceError
from repurpose.sources._raw import shown

__all__ = ["ENDINGS", "kind_of"]

ENDINGS: dict[str, str] = {
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "markdown": "markdown",
    "md": "markdown",
    "mdown": "markdown",
    "mkd": "markdown",
    "text": "text",
    "txt": "text",
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "pptx": "pptx",
    "pptm": "pptx",
    "odt": "odt",
    "rtf": "rtf",
    "epub": "epub",
    "eml": "eml",
    "srt": "srt",
    "vtt": "vtt",
    "json3": "youtube-json3",
    "rss": "feed",
    "atom": "feed",
}
"""Kinds by the ending of a name, in lower case."""

_NOT_READ = {
    "doc": "an old Word document",
    "ppt": "an old presentation",
    "odp": "a presentation",
    "xls": "a spreadsheet",
    "xlsx": "a spreadsheet",
    "ods": "a spreadsheet",
    "mobi": "a Kindle book",
    "azw3": "a Kindle book",
    "msg": "an Outlook mail",
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
_MAGIC_NOT_READ = (
    (b"\x1f\x8b", "an archive"),
    (b"\x89PNG\r\n", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"),
    (b"ID3", "a sound file"),
)
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # Office before 2007, and encrypted Office since
_ZIP = b"PK\x03\x04"
_HEAD = 4_096  # bytes; what a kind shows, it shows at its beginning
_PDF_HEAD = 1_024  # ISO 32000-1, annex H: readers accept junk of that length before the mark
_SPACE = rb"(?:\xef\xbb\xbf)?\s{0,500}"
_PROLOGUE = (
    _SPACE + rb"(?:<\?xml[^>]{0,200}\?>\s{0,99})?"
    rb"(?:(?:<\?xml-stylesheet[^>]{0,300}\?>|<!--.{0,1000}?-->)\s{0,99}){0,3}"
)
_XML = (
    ("feed", re.compile(_PROLOGUE + rb"<(?:rss|feed|rdf:RDF)\b", re.DOTALL)),
    ("sitemap", re.compile(_PROLOGUE + rb"<(?:urlset|sitemapindex)\b", re.DOTALL)),
)
_PAGE = re.compile(
    _PROLOGUE + rb"<(?:!doctype\s+html|html|head|body|article|main|div|section|h[1-6]|p|cite)\b",
    re.IGNORECASE | re.DOTALL,
)
_JSON = (
    ("json-feed", re.compile(rb'"version"\s{0,9}:\s{0,9}"https?://jsonfeed\.org/version')),
    ("youtube-json3", re.compile(rb'"(?:wireMagic|wpWinPositions|tStartMs)"\s{0,9}:')),
    ("podcast-json", re.compile(rb'"segments"\s{0,9}:\s{0,9}\[')),
)
_OBJECT = re.compile(_SPACE + rb"\{")
_VTT = re.compile(rb"(?:\xef\xbb\xbf)?WEBVTT(?:[ \t\r\n]|$)")
_SRT = re.compile(
    _SPACE + rb"\d{1,6}[ \t]{0,9}\r?\n\d{1,3}:\d\d:\d\d[,.]\d{1,3}[ \t]{1,9}-->", re.DOTALL
)
_MAIL = re.compile(
    rb"(?:From [^\n]{1,200}\r?\n)?(?:(?:Return-Path|Delivered-To|Received|From|To|Subject|Date|"
    rb"Message-ID|MIME-Version|X-[\w-]{1,60}|DKIM-Signature|Reply-To|Sender|Content-Type): ?"
    rb"[^\n]{0,2000}\n(?:[ \t][^\n]{0,2000}\n){0,40}){3}",
    re.IGNORECASE,
)
_FRONT_MATTER = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:---[ \t]*\r?\n[\w.\"'-]{1,40}[ \t]*:|\+\+\+[ \t]*\r?\n)"
)
_HEADING = re.compile(rb"^ {0,3}#{1,6} \S|^\S.{0,200}\r?\n(?:={3,}|-{3,})[ \t]*\r?$", re.MULTILINE)
_MARKUP = re.compile(rb"^(?:[-*+] |\d{1,3}\. |> |```)|\]\(https?://|\*\*\S", re.MULTILINE)


def kind_of(name: str, content: bytes) -> str:
    r"""The kind of source that `content` is.

    What cannot be mistaken counts more than the name: a PDF file named `.txt` is a PDF file. The
    name counts where the beginning is only likely: Markdown may begin like a page.

    Raises:
        SourceError: `unsupported`, `encrypted` or `corrupt`, for what is known but not read.

    >>> kind_of("talk.md", b""), kind_of("-", b"<!doctype html><p>Hi"), kind_of("-", b"Hi")
    ('markdown', 'html', 'text')
    """
    head = content[:_HEAD]
    certain = _certain(name, head, content)
    if certain is not None:
        return certain
    # An address may have a query behind the name: article.html?page=2
    path = urlsplit(name).path if "://" in name else name
    ending = PurePath(path).suffix.lower().removeprefix(".")
    if ending in ENDINGS:
        return ENDINGS[ending]
    if ending in _NOT_READ:
        raise _unsupported(name, _NOT_READ[ending])
    return _sniffed(head)


def _certain(name: str, head: bytes, content: bytes) -> str | None:
    """The kind that the bytes prove, or None."""
    for magic, what in _MAGIC_NOT_READ:
        if head.startswith(magic):
            raise _unsupported(name, what)
    if head.startswith(_OLE):
        raise _old_office(name, content)
    if head.startswith(_ZIP):
        return _packed(name, content)
    if b"%PDF-" in head[:_PDF_HEAD]:
        return "pdf"
    if head.lstrip().startswith(b"{\\rtf"):
        return "rtf"
    if _VTT.match(head):
        return "vtt"
    if _SRT.match(head):
        return "srt"
    if _OBJECT.match(head):
        return next((kind for kind, mark in _JSON if mark.search(head)), None)
    return next((kind for kind, mark in _XML if mark.match(head)), None)


def _packed(name: str, content: bytes) -> str:
    """The kind of a document in a ZIP container, by the parts in it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = set(archive.namelist())
            typed = b""
            if "mimetype" in parts:
                with archive.open("mimetype") as part:  # all of it could be gigabytes
                    typed = part.read(80).strip()
    except (*_DAMAGED, OSError, ValueError, RuntimeError, EOFError):
        ending = PurePath(name).suffix.lower().removeprefix(".")
        what = "file" if ending in ENDINGS else "archive"
        raise SourceError(
            "corrupt", f"{shown(name)}: a damaged or incomplete {what}; save or download it again"
        ) from None
    if "word/document.xml" in parts:
        return "docx"
    if "ppt/presentation.xml" in parts:
        return "pptx"
    if typed == b"application/epub+zip" or "META-INF/container.xml" in parts:
        return "epub"
    if typed.startswith(b"application/vnd.oasis.opendocument.text"):
        return "odt"
    raise _unsupported(name, "a spreadsheet" if "xl/workbook.xml" in parts else "an archive")


def _old_office(name: str, content: bytes) -> SourceError:
    # [MS-OFFCRYPTO] 2.3: an encrypted document is a stream of this name, in UTF-16.
    if "EncryptedPackage".encode("utf-16-le") in content:
        return SourceError(
            "encrypted", f"{shown(name)}: protected by a password; save it without one"
        )
    return _unsupported(name, "a document in the format of Office 97", "save it as .docx or .pptx")


def _unsupported(
    name: str, what: str, advice: str = "save its text as Markdown, plain text or HTML"
) -> SourceError:
    return SourceError("unsupported", f"{shown(name)}: {what} cannot be read; {advice}")


def _sniffed(head: bytes) -> str:
    if _PAGE.match(head):
        return "html"
    if _MAIL.match(head):
        return "eml"
    if _FRONT_MATTER.match(head) or _HEADING.search(head):
        return "markdown"
    # One asterisk proves nothing; several kinds of markup do.
    return "markdown" if len({one[0].strip()[:1] for one in _MARKUP.finditer(head)}) > 1 else "text"
