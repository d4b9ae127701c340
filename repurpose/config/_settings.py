"""Everything that decides how sources are turned into texts, as one checked value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from repurpose.config._keys import BACKGROUNDS
from repurpose.core.policy import OnFailure, RetryPolicy
from repurpose.core.profile import CACHE_WISHES, CacheWish
from repurpose.core.voice import Voice
from repurpose.engines._instructor_providers import PROVIDERS, provider_of
from repurpose.errors import UsageError
from repurpose.text.language import well_formed

if TYPE_CHECKING:  # the table of prices is read only where a user has own ones
    from repurpose.prices import Price

__all__ = ["ENDPOINT", "LOCAL", "REQUEST_SECONDS", "Settings", "default_database"]

ENDPOINT = "endpoint:"
"""How an engine begins that is an endpoint of the user's own; its name follows."""
LOCAL = "local:"
"""How a model begins that is a file on this machine; its path follows."""
REQUEST_SECONDS = 120.0
"""What a server has for one request where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that decides how a source is turned into texts, but the source itself."""

    database: Path
    engine: str | None = None
    """`openai`, `responses`, `instructor`, `local`, `extractive` or `endpoint:NAME`, for which the
    model does not count; None goes by the model and the address."""
    model: str | None = None
    base_url: str | None = None
    """The address of an OpenAI-compatible server; None means OpenAI's own."""
    profile: str | None = None
    """How an OpenAI-compatible server is spoken to, `NAME` or `NAME:KIND`; None goes by the
    address."""
    api_key: str | None = field(default=None, repr=False)
    key_variable: str = "OPENAI_API_KEY"
    """Where the key is looked for, to be named in messages."""
    background: str = "poll"
    """How the engine `responses` finds out that a response has ended: it asks each second, or is
    told by a webhook."""
    language: str | None = None
    audience: str | None = None
    """Who reads it; the voice's, where nobody says otherwise."""
    tone: str | None = None
    voice: Voice | None = None
    """Whose words are banned, names spelled, disclaimer appended and samples shown."""
    max_attempts: int | None = None
    """What a flag says; over the formats' own policies and over `retry`."""
    retry: RetryPolicy = field(default=RetryPolicy())
    """What file and environment say, over our defaults; a format's own settings are over it."""
    on_failure: OnFailure = "skip"
    """What becomes of the other formats of a source where one fails."""
    output_tokens: int | None = None
    timeout: float = REQUEST_SECONDS
    """Seconds that one request may take in all."""
    temperature: float | None = None
    context_tokens: int | None = None
    """How many tokens the model takes, prompt and reply together; None goes by what is known. A
    model in this process is loaded with it."""
    no_brief: bool = False
    """Whether a source that does not fit is refused, and not read in parts."""
    cache: CacheWish = "auto"
    """Whether calls for one source begin alike, for a server's cache: where that is known to help,
    `off` never, `on` also where nothing is known of the server."""
    concurrency: int = 4
    segmenter: str = "sentencex"
    platforms: tuple[str, ...] = ()
    """Where social posts are for, each perhaps with an option or a limit: `x=premium`; empty means
    LinkedIn, X and Instagram."""
    thread: bool = False
    """Whether platforms that have threads get one."""
    variants: int = 1
    """How many posts each platform gets to choose from."""
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Rules of platforms that are not those of the table: `{"mastodon": {"limit": 1000}}`."""
    formats: tuple[str, ...] | None = None
    """Which formats are made, by name; None means all built-in ones."""
    formats_dir: Path | None = None
    """A folder of the user's own formats."""
    declared: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """Formats that the settings file declares: its tables `[formats.NAME]`, as they stand."""
    folder: Path | None = None
    """The settings file's folder, from which paths in `declared` are seen."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """The user's own prices, by model."""
    endpoints: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """The tables `[endpoints.NAME]`, as they stand."""
    callback_base_url: str | None = None
    """Where others reach `repurpose serve-callbacks`; None where nobody does."""
    composites: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    """The tables `[composites.NAME]`, as they stand."""
    follow: bool = False
    """Whether what a feed in a file points to is fetched."""
    entries: int | None = None
    """The most entries of a feed or sitemap."""
    allow_private: bool = False
    """Whether private addresses may be fetched from."""
    proxy: str | None = field(default=None, repr=False)
    """Pages are fetched through it; it may hold a password."""
    max_cost: float | None = None
    """The most US dollars that one command may spend."""
    max_calls: int | None = None
    max_tokens: int | None = None
    """The most tokens of one command, prompts and replies together."""
    rpm: float | None = None
    """The most requests a minute; None goes by what the server says."""
    tpm: float | None = None
    """The most tokens a minute; likewise."""

    def __post_init__(self) -> None:
        _refuse_bad_numbers(self)
        if self.background not in BACKGROUNDS:
            raise UsageError(f"--background is poll or webhook, not {self.background[:40]!r}")
        if self.cache not in CACHE_WISHES:
            raise UsageError(f"--cache is auto, off or on, not {self.cache[:40]!r}")
        if self.language is not None and not well_formed(self.language):
            raise UsageError(
                f"--language {self.language!r} is no language code",
                hint="give a code such as de, pt-BR or zh-Hans",
            )

    @property
    def is_capped(self) -> bool:
        """Whether anything bounds what a command may spend in all."""
        return (self.max_cost, self.max_calls, self.max_tokens) != (None, None, None)

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
    _refuse_bad_limits(settings)


def _refuse_bad_limits(settings: Settings) -> None:
    """Raise UsageError for a limit within which nothing could be done."""
    for flag in ("max_cost", "rpm", "tpm"):
        number: float | None = getattr(settings, flag)
        if number is not None and not 0 < number < math.inf:
            raise UsageError(f"--{flag.replace('_', '-')} {number} is no number above 0")
    for flag in ("max_calls", "max_tokens"):
        count: int | None = getattr(settings, flag)
        if count is not None and count < 1:
            raise UsageError(f"--{flag.replace('_', '-')} {count} is not at least 1")
