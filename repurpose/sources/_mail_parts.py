"""The parts of a mail: which of them hold its text, and what that text is as Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from email import policy
from email.message import Message

from lxml.html import HtmlElement

from repurpose.errors import SourceError
from repurpose.sources._escaping import typed_markdown
from repurpose.sources._hidden import remove_hidden
from repurpose.sources._mail_text import (
    flowed,
    without_attribution,
    without_earlier,
    without_quotes,
    without_service,
    without_signature,
)
from repurpose.sources._markup import markdown_of, parsed
from repurpose.sources.base import Raw, decode, one_line

__all__ = ["PartReader", "decoded_header", "has_words", "header_of"]

_DEEPEST = 20  # parts within parts; deeper ones are not read
_NAMED = 5  # attachments in a warning
_SIGNATURES = frozenset(
    {
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
    }
)
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")
# How mail programs mark what is not the author's in HTML.
_QUOTE_CLASSES = frozenset({
    "gmail_quote", "gmail_quote_container", "gmail_signature", "gmail_signature_prefix",
    "moz-cite-prefix", "moz-signature", "yahoo_quoted", "protonmail_quote",
    "protonmail_signature_block", "zmail_extra", "tutanota_quote"
})  # fmt: skip
_QUOTE_IDS = frozenset({"signature", "olk_src_body_section", "ms-outlook-mobile-signature"})
_EARLIER_IDS = frozenset({"divrplyfwdmsg", "appendonsend"})  # all that follows is quoted, too


def has_words(text: str) -> bool:
    return any(char.isalnum() for char in text)


def header_of(message: Message, name: str) -> str | None:
    """A header decoded, on one line; None where it is absent or nothing is left of it."""
    value = next((value for key, value in message.raw_items() if key.lower() == name), None)
    return None if value is None else one_line(decoded_header(name, value))


def decoded_header(name: str, value: object) -> object:
    """`value` with its encoded words decoded, as the standard library's newer policy does."""
    octets = str(value).encode("utf-8", "surrogateescape")
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError:  # headers in bare Latin-1 are against the rules, but about
        text = octets.decode("cp1252", "replace")
    try:
        return policy.default.header_factory(name, "".join(text.splitlines()))
    except Exception:  # noqa: BLE001 - IndexError and others for headers that nobody should write
        return text


@dataclass(slots=True)
class PartReader:
    """One pass over the parts of a mail."""

    raw: Raw
    cut: bool
    """Whether to leave out signatures and earlier mails."""
    answers: bool
    """Whether lines that begin with `>` are what the mail answers."""
    hidden: int = 0
    language: str | None = None
    encrypted: bool = False
    attachments: list[str] = field(default_factory=list)
    _messages: list[tuple[str, Message]] = field(default_factory=list)
    _warnings: list[str] = field(default_factory=list)
    _found: bool = False

    def read(self, part: Message, depth: int) -> str:
        """The text in `part` as Markdown."""
        kind = part.get_content_type()
        self.encrypted = self.encrypted or kind in _ENCRYPTED
        if depth > _DEEPEST or kind in _SIGNATURES:
            return ""
        if kind.startswith("multipart/") and part.is_multipart():
            return self._read_parts(part, kind, depth)
        if kind == "message/rfc822" and part.is_multipart():
            return self._note_message(part)
        name = _filename(part)
        attached = part.get_content_disposition() == "attachment" or (name and self._found)
        if attached or kind not in ("text/plain", "text/html"):
            if attached or name:
                self.attachments.append(name or kind)
            return ""
        return self._read_text(part, kind)

    def attached(self) -> str:
        """The text of the first attached mail that holds some."""
        for name, message in self._messages:  # grows while mails within mails are found
            text = self.read(message, 1)
            if has_words(text):
                self.attachments.remove(name)
                return text
        return ""

    def told(self) -> list[str]:
        """The warnings of this pass."""
        if not self.attachments:
            return self._warnings
        count, names = len(self.attachments), ", ".join(self.attachments[:_NAMED])
        more = f" and {count - _NAMED} more" if count > _NAMED else ""
        what = "1 attachment was" if count == 1 else f"{count} attachments were"
        return [*self._warnings, f"{what} not read: {names}{more}"]

    def _read_parts(self, part: Message, kind: str, depth: int) -> str:
        children = _children(part)
        if kind == "multipart/alternative":
            children = sorted(children, key=lambda one: not _holds_html(one, depth))
        texts: list[str] = []
        for child in children:
            text = self.read(child, depth + 1)
            if not has_words(text):
                continue
            texts.append(text)
            self._found = True
            if kind == "multipart/alternative":
                break
        return "\n\n".join(texts)

    def _note_message(self, part: Message) -> str:
        for message in _children(part)[:1]:
            name = header_of(message, "subject") or "a mail"
            self._messages.append((name, message))
            self.attachments.append(name)
        return ""

    def _read_text(self, part: Message, kind: str) -> str:
        try:
            content = part.get_payload(decode=True)
            charset = part.get_content_charset()
            text, warnings = decode(
                Raw(self.raw.origin, content if isinstance(content, bytes) else b""), charset
            )
        except SourceError:
            self._warnings.append("a part of this mail holds no readable text and was left out")
            return ""
        except Exception:  # noqa: BLE001 - parameters that the standard library cannot take
            self._warnings.append("a part of this mail is damaged and was left out")
            return ""
        self._warnings.extend(warnings)
        return self._read_html(text) if kind == "text/html" else self._read_plain(part, text)

    def _read_plain(self, part: Message, text: str) -> str:
        text = "\n".join(text.splitlines())
        if _parameter(part, "format") == "flowed":
            text = flowed(text, delete_space=_parameter(part, "delsp") == "yes")
        if self.answers:
            text = without_quotes(text)
        if self.cut:
            text = _own_words(text)
        return typed_markdown(text).strip("\n")

    def _read_html(self, markup: str) -> str:
        tree = parsed(markup)
        if tree is None:
            return ""
        self.language = self.language or tree.get("lang")
        if self.cut:
            _drop_quotes(tree)
        self.hidden += remove_hidden(tree)
        text = markdown_of(tree)
        return _own_words(text) if self.cut else text


def _own_words(text: str) -> str:
    return without_service(without_signature(without_attribution(without_earlier(text))))


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _holds_html(part: Message, depth: int) -> bool:
    if depth > _DEEPEST:
        return False
    below = _children(part) if part.get_content_maintype() == "multipart" else []
    return part.get_content_type() == "text/html" or any(
        _holds_html(one, depth + 1) for one in below
    )


def _filename(part: Message) -> str | None:
    try:
        name = part.get_filename()
    except Exception:  # noqa: BLE001 - parameters that the standard library cannot take
        return "without a name"
    return None if name is None else one_line(str(decoded_header("subject", name)))


def _parameter(part: Message, name: str) -> str:
    try:
        return str(part.get_param(name, "")).lower()
    except Exception:  # noqa: BLE001 - parameters that the standard library cannot take
        return ""


def _drop_quotes(tree: HtmlElement) -> None:
    """Take out what mail programs mark as quoted or as a signature."""
    for element in list(tree.iter("div", "blockquote", "span", "section", "table")):
        name = (element.get("id") or "").lower()
        classes = (element.get("class") or "").lower().split()
        if element.getparent() is None:
            continue
        if name in _EARLIER_IDS:
            parent = element.getparent()
            for one in [element, *element.itersiblings()]:
                parent.remove(one)  # with the text that follows it
        elif (
            name in _QUOTE_IDS
            or not _QUOTE_CLASSES.isdisjoint(classes)
            or (element.tag == "blockquote" and element.get("type") == "cite")
        ):
            element.drop_tree()
