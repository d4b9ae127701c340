"""`repurpose batch --provider-batch` as a user runs it, night after night."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from batch_provider import KEY, BatchProvider

ONE = ("--formats", "summary")


@pytest.fixture
def provider() -> Iterator[BatchProvider]:
    made = BatchProvider()
    yield made
    made.close()


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    folder = tmp_path / "posts"
    folder.mkdir()
    for number in range(3):
        text = f"# Ferries\n\nFerry number {number} crosses at dawn.\n"
        (folder / f"{number}.md").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def batch(
    repurpose: Callable[..., Any], provider: BatchProvider, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """`repurpose batch` against the provider."""
    monkeypatch.setenv("REPURPOSE_API_KEY", KEY)
    where = ("--base-url", provider.url, "--db", "nights.db")
    return lambda *arguments: repurpose("batch", *arguments, *where)


@pytest.fixture
def good(golden: Callable[[str], dict[str, object]]) -> str:
    return json.dumps(golden("summary"))


def test_one_night_submits_and_the_same_command_the_next_night_fetches(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    night = (posts, "--provider-batch", "--model", "small", *ONE)
    first = batch(*night)
    assert first.returncode == 0
    assert "To the provider: 3 requests as batch_1" in first.stdout
    assert "At the provider: 3 requests in 1 batch" in first.stdout
    provider.answer(provider.batches[0], lambda _: good)
    second = batch(*night)
    assert second.returncode == 0
    assert "From the provider: 3 replies" in second.stdout
    assert "3 done" in second.stdout
    third = batch(*night)
    assert third.returncode == 0
    assert len(provider.batches) == 1
    assert provider.counts["POST /chat"] == 0


def test_collect_needs_neither_sources_nor_model(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    batch(posts, "--provider-batch", "--model", "small", *ONE)
    provider.answer(provider.batches[0], lambda _: good)
    collected = batch("--collect")
    assert collected.returncode == 0
    assert "3 done" in collected.stdout
    assert len(provider.batches) == 1


def test_collect_before_anything_is_answered_changes_nothing(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    batch(posts, "--provider-batch", "--model", "small", *ONE)
    for _ in range(2):
        waiting = batch("--collect")
        assert waiting.returncode == 0
        assert "At the provider: 3 requests in 1 batch" in waiting.stdout
    provider.answer(provider.batches[0], lambda _: good)
    assert "3 done" in batch("--collect").stdout
    assert len(provider.batches) == 1


def test_waiting_takes_the_second_batch_of_repairs_too(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    answers = iter(["{}", good, good, good])

    def worked_on(kind: str) -> None:
        for each in provider.batches:
            if kind == "POST /batches" and each["status"] == "validating":
                provider.answer(each, lambda _: next(answers))

    provider.on = worked_on
    done = batch(posts, "--provider-batch", "--wait", "--model", "small", *ONE)
    assert done.returncode == 0
    assert [len(provider.ids(each)) for each in provider.batches] == [3, 1]
    assert "1 repaired" in done.stdout


def test_what_the_provider_refuses_is_a_failed_row_and_said_in_one_line(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider
) -> None:
    night = (posts, "--provider-batch", "--model", "small", *ONE)
    batch(*night)
    provider.refuse(provider.batches[0], {"code": "model_not_found", "line": None})
    done = batch("--collect")
    assert done.returncode == 4
    assert "the provider refused the batch (code model_not_found)" in done.stderr
    assert len(provider.batches) == 1


def test_no_more_is_submitted_than_the_budget_allows(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    night = (posts, "--provider-batch", "--model", "small", "--max-calls", "2", *ONE)
    first = batch(*night)
    assert first.returncode == 5
    assert len(provider.ids(provider.batches[0])) == 2
    provider.answer(provider.batches[0], lambda _: good)
    assert batch(*night).returncode == 0
    assert len(provider.ids(provider.batches[1])) == 1


def test_the_same_as_events(
    batch: Callable[..., Any], posts: Path, provider: BatchProvider, good: str
) -> None:
    batch(posts, "--provider-batch", "--model", "small", *ONE)
    provider.answer(provider.batches[0], lambda _: good)
    said = batch("--collect", "--json").stdout.splitlines()
    events = {event["event"]: event for event in map(json.loads, said)}  # noqa: TID251 - our own output
    assert events["collected"]["answered"] == 3
    assert events["submitted"] == {
        "event": "submitted",
        "requests": 0,
        "batches": [],
        "attached": [],
        "faults": [],
    }
    assert events["waiting"]["requests"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("posts", "--wait"),
        ("posts", "--repair-live"),
        ("posts", "--provider-batch", "--force"),
        ("--provider-batch",),
        ("posts", "--provider-batch"),
    ],
)
def test_what_has_no_meaning_is_refused(batch: Callable[..., Any], arguments: Any) -> None:
    assert batch(*arguments).returncode == 2
