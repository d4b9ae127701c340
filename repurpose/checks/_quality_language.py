"""Whether a text is in the language that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from repurpose.checks._quality_reading import Defect, Passage
from repurpose.text.language import kindred, primary

__all__ = ["wrong_language"]

_ENOUGH = 60
"""Characters of a passage below which a detected language means little."""
_SURE = 0.8
"""A detected language must be this likely to count against a text."""
_MOSTLY = 1 / 3
"""The share of a text in another language that is more than a quotation."""
_COMMON_SHARE, _COMMON_FEWEST = 0.1, 3
_COMMON: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "de": "auch auf dem der die eine für ist mit nicht sich und von werden wird zu",
        "en": "and are be but by can for from has have how if its more not of or out than that"
        " the their they this to was were when which who will with you your",
        "es": "como el está las los más pero por sin sus también y",
        "fr": "au aux avec cette dans est et leur les ne pas pour qui sont sur une vous",
        "it": "alla anche che dei della di gli il nel non più sono",
        "nl": "aan bij deze dit een het niet ook van voor wordt zijn",
        "pt": "ao com da dos é em foi mais mas não os pelo são seu uma",
    }.items()
}
"""Words of which a text in the language is full, and one in another language is not."""


def wrong_language(part: Sequence[Passage], language: str | None) -> Iterator[Defect]:
    """Passages of one published text that are clearly in another language than `language`.

    They make it unusable where they are a third of it or more; less may be a quotation.
    """
    if language is None:
        return
    wrong = {each.path: found for each in part if (found := _other_language(each, language))}
    if not wrong:
        return
    whole = sum(len(each.body) for each in part)
    strange = sum(len(each.body) for each in part if each.path in wrong)
    for path, found in wrong.items():
        message = f"is written in {found}, not in {language}"
        yield Defect(path, message, unusable=strange >= _MOSTLY * whole)


def _other_language(passage: Passage, language: str) -> str | None:
    """The language that `passage` is surely in, where that is not `language`."""
    wanted = primary(language)
    if len(passage.body) < _ENOUGH or _full_of_its_words(passage, wanted):
        return None
    # Loads a library, 0.1 to 0.2 seconds, which most answers can do without.
    from repurpose.text.detection import detect_language, scores_of  # noqa: PLC0415

    likeliest = next(iter(scores_of(passage.body, 1)), wanted)
    if kindred(primary(likeliest), wanted):
        return None
    found = detect_language(passage.body)
    if found.code is None or found.score < _SURE or kindred(found.code, wanted):
        return None
    return found.code


def _full_of_its_words(passage: Passage, wanted: str) -> bool:
    common = _COMMON.get(wanted)
    if not common:
        return False
    count = sum(map(common.__contains__, passage.words))
    return count >= max(_COMMON_FEWEST, _COMMON_SHARE * len(passage.words))
