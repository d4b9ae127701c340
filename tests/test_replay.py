"""A stored reply through today's rules: what comes out, and whether that is what was stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import repurpose.api.runs
from repurpose.api.replaying import Replayed, replay
from repurpose.api.runs import arun
from repurpose.config import Settings
from repurpose.core.call import Reply
from repurpose.core.record import CallRecord
from repurpose.core.source import Source
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import EngineError, StoreError, UsageError
from repurpose.formats import format_named
from repurpose.platforms import PLATFORMS
from repurpose.ports import Engine, Store

SOURCE = Source(text="Kestrels hover over the ring road.", origin="a.md", kind="text", title="Kes")

Ran = Callable[..., tuple[CallRecord, ...]]


@pytest.fixture
def ran(store: Store, tmp_path: Path) -> Ran:
    """The calls of one run of these formats with these scripted replies."""

    def run(script: dict[str, list[Any]], *, engine: Engine | None = None) -> Any:
        asked = engine or scripted_engine(script)
        settings = Settings(database=tmp_path / "unused.db", concurrency=1)
        asyncio.run(arun(SOURCE, list(script), engine=asked, store=store, settings=settings))
        return store.calls(store.run("last").id)

    return run


def test_a_good_reply_comes_to_the_rows_that_are_stored(
    ran: Ran, golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    (record,) = ran({"social": [golden("social")]})
    again = replay(store, record.id)
    assert again.usable
    assert [row.variant for row in again.rows] == ["linkedin", "x", "instagram"]
    assert [row.text for row in again.rows] == [row.text for row in store.rows(record.run_id)]
    assert (again.differences, again.remarks, again.findings) == ((), (), ())


def test_nothing_is_called_and_nothing_is_stored(
    ran: Ran, golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    engine = scripted_engine({"faq": ["no JSON", golden("faq")]})
    first, _ = ran({"faq": []}, engine=engine)
    before = [asdict(record) for record in store.calls(first.run_id)]
    rows, runs = store.rows(first.run_id), store.runs()
    replay(store, first.id)
    assert len(engine.calls) == 2
    assert [asdict(record) for record in store.calls(first.run_id)] == before
    assert (store.rows(first.run_id), store.runs()) == (rows, runs)


def test_a_rejected_reply_shows_all_its_findings_and_that_another_attempt_was_stored(
    ran: Ran, golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    bad = {"pairs": [{"question": number} for number in range(4)]}
    first, second = ran({"faq": [bad, golden("faq")]})
    again = replay(store, first.id)
    assert not again.usable
    assert len(again.findings) == 8
    assert any("attempt 1" in remark and "attempt 2" in remark for remark in again.remarks)
    assert len(again.differences) == 1
    assert again.differences[0].startswith("default: failed now, stored as done")
    assert replay(store, second.id).differences == ()


def test_a_limit_that_changed_since_shows_as_a_difference(
    ran: Ran,
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (record,) = ran({"social": [golden("social")]})
    tight = {**PLATFORMS, "x": replace(PLATFORMS["x"], limit=40)}
    monkeypatch.setattr("repurpose.platforms.PLATFORMS", tight)
    again = replay(store, record.id)
    x = next(row for row in again.rows if row.variant == "x")
    assert x.measures is not None
    assert x.measures.length <= 40
    assert [line.split(":")[0] for line in again.differences if "text" in line] == ["x"]
    assert any("limit" in remark for remark in again.remarks)


def with_version(monkeypatch: pytest.MonkeyPatch, version: int, **changes: object) -> None:
    """The FAQ format as a later version of this package might have it."""
    later = replace(format_named("faq"), version=version, **changes)  # type: ignore[arg-type]  # fields by name
    monkeypatch.setattr(repurpose.api.runs, "_built", lambda _: later)


def test_a_later_version_of_the_format_is_named(
    ran: Ran,
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (record,) = ran({"faq": [golden("faq")]})
    stored = format_named("faq").version
    with_version(monkeypatch, stored + 2)
    assert replay(store, record.id).remarks == (
        f"faq had version {stored} when the rows were stored; it is {stored + 2} now",
    )


def test_a_changed_schema_is_said(
    ran: Ran,
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (record,) = ran({"faq": [golden("faq")]})
    schema = {**format_named("faq").schema, "description": "Another one."}
    with_version(monkeypatch, format_named("faq").version, schema=schema)
    assert "the schema of faq has changed since" in replay(store, record.id).remarks


def test_a_rule_that_was_mended_makes_a_failed_reply_usable(
    ran: Ran,
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object) -> Any:
        raise KeyError("secret")

    with monkeypatch.context() as before:
        with_version(before, format_named("faq").version, finish=broken)
        (record,) = ran({"faq": [golden("faq")]})
        failing = replay(store, record.id)
        assert not failing.usable
        assert "secret" not in failing.rows[0].message
    again = replay(store, record.id)
    assert again.usable
    assert "default: done now, stored as failed" in again.differences[0]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply("", finish="refusal", refusal="I will not"), "refused"),
        (Reply('{"pairs": [', finish="length"), "cut_short"),
    ],
)
def test_a_refused_or_cut_reply_fails_as_it_did(
    ran: Ran, store: Store, reply: Reply, kind: str
) -> None:
    (record,) = ran({"faq": [reply]})
    again = replay(store, record.id)
    assert [row.kind for row in again.rows] == [kind]
    assert again.differences == ()


def test_a_call_without_a_reply_is_not_usable_and_says_why(ran: Ran, store: Store) -> None:
    (record,) = ran({"faq": [EngineError("the server said 500 four times")]})
    again: Replayed = replay(store, record.id)
    assert not again.usable
    assert "the server said 500 four times" in again.rows[0].message
    assert again.findings == ()


def test_a_reply_whose_run_was_cut_off_has_nothing_to_be_compared_with(
    ran: Ran,
    golden: Callable[[str], dict[str, Any]],
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object, **__: object) -> Any:
        raise StoreError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(type(store), "keep_result", full)
        (record,) = ran({"faq": [golden("faq")]})
    again = replay(store, record.id)
    assert again.usable
    assert (again.stored, again.differences) == ((), ())
    assert any("no row" in remark for remark in again.remarks)


def test_a_call_is_found_by_a_unique_beginning_of_its_id(
    ran: Ran, golden: Callable[[str], dict[str, Any]], store: Store
) -> None:
    first, second = ran({"faq": ["no JSON", golden("faq")]})
    pairs = zip(first.id, second.id, strict=True)
    alike = next(place for place, (one, other) in enumerate(pairs) if one != other)
    assert replay(store, first.id[: alike + 1]).call.id == first.id
    with pytest.raises(UsageError, match="several calls"):
        replay(store, first.id[:alike])


@pytest.mark.parametrize("unknown", ["", "nothing", "%", "last", "\ud800"])
def test_an_unknown_call_is_a_usage_error_with_a_way_to_find_one(
    ran: Ran, golden: Callable[[str], dict[str, Any]], store: Store, unknown: str
) -> None:
    ran({"faq": [golden("faq")]})
    with pytest.raises(UsageError, match="no call begins with") as caught:
        replay(store, unknown)
    assert "--calls" in (caught.value.hint or "")


def test_the_language_is_the_one_that_the_run_was_asked_for(store: Store, tmp_path: Path) -> None:
    sentences = ["Turmfalken rütteln über der Ringstraße.", "Sie suchen dort nach Mäusen."]
    answer = {"sentences": sentences}
    settings = Settings(database=tmp_path / "unused.db", language="de")
    engine = scripted_engine({"summary": [answer]})
    asyncio.run(arun(SOURCE, ["summary"], engine=engine, store=store, settings=settings))
    (record,) = store.calls(store.run("last").id)
    assert [row.language for row in replay(store, record.id).rows] == ["de"]


# --- the command ----------------------------------------------------------------------------


@pytest.fixture
def told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Exit code, output and errors of a command with a database in an empty folder."""
    from repurpose.cli import main

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["repurpose", *arguments, "--db", str(tmp_path / "r.db")])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, said.out, said.err

    return run


def test_the_command_shows_texts_and_says_that_they_are_the_same(
    told: Callable[..., tuple[int, str, str]], root: Path
) -> None:
    article = root / "fixtures" / "sources" / "article.md"
    _, text, _ = told("run", str(article), "--formats", "faq", "--quiet")
    record, _ = told("show", "last", "--calls", "--json")[1].splitlines()
    call = json.loads(record)["id"]  # noqa: TID251 - our own output
    code, out, err = told("replay", call)
    assert (code, out) == (0, text)
    assert "The same as the rows of run" in err
    code, out, _ = told("replay", call, "--json")
    outcome = json.loads(out)  # noqa: TID251 - our own output
    assert (code, outcome["usable"], outcome["same"]) == (0, True, True)
    assert outcome["rows"][0]["text"] in text


def test_the_command_exits_1_with_the_findings_where_nothing_is_usable(
    told: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    from repurpose.api.adapters import open_store

    store = open_store(tmp_path / "r.db")
    engine = scripted_engine({"faq": ["no JSON", "no JSON"]})
    asyncio.run(arun(SOURCE, ["faq"], engine=engine, store=store))
    first, _ = store.calls(store.run("last").id)
    store.close()
    code, out, err = told("replay", first.id)
    assert code == 1
    assert "failed" in out
    assert "Finding: " in err
    code, out, _ = told("replay", first.id, "--json")
    outcome = json.loads(out)  # noqa: TID251 - our own output
    assert (code, outcome["usable"]) == (1, False)
    assert outcome["findings"][0]["kind"] == "parse"


def test_the_command_exits_2_for_an_unknown_call(
    told: Callable[..., tuple[int, str, str]],
) -> None:
    code, out, err = told("replay", "nothing")
    assert (code, out) == (2, "")
    assert "no call begins with" in err
    assert "Traceback" not in err
