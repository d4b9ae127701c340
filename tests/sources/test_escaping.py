"""Plain words keep their meaning where Markdown would read structure."""

from __future__ import annotations

import time

import pytest

from repurpose.sources._blocks import outline
from repurpose.sources._escaping import escaped

LIKE_STRUCTURE = [
    "# 9 on the list",
    "> see above",
    "- 4 degrees",
    "* starred",
    "+ one",
    "1. FC Nord",
    "12) twelve",
    "``` ticks",
    "~~~ waves",
    "***",
    "[1]: https://example.org",
    "[note]: nothing here",
]


@pytest.mark.parametrize("line", LIKE_STRUCTURE)
def test_a_line_that_looks_like_structure_is_a_paragraph(line: str) -> None:
    text = f"Words before.\n\n{escaped(line)}\n\nWords after."
    kinds = [one.kind for one in outline(text).blocks]
    assert kinds == ["paragraph"] * 3
    assert text.replace("\\", "") == f"Words before.\n\n{line}\n\nWords after."


@pytest.mark.parametrize("line", ["===", "---", "--- | ---"])
def test_a_line_of_strokes_makes_no_heading_or_table_of_the_line_above(line: str) -> None:
    (block,) = outline(escaped(f"One | two\n{line}")).blocks
    assert block.kind == "paragraph"


@pytest.mark.parametrize(
    "line",
    [
        "#hashtag first",
        "-5 degrees",
        "2026 was good",
        "1.5 litres",
        "a * b * c",
        "snake_case_name",
        "[brackets] around",
        "a | b",
        "",
        "    ",
    ],
)
def test_other_lines_stay_as_typed(line: str) -> None:
    assert escaped(line) == line


def test_long_lines_of_marks_take_linear_time() -> None:
    start = time.perf_counter()
    for mark in ("|", "- ", "*", "[", "=", "#", "1", " "):
        escaped(mark * 200_000 + "x")
    assert time.perf_counter() - start < 1
