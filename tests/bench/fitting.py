"""What fitting costs beside bare counting: a text of a million characters, and 10,000 posts.

Run: python tests/bench/fitting.py [--posts 10000] [--rounds 3]

The bare counts are what a program without limits, cuts and hashtags would do: `regex` with `\\X`
for graphemes; for X `twitter-text-parser` where it is installed, our own counter alone, and
patterns over the composed text that take links by their scheme only and know no top-level domains.
Time is processor time, the best of the rounds. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import types
import unicodedata
from collections.abc import Callable, Sequence
from importlib.resources import files
from time import process_time

import regex

from repurpose.platforms import PLATFORMS, fit_post
from repurpose.text.counting import weighted_length

_LIBRARY = "`twitter-text-parser`"
_GRAPHEME = regex.compile(r"\X")
_LINK = regex.compile(r"https?://\S++")
_HEAVY = regex.compile("[^\u0000-\u10ff\u2000-\u200d\u2010-\u201f\u2032-\u2037]")
_EMOJI = regex.compile(
    r"(?:\p{RI}\p{RI}|\p{Emoji_Presentation}|\p{Emoji}\uFE0F)\p{Emoji_Modifier}?+"
    r"(?:\u200D\p{Emoji}\uFE0F?\p{Emoji_Modifier}?+)*+"
)

_SENTENCES = (
    "The night ferry leaves Port Ellis at ten and carries no cars at all.",
    "It took 48,000 people last year, three times as many as forecast.",
    "Read the timetable at https://example.com/ferry/timetable?from=ellis before you go!",
    "Größere Häfen haben längst größere Fähren, sagt Käpt’n Jörg Äußerst.",
    "L’équipage dort à bord : deux cuisiniers, neuf marins, et un chat.",
    "Who bakes cinnamon buns at four in the morning? 🎉 A cook does, for 30 years.",
    "夜間フェリーは昨年四万八千人を運びました。",
    "Ask @captain about the #NightFerry – he knows every wave.",
)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--posts", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    long = _long_text()
    works = {
        f"{asked.posts:,} posts that fit": _posts(asked.posts, (1, 2, 3)),
        f"{asked.posts:,} posts, one in ten too long": _posts(asked.posts, (1, 2, 3), 8),
        f"{asked.posts:,} posts, all too long": _posts(asked.posts, (8, 9)),
        f"a text of {len(long):,} characters": [long],
    }
    _say("| what | platform | fitted in ms | bare count | ms | × bare |")
    _say("| :-- | :-- | --: | :-- | --: | --: |")
    bare_counts = [*_BARE, *_twitter_text()]
    for (name, texts), (platform, bare, count) in itertools.product(works.items(), bare_counts):
        if bare == _LIBRARY and len(texts) == 1:
            continue  # it takes quadratic time
        ours = _best(asked.rounds, texts, lambda text, name=platform: _fitted(text, name))
        theirs = _best(asked.rounds, texts, count)
        _say(f"| {name} | {platform} | {ours:.0f} | {bare} | {theirs:.0f} | {ours / theirs:.2f} |")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _fitted(text: str, platform: str) -> int:
    fitted = fit_post(text, ["ferry"], PLATFORMS[platform], language="en", segmenter=None)
    return fitted.measures.length


def _graphemes(text: str) -> int:
    return len(_GRAPHEME.findall(text))


def _weighted(text: str) -> int:
    text, links = _LINK.subn("", unicodedata.normalize("NFC", text))
    text, emoji = _EMOJI.subn("", text)
    heavy = len(_HEAVY.findall(text))
    return 23 * links + 2 * emoji + len(text) + heavy


_BARE: Sequence[tuple[str, str, Callable[[str], int]]] = (
    ("bluesky", "`regex` `\\X`", _graphemes),
    ("mastodon", "`regex` `\\X`", _graphemes),
    ("x", "our counter", weighted_length),
    ("x", "patterns over NFC", _weighted),
)


def _twitter_text() -> list[tuple[str, str, Callable[[str], int]]]:
    """The Python port of X's own library, which needs a module that setuptools has no more."""
    shim = types.ModuleType("pkg_resources")
    shim.resource_string = lambda package, name: (  # type: ignore[attr-defined]  # made for this
        files(package.rpartition(".")[0]).joinpath(name).read_bytes()
    )
    sys.modules.setdefault("pkg_resources", shim)
    try:
        from twitter_text import parse_tweet
    except ImportError:
        return []
    return [("x", _LIBRARY, lambda text: int(parse_tweet(text).weightedLength))]


def _best(rounds: int, texts: Sequence[str], work: Callable[[str], int]) -> float:
    """Milliseconds of the fastest round."""
    times = []
    for _ in range(rounds):
        began = process_time()
        for text in texts:
            work(text)
        times.append(process_time() - began)
    return 1000 * min(times)


def _posts(count: int, sizes: Sequence[int], every_tenth: int | None = None) -> list[str]:
    """Posts of so many sentences: three fit every platform, eight are over 500 characters."""
    endless = itertools.cycle(_SENTENCES)
    wanted = itertools.islice(itertools.cycle(sizes), count)
    return [
        " ".join(
            itertools.islice(endless, every_tenth if every_tenth and place % 10 == 0 else size)
        )
        for place, size in enumerate(wanted)
    ]


def _long_text() -> str:
    text = " ".join(_SENTENCES) + "\n\n"
    return (text * (1_000_000 // len(text) + 1))[:1_000_000]


if __name__ == "__main__":
    main()
