"""`repurpose.toml`: where it is found, and what it says, checked key by key.

Every fault is one line that names the file and the key. No value of a text is ever shown: it may
be a secret in the wrong place.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from repurpose.config._environment import key_variables
from repurpose.config._keys import (
    KEYS,
    NAMED_TABLES,
    OWN_TABLES,
    RULES,
    Key,
    kind_of,
    nearest,
    shown,
)
from repurpose.config._secrets import secrets_in
from repurpose.errors import UsageError

__all__ = ["NAME", "ConfigFile", "checked", "faults_in", "find_file", "read_file"]

NAME = "repurpose.toml"
_MOST_BYTES = 1_000_000
_TABLES = tuple(dict.fromkeys(path.partition(".")[0] for path in KEYS if "." in path))
"""Tables of single settings: `[retry]`."""
_WHICH = {
    "formats": "which formats are made is said by run.formats",
    "platforms": "which platforms are written for is said by run.platforms",
}


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """What a settings file says, checked."""

    path: Path
    values: Mapping[str, object] = field(default_factory=dict)
    """Single settings by dotted key; lists as tuples, and paths seen from the file's folder."""
    tables: Mapping[str, Mapping[str, Mapping[str, object]]] = field(default_factory=dict)
    """`{"voices": {"acme": {...}}}`: the tables with a name of the user's own, as they stand."""

    @property
    def folder(self) -> Path:
        """Where relative paths in it begin."""
        return self.path.parent


def find_file(start: Path, home: Path | None) -> Path | None:
    """The nearest `repurpose.toml` in `start` or a folder above it, or None.

    The home directory, or the root of the file system, is the last folder looked into.

    Raises:
        UsageError: it belongs to another user and lies where everybody may put files, so that it
            could have been put there to redirect what is sent.
    """
    for folder in (start, *start.parents):
        path = folder / NAME
        if path.is_file():
            _refuse_planted(path)
            return path
        if folder == home:
            break
    return None


def _refuse_planted(path: Path) -> None:
    if not hasattr(os, "getuid"):
        return
    owner, anybody = path.stat().st_uid, path.parent.stat().st_mode & 0o002
    if anybody and owner not in (0, os.getuid()):
        raise UsageError(
            f"{path} belongs to another user, in a folder that all may write to",
            hint=f"name it to use it: --config {path}; or leave it out: --no-config",
        )


def read_file(path: Path) -> ConfigFile:
    """The settings of a file.

    Raises:
        UsageError: it cannot be read, is no TOML, or something in it is wrong. The message tells
            the first fault, and the hint how many more there are.
    """
    found, faults = _read(path)
    if faults:
        more = len(faults) - 1
        hint = f"{more} more: repurpose check lists all" if more else None
        raise UsageError(faults[0], hint=hint)
    return found


def faults_in(path: Path) -> list[str]:
    """Everything that is wrong with a settings file, one line each; none where it can be used."""
    return _read(path)[1]


def _read(path: Path) -> tuple[ConfigFile, list[str]]:
    name = _shown_path(path)
    try:
        raw = tomllib.loads(_text(path))
    except OSError as fault:
        return ConfigFile(path), [f"{name} cannot be read: {fault.strerror or 'unknown'}"]
    except UnicodeDecodeError:
        return ConfigFile(path), [f"{name} is not UTF-8 text"]
    except RecursionError:
        return ConfigFile(path), [f"{name} is nested too deeply"]
    except ValueError as fault:  # TOML's own error, and Python's about a number of 5,000 digits
        return ConfigFile(path), [f"{name}: {fault}"]
    found, faults = checked(raw, path)
    return found, [f"{name}: {shown(key)} {fault}" for key, fault in faults]


def _text(path: Path) -> str:
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES:,} bytes")
    return path.read_text(encoding="utf-8-sig")


def _shown_path(path: Path) -> str:
    """The path as a person would write it here."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def checked(raw: Mapping[str, object], path: Path) -> tuple[ConfigFile, list[tuple[str, str]]]:
    """A decoded file as settings, and each fault with the key it is about.

    Never raises, whatever the mapping holds.
    """
    model, url = raw.get("model"), raw.get("base_url")
    variable = ("REPURPOSE_API_KEY",) if url else key_variables(model, None)
    faults = list(secrets_in(raw, variable[0]))
    secret = {key for key, _ in faults}
    values: dict[str, object] = {}
    tables: dict[str, Mapping[str, Mapping[str, object]]] = {}
    for key, value in raw.items():
        if key in NAMED_TABLES:
            found = list(_in_named(key, value, secret))
            faults += found
            if not found and isinstance(value, Mapping):
                tables[key] = value
        elif key in _TABLES and isinstance(value, Mapping):
            for name, inner in value.items():
                _take(f"{key}.{name}", inner, path.parent, values, faults, secret)
        elif key in _TABLES:
            faults.append((key, f"must be a table, not {kind_of(value)}"))
        else:
            _take(key, value, path.parent, values, faults, secret)
    if {"retry.max_attempts", "retry.max_retries"} <= values.keys():
        faults.append(("retry.max_attempts", "and retry.max_retries say the same; give one"))
    return ConfigFile(path, values, tables), faults


def _take(
    path: str,
    value: object,
    folder: Path,
    values: dict[str, object],
    faults: list[tuple[str, str]],
    secret: set[str],
) -> None:
    """Put one setting into `values`, or what is wrong with it into `faults`."""
    key = KEYS.get(path)
    if path in secret:
        return
    if key is None:
        known = (*KEYS, *NAMED_TABLES) if "." not in path else KEYS
        faults.append((path, _unknown(path, known)))
        return
    fault = key.fault(value)
    if fault:
        faults.append((path, fault))
    else:
        values[path] = _final(key, value, folder)


def _final(key: Key, value: object, folder: Path) -> object:
    match value:
        case str() if key.kind == "path":
            return folder / os.path.expanduser(value)  # noqa: PTH111 - pathlib's may raise
        case list():
            return tuple(value)
        case _:
            return value


def _in_named(table: str, value: object, secret: set[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with tables that have a name of the user's own."""
    if not isinstance(value, Mapping):
        other = f"; {_WHICH[table]}" if table in _WHICH else ""
        yield table, f"must hold tables, as [{table}.NAME], not {kind_of(value)}{other}"
        return
    for name, entry in value.items():
        where = f"{table}.{name}"
        if where in secret:
            continue
        if not isinstance(entry, Mapping):
            yield where, f"must be a table, not {kind_of(entry)}"
        elif table not in OWN_TABLES:
            yield from _in_entry(where, entry, RULES[table], secret)
            yield from _missing(table, where, entry)
        elif table == "endpoints" and not any(key.startswith(f"{where}.") for key in secret):
            yield from _unusable_endpoint(name, entry)
        if table == "platforms":
            yield from _unknown_platform(name, where)


def _in_entry(
    where: str, entry: Mapping[str, object], rules: Mapping[str, Key], secret: set[str]
) -> Iterator[tuple[str, str]]:
    for name, value in entry.items():
        path = f"{where}.{name}"
        if path in secret:
            continue
        fault = rules[name].fault(value) if name in rules else _unknown(name, rules)
        if fault:
            yield path, fault


def _missing(table: str, where: str, entry: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    lacking = [name for name in ("input", "output") if name not in entry]
    if table == "prices" and lacking:
        yield where, f"lacks {' and '.join(lacking)}, in US dollars per million tokens"


def _unknown_platform(name: str, where: str) -> Iterator[tuple[str, str]]:
    # The table of platforms is read only where a file speaks of them: most commands need none.
    from repurpose.platforms import PLATFORMS  # noqa: PLC0415 - see above

    if name.strip().casefold() not in PLATFORMS:
        meant = nearest(name, PLATFORMS)
        yield where, "is no platform" + (f"; did you mean {meant}?" if meant else "")


def _unusable_endpoint(name: str, entry: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    # Only where a file declares one: most have none.
    from repurpose.completion.configured import endpoint_from  # noqa: PLC0415 - see above
    from repurpose.core.endpoint import Trace  # noqa: PLC0415 - see above
    from repurpose.traces import TRACES  # noqa: PLC0415 - see above

    try:
        mode = endpoint_from(name, entry).completion
    except UsageError as error:  # its first word is the key
        key, _, said = error.message.partition(" ")
        yield key, f"{said}; {error.hint}" if error.hint else said
    else:
        if isinstance(mode, Trace) and str(mode.source["kind"]) not in TRACES:
            known = " or ".join(TRACES)
            yield f"endpoints.{name}.completion.source.kind", f"must be {known}"


def _unknown(path: str, known: Mapping[str, object] | tuple[str, ...]) -> str:
    meant = nearest(path, known)
    return "is not known" + (f"; did you mean {meant}?" if meant else "")
