"""What a failed format means for the others: they go on, or what is not begun is not begun."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose import Call, Engine, FormatResult, Reply, RunResult, Source, arun, outputs_of, run
from repurpose.config import Settings
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import UsageError
from repurpose.ports import Store

Command = Callable[..., Any]

SOURCE = Source("Kestrels hover over the ring road.", "a.md", "text", title="Kes")
FORMATS = ("faq", "summary", "newsletter")
ONE_LANE = Settings(database=Path("unused"), concurrency=1)


@pytest.fixture
def bad_faq(golden: Callable[[str], dict[str, Any]]) -> Callable[[], ScriptedEngine]:
    """An engine that answers everything but the FAQ, which is no JSON twice."""
    good = {name: [golden(name)] for name in ("summary", "newsletter", "social")}
    return lambda: scripted_engine({"faq": ["x", "y"], **good}, model="m")


def test_the_others_go_on_by_default(bad_faq: Callable[[], ScriptedEngine], store: Store) -> None:
    for options in ({}, {"on_failure": "skip"}):
        engine = bad_faq()
        result = run(
            SOURCE,
            FORMATS,
            engine=engine,
            store=store,
            settings=ONE_LANE,
            force=True,
            **options,  # type: ignore[arg-type]  # the literal is widened
        )
        assert [call.format for call in engine.calls] == ["faq", "faq", "summary", "newsletter"]
        assert (result.run.status, result.exit_code) == ("partial", 1)
        assert result.envelope.message.count("[") == 1
        assert result.envelope.message.startswith("part failed: [faq] FAQ generation error: ")
        assert set(result.envelope.data) == {"summary", "newsletter"}


def test_abort_begins_no_further_format_and_says_which(
    bad_faq: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = bad_faq()
    result = run(
        SOURCE,
        ("summary", "faq", "newsletter", "social"),
        engine=engine,
        store=store,
        settings=ONE_LANE,
        on_failure="abort",
    )
    assert [call.format for call in engine.calls] == ["summary", "faq", "faq"]
    assert [row.format for row in store.rows(result.run.id)] == ["summary", "faq"]
    assert (result.run.status, result.exit_code) == ("partial", 1)
    assert store.run(result.run.id).status == "partial"
    assert result.envelope.status == 400
    assert result.envelope.message.endswith("; [newsletter] not begun; [social] not begun")
    assert outputs_of(store.run(result.run.id), store.rows(result.run.id)) == result.outputs


def test_abort_after_the_first_is_a_failed_run(
    bad_faq: Callable[[], ScriptedEngine], store: Store
) -> None:
    result = run(
        SOURCE,
        FORMATS,
        engine=bad_faq(),
        store=store,
        settings=ONE_LANE,
        on_failure="abort",
    )
    assert (result.run.status, result.exit_code) == ("failed", 4)
    assert list(result.results) == ["faq"]


def test_the_same_run_again_begins_what_was_not_begun(
    bad_faq: Callable[[], ScriptedEngine], store: Store, golden: Any
) -> None:
    options: dict[str, Any] = {"store": store, "settings": ONE_LANE, "on_failure": "abort"}
    formats = ("summary", "faq", "newsletter")
    run(SOURCE, formats, engine=bad_faq(), **options)
    better = scripted_engine(
        {"faq": [golden("faq")], "newsletter": [golden("newsletter")]}, model="m"
    )
    again = run(SOURCE, formats, engine=better, **options)
    assert [call.format for call in better.calls] == ["faq", "newsletter"]
    assert again.run.status == "done"


def test_what_is_in_flight_is_finished_and_stored(store: Store, golden: Any) -> None:
    """Summary and newsletter have been asked for when the FAQ fails; social has not."""
    asked: list[str] = []
    all_begun, failed = asyncio.Event(), asyncio.Event()

    async def answer(call: Call) -> Reply:
        asked.append(call.format)
        if call.format == "faq":
            await all_begun.wait()
            return Reply("no JSON")
        if len(asked) == 3:
            all_begun.set()
        await failed.wait()
        return Reply(json.dumps(golden(call.format)))

    def seen(result: FormatResult) -> None:
        if not result.done:
            failed.set()

    result = asyncio.run(
        arun(
            SOURCE,
            ("faq", "summary", "newsletter", "social"),
            engine=Engine(name="mine", answer=answer),
            store=store,
            settings=replace(ONE_LANE, concurrency=3, max_attempts=1),
            on_failure="abort",
            on_result=seen,
        )
    )
    assert asked == ["faq", "summary", "newsletter"]
    assert result.run.status == "partial"
    assert {row.format: row.status for row in store.rows(result.run.id)} == {
        "faq": "failed",
        "summary": "done",
        "newsletter": "done",
    }


def test_the_status_of_the_envelope_decides_and_not_an_exception(
    store: Store, golden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A format of which one variant could not be stored has status 200, so the others go on."""
    from repurpose.stores import sqlite

    keep = sqlite.insert

    def refusing(db: Any, table: Any, columns: Any, **options: Any) -> None:
        if columns.get("variant") == "x" and columns["status"] == "done":
            raise OverflowError
        keep(db, table, columns, **options)

    monkeypatch.setattr(sqlite, "insert", refusing)
    engine = scripted_engine({name: [golden(name)] for name in ("social", "faq")})
    result = run(
        SOURCE,
        ("social", "faq"),
        engine=engine,
        store=store,
        settings=ONE_LANE,
        on_failure="abort",
    )
    assert [call.format for call in engine.calls] == ["social", "faq"]
    assert (result.results["social"].envelope.status, result.run.status) == (200, "partial")


def test_a_run_that_the_user_stopped_is_interrupted_even_after_a_failure(
    bad_faq: Callable[[], ScriptedEngine], store: Store
) -> None:
    engine = bad_faq()
    result: RunResult = run(
        SOURCE,
        FORMATS,
        engine=engine,
        store=store,
        settings=ONE_LANE,
        on_failure="abort",
        stopping=lambda: len(engine.calls) > 1,
    )
    assert (result.run.status, result.exit_code) == ("interrupted", 130)
    assert "[summary] not finished" in result.envelope.message


def test_another_strategy_is_refused_before_any_call(store: Store) -> None:
    engine = scripted_engine([])
    with pytest.raises(UsageError, match="skip or abort"):
        run(SOURCE, FORMATS, engine=engine, store=store, on_failure="stop")  # type: ignore[arg-type]  # the wrong value is the test
    assert engine.calls == []


def test_the_command_line_aborts_and_says_what_was_not_begun(
    mock_server: MockServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from repurpose.cli import main

    mock_server.plan("malformed", schema="faq")
    (tmp_path / "a.md").write_text("# Kes\n\nKestrels hover over the ring road.\n")
    monkeypatch.chdir(tmp_path)
    where = ["--model", "m", "--base-url", mock_server.url, "--concurrency", "1"]
    flags = ["--formats", "faq,summary", "--on-failure", "abort"]
    monkeypatch.setattr("sys.argv", ["repurpose", "run", "a.md", *where, *flags])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4
    assert "Note: not begun after a failure: summary" in capsys.readouterr().err
    assert len(mock_server.requests) == 2
