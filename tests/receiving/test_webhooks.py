"""Webhooks: who may send them, and what is made of one that is sent twice."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receivers import QuickClock, post, received
from repurpose.api._rendezvous import deliveries_in
from repurpose.errors import UsageError
from repurpose.receiving.application import WEBHOOKS
from repurpose.receiving.webhooks import Secret, WebhookRefused, object_of

KEY = b"not a secret, but a key"
TEXT = "whsec_" + base64.b64encode(KEY).decode()
BODY = b'{"id":"evt_1","type":"response.completed","data":{"id":"resp_1"}}'
NOW = 1_795_000_000


def signature(
    body: bytes = BODY, event_id: str = "wh_1", at: int | str = NOW, key: bytes = KEY
) -> str:
    """By the scheme's own words: HMAC-SHA256 over `id.timestamp.body`, in base64."""
    signed = event_id.encode() + b"." + str(at).encode() + b"." + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def headers(
    body: bytes = BODY, event_id: str = "wh_1", at: int | str = NOW, key: bytes = KEY
) -> dict[str, str]:
    return {
        "webhook-id": event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(body, event_id, at, key),
    }


FALSE = {
    "another key": headers(key=b"wrong"),
    "another body": headers(body=BODY + b" "),
    "another id": {**headers(), "webhook-id": "wh_2"},
    "another moment": {**headers(), "webhook-timestamp": str(NOW + 1)},
    "no id": {k: v for k, v in headers().items() if k != "webhook-id"},
    "no moment": {k: v for k, v in headers().items() if k != "webhook-timestamp"},
    "no signature": {k: v for k, v in headers().items() if k != "webhook-signature"},
    "an empty id": headers(event_id=""),
    "a moment that is no number": headers(at="soon"),
    "a moment with a fraction": headers(at=f"{NOW}.5"),
    "301 s old": headers(at=NOW - 301),
    "301 s ahead": headers(at=NOW + 301),
    "a cut signature": {**headers(), "webhook-signature": signature()[:-2]},
    "another version": {**headers(), "webhook-signature": signature().replace("v1,", "v2,")},
    "half a signature": {**headers(), "webhook-signature": "v1"},
    "no base64": {**headers(), "webhook-signature": "v1,ü€\ud800"},
}


def verified(given_headers: dict[str, str], body: bytes = BODY, text: str = TEXT) -> bool:
    try:
        return Secret.of(text).verified(given_headers, body, NOW) == given_headers["webhook-id"]
    except WebhookRefused:
        return False


def test_the_example_of_the_specification_is_verified() -> None:
    """https://github.com/standard-webhooks/standard-webhooks, the vector of its libraries."""
    given_headers = {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }
    secret = Secret.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    assert secret.verified(given_headers, b'{"test": 2432232314}', 1_614_265_330)


@pytest.mark.parametrize("at", [NOW - 300, NOW, NOW + 300])
def test_what_was_signed_within_five_minutes_is_verified(at: int) -> None:
    assert verified(headers(at=at))


@pytest.mark.parametrize("name", FALSE)
def test_what_proves_nothing_is_refused(name: str) -> None:
    assert not verified(FALSE[name])


def test_one_of_several_signatures_is_enough() -> None:
    several = f"v1a,ed25519 {signature(key=b'old')} {signature()}"
    assert verified({**headers(), "webhook-signature": several})


def test_a_secret_without_prefix_is_its_characters() -> None:
    assert verified(headers(key=b"plain words"), text="plain words")


@pytest.mark.parametrize("text", ["", "  ", "whsec_", "whsec_é", "whsec_not base64!"])
def test_a_secret_that_is_none_is_told_without_showing_it(text: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_WEBHOOK_SECRET") as caught:
        Secret.of(text)
    assert "base64!" not in f"{caught.value.message} {caught.value.hint}"


def test_a_secret_does_not_show_itself() -> None:
    assert "key" not in repr(Secret.of(TEXT)).replace("Secret()", "")


@given(st.dictionaries(st.sampled_from(list(headers())), st.text()), st.binary())
def test_whatever_comes_is_refused_in_one_way(some: dict[str, str], body: bytes) -> None:
    with pytest.raises(WebhookRefused):
        Secret.of(TEXT).verified(some, body, NOW)


@given(st.binary())
def test_whatever_body_was_signed_is_verified(body: bytes) -> None:
    assert verified(headers(body), body)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"data": 1}',
        b'{"data": {}}',
        b'{"data": {"id": 7}}',
        b'{"data": {"id": ""}}',
        b'{"data": {"id": "a b"}}',
        b'{"data": {"id": "\\ud800"}}',
    ],
)
def test_an_event_without_an_id_tells_of_nothing(body: bytes) -> None:
    assert object_of(body) is None


def test_openai_s_own_library_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    openai = pytest.importorskip("openai")
    from openai.resources.webhooks import webhooks

    client = openai.OpenAI(api_key="none", webhook_secret=TEXT)
    monkeypatch.setattr(webhooks.time, "time", lambda: float(NOW))

    def theirs(given_headers: dict[str, str]) -> bool:
        try:
            event = client.webhooks.unwrap(BODY, given_headers)
        except (openai.InvalidWebhookSignatureError, ValueError, TypeError):
            return False
        return bool(event.data.id == "resp_1")

    good = {"now": headers(), "a moment ago": headers(at=NOW - 299), "spaces": headers()}
    good["spaces"]["webhook-signature"] += " v1,AAAA"
    # Theirs compares an id that is empty as well; no sender leaves it out.
    cases = {**good, **FALSE}
    assert {name: theirs(case) for name, case in cases.items() if name != "an empty id"} == {
        name: verified(case) for name, case in cases.items() if name != "an empty id"
    }


# --- over a socket ------------------------------------------------------------------------------


class At(QuickClock):
    """A moment."""

    seconds = float(NOW)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.seconds, UTC)


def receiving(test: Callable[[str, At], Any], path: Path, secret: str | None = TEXT) -> None:
    clock = At()

    async def run() -> None:
        async with received(path, clock, Secret.of(secret) if secret else None) as url:
            await test(url + WEBHOOKS, clock)

    asyncio.run(run())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "some.db"


def taken(path: Path, key: str) -> list[bytes]:
    with deliveries_in(path) as kept:
        return list(iter(lambda: kept.claim(key, NOW), None))


def test_a_verified_event_is_kept_for_whoever_waits_for_its_object(path: Path) -> None:
    async def test(url: str, _: At) -> None:
        assert await post(url, BODY, headers()) == (202, {"accepted": True})

    receiving(test, path)
    assert taken(path, "openai:resp_1") == [BODY]


@pytest.mark.parametrize("name", ["another key", "301 s old", "301 s ahead", "no id"])
def test_an_event_that_proves_nothing_is_401_and_changes_nothing(path: Path, name: str) -> None:
    async def test(url: str, _: At) -> None:
        status, said = await post(url, BODY, FALSE[name])
        assert status == 401
        assert set(said) == {"error"}
        assert (await post(url, BODY, headers()))[0] == 202, "its id is not used up"

    receiving(test, path)
    assert taken(path, "openai:resp_1") == [BODY]


def test_a_replay_is_acknowledged_so_that_it_ends_and_does_nothing(path: Path) -> None:
    """A provider sends again, for days, what is answered with anything but 2xx."""

    async def test(url: str, clock: At) -> None:
        assert (await post(url, BODY, headers()))[0] == 202
        status, said = await post(url, BODY, headers())
        assert (status, said["accepted"]) == (200, False)
        for later in (299, 3_600, 72 * 3_600):  # signed anew, as for each further try
            clock.seconds = NOW + later
            again = headers(at=int(clock.seconds))
            assert (await post(url, BODY, again))[0] == 200
        other = headers(event_id="wh_2", at=int(clock.seconds))
        assert (await post(url, BODY, other))[0] == 202

    receiving(test, path)
    assert taken(path, "openai:resp_1") == [BODY], "that of wh_2; that of wh_1 was swept"


def test_without_a_secret_there_are_no_webhooks(path: Path) -> None:
    async def test(url: str, _: At) -> None:
        assert (await post(url, BODY, headers()))[0] == 404

    receiving(test, path, None)
    assert taken(path, "openai:resp_1") == []


def test_an_event_that_tells_of_nothing_is_acknowledged_and_not_kept(path: Path) -> None:
    async def test(url: str, _: At) -> None:
        status, said = await post(url, b'{"type": "ping"}', headers(b'{"type": "ping"}'))
        assert (status, said["accepted"]) == (200, False)

    receiving(test, path)


def test_an_event_cannot_be_posted_as_a_callback_nor_a_callback_taken_for_one(path: Path) -> None:
    async def test(url: str, _: At) -> None:
        base = url.removesuffix(WEBHOOKS)
        assert (await post(f"{base}/callbacks/openai:resp_1", BODY))[0] == 404

    receiving(test, path)
    assert taken(path, "openai:resp_1") == []


# --- against the shared mock --------------------------------------------------------------------


@pytest.mark.shared
def test_what_the_mock_provider_signs_is_verified(shared: Path, tmp_path: Path) -> None:
    payload = tmp_path / "payload.json"
    payload.write_bytes(BODY)
    mock = shared / "bench" / "mock_openai.py"
    arguments = [sys.executable, mock, "--sign", payload, "--webhook-secret", TEXT]
    printed = subprocess.run(arguments, capture_output=True, text=True, check=True, timeout=60)
    pairs = [line.partition(": ") for line in printed.stdout.splitlines() if line.strip()]
    given_headers = {name.lower(): value for name, _, value in pairs}
    assert Secret.of(TEXT).verified(given_headers, BODY, time.time())
    with pytest.raises(WebhookRefused):
        Secret.of("whsec_b3RoZXI=").verified(given_headers, BODY, time.time())


@pytest.mark.shared
@pytest.mark.parametrize(
    ("fault", "statuses", "kept"),
    [
        ("none", {"webhook 202"}, 1),
        ("duplicate", {"webhook 202", "webhook 200"}, 1),
        ("bad-signature", {"webhook 401"}, 0),
        ("old", {"webhook 401"}, 0),
    ],
)
def test_the_mock_provider_s_events_are_each_kept_once_or_not_at_all(
    shared: Path, path: Path, fault: str, statuses: set[str], kept: int
) -> None:
    mock = str(shared / "bench" / "mock_openai.py")

    async def run() -> str:
        async with received(path, QuickClock(), Secret.of(TEXT)) as url:
            options = ["--port", "0", "--webhook-url", url + WEBHOOKS, "--webhook-secret", TEXT]
            options += ["--webhook-fault", fault, "--background-ms", "20"]
            process = await asyncio.create_subprocess_exec(
                sys.executable, mock, *options, stdout=asyncio.subprocess.PIPE
            )
            try:
                assert process.stdout is not None
                port = (await process.stdout.readline()).split()[-1].decode()
                return await _ended_in_background(f"http://127.0.0.1:{port}", statuses)
            finally:
                process.terminate()
                await process.communicate()

    response_id = asyncio.run(run())
    bodies = taken(path, f"openai:{response_id}")
    assert len(bodies) == kept
    assert all(b'"response.completed"' in body for body in bodies)


async def _ended_in_background(url: str, statuses: set[str]) -> str:
    """Have a response made in the background, until its webhooks were answered so; its id."""
    asked = b'{"model": "m", "input": "hello", "background": true}'
    typed = {"content-type": "application/json"}
    _, response = await post(f"{url}/v1/responses", asked, typed)
    async with asyncio.timeout(20):
        while True:
            _, stats = await post(f"{url}/__mock/stats", b"", method="GET")
            told = {name for name in json.dumps(stats).split('"') if name.startswith("webhook ")}
            if told >= statuses:
                assert told == statuses
                return str(response["id"])
            await asyncio.sleep(0.02)
