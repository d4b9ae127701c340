"""Banned words and the spelling of names, in whatever a model wrote.

Both are looked for as whole words: `art` is not in `start`. Where a script puts no space between
words, as Chinese, Japanese or Thai, or joins endings to them, as Korean, any place counts.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

from repurpose.checks.quality import Prose
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.text.counting import token_spans

__all__ = ["Respelled", "banned_in", "is_read", "respelled"]

_NO_SPACES = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}\p{Bopomofo}"
)
_LETTER = rf"[[\w]--[_{_NO_SPACES}]]"
"""A letter or digit that goes on a word beside it."""
_IN_NAME = rf"[[\w]--[{_NO_SPACES}]]"
"""The same, where `_` goes on a name too: `github_token`."""
_JOINS = regex.compile(_LETTER, regex.V1)
_FORMATS = regex.compile(r"\p{Cf}")
_HUMP = regex.compile(r"(?<=[\p{Ll}\d])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")
"""Where the next word of a hashtag begins: `CheapFlights`, `AIArt`."""
_TAG = regex.compile(r"(?<!\w)[#＃]([\w]+)")
_CODE = regex.compile(r"`[^`\n]{1,200}`|(?<!\S)(?:~|\.{1,2}|[A-Za-z]:)?[/\\]\S{1,500}")
_APART = regex.compile(r"[^\w]|_")
_NOTHING = regex.compile(r"(?!)")
_SIGNS = str.maketrans({"’": "'", "ʼ": "'", "‘": "'", "‐": "-", "‑": "-"})
_ACCENTLESS = str.maketrans("łŁøØđĐħĦıŧŦ", "lLoOdDhHitT")
_LAST_WITH_ACCENTS = "\u052f"
"""Where Latin, Greek and Cyrillic end."""
_SHORT = 3
"""A capital name of so few letters is spelled like common words: IT, US, WHO."""


# --- banned words -------------------------------------------------------------------------------


def banned_in(answer: JsonObject, banned: Sequence[str]) -> list[tuple[str, str]]:
    """Each banned word or phrase that a text of the answer holds, with the text's dot path.

    Case, width, invisible characters and the kind of apostrophe or hyphen make no difference, and
    any white space may stand between the words of a phrase. In a hashtag, `cheap flights` is
    found as `#CheapFlights` and `#cheapflights`.

    >>> banned_in({"text": "Start CHEAP.", "hashtags": ["CheapArt"]}, ["cheap", "art"])
    [('text', 'cheap'), ('hashtags.0', 'cheap'), ('hashtags.0', 'art')]
    """
    patterns = [(word, *_banned_pattern(word)) for word in banned]
    return [
        (path, word)
        for path, text in _strings_in(answer)
        for readings in [_readings(text)]
        for word, pattern, squashed in patterns
        if (squashed and squashed in readings.tags) or pattern.search(readings.spoken)
    ]


@dataclass(frozen=True, slots=True)
class _Readings:
    spoken: str
    """The text folded, followed by the words of its hashtags."""
    tags: frozenset[str]
    """Each hashtag as one word."""


def _readings(text: str) -> _Readings:
    plain = _FORMATS.sub("", text).translate(_SIGNS)
    tags = [found[1] for found in _TAG.finditer(plain)]
    if not any(map(str.isspace, plain)):
        tags.append(plain.lstrip("#＃"))  # an entry of a list of hashtags
    words = [_HUMP.sub(" ", tag).replace("_", " ") for tag in tags]
    return _Readings(_folded("\n".join([plain, *words])), frozenset(map(_squashed, tags)))


@lru_cache(maxsize=1024)  # a voice is the same for every format of a run
def _banned_pattern(word: str) -> tuple[regex.Pattern[str], str]:
    folded = _folded(_FORMATS.sub("", word).translate(_SIGNS))
    return _pattern(folded, _LETTER, r"\s++"), _squashed(folded)


def _squashed(text: str) -> str:
    return _APART.sub("", _folded(text))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _pattern(phrase: str, letter: str, space: str) -> regex.Pattern[str]:
    """Finds `phrase` where neither end goes on as a word; nothing where it is blank."""
    if not phrase.strip():
        return _NOTHING
    before = f"(?<!{letter})" if _JOINS.match(phrase[:1]) else ""
    after = f"(?!{letter})" if _JOINS.match(phrase[-1:]) else ""
    words = space.join(regex.escape(each, special_only=True) for each in phrase.split())
    return regex.compile(f"{before}{words}{after}", regex.V1)


# --- names --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Respelled:
    """An answer with its names spelled right, and what was done."""

    answer: JsonObject
    notes: tuple[str, ...] = ()
    """`spelling: Github is now GitHub, 2 times`; and what was left, since it may be meant."""


def respelled(
    answer: JsonObject, names: Sequence[str], *, paths: Callable[[str], bool], quoted: bool = False
) -> Respelled:
    """The answer with those of `names` that differ in case only written as they are listed.

    Looks at the texts whose dot path `paths` accepts. Links, addresses, hashtags, handles, file
    paths and `code` stay. So does what may be another word: one in small letters, unless the name
    has capitals inside (`GitHub`), and one like `It` for a name of three capitals. Other accents
    (`Lodz` for `Łódź`) are told and not changed, since they may be a word of another language.
    With `quoted`, the words are an author's, so all is told and nothing changed.

    >>> respelled({"text": "Github has a Github."}, ["GitHub"], paths=lambda _: True)
    Respelled(answer={'text': 'GitHub has a GitHub.'}, \
notes=('spelling: Github is now GitHub, 2 times',))
    """
    changed: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    patterns = [(name, _pattern(_shadow(name), _IN_NAME, r"\s")) for name in names]

    def written(text: str, path: str) -> str:
        if not paths(path):
            return text
        for start, end, found, name in _misspelled(text, patterns):
            certain = _same_but_case(found, name) and not _may_be_meant(found, name)
            if certain and not quoted:
                text = text[:start] + _laid_over(name, found) + text[end:]
                changed[found, name] += 1
            elif certain or len(name) > _SHORT:
                left[found, name] += 1
        return text

    made = _mapped(answer, "", written)
    assert isinstance(made, Mapping)  # noqa: S101 - an object stays one
    notes = [f"spelling: {_line(f)} is now {_line(n)}{_times(c)}" for (f, n), c in changed.items()]
    notes += [f"spelling: {_line(f)} may be {_line(n)}{_times(c)}" for (f, n), c in left.items()]
    return Respelled(made if changed else answer, tuple(notes))


def _misspelled(
    text: str, patterns: Iterable[tuple[str, regex.Pattern[str]]]
) -> Iterator[tuple[int, int, str, str]]:
    """Where a name stands in another spelling; replacing one moves no other."""
    shadow = _shadow(text)
    kept: list[tuple[int, int]] | None = None
    for name, pattern in patterns:
        for match in pattern.finditer(shadow):
            start, end = match.span()
            found = text[start:end]
            if found.split() == name.split():
                continue
            if kept is None:
                kept = [*token_spans(text), *(code.span() for code in _CODE.finditer(text))]
            if not any(first < end and start < last for first, last in kept):
                yield start, end, found, name


def _shadow(text: str) -> str:
    """`text` in small letters without accents, character by character."""
    if text.isascii():
        return text.lower()
    return "".join(map(_shadow_of, text))


@lru_cache(maxsize=4096)
def _shadow_of(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0].translate(_ACCENTLESS)
    if base > _LAST_WITH_ACCENTS:
        base = character  # what is a mark on kana or a part of a syllable is another letter
    small = base.lower()
    return small if len(small) == 1 else base


def _same_but_case(found: str, name: str) -> bool:
    return len(found) == len(name) and found.lower().split() == name.lower().split()


def _may_be_meant(found: str, name: str) -> bool:
    """Whether what was found may be a common word and no misspelled name."""
    if any(word[1:] != word[1:].lower() and word != word.upper() for word in name.split()):
        return False  # GitHub, iPhone: nothing else is spelled so
    if found == found.lower():
        return True
    return name == name.upper() and len(name) <= _SHORT and found == found.capitalize()


def _laid_over(name: str, found: str) -> str:
    """The name, with white space as it was found."""
    pairs = zip(name, found, strict=True)
    return "".join(old if old.isspace() else new for new, old in pairs)


def _line(text: str) -> str:
    return " ".join(text.split())


def _times(count: int) -> str:
    return "" if count == 1 else f", {count} times"


def is_read(prose: Prose) -> Callable[[str], bool]:
    """Whether a dot path leads to a text that people read, by a format's own patterns.

    >>> is_read(Prose(texts=("*.text",)))("x.text"), is_read(Prose(texts=("*.text",)))("x.tags.0")
    (True, False)
    """
    patterns = (*prose.texts, *prose.lines, *prose.strings)
    whole = "|".join(
        r"\.".join(_SEGMENTS.get(each, regex.escape(each)) for each in pattern.split("."))
        for pattern in patterns
    )
    found = regex.compile(whole, regex.V1 | regex.DOTALL)
    return lambda path: found.fullmatch(path) is not None


_SEGMENTS = {"*": r"[^.]++", "**": r".*"}


# --- the strings of an answer -------------------------------------------------------------------


def _strings_in(value: JsonValue, path: str = "") -> Iterator[tuple[str, str]]:
    """Each string of a JSON value with its dot path, in order."""
    match value:
        case str():
            yield path, value
        case Mapping():
            for key, inner in value.items():
                yield from _strings_in(inner, f"{path}.{key}" if path else key)
        case Sequence():
            for index, inner in enumerate(value):
                yield from _strings_in(inner, f"{path}.{index}" if path else str(index))
        case _:
            return


def _mapped(value: JsonValue, path: str, change: Callable[[str, str], str]) -> JsonValue:
    """The value with every string changed; `change` is given the string and its dot path."""
    match value:
        case str():
            return change(value, path)
        case Mapping():
            return {
                key: _mapped(inner, f"{path}.{key}" if path else key, change)
                for key, inner in value.items()
            }
        case Sequence():
            return [
                _mapped(inner, f"{path}.{index}" if path else str(index), change)
                for index, inner in enumerate(value)
            ]
        case _:
            return value
