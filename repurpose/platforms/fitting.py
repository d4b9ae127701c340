"""A text made to fit a platform: counted on the final string, as that platform counts.

What a platform refuses does not go out: texts are cut, hashtags dropped, and so are the `@` of
mentions and single characters that are too much. Whatever was done is said in the result. Two
things are only said, since no shorter text is the same post: links beyond a platform's maximum,
and a length beyond what a platform shows of a text that it would accept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from repurpose.core.record import Measures
from repurpose.platforms import Platform, platform_chosen
from repurpose.platforms._rules import (
    Tail,
    fitting_tags,
    links_beyond,
    marked,
    measure_of,
    postable,
    tail_of,
)
from repurpose.platforms.hashtags import hashtags_apart, normalised_hashtags
from repurpose.text.counting import MEASURES, Measure
from repurpose.text.cutting import Cut, beginning, cut
from repurpose.text.sentences import Segmenter
from repurpose.text.trimming import one_line, trimmed

__all__ = ["FittedPost", "fit", "fit_post"]

_UNLIMITED = 10**9


@dataclass(frozen=True, slots=True)
class FittedPost:
    """A post, and what was done to make its platform accept it."""

    text: str
    """What is published: body, link, hashtags, disclosure."""
    body: str
    """The text without what was put after it; cut where that was needed."""
    hashtags: tuple[str, ...]
    """The hashtags that stand after the body, each with its `#`."""
    measures: Measures
    """Of `text`, in the platform's unit."""
    title: str | None = None
    """The title that goes with it; None where there is none, or the platform has none."""
    title_measures: Measures | None = None
    notes: tuple[str, ...] = ()
    """What was changed besides a cut and dropped hashtags, one line each, to be read after the
    platform's name."""
    over: tuple[str, ...] = ()
    """What is still more than the platform takes or shows, likewise."""

    @property
    def fits(self) -> bool:
        """Whether every limit holds, those included that are only advice."""
        return not self.over


def fit(
    text: str,
    platform: str | Platform = "x",
    hashtags: Iterable[str] = (),
    *,
    title: str | None = None,
    link: str | None = None,
    disclosure: str | None = None,
    language: str | None = None,
    segmenter: Segmenter | None = None,
    always: bool = False,
) -> FittedPost:
    """A post of any text of yours that fits `platform`: `x`, `x=premium`, `mastodon=1000`.

    The final string is measured, with hashtags, link and disclosure, in the platform's own unit,
    and cut where the platform would refuse it: at the last sentence end that keeps half of the
    room, else at a clause, else at a word. The text is not changed in other ways, and fitting the
    result again changes nothing. Where the number is what readers see and not what is refused,
    as for a newsletter's subject, the text is only measured; `always` cuts it too.

    `language` is a code such as `de`, for sentence ends; without one the rules of English hold
    next to the marks of all languages.

    Raises:
        UsageError: an unknown platform or option, or a link or disclosure that leaves less than
            half of the room.

    >>> fit("Why? Because! And more text here.", "x=20").text
    'Why? Because!'
    >>> fit("Opening in May.", "bluesky", ["ferry"], link="https://example.com/").text
    'Opening in May. https://example.com/ #ferry'
    """
    chosen = platform_chosen(platform) if isinstance(platform, str) else platform
    return fit_post(
        text,
        [hashtags] if isinstance(hashtags, str) else tuple(hashtags),
        chosen,
        language=language,
        segmenter=segmenter,
        title=title,
        link=link,
        disclosure=disclosure,
        always=always,
    )


def fit_post(
    text: str,
    hashtags: Sequence[str],
    platform: Platform,
    *,
    language: str | None,
    segmenter: Segmenter | None,
    title: str | None = None,
    link: str | None = None,
    disclosure: str | None = None,
    always: bool = False,
) -> FittedPost:
    """`fit` for a platform at hand.

    Hashtags take at most half of what link and disclosure leave; those that do not fit are
    dropped from the end, and the body is cut to the rest. `disclosure` is never cut; it is the
    post's last line. `link` stands after the body, unless the body that is published holds it.

    Hashtags that end the text in a block of their own join the others instead of standing there
    twice. Those inside a sentence stay, count towards the platform's maximum, and lose their `#`
    beyond it.
    """
    measure = measure_of(platform)
    limit = platform.limit if platform.enforced or always else _UNLIMITED
    notes: list[str] = []
    whole, ending = hashtags_apart(trimmed(postable(text, platform, notes)))
    body, inside, unmarked = marked(beginning(whole, limit, measure), platform, notes)
    wanted = normalised_hashtags([*hashtags, *ending]) if hashtags or ending else ()

    def laid_out(tail: Tail) -> tuple[Cut, Tail]:
        room = tail.room(platform, measure) if tail.text else platform.limit
        kept = fitting_tags(wanted, platform, inside, room // 2, measure)
        tail = replace(tail, hashtags=kept) if kept else tail
        return _cut_before(body, tail, limit, measure, language, segmenter), tail

    complete = tail_of(platform, link, disclosure)
    there = bool(complete.link) and complete.link in body
    piece, tail = laid_out(replace(complete, link="") if there else complete)
    if there and complete.link not in piece.text:
        piece, tail = laid_out(complete)
    final = tail.after(piece.text)
    measures = Measures(
        length=_length(final, piece, tail, platform),
        unit=platform.unit,
        max_length=platform.limit,
        shortened=piece.mode != "none",
        cut_mode=piece.mode,
        hashtags_dropped=len(wanted) - len(tail.hashtags) + unmarked,
    )
    if platform.also and measures.shortened:
        notes += _second_limit(tail.after(body), final, platform)
    headed, heading = _fitted_title(title, platform, language, segmenter, notes, always=always)
    beyond = [*_beyond(measures, ""), *(_beyond(heading, "title: ") if heading else ())]
    return FittedPost(
        text=final,
        body=piece.text,
        hashtags=tail.hashtags,
        measures=measures,
        title=headed,
        title_measures=heading,
        notes=tuple(notes),
        over=(*beyond, *links_beyond(final, platform)),
    )


def _length(final: str, piece: Cut, tail: Tail, platform: Platform) -> int:
    """The length of the post in the platform's first unit."""
    if platform.also is None and piece.text:
        return piece.length
    return MEASURES[platform.unit](final)


def _cut_before(
    body: str,
    tail: Tail,
    limit: int,
    measure: Measure,
    language: str | None,
    segmenter: Segmenter | None,
) -> Cut:
    """`body` cut so that body and tail together fit; the length is that of both.

    Lengths need not add up: X reads links across what was put together. So the sum is measured,
    and the allowance reduced until it fits.
    """
    after = tail.text
    if not after:
        return cut(body, limit, measure, language, segmenter)
    whole = measure(tail.after(body))
    if whole <= limit:
        return Cut(body, "none", whole)
    allowance = limit - measure(after)
    while allowance >= 2:
        piece = cut(body, allowance, measure, language, segmenter)
        length = measure(tail.after(piece.text))
        if length <= limit:
            return replace(piece, length=length)
        allowance -= length - limit
    return Cut("", "word", 0)


def _second_limit(wanted: str, final: str, platform: Platform) -> list[str]:
    """Why a post was cut that has fewer units than allowed."""
    also = platform.also
    if also is None or MEASURES[platform.unit](wanted) > platform.limit:
        return []
    unit = "bytes" if also.unit == "utf8_bytes" else also.unit
    counted = MEASURES[also.unit](final)
    return [f"counts {unit} too: {counted:,} of {also.limit:,}"]


def _fitted_title(
    title: str | None,
    platform: Platform,
    language: str | None,
    segmenter: Segmenter | None,
    notes: list[str],
    *,
    always: bool,
) -> tuple[str | None, Measures | None]:
    """The title on one line and cut to its limit, or nothing where the platform has none."""
    line = one_line(title or "")
    if not line:
        return None, None
    rule = platform.title
    if rule is None:
        notes.append("has no title; the one given was left out")
        return None, None
    limit = rule.limit if platform.enforced or always else _UNLIMITED
    told: list[str] = []
    piece = cut(postable(line, platform, told), limit, MEASURES[rule.unit], language, segmenter)
    notes += [f"title: {note}" for note in told]
    return piece.text, Measures(
        length=piece.length,
        unit=rule.unit,
        max_length=rule.limit,
        shortened=piece.mode != "none",
        cut_mode=piece.mode,
    )


def _beyond(measures: Measures, what: str) -> list[str]:
    """What is said of a text that is longer than what shows of it."""
    most = measures.max_length
    if most is None or measures.length <= most:
        return []
    return [f"{what}{measures.length:,} long, of which about {most:,} show"]
