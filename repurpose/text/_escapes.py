"""Every way a text may be read once escapes in it are decoded, with the way back to the original.

A later step or a model may decode `&lt;`, `\u003c` or `%3C`, once or several times over. Each
`Reading` is one stage of that, so that a search in it finds what such a reader would see.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from html.entities import html5
from string import ascii_letters, digits

__all__ = ["Reading", "Span", "readings"]

Span = tuple[int, int]
"""Start and end, exclusive, in code points."""

# Decoding ends by itself, since each pass shortens the text; this only bounds the cost of text
# built to be decoded over and over.
_MAX_ROUNDS = 6

_Decoder = Callable[[re.Match[str]], tuple[str, int] | None]
"""From a match to what it stands for and where the escape ends, or None where it is none."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Where one pass replaced something: four columns, one entry for each replaced escape."""

    new: tuple[int, ...]
    """Offset of what the escape stands for, in the decoded text."""
    size: tuple[int, ...]
    """How many characters it stands for; 0 where it was dropped."""
    start: tuple[int, ...]
    """Where the escape starts in the text before the pass."""
    end: tuple[int, ...]

    def back(self, offset: int) -> tuple[int, int]:
        """The span, before the pass, of the character at `offset` after it."""
        place = bisect_right(self.new, offset) - 1
        if place < 0:
            return offset, offset + 1
        beyond = offset - self.new[place] - self.size[place]
        if beyond < 0:
            return self.start[place], self.end[place]
        return self.end[place] + beyond, self.end[place] + beyond + 1


@dataclass(frozen=True, slots=True)
class Reading:
    """A text as one reader might see it, and where each of its characters came from."""

    text: str
    steps: tuple[_Step, ...] = ()
    """The passes that led here, oldest first."""

    def origin(self, offset: int) -> Span:
        """The span, in the original text, of the character at `offset` of this reading."""
        if not self.steps:
            return offset, offset + 1
        start, end = offset, offset + 1
        for step in reversed(self.steps):
            start, end = step.back(start)[0], step.back(end - 1)[1]
        return start, end

    def substituted(self, changes: Iterable[tuple[Span, str]]) -> Reading:
        """A reading with other text in the place of some spans of this one, given in text order.

        A span that starts inside the one before it is left out.
        """
        pieces: list[str] = []
        columns: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
        length = done = 0
        for (start, end), replacement in changes:
            if start < done:
                continue
            length += start - done
            for column, value in zip(columns, (length, len(replacement), start, end), strict=True):
                column.append(value)
            pieces += (self.text[done:start], replacement)
            length += len(replacement)
            done = end
        if not pieces:
            return self
        pieces.append(self.text[done:])
        new, size, starts, ends = map(tuple, columns)
        return Reading("".join(pieces), (*self.steps, _Step(new, size, starts, ends)))


def readings(reading: Reading) -> Iterator[Reading]:
    """`reading` as it stands, then after each pass that decodes something, until none does.

    Stops after six rounds of all passes. Costs nothing more than a few substring searches where
    the text has no escape.
    """
    for spelling in _spellings(reading.text):
        current = Reading(spelling, reading.steps)
        yield current
        for _ in range(_MAX_ROUNDS):
            before = current
            for marks, pattern, decode in _PASSES:
                if _has_any(current.text, marks):
                    decoded = current.substituted(_changes(current.text, pattern, decode))
                    if decoded is not current:
                        current = decoded
                        yield current
            if current is before:
                break


def _spellings(text: str) -> Iterator[str]:
    """The text, and its like-sized respellings where invisible or full-width ASCII is in it."""
    yield text
    if not text.isascii():
        visible = text.translate(_TAG_CHARACTERS) if _has_any(text, _TAG_BRACKETS) else text
        narrow = visible.translate(_FULL_WIDTH) if _has_any(visible, _WIDE_ESCAPES) else visible
        if narrow != text:
            yield narrow


def _has_any(text: str, marks: Iterable[str]) -> bool:
    """Whether one of `marks` is in `text`; faster than a pattern, which looks at each character."""
    return any(mark in text for mark in marks)


def _changes(text: str, pattern: re.Pattern[str], decode: _Decoder) -> Iterator[tuple[Span, str]]:
    """What one pass would put in the place of each escape."""
    for match in pattern.finditer(text):
        found = decode(match)
        if found is not None:
            replacement, end = found
            yield (match.start(), end), replacement


def _character(code: int) -> str | None:
    """The character of a code point, or None where there is none.

    Half of a surrogate pair is one too: it shows nothing, so it may hide inside a tag.
    """
    return chr(code) if code <= 0x10FFFF else None


# References that HTML knows only with a semicolon, but which are read without one as well.
_BARE = frozenset({
    "bsol", "colon", "gt", "lang", "langle", "lbrace", "lbrack", "lcub", "lowbar", "lsqb", "lt",
    "shy", "sol", "zwj", "zwnj",
})  # fmt: skip
_LONGEST_BARE = max(map(len, (*_BARE, *(name for name in html5 if not name.endswith(";")))))

_ENTITY = re.compile(
    # An ampersand may itself be escaped, any number of times.
    r"&(?P<again>(?:(?i:amp);?|\#0*+38(?:;|(?![0-9]))|\#[xX]0*+26(?:;|(?![0-9a-fA-F])))*+)"
    r"(?:\#[xX]0*+(?P<hex>[0-9a-fA-F]{1,6}+);?"
    r"|\#0*+(?P<decimal>[0-9]{1,7}+);?"
    r"|\#[xX]?(?P<zero>0++);?"
    r"|(?P<name>[A-Za-z][A-Za-z0-9]{1,31}+)(?P<closed>;?)"
    r"|)",
    re.ASCII,
)


def _entity(match: re.Match[str]) -> tuple[str, int] | None:
    """An HTML character reference, as lenient readers take it (HTML standard, 13.2.5.72 ff.)."""
    found = _named(match) if match["name"] else _numeric(match)
    if found is None and match["again"]:
        return "&", match.end("again")
    return found


def _numeric(match: re.Match[str]) -> tuple[str, int] | None:
    if match["hex"]:
        code = int(match["hex"], 16)
    elif match["decimal"]:
        code = int(match["decimal"])
    elif match["zero"]:
        code = 0
    else:
        return None
    character = _character(code)
    return None if character is None else (character, match.end())


def _named(match: re.Match[str]) -> tuple[str, int] | None:
    name = match["name"]
    if match["closed"]:
        known = html5.get(f"{name};") or html5.get(f"{name.lower()};")
        if known:
            return known, match.end()
    for size in range(min(len(name), _LONGEST_BARE), 1, -1):
        part = name[:size]
        known = html5.get(part) or (html5[f"{part.lower()};"] if part.lower() in _BARE else None)
        if known:
            return known, match.start("name") + size
    return None


_BACKSLASH = re.compile(
    r"\\(?:[uU]005[cC]|x5[cC]){0,8}"  # a backslash that was itself escaped
    r"(?:u[dD](?P<high>[89abAB][0-9a-fA-F]{2})\\u[dD](?P<low>[c-fC-F][0-9a-fA-F]{2})"
    r"|[ux]\{0*+(?P<braced>[0-9a-fA-F]{1,6})\}"
    r"|U00(?P<long>[01][0-9a-fA-F]{5})"
    r"|[uU](?P<short>[0-9a-fA-F]{4})"
    r"|x(?P<byte>[0-9a-fA-F]{2})"
    r"|0?(?P<octal>74))"
)


def _backslash(match: re.Match[str]) -> tuple[str, int] | None:
    r"""An escape of a string literal: `\u003c`, `\x3c`, `\u{3c}`, `\U0000003c`, `\074`."""
    if match["high"]:
        code = 0x10000 + ((int(match["high"], 16) - 0x800) << 10) + int(match["low"], 16) - 0xC00
    elif match["octal"]:
        code = int(match["octal"], 8)
    else:
        code = int(match["braced"] or match["long"] or match["short"] or match["byte"], 16)
    character = _character(code)
    return None if character is None else (character, match.end())


_P = r"%(?:25)*+"  # a percent sign that was itself escaped
_T = _P + "[89abAB][0-9a-fA-F]"
_PERCENT = re.compile(
    rf"{_P}u(?P<wide>[0-9a-fA-F]{{4}})"
    rf"|{_P}(?:[0-7][0-9a-fA-F]|[c-dC-D][0-9a-fA-F]{_T}|[eE][0-9a-fA-F]{_T}{_T}|[fF][0-7]{_T}{_T}{_T})"
    r"|=3[cC]"  # quoted-printable, for the bracket only: "=" and two digits are common
)
_OCTET = re.compile(rf"(?:{_P}|=)([0-9a-fA-F]{{2}})")


def _percent(match: re.Match[str]) -> tuple[str, int] | None:
    """A URL escape, of one character in UTF-8: `%3C`, `%EF%BC%9C`, `%253C`."""
    if match["wide"]:
        character = _character(int(match["wide"], 16))
        return None if character is None else (character, match.end())
    octets = bytes.fromhex("".join(_OCTET.findall(match[0])))
    decoded = octets.decode("utf-8", "ignore")
    return (decoded, match.end()) if decoded else None


# The common hidden characters, inside what would be an escape without them ("&l<soft hyphen>t;").
_HIDDEN = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0f\ufeff"
# The look behind lets a run be tried at its start only, else a long one would cost its square.
_HIDDEN_INSIDE = re.compile(f"[{_HIDDEN}](?<![{_HIDDEN}]{{2}})[{_HIDDEN}]*+(?=[A-Za-z0-9#;])")
_BEFORE_HIDDEN = frozenset(ascii_letters + digits + "#&%\\")


def _nothing(match: re.Match[str]) -> tuple[str, int] | None:
    before = match.string[match.start() - 1 : match.start()]
    return ("", match.end()) if before in _BEFORE_HIDDEN else None


# Signs that Unicode decomposes into two letters which stand together in a tag's name.
_TWO_LETTERS = re.compile("[\u2165\u2175\u32ce\u3383\u33b1\u33da]")
_TWO_LETTERS_READ = dict(
    zip("\u2165\u2175\u32ce\u3383\u33b1\u33da", ("vi", "vi", "ev", "ma", "ns", "pr"), strict=True)
)


def _two_letters(match: re.Match[str]) -> tuple[str, int] | None:
    return _TWO_LETTERS_READ[match[0]], match.end()


_PASSES: tuple[tuple[tuple[str, ...], re.Pattern[str], _Decoder], ...] = (
    (tuple(_HIDDEN), _HIDDEN_INSIDE, _nothing),
    (tuple(_TWO_LETTERS_READ), _TWO_LETTERS, _two_letters),
    (("&",), _ENTITY, _entity),
    (("\\",), _BACKSLASH, _backslash),
    (("%", "=3C", "=3c"), _PERCENT, _percent),
)
"""What has to occur in a text for a pass to be worth trying, what it looks for, what that means."""

# Tag characters are ASCII that no screen shows but some models read.
_TAG_BRACKETS = "\U000e003c\U000e003e\U000e005b\U000e007b"
_TAG_CHARACTERS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
_WIDE_ESCAPES = "\ufe60\ufe68\ufe6a\uff05\uff06\uff3c"
_FULL_WIDTH = {0xFEE0 + code: code for code in range(0x21, 0x7F)} | {
    0xFE60: "&",
    0xFE68: "\\",
    0xFE6A: "%",
    0xFE5F: "#",
    0xFE54: ";",
}
