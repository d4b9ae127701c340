"""Reads the table that declares a trace source, key by key; each fault names its key in full."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from repurpose.core.json_types import JsonValue
from repurpose.errors import UsageError

__all__ = ["Declared"]

_PATH = "completion.source"
_SHOWN = 60
"""How many characters of a key or value of the user's are shown."""
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
"""A token of RFC 9110, section 5.6.2."""
_REFERENCE = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]{0,100})")
"""A secret in the environment: `Bearer env:MLFLOW_TOKEN`."""


class Declared:
    """The table `source` of a completion."""

    def __init__(self, given: Mapping[str, JsonValue], *, keys: tuple[str, ...]) -> None:
        self._given = given
        for key in given:
            if key not in ("kind", *keys):
                near = get_close_matches(key[:_SHOWN], keys, n=1)
                raise UsageError(
                    f"{_PATH}: unknown key {key[:_SHOWN]!r}",
                    hint=f"did you mean {near[0]}?" if near else f"known keys: {', '.join(keys)}",
                )

    def fault(self, key: str, wanted: str) -> UsageError:
        """That a key is not what is wanted."""
        return UsageError(f"{_PATH}.{key} must be {wanted}")

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; required where there is no default."""
        value = self._given.get(key, default)
        if value is None:
            raise UsageError(f"{_PATH}: {key} is missing")
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self.fault(key, "a text on one line")
        return value

    def name(self, key: str, default: str) -> str:
        """A text, or a whole number as one."""
        value = self._given.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return str(value)
        return self.text(key, default)

    def flag(self, key: str) -> bool:
        """True or false; false where it is not given."""
        value = self._given.get(key, False)
        if not isinstance(value, bool):
            raise self.fault(key, "true or false")
        return value

    def address(self, key: str) -> str:
        """The address of a server, without a slash at its end."""
        wanted = "an http or https address without a password, query or fragment"
        url = self.text(key).strip()
        try:
            parts = urlsplit(url)
            fits = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            raise self.fault(key, wanted) from None
        if not fits or "@" in parts.netloc or parts.query or parts.fragment or " " in url:
            raise self.fault(key, wanted)
        return url.rstrip("/")

    def headers(self, key: str, environment: Mapping[str, str]) -> dict[str, str]:
        """Headers with their secrets put in; none where there is no such table.

        Raises:
            UsageError: one is no header, or the environment has no such secret.
        """
        table = self._given.get(key, {})
        if not isinstance(table, Mapping):
            raise self.fault(key, "a table")
        return {name: self._header(key, name, table[name], environment) for name in table}

    def _header(self, key: str, name: str, value: JsonValue, environment: Mapping[str, str]) -> str:
        path = f"{key}.{name[:_SHOWN]}"
        if not _HEADER_NAME.fullmatch(name) or not isinstance(value, str):
            raise self.fault(path, "a header with a text")
        for variable in _REFERENCE.findall(value):
            if not environment.get(variable, "").strip():
                raise UsageError(f"{_PATH}.{path}: {variable} is not set in the environment")
        resolved = _REFERENCE.sub(lambda place: environment[place[1]].strip(), value)
        if not (resolved.isascii() and resolved.isprintable()):
            raise self.fault(path, "one line of plain ASCII, with what the environment puts in")
        return resolved
