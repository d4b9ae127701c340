"""Settings: what flags and the environment say, checked and with defaults.

Secrets come from the environment only and never appear in a representation or a message.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from repurpose.engines._instructor_providers import PROVIDERS, provider_of
from repurpose.errors import UsageError
from repurpose.text.language import well_formed

__all__ = ["LOCAL", "REQUEST_SECONDS", "Settings", "default_database", "from_environment"]

LOCAL = "local:"
"""How a model begins that is a file on this machine; its path follows."""
REQUEST_SECONDS = 120.0
"""What a server has for one request where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides how a source is turned into texts, but the source itself."""

    database: Path
    engine: str | None = None
    """`openai`, `instructor`, `local` or `extractive`; None goes by the model and the address."""
    model: str | None = None
    base_url: str | None = None
    """The address of an OpenAI-compatible server; None means OpenAI's own."""
    profile: str | None = None
    """How an OpenAI-compatible server is spoken to, `NAME` or `NAME:KIND`; None goes by the
    address."""
    api_key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"
    """Where the key is looked for, to be named in messages."""
    language: str | None = None
    audience: str | None = None
    tone: str | None = None
    max_attempts: int | None = None
    output_tokens: int | None = None
    timeout: float = REQUEST_SECONDS
    """Seconds that one request may take in all."""
    temperature: float | None = None
    context_tokens: int | None = None
    """The context that a model in this process is loaded with; None leaves it to the engine."""
    concurrency: int = 4
    segmenter: str = "sentencex"

    def __post_init__(self) -> None:
        _refuse_bad_numbers(self)
        if self.language is not None and not well_formed(self.language):
            raise UsageError(
                f"--language {self.language!r} is no language code",
                hint="give a code such as de, pt-BR or zh-Hans",
            )

    @property
    def chosen_engine(self) -> str:
        """Which engine answers: the one named, else what the model's name calls for.

        Without a model, the embedded one. A file on this machine is never asked of a server,
        whatever address is set; its source is to stay here. A provider's own interface is used
        where no address is set: with one, the name before the slash is the server's business.
        """
        if self.engine or not self.model:
            return self.engine or "extractive"
        if self.model.startswith(LOCAL):
            return "local"
        return "instructor" if self.base_url is None and provider_of(self.model) else "openai"

    @property
    def named_model(self) -> str:
        """The model.

        Raises:
            UsageError: there is none.
        """
        if not self.model:
            raise UsageError("no model is named", hint="give --model, such as gpt-4.1-mini")
        return self.model

    def checked_for_model(self) -> Settings:
        """These settings, ready for a model call.

        Raises:
            UsageError: the model, the key or the address is missing; the hint says how to give it.
        """
        provider, slash, rest = self.named_model.partition("/")
        if slash and self.base_url is None:
            if provider != "openai":
                raise UsageError(
                    f"--model {self.model} names the provider {provider!r}, which is not built in",
                    hint="give --base-url of its OpenAI-compatible address; built in are"
                    f" {', '.join(PROVIDERS)}",
                )
            return replace(self, model=rest).checked_for_model()
        if not self.api_key and self.base_url is None:
            raise UsageError(
                f"--model {self.model} needs a key",
                hint="set OPENAI_API_KEY, or give --base-url of a server that needs none",
            )
        return self


def from_environment(environment: Mapping[str, str], **flags: object) -> Settings:
    """Settings from the environment, with every flag that is not None over it.

    Reads REPURPOSE_DB, REPURPOSE_ENGINE, REPURPOSE_MODEL, REPURPOSE_PROFILE, REPURPOSE_BASE_URL
    with its REPURPOSE_API_KEY, OPENAI_BASE_URL with its OPENAI_API_KEY, and for a model of another
    provider that provider's own variable. A key goes only to the address of the same family:
    OPENAI_API_KEY is never sent to a server named by --base-url, nor to another provider.

    Raises:
        UsageError: a value that cannot be used.
    """
    own_url = flags.get("base_url") or environment.get("REPURPOSE_BASE_URL")
    url = own_url or environment.get("OPENAI_BASE_URL") or None
    model = flags.get("model") or environment.get("REPURPOSE_MODEL") or None
    variables = ("REPURPOSE_API_KEY",) if own_url else _key_variables(model, url)
    key_variable = next((name for name in variables if environment.get(name)), variables[0])
    found: dict[str, object] = {
        "database": Path(environment.get("REPURPOSE_DB") or default_database()),
        "engine": environment.get("REPURPOSE_ENGINE") or None,
        "model": model,
        "profile": environment.get("REPURPOSE_PROFILE") or None,
        "base_url": url,
        "api_key": environment.get(key_variable) or None,
        "key_variable": key_variable,
    }
    found.update({name: value for name, value in flags.items() if value is not None})
    return Settings(**found)  # type: ignore[arg-type]  # __post_init__ checks the values


def _key_variables(model: object, url: object) -> tuple[str, ...]:
    """Where the key may stand; OPENAI_API_KEY unless the model is another provider's."""
    named = provider_of(model) if isinstance(model, str) and not url else None
    return named[0].keys or ("REPURPOSE_API_KEY",) if named else ("OPENAI_API_KEY",)


def default_database() -> Path:
    """Where this system keeps a user's own data: `repurpose/repurpose.db` in that folder."""
    return platformdirs.user_data_path("repurpose", appauthor=False) / "repurpose.db"


def _refuse_bad_numbers(settings: Settings) -> None:
    """Raise UsageError for a number that no call could be made with."""
    if not 0 < settings.timeout < math.inf:
        raise UsageError(f"--timeout {settings.timeout} is no number of seconds above 0")
    if settings.temperature is not None and not 0 <= settings.temperature < math.inf:
        raise UsageError(f"--temperature {settings.temperature} is no number from 0 up")
    if settings.concurrency < 1:
        raise UsageError(f"--concurrency {settings.concurrency} is not at least 1")
    if settings.context_tokens is not None and settings.context_tokens < 1:
        raise UsageError(f"--context-tokens {settings.context_tokens} is not at least 1")
    if settings.output_tokens is not None and settings.output_tokens < 1:
        raise UsageError(f"--max-output-tokens {settings.output_tokens} is not at least 1")
