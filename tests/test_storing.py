"""A write error on one variant fails that variant only, whatever the store."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from repurpose import RunResult, Source, run
from repurpose.config import Settings
from repurpose.core.record import Row
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import StoreError
from repurpose.ports import Store

SOURCE = Source("Kestrels hover over the ring road.", "a.md", "text", title="Kes")
REASON = "Social posts (x) storage error: the disk has a bad block"


class WholeOrNothing:
    """A store that takes a result whole or not at all, and refuses some of its rows."""

    def __init__(self, store: Store, refuses: Callable[[Row], bool]) -> None:
        self._store = store
        self.refuses = refuses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def keep_result(self, rows: Sequence[Row], *, settles: Sequence[str]) -> tuple[Row, ...]:
        if any(map(self.refuses, rows)):
            raise StoreError("the disk has a bad block")
        return self._store.keep_result(rows, settles=settles)


def never(_: Row) -> bool:
    return False


@pytest.fixture
def social(golden: Callable[[str], dict[str, Any]]) -> Callable[..., RunResult]:
    """The social format into a store, with one good answer or none."""

    def make(store: Any, formats: Sequence[str] = ("social",), *, answers: int = 1) -> RunResult:
        replies = {name: [golden(name)] * answers for name in formats}
        return run(
            SOURCE,
            formats,
            engine=scripted_engine(replies, model="m"),
            store=store,
            settings=Settings(database=Path("unused"), concurrency=1),
        )

    return make


def done_x(row: Row) -> bool:
    return row.variant == "x" and row.status == "done"


def any_x(row: Row) -> bool:
    return row.variant == "x"


def test_one_variant_fails_and_the_others_are_done_and_the_format_succeeds(
    social: Callable[..., RunResult], store: Store
) -> None:
    result = social(WholeOrNothing(store, done_x), ("social", "faq"))
    made = result.results["social"]
    assert [(row.variant, row.status) for row in made.rows] == [
        ("linkedin", "done"),
        ("x", "failed"),
        ("instagram", "done"),
    ]
    assert made.rows[1].message == REASON
    assert made.done
    assert made.envelope.status == 200
    assert made.envelope.message == f"Social posts done; {REASON}"
    assert set(made.envelope.data) == {"linkedin", "instagram"}
    assert made.content is not None
    assert (result.run.status, result.exit_code) == ("partial", 1)
    stored = store.rows(result.run.id)
    assert {(row.variant, row.status) for row in stored if row.format == "social"} == {
        ("linkedin", "done"),
        ("x", "failed"),
        ("instagram", "done"),
    }
    (lost,) = [row for row in stored if row.variant == "x"]
    assert (lost.text, lost.content, lost.notes, lost.kind) == (None, None, (), "store")


@pytest.mark.parametrize("refuses", [done_x, any_x])
def test_the_next_run_pays_nothing_and_stores_all_of_it(
    social: Callable[..., RunResult], store: Store, refuses: Callable[[Row], bool]
) -> None:
    """Also where not even the failure of the variant could be stored: half is not the whole."""
    broken = WholeOrNothing(store, refuses)
    social(broken)
    broken.refuses = never
    again = social(broken, answers=0)
    assert again.run.status == "done"
    assert [row.variant for row in again.results["social"].rows] == ["linkedin", "x", "instagram"]
    assert again.results["social"].usage.calls == 0


def test_a_variant_whose_failure_cannot_be_stored_either_is_told_all_the_same(
    social: Callable[..., RunResult], store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    result = social(WholeOrNothing(store, any_x))
    assert REASON in result.results["social"].envelope.message
    assert [row.variant for row in store.rows(result.run.id)] == ["linkedin", "instagram"]
    assert "a failed row could not be stored" in caplog.text


def test_where_nothing_can_be_stored_the_format_fails_once(
    social: Callable[..., RunResult], store: Store
) -> None:
    result = social(WholeOrNothing(store, lambda _: True))
    (row,) = result.results["social"].rows
    assert (row.variant, row.status) == ("default", "failed")
    assert row.message == "Social posts storage error: the disk has a bad block"
    assert (result.run.status, store.rows(result.run.id)) == ("failed", ())


def test_a_format_of_one_row_is_not_tried_twice(
    social: Callable[..., RunResult], store: Store
) -> None:
    tried: list[Row] = []

    def refuses(row: Row) -> bool:
        tried.append(row)
        return True

    social(WholeOrNothing(store, refuses), ("faq",))
    assert len(tried) == 1


def test_a_row_that_our_own_store_cannot_take_fails_alone_in_one_transaction(
    golden: Callable[[str], dict[str, Any]], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NUL cannot be stored; it is let past intake here as a user's own format might add one."""
    from repurpose.steps import rows as rows_module

    finish = rows_module._done

    def broken(blank: Row, piece: Any, settled: Any, row_id: str) -> Row:
        row = finish(blank, piece, settled, row_id)
        return dataclasses.replace(row, text="a\0b") if row.variant == "x" else row

    monkeypatch.setattr(rows_module, "_done", broken)
    result = run(
        SOURCE,
        ["social"],
        engine=scripted_engine({"social": [golden("social")]}),
        store=store,
        settings=Settings(database=Path("unused")),
    )
    rows = store.rows(result.run.id)
    assert [(row.variant, row.status) for row in rows] == [
        ("linkedin", "done"),
        ("x", "failed"),
        ("instagram", "done"),
    ]
    assert rows[1].message.startswith("Social posts (x) storage error: ")
    assert result.results["social"].envelope.status == 200
