"""Mails: what their author wrote, without what they quoted, signed with or attached.

HTML is preferred to plain text, which is often a stub that says "open this in a browser".
Pictures of one pixel and other pictures hold no words and do not get in; attachments are named
in a warning.
"""

from __future__ import annotations

import codecs
import email
import re
from email import policy
from email.message import Message

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._blocks import outline
from repurpose.sources._dates import mail_date
from repurpose.sources._mail_parts import PartReader, decoded_header, has_words, header_of
from repurpose.sources.base import (
    MAX_BYTES,
    Raw,
    hidden_warning,
    language_of,
    one_line,
    prose_of,
    shown,
)
from repurpose.text.cleaning import clean

__all__ = ["load"]

_LONGEST_HEADER = 4_000  # characters; beyond that, the standard library's parsers get slow
_MOST_WORK = 8_000_000  # lines times boundaries; the parser tries each boundary on each line
_MOST_PARTS = 10_000  # each costs a tenth of a millisecond
_KNOWN = ("from", "to", "subject", "date", "message-id", "content-type", "received", "sender")
_BOUNDARY = re.compile(rb"\bboundary\b", re.IGNORECASE)
_REPLY = r"re|aw|antw|antwort|sv|odp|ynt|回复|答复|返信"
_FORWARD = r"fw|fwd|wg|tr|rv|vs|vb|enc|i|pd|转发"
_PREFIX = re.compile(rf"(?:(?:{_REPLY}|{_FORWARD})(?:\[\d{{1,3}}\])?\s?[:：]\s*)+", re.IGNORECASE)
_FORWARDED = re.compile(rf"(?:{_FORWARD})\s?[:：]", re.IGNORECASE)


def load(raw: Raw) -> Source:
    """A source from a mail as a program saves it (RFC 5322, MIME).

    The title is the subject without "Re:". The author is the name of the sender; an address
    alone is no name. A quoted mail is kept where nothing else is in the mail, or where it was
    forwarded.

    Raises:
        SourceError: `empty`, `corrupt`, `encrypted`, `no-text` or `too-large`.
    """
    message = _message(raw)
    subject = header_of(message, "subject") or ""
    prefix = _PREFIX.match(subject)
    forwarded = prefix is not None and _FORWARDED.search(prefix[0]) is not None
    answers = prefix is not None or message.get("in-reply-to") is not None
    reader = PartReader(raw, cut=not forwarded, answers=answers and not forwarded)
    markdown = reader.read(message, 0)
    if not has_words(markdown):
        reader = PartReader(raw, cut=False, answers=False)
        markdown = reader.read(message, 0) or reader.attached()
    cleaned = clean(markdown)
    text = cleaned.text.strip()
    if not has_words(text):
        raise _no_text(raw, reader)
    parts = outline(text)
    declared = (header_of(message, "content-language") or "").partition(",")[0]
    language, doubts = language_of(declared or reader.language, prose_of(text, parts.blocks))
    return Source(
        text=text,
        origin=raw.origin,
        kind="eml",
        blocks=parts.blocks,
        title=one_line(subject[prefix.end() :] if prefix else subject),
        author=_author(message),
        date=mail_date(header_of(message, "date")),
        language=language,
        hidden=reader.hidden + cleaned.removed,
        warnings=(*reader.told(), *hidden_warning(markdown, cleaned), *doubts),
    )


class _BoundedPolicy(policy.Compat32):
    """Keeps headers raw and short; each is decoded where it is used."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST_HEADER]


def _message(raw: Raw) -> Message:
    where, content = shown(raw.origin), raw.content
    if len(content) > MAX_BYTES:
        raise SourceError(
            "too-large",
            f"{where}: larger than {MAX_BYTES // 1_000_000} MB; save it without attachments",
        )
    if not content.strip():
        raise SourceError("empty", f"{where}: empty; there is nothing to work on")
    boundaries = len(_BOUNDARY.findall(content))
    most = _MOST_PARTS if boundaries else MAX_BYTES
    if content.count(b"\n") * boundaries > _MOST_WORK or content.count(b"\n--") > most:
        raise SourceError(
            "too-large", f"{where}: holds too many parts to be a mail; save its text on its own"
        )
    try:
        message: Message = email.message_from_bytes(
            content.removeprefix(codecs.BOM_UTF8).lstrip(), policy=_BoundedPolicy()
        )
    except Exception:  # noqa: BLE001 - the parser has many faults of its own, all of them ours here
        raise _corrupt(raw) from None
    if not any(name in message for name in _KNOWN):
        raise _corrupt(raw)
    return message


def _corrupt(raw: Raw) -> SourceError:
    return SourceError(
        "corrupt", f"{shown(raw.origin)}: not a readable mail; save it again from the mail program"
    )


def _no_text(raw: Raw, reader: PartReader) -> SourceError:
    where = shown(raw.origin)
    if reader.encrypted:
        return SourceError(
            "encrypted", f"{where}: an encrypted mail; decrypt it in the mail program and save it"
        )
    if reader.attachments:
        return SourceError(
            "no-text",
            f"{where}: holds attachments and no text of its own; save the attachments as files",
        )
    return SourceError("no-text", f"{where}: holds no text; there is nothing to work on")


def _author(message: Message) -> str | None:
    value = next((value for key, value in message.raw_items() if key.lower() == "from"), "")
    header = decoded_header("from", value)
    people = getattr(header, "addresses", ())
    names = [one_line(one.display_name) for one in people]
    return ", ".join(dict.fromkeys(name for name in names if name and "@" not in name)) or None
