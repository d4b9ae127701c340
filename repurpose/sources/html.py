"""Pages: the article without what stands around it, as Markdown.

Hidden parts are taken out first. Texts of images, tooltips and link targets do not get in. A
Podcasting 2.0 transcript (`cite`, `time`, `p`) keeps its speakers as `Name: text`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator

import trafilatura
from lxml.html import HtmlElement

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._blocks import outline
from repurpose.sources._hidden import remove_hidden
from repurpose.sources._page import page_of
from repurpose.sources._turns import Said, Spoken, seconds_of, speaker_named, spoken
from repurpose.sources.base import (
    Raw,
    decode,
    hidden_warning,
    language_of,
    one_line,
    prose_of,
    require_words,
    shown,
)
from repurpose.text.cleaning import clean

__all__ = ["load"]

_HEAD = 4_096  # bytes; the HTML standard looks for the character set in the first 1,024
_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?([\w.:-]{1,40})""", re.IGNORECASE
)
_XML_CHARSET = re.compile(rb"""<\?xml[^>]{0,80}?encoding=["']([\w.:-]{1,40})""")
_XML_DECLARATION = re.compile(r"\A\s{0,99}<\?xml[^>]{0,200}\?>")
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ANCHOR_MARKS = ("#", "¶", "§", "🔗", "")
_TURNS = 2  # a page with fewer has a quotation, not a transcript
_TRANSCRIPT_SHARE = 0.6  # of the page's words, in turns


def load(raw: Raw) -> Source:
    """A source from an HTML page, with what the page declares about itself.

    Raises:
        SourceError: `no-text` where no article is found; `empty`, `binary`, `too-large` or
            `unreadable`.
    """
    decoded, warnings = decode(raw, _declared_charset(raw.content))
    require_words(decoded, raw)
    tree = _parsed(decoded)
    if tree is None:
        raise _no_text(raw)
    hidden = remove_hidden(tree)
    _drop_heading_anchors(tree)
    said = _transcript(tree)
    page = page_of(tree)
    markdown = _article(tree) if said is None else said.text
    cleaned = clean(markdown)
    text = cleaned.text.strip()
    if not any(char.isalnum() for char in text):
        raise _no_text(raw)
    blocks = outline(text).blocks if said is None or said.text != text else said.blocks
    language, doubts = language_of(page.language, prose_of(text, blocks))
    return Source(
        text=text,
        origin=raw.origin,
        kind="html",
        blocks=blocks,
        title=page.title,
        author=page.author,
        date=page.date,
        language=language,
        url=page.url,
        hidden=hidden + cleaned.removed,
        warnings=(*warnings, *hidden_warning(markdown, cleaned), *doubts),
    )


def _no_text(raw: Raw) -> SourceError:
    return SourceError(
        "no-text",
        f"{shown(raw.origin)}: no article text found in this page; save its text as Markdown",
    )


def _declared_charset(content: bytes) -> str | None:
    head = content[:_HEAD]
    found = _CHARSET.search(head) or _XML_CHARSET.search(head)
    return found[1].decode("ascii", "replace") if found else None


def _parsed(text: str) -> HtmlElement | None:
    """The page as a tree, or None. Elements stand around it, as trafilatura asks of fragments."""
    plain = _CONTROLS.sub("", _XML_DECLARATION.sub("", text))
    tree = trafilatura.load_html(plain)
    if tree is None:
        tree = trafilatura.load_html(f"<html><body><div>{plain}</div></body></html>")
    return tree


def _drop_heading_anchors(tree: HtmlElement) -> None:
    """Take out the link to itself that a heading carries, whose mark is not one of its words."""
    for heading in tree.iter("h1", "h2", "h3", "h4", "h5", "h6"):
        for link in list(heading.iter("a")):
            if str(link.text_content()).strip() in _ANCHOR_MARKS:
                link.drop_tree()


def _article(tree: HtmlElement) -> str:
    """The article as Markdown; the page's plain text where no article stands out; else ""."""
    spare = copy.deepcopy(tree)
    found = trafilatura.extract(
        tree,
        output_format="markdown",
        include_comments=False,
        include_images=False,
        include_links=False,
        include_tables=True,
    )
    if found and found.strip():
        return str(found)
    return str(trafilatura.baseline(spare)[1])


def _transcript(tree: HtmlElement) -> Spoken | None:
    """The turns of a Podcasting 2.0 transcript, or None for another page."""
    turns = list(_turns(tree))
    if sum(1 for one, _ in turns if one.speaker) < _TURNS:
        return None
    words = sum(len(one.text) for one, marked in turns if marked)
    body = tree.find("body")
    whole = one_line((body if body is not None else tree).text_content()) or ""
    if words < _TRANSCRIPT_SHARE * len(whole):
        return None
    return spoken(one for one, _ in turns)


def _turns(tree: HtmlElement) -> Iterator[tuple[Said, bool]]:
    """The paragraphs from the first name or time on, each with its speaker where one is named.

    And whether a name or a time stands before it, as the format asks.
    """
    speaker: str | None = None
    time: float | None = None
    mark: HtmlElement | None = None
    begun = False
    for element in tree.iter("cite", "time", "p"):
        words = one_line(element.text_content())
        if element.tag == "p" and words and begun:
            # The source of a quotation stands inside the quotation, not beside the next text.
            marked = mark is not None and mark.getparent() is element.getparent()
            named = speaker if marked else None
            yield Said(words, time if marked else None, speaker=named, fresh=True), marked
            speaker = time = mark = None
        elif element.tag == "cite":
            mark, begun, speaker = element, True, speaker_named(words)
        elif element.tag == "time":
            mark, begun, time = element, True, seconds_of(words or "")
