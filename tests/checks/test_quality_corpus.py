"""What people wrote is not taken for a model's slip, also where the embedded engine quotes it."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from repurpose.api.loading import load
from repurpose.checks.quality import Assignment, Prose, review
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.extractive import extractive_engine
from repurpose.errors import SourceError, UnusableOutput
from repurpose.formats import FORMATS, format_named
from repurpose.schema.intake import decode
from repurpose.steps.request import first_call

MARKDOWN = MarkdownIt("commonmark").enable("table")


def paragraphs(path: Path) -> list[tuple[str, str | None]]:
    """Each paragraph as plain text, with the language of its document."""
    source = load(path)
    made = [
        unescape(re.sub(r"<[^>]*>", "", MARKDOWN.render(source.text[block.start : block.end])))
        for block in source.blocks
        if block.kind == "paragraph"
    ]
    return [(text.strip(), source.language) for text in made if text.strip()]


def quoted_notes(source: Source) -> tuple[int, int]:
    """How many of the embedded engine's answers were looked at and noted; fails for an unusable."""
    engine, seen, noted = extractive_engine(), 0, 0
    for made in map(format_named, FORMATS):
        call = first_call(made, source, Steering())
        try:
            reply = asyncio.run(engine.answer(call))
        except UnusableOutput:
            continue
        quotes = tuple(quote.text for quote in reply.quotes)
        asked = Assignment(call.system, source.text, source.language, quotes)
        answer = decode(reply.text)
        assert isinstance(answer, dict)
        found = review(answer, made.prose, asked)
        assert found.unusable == (), (source.origin, made.name)
        seen, noted = seen + 1, noted + bool(found.notes)
    return seen, noted


@pytest.mark.parametrize("name", ["article.md", "artikel.md", "kiji.md", "notes.txt", "page.html"])
def test_quoted_answers_of_the_fixtures_have_no_defect(name: str, root: Path) -> None:
    assert quoted_notes(load(root / "fixtures" / "sources" / name))[1] == 0


@pytest.mark.shared
def test_no_quoted_answer_is_unusable_and_hardly_any_is_noted(shared: Path) -> None:
    seen = noted = 0
    for path in sorted([*shared.glob("corpus/md/*.md"), *shared.glob("corpus/html/*.html")]):
        try:
            more, with_notes = quoted_notes(load(path))
        except SourceError:
            continue
        seen, noted = seen + more, noted + with_notes
    assert seen > 50
    assert noted < seen / 20


@pytest.mark.shared
def test_fewer_than_one_paragraph_in_a_hundred_is_flagged(shared: Path) -> None:
    """Without a source to compare with, so that no exemption helps.

    Left out are introductions of a list, which end in a colon and would be rightly flagged, and
    the document that is made of fence tags.
    """
    prose = Prose(texts=("text",))
    task = first_call(format_named("newsletter"), load(b"Any text."), Steering()).system
    texts = [
        (text, language)
        for path in sorted((shared / "corpus" / "md").glob("*.md"))
        if path.name not in {"binary-named.md", "injection-fence-spellings.md"}
        for text, language in paragraphs(path)
        if text[-1] not in ":："
    ]
    flagged = []
    for text, language in texts:
        found = review({"text": text}, prose, Assignment(task, "", language))
        if found.unusable or found.notes:
            flagged.append(text)
    assert len(texts) > 250
    assert len({language for _, language in texts}) == 8
    assert len(flagged) < len(texts) / 100
