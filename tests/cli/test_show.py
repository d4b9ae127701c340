"""`repurpose show`: values by path, the flat view, envelopes, and what failed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repurpose.core.record import Measures, Row, Run
from repurpose.core.source import Source
from repurpose.stores.sqlite import open_store

Command = Callable[..., Any]

PAIRS = [{"question": "Why „larch“?", "answer": "It lasts."}]
DONE = Row(
    id="r1",
    run_id="run7",
    source_id="s",
    format="faq",
    label="FAQ",
    variant="default",
    status="done",
    message="FAQ done (1 retry)",
    idempotency_key="k",
    engine="scripted",
    provenance="model m",
    created_at="2026-11-29T00:00:00.000Z",
    attempts=2,
    text="Q: Why?\nA: It lasts.",
    content={"pairs": PAIRS, "count": 1, "nothing": None},
    measures=Measures(20, "code_points"),
)
FAILED = replace(
    DONE,
    id="r2",
    format="social",
    label="Social posts",
    status="failed",
    message="Social posts generation error: no quota left",
    kind="never_started",
    text=None,
    content=None,
    measures=None,
)


@pytest.fixture
def show(repurpose: Command, tmp_path: Path) -> Command:
    """Show a stored run that has done one format, failed another, and not begun a third."""
    database = tmp_path / "run.db"
    store = open_store(database)
    source = Source("A text.", "a.md", "markdown")
    run = Run("run7", source.digest, ("faq", "social", "summary"), "scripted", "m", "2026-11-29")
    store.start_run(run, source)
    for row in (DONE, FAILED):
        store.keep_result([replace(row, source_id=source.digest)], settles=())
    store.finish_run("run7", "partial", "2026-11-29")
    store.close()
    return lambda *arguments: repurpose("show", "last", *arguments, "--db", database)


def decoded(text: str) -> Any:
    return json.loads(text)  # noqa: TID251 - our own output


def test_a_text_at_a_path_is_printed_as_it_is(show: Command) -> None:
    done = show("--path", "faq.pairs.0.question")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Why „larch“?\n", "")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("faq.pairs", PAIRS),
        ("faq.data.pairs.0", PAIRS[0]),
        ("faq.count", 1),
        ("faq.nothing", None),
        ("faq", DONE.content),
    ],
)
def test_anything_else_at_a_path_is_json(show: Command, path: str, value: object) -> None:
    done = show("--path", path)
    assert done.returncode == 0
    assert decoded(done.stdout) == value


def test_with_json_a_text_is_json_too(show: Command) -> None:
    assert show("--path", "faq.pairs.0.question", "--json").stdout == '"Why „larch“?"\n'


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("faq.pairs.3.question", "faq.pairs is a list of 1"),
        ("faq.status", "faq has: pairs, count, nothing"),
        ("faq.count.x", "faq.count is a single value"),
        ("social.x.text", "social: Social posts generation error: no quota left"),
        ("social", "social: Social posts generation error: no quota left"),
        ("summary.sentences", "summary: not begun"),
        ("podcast.title", "it has: faq, social, summary"),
        ("", "it has: faq, social, summary"),
    ],
)
def test_where_nothing_stands_is_exit_1_and_one_line_that_says_what_does(
    show: Command, path: str, told: str
) -> None:
    done = show("--path", path)
    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_flat_view_names_each_field_by_format(show: Command) -> None:
    assert decoded(show("--flat").stdout) == {
        "faq__pairs": PAIRS,
        "faq__count": 1,
        "faq__nothing": None,
    }
    assert decoded(show("--flat", "--format", "social").stdout) == {}


def test_the_run_as_an_envelope_names_what_failed_and_what_was_not_begun(show: Command) -> None:
    done = show("--envelope")
    assert done.returncode == 0
    assert decoded(done.stdout) == {
        "status": 400,
        "message": "part failed: [social] Social posts generation error: no quota left;"
        " [summary] not begun",
        "data": {"faq": DONE.content},
    }
    assert done.stdout.startswith("{\n  ")
    assert show("--envelope", "--json").stdout.count("\n") == 1


def test_one_format_as_an_envelope(show: Command) -> None:
    faq = {"status": 200, "message": "FAQ done (1 retry)", "data": DONE.content}
    assert decoded(show("--envelope", "--format", "faq").stdout) == faq
    failed = decoded(show("--envelope", "--format", "social").stdout)
    assert failed == {"status": 400, "message": FAILED.message, "data": {}}


def test_texts_show_retries_and_a_failure_shows_its_reason(show: Command) -> None:
    assert show().stdout == (
        "# FAQ (20 characters; 1 retry; model m)\n\nQ: Why?\nA: It lasts.\n\n"
        "# Social posts failed\n\nSocial posts generation error: no quota left\n\n"
    )


@pytest.mark.parametrize(
    "flags",
    [
        ["--flat", "--envelope"],
        ["--path", "faq", "--calls"],
        ["--path", "pairs", "--format", "faq"],
        ["--envelope", "--variant", "x"],
        ["--envelope", "--format", "podcast"],
        ["--flat", "--format", "podcast"],
    ],
)
def test_flags_that_ask_for_two_things_are_exit_2(show: Command, flags: list[str]) -> None:
    done = show(*flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
