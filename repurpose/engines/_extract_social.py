"""Posts for social platforms: a sentence that hooks, and ones that support it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from repurpose.engines._extract_article import Sentence
from repurpose.engines._extract_hashtags import hashtags_of
from repurpose.engines._extract_ranking import Ranking, inviting, usable
from repurpose.platforms import Platform
from repurpose.text.counting import MEASURES

__all__ = ["Order", "Post", "posts_of"]


@dataclass(frozen=True, slots=True)
class Order:
    """One post that is wanted."""

    platform: Platform
    titled: bool = False
    """Whether a title goes with it."""
    threaded: bool = False
    """Whether the text may fill several posts in a row."""


_Fits = Callable[[Sequence[Sentence]], bool]
"""Whether sentences, laid out and with their hashtags, have room on a platform."""

_Worth = Callable[[Sentence], float]
"""What a sentence is worth in view of the other posts, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Post:
    """One post; `text` and hashtags together keep the platform's limit where that is possible."""

    text: str
    sentences: tuple[Sentence, ...]
    hashtags: tuple[str, ...]
    title: str = ""


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
_THREAD = _Shape(10, 1500, 2)
_POSTS_OF_A_THREAD = 5
"""At most; numbers and breaks take some of the room."""

_GOES_ON = 1.25
"""What it is worth that the next sentence fits as well."""
_TAKEN = 0.25
"""What a sentence is worth that another post opens with."""
_USED = 0.5
"""What a sentence is worth that another post for the same platform holds."""
_HOOK_WORDS = 24
"""A hook longer than this is read to its end by few."""


def posts_of(ranking: Ranking, orders: Mapping[str, Order]) -> dict[str, Post]:
    """A post for each order, by the same keys; each opens with another sentence where it can.

    Those with little room choose first, since they have the least choice. A further post for a
    platform rather takes sentences that the earlier ones have not used.
    """
    tags = hashtags_of(ranking.article, ranking.terms)
    posts: dict[str, Post] = {}
    hooks: list[Sentence] = []
    used: defaultdict[str, list[Sentence]] = defaultdict(list)
    for key in sorted(orders, key=lambda each: min(orders[each].platform.limit, _SMALL_LIMIT)):
        order = orders[key]
        name = order.platform.name
        post = _post(ranking, order, tags, _worth(hooks, used[name]))
        if order.titled:
            post = replace(post, title=_title(ranking, order.platform, post))
        posts[key] = post
        hooks.extend(post.sentences[:1])
        used[name].extend(post.sentences)
    return {key: posts[key] for key in orders}


def _worth(hooks: Sequence[Sentence], used: Sequence[Sentence]) -> _Worth:
    """What sentences are worth that posts open with or, on the same platform, hold."""
    return lambda each: (_TAKEN if each in hooks else 1.0) * (_USED if each in used else 1.0)


def _shape_of(order: Order) -> _Shape:
    platform = order.platform
    if order.threaded:
        room = min(_THREAD.length, _POSTS_OF_A_THREAD * platform.limit)
        return replace(_THREAD, length=room)
    shape = _SHAPES.get(platform.name) or (_SMALL if platform.limit <= _SMALL_LIMIT else _LARGE)
    return replace(shape, length=min(shape.length, platform.limit))


def _post(ranking: Ranking, order: Order, tags: Sequence[str], worth: _Worth) -> Post:
    platform, shape = order.platform, _shape_of(order)
    allowed = shape.hashtags if platform.max_hashtags is None else platform.max_hashtags
    chosen_tags = tuple(tags[: min(shape.hashtags, allowed)])
    fits = _fitter(platform, shape.length, chosen_tags)
    hook = _hook(ranking, worth, fits, goes_on=shape.goes_on)
    if hook is None:
        return _without_sentences(ranking, platform, chosen_tags)
    if shape.goes_on:
        sentences = _with_next(ranking, hook, fits)
    else:
        sentences = (hook, *_support(ranking, hook, worth, fits, shape.sentences - 1))
    return Post(_laid_out(sentences), sentences, chosen_tags)


def _title(ranking: Ranking, platform: Platform, post: Post) -> str:
    """The article's title where it fits; else a heading or a short sentence; else what there is.

    The last is cut by whoever enforces the limit; nothing is cut here.
    """
    article, rule = ranking.article, platform.title
    if rule is None:
        return article.title or post.text
    measure = MEASURES[rule.unit]
    headings = [each.heading.text for each in article.sections if each.heading]
    short = [each for each in article.sentences if measure(each.text) <= rule.limit]
    others = [each for each in short if each not in post.sentences]
    best = ranking.best(usable(ranking, others or short), 1, bonus=inviting) if short else []
    found = [*([article.title] if article.title else []), *headings, *(each.text for each in best)]
    fitting = [text for text in found if measure(text) <= rule.limit]
    return (fitting or found or [post.text])[0]


def _fitter(platform: Platform, room: int, tags: Sequence[str]) -> _Fits:
    measure = MEASURES[platform.unit]
    gap = " " if platform.hashtags_after == "space" else "\n\n"
    tail = gap + " ".join(f"#{tag}" for tag in tags) if tags else ""

    def fits(sentences: Sequence[Sentence]) -> bool:
        return measure(_laid_out(sentences) + tail) <= room

    return fits


def _hook(ranking: Ranking, worth: _Worth, fits: _Fits, *, goes_on: bool) -> Sentence | None:
    """The most telling short sentence that no other post opens with."""

    def bonus(sentence: Sentence) -> float:
        factor = inviting(sentence) / max(1.0, sentence.size / _HOOK_WORDS)
        if goes_on and len(_with_next(ranking, sentence, fits)) > 1:
            factor *= _GOES_ON
        return factor * worth(sentence)

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
    ranking: Ranking, hook: Sentence, worth: _Worth, fits: _Fits, count: int
) -> list[Sentence]:
    """Sentences from all over the text that stand on their own, in its order."""
    support = ranking.best(
        usable(ranking, ranking.article.sentences),
        count,
        per_group=1,
        bonus=worth,
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
