"""What every loader shares: bytes in, clean text and honest fields out.

A loader is a function from `Raw` to `Source`. It never guesses a value that the origin does not
give, never touches the network, and reports what it cannot read as `SourceError` with one line
that says what is wrong, where, and what to do.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from repurpose.core.source import Block
from repurpose.errors import SourceError
from repurpose.sources._charset import Decoding, NotTextError, UnknownCharsetError, decoded
from repurpose.sources._raw import MAX_BYTES, Loader, Raw, shown
from repurpose.text.cleaning import Cleaned, clean
from repurpose.text.detection import detect_language
from repurpose.text.language import kindred, primary, well_formed

__all__ = [
    "MAX_BYTES",
    "Loader",
    "Raw",
    "declared_code",
    "decode",
    "hidden_warning",
    "iso_date",
    "language_of",
    "one_line",
    "prose_of",
    "require_words",
    "shown",
    "web_address",
]

_FEW_HIDDEN = 5  # characters; editors leave a byte order mark or two behind
_SURE = 0.8  # a detected language must be this likely to win over a declared one
_ENOUGH = 200  # characters of prose, for the same
_ISO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T\s].{0,40})?", re.DOTALL)
# RFC 5646, 2.1.1: scripts have four letters, regions two.
_CASES: dict[int, Callable[[str], str]] = {2: str.upper, 4: str.title}


def decode(raw: Raw, declared: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The content of `raw` as text, not yet cleaned, and warnings about how it was read.

    `declared` is the character set a page names for itself.

    Raises:
        SourceError: `too-large`, `binary` or `unreadable`.
    """
    where = shown(raw.origin)
    if len(raw.content) > MAX_BYTES:
        raise SourceError(
            "too-large",
            f"{where}: larger than {MAX_BYTES // 1_000_000} MB; split it into parts",
        )
    try:
        found: Decoding = decoded(raw.content, raw.charset or declared)
    except NotTextError:
        raise SourceError(
            "binary", f"{where}: not text but binary content; save it as text, Markdown or HTML"
        ) from None
    except UnknownCharsetError:
        raise SourceError(
            "unreadable", f"{where}: written in an unknown character set; save it as UTF-8"
        ) from None
    return found.text, found.warnings


def require_words(text: str, raw: Raw) -> str:
    """`text`, if there is at least one letter or digit in it.

    Raises:
        SourceError: `empty`.
    """
    if any(char.isalnum() for char in text):
        return text
    # A file without any content and one that holds only rules and fields read differently.
    what = "holds no text besides fields and markup" if text or raw.content.strip() else "empty"
    raise SourceError("empty", f"{shown(raw.origin)}: {what}; there is nothing to work on")


def hidden_warning(before: str, cleaned: Cleaned) -> tuple[str, ...]:
    """A warning where more than a few hidden characters were taken out of `before`.

    Soft hyphens are left out of the count: typesetting uses them by the hundred.
    """
    count = cleaned.removed - before.count("\u00ad")
    if count <= _FEW_HIDDEN:
        return ()
    return (f"{count} hidden characters were removed from the text",)


def one_line(value: object) -> str | None:
    """A title or a name as one clean line, or None where nothing visible is left."""
    if not isinstance(value, str):
        return None
    return " ".join(clean(value).text.split()) or None


def iso_date(value: object) -> str | None:
    """The date of an ISO 8601 date or time, or None: other spellings are not guessed at.

    >>> iso_date("2026-03-12T08:00:00+01:00"), iso_date("12 March 2026"), iso_date("2026-02-30")
    ('2026-03-12', None, None)
    """
    found = _ISO_DATE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    try:
        return datetime.date.fromisoformat(found[1]).isoformat()
    except ValueError:
        return None


def web_address(value: object) -> str | None:
    """An absolute http or https address, or None."""
    address = one_line(value)
    if address is None or " " in address:
        return None
    try:
        parts = urlsplit(address)
    except ValueError:  # a broken IPv6 host
        return None
    return address if parts.scheme in ("http", "https") and parts.hostname else None


def declared_code(value: object) -> str | None:
    """A language as a file declares it, as a well-formed code in its usual case.

    >>> declared_code("en_gb"), declared_code("zh-hans"), declared_code("English")
    ('en-GB', 'zh-Hans', None)
    """
    if not isinstance(value, str):
        return None
    code = value.strip().partition(".")[0].replace("_", "-")  # POSIX locales: de_DE.UTF-8
    if not well_formed(code):
        return None
    first, *rest = code.split("-")
    return "-".join([first.lower(), *(_CASES.get(len(one), str.lower)(one) for one in rest)])


def prose_of(text: str, blocks: tuple[Block, ...]) -> str:
    """The parts of `text` that people wrote for people: everything but code."""
    return "\n".join(text[one.start : one.end] for one in blocks if one.kind != "code")


def language_of(declared: str | None, text: str) -> tuple[str | None, tuple[str, ...]]:
    """The language of `text`, and a warning where it is not the declared one.

    A well-formed declaration stands unless the text is long enough and clearly in another
    language: page templates declare their own language, not that of the article.
    """
    code = declared_code(declared)
    found = detect_language(text)
    if code is None:
        return found.code, ()
    certain = found.score >= _SURE and len(text) >= _ENOUGH
    if not certain or found.code is None or kindred(primary(code), found.code):
        return code, ()
    return found.code, (
        f"declared as {code}, but the text is written in {found.code}; {found.code} is used",
    )
