"""A service writes, in each of the five modes, through the command line: what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agents.desk import TOKEN, Desk, until
from agents.workflow_settings import MODES, settings_for
from endpoint_servers import Workflow, workflow

FIRST_SENTENCE = "The public library of Halvik, a harbour town of 31,000 people"

in_each_mode = pytest.mark.parametrize("mode", MODES)


@pytest.fixture(scope="module")
def _running_service() -> Iterator[Workflow]:
    with workflow() as running:
        yield running


@pytest.fixture
def service(_running_service: Workflow, desk: Desk) -> Iterator[Workflow]:
    """A service that has been asked nothing yet."""
    _running_service.traces = desk.folder / "traces.jsonl"
    yield _running_service
    _running_service.reset()


@in_each_mode
def test_a_service_writes_the_summary(mode: str, desk: Desk, service: Workflow) -> None:
    desk.settings(settings_for(mode, service.url))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out
    assert len(service.asked) == 1


@in_each_mode
def test_an_invalid_answer_is_asked_for_again_by_a_submit_of_its_own(
    mode: str, desk: Desk, service: Workflow
) -> None:
    service.plans.append("invalid")
    desk.settings(settings_for(mode, service.url))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out
    first, second = service.asked
    assert first["run"] != second["run"]
    assert "Here you are!" not in first["text"]
    assert "Here you are!" in second["text"]
    if mode == "callback":
        assert first["reply_to"] != second["reply_to"]
    else:
        assert first["reply_to"] == "{{callback_url}}"


@in_each_mode
def test_work_that_failed_is_told_apart_and_submitted_once(
    mode: str, desk: Desk, service: Workflow
) -> None:
    service.plans.append("fails")
    desk.settings(settings_for(mode, service.url))
    desk.run()
    assert desk.code == 4
    # In sync a status that is no success is all that a service can say.
    assert desk.row()["kind"] == ("never_started" if mode == "sync" else "agent_failed")
    assert len(service.asked) == 1


@in_each_mode
def test_work_that_does_not_end_is_still_working_and_its_request_is_let_go_of(
    mode: str, desk: Desk, service: Workflow
) -> None:
    service.plans.append("silent")
    desk.settings(settings_for(mode, service.url, timeout=0.1))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "still_working"
    (call,) = desk.stored("calls")
    assert 0.1 <= call["seconds"] < 60, "it has two minutes unless the settings say otherwise"
    assert len(service.asked) <= 1  # none where it was too late to get there in time
    until(lambda: service.held == 0)


@in_each_mode
def test_a_refusal_that_repeats_what_it_was_sent_gives_no_secret_away(
    mode: str, desk: Desk, service: Workflow
) -> None:
    desk.settings(settings_for(mode, service.url, path="/refused"))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "never_started"
    assert "403" in desk.row()["message"]
    assert not desk.knows(TOKEN)
    (sent,) = service.asked
    if mode == "callback":
        assert not desk.knows(sent["reply_to"].rpartition("/")[2])


def test_a_secret_that_is_cut_off_with_the_refusal_it_stands_in_does_not_show_its_beginning(
    desk: Desk, service: Workflow
) -> None:
    """At most 300 characters are shown, and those here end within the token."""
    before = len('{"error": "", "sent": "Bearer ')
    service.refusal = "x" * (300 - before - len(TOKEN) // 2)
    desk.settings(settings_for("sync", service.url, path="/refused"))
    desk.run()
    assert desk.row()["message"].count("x") > 200
    assert not desk.knows(TOKEN[: len(TOKEN) // 2 - 2])


def test_a_token_that_is_a_word_of_the_article_takes_nothing_out_of_the_text(
    desk: Desk, service: Workflow
) -> None:
    desk.monkeypatch.setenv("WRITER_TOKEN", "library")
    desk.settings(settings_for("sync", service.url))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out


def test_traces_are_looked_for_beside_the_settings_and_not_where_the_command_is_given(
    desk: Desk, service: Workflow
) -> None:
    desk.settings(settings_for("trace", service.url))
    (desk.folder / "below").mkdir()
    (desk.folder / "below" / "article.md").write_bytes((desk.folder / "article.md").read_bytes())
    desk.run(folder="below")
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out


def test_a_callback_is_acknowledged_also_where_it_is_not_the_last_word(
    desk: Desk, service: Workflow
) -> None:
    desk.settings(settings_for("callback", service.url))
    desk.run()
    assert service.acknowledged[0] == 202
