"""The secrets of an endpoint: read from the environment once, and kept out of every message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from repurpose.completion._filling import REFERENCE
from repurpose.core.endpoint import Endpoint
from repurpose.errors import EngineError, UsageError

__all__ = ["Mask", "missing_variables", "secret_headers"]

_HIDDEN = "[hidden]"
_NO_WORD = 16
"""Characters of a secret that no article holds by chance."""
_TELLING = 4
"""Characters of a secret that say something about it."""


def missing_variables(endpoint: Endpoint, environment: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that headers of the endpoint name, and that are not set or blank."""
    named = (name for text in endpoint.headers.values() for name in REFERENCE.findall(text))
    return tuple(dict.fromkeys(name for name in named if not (environment.get(name) or "").strip()))


def secret_headers(
    endpoint: Endpoint, environment: Mapping[str, str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The headers that name variables, with the values of those; and these values by themselves.

    Raises:
        UsageError: a variable is not set, or holds a character that no header has.
    """
    missing = missing_variables(endpoint, environment)
    if missing:
        raise UsageError(
            f"endpoint {endpoint.name} needs {', '.join(missing)} in the environment",
            hint=f"its headers name {'it' if len(missing) == 1 else 'them'}",
        )
    headers = {}
    secrets: dict[str, None] = {}
    for header, text in endpoint.headers.items():
        for name in REFERENCE.findall(text):
            value = environment[name].strip()
            if not (value.isascii() and value.isprintable()):
                raise UsageError(f"{name} holds a character that no header has")
            secrets[value] = None
        if REFERENCE.search(text):
            headers[header] = REFERENCE.sub(lambda place: environment[place[1]].strip(), text)
    return headers, tuple(secrets)


class Mask:
    """Hides secrets in texts that somebody else may have written."""

    def __init__(self, secrets: Iterable[str]) -> None:
        spelled = {each for secret in secrets for each in (secret, quote(secret, safe=""))}
        # The longest first: what is left of one must not show where another is its beginning.
        self._hidden = sorted(filter(None, spelled), key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Mask of {len(self._hidden)}"

    def text(self, text: str) -> str:
        """The text without any of the secrets."""
        for secret in self._hidden:
            text = text.replace(secret, _HIDDEN)
        return text

    def answer(self, text: str) -> str:
        """A text for readers without secrets; a short one is left, since it may be a word of it."""
        for secret in self._hidden:
            if len(secret) >= _NO_WORD:
                text = text.replace(secret, _HIDDEN)
        return text

    def error(self, error: EngineError) -> EngineError:
        """The error itself where it holds none, else one of its kind that says the same without."""
        message = self._without_beginning(self.text(error.message))
        hint = None if error.hint is None else self.text(error.hint)
        if (message, hint) == (error.message, error.hint):
            return error
        return type(error)(message, hint=hint, status=error.status)

    def _without_beginning(self, text: str) -> str:
        """The text without the beginning of a secret at its end, where an excerpt was cut."""
        kept = text.removesuffix("…")
        for secret in self._hidden:
            for length in range(len(secret) - 1, _TELLING - 1, -1):
                if kept.endswith(secret[:length]):
                    return f"{kept[:-length]}{_HIDDEN}…"
        return text
