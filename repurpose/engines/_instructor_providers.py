"""The providers with an interface of their own, as data; looked up without loading any SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["PROVIDERS", "Dialect", "Provider", "provider_of"]

Dialect = Literal["anthropic", "google", "mistral", "cohere", "chat"]
"""How requests and replies look; `chat` is OpenAI's chat completions."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider that `instructor.from_provider` can make a client for."""

    name: str
    """As `from_provider` and the part of `--model` before the slash have it."""
    label: str
    """As messages have it."""
    dialect: Dialect
    package: str
    """The module of its SDK."""
    extra: str
    """Which of our extras installs the SDK."""
    keys: tuple[str, ...] = ()
    """Environment variables that may hold its key, the preferred one first; none: needs none."""
    profile: str = "generic"
    """For the dialect `chat`: which profile it is spoken to by."""
    shows_schema: bool = False
    """Whether the model is shown the schema by the provider, so that prompts need not hold it."""


PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider
    for provider in (
        # Both put the schema before the model themselves and count its tokens: Claude docs,
        # "Structured outputs", and Gemini API docs, "Structured output", 2026-11.
        Provider(
            "anthropic",
            "Anthropic",
            "anthropic",
            "anthropic",
            "anthropic",
            ("ANTHROPIC_API_KEY",),
            shows_schema=True,
        ),
        Provider(
            "google",
            "Google",
            "google",
            "google.genai",
            "google",
            ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
            shows_schema=True,
        ),
        Provider("mistral", "Mistral", "mistral", "mistralai", "mistral", ("MISTRAL_API_KEY",)),
        Provider("cohere", "Cohere", "cohere", "cohere", "cohere", ("CO_API_KEY",)),
        Provider("groq", "Groq", "chat", "groq", "groq", ("GROQ_API_KEY",)),
        Provider(
            "deepseek",
            "DeepSeek",
            "chat",
            "openai",
            "instructor",
            ("DEEPSEEK_API_KEY",),
            profile="deepseek",
        ),
        Provider(
            "openrouter",
            "OpenRouter",
            "chat",
            "openai",
            "instructor",
            ("OPENROUTER_API_KEY",),
            profile="openrouter",
        ),
        Provider("together", "Together AI", "chat", "openai", "instructor", ("TOGETHER_API_KEY",)),
        Provider(
            "perplexity", "Perplexity", "chat", "openai", "instructor", ("PERPLEXITY_API_KEY",)
        ),
        Provider("ollama", "Ollama", "chat", "openai", "instructor", profile="ollama"),
    )
}
"""By name. What `from_provider` offers beside these either speaks OpenAI's protocol at an address
of the user's own (Azure, Databricks, Bedrock, xAI), which `--base-url` serves, or is deprecated."""

_ALIASES = {"gemini": "google"}
"""instructor's own `gemini` needs a library that Google has given up."""


def provider_of(model: str) -> tuple[Provider, str] | None:
    """The provider that a model's name begins with, and the rest of the name; None for any other.

    >>> provider, name = provider_of("openrouter/mistralai/mistral-small")
    >>> (provider.label, name)
    ('OpenRouter', 'mistralai/mistral-small')
    >>> provider_of("gpt-4.1-mini") is None
    True
    """
    name, _, rest = model.partition("/")
    provider = PROVIDERS.get(_ALIASES.get(name, name))
    return (provider, rest) if provider is not None and rest else None
