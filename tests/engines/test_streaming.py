"""A streamed reply is the reply that would have come at once, and is heard while it comes."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.api.budgeting import budgeted
from repurpose.core.budget import Budget
from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines._openai_stream import StreamEndedError, streamed_reply
from repurpose.engines.openai import openai_engine
from repurpose.engines.scripted import Streamed, scripted_engine
from repurpose.errors import BrokenReply, EngineError, StillWorking
from repurpose.ports import Engine

ANSWER = {"headline": "The last keeper", "points": ["He stayed until spring, 🦊."]}
TEXT = json.dumps(ANSWER, ensure_ascii=False)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "headline": {"type": "string"},
        "points": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["headline", "points"],
    "additionalProperties": False,
}
CALL = Call("brief", "system", "user", SCHEMA, SCHEMA, Source("user", "-", "text"))


@dataclass
class Ear:
    """A listener that keeps what it hears."""

    replies: list[list[str]] = field(default_factory=list)
    paused: asyncio.Event = field(default_factory=asyncio.Event)

    def began(self) -> None:
        self.replies.append([])

    def heard(self, text: str) -> None:
        self.replies[-1].append(text)
        self.paused.set()

    @property
    def last(self) -> str:
        return "".join(self.replies[-1])


def engine_at(server: Any, clock: Any, **options: Any) -> Engine:
    settings = {"model": "small", "api_key": "sk-test", "jitter": lambda: 0.0, **options}
    return openai_engine(base_url=server.url, clock=clock, **settings)


def outcome(engine: Engine, ear: Ear | None = None, call: Call = CALL) -> Reply | EngineError:
    async def asked() -> Reply | EngineError:
        try:
            if ear is None:
                return await engine.answer(call)
            assert engine.stream is not None
            return await engine.stream(call, ear)
        except EngineError as error:
            return error
        finally:
            await engine.close()

    return asyncio.run(asked())


def reply(engine: Engine, ear: Ear) -> Reply:
    found = outcome(engine, ear)
    assert isinstance(found, Reply), found
    return found


@pytest.fixture
def server(mock_server: Any) -> Any:
    """The mock server, with a known answer."""
    mock_server.answers["brief"] = ANSWER
    return mock_server


# --- the same reply ---------------------------------------------------------------------------

PLANS = [
    "ok",
    "nousage",
    "parts",
    "fenced",
    "think",
    "prose",
    "missing",
    "wrongtype",
    "extra",
    "dupkey",
    "malformed",
    "surrogate",
    "empty",
    "null",
    "tool_calls",
    "reasoning",
    "refusal",
    "length",
    "content_filter",
    "filtered",
    "nochoices",
    "nomessage",
    "notobject",
    "errorbody",
    "html",
    "badjson",
    "429=2+ok",
    "429+429+429+429+429+ok",
    "500+ok",
    "503=3+502+504+ok",
    "408+409+ok",
    "reset+partial+ok",
    "500",
    "429+500+500+429+500+500",
    "reset",
    "partial",
    "429=100",
    "quota",
    "402",
    "401",
    "403",
    "404",
    "308",
    "context",
    "badschema",
    "unsupported",
    "422",
]


@pytest.mark.parametrize("plan", PLANS)
def test_every_plan_comes_to_what_it_comes_to_without_a_listener(
    plan: str, server: Any, clock: Any
) -> None:
    server.plan(*plan.split("+"))
    plain = outcome(engine_at(server, clock))
    requests = len(server.requests)
    server.reset()
    server.answers["brief"] = ANSWER
    server.plan(*plan.split("+"))
    ear = Ear()
    streamed = outcome(engine_at(server, clock), ear)
    assert len(server.requests) == len(ear.replies) == requests
    if isinstance(plain, Reply):
        assert streamed == plain
        assert "\\ud83d" in plain.text or ear.last == plain.text
    else:
        assert type(streamed) is type(plain)
        assert vars(streamed) == vars(plain)


@pytest.mark.parametrize("plan", ["nodone", "nofinish", "unstreamed", "unnamed", "slow=0.001"])
def test_what_servers_do_differently_changes_no_reply(plan: str, server: Any, clock: Any) -> None:
    plain = outcome(engine_at(server, clock))
    server.plan(plan)
    ear = Ear()
    assert reply(engine_at(server, clock), ear) == plain
    assert ear.last == TEXT
    assert len(ear.replies[-1]) == 1 if plan == "unstreamed" else len(ear.replies[-1]) > 5


def test_without_a_listener_nothing_of_streaming_is_sent(server: Any, clock: Any) -> None:
    outcome(engine_at(server, clock))
    outcome(engine_at(server, clock), Ear())
    plain, streamed = (request.body for request in server.requests)
    assert streamed == {**plain, "stream": True, "stream_options": {"include_usage": True}}


# --- heard while it comes ---------------------------------------------------------------------


def test_the_first_half_is_heard_before_the_second_is_written(server: Any, clock: Any) -> None:
    server.plan("paused")
    ear = Ear()

    async def watched() -> str:
        engine = engine_at(server, clock)
        assert engine.stream is not None
        asked = asyncio.ensure_future(engine.stream(CALL, ear))
        await asyncio.wait_for(ear.paused.wait(), 5)
        early = ear.last
        assert not asked.done()
        server.released.set()
        assert (await asked).text == TEXT
        await engine.close()
        return early

    early = asyncio.run(watched())
    assert early
    assert TEXT.startswith(early)
    assert ear.last == TEXT


def test_a_silent_stream_ends_at_the_timeout_and_what_was_heard_is_void(
    server: Any, clock: Any
) -> None:
    server.plan("silent", "ok")
    ear = Ear()
    found = reply(engine_at(server, clock, timeout=0.2), ear)
    assert (found.text, found.requests) == (TEXT, 2)
    assert [len("".join(parts)) < len(TEXT) for parts in ear.replies] == [True, False]


def test_a_silent_stream_costs_the_budget_and_no_more(server: Any, clock: Any) -> None:
    server.plan("silent")
    found = outcome(engine_at(server, clock, timeout=0.1, transport_budget=2), Ear())
    assert isinstance(found, StillWorking)
    assert found.message.endswith("in 2 requests; the last one: no answer within 0.1 s")


def test_a_trickle_does_not_outlive_the_timeout(server: Any, clock: Any) -> None:
    server.plan("slow=0.05")
    found = outcome(engine_at(server, clock, timeout=0.2, transport_budget=1), Ear())
    assert isinstance(found, StillWorking)


@pytest.mark.parametrize("plan", ["partial", "ended"])
def test_a_stream_that_is_cut_off_is_a_lost_connection(plan: str, server: Any, clock: Any) -> None:
    server.plan(plan, plan, "ok")
    ear = Ear()
    assert reply(engine_at(server, clock), ear).requests == 3
    assert len(ear.replies) == 3
    assert ear.last == TEXT
    server.plan(plan)
    found = outcome(engine_at(server, clock), Ear())
    assert isinstance(found, StillWorking)
    assert found.message.endswith("in 4 requests; the last one: the connection was lost")


def test_what_is_lost_after_the_answer_ended_costs_no_request(server: Any, clock: Any) -> None:
    server.plan("cutlate")
    found = reply(engine_at(server, clock), Ear())
    assert (found.text, found.requests, found.usage) == (TEXT, 1, Usage())


def test_an_error_in_the_middle_is_no_answer(server: Any, clock: Any) -> None:
    server.plan("lateerror")
    found = outcome(engine_at(server, clock), Ear())
    assert isinstance(found, BrokenReply)
    assert found.message == f"{server.host} sent an error in place of an answer (code 502)"


def test_a_connection_is_used_again_after_a_stream(server: Any, clock: Any) -> None:
    async def twice() -> int:
        engine = engine_at(server, clock)
        assert engine.stream is not None
        for _ in range(3):
            await engine.stream(CALL, Ear())
        await engine.close()
        return len({request.headers["x-port"] for request in server.requests})

    assert asyncio.run(twice()) == 1


def test_a_cancelled_stream_stays_cancelled(server: Any, clock: Any) -> None:
    server.plan("paused")

    async def cancelled() -> None:
        engine, ear = engine_at(server, clock), Ear()
        assert engine.stream is not None
        asked = asyncio.ensure_future(engine.stream(CALL, ear))
        await asyncio.wait_for(ear.paused.wait(), 5)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        await engine.close()

    asyncio.run(cancelled())


# --- servers that refuse ----------------------------------------------------------------------


def test_a_server_that_does_not_stream_is_asked_without(server: Any, clock: Any) -> None:
    server.plan("nostream")
    engine, ear = engine_at(server, clock), Ear()
    found = reply(engine, ear)
    assert (found.text, found.requests) == (TEXT, 2)
    assert ear.replies == [[], [TEXT]]
    assert [request.body.get("stream") for request in server.requests] == [True, None]
    reply(engine, Ear())
    assert len(server.requests) == 3  # it is known by now


def test_a_server_that_refuses_the_wish_for_usage_still_streams(server: Any, clock: Any) -> None:
    server.plan("nousagewish")
    engine, ear = engine_at(server, clock), Ear()
    found = reply(engine, ear)
    assert (found.text, found.requests, found.usage) == (TEXT, 2, Usage())
    assert len(ear.replies[-1]) > 5
    reply(engine, Ear())
    assert [request.body.get("stream") for request in server.requests] == [True] * 3
    assert "stream_options" not in server.requests[-1].body


def test_a_refusal_that_repeats_a_prompt_about_streams_is_not_about_streaming(
    server: Any, clock: Any
) -> None:
    server.plan("422")
    about = replace(CALL, user="Streams of water carry salt. We stream it.")
    found = outcome(engine_at(server, clock), Ear(), about)
    assert isinstance(found, EngineError)
    assert len(server.requests) == 1


def test_calls_side_by_side_learn_of_one_refusal_only_once(server: Any, clock: Any) -> None:
    server.plan("nousagewish")

    async def both() -> list[Reply]:
        engine = engine_at(server, clock)
        assert engine.stream is not None
        replies = await asyncio.gather(*(engine.stream(CALL, Ear()) for _ in range(3)))
        await engine.close()
        return list(replies)

    assert {found.text for found in asyncio.run(both())} == {TEXT}
    assert all(request.body.get("stream") for request in server.requests)


# --- the form of a stream ---------------------------------------------------------------------


def chunk(text: str | None = None, finish: str | None = None, **more: Any) -> str:
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({"id": "c", "model": "m", "choices": [choice], **more})


class Body:
    """The body of a response, in pieces."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    async def readany(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    async def read(self) -> bytes:
        rest, self._pieces = b"".join(self._pieces), []
        return rest


def read(
    *pieces: bytes, kind: str = "text/event-stream", body: type[Body] = Body
) -> tuple[Reply, str]:
    """The reply in a body, and what is heard of it."""
    headers = {"content-type": kind, "x-request-id": "r"}
    response: Any = SimpleNamespace(headers=headers, content=body(pieces), status=200)
    heard: list[str] = []
    found = asyncio.run(streamed_reply(response, heard.append, server="HOST"))
    return found, "".join(heard)


def lines(*data: str) -> bytes:
    return "".join(f"data: {each}\n\n" for each in data).encode()


PLAIN = lines(chunk("Bees "), chunk("hum é🦊."), chunk(finish="stop"), "[DONE]")


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.replace(b"data: ", b"data:"),
        b"\xef\xbb\xbf" + PLAIN,
        b": hello\n\n: hello\n" + PLAIN.replace(b"\n\n", b"\n\n: still here\n\n"),
        b"retry: 10\n" + PLAIN.replace(b"data: {", b"event: message\nid: 7\ndata: {"),
        PLAIN.replace(b', "choices"', b',\ndata: "choices"'),
        PLAIN.removesuffix(b"\n\n"),
        PLAIN.removesuffix(b"data: [DONE]\n\n").removesuffix(b"\n\n"),
        b"\n\n \n" + PLAIN,
        PLAIN + lines(chunk("More.")),
        PLAIN.replace(b"[DONE]", b" [DONE] "),
        lines('{"id": "c", "model": "m", "choices": []}') + PLAIN,
        PLAIN.replace(b'"index": 0, ', b""),
        lines(chunk("x").replace('"index": 0', '"index": 1')) + PLAIN,
    ],
)
def test_every_form_of_a_stream_is_read(body: bytes) -> None:
    wanted = Reply("Bees hum é🦊.", model="m", request_id="r")
    assert read(body) == (wanted, wanted.text)
    assert read(*(body[at : at + 1] for at in range(len(body)))) == (wanted, wanted.text)


@given(st.lists(st.integers(0, len(PLAIN)), max_size=8))
def test_a_stream_may_be_cut_anywhere(cuts: list[int]) -> None:
    body = PLAIN.replace(b"\n", b"\r\n")
    places = [0, *sorted(cuts), len(body)]
    pieces = [body[a:b] for a, b in itertools.pairwise(places)]
    assert read(*pieces)[1] == "Bees hum é🦊."


def test_pairs_and_escapes_that_are_cut_by_chunks_are_whole_when_heard() -> None:
    halves = r'{"choices": [{"index": 0, "delta": {"content": "%s"}}]}'
    body = lines(halves % r"a\ud83e", halves % r"\udd8ab", halves % r"\ud83e", chunk(finish="stop"))
    found, heard = read(body)
    assert found.text == "a🦊b\\ud83e"
    assert heard == "a🦊b"


def test_usage_may_come_with_any_chunk_and_the_last_one_counts() -> None:
    first, last = ({"prompt_tokens": 5, "completion_tokens": count} for count in (1, 9))
    body = lines(chunk("Bees", usage=first), chunk(".", "stop", usage=last), "[DONE]")
    assert read(body)[0].usage == Usage(prompt_tokens=5, completion_tokens=9)


def test_reasoning_and_refusals_are_kept_apart_and_not_heard() -> None:
    delta = '{"choices": [{"index": 0, "delta": {"%s": "%s"}}]}'
    body = lines(delta % ("reasoning_content", "Hm. "), delta % ("reasoning", "So."), chunk("A."))
    found, heard = read(body + lines(chunk(finish="stop")))
    assert (found.text, found.reasoning, heard) == ("A.", "Hm. So.", "A.")
    refused, heard = read(lines(delta % ("refusal", "No."), chunk(finish="stop")))
    assert (refused.finish, refused.refusal, heard) == ("refusal", "No.", "")


def test_whole_messages_in_place_of_deltas_are_read() -> None:
    choice = {"index": 0, "message": {"content": "Bees."}, "finish_reason": "stop"}
    assert read(lines(json.dumps({"choices": [choice]})))[0].text == "Bees."


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", ""])
def test_one_body_is_read_whatever_it_is_called(kind: str) -> None:
    body = b' {"choices": [{"message": {"content": "Bees."}, "finish_reason": "stop"}]}'
    assert read(body[:20], body[20:], kind=kind)[1] == "Bees."


@pytest.mark.parametrize("kind", ["application/json", "text/plain", ""])
def test_a_stream_is_read_whatever_it_is_called(kind: str) -> None:
    assert read(PLAIN, kind=kind)[1] == "Bees hum é🦊."


def test_a_server_that_does_not_hang_up_after_its_end_holds_nobody() -> None:
    class Endless(Body):
        async def readany(self) -> bytes:
            return await super().readany() or await asyncio.sleep(60, b"")

    assert read(PLAIN, body=Endless)[1] == "Bees hum é🦊."


@pytest.mark.parametrize("body", [b"", b"\n\n", lines(chunk("Bees")), lines(chunk("B"))[:-9]])
def test_a_stream_without_an_end_is_lost(body: bytes) -> None:
    with pytest.raises((StreamEndedError, BrokenReply)):
        read(body)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lines("nothing"), "HOST answered with a body that is not JSON (status 200)"),
        (lines('"text"'), "HOST answered with JSON that is not an object"),
        (
            lines(chunk("B"), '{"error": {"code": "gone"}}', chunk("C", "stop"), "[DONE]"),
            "HOST sent an error in place of an answer (code gone)",
        ),
        (
            b'event: error\ndata: {"message": "secret", "type": "server_error"}\n\n',
            "HOST sent an error in place of an answer (type server_error)",
        ),
        (
            lines('{"choices": [{"finish_reason": "error", "error": {"code": 502}}]}'),
            "HOST sent an error in place of an answer (code 502)",
        ),
        (lines("[DONE]"), "HOST answered without any choice"),
        (lines('{"choices": [{"index": 0}]}', "[DONE]"), "HOST answered without a message"),
    ],
)
def test_what_is_no_answer_is_a_broken_reply(body: bytes, message: str) -> None:
    with pytest.raises(BrokenReply) as raised:
        read(body)
    assert raised.value.message == message


@given(st.lists(st.binary(max_size=30) | st.sampled_from([PLAIN, b"data: ", b"\n\n"]), max_size=6))
def test_no_body_raises_anything_of_its_own(pieces: list[bytes]) -> None:
    with contextlib.suppress(BrokenReply, StreamEndedError):
        read(*pieces)


# --- other engines ----------------------------------------------------------------------------


def test_a_script_in_pieces_is_heard_piece_by_piece(clock: Any) -> None:
    engine = scripted_engine([Streamed(["Bees ", "hum."], delay=2.0)] * 2, clock=clock)
    ear = Ear()
    assert reply(engine, ear).text == "Bees hum."
    assert ear.replies == [["Bees ", "hum."]]
    assert clock.slept == [2.0, 2.0]
    assert outcome(engine) == Reply("Bees hum.")


def test_a_script_that_breaks_off_is_heard_up_to_there() -> None:
    engine = scripted_engine([Streamed(["Bees "], then=StillWorking("gone")), {"a": 1}])
    ear = Ear()
    assert isinstance(outcome(engine, ear), StillWorking)
    assert outcome(engine, ear) == Reply('{"a": 1}')
    assert ear.replies == [["Bees "], ['{"a": 1}']]


def test_a_budgeted_engine_streams_and_pays(server: Any, clock: Any) -> None:
    budget = Budget(max_calls=1)
    engine = budgeted(engine_at(server, clock), budget)
    ear = Ear()
    assert reply(engine, ear).text == ear.last == TEXT
    assert budget.spent.calls == 1
    assert budgeted(Engine("mine", engine.answer), budget).stream is None
