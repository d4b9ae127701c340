"""Who is let in, and with which headers every answer leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from repurpose.fetching.addresses import is_loopback
from repurpose.web.security import HEADERS, Gate, Hosts

OWN = {"Origin": "http://127.0.0.1:8400", "Sec-Fetch-Site": "same-origin"}
TOKEN = "a-token-of-some-length"
COUNT = {"platform": "x", "text": "Two words"}


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8400", "localhost:8400", "[::1]:8400", "LOCALHOST:8400"]
)
def test_the_server_answers_under_its_own_names(standing: Any, host: str) -> None:
    assert standing.client.get("/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8400",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost",
        "127.0.0.1:8400.evil.example",
        "localhost:8400@evil.example",
        "192.168.1.4:8400",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/session", "/static/base.css", "/nowhere"])
def test_a_name_that_a_name_server_was_made_to_lie_about_is_refused(
    standing: Any, host: str, path: str
) -> None:
    answer = standing.client.get(path, headers={"Host": host})
    assert answer.status_code == 403
    assert standing.csrf not in answer.text


def test_two_hosts_are_none() -> None:
    gate = Gate(None, Hosts("127.0.0.1", 8400), "c")  # type: ignore[arg-type]  # it is not reached
    both = [(b"host", b"localhost:8400"), (b"host", b"evil.example")]
    scope = {"type": "http", "path": "/", "method": "GET", "query_string": b"", "headers": both}
    assert gate._answer(scope).status_code == 403  # type: ignore[union-attr]


def test_further_names_can_be_allowed() -> None:
    hosts = Hosts("127.0.0.1", 8400, ("tool.example.org",))
    assert hosts.allow("tool.example.org")
    assert hosts.allow("tool.example.org:8400")
    assert not hosts.allow("tool.example.org:9000")
    assert not hosts.allow("other.example.org")


def test_on_every_address_numbers_are_names_and_words_are_not() -> None:
    hosts = Hosts("0.0.0.0", 8400)
    assert hosts.allow("192.168.1.4:8400")
    assert hosts.allow("[fe80::1]:8400")
    assert not hosts.allow("192.168.1.4:80")
    assert not hosts.allow("evil.example:8400")


def test_port_80_is_not_told_by_browsers() -> None:
    assert Hosts("127.0.0.1", 80).allow("127.0.0.1")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:8401"},
        {"Origin": "http://127.0.0.1:8400.evil.example"},
        {"Origin": "http://[", "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {**OWN, "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_changes_nothing_even_with_the_secret(
    standing: Any, headers: dict[str, str]
) -> None:
    answer = standing.client.post(
        "/api/count", json=COUNT, headers={**headers, "X-CSRF-Token": standing.csrf}
    )
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "origin")


@pytest.mark.parametrize("shown", [None, "", "wrong", "é"])
def test_our_own_page_shows_its_secret(standing: Any, shown: str | None) -> None:
    secret = {} if shown is None else {"X-CSRF-Token": shown.encode()}
    answer = standing.client.post("/api/count", json=COUNT, headers={**OWN, **secret})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "csrf")


def test_the_page_and_a_program_without_an_origin_are_let_in_with_the_secret(standing: Any) -> None:
    for headers in (OWN, {}):
        secret = {"X-CSRF-Token": standing.csrf}
        answer = standing.client.post("/api/count", json=COUNT, headers={**headers, **secret})
        assert answer.status_code == 200


def test_another_sites_page_may_link_to_a_page_but_not_embed_or_read_anything(
    standing: Any,
) -> None:
    visit = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    embed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert standing.client.get("/runs", headers=visit).status_code == 200
    assert standing.client.get("/runs", headers=embed).status_code == 403
    assert standing.client.get("/api/session", headers=embed).status_code == 403


def test_a_form_of_another_site_cannot_post_json(standing: Any) -> None:
    answer = standing.client.post(
        "/api/count",
        content=b'{"platform": "x", "text": "a"}',
        headers={"Content-Type": "text/plain", "X-CSRF-Token": standing.csrf},
    )
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/runs", {}),
        ("/runs/nowhere", {}),
        ("/nowhere", {}),
        ("/static/base.css", {}),
        ("/static/nothing.css", {}),
        ("/api/choices", {}),
        ("/api/nothing", {}),
        ("/api/count", {}),
        ("/", {"Host": "evil.example"}),
    ],
)
def test_every_answer_keeps_foreign_scripts_out(
    standing: Any, path: str, headers: dict[str, str]
) -> None:
    answer = standing.client.get(path, headers=headers)
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "access-control-allow-origin" not in answer.headers
    assert answer.headers["cache-control"] in ("no-store", "no-cache")
    assert "server" not in answer.headers


def test_the_policy_allows_no_inline_script_and_no_other_origin() -> None:
    policy = HEADERS["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "require-trusted-types-for 'script'" in policy
    assert "frame-ancestors 'none'" in policy


# --- with a token -------------------------------------------------------------------------------


@pytest.fixture
def guarded(opened: Callable[..., Any], golden_engine: Any) -> Any:
    return opened(engine=golden_engine, token=TOKEN)


@pytest.mark.parametrize("path", ["/", "/runs", "/static/base.css", "/api/session", "/?token=no"])
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"repurpose_8400={TOKEN}"},
        {"Cookie": "repurpose_8400="},
        {"Cookie": f"token={TOKEN}"},
    ],
)
def test_nobody_gets_anything_without_the_token(
    guarded: Any, path: str, headers: dict[str, str]
) -> None:
    answer = guarded.get(path, headers=headers)
    assert answer.status_code == 401
    assert len(answer.text) < 500


def test_a_program_needs_the_token_and_nothing_else(guarded: Any) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/api/choices", headers=bearer).status_code == 200
    assert guarded.post("/api/count", json=COUNT, headers=bearer).status_code == 200


def test_a_program_with_the_token_still_names_the_right_host(guarded: Any) -> None:
    bearer = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
    assert guarded.get("/api/choices", headers=bearer).status_code == 403


def test_the_first_visit_brings_a_cookie_in_place_of_the_token(guarded: Any) -> None:
    entry = guarded.get(f"/?token={TOKEN}")
    assert (entry.status_code, entry.headers["location"]) == (303, "/")
    cookie = entry.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.casefold()
    assert TOKEN not in cookie
    assert guarded.get("/").status_code == 200
    csrf = guarded.get("/api/session").json()["csrf"]
    assert guarded.post("/api/count", json=COUNT).status_code == 403
    secret = {"X-CSRF-Token": csrf}
    assert guarded.post("/api/count", json=COUNT, headers=secret).status_code == 200
    foreign = {**secret, "Origin": "http://evil.example"}
    assert guarded.post("/api/count", json=COUNT, headers=foreign).status_code == 403


def test_the_token_in_another_address_is_not_looked_at(guarded: Any) -> None:
    assert guarded.get(f"/runs?token={TOKEN}").status_code == 401
    assert guarded.post(f"/?token={TOKEN}").status_code == 401


def test_without_a_token_a_bearer_is_no_way_around_the_secret(standing: Any) -> None:
    for token in ("", "None", "anything"):
        bearer = {"Authorization": f"Bearer {token}"}
        assert standing.client.post("/api/count", json=COUNT, headers=bearer).status_code == 403


def test_each_process_has_its_own_secret(opened: Callable[..., Any]) -> None:
    assert opened().csrf != opened().csrf


def test_loopback_is_all_of_127() -> None:
    assert is_loopback("127.3.2.1")
    assert not is_loopback("example.org")
