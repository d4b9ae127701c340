"""An A2A agent writes: by its stream, by asking for its task, and by push notifications."""

from __future__ import annotations

import pytest

from agents.a2a_agent import Agent
from agents.a2a_settings import WAYS, settings_for
from agents.desk import TOKEN, Desk, until

FIRST_SENTENCE = "The public library of Halvik, a harbour town of 31,000 people"

by_each_way = pytest.mark.parametrize("way", WAYS)


@by_each_way
def test_an_agent_writes_the_summary(way: str, desk: Desk, agent: Agent) -> None:
    desk.settings(settings_for(way, agent.url))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out
    assert "1 call" in desk.err
    assert desk.row()["status"] == "done"
    assert desk.row()["engine"] == "endpoint"
    assert desk.row()["model"] == "agent"


@by_each_way
def test_the_call_keeps_the_id_that_the_agent_gave_its_task(
    way: str, desk: Desk, agent: Agent
) -> None:
    desk.settings(settings_for(way, agent.url))
    desk.run()
    (call,) = desk.stored("calls")
    assert call["request_id"] == agent.writer.asked[0]["taskId"]
    assert call["requests"] == 1


@by_each_way
def test_two_formats_are_two_tasks_and_none_gets_the_others_answer(
    way: str, desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.extend(["slow", "fine"])
    desk.settings(settings_for(way, agent.url))
    desk.run(formats="summary,faq")
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out
    assert "Q: What is a tool library?" in desk.out
    assert {message["metadata"]["format"] for message in agent.writer.asked} == {"summary", "faq"}
    assert len({message["taskId"] for message in agent.writer.asked}) == 2


@by_each_way
def test_an_answer_that_is_json_and_no_text_is_read_as_well(
    way: str, desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.append("data")
    desk.settings(settings_for(way, agent.url, part="0.data"))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out


@by_each_way
def test_an_answer_in_several_parts_is_put_together(way: str, desk: Desk, agent: Agent) -> None:
    agent.writer.plans.append("pieces")
    desk.settings(settings_for(way, agent.url, part="*.text"))
    desk.run()
    assert desk.code == 0, desk.err
    assert FIRST_SENTENCE in desk.out
    assert "1 call" in desk.err


@by_each_way
def test_an_agent_that_takes_a_while_is_waited_for(way: str, desk: Desk, agent: Agent) -> None:
    agent.writer.plans.append("slow")
    desk.settings(settings_for(way, agent.url))
    desk.run()
    assert desk.code == 0, desk.err
    (call,) = desk.stored("calls")
    assert call["seconds"] >= agent.writer.delay


@by_each_way
def test_an_invalid_answer_is_repaired_by_a_new_task(way: str, desk: Desk, agent: Agent) -> None:
    agent.writer.plans.append("invalid")
    desk.settings(settings_for(way, agent.url))
    desk.run()
    assert desk.code == 0, desk.err
    assert "2 calls" in desk.err
    first, second = agent.writer.asked
    assert [first["metadata"]["attempt"], second["metadata"]["attempt"]] == [1, 2]
    assert first["taskId"] != second["taskId"]
    assert first["messageId"] != second["messageId"]
    assert "Here you are!" in second["parts"][1]["text"]
    assert "Here you are!" not in second["parts"][0]["text"]
    assert len({call["request_id"] for call in desk.stored("calls")}) == 2


@by_each_way
def test_the_same_run_again_asks_nobody(way: str, desk: Desk, agent: Agent) -> None:
    desk.settings(settings_for(way, agent.url))
    desk.run()
    asked = len(agent.bodies)
    desk.run()
    assert desk.code == 0
    assert "0 calls" in desk.err
    assert len(agent.bodies) == asked


# --- three kinds of failure -----------------------------------------------------------------------


@by_each_way
@pytest.mark.parametrize("plan", ["fails", "rejects"])
def test_a_task_that_failed_is_told_as_that_and_not_tried_again(
    plan: str, way: str, desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.append(plan)
    desk.settings(settings_for(way, agent.url))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "agent_failed"
    assert "agent" in desk.row()["message"]
    assert len(agent.writer.asked) == 1


@by_each_way
@pytest.mark.parametrize("plan", ["silent", "mute"])
def test_a_task_that_does_not_end_is_still_working_when_time_is_up(
    plan: str, way: str, desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.append(plan)
    desk.settings(settings_for(way, agent.url, timeout=0.1))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "still_working"
    (call,) = desk.stored("calls")
    assert 0.1 <= call["seconds"] < 60, "it has two minutes unless the settings say otherwise"
    assert len(agent.writer.asked) <= 1  # none where it was too late to get there in time


@by_each_way
def test_an_agent_that_is_not_there_never_started(way: str, desk: Desk) -> None:
    desk.settings(settings_for(way, "http://127.0.0.1:9/"))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "never_started"


@by_each_way
def test_a_wrong_address_never_started_and_its_status_is_told(
    way: str, desk: Desk, agent: Agent
) -> None:
    desk.settings(settings_for(way, f"{agent.url}elsewhere"))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "never_started"
    assert "404" in desk.row()["message"]


@by_each_way
def test_an_error_of_the_protocol_is_told_at_once_although_its_status_is_200(
    way: str, desk: Desk, agent: Agent
) -> None:
    """Without its version header the agent answers with a JSON-RPC error, in no stream."""
    desk.settings(settings_for(way, agent.url).replace('A2A-Version = "1.0", ', ""))
    desk.run()
    assert desk.code == 4
    assert desk.row()["kind"] == "broken_reply", "still_working is what a wait would end with"
    assert "result.task.id" in desk.row()["message"]


# --- what stays secret, and what is let go of -----------------------------------------------------


@by_each_way
def test_the_token_goes_to_the_agent_and_nowhere_else(way: str, desk: Desk, agent: Agent) -> None:
    agent.writer.plans.extend(["invalid", "fails"])
    desk.settings(settings_for(way, agent.url))
    desk.run()
    assert {each["authorization"] for each in agent.headers} == {f"Bearer {TOKEN}"}
    assert not desk.knows(TOKEN)


def test_each_task_is_given_a_callback_address_of_its_own_and_none_is_kept(
    desk: Desk, agent: Agent
) -> None:
    agent.writer.plans.append("invalid")
    desk.settings(settings_for("push", agent.url))
    desk.run()
    addresses = [
        body["params"]["configuration"]["taskPushNotificationConfig"]["url"]
        for body in agent.bodies
    ]
    assert len(set(addresses)) == 2
    for address in addresses:
        capability = address.rpartition("/")[2]
        assert len(capability) >= 22  # at least 128 bits
        assert not desk.knows(capability)


@by_each_way
def test_no_connection_to_the_agent_is_left_open(way: str, desk: Desk, agent: Agent) -> None:
    agent.writer.plans.append("silent")
    desk.settings(settings_for(way, agent.url, timeout=0.1))
    desk.run()
    until(lambda: agent.open_connections == 0)
