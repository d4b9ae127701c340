"""The embedded engine's summaries beside sumy's LexRank and TextRank, as a Markdown table.

    python tests/bench/extractive.py FOLDER [--rounds 5] [--each]

FOLDER holds the articles; `articles.py` says which, and how to get them. Each summarizer is given
an article's body without its abstract. sumy makes as many sentences as the embedded engine does,
and once more as many words, since a longer summary has a lower F1. All cut sentences with our own
splitter, through a tokenizer object of ours in sumy. ROUGE is that of `rouge-score` with stemming,
against the abstract. Needs the extra `bench`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import accumulate
from pathlib import Path
from typing import Any

from articles import ARTICLES, VIGNETTES, Article, read_article
from rouge_score.rouge_scorer import RougeScorer
from sumy.nlp.stemmers import Stemmer
from sumy.parsers.plaintext import PlaintextParser
from sumy.summarizers.lex_rank import LexRankSummarizer
from sumy.summarizers.text_rank import TextRankSummarizer
from sumy.utils import get_stop_words

from repurpose.api.loading import load
from repurpose.api.runs import job_for
from repurpose.config import Settings
from repurpose.core.steering import Steering
from repurpose.engines.extractive import extractive_engine
from repurpose.text.sentences import sentence_spans

Summarizer = Callable[[Article, list[str]], list[str]]
"""From an article and the embedded engine's sentences to as many."""

MEASURES = ("rouge1", "rouge2")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class OurTokenizer:
    """What sumy asks of a tokenizer; its own one needs data that is downloaded."""

    def to_sentences(self, text: str) -> tuple[str, ...]:
        """The sentences of a paragraph."""
        spans = sentence_spans(text, "en")
        return tuple(found for start, end in spans if (found := text[start:end].strip()))

    def to_words(self, sentence: str) -> tuple[str, ...]:
        """The words of a sentence."""
        return tuple(_WORD.findall(sentence))


def embedded(article: Article, _ours: list[str]) -> list[str]:
    """What `repurpose run` without a model makes as a summary, the reading of Markdown included."""
    source = load(f"# {article.title}\n\n{article.body}".encode(), kind="markdown")
    settings = Settings(database=Path("unused.db"))
    call = job_for("summary", source, Steering(), settings, None).first
    reply = asyncio.run(extractive_engine().answer(call))
    sentences: list[str] = json.loads(reply.text)["sentences"]  # noqa: TID251 - the engine's own
    return sentences


def sumy_with(
    kind: type[LexRankSummarizer | TextRankSummarizer], *, as_many_words: bool = False
) -> Summarizer:
    """One of sumy's summarizers, with its stemmer and its stop words."""
    summarizer = kind(Stemmer("english"))
    summarizer.stop_words = get_stop_words("english")

    def summarize(article: Article, ours: list[str]) -> list[str]:
        words = len(" ".join(ours).split())

        def within(best_first: Sequence[Any]) -> list[Any]:
            ends = accumulate(len(str(one.sentence).split()) for one in best_first)
            return [one for one, end in zip(best_first, ends, strict=True) if end <= words]

        prose = "\n\n".join(p for p in article.body.split("\n\n") if not p.startswith("#"))
        document = PlaintextParser.from_string(prose, OurTokenizer()).document
        count = within if as_many_words else len(ours)
        return [str(sentence) for sentence in summarizer(document, count)]

    return summarize


SUMMARIZERS: dict[str, Summarizer] = {
    "embedded engine": embedded,
    "sumy LexRank": sumy_with(LexRankSummarizer),
    "sumy TextRank": sumy_with(TextRankSummarizer),
    "sumy LexRank, as many words": sumy_with(LexRankSummarizer, as_many_words=True),
    "sumy TextRank, as many words": sumy_with(TextRankSummarizer, as_many_words=True),
}


def processor_ms(act: Callable[[], object]) -> float:
    """User and system time of `act`, in milliseconds."""
    before = time.process_time()
    act()
    return 1000 * (time.process_time() - before)


def main() -> None:
    """Summarize, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--each", action="store_true", help="tell every article's scores")
    options = parser.parse_args()
    articles = [read_article(options.folder / VIGNETTES / name) for name in ARTICLES]
    scorer = RougeScorer(MEASURES, use_stemmer=True)
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in SUMMARIZERS}
    times: dict[str, list[float]] = {name: [] for name in SUMMARIZERS}
    lengths: dict[str, list[int]] = {name: [] for name in SUMMARIZERS}
    for article in articles:
        assert article is not None
        ours = embedded(article, [])
        for name, summarize in SUMMARIZERS.items():
            chosen = " ".join(summarize(article, ours))
            lengths[name].append(len(chosen.split()))
            found = scorer.score(article.abstract, chosen)
            scores[name].append({one: found[one].fmeasure for one in MEASURES})
            act = partial(summarize, article, ours)
            taken = [processor_ms(act) for _ in range(options.rounds)]
            times[name].append(statistics.median(taken))
        if options.each:
            told = {name: f"{scores[name][-1]['rouge1']:.3f}" for name in SUMMARIZERS}
            sys.stderr.write(f"{article.name:24} {told}\n")
    sys.stdout.write(table(scores, times, lengths))


def table(
    scores: dict[str, list[dict[str, float]]],
    times: dict[str, list[float]],
    lengths: dict[str, list[int]],
) -> str:
    """Means over the articles."""
    lines = [
        f"{datetime.now(UTC):%d %B %Y}, Python {sys.version.split()[0]}, sumy {version('sumy')}.",
        "",
        "| summarizer | ROUGE-1 F1 | ROUGE-2 F1 | words | processor ms an article |",
        "| :-- | --: | --: | --: | --: |",
    ]
    for name, found in scores.items():
        one, two = (statistics.mean(each[measure] for each in found) for measure in MEASURES)
        lines.append(
            f"| {name} | {one:.3f} | {two:.3f} | {statistics.mean(lengths[name]):.0f}"
            f" | {statistics.mean(times[name]):.0f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
