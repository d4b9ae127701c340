"""Hashtags for an article: the words of its title and headings that the text is about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import regex

from repurpose.engines._extract_article import Article
from repurpose.engines._extract_language import language_named
from repurpose.engines._extract_terms import Terms
from repurpose.engines._extract_words import words_of

__all__ = ["hashtags_of"]

_ENOUGH = 3
"""With fewer tags than this from title and headings, the text's most frequent nouns follow."""
_TITLE_WEIGHT = 2.0
_TOGETHER = 2.5
"""What each use of a pair of words adds to the score of the better one of them."""
_SURELY_A_PHRASE = 4
"""How often two words must be neighbours to be a phrase, where they may not be two nouns."""
_SURE = 1.0
"""How often a word must stand as a noun does; half a time is no proof."""
_FREQUENT = 5
"""How often a word that is in no heading must occur to be a tag."""

_JAPANESE_RUN = regex.compile(
    r"(?![一二三四五六七八九十百千万何約数])[\p{Han}\p{Katakana}ー々]{2,12}|[\p{Latin}]{2,20}"
)
_CHINESE_RUN = regex.compile(r"[\p{Han}]{2,}|[\p{Latin}]{2,20}")
# Characters that are grammar in Chinese, not part of a name.
_CHINESE_GRAMMAR = regex.compile(
    r"[的了在是和与及或为对从到把被让给你我他她它们这那个哪些什么怎如何可以会能不没有就也都很还最做去来上下里中并将而其之于着过吗呢吧]|建立|帮助|寻找|找到|使用|进行|发现|关注|保持|发出|需要|成为|选择|开始|合适|重要|更好|方法"
)
_FLOOR = 0.15
"""Chinese verbs and nouns look alike; what is this much rarer than the best is left out."""


def hashtags_of(article: Article, terms: Terms) -> list[str]:
    """Candidate hashtags, the best first: no `#`, no spaces, no bare numbers, no function words.

    A tag is a word of the title or of a heading that the text uses again, spelled as the text
    spells it most often; two neighbouring words of a heading may join, as in `ToolLibrary`.
    """
    known = language_named(article.language)
    if not known.spaceless:
        return _spaced(article, terms)
    # Without a dictionary nobody can tell Thai, Lao, Khmer or Burmese words apart.
    return [] if known.unpunctuated else _runs(article)


def _headlines(article: Article) -> list[tuple[str, float]]:
    """Title and headings with their weights."""
    lines = [(article.title or "", _TITLE_WEIGHT)]
    lines.extend((each.heading.text, 1.0) for each in article.sections if each.heading)
    return lines


@dataclass(slots=True)
class _Use:
    """How an article uses one stem."""

    times: int = 0
    as_noun: float = 0.0
    spellings: Counter[str] = field(default_factory=Counter)
    """Within sentences; at their beginning a capital says nothing."""

    def spelled(self, otherwise: str) -> str:
        """The most frequent spelling, the later in the alphabet where two are as frequent."""
        counts = self.spellings
        return max(counts, key=lambda word: (counts[word], word)) if counts else otherwise

    def is_noun(self, language: str) -> bool:
        """Whether it is more likely a noun than not; True where the language shows no sign."""
        if not _shows_nouns(language):
            return True
        name = bool(self.spellings) and all(word[:1].isupper() for word in self.spellings)
        return name or (self.as_noun >= _SURE and self.as_noun * 3 >= self.times)


def _spaced(article: Article, terms: Terms) -> list[str]:
    """Hashtags of a language that writes spaces: single words and joined pairs, by use."""
    uses, pairs = _uses(article, terms)
    scores: defaultdict[str, float] = defaultdict(float)
    stems: dict[str, tuple[str, ...]] = {}
    for text, weight in _headlines(article):
        words = [(_stem(word, terms), word) for word in words_of(text)]
        for stem, word in dict(words).items():
            use = uses.get(stem)
            if use is not None and use.times >= 2 and use.is_noun(article.language):
                tag = use.spelled(word)
                scores[tag] += weight * use.times
                stems[tag] = (stem,)
    sure = _shows_nouns(article.language)
    singles = {stems[tag][0]: score for tag, score in scores.items()}
    for text, _ in _headlines(article):
        words = [(_stem(word, terms), word) for word in words_of(text)]
        for (first, before), (second, after) in pairwise(words):
            together = pairs[first, second] if first in uses and second in uses else 0
            if together >= _SURELY_A_PHRASE or (
                together >= 2
                and sure
                and all(uses[each].is_noun(article.language) for each in (first, second))
            ):
                tag = _camel(before, after)
                best = max(singles.get(first, 0.0), singles.get(second, 0.0))
                scores[tag] = max(scores[tag], best + together * _TOGETHER)
                stems[tag] = (first, second)
    tags = list(_apart(scores, stems))
    if len(tags) < _ENOUGH:
        tags.extend(_frequent(article, uses, {stem for tag in tags for stem in stems[tag]}))
    return tags


def _uses(article: Article, terms: Terms) -> tuple[dict[str, _Use], Counter[tuple[str, str]]]:
    """Each stem's use in the sentences, and how often two stems are neighbours anywhere."""
    uses: dict[str, _Use] = {}
    pairs: Counter[tuple[str, str]] = Counter()
    said: Counter[tuple[str, str]] = Counter()
    for sentence in article.sentences:
        stems = [_stem(word, terms) for word in sentence.words]
        for place, (stem, word) in enumerate(zip(stems, sentence.words, strict=True)):
            if stem:
                use = uses.setdefault(stem, _Use())
                use.times += 1
                if place and (article.language != "de" or word[:1].isupper()):
                    use.spellings[word] += 1
                use.as_noun += _stands_as_noun(sentence.words, place, article.language)
        said.update(pairwise(stems))
    for text, _ in _headlines(article):
        words = words_of(text)
        stems = [_stem(word, terms) for word in words]
        pairs.update(pair for pair in pairwise(stems) if said[pair])
        for place, stem in enumerate(stems):
            if stem in uses:
                uses[stem].times += 1
                uses[stem].as_noun += _stands_as_noun(words, place, article.language)
    return uses, pairs + said


def _stands_as_noun(words: Sequence[str], place: int, language: str) -> float:
    """How sure a word stands where a noun does: behind an article, or large in German."""
    if language == "de":
        return float(place > 0 and words[place][:1].isupper())
    determiners = language_named(language).determiners
    if place and words[place - 1].lower() in determiners:
        return 1.0
    return 0.5 if place > 1 and words[place - 2].lower() in determiners else 0.0


def _shows_nouns(language: str) -> bool:
    """Whether articles or capitals of the language give its nouns away."""
    return language == "de" or bool(language_named(language).determiners)


def _stem(word: str, terms: Terms) -> str:
    """The stem of a word fit for a tag, else the empty string."""
    if word[:1].isdigit() or (len(word) < 3 and not word.isupper()):
        return ""
    found = terms.of_word(word)
    return found[0] if len(found) == 1 else ""


def _camel(*words: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in words)


def _apart(scores: Mapping[str, float], stems: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """Tags by score, without those that repeat a word of a better one."""
    used: set[str] = set()
    for tag, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if used.isdisjoint(stems[tag]):
            used.update(stems[tag])
            yield tag


def _frequent(article: Article, uses: dict[str, _Use], known: set[str]) -> list[str]:
    """Nouns that the text returns to most, though no heading names them."""
    found = [
        (-use.times, use.spelled(stem))
        for stem, use in uses.items()
        if stem not in known and use.times >= _FREQUENT and use.is_noun(article.language)
    ]
    return [tag for _, tag in sorted(found)][:_ENOUGH]


def _runs(article: Article) -> list[str]:
    """Hashtags in Chinese and Japanese: runs of one script that title and text share."""
    body = "\n".join(each.text for each in article.sentences)
    scores: defaultdict[str, float] = defaultdict(float)
    for text, weight in _headlines(article):
        for run in set(_candidates(text, article.language)):
            use = body.count(run)
            if use >= 2:
                # A longer name says more; a shorter one is often only its piece.
                scores[run] += weight * use * min(len(run), 4) ** 0.5
    if article.language == "ja" and len(scores) < _ENOUGH:
        runs = Counter(_JAPANESE_RUN.findall(body))
        often = [run for run, use in runs.items() if use >= _FREQUENT and len(run) > 2]
        scores.update({run: runs[run] / len(body) for run in often if run not in scores})
    chosen: list[str] = []
    floor = max(scores.values(), default=0.0) * _FLOOR
    for run, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if article.language != "ja" and score < floor and run not in (article.title or ""):
            continue
        if not any(run in other or other in run for other in chosen):
            chosen.append(run)
    return chosen


def _candidates(text: str, language: str) -> Iterator[str]:
    if language == "ja":
        yield from _JAPANESE_RUN.findall(text)
        return
    for run in _CHINESE_RUN.findall(text):
        for piece in filter(None, _CHINESE_GRAMMAR.split(run)):
            if piece.isascii():
                yield piece
                continue
            for length in (2, 3, 4):
                yield from (piece[at : at + length] for at in range(len(piece) - length + 1))
