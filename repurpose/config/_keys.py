"""Every setting by its dotted key, with what it may be; flags, environment and file go by this.

A key is `retry.max_attempts` as it stands in a file: `max_attempts` in the table `[retry]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeGuard

from repurpose.core.profile import CACHE_WISHES
from repurpose.text.language import well_formed

__all__ = [
    "BACKGROUNDS",
    "KEYS",
    "NAMED_TABLES",
    "OWN_TABLES",
    "RULES",
    "Key",
    "is_number",
    "kind_of",
    "nearest",
    "read_variable",
    "shown",
    "strings_fault",
]

Kind: TypeAlias = Literal["text", "texts", "whole", "number", "switch", "path"]

BACKGROUNDS = ("poll", "webhook")
"""How the engine `responses` finds out that a response has ended."""

_SHOWN = 60
"""Characters of a user's own key that a message shows."""
_KINDS: Mapping[str, str] = MappingProxyType(
    {
        "text": "a text",
        "texts": "a list of texts",
        "whole": "a whole number",
        "number": "a number",
        "switch": "true or false",
        "path": "a path, as a text",
    }
)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_BASE_URL = re.compile(r"(?ai)https?://[\w\[][\w.\]:-]{0,300}(?:/[\w.~%/-]{0,300})?").fullmatch
_SWITCHES = {"1": True, "true": True, "yes": True, "on": True}
_SWITCHES |= {"0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Key:
    """One setting: where it stands in a file, in the environment, among flags and in `Settings`."""

    path: str
    kind: Kind
    field: str = ""
    """The field of `Settings`; empty for one that is made into another."""
    flag: str | None = None
    """The option of `repurpose run`; None for a setting that has none."""
    variable: str = ""
    """The environment variable; made of the last part of the key where it is not given."""
    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    """Whether the number must be more than `least`, not equal to it."""
    choices: tuple[str, ...] = ()
    accepts: Callable[[str], object] | None = None
    expected: str = ""
    """What `accepts` takes, in words."""
    inverted: bool = False
    """Whether the field says the contrary."""

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.path.rpartition(".")[2]

    @property
    def environment(self) -> str:
        """The environment variable."""
        return self.variable or f"REPURPOSE_{self.name.upper()}"

    def fault(self, value: object) -> str | None:
        """What is wrong with a value that a file gives, or None. Never shows the value itself."""
        if not _is_of(self.kind, value):
            return f"must be {self._wanted}, not {kind_of(value)}"
        match value:
            case bool():
                return None
            case int() | float():
                return None if self._in_bounds(value) else f"must be {self._wanted}"
            case str() if not value.strip() and self.kind == "path":
                return "is empty"
            case str() if self.choices and value not in self.choices:
                return f"must be {self._wanted}"
            case str() if self.accepts is not None and not self.accepts(value):
                return f"must be {self._wanted}"
            case list():
                return strings_fault(value)
            case _:
                return None

    def _in_bounds(self, number: float) -> bool:
        low = number > self.least if self.above else number >= self.least
        return low and number <= self.most

    @property
    def _wanted(self) -> str:
        if self.choices:
            return " or ".join(f'"{choice}"' for choice in self.choices)
        return self.expected or _KINDS[self.kind] + self._bounds

    @property
    def _bounds(self) -> str:
        if self.most < math.inf:
            return f" from {self.least:g} to {self.most:g}"
        if self.least > -math.inf:
            return f" above {self.least:g}" if self.above else f" from {self.least:g} up"
        return ""


def _is_of(kind: Kind, value: object) -> bool:
    match kind:
        case "text" | "path":
            return isinstance(value, str)
        case "texts":
            return isinstance(value, list)
        case "whole":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return is_number(value)
        case "switch":
            return isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether it is a finite number, which true and false are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def strings_fault(values: list[object]) -> str | None:
    """What is wrong with a list of texts, or None."""
    for place, value in enumerate(values, start=1):
        if not isinstance(value, str):
            return f"must be a list of texts; entry {place} is {kind_of(value)}"
        if not value.strip():
            return f"must be a list of texts; entry {place} is empty"
    return None


def kind_of(value: object) -> str:
    """The kind of a value of a file, in words."""
    match value:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int():
            return "a whole number"
        case float():
            return "a number" if math.isfinite(value) else "infinity or not a number"
        case list():
            return "a list"
        case Mapping():
            return "a table"
        case _:
            return "a date or time"


def read_variable(key: Key, text: str) -> tuple[object, str | None]:
    """The value that an environment variable gives, and what is wrong with it."""
    value: object = text
    match key.kind:
        case "texts":
            value = [part for each in text.split(",") if (part := each.strip())]
        case "whole":
            value = int(text) if _WHOLE.fullmatch(text.strip()) else text
        case "number":
            value = _float(text)
        case "switch":
            value = _SWITCHES.get(text.strip().casefold(), text)
        case "path":
            value = Path(text)
        case "text":
            pass
    return value, None if isinstance(value, Path) else key.fault(value)


def _float(text: str) -> float | str:
    try:
        return float(text) if text.isascii() and "_" not in text else text
    except ValueError:
        return text


_DATABASE = Key("database", "path", "database", "--db", "REPURPOSE_DB")
_SWITCH_KEYS = ("on_parse", "on_missing_required", "on_type_mismatch", "on_unusable", "on_quality")

KEYS: Mapping[str, Key] = MappingProxyType(
    {
        key.path: key
        for key in (
            Key("model", "text", "model", "--model"),
            Key("base_url", "text", "base_url", "--base-url"),
            Key("profile", "text", "profile", "--profile"),
            Key("engine", "text", "engine", "--engine"),
            Key("background", "text", "background", "--background", choices=BACKGROUNDS),
            Key("temperature", "number", "temperature", "--temperature", least=0),
            Key("timeout", "number", "timeout", "--timeout", least=0, above=True),
            Key("max_output_tokens", "whole", "output_tokens", "--max-output-tokens", least=1),
            Key("context_tokens", "whole", "context_tokens", "--context-tokens", least=1),
            Key(
                "language",
                "text",
                "language",
                "--language",
                accepts=well_formed,
                expected="a language code such as de, pt-BR or zh-Hans",
            ),
            Key("voice", "text", "voice", "--voice"),
            Key("audience", "text", "audience", "--audience"),
            Key("tone", "text", "tone", "--tone"),
            _DATABASE,
            Key("formats_dir", "path", "formats_dir", "--formats-dir"),
            Key(
                "callback_base_url",
                "text",
                "callback_base_url",
                accepts=_BASE_URL,
                expected="an address such as https://example.org/in, without a query",
            ),
            Key("brief", "switch", "no_brief", "--brief", inverted=True),
            Key("segmenter", "text", "segmenter", "--segmenter"),
            Key("cache", "text", "cache", "--cache", choices=CACHE_WISHES),
            Key("concurrency", "whole", "concurrency", "--concurrency", least=1),
            Key("rpm", "number", "rpm", "--rpm", least=0, above=True),
            Key("tpm", "number", "tpm", "--tpm", least=0, above=True),
            Key("run.formats", "texts", "formats", "--formats"),
            Key("run.platforms", "texts", "platforms", "--platforms"),
            Key("run.thread", "switch", "thread", "--thread"),
            Key("run.variants", "whole", "variants", "--variants", least=1, most=5),
            Key("retry.max_attempts", "whole", flag="--max-attempts", least=1, most=5),
            Key("retry.max_retries", "whole", least=0, most=4),
            *(Key(f"retry.{name}", "switch") for name in _SWITCH_KEYS),
            Key(
                "retry.on_failure",
                "text",
                "on_failure",
                "--on-failure",
                choices=("skip", "abort"),
            ),
            Key("loading.follow", "switch", "follow", "--follow"),
            Key("loading.limit", "whole", "entries", "--limit", least=1),
            Key("loading.allow_private", "switch", "allow_private", "--allow-private"),
            Key("loading.proxy", "text", "proxy", "--proxy"),
            Key("budget.max_cost", "number", "max_cost", "--max-cost", least=0, above=True),
            Key("budget.max_calls", "whole", "max_calls", "--max-calls", least=1),
            Key("budget.max_tokens", "whole", "max_tokens", "--max-tokens", least=1),
        )
    }
)
"""Every setting with one value."""

RULES: Mapping[str, Mapping[str, Key]] = MappingProxyType(
    {
        "platforms": {
            name: Key(name, "whole", least=20 if name == "limit" else 0)
            for name in ("limit", "max_hashtags", "max_mentions", "max_links")
        },
        "prices": {
            **{
                name: Key(name, "number", least=0)
                for name in ("input", "output", "cached", "cache_write")
            },
            "batch": Key("batch", "number", least=0, most=1),
        },
        "voices": {
            "audience": Key("audience", "text"),
            "tone": Key("tone", "text"),
            "banned": Key("banned", "texts"),
            "disclaimer": Key("disclaimer", "text"),
            "names": Key("names", "texts"),
            "samples": Key("samples", "texts"),
            "sample_files": Key("sample_files", "texts"),
        },
    }
)
"""The keys of the tables that have a name of the user's own: `[voices.NAME]`."""

OWN_TABLES = ("formats", "endpoints", "composites")
"""Tables of which others say what stands in them."""
NAMED_TABLES = (*RULES, *OWN_TABLES)


def nearest(path: str, known: Iterable[str]) -> str | None:
    """The known key that a user meant, or None: the same name elsewhere, else a similar one."""
    import difflib  # noqa: PLC0415 - needed only where something is wrong

    names = list(known)
    wanted = path[:_SHOWN].casefold().replace("-", "_")
    last = wanted.rpartition(".")[2]
    for same in names:
        if last == same.rpartition(".")[2]:
            return same
    close = difflib.get_close_matches(wanted, names, n=1, cutoff=0.7)
    if close:
        return close[0]
    by_last = {name.rpartition(".")[2]: name for name in names}
    close = difflib.get_close_matches(last, by_last, n=1, cutoff=0.7)
    return by_last[close[0]] if close else None


def shown(key: str) -> str:
    """A user's key for a message: on one line, and not too long."""
    plain = "".join(sign if sign.isprintable() else "?" for sign in key)
    return plain if len(plain) <= _SHOWN else f"{plain[:_SHOWN]}…"
