"""The secrets of an endpoint: read from the environment once, and kept out of every message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from repurpose.core.declared import REFERENCE, WHOLE_REFERENCE
from repurpose.core.endpoint import Endpoint, Poll, Trace
from repurpose.core.json_types import JsonValue
from repurpose.errors import EngineError, UsageError

__all__ = ["Mask", "Ready", "ready"]


_HIDDEN = "[hidden]"
_NO_WORD = 16
"""Characters of a secret that no article holds by chance."""
_TELLING = 4
"""Characters of a secret that say something about it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """An endpoint as it is asked, with its secrets in place; none of it is for anybody's eyes."""

    endpoint: Endpoint = field(repr=False)
    """With the secrets of its bodies and keys."""
    headers: Mapping[str, str] = field(repr=False)
    """Those that hold a secret."""
    secrets: tuple[str, ...] = field(repr=False)


def ready(endpoint: Endpoint, environment: Mapping[str, str]) -> Ready:
    """The endpoint with every reference to the environment replaced by what stands there.

    A header may hold one anywhere; in a body and in keys, it is the whole text, perhaps behind a
    scheme: `env:NAME`, `Bearer env:NAME`.

    Raises:
        UsageError: a variable is not set, or holds a character that no header has.
    """
    reading = _Reading(environment)
    headers = {
        name: reading.header(text)
        for name, text in endpoint.headers.items()
        if REFERENCE.search(text)
    }
    mode = endpoint.completion
    if isinstance(mode, Poll):
        mode = replace(mode, status_body=reading.body(mode.status_body))
    if isinstance(mode, Trace):
        mode = replace(mode, source=reading.source(mode.source))
    keys = {name: str(reading.body(text)) for name, text in endpoint.keys.items()}
    filled = replace(endpoint, body=reading.body(endpoint.body), keys=keys, completion=mode)
    if reading.missing:
        names = tuple(dict.fromkeys(reading.missing))
        raise UsageError(
            f"endpoint {endpoint.name} needs {', '.join(names)} in the environment",
            hint=f"its table names {'it' if len(names) == 1 else 'them'}",
        )
    return Ready(filled, headers, tuple(dict.fromkeys(reading.secrets)))


class _Reading:
    """Puts in what the environment has, and notes it."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.missing: list[str] = []
        self.secrets: list[str] = []

    def header(self, text: str) -> str:
        """A header with its references replaced."""
        for name in REFERENCE.findall(text):
            value = self._secret(name)
            if not (value.isascii() and value.isprintable()):
                raise UsageError(f"{name} holds a character that no header has")
        return REFERENCE.sub(lambda place: self._secret(place[1]), text)

    def source(self, table: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The table of a trace source, with its headers as they are sent."""
        found = dict(table)
        given = found.get("header")
        if isinstance(given, Mapping):
            found["header"] = {
                name: self.header(text) if isinstance(text, str) else text
                for name, text in given.items()
            }
        return found

    def body(self, template: JsonValue) -> JsonValue:
        """A template with the texts replaced that are a reference."""
        if isinstance(template, str):
            found = WHOLE_REFERENCE.fullmatch(template)
            return f"{found[1]}{self._secret(found[2])}" if found else template
        if isinstance(template, Mapping):
            return {key: self.body(value) for key, value in template.items()}
        if isinstance(template, list | tuple):
            return [self.body(value) for value in template]
        return template

    def _secret(self, name: str) -> str:
        value = (self._environment.get(name) or "").strip()
        (self.secrets if value else self.missing).append(value or name)
        return value


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
