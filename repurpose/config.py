"""Settings: what flags and the environment say, checked and with defaults.

Secrets come from the environment only and never appear in a representation or a message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import platformdirs

from repurpose.errors import UsageError
from repurpose.text.language import well_formed

__all__ = ["Settings", "default_database", "from_environment"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides how a source is turned into texts, but the source itself."""

    database: Path
    engine: str | None = None
    """`openai` or `extractive`; None takes openai where a model is named, else extractive."""
    model: str | None = None
    base_url: str | None = None
    """The address of an OpenAI-compatible server; None means OpenAI's own."""
    api_key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"
    """Where the key is looked for, to be named in messages."""
    language: str | None = None
    audience: str | None = None
    tone: str | None = None
    max_attempts: int | None = None
    output_tokens: int | None = None
    timeout: float = 120.0
    """Seconds that one request may take in all."""
    temperature: float | None = None
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
        """Which engine answers: the one named, else a model where one is, else the embedded."""
        return self.engine or ("openai" if self.model else "extractive")

    def checked_for_model(self) -> Settings:
        """These settings, ready for a model call.

        Raises:
            UsageError: the model, the key or the address is missing; the hint says how to give it.
        """
        if not self.model:
            raise UsageError("no model is named", hint="give --model, such as gpt-4.1-mini")
        provider, slash, rest = self.model.partition("/")
        if slash and self.base_url is None:
            if provider != "openai":
                raise UsageError(
                    f"--model {self.model} names the provider {provider!r}, which is not built in",
                    hint="give --base-url of its OpenAI-compatible address",
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

    Reads REPURPOSE_DB, REPURPOSE_ENGINE, REPURPOSE_MODEL, REPURPOSE_BASE_URL with its
    REPURPOSE_API_KEY, and OPENAI_BASE_URL with its OPENAI_API_KEY. A key goes only to the
    address of the same family: OPENAI_API_KEY is never sent to a server named by --base-url.

    Raises:
        UsageError: a value that cannot be used.
    """
    own_url = flags.get("base_url") or environment.get("REPURPOSE_BASE_URL")
    key_variable = "REPURPOSE_API_KEY" if own_url else "OPENAI_API_KEY"
    found: dict[str, object] = {
        "database": Path(environment.get("REPURPOSE_DB") or default_database()),
        "engine": environment.get("REPURPOSE_ENGINE") or None,
        "model": environment.get("REPURPOSE_MODEL") or None,
        "base_url": own_url or environment.get("OPENAI_BASE_URL") or None,
        "api_key": environment.get(key_variable) or None,
        "key_variable": key_variable,
    }
    found.update({name: value for name, value in flags.items() if value is not None})
    return Settings(**found)  # type: ignore[arg-type]  # __post_init__ checks the values


def default_database() -> Path:
    """Where this system keeps a user's own data: `repurpose/repurpose.db` in that folder."""
    return platformdirs.user_data_path("repurpose", appauthor=False) / "repurpose.db"


def _refuse_bad_numbers(settings: Settings) -> None:
    """Raise UsageError for a number that no call could be made with."""
    if settings.timeout <= 0:
        raise UsageError(f"--timeout {settings.timeout} is not above 0 seconds")
    if settings.concurrency < 1:
        raise UsageError(f"--concurrency {settings.concurrency} is not at least 1")
    if settings.output_tokens is not None and settings.output_tokens < 1:
        raise UsageError(f"--max-output-tokens {settings.output_tokens} is not at least 1")
