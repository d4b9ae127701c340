"""What becomes of the answers of a real small model and of the errors of a real server.

Recorded by `tests/record_cassettes.py`, which also says how to record them again. How bad an
answer is stands in its cassette; what must become of it stands here.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from record_cassettes import (
    FOLDER,
    KEPT_HEADERS,
    KEY,
    META,
    NOWHERE,
    RECORDINGS,
    ask_the_same,
    cassette,
    converse,
)
from vcr.request import Request

from repurpose.core.result import FormatResult
from repurpose.formats import known_formats
from repurpose.ports import Store

FILES = sorted(FOLDER.glob("*.yaml"))


@dataclass(frozen=True)
class Outcome:
    """What a cassette must lead to."""

    calls: int
    """Replies that were looked at: the first one, and the one after a repair or a larger budget."""
    kind: str | None = None
    """The kind of the failed row, or None for a done one."""
    message: str = ""
    """What the envelope's message holds."""
    requests: int | None = None
    """As many as calls, where nothing else stands here."""


CUT = "the reply was cut at the output limit of 400 tokens"
NO_JSON = "the reply holds no JSON object"

OUTCOMES = {
    # Held to the schema, so always JSON of our shape as far as it goes; what stands in it is
    # an echo of the prompt, the same sentence again and again, or nothing.
    "summary-schema": Outcome(2),
    "summary-schema-warm": Outcome(2, "unusable", "ends in a colon"),
    "faq-schema": Outcome(2, "cut_short", CUT),
    "faq-schema-warm": Outcome(2),
    "social-schema": Outcome(2, "cut_short", CUT),
    "social-schema-warm": Outcome(2, "unusable", "repeats the task"),
    "newsletter-schema": Outcome(2, "cut_short", CUT),
    "newsletter-schema-warm": Outcome(2, "cut_short", CUT),
    "german-summary": Outcome(2, "cut_short", CUT),
    # Any JSON object: it invents fields, most often those of a schema.
    "summary-object": Outcome(2, "invalid_answer", "sentences: is required but missing"),
    "faq-object": Outcome(2, "cut_short", CUT),
    "social-object": Outcome(2, "invalid_answer", "instagram: is required but missing"),
    "newsletter-object": Outcome(2, "invalid_answer", "preheader: is required but missing"),
    # Whatever it likes: prose about JSON, the prompt again, a list of steps.
    "summary-none": Outcome(2, "invalid_answer", NO_JSON),
    "faq-none": Outcome(2, "invalid_answer", NO_JSON),
    "social-none": Outcome(2, "invalid_answer", NO_JSON),
    "newsletter-none": Outcome(2, "cut_short", CUT),
    "german-newsletter": Outcome(2, "invalid_answer", NO_JSON),
    # A format of a user's own goes the same way.
    "own-meta": Outcome(2),
    "own-meta-object": Outcome(2, "invalid_answer", "title: is required but missing"),
    # What the server itself refuses, once and for all, or for the moment.
    "error-context": Outcome(1, "never_started", "the text is too long for smollm2"),
    "error-schema": Outcome(1, "never_started", "(status 400, type invalid_request_error)"),
    "error-no-key": Outcome(1, "never_started", "wants an API key (status 401"),
    "error-wrong-key": Outcome(1, "never_started", "refused the API key (status 401"),
    "error-path": Outcome(1, "never_started", "or no chat completions at this address"),
    "error-loading": Outcome(2, "unusable", "repeats one sentence", requests=4),
}


META_SCHEMA = {
    "title": "Meta tags",
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 60},
        "description": {"type": "string", "maxLength": 155},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
    },
    "required": ["title", "description"],
    "additionalProperties": False,
}


def test_a_format_of_files_is_answered_like_the_same_one_of_a_table(
    tmp_path: Path, clock: Any
) -> None:
    for name, text in {
        "prompts/meta.md": META["prompt"],
        "schemas/meta.schema.json": json.dumps(META_SCHEMA),
    }.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, encoding="utf-8")
    of_files = known_formats(tmp_path).named("meta")
    with cassette("own-meta"):
        asked = converse(RECORDINGS["own-meta"], NOWHERE, clock, format=of_files)
        result = asyncio.run(asked)
    of_table, _ = replayed("own-meta", clock)
    assert result.done
    assert result.rows[0].text == of_table.rows[0].text
    assert result.envelope == of_table.envelope
    assert len(result.envelope.data["title"]) <= 60


def replayed(name: str, clock: Any, store: Store | None = None) -> tuple[FormatResult, int]:
    """The result of a recorded conversation, and how many requests of it were sent again."""
    with cassette(name) as opened:
        result = asyncio.run(converse(RECORDINGS[name], NOWHERE, clock, store))
        return result, int(opened.play_count)


def recorded(name: str) -> list[dict[str, Any]]:
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    interactions: list[dict[str, Any]] = yaml.load(text, yaml.CSafeLoader)["interactions"]
    return interactions


# --- what becomes of the answers ------------------------------------------------------------------


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recorded_conversation_ends_as_documented(name: str, clock: Any) -> None:
    expected = OUTCOMES[name]
    result, requests = replayed(name, clock)
    assert expected.message in result.envelope.message
    assert requests == (expected.calls if expected.requests is None else expected.requests)
    assert result.meta.attempts == expected.calls
    assert result.rows[0].kind == expected.kind
    assert result.done == (expected.kind is None)
    assert (result.envelope.status == 200) == result.done


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_message_repeats_the_source_or_an_answer(name: str, clock: Any) -> None:
    result, _ = replayed(name, clock)
    told = f"{result.envelope.message} {result.error and result.error.hint}"
    for interaction in recorded(name):
        user = interaction["request"]["json"]["messages"][1]["content"]
        answer = interaction["response"]["body"]["json"].get("choices")
        spoken = answer[0]["message"]["content"] if answer else ""
        for sentence in re.findall(r"[^.\n\"]{25,}", f"{user}\n{spoken}"):
            assert sentence not in told


def test_usage_is_stored_as_the_server_counted_it(clock: Any, store: Store) -> None:
    result, _ = replayed("social-none", clock, store)
    kept = [call.reply for call in store.calls(result.rows[0].run_id)]
    told = [each["response"]["body"]["json"]["usage"] for each in recorded("social-none")]
    assert len(kept) == len(told)
    for reply, usage in zip(kept, told, strict=True):
        assert reply is not None
        assert reply.usage.prompt_tokens == usage["prompt_tokens"]
        assert reply.usage.completion_tokens == usage["completion_tokens"]
        assert reply.usage.cached_tokens == usage["prompt_tokens_details"]["cached_tokens"]


def test_a_server_that_is_still_loading_is_asked_again_until_it_answers(clock: Any) -> None:
    statuses = [each["response"]["status"]["code"] for each in recorded("error-loading")]
    assert statuses[0] == 503
    assert statuses[-1] == 200
    replayed("error-loading", clock)
    assert len(clock.slept) == statuses.count(503)


# --- what the cassettes are -----------------------------------------------------------------------


def test_the_script_lists_exactly_the_cassettes_that_exist() -> None:
    assert sorted(file.stem for file in FILES) == sorted(RECORDINGS)


def test_every_cassette_has_an_expected_outcome() -> None:
    assert sorted(OUTCOMES) == sorted(RECORDINGS)


@pytest.mark.parametrize("name", RECORDINGS)
def test_no_part_of_a_cassette_is_unused(name: str, clock: Any) -> None:
    with cassette(name) as opened:
        asyncio.run(converse(RECORDINGS[name], NOWHERE, clock))
        assert opened.all_played


def test_together_they_are_small() -> None:
    assert sum(file.stat().st_size for file in FILES) < 1_000_000


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_none_holds_a_key_or_tells_where_it_was_recorded(file: Path) -> None:
    text = file.read_text(encoding="utf-8").lower()
    secrets = [KEY, KEY[::-1], "authorization", "bearer", "user-agent", "x-stainless"]
    places = ["127.0.0.1", "localhost:", "site-packages", "/home/", "/users/", "/tmp/", "timings"]
    for word in (*secrets, *places):
        assert word not in text
    host = socket.gethostname().lower()
    if re.search(r"[\d.-]", host):  # else it is a word that anybody may use
        assert host not in text


@pytest.mark.parametrize("name", RECORDINGS)
def test_each_holds_the_allowed_headers_only_and_bodies_that_can_be_read(name: str) -> None:
    for interaction in recorded(name):
        request, response = interaction["request"], interaction["response"]
        assert set(request["headers"]) | set(response["headers"]) <= KEPT_HEADERS
        assert request["uri"].startswith(f"{NOWHERE}/")
        assert isinstance(request["json"], dict)
        assert isinstance(response["body"]["json"], dict)


def test_every_kind_of_request_and_of_error_is_there() -> None:
    asked = {
        str(each["request"]["json"].get("response_format", {}).get("type"))
        for name in RECORDINGS
        for each in recorded(name)
    }
    statuses = {
        each["response"]["status"]["code"] for name in RECORDINGS for each in recorded(name)
    }
    assert asked == {"json_schema", "json_object", "None"}
    assert statuses == {200, 400, 401, 404, 503}


# --- how a request is found again -----------------------------------------------------------------

BODY = {
    "model": "small",
    "messages": [
        {"role": "system", "content": "Write an FAQ."},
        {"role": "user", "content": "Look:\n<source_material>\nA ferry.\n</source_material>"},
    ],
    "max_tokens": 200,
}


def request(body: dict[str, Any]) -> Request:
    return Request("POST", f"{NOWHERE}/v1/chat/completions", json.dumps(body).encode(), {})


def said(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


USER = str(BODY["messages"][1]["content"])  # type: ignore[index]


def test_another_wording_of_our_prompts_finds_the_same_reply() -> None:
    reworded = {**BODY, "messages": said("Write a FAQ, please.", USER.replace("Look", "See"))}
    ask_the_same(request(BODY), request(reworded))


@pytest.mark.parametrize(
    "change",
    [
        {"model": "large"},
        {"max_tokens": 400},
        {"temperature": 0.5},
        {"response_format": {"type": "json_object"}},
        {"messages": said("Write an FAQ.", USER.replace("ferry", "boat"))},
        {"messages": said("Write an FAQ.", USER + "\n<previous_answer>\n{}\n</previous_answer>")},
        {"messages": said("Write an FAQ.", USER)[1:]},
    ],
    ids=["model", "budget", "temperature", "shape", "source", "repair", "roles"],
)
def test_any_other_change_of_the_body_does_not(change: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        ask_the_same(request(BODY), request({**BODY, **change}))


def test_a_request_without_a_recording_is_never_sent(clock: Any) -> None:
    with cassette("summary-none") as opened:
        result = asyncio.run(converse(RECORDINGS["faq-schema"], NOWHERE, clock))
        assert opened.play_count == 0
    assert not result.done
