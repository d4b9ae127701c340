"""Posts for social platforms: a sentence that hooks, and ones that support it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from repurpose.engines._extract_article import Sentence
from repurpose.engines._extract_hashtags import hashtags_of
from repurpose.engines._extract_ranking import Ranking, inviting, usable
from repurpose.platforms import Platform
from repurpose.text.counting import MEASURES

__all__ = ["Post", "posts_of"]


_Fits = Callable[[Sequence[Sentence]], bool]
"""Whether sentences, laid out and with their hashtags, have room on a platform."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post; `text` and hashtags together keep the platform's limit where that is possible."""

    text: str
    sentences: tuple[Sentence, ...]
    hashtags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Shape:
    """How long a post is good to read, which is far less than what the platform lets through."""

    sentences: int
    length: int
    """In the platform's own unit."""
    hashtags: int

    @property
    def goes_on(self) -> bool:
        """Whether the post is one passage; two sentences from two places explain nothing."""
        return self.sentences <= 2


# By the room that a platform gives; the three we know best have been looked at one by one.
_SHAPES = {"linkedin": _Shape(6, 1300, 4), "instagram": _Shape(4, 800, 5), "x": _Shape(2, 280, 2)}
_SMALL = _Shape(2, 500, 2)
_LARGE = _Shape(4, 900, 4)
_SMALL_LIMIT = 600

_GOES_ON = 1.25
"""What it is worth that the next sentence fits as well."""
_TAKEN = 0.25
"""What a sentence is worth that another post opens with."""
_HOOK_WORDS = 24
"""A hook longer than this is read to its end by few."""


def posts_of(ranking: Ranking, platforms: Sequence[Platform]) -> dict[str, Post]:
    """One post for each platform; each opens with another sentence where there are enough.

    Those with little room choose first, since they have the least choice.
    """
    tags = hashtags_of(ranking.article, ranking.terms)
    posts: dict[str, Post] = {}
    hooks: list[Sentence] = []
    for platform in sorted(platforms, key=lambda each: min(each.limit, _SMALL_LIMIT)):
        post = _post(ranking, platform, tags, hooks)
        posts[platform.name] = post
        hooks.extend(post.sentences[:1])
    return {platform.name: posts[platform.name] for platform in platforms}


def _post(
    ranking: Ranking, platform: Platform, tags: Sequence[str], hooks: Sequence[Sentence]
) -> Post:
    shape = _SHAPES.get(platform.name) or (_SMALL if platform.limit <= _SMALL_LIMIT else _LARGE)
    allowed = shape.hashtags if platform.max_hashtags is None else platform.max_hashtags
    chosen_tags = tuple(tags[: min(shape.hashtags, allowed)])
    fits = _fitter(platform, min(shape.length, platform.limit), chosen_tags)
    hook = _hook(ranking, hooks, fits, goes_on=shape.goes_on)
    if hook is None:
        return _without_sentences(ranking, platform, chosen_tags)
    if shape.goes_on:
        sentences = _with_next(ranking, hook, fits)
    else:
        sentences = (hook, *_support(ranking, hook, hooks, fits, shape.sentences - 1))
    return Post(_laid_out(sentences), sentences, chosen_tags)


def _fitter(platform: Platform, room: int, tags: Sequence[str]) -> _Fits:
    measure = MEASURES[platform.unit]
    gap = " " if platform.hashtags_after == "space" else "\n\n"
    tail = gap + " ".join(f"#{tag}" for tag in tags) if tags else ""

    def fits(sentences: Sequence[Sentence]) -> bool:
        return measure(_laid_out(sentences) + tail) <= room

    return fits


def _hook(
    ranking: Ranking, hooks: Sequence[Sentence], fits: _Fits, *, goes_on: bool
) -> Sentence | None:
    """The most telling short sentence that no other post opens with."""

    def bonus(sentence: Sentence) -> float:
        factor = inviting(sentence) / max(1.0, sentence.size / _HOOK_WORDS)
        if goes_on and len(_with_next(ranking, sentence, fits)) > 1:
            factor *= _GOES_ON
        return factor * (_TAKEN if sentence in hooks else 1.0)

    pool = usable(ranking, ranking.article.sentences)
    found = ranking.best([each for each in pool if fits([each])], 1, bonus=bonus)
    return found[0] if found else None


def _with_next(ranking: Ranking, hook: Sentence, fits: _Fits) -> tuple[Sentence, ...]:
    """The hook, and the sentence that goes on where it stops if that can be published too."""
    index = hook.index + 1
    if index < len(ranking.article.sentences) and ranking.complete[index]:
        following = ranking.article.sentences[index]
        if following.place == hook.place + 1 and fits((hook, following)):
            return hook, following
    return (hook,)


def _support(
    ranking: Ranking, hook: Sentence, hooks: Sequence[Sentence], fits: _Fits, count: int
) -> list[Sentence]:
    """Sentences from all over the text that stand on their own, in its order."""
    support = ranking.best(
        usable(ranking, ranking.article.sentences),
        count,
        per_group=1,
        bonus=lambda each: _TAKEN if each in hooks else 1.0,
        beside=[hook],
        fits=lambda chosen, other: fits([hook, *chosen, other]),
    )
    return sorted(support, key=lambda each: each.index)


def _without_sentences(ranking: Ranking, platform: Platform, tags: tuple[str, ...]) -> Post:
    """A post where every sentence is too long: the title, else the shortest sentence there is.

    The latter is cut by whoever enforces the limit; nothing is cut here.
    """
    article = ranking.article
    if article.title and MEASURES[platform.unit](article.title) <= platform.limit // 2:
        return Post(article.title, (), tags)
    shortest = min(article.sentences, key=lambda each: (len(each.text), each.index))
    return Post(shortest.text, (shortest,), tags)


def _laid_out(sentences: Sequence[Sentence]) -> str:
    """The hook on its own, then the others; a long post gets one paragraph for each."""
    texts = [each.text for each in sentences]
    return "\n\n".join(texts)
