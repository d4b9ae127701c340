"""How settings choose the engine `responses`, and what they are refused for before any request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from repurpose.api import adapters
from repurpose.api._asked_again import engine_again
from repurpose.api.adapters import engine_for
from repurpose.api.doctoring import examined
from repurpose.cli import main
from repurpose.config import Settings, from_environment
from repurpose.core.record import Run
from repurpose.core.table import member
from repurpose.errors import UsageError
from repurpose.receiving.stored import StoredRendezvous

URL = "http://127.0.0.1:9"
SECRET = "whsec_c2VjcmV0"


def chosen(tmp_path: Path, **changes: Any) -> Settings:
    fields = {"model": "small", "base_url": URL, "engine": "responses", **changes}
    return Settings(database=tmp_path / "texts.db", **fields)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the engine is made of."""
    given: dict[str, Any] = {}

    def factory(**options: Any) -> None:
        given.update(options)

    def named(where: str) -> Any:
        return factory if "engines" in where else member(where)

    monkeypatch.setattr(adapters, "member", named)
    return given


def test_it_is_asked_for_by_name_and_polls_unless_told_otherwise(tmp_path: Path) -> None:
    engine = engine_for(chosen(tmp_path))
    assert (engine.name, engine.model) == ("responses", "small")
    assert from_environment({}).background == "poll"
    assert from_environment({"REPURPOSE_BACKGROUND": "webhook"}).background == "webhook"


@pytest.mark.parametrize(("set_to", "given"), [(120.0, None), (900.0, 900.0)])
def test_it_has_longer_than_a_request_unless_a_timeout_is_set(
    tmp_path: Path, made: dict[str, Any], set_to: float, given: float | None
) -> None:
    engine_for(chosen(tmp_path, timeout=set_to))
    assert made.get("timeout") == given
    assert made["rendezvous"] is None


def test_webhooks_are_met_in_the_store(
    tmp_path: Path, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", SECRET)
    engine_for(chosen(tmp_path, background="webhook", callback_base_url="https://example.org/in"))
    assert isinstance(made["rendezvous"], StoredRendezvous)


@pytest.mark.parametrize(
    ("address", "secret", "missing"),
    [
        (None, None, "callback_base_url and OPENAI_WEBHOOK_SECRET"),
        (None, SECRET, "callback_base_url"),
        ("https://example.org/in", None, "OPENAI_WEBHOOK_SECRET"),
        ("https://example.org/in", " ", "OPENAI_WEBHOOK_SECRET"),
    ],
)
def test_a_webhook_that_nobody_could_take_is_refused_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str | None,
    secret: str | None,
    missing: str,
) -> None:
    if secret is not None:
        monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", secret)
    settings = chosen(tmp_path, background="webhook", callback_base_url=address)
    with pytest.raises(UsageError) as raised:
        engine_for(settings)
    assert raised.value.message == f"--background webhook needs {missing}"
    assert "serve-callbacks" in (raised.value.hint or "")


def test_the_command_refuses_it_before_any_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "article.md").write_text("# Kestrels\n\nThey hover.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = "run article.md --engine responses --background webhook --model m --base-url"
    monkeypatch.setattr("sys.argv", ["repurpose", *arguments.split(), URL, "--db", "texts.db"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()
    missing = "callback_base_url and OPENAI_WEBHOOK_SECRET"
    assert f"Error: --background webhook needs {missing}" in said


def test_a_background_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="poll or webhook"):
        chosen(tmp_path, background="carrier pigeon")


def test_a_key_is_needed_where_no_server_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="needs a key"):
        engine_for(chosen(tmp_path, base_url=None))


@pytest.mark.parametrize(
    ("background", "state", "says"),
    [("poll", "note", "in the background, by poll"), ("webhook", "fault", "needs callback_base")],
)
def test_doctor_says_whether_a_run_could_begin(
    tmp_path: Path, background: str, state: str, says: str
) -> None:
    found = {each.name: each for each in examined(chosen(tmp_path, background=background))}
    assert found["model"].state == state
    assert says in found["model"].found


def test_a_run_that_was_made_in_the_background_is_made_again_there(tmp_path: Path) -> None:
    run = Run("r1", "s1", ("summary",), "responses", "small", "2026-01-01T00:00:00Z")
    engine = engine_again(chosen(tmp_path, engine=None, model=None), run)
    assert (engine.name, engine.model) == ("responses", "small")


def test_the_page_is_not_opened_for_webhooks_that_nobody_could_take(tmp_path: Path) -> None:
    serving = pytest.importorskip("repurpose.web.serving")
    options = {"host": "127.0.0.1", "port": 0, "token": None, "author": None, "tell": print}
    with pytest.raises(UsageError, match="--background webhook needs"):
        serving.serve(chosen(tmp_path, background="webhook"), **options)
