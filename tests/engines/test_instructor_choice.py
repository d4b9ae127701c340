"""Which engine a model's name calls for, and whose key goes with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from repurpose.api.adapters import engine_for
from repurpose.config import Settings, from_environment
from repurpose.engines._instructor_providers import PROVIDERS, provider_of
from repurpose.errors import UsageError

KEYS = {
    "OPENAI_API_KEY": "of-openai",
    "REPURPOSE_API_KEY": "of-base-url",
    "ANTHROPIC_API_KEY": "of-anthropic",
    "GEMINI_API_KEY": "of-google",
    "MISTRAL_API_KEY": "of-mistral",
}
SERVER = "http://localhost:8080/v1"


@pytest.mark.parametrize(
    ("model", "base_url", "engine"),
    [
        (None, None, "extractive"),
        ("gpt-4.1-mini", None, "openai"),
        ("openai/gpt-4.1-mini", None, "openai"),
        ("anthropic/claude-haiku-4-5", None, "instructor"),
        ("gemini/gemini-3.7-flash", None, "instructor"),
        ("openrouter/mistralai/mistral-small", None, "instructor"),
        ("unheard/of", None, "openai"),
        # with an address, the name is whatever that server calls its models
        ("anthropic/claude-haiku-4-5", SERVER, "openai"),
        ("gpt-4.1-mini", SERVER, "openai"),
        # a file stays on this machine, whatever is set
        ("local:model.gguf", None, "local"),
        ("local:model.gguf", SERVER, "local"),
    ],
)
def test_the_models_name_and_the_address_choose_the_engine(
    model: str | None, base_url: str | None, engine: str
) -> None:
    chosen = Settings(database=Path("unused"), model=model, base_url=base_url)
    assert chosen.chosen_engine == engine


@pytest.mark.parametrize(
    ("flags", "environment", "key"),
    [
        ({"model": "gpt-4.1-mini"}, {}, "of-openai"),
        ({"model": "anthropic/claude"}, {}, "of-anthropic"),
        ({"model": "google/gemini"}, {}, "of-google"),
        ({"model": "google/gemini"}, {"GOOGLE_API_KEY": "preferred"}, "preferred"),
        ({}, {"REPURPOSE_MODEL": "mistral/small"}, "of-mistral"),
        ({"model": "cohere/command"}, {}, None),
        ({"model": "anthropic/claude", "base_url": SERVER}, {}, "of-base-url"),
        ({"model": "anthropic/claude"}, {"OPENAI_BASE_URL": SERVER}, "of-openai"),
    ],
)
def test_a_key_goes_only_to_whom_it_belongs(
    flags: dict[str, str], environment: dict[str, str], key: str | None
) -> None:
    assert from_environment({**KEYS, **environment}, **flags).api_key == key


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_is_one_that_instructor_knows(name: str) -> None:
    client = pytest.importorskip("instructor.auto_client", reason="instructor is not installed")
    assert name in client.supported_providers
    found = provider_of(f"{name}/some/model")
    assert found == (PROVIDERS[name], "some/model")


def test_each_provider_has_an_extra_that_brings_its_package(root: Path) -> None:
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    for provider in PROVIDERS.values():
        named = " ".join(extras[provider.extra])
        assert "instructor" in named
        if provider.package != "openai":  # which instructor brings itself
            assert provider.package.replace(".", "-") in named


def test_the_engine_that_answers_is_the_one_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("repurpose.engines._instructor_clients.find_spec", lambda name: object())
    settings = from_environment(KEYS, model="anthropic/claude-haiku-4-5", temperature=0.5)
    engine = engine_for(settings)
    assert (engine.name, engine.model) == ("instructor", "anthropic/claude-haiku-4-5")
    assert engine.parameters == {"temperature": 0.5}
    assert "of-anthropic" not in repr(engine)


@pytest.mark.parametrize(
    ("model", "message", "hint"),
    [
        (
            "cohere/command",
            "--model cohere/command needs a key",
            "set CO_API_KEY",
        ),
        (
            "unheard/of",
            "--model unheard/of names the provider 'unheard', which is not built in",
            "give --base-url of its OpenAI-compatible address; built in are",
        ),
    ],
)
def test_what_is_missing_is_named(
    model: str, message: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repurpose.engines._instructor_clients.find_spec", lambda name: object())
    with pytest.raises(UsageError) as refused:
        engine_for(from_environment(KEYS, model=model))
    assert refused.value.message == message
    assert (refused.value.hint or "").startswith(hint)


@pytest.mark.parametrize("name", ["openai", "instructor", "local"])
def test_an_engine_without_a_model_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no model is named"):
        engine_for(Settings(database=Path("unused"), engine=name))


@pytest.mark.parametrize(("timeout", "passed"), [(None, {}), (30.0, {"timeout": 30.0})])
def test_a_local_model_is_given_its_path_and_a_timeout_only_where_one_was_set(
    timeout: float | None, passed: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def made(**options: Any) -> str:
        given.update(options)
        return "engine"

    factory: Callable[[str], Any] = lambda where: made  # noqa: E731
    monkeypatch.setattr("repurpose.api.adapters.member", factory)
    engine_for(from_environment({}, model="local:some folder/model.gguf", timeout=timeout))
    del given["clock"]
    assert given == {"path": "some folder/model.gguf", "temperature": None, **passed}
