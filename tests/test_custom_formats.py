"""Formats of one's own from the outside: run, stored, shown and reused like any built-in one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from repurpose.api.replaying import replay
from repurpose.api.runs import run
from repurpose.cli._render import row_text
from repurpose.config import Settings
from repurpose.core.result import RunResult
from repurpose.engines.extractive import extractive_engine
from repurpose.engines.scripted import Scripted, ScriptedEngine, scripted_engine
from repurpose.errors import UsageError
from repurpose.formats import Formats, declared_format, formats_in, known_formats
from repurpose.formats.base import Format
from repurpose.ports import Store

OUTPUTS = [
    {"name": "title", "type": "string", "required": True, "max_length": 60},
    {"name": "score", "type": "number"},
    {"name": "tags", "type": "array", "items": "string", "max_items": 2},
]
SCHEMA = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 60},
        "score": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["title"],
}
PROMPT = "Write the meta tags of {title}."
META = declared_format("meta", prompt=PROMPT, outputs=OUTPUTS)
NOTES = declared_format("notes", prompt="Write release notes.")
ANSWER = {"title": "Bees  ", "score": "1.5", "tags": ["a", "b", "c"]}

Run = Callable[..., tuple[RunResult, ScriptedEngine]]


@pytest.fixture
def ran(store: Store, tmp_path: Path) -> Run:
    """Run formats on a short text with a scripted model."""

    def go(
        formats: Sequence[str | Format],
        replies: dict[str, Sequence[Scripted]],
        **options: Any,
    ) -> tuple[RunResult, ScriptedEngine]:
        engine = scripted_engine(replies, model="m")
        settings = Settings(database=tmp_path / "unused.db")
        options = {"store": store, "settings": settings, "engine": engine, **options}
        return run(b"Bees like roofs. They live there.", formats, **options), engine

    return go


def test_a_format_given_as_a_value_runs_beside_built_in_ones(
    ran: Run, golden: Callable[[str], Any]
) -> None:
    result, engine = ran(["faq", META], {"faq": [golden("faq")], "meta": [ANSWER]})
    assert result.exit_code == 0
    assert len(engine.calls) == 2
    meta = result.results["meta"]
    assert meta.envelope.to_map() == {
        "status": 200,
        "message": "Meta done",
        "data": {"title": "Bees", "score": 1.5, "tags": ["a", "b"]},
    }
    assert meta.meta.coerced == ("score",)
    assert meta.meta.notes == ("tags: 3 given, the first 2 kept",)
    assert meta.meta.validated
    assert meta.rows[0].text == "Title: Bees\nScore: 1.5\n\nTags:\n- a\n- b"


def test_both_ways_to_declare_give_equal_rows(ran: Run, tmp_path: Path) -> None:
    for kind in ("prompts", "schemas"):
        (tmp_path / kind).mkdir()
    (tmp_path / "prompts" / "meta.md").write_text(PROMPT, encoding="utf-8")
    (tmp_path / "schemas" / "meta.schema.json").write_text(json.dumps(SCHEMA), encoding="utf-8")
    table = {"prompt": PROMPT, "outputs": OUTPUTS}
    ways = [known_formats(tables={"meta": table}), known_formats(tmp_path)]
    (one, first), (other, second) = (
        ran(["meta"], {"meta": ["Sorry!", ANSWER]}, known=known, force=True) for known in ways
    )
    assert first.calls[0].system == second.calls[0].system
    assert first.calls[1].system == second.calls[1].system
    rows = [
        replace(result.results["meta"].rows[0], id="", run_id="", created_at="", elapsed_ms=0)
        for result in (one, other)
    ]
    assert rows[0] == rows[1]
    assert rows[0].message == "Meta done (1 retry)"


def test_a_finished_row_is_reused_without_a_call(ran: Run) -> None:
    ran([META], {"meta": [ANSWER]})
    again, engine = ran([META], {})
    assert engine.calls == []
    assert again.results["meta"].meta.reused_from is not None


def test_a_passed_through_row_says_that_nothing_was_validated(ran: Run, store: Store) -> None:
    result, engine = ran([NOTES], {"notes": ["Version 2 is out."]})
    assert result.results["notes"].envelope.data == {"result": "Version 2 is out."}
    assert not result.results["notes"].meta.validated
    (row,) = store.rows(result.run.id)
    assert not row.validated
    assert row_text(row) == "# Notes (17 characters; model m; not validated)\n\nVersion 2 is out.\n"
    assert engine.calls[0].wire == {}


@pytest.mark.parametrize("reply", ["", "<think>Nothing.</think>"])
def test_an_empty_passed_through_reply_is_a_failed_row(reply: str, ran: Run) -> None:
    result, engine = ran([NOTES], {"notes": [reply]})
    assert len(engine.calls) == 1
    assert result.results["notes"].envelope.message == "Notes generation error: the reply is empty"


@pytest.mark.parametrize("prompt", [" ", "{audience}"])
def test_an_empty_prompt_fails_its_format_without_a_call_and_no_sibling(
    prompt: str, ran: Run
) -> None:
    blank = declared_format("blank", prompt=prompt, outputs=OUTPUTS)
    result, engine = ran([blank, META], {"meta": [ANSWER]})
    assert [call.format for call in engine.calls] == ["meta"]
    failed = result.results["blank"]
    assert failed.envelope.status == 400
    assert failed.envelope.message == "Blank generation error: the prompt is empty"
    assert failed.meta.attempts == 0
    assert result.run.status == "partial"


def test_a_format_that_reads_another_one_is_made_after_it(
    ran: Run, golden: Callable[[str], Any]
) -> None:
    intro = declared_format("intro", prompt="Introduce {faq.pairs.0.question}")
    answers: dict[str, Sequence[Scripted]] = {"faq": [golden("faq")], "intro": ["Hello."]}
    result, engine = ran([intro, "faq"], answers)
    assert [call.format for call in engine.calls] == ["faq", "intro"]
    assert list(result.results) == ["intro", "faq"]
    question = str(result.results["faq"].envelope.data["pairs"][0]["question"])  # type: ignore[index,call-overload]
    assert question in engine.calls[1].user
    assert question not in engine.calls[1].system


def test_formats_that_read_each_other_in_a_row_need_no_more_lanes_than_one(ran: Run) -> None:
    c = declared_format("c", prompt="From {b.result}")
    b = declared_format("b", prompt="From {a.result}")
    a = declared_format("a", prompt="Begin.")
    settings = Settings(database=Path("unused"), concurrency=1)
    answers: dict[str, Sequence[Scripted]] = {"a": ["One."], "b": ["Two."], "c": ["Three."]}
    result, engine = ran([c, b, a], answers, settings=settings)
    assert [call.format for call in engine.calls] == ["a", "b", "c"]
    assert result.exit_code == 0


def test_what_reads_a_failed_format_fails_without_a_call(ran: Run) -> None:
    intro = declared_format("intro", prompt="Introduce {meta.title}")
    result, engine = ran([META, intro], {"meta": ["no", "no"]})
    assert [call.format for call in engine.calls] == ["meta", "meta"]
    message = result.results["intro"].envelope.message
    assert message == "Intro generation error: needs meta, which failed"


def test_what_reads_a_format_that_is_not_run_is_refused_before_any_call(ran: Run) -> None:
    intro = declared_format("intro", prompt="Introduce {meta.title}")
    with pytest.raises(UsageError, match="needs meta, which is not part of the run"):
        ran([intro], {})


def test_the_embedded_engine_answers_what_it_can_and_names_what_it_cannot(ran: Run) -> None:
    strict = declared_format(
        "strict", prompt="Write.", outputs=[{**OUTPUTS[1], "required": True}, OUTPUTS[0]]
    )
    result, _ = ran([META, strict, NOTES], {}, engine=extractive_engine())
    assert result.results["meta"].envelope.status == 200
    assert result.results["meta"].meta.notes == ("score: left empty", "tags: left empty")
    assert 'without a model, "score" cannot be filled' in result.results["strict"].envelope.message
    assert "since it declares no fields" in result.results["notes"].envelope.message


def test_every_call_of_a_run_with_custom_formats_keeps_the_boundary(
    ran: Run, golden: Callable[[str], Any]
) -> None:
    intro = declared_format("intro", prompt="{faq.pairs.0.answer} and {title}", outputs=OUTPUTS)
    answers: dict[str, Sequence[Scripted]] = {"faq": [golden("faq")], "intro": ["no", ANSWER]}
    _, engine = ran(["faq", intro], answers)
    assert len(engine.calls) == 3
    for call in engine.calls:
        assert call.user.count("<source_material>") == 1
        assert "Bees like roofs" not in call.system


def test_a_folder_is_read_whole_by_one_function(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "notes.md").write_text("Write.", encoding="utf-8")
    assert set(formats_in(tmp_path)) == {"notes"}


@pytest.mark.parametrize("format", [META, NOTES], ids=lambda each: each.name)
def test_a_stored_reply_is_replayed_by_todays_declaration(
    format: Format, ran: Run, store: Store
) -> None:
    result, _ = ran([format], {"meta": [ANSWER], "notes": ["Version 2 is out."]})
    (call,) = store.calls(result.run.id)
    again = replay(store, call.id, known=Formats({format.name: lambda: format}))
    assert again.usable
    assert again.differences == ()
    assert again.remarks == ()
