"""The clients that instructor makes, one for each event loop, without retries and redirects.

`from_provider` takes neither for most providers, so both are set on the SDK's client afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, TypeAlias

from repurpose.engines._instructor_providers import Dialect, Provider
from repurpose.engines._per_loop import quieten
from repurpose.errors import UsageError

__all__ = ["close_client", "made_client", "require_sdk"]

Client: TypeAlias = Any
"""instructor's `AsyncInstructor`; its `client` is the SDK's."""

_LOGGERS = (
    "instructor",
    "anthropic",
    "cohere",
    "google_genai",
    "groq",
    "httpx",
    "httpx2",
    "mistralai",
    "openai",
)


def require_sdk(provider: Provider) -> None:
    """Do nothing where instructor and the provider's SDK are installed; neither is imported.

    Raises:
        UsageError: one is missing; the hint names the extra that brings both.
    """
    for package in ("instructor", provider.package):
        if not _installed(package):
            raise UsageError(
                f"--model {provider.name}/... needs the package {package.partition('.')[0]}",
                hint=f"pip install 'repurpose-text[{provider.extra}]'",
            )


def made_client(
    provider: Provider, model: str, *, api_key: str | None, base_url: str | None
) -> Client:
    """A fresh client for `model`, at the provider's own address or at `base_url`."""
    quieten(*_LOGGERS)
    options: dict[str, object] = {}
    if provider.dialect == "google":
        # Without `attempts` its client sends again after a lost connection, seconds later, and
        # says so to nobody. The last item is aiohttp's and keeps a key from following a redirect.
        options["http_options"] = {
            "retry_options": {"attempts": 1},
            "async_client_args": {"allow_redirects": False},
            **({"base_url": base_url} if base_url else {}),
        }
    client = import_module("instructor").from_provider(
        f"{provider.name}/{model}", async_client=True, api_key=api_key or "none", **options
    )
    _SETTLERS[provider.dialect](client.client, base_url)
    return client


async def close_client(provider: Provider, client: Client) -> None:
    """Close the SDK's connections."""
    await _CLOSERS[provider.dialect](client.client)


# --- what differs between the SDKs --------------------------------------------------------------


def _settle_stainless(sdk: Any, base_url: str | None) -> None:  # noqa: ANN401 - any SDK's client
    """For the SDKs that are generated like OpenAI's: anthropic, openai, groq."""
    sdk.max_retries = 0
    sdk.timeout = None  # each request is bounded by ours
    for name in ("organization", "project"):  # the environment may name the user's at OpenAI
        if hasattr(sdk, name):
            setattr(sdk, name, None)
    if base_url:
        sdk.base_url = base_url
    _refuse_redirects(sdk, "_client")


def _settle_mistral(sdk: Any, base_url: str | None) -> None:  # noqa: ANN401 - any SDK's client
    """It retries nothing by itself."""
    if base_url:
        sdk.sdk_configuration.server_url = base_url
    _refuse_redirects(sdk, "sdk_configuration.async_client")


def _settle_cohere(sdk: Any, base_url: str | None) -> None:  # noqa: ANN401 - any SDK's client
    """Its retries are turned off with each request."""
    if base_url:
        attrgetter("_client_wrapper")(sdk)._base_url = base_url  # noqa: SLF001 - has no other door
    _refuse_redirects(sdk, "_client_wrapper.httpx_client.httpx_client")


def _settle_google(sdk: Any, base_url: str | None) -> None:  # noqa: ANN401 - any SDK's client
    """Everything was said when it was made."""


def _refuse_redirects(sdk: Any, where: str) -> None:  # noqa: ANN401 - any SDK's client
    """Keep a prompt, and a key in a header of the provider's own, from another host."""
    attrgetter(where)(sdk).follow_redirects = False


_SETTLERS: Mapping[Dialect, Callable[[Any, str | None], None]] = {
    "anthropic": _settle_stainless,
    "google": _settle_google,
    "mistral": _settle_mistral,
    "cohere": _settle_cohere,
    "chat": _settle_stainless,
}


async def _close_stainless(sdk: Any) -> None:  # noqa: ANN401 - any SDK's client
    await sdk.close()


async def _close_google(sdk: Any) -> None:  # noqa: ANN401 - any SDK's client
    await sdk.aio.aclose()
    sdk.close()


async def _close_mistral(sdk: Any) -> None:  # noqa: ANN401 - any SDK's client
    await sdk.sdk_configuration.async_client.aclose()
    sdk.sdk_configuration.client.close()


async def _close_cohere(sdk: Any) -> None:  # noqa: ANN401 - any SDK's client
    await attrgetter("_client_wrapper.httpx_client.httpx_client")(sdk).aclose()


_CLOSERS: Mapping[Dialect, Callable[[Any], Awaitable[None]]] = {
    "anthropic": _close_stainless,
    "google": _close_google,
    "mistral": _close_mistral,
    "cohere": _close_cohere,
    "chat": _close_stainless,
}


def _installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # of a parent, such as `google`
        return False
