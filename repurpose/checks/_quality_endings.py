"""Texts that stop before they are finished."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from repurpose.checks._quality_reading import Defect, Passage

__all__ = ["unfinished"]

_LONG_TEXT, _LONG_LINE = 80, 60
"""Characters from which a text, and its last line, would have ended with a full stop."""
_FEWEST_WORDS = 5
"""Of a last line that may be said to stop in mid-sentence; shorter ones are headings."""
_GOES_ON = frozenset(",;，、،؛([{（「『【")
"""What no text ends with. A semicolon ends a question in Greek."""
_DASHES = frozenset("-–—")
_NO_FULL_STOP = frozenset({"lo", "th"})
"""Languages that end a sentence without a sign."""
_BULLET = re.compile(r"\s{0,8}(?:[-*•‣–—→✓✔]|\d{1,3}[.)])")
_ADDRESS = re.compile(r"://|^www\.|@|\.\w{2,}/|\w/\w")
_NEED_MORE: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "a an and because its or our than the their which your",
        "de": "aber am das dass dem den der des die ein eine einem einen im oder und",
        "es": "a con de del e el en la las los o para por que un una y",
        "fr": "au aux dans de des du en et la le les ou pour que un une",
        "it": "che con da dei del della di e gli i il la le lo o per un una",
        "nl": "aan de een en het of omdat van",
        "pt": "com da das de do dos e em na no o os ou para por que um uma",
    }.items()
}
"""Words after which no sentence ends."""


def unfinished(passage: Passage, language: str | None) -> Iterator[Defect]:
    """Why `passage` cannot be all that was meant, by what it ends with.

    A line such as a subject, which need not be a sentence, gets a note at most.
    """
    body = passage.body
    last = body[-1]
    sure = passage.role == "text"
    if last in ":：":
        yield Defect(passage.path, "ends in a colon: what it announces is missing", sure)
    elif _goes_on(body, language):
        yield Defect(passage.path, "stops in the middle of a sentence", sure)
    elif sure and _is_letter(last):
        yield from _without_full_stop(passage, language)


def _goes_on(body: str, language: str | None) -> bool:
    last = body[-1]
    if last in _GOES_ON:
        return not (last == ";" and language == "el")
    return last in _DASHES and len(body) > 1 and body[-2] not in _DASHES


def _without_full_stop(passage: Passage, language: str | None) -> Iterator[Defect]:
    """What a text that ends with a letter is: stopped, perhaps stopped, or just a slogan."""
    line = passage.body[passage.body.rfind("\n") + 1 :]
    if _BULLET.match(line) or _ADDRESS.search(line.rsplit(None, 1)[-1]):
        return
    words = passage.sentences[-1].words if passage.sentences else ()
    if len(words) >= _FEWEST_WORDS and words[-1] in _NEED_MORE.get(language or "", ()):
        yield Defect(passage.path, "stops in the middle of a sentence", unusable=False)
    elif (
        language not in _NO_FULL_STOP
        and len(passage.body) >= _LONG_TEXT
        and len(line) >= _LONG_LINE
    ):
        message = "ends without a full stop; its end may be missing"
        yield Defect(passage.path, message, unusable=False)


def _is_letter(sign: str) -> bool:
    return sign.isalpha() or unicodedata.category(sign)[0] == "M"
