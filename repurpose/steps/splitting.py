"""From a reply that is still being written to the texts of its sections.

What comes out is for the eye: it shows that something is written and what. It decides nothing, and
is replaced by the result as soon as there is one. Three laws hold for any text, however it is cut
into pieces: the same sections with the same whole texts come out, a text only grows, and nothing
is raised. The time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from repurpose.steps._json_strings import Growth, JsonStrings, Path

__all__ = ["WHOLE", "Splitter"]

WHOLE = "default"
"""The variant that stands for a format's whole text."""

_TAGS = "think|thinking|thought|reasoning"
_OPEN = re.compile(rf"<(?:{_TAGS})\s{{0,8}}>", re.IGNORECASE)
_CLOSE = re.compile(rf"</(?:{_TAGS})\s{{0,8}}>", re.IGNORECASE)
"""As intake knows them."""
_LONGEST_TAG = 24
_UNSTORABLE = re.compile("[\ud800-\udfff\x00]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_BLANK = re.compile(r"[\s\ufeff]*+")


class Splitter:
    r"""Splits one reply of one format; a reply that begins anew needs a new one.

    >>> splitter = Splitter("social", variants=["x", "x.2"])
    >>> [*splitter.feed('{"x": {"text": "Look'), *splitter.feed(' up!", "hashtags": ["sky"]}}')]
    [('x', 'Look'), ('x', ' up!\n\n#sky')]
    """

    def __init__(
        self,
        format: str,
        *,
        variants: Sequence[str] = (WHOLE,),
        beside: Collection[str] = (),
        structured: bool = True,
    ) -> None:
        """`variants` are those wanted: `x.2` stands in an answer under `x_2`.

        `beside` are the other formats of the run: where all are asked for under one schema, each
        has a field there, and only the format's own counts. A reply that is not `structured` is
        the text itself.
        """
        self._own = format
        self._beside = frozenset(beside) - {format}
        self._keys = {_key_of(variant): variant for variant in variants if variant != WHOLE}
        self._is_whole_wanted = WHOLE in variants
        self._opening = _Opening()
        self._strings = JsonStrings() if structured else None
        self._plain = _Pairs()
        self._flows = {variant: _Flow() for variant in variants}

    def feed(self, piece: str) -> list[tuple[str, str]]:
        """What each variant's text grew by; a variant at most once, in order of first growth."""
        rest = self._opening.feed(piece)
        grown: dict[str, list[str]] = {}
        for growth in self._growths(rest) if rest else ():
            for variant in self._wanting(growth.path):
                more = self._flows[variant].add(growth)
                if more:
                    grown.setdefault(variant, []).append(more)
        return [(variant, "".join(parts)) for variant, parts in grown.items()]

    def _growths(self, text: str) -> Iterator[Growth]:
        if self._strings is not None:
            yield from self._strings.feed(text)
            return
        whole = self._plain.feed(text)
        if whole:
            yield Growth(1, (), whole)

    def _wanting(self, path: Path) -> Iterator[str]:
        """The variants whose text a string belongs to."""
        if len(path) > 1 and path[0] in self._beside:
            return
        if self._is_whole_wanted:
            yield WHOLE
        for part in path[:2]:  # the second: under the format's own field, or a needless wrapper
            variant = self._keys.get(part) if isinstance(part, str) else None
            if variant is not None:
                yield variant
                return


class _Flow:
    """Strings as one text: each on a line or a paragraph of its own, hashtags in one line."""

    __slots__ = ("_blank", "_is_fresh", "_last", "_number", "_shown")

    def __init__(self) -> None:
        self._number = 0
        self._is_fresh = True
        """Whether the string has shown nothing yet."""
        self._last: Path = ()
        self._shown: Path | None = None
        """Where the last string that showed something stood."""
        self._blank: list[str] = []
        """Space that is shown only if something follows it in its string."""

    def add(self, growth: Growth) -> str:
        """What the text grows by; blank space at both ends of a string is left out."""
        if growth.number != self._number:
            self._number, self._last, self._is_fresh = growth.number, growth.path, True
            self._blank.clear()
        body = growth.text.rstrip()
        space = growth.text[len(body) :]
        if self._is_fresh:
            body = body.lstrip()
            if not body:
                return ""
            before = self._lead(body)
            self._is_fresh, self._shown = False, self._last
        elif body:
            before = "".join(self._blank)
            self._blank.clear()
        else:
            before = ""
        self._blank.append(space)
        return before + body

    def _lead(self, body: str) -> str:
        """What stands before the string that begins to be shown."""
        is_tag = _is_hashtag(self._last)
        sign = "#" if is_tag and not body.startswith("#") else ""
        if self._shown is None:
            return sign
        beside = self._last[:-1] == self._shown[:-1]
        if is_tag and beside:
            return " " + sign
        return ("\n" if beside and isinstance(self._last[-1], str) else "\n\n") + sign


class _Opening:
    """Passes over blank space, and over one reasoning block, before a reply."""

    def __init__(self) -> None:
        self._pending = ""
        self._is_inside = False
        self._is_over = False

    def feed(self, piece: str) -> str:
        """The part of the piece that belongs to the reply."""
        if self._is_over:
            return piece
        text = self._pending + piece
        self._pending = ""
        if not self._is_inside:
            text = _BLANK.sub("", text, count=1)
            opened = _OPEN.match(text)
            if opened is None:
                return self._unopened(text)
            self._is_inside = True
            text = text[opened.end() :]
        closed = _CLOSE.search(text)
        if closed is None:
            self._pending = text[-_LONGEST_TAG:]
            return ""
        self._is_over = True
        return text[closed.end() :]

    def _unopened(self, text: str) -> str:
        """The text, unless it may still become a tag."""
        if not text or (text[0] == "<" and ">" not in text and len(text) < _LONGEST_TAG):
            self._pending = text
            return ""
        self._is_over = True
        return text


class _Pairs:
    """Puts surrogate pairs together that were cut apart, and replaces what cannot be stored."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, text: str) -> str:
        if text.isascii() and "\0" not in text and not self._high:
            return text
        text = self._high + text
        self._high = ""
        if "\ud800" <= text[-1] <= "\udbff":
            self._high, text = text[-1], text[:-1]
        return _UNSTORABLE.sub("\ufffd", _PAIR.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _key_of(variant: str) -> str:
    """The key of an answer under which a variant stands.

    >>> _key_of("x"), _key_of("x.2")
    ('x', 'x_2')
    """
    return variant.replace(".", "_")


def _is_hashtag(path: Path) -> bool:
    return len(path) > 1 and path[-2] == "hashtags" and isinstance(path[-1], int)
