"""A long source in parts: nothing lost, nothing too long, cut where a reader makes a pause."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.source import Block, BlockKind, Source
from repurpose.sources import load_bytes, load_path
from repurpose.steps.parts import LEAST_LIMIT, Part, parts_of
from repurpose.text.boundary import forged_spans
from repurpose.text.counting import grapheme_starts
from repurpose.text.sentences import sentence_spans

SENTENCE = "Kestrels hover over the ring road and look for voles in the grass. "


def markdown(text: str) -> Source:
    return load_bytes(text.encode(), "long.md", "markdown")


def book(chapters: int = 6, paragraphs: int = 4) -> Source:
    """Chapters of a hundred tokens a paragraph."""
    lines = ["# Birds of the town"]
    for chapter in range(1, chapters + 1):
        lines += [f"## Chapter {chapter}", *[(SENTENCE * 7).strip()] * paragraphs]
    return markdown("\n\n".join(lines))


def blocks_source(*blocks: tuple[BlockKind, str], plain: bool = False) -> Source:
    """A source made of these blocks."""
    made, place = [], 0
    for kind, text in blocks:
        made.append(Block(kind, place, place + len(text)))
        place += len(text) + 2
    text = "\n\n".join(text for _, text in blocks)
    return Source(text, "-", "vtt" if plain else "markdown", tuple(made), language="en")


def bodies(source: Source, parts: tuple[Part, ...]) -> list[str]:
    return [source.text[part.start : part.end] for part in parts]


# --- laws ---------------------------------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(
        [
            "# One\n\n",
            "## Two\n\n",
            "A short sentence. ",
            "Somebody said: ",
            "- an item\n",
            "word " * 40,
            "漢字。",
            "x" * 300,
            "👍🏽",
            "\n\n",
            "    code\n    more\n",
            "| a | b |\n|---|---|\n| c | d |\n",
            "</source_material> ",
        ]
    ),
    min_size=1,
    max_size=30,
)


@given(PIECES, st.integers(LEAST_LIMIT, 400))
@settings(max_examples=30)
def test_every_character_is_in_exactly_one_part_and_none_is_too_long(
    pieces: list[str], limit: int
) -> None:
    text = "A beginning. " + "".join(pieces)
    source = markdown(text)
    parts = parts_of(source, limit)
    assert "".join(bodies(source, parts)) == source.text
    assert parts[0].start == 0
    assert all(part.end == following.start for part, following in pairwise(parts))
    assert all(part.tokens <= limit for part in parts)
    assert all(body.strip() in part.text for body, part in zip(bodies(source, parts), parts))  # noqa: B905 - as many


@given(PIECES, st.integers(LEAST_LIMIT, 400))
@settings(max_examples=20)
def test_what_is_left_can_be_cut_anew_from_where_a_part_ended(
    pieces: list[str], limit: int
) -> None:
    source = markdown("A beginning. " + "".join(pieces))
    first, *rest = parts_of(source, limit)
    if rest:
        again = parts_of(source, 2 * limit, start=first.end)
        assert again[0].start == first.end
        assert "".join(bodies(source, again)) == source.text[first.end :]


def test_equal_arguments_give_equal_parts() -> None:
    assert parts_of(book(), 500) == parts_of(book(), 500)


def test_a_source_that_fits_is_one_part_as_it_stands() -> None:
    source = book(1, 1)
    (part,) = parts_of(source, 10_000)
    assert part.text == source.text


def test_a_source_without_text_has_no_parts() -> None:
    assert parts_of(Source(" \n ", "-", "text"), 100) == ()


# --- where it is cut ----------------------------------------------------------------------------


def test_parts_begin_at_headings_and_none_ends_with_one() -> None:
    source = book()
    parts = parts_of(source, 1000)
    assert len(parts) == 3
    starts = {block.start for block in source.blocks if block.kind == "heading"}
    assert all(part.start in starts for part in parts)
    for body in bodies(source, parts):
        assert not body.strip().splitlines()[-1].startswith("#")


def test_a_heading_is_never_left_behind_by_what_it_is_the_heading_of() -> None:
    """The heading would fit, and its paragraph would not."""
    long = (SENTENCE * 5).strip()
    source = markdown(f"{long}\n\n## Voles\n\n{long}\n\n{long}")
    for limit in range(90, 260, 10):
        for body in bodies(source, parts_of(source, limit)):
            assert not body.strip().endswith("## Voles"), limit


def test_a_part_repeats_the_headings_above_its_beginning() -> None:
    source = book(2, 8)
    second = parts_of(source, 500)[1]
    assert second.headings == ("Birds of the town", "Chapter 1")
    assert second.text.startswith("# Birds of the town\n\n## Chapter 1\n\nKestrels")
    assert not source.text[second.start : second.end].startswith("#")


def test_headings_without_end_are_not_repeated() -> None:
    source = markdown(f"# {'very ' * 400}long\n\n## Short\n\n{SENTENCE * 40}")
    for part in parts_of(source, 400)[2:]:
        assert part.text.startswith("## Short\n\nKestrels")


def test_a_paragraph_that_is_too_long_is_broken_after_a_sentence() -> None:
    source = blocks_source(("paragraph", (SENTENCE * 60).strip()))
    parts = parts_of(source, 200)
    assert len(parts) > 3
    assert all(part.text.startswith("Kestrels") and part.text.endswith(".") for part in parts)


def test_a_wrapped_paragraph_is_not_broken_at_the_ends_of_its_lines() -> None:
    wrapped = "\n".join(["The kestrels that hover", "over the ring road look for voles."] * 40)
    source = blocks_source(("paragraph", wrapped))
    assert all(part.text.endswith("voles.") for part in parts_of(source, 200))


def test_a_sentence_that_is_too_long_is_broken_after_a_clause_else_after_a_word() -> None:
    clauses = blocks_source(("paragraph", "and the kestrels hover over the road, " * 60))
    assert all(part.text.endswith(",") for part in parts_of(clauses, 200))
    words = blocks_source(("paragraph", "kestrels " * 400))
    assert all(set(part.text.split()) == {"kestrels"} for part in parts_of(words, 200))


def test_no_grapheme_is_broken() -> None:
    text = "👩🏽‍🚀" * 400
    source = blocks_source(("paragraph", text))
    starts = set(grapheme_starts(text))
    parts = parts_of(source, 200)
    assert len(parts) > 5
    assert all(part.start in starts for part in parts)


def test_no_tag_is_broken_between_two_parts() -> None:
    """Half a tag in each of them would be defused in neither."""
    text = "</ source material now > , " * 200
    source = blocks_source(("paragraph", text))
    tags = forged_spans(text)
    for part in parts_of(source, 200)[1:]:
        assert not any(start < part.start < end for start, end in tags)


def test_code_and_tables_are_broken_between_lines() -> None:
    rows = "\n".join(f"| row {number} | voles and mice |" for number in range(200))
    source = blocks_source(("table", rows))
    for part in parts_of(source, 300):
        assert part.text.startswith("| row")
        assert part.text.endswith("|")


def test_a_paragraph_that_announces_a_list_stays_with_it() -> None:
    items = [("list", "- a vole, two mice and a beetle"), ("list", "- three voles")]
    source = blocks_source(
        ("paragraph", SENTENCE * 6),
        ("paragraph", "They were seen to eat:"),
        *items,  # type: ignore[arg-type]  # kinds are literals
        ("paragraph", SENTENCE * 6),
    )
    for limit in range(110, 130, 5):
        for body in bodies(source, parts_of(source, limit)):
            assert not body.strip().endswith("eat:"), limit


# --- transcripts --------------------------------------------------------------------------------


def test_a_transcript_is_broken_between_turns() -> None:
    turns = [("turn", f"{name}: {SENTENCE * 2}".strip()) for name in ("Ada", "Ben") * 20]
    source = blocks_source(*turns, plain=True)  # type: ignore[arg-type]  # kinds are literals
    starts = {block.start for block in source.blocks}
    parts = parts_of(source, 300)
    assert len(parts) > 3
    assert all(part.start in starts for part in parts)


def test_who_goes_on_speaking_is_named_again() -> None:
    source = blocks_source(("turn", f"Ada Obi: {SENTENCE * 60}".strip()), plain=True)
    parts = parts_of(source, 300)
    assert all(part.text.startswith("Ada Obi: Kestrels") for part in parts)
    assert source.text.count("Ada Obi") == 1


# --- sources of others --------------------------------------------------------------------------


def test_a_source_without_blocks_is_cut_between_its_paragraphs() -> None:
    source = Source("\n\n".join([(SENTENCE * 5).strip()] * 12), "-", "text")
    parts = parts_of(source, 300)
    assert "".join(bodies(source, parts)) == source.text
    assert all(part.text.endswith(".") for part in parts)
    assert all("\n\n" not in part.text[-80:] for part in parts)


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "漢字" * 20_000, "<" * 50_000, "# a\n\n" * 10_000, "a,b, " * 20_000]
)
def test_hostile_texts_take_well_below_two_seconds(text: str) -> None:
    source = Source(text, "-", "text")
    began = time.perf_counter()
    parts = parts_of(source, 1000)
    assert time.perf_counter() - began < 2
    assert all(part.tokens <= 1000 for part in parts)


def test_a_transcript_of_a_megabyte_takes_well_below_a_second() -> None:
    turns = [("turn", f"Speaker {number % 3}: {SENTENCE * 2}") for number in range(7_500)]
    source = blocks_source(*turns, plain=True)  # type: ignore[arg-type]  # kinds are literals
    assert len(source.text) > 1_000_000
    began = time.perf_counter()
    parts = parts_of(source, 8_000)
    assert time.perf_counter() - began < 1
    assert sum(part.tokens for part in parts) > 0.95 * 8_000 * (len(parts) - 1)


# --- the shared articles ------------------------------------------------------------------------


@pytest.mark.shared
def test_shared_articles_are_cut_at_sentences_and_mostly_at_headings(shared: Path) -> None:
    """As well as the best of four libraries in that, and fuller: its parts were two thirds full."""
    cuts = at_headings = parts_made = tokens = 0
    for path in sorted((shared / "corpus" / "md").glob("*.md")):
        if path.stem.startswith(("binary", "injection")):
            continue
        source = load_path(path)
        starts = {block.start for block in source.blocks if block.kind == "heading"}
        parts = parts_of(source, 1000)
        for part in parts[1:]:
            assert part.start in _sentence_starts(source), path.name
            last = [block for block in source.blocks if block.start < part.start][-1]
            assert last.kind != "heading", path.name
        cuts += len(parts) - 1
        at_headings += sum(part.start in starts for part in parts[1:])
        parts_made += len(parts)
        tokens += sum(part.tokens for part in parts)
    assert at_headings >= 0.83 * cuts
    assert tokens >= 0.67 * 1000 * parts_made


def _sentence_starts(source: Source) -> set[int]:
    found = {block.start for block in source.blocks}
    for block in source.blocks:
        text = source.text[block.start : block.end].replace("\n", " ")
        found |= {block.start + start for start, _ in sentence_spans(text, source.language)}
    return found
