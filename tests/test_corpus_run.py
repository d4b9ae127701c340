"""Real articles in three languages, from file to stored rows, without a model."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from repurpose.api.adapters import open_store
from repurpose.api.loading import load
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.source import Source
from repurpose.platforms import PLATFORMS
from repurpose.text.counting import MEASURES

pytestmark = pytest.mark.shared

ARTICLES = [
    "html/v8-standalone-wasm.html",
    "html/globalvoices-nicaragua-de.html",
    "md/toml-front-matter-de.md",
    "md/ja-metrics.md",
    "html/ja-shift-jis.html",
]


def plain(source: Source) -> str:
    """The source's words without white space, by way of HTML and not of our own rendering."""
    html = MarkdownIt("commonmark").enable("table").render(source.text)
    return re.sub(r"\s", "", unescape(re.sub(r"<[^>]*>", "", html)))


def published(format: str, content: dict[str, Any]) -> list[str]:
    """The texts of a row that must be the source's own."""
    match format:
        case "summary":
            return list(content["sentences"])
        case "faq":
            return [pair["answer"] for pair in content["pairs"]]
        case "newsletter":
            return [content["preheader"], *content["paragraphs"]]
        case _:
            body = content["text"]
            for tag in content["hashtags"]:
                body = body.replace(tag, "")
            return body.split("\n\n")


@pytest.mark.parametrize("name", ARTICLES)
def test_an_article_becomes_six_rows_that_fit_and_say_nothing_of_their_own(
    name: str, shared: Path, tmp_path: Path
) -> None:
    source = load(shared / "corpus" / name)
    result = run(source, settings=Settings(database=tmp_path / "runs.db"))
    assert result.exit_code == 0
    store = open_store(tmp_path / "runs.db")
    rows = store.rows(result.run.id)
    store.close()
    assert len(rows) == 6
    words = plain(source)
    for row in rows:
        assert row.text
        assert row.content
        if row.variant in PLATFORMS:
            platform = PLATFORMS[row.variant]
            assert MEASURES[platform.unit](row.text) <= platform.limit
        for text in published(row.format, dict(row.content)):
            # Several sentences may be joined that stood apart, and a title may stand in a sentence.
            for quote in sorted(row.quotes, key=lambda quote: -len(quote.text)):
                text = text.replace(quote.text, "\n")  # noqa: PLW2901 - what is left is looked at
                assert re.sub(r"\s", "", quote.text) in words
            left = [part for part in re.split(r"\s+", text) if part not in {"", "-"}]
            assert re.sub(r"\s", "", "".join(left)) in words
