"""What stands in an answer more than once: sentences, words in a loop, whole posts.

Every check here takes time in proportion to the text: sentences are compared by what they begin
or end with, and only with the one before them of the same group.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from repurpose.checks._quality_reading import Defect, Passage, Sentence

__all__ = ["alike_parts", "loops", "repeated_sentences"]

_FEWEST_WORDS, _SHORTEST = 4, 12
"""What a sentence must have, in words and in characters, to count when it is said again."""
_COPIES = 3
"""So many times is no slip."""
_LOOKED_UP = 20
"""So many repeated sentences are looked for in the source; more need no proof."""
_SHINGLE = 3
_NEAR = 0.8
"""The share of three-word runs that makes one text a near copy of another."""
_NEAR_WORDS = 6
_NEAR_COPIES = 4
"""Parallel sentences come in threes; four of the same wording are a loop."""
_EDGE = 3
"""Near copies begin or end with the same words, this many."""
_ROUNDS, _LOOP_WORDS, _LOOP_CHARACTERS, _LONGEST_ROUND = 3, 8, 24, 20
"""A loop repeats at least so many rounds, words and characters, none of a longer round."""
_COMPARED_WORDS = 8
"""Shorter posts are not compared: there are few ways to say little."""

_RICH = 4
"""A source so many times as long as a post has another angle."""

_Placed = tuple[Passage, Sentence]


def repeated_sentences(part: Sequence[Passage], source: str) -> Iterator[Defect]:
    """Sentences that stand again and again in passages of one role that are published together.

    What the source itself says as often is no defect. Lines may be worded alike: a FAQ asks its
    questions in one way.
    """
    texts = any(each.role == "text" for each in part)
    placed = [(each, sentence) for each in part for sentence in each.sentences]
    comparable = [(each, one) for each, one in placed if _comparable(one)]
    groups = _grouped(comparable, slice(None))
    twice = [group for group in groups if len(group) > 1][:_LOOKED_UP]
    again = [group for group in twice if source.count(group[0][1].text) < len(group)]
    mostly = 2 * sum(len(group) - 1 for group in again) >= len(placed)
    for group in again:
        path, count = group[1][0].path, len(group)
        unusable = (mostly and texts) or count >= _COPIES
        told = "an earlier sentence" if count == 2 else f"one sentence {count} times"
        yield Defect(path, f"repeats {told}", unusable)
    if texts and not again and len(comparable) >= _COPIES:
        yield from _near_copies(comparable)


def loops(passage: Passage) -> Iterator[Defect]:
    """Words that go round and round without a sentence end."""
    pairs = set(pairwise(passage.words))
    if len(passage.words) - len(pairs) < _LOOP_WORDS:  # no pair of words comes back so often
        return
    last: dict[str, int] = {}
    distance = run = characters = 0
    for place, word in enumerate(passage.words):
        found = place - last.get(word, place)
        last[word] = place
        run, characters = (run + 1, characters + len(word)) if found == distance else (1, len(word))
        distance = found
        if (
            0 < distance <= _LONGEST_ROUND
            and run >= max(_ROUNDS * distance, _LOOP_WORDS)
            and characters >= _LOOP_CHARACTERS
        ):
            yield Defect(passage.path, "repeats the same words over and over", unusable=True)
            return


def alike_parts(parts: Sequence[Sequence[Passage]], source: str) -> Iterator[Defect]:
    """Texts for different places that say the same in the same words.

    All of them alike leave one text where several were asked for, unless the source has no more
    to say; two alike may be meant.
    """
    said = [tuple(word for each in part for word in each.words) for part in parts]
    compared = [place for place, words in enumerate(said) if len(words) >= _COMPARED_WORDS]
    if len(parts) > 1 and len(compared) == len(parts) and len(set(said)) == 1:
        rich = len(source) >= _RICH * max(len(each.text) for part in parts for each in part)
        yield Defect("", "all posts are the same; each needs an angle of its own", unusable=rich)
        return
    runs = {place: _shingles(said[place]) for place in compared}
    for index, place in enumerate(compared):
        for earlier in compared[:index]:
            if _share(runs[place], runs[earlier]) >= _NEAR:
                path, other = parts[place][0].part, parts[earlier][0].part
                yield Defect(path, f"says almost the same as {other}", unusable=False)
                break


def _comparable(sentence: Sentence) -> bool:
    return len(sentence.words) >= _FEWEST_WORDS and len(sentence.text) >= _SHORTEST


def _near_copies(placed: Sequence[_Placed]) -> Iterator[Defect]:
    """The longest run of near copies among the sentences that begin, or end, alike."""
    long = [(each, one) for each, one in placed if len(one.words) >= _NEAR_WORDS]
    for edge in (slice(_EDGE), slice(-_EDGE, None)):
        for group in _grouped(long, edge):
            if len(group) >= _COPIES and (count := _longest_run(group)) >= _COPIES:
                message = f"says almost the same {count} times"
                yield Defect(group[1][0].path, message, unusable=count >= _NEAR_COPIES)
                return


def _grouped(placed: Sequence[_Placed], edge: slice) -> Collection[Sequence[_Placed]]:
    """The sentences by the words at this edge of them; none where no two share them."""
    keys = [one.words[edge] for _, one in placed]
    if len(set(keys)) == len(keys):
        return ()
    groups: dict[tuple[str, ...], list[_Placed]] = defaultdict(list)
    for key, each in zip(keys, placed, strict=True):
        groups[key].append(each)
    return groups.values()


def _longest_run(group: Sequence[_Placed]) -> int:
    """How many neighbours of a group are each a near copy of the one before."""
    longest = run = 1
    before = _shingles(group[0][1].words)
    for _, sentence in group[1:]:
        now = _shingles(sentence.words)
        run = run + 1 if _share(before, now) >= _NEAR else 1
        longest, before = max(longest, run), now
    return longest


def _shingles(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    """The runs of three words."""
    return frozenset(zip(*(words[start:] for start in range(_SHINGLE)), strict=False))


def _share(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    """The part of the shorter text's runs that the longer one has as well."""
    fewest = min(len(one), len(other))
    return len(one & other) / fewest if fewest else 0.0
