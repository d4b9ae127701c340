"""A table of a settings file, read key by key; each fault names its key in full."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from urllib.parse import urlsplit

from repurpose.core.json_types import JsonValue
from repurpose.errors import UsageError

__all__ = ["REFERENCE", "WHOLE_REFERENCE", "Declared"]

REFERENCE = re.compile(r"\benv:([A-Za-z_][A-Za-z0-9_]{0,100})")
"""How a header names a secret of the environment, anywhere in it."""
WHOLE_REFERENCE = re.compile(
    rf"((?:(?:bearer|basic|token|apikey) )?){REFERENCE.pattern}", re.IGNORECASE
)
"""How any other text does: it is nothing else, `env:WRITER_TOKEN`, perhaps behind a scheme."""

_SHOWN = 60
"""How many characters of a key or value of the user's are shown."""
_DEEPEST = 20
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
"""A token of RFC 9110, section 5.6.2."""
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "te", "upgrade"})
"""Headers that the transport writes."""


class Declared:
    """A table and where it stands."""

    def __init__(self, path: str, given: Mapping[str, object]) -> None:
        self.path = path
        self.given = given

    def fault(self, message: str, *, hint: str | None = None) -> UsageError:
        """That something about the table itself is wrong."""
        return UsageError(f"{self.path}: {message}", hint=hint)

    def wrong(self, key: str, wanted: str) -> UsageError:
        """That the value of a key is not what is wanted."""
        return UsageError(f"{self.path}.{key} must be {wanted}")

    def only(self, keys: Iterable[str]) -> None:
        """Refuse every key but these, with the nearest of them."""
        known = list(keys)
        for key in self.given:
            if key not in known:
                near = get_close_matches(key[:_SHOWN], known, n=1)
                raise self.fault(
                    f"unknown key {key[:_SHOWN]!r}",
                    hint=f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known)}",
                )

    def text(self, key: str, default: str | None = None) -> str:
        """A text; required where there is no default."""
        value = self.given.get(key, default)
        if value is None:
            raise self.fault(f"{key} is missing")
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def line(self, key: str, default: str | None = None) -> str:
        """A text on one line that is not blank; required where there is no default."""
        value = self.text(key, default)
        if not value.strip() or not value.isprintable():
            raise self.wrong(key, "a text on one line")
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where it is not given."""
        value = self.given.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def address(self, key: str) -> str:
        """The address of a server, as it stands."""
        url = self.text(key)
        try:
            parts = urlsplit(url)
            fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            fits = False
        if not fits or not url.isprintable() or " " in url:
            raise self.wrong(key, 'an http or https address: "http://localhost:9000"')
        if parts.query or parts.fragment or "@" in parts.netloc:
            raise self.wrong(key, "an address without password, ? and #")
        return url

    def headers(self, key: str) -> dict[str, str]:
        """Headers, each of one line; none where there is no such table."""
        table = self.table(key)
        found = table.texts()
        for name, value in found.items():
            if not _HEADER.fullmatch(name) or name.lower() in _OURS:
                raise table.fault(f"{name[:_SHOWN]!r} is no header that can be set")
            if not (value.isascii() and value.isprintable()):
                raise table.wrong(name, "one line of plain ASCII")
        return found

    def number(
        self,
        key: str,
        default: float,
        *,
        most: float,
        least: float | None = None,
        whole: bool = False,
    ) -> float:
        """A number up to `most`, from `least` on, or above 0 where there is none."""
        value = self.given.get(key, default)
        if key not in self.given:
            return default
        kinds = int if whole else int | float
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if fits and isinstance(value, int | float) and math.isfinite(value):
            above = value >= least if least is not None else value > 0
            if above and value <= most:
                return value
        low = f"from {least:g}" if least is not None else "above 0"
        kind = "a whole number" if whole else "a number"
        raise self.wrong(key, f"{kind} {low} up to {most:g}")

    def table(self, key: str) -> Declared:
        """A table in this one; empty where it is not given."""
        value = self.given.get(key, {})
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a table")
        return Declared(f"{self.path}.{key}", value)

    def texts(self) -> dict[str, str]:
        """All of the table, where every value is a text."""
        return {key: self.text(key) for key in self.given}

    def json(self, key: str, default: JsonValue = None) -> JsonValue:
        """A value that JSON has as well: no date and no time."""
        return self._json(key, self.given[key], 0) if key in self.given else default

    def _json(self, key: str, value: object, depth: int) -> JsonValue:
        if depth > _DEEPEST:
            raise self.wrong(key, f"nested at most {_DEEPEST} deep")
        match value:
            case str() | bool() | int() | None:
                return value
            case float() if math.isfinite(value):
                return value
            case Mapping():
                return {str(k): self._json(f"{key}.{k}", v, depth + 1) for k, v in value.items()}
            case list() | tuple():
                return [self._json(f"{key}.{i}", v, depth + 1) for i, v in enumerate(value)]
            case _:
                raise self.wrong(key, "JSON: texts, finite numbers, true, false, lists, tables")
