"""The items of a feed as entries with texts of their own, and a feed as one text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from repurpose.core.listing import Entry, Listing, TranscriptLink
from repurpose.core.source import Source, digest_of
from repurpose.errors import SourceError
from repurpose.sources._blocks import outline
from repurpose.sources._escaping import escaped, typed_markdown
from repurpose.sources._hidden import remove_hidden
from repurpose.sources._markup import markdown_of, parsed
from repurpose.sources.base import (
    Raw,
    hidden_warning,
    language_of,
    one_line,
    prose_of,
    shown,
)
from repurpose.text.cleaning import clean

__all__ = ["MOST_ITEMS", "TOO_MANY", "Item", "entry_of", "feed_source", "plain_words"]

MOST_ITEMS = 5_000
"""Items that are read of one feed; the newest come first, and each takes about a millisecond."""

TOO_MANY = f"only the first {MOST_ITEMS} items were read"
"""The warning where a feed has more."""

_TEASER = 1_500  # characters; a summary that long is the text, as feeds of one element have it
_DEEPEST = 6  # levels of headings
# How feeds say that the text goes on elsewhere.
_GOES_ON = re.compile(
    r"(?:\[?(?:…|\.\.\.)\]?|(?:read|continue|learn|find out|see) (?:more|reading)|full story"
    r"|weiterlesen|mehr lesen|mehr erfahren|lire la suite|en savoir plus|leer más|seguir leyendo"
    r"|continua a leggere|leggi tutto|lees verder|lees meer|läs mer|leia mais|czytaj dalej"
    r"|続きを読む|阅读全文|阅读更多)[\s\W]{0,9}\Z",
    re.IGNORECASE,
)
_FIRST_SEEN = re.compile(
    r"\n\n(?:The post [^\n]{1,400} appeared first on [^\n]{1,200}"
    r"|Der Beitrag [^\n]{1,400} erschien zuerst auf [^\n]{1,200})\Z"
)


@dataclass(frozen=True, slots=True)
class Item:
    """What a feed says of one item; None for what it does not say."""

    id: str | None = None
    url: str | None = None
    title: str | None = None
    author: str | None = None
    date: str | None = None
    language: str | None = None
    markup: str | None = None
    """The text as HTML."""
    typed: str | None = None
    """The text as plain text, where there is no HTML."""
    content: bool = False
    """Whether the text stands where feeds put the whole text, and not where they put teasers."""
    transcripts: tuple[TranscriptLink, ...] = ()


def entry_of(item: Item, origin: str, kind: str) -> Entry:
    """The entry for `item`.

    It is complete where its text stands in an element for whole texts (`content:encoded`, Atom's
    `content`, `content_html`, `content_text`) or is as long as no teaser is, and does not end
    with an ellipsis or "Read more".
    """
    source = _source(item, origin, kind)
    text = "" if source is None else source.text
    whole = item.content or len(text) >= _TEASER
    return Entry(
        id=item.id or item.url or digest_of(item.title or "", text),
        url=item.url,
        source=source,
        complete=bool(text) and whole and _GOES_ON.search(text[-60:]) is None,
        title=item.title,
        date=item.date,
        transcripts=item.transcripts,
    )


def feed_source(listing: Listing, raw: Raw) -> Source:
    """The whole feed as one source: each item under a heading of the second level.

    Raises:
        SourceError: `no-text` where no item has a title or a text.
    """
    text = "\n\n".join(part for one in listing.entries if (part := _section(one)))
    if not any(char.isalnum() for char in text):
        raise SourceError(
            "no-text", f"{shown(raw.origin)}: a feed without texts; load the pages it names"
        )
    parts = outline(text)
    language, doubts = language_of(listing.language, prose_of(text, parts.blocks))
    sources = [one.source for one in listing.entries if one.source is not None]
    return Source(
        text=text,
        origin=raw.origin,
        kind=listing.kind,
        blocks=parts.blocks,
        title=listing.title,
        author=listing.author,
        language=language,
        url=listing.url,
        hidden=sum(one.hidden for one in sources),
        warnings=(*listing.warnings, *_told_once(sources), *doubts),
    )


def plain_words(markup: object) -> str | None:
    """The words of a title or name that may hold HTML, on one line."""
    if not isinstance(markup, str):
        return None
    if not ("<" in markup or "&" in markup):
        return one_line(markup)
    tree = parsed(markup)
    return None if tree is None else one_line(str(tree.text_content()))


def _source(item: Item, origin: str, kind: str) -> Source | None:
    markdown, hidden = _markdown(item)
    cleaned = clean(markdown)
    text = _FIRST_SEEN.sub("", cleaned.text.strip())
    if not any(char.isalnum() for char in text):
        return None
    parts = outline(text)
    language, doubts = language_of(item.language, prose_of(text, parts.blocks))
    return Source(
        text=text,
        origin=item.url or origin,
        kind=kind,
        blocks=parts.blocks,
        title=item.title,
        author=item.author,
        date=item.date,
        language=language,
        url=item.url,
        hidden=hidden + cleaned.removed,
        warnings=(*hidden_warning(markdown, cleaned), *doubts),
    )


def _markdown(item: Item) -> tuple[str, int]:
    if item.markup is None:
        return typed_markdown("\n".join((item.typed or "").splitlines())), 0
    tree = parsed(item.markup)
    if tree is None:
        return "", 0
    hidden = remove_hidden(tree)
    return markdown_of(tree), hidden


def _section(entry: Entry) -> str:
    heading = f"## {escaped(entry.title)}" if entry.title else ""
    text = "" if entry.source is None else _under(entry.source)
    return "\n\n".join(part for part in (heading, text) if part)


def _under(source: Source) -> str:
    """The text of an item with its headings below the second level."""
    parts: list[str] = []
    at = 0
    for block in source.blocks:
        if block.kind == "heading" and source.text.startswith("#", block.start):
            parts.append(source.text[at : block.start])
            parts.append("#" * (min(_DEEPEST, block.level + 2) - block.level))
            at = block.start
    return "".join([*parts, source.text[at:]])


def _told_once(sources: Iterable[Source]) -> list[str]:
    return list(dict.fromkeys(line for one in sources for line in one.warnings))
