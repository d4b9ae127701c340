"""From the lines of PDF pages to Markdown: what is joined, what is dropped, what is marked."""

from __future__ import annotations

import time

import pytest

from repurpose.sources._pdf_lines import Cleaning, Line, lines_of, plain_letters, unmapped_share
from repurpose.sources._pdf_metadata import declared_date, declared_name, declared_title
from repurpose.sources._pdf_paragraphs import markdown_of, paragraphs_of
from repurpose.sources._pdf_process import Page

FULL = "and the boats that came in from the open sea lay side by side along the quay"


def kept(*pages: str) -> list[list[str]]:
    found = lines_of({at: Page(one) for at, one in enumerate(pages)}, Cleaning())
    return [[line.text for line in page] for page in found]


def markdown(*pages: str, bookmarks: tuple[tuple[int, str, int], ...] = ()) -> str:
    lines = lines_of({at: Page(one) for at, one in enumerate(pages)}, Cleaning())
    return markdown_of(paragraphs_of(lines, bookmarks))[0]


def body(number: int) -> str:
    """Lines that differ from page to page."""
    words = ["gulls", "nets", "ropes", "masts", "sails"][number % 5]
    return "\n".join(f"{words} {'abcdefgh'[at]} {words}" for at in range(8))


# Heads, feet and numbers


def test_heads_and_feet_that_recur_are_dropped_though_their_numbers_change() -> None:
    pages = [f"Harbour News {at} May\n{body(at)}\nPrinted {at} of 4" for at in range(4)]
    assert kept(*pages) == [body(at).split("\n") for at in range(4)]


def test_left_and_right_pages_have_heads_of_their_own() -> None:
    heads = ["{} Harbour News", "Boats and people {}"]
    pages = [f"{heads[at % 2].format(at)}\n{body(at)}" for at in range(6)]
    assert kept(*pages) == [body(at).split("\n") for at in range(6)]


def test_on_two_pages_nothing_can_recur() -> None:
    pages = [f"Harbour News\n{body(at)}" for at in range(2)]
    assert kept(*pages)[1][0] == "Harbour News"


def test_the_title_that_heads_repeat_stays_where_it_is_large() -> None:
    pages = {
        at: Page(f"Harbour News\n{body(at)}", (22.0 if at == 0 else 9.0, *[11.0] * 8))
        for at in range(4)
    }
    found = lines_of(pages, Cleaning())
    assert [page[0].text == "Harbour News" for page in found] == [True, False, False, False]


def test_rows_of_numbers_are_no_running_lines() -> None:
    pages = [
        "\n".join([body(at), " ".join(str(at * number) for number in range(1, 12))])
        for at in range(1, 5)
    ]
    assert [page[-1] for page in kept(*pages)] == [page.split("\n")[-1] for page in pages]


@pytest.mark.parametrize("number", ["7", "- 7 -", "Page 7 of 12", "xiv", "Seite 7", "7/12", "7-45"])
def test_a_lone_page_number_is_dropped(number: str) -> None:
    assert kept(f"{body(1)}\n{number}") == [body(1).split("\n")]
    assert kept(f"{number}\n{body(1)}") == [body(1).split("\n")]


def test_the_number_of_the_page_is_dropped_near_the_edge() -> None:
    assert kept(f"{body(1)}\n1\nHarbour Printing Company")[0][-2:] == [
        body(1).split("\n")[-1],
        "Harbour Printing Company",
    ]


def test_a_column_of_line_numbers_is_dropped() -> None:
    numbers = "\n".join(str(at) for at in range(1, 26))
    assert kept(f"{numbers}\n{body(1)}") == [body(1).split("\n")]


def test_numbers_before_the_lines_are_dropped_where_each_page_counts_from_one() -> None:
    def page(words: str) -> str:
        return "\n".join(f"{at} {words} {'abc'[at % 3]}" for at in range(1, 26))

    assert kept(page("Q. And then"), page("A. It sank"))[1][:2] == ["A. It sank b", "A. It sank c"]
    assert kept(page("Team"))[0][0] == "1 Team b"


def test_few_numbers_below_each_other_stay() -> None:
    assert kept(f"{body(1)}\n1\n2\n3\nend of list")[0][8:] == ["1", "2", "3", "end of list"]


# Letters


def test_ligatures_are_undone_and_superscripts_kept() -> None:
    assert plain_letters("eﬃcient ﬂow, 10² m, ½, ™") == "efficient flow, 10² m, ½, ™"
    assert plain_letters("ﻻ ⼈ cafe\u0301") == "لا 人 café"


def test_letters_without_a_name_are_left_out_and_counted() -> None:
    counts = Cleaning()
    found = lines_of({0: Page("net\x01s\ue123 and (cid:12) ropes \uf0b7 sails")}, counts)
    assert found[0][0].text == "nets and ropes • sails"
    assert (counts.unmapped, counts.hidden) == (10, 0)


def test_glyph_names_are_no_text() -> None:
    assert unmapped_share("/g12/g14/g15/g16 /g17/g18/g19/g20") == 1.0
    assert unmapped_share("and/or 24/7 km/h on 3/4/2026") == 0.0
    assert unmapped_share("") == 0.0


# Lines to paragraphs


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        ("The har-\nbour", "The harbour"),
        ("The har- \nbour", "The harbour"),
        ("The har\u00ad\nbour", "The harbour"),
        ("The har\x02\nbour", "The harbour"),
        ("The har\x02bour", "The harbour"),
        ("The har\ufffebour", "The harbour"),
        ("the well-known and well-\nknown boat", "the well-known and well-known boat"),
        ("pre-\nand post-war boats", "pre- and post-war boats"),
        ("the Boeing-\nBuilding", "the Boeing-Building"),
        ("pages 10-\n12", "pages 10-12"),
    ],
)
def test_a_word_cut_at_the_line_end_is_whole_again(lines: str, joined: str) -> None:
    assert markdown(f"{FULL}\n{lines} lay there.") == f"{FULL} {joined} lay there."


def test_a_word_cut_at_the_page_end_is_whole_again() -> None:
    assert markdown(f"{FULL}\nby the har-", f"bour.\n{FULL}.").startswith(f"{FULL} by the harbour.")


def test_lines_are_joined_until_a_sentence_ends_before_the_margin() -> None:
    page = f"{FULL}\n{FULL}\nuntil noon.\nThe wind rose, {FULL}\n{FULL}."
    assert markdown(page) == (f"{FULL} {FULL} until noon.\n\nThe wind rose, {FULL} {FULL}.")


def test_a_short_line_that_ends_no_sentence_stands_alone() -> None:
    page = f"{FULL}.\n{FULL}.\nThe harbour\nA boat came in, {FULL}\n{FULL}."
    assert "\n\nThe harbour\n\nA boat came in" in markdown(page)


def test_a_sentence_end_on_the_page_end_is_the_end_of_a_paragraph() -> None:
    text, places = markdown_of(
        paragraphs_of([[Line(f"{FULL}.", 0)], [Line("Another day began.", 1)]])
    )
    assert text == f"{FULL}.\n\nAnother day began."
    assert places == [(0, 1), (len(FULL) + 3, 2)]


def test_a_paragraph_that_goes_on_over_the_page_belongs_to_where_it_begins() -> None:
    text, places = markdown_of(
        paragraphs_of([[Line(FULL, 0)], [Line("and went to sea.", 1), Line("Then came night.", 1)]])
    )
    assert text.startswith(f"{FULL} and went to sea.")
    assert places[0] == (0, 1)


def test_an_empty_line_parts_paragraphs_unless_every_line_has_one() -> None:
    assert markdown(f"{FULL}\n\n{FULL}\n{FULL}\n{FULL}").count("\n\n") == 1
    assert markdown(f"{FULL}\n\n{FULL}\n\n{FULL}\n\n{FULL}").count("\n\n") == 0


def test_bullets_become_a_list() -> None:
    page = f"{FULL}:\n• ropes and all that is\nneeded for them\n• nets\n\uf0b7 sails\n\nThe end."
    assert markdown(page) == (
        f"{FULL}:\n\n- ropes and all that is needed for them\n- nets\n- sails\n\nThe end."
    )


def test_a_dash_in_a_sentence_is_no_list_item() -> None:
    assert markdown(f"{FULL}\n- so they said, and went on") == f"{FULL} - so they said, and went on"


def test_japanese_and_chinese_lines_are_joined_without_a_space() -> None:
    assert markdown("港には多くの船が並んでいて\n人々は朝を待っていた。") == (
        "港には多くの船が並んでいて人々は朝を待っていた。"
    )


def test_korean_lines_are_joined_by_the_space_that_the_file_holds() -> None:
    assert markdown("오늘 항구에는 배가 많이 들어왔고 확\n진자 수는 줄었다") == (
        "오늘 항구에는 배가 많이 들어왔고 확진자 수는 줄었다"
    )
    assert markdown("오늘 항구에는 배가 많이 들어왔고 \n사람들은 기다렸다") == (
        "오늘 항구에는 배가 많이 들어왔고 사람들은 기다렸다"
    )


@pytest.mark.parametrize("text", ["# 9 sails at noon", "> 12 knots", "[1]: a boat", "===== x"])
def test_signs_that_markdown_would_read_are_escaped(text: str) -> None:
    written = markdown(text)
    assert written.replace("\\", "") == text
    assert written.startswith("\\") == (text[0] in "#>[")


# Headings


def test_bookmarks_mark_headings_and_their_levels() -> None:
    page = f"1 The Harbour\n{FULL}.\nBoats and\npeople\n{FULL}."
    marks = ((1, "The Harbour", 0), (2, "Boats and people", 0), (2, "Elsewhere", 0), (1, "x", 9))
    assert markdown(page, bookmarks=marks) == (
        f"# 1 The Harbour\n\n{FULL}.\n\n## Boats and people\n\n{FULL}."
    )


def sized(*lines: tuple[str, float]) -> str:
    page = [Line(text, 0, size) for text, size in lines]
    return markdown_of(paragraphs_of([page]))[0]


def test_larger_letters_mark_headings() -> None:
    text = [(FULL, 10.0)] * 4
    assert sized(("The harbour", 20), *text, ("Boats and", 14), ("people", 14), *text).split(
        "\n\n"
    )[::2] == ["# The harbour", "## Boats and people"]


def test_sizes_that_are_everywhere_mark_no_heading() -> None:
    assert "#" not in sized((FULL, 20.0), (FULL, 10.0), (FULL, 20.0), (FULL, 10.0), (FULL, 10.0))


# What the file says of itself


@pytest.mark.parametrize(
    "junk",
    [
        "10811.exe", "Binder1.pdf", "Binder1", "Microsoft Word - boat.doc", "untitled",
        "Untitled-3", "PowerPoint Presentation", "PowerPoint-Präsentation", "boat",
        "boats_final_v2", "", "  ", "- 12 -",
        "Dokument1", "(anonymous)", "C:\\Users\\kim\\boat.indd", "20240131093012",
        "Microsoft Word - Annual report", "x" * 400,
    ],
)  # fmt: skip
def test_a_title_that_a_program_wrote_is_none(junk: str) -> None:
    assert declared_title(junk, "docs/boat.pdf") is None


@pytest.mark.parametrize(
    "title", ["Boats of the North", "Word of mouth", "Title deeds: a history", "Ships 1900-1950"]
)
def test_a_title_that_somebody_wrote_stays(title: str) -> None:
    assert declared_title(f" {title}\n", f"{title}.pdf") == title


def test_nobody_is_no_author() -> None:
    assert declared_name("Kim  Adeyemi") == "Kim Adeyemi"
    assert [declared_name(one) for one in ("", "Unknown", "user", "---", None)] == [None] * 5


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("D:20260314080000+01'00'", "2026-03-14"),
        ("20260314", "2026-03-14"),
        ("D:202603", None),
        ("D:20261399", None),
        ("14 March 2026", None),
        (None, None),
    ],
)
def test_a_date_is_taken_where_it_names_a_day(written: str | None, date: str | None) -> None:
    assert declared_date(written) == date


@pytest.mark.parametrize(
    "page",
    ["a" * 90_000, "a-\n" * 9_000, "\u00ad " * 40_000, "- " * 40_000, "1\n" * 9_000,
     "/g1" * 30_000, "(((" * 30_000, "a-" * 40_000, "x \n\n" * 9_000],
)  # fmt: skip
def test_absurd_pages_take_no_absurd_time(page: str) -> None:
    start = time.process_time()
    markdown(page)
    assert time.process_time() - start < 1
