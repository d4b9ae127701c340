"""From file, environment and flags to settings, each over the one before, and where each is from.

For a format's retries there is a layer between: its own settings are over file and environment,
and flags over all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from repurpose.config._environment import key_variables, limits_from, listed, values_from
from repurpose.config._file import ConfigFile, find_file, read_file
from repurpose.config._keys import KEYS
from repurpose.config._settings import Settings, default_database
from repurpose.config._voices import voice_named
from repurpose.core.policy import RetryOverrides, RetryPolicy, attempts_from
from repurpose.core.voice import Voice

__all__ = [
    "Origin",
    "database_in",
    "file_in_force",
    "from_environment",
    "origins",
    "place_of_file",
    "read_settings",
]


@dataclass(frozen=True, slots=True)
class Origin:
    """One setting in force, and who says so."""

    key: str
    """As in the file: `retry.max_attempts`."""
    value: object
    """None where it is not set; of a secret, only whether there is one."""
    layer: Literal["default", "file", "environment", "flag"]
    where: str = ""
    """The file, the variable or the option; empty for a default."""


def from_environment(
    environment: Mapping[str, str], *, file: ConfigFile | None = None, **flags: object
) -> Settings:
    """Settings from a file and the environment over it, with every flag that is not None over both.

    Reads REPURPOSE_NAME for each setting (REPURPOSE_MODEL, REPURPOSE_MAX_ATTEMPTS, REPURPOSE_DB
    for the database), REPURPOSE_LIMITS (`instagram.max_hashtags=30`), and keys: REPURPOSE_API_KEY
    for an address of the user's own, OPENAI_API_KEY with OPENAI_BASE_URL, and for a model of
    another provider that provider's own variable. A key goes only to the address of the same
    family: OPENAI_API_KEY is never sent to a server named by --base-url or a file, nor to another
    provider.

    Flags are named as the fields of `Settings`; a voice may be named or be a `Voice`. No file is
    looked for; `read_settings` does that.

    Raises:
        UsageError: a value that cannot be used.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    said: dict[str, Any] = dict(file.values) if file else {}
    told = values_from(environment)
    said |= told
    voice = _voice(given.get("voice", said.get("voice")), file)
    found: dict[str, Any] = {
        "database": default_database(),
        **{
            key.field: not value if key.inverted else value
            for path, value in said.items()
            if (key := KEYS[path]).field
        },
        "voice": voice,
        "retry": _retry(file.values if file else {}, told),
        "limits": _limits(environment, file),
        **(_tables(file) if file else {}),
    }
    for wish in ("audience", "tone"):
        found[wish] = told.get(wish) or getattr(voice, wish, None) or found.get(wish)
    found |= _address(environment, said, given)
    found |= {name: value for name, value in given.items() if name != "voice"}
    for name in ("platforms", "formats"):
        if isinstance(found.get(name), str):
            found[name] = listed(found[name])
    return Settings(**found)


def read_settings(
    environment: Mapping[str, str] | None = None,
    *,
    config: str | Path | None = None,
    search: bool = True,
    **flags: object,
) -> Settings:
    """The settings in force here: of `repurpose.toml`, the environment and these flags.

    The file is `config`, else what REPURPOSE_CONFIG names, else the nearest one upwards from the
    working directory; without `search`, none.

    Raises:
        UsageError: the file or a value in it cannot be used, or is not there though named.
    """
    given = os.environ if environment is None else environment
    return from_environment(given, file=file_in_force(given, config, search=search), **flags)


def file_in_force(
    environment: Mapping[str, str], config: str | Path | None = None, *, search: bool = True
) -> ConfigFile | None:
    """The settings file that counts here, read and checked; None where there is none.

    Raises:
        UsageError: it cannot be used, or is not there though named.
    """
    place = place_of_file(environment, config) if search else None
    return read_file(place) if place else None


def place_of_file(environment: Mapping[str, str], config: str | Path | None = None) -> Path | None:
    """Where the settings file is that counts here; whether it can be used is not looked at."""
    named = config or environment.get("REPURPOSE_CONFIG")
    if named:
        return Path(named).absolute()
    home = os.path.expanduser("~")  # noqa: PTH111 - pathlib's raises where there is no home
    return find_file(Path.cwd(), Path(home))


def database_in(environment: Mapping[str, str], file: ConfigFile | None) -> Path:
    """The database that environment or file name, else the default one; nothing else is read."""
    named = environment.get(KEYS["database"].environment)
    if named:
        return Path(named)
    said = file.values.get("database") if file else None
    return said if isinstance(said, Path) else default_database()


def origins(
    environment: Mapping[str, str], file: ConfigFile | None = None, **flags: object
) -> list[Origin]:
    """Each setting in force with who says so, in the order of the table; a key is never shown.

    Flags are named as the fields of `Settings`.

    Raises:
        UsageError: a value that cannot be used.
    """
    settings = from_environment(environment, file=file, **flags)
    told = values_from(environment)
    rows = [_origin(path, settings, told, file, flags) for path in KEYS]
    return [*(row for row in rows if row), *_other_origins(environment, settings, file)]


def _origin(
    path: str,
    settings: Settings,
    told: Mapping[str, object],
    file: ConfigFile | None,
    flags: Mapping[str, object],
) -> Origin | None:
    key = KEYS[path]
    if path == "retry.max_retries":
        return None  # told as max_attempts
    field = "max_attempts" if path == "retry.max_attempts" else key.field
    value = _in_force(path, settings)
    same = ("retry.max_attempts", "retry.max_retries") if field == "max_attempts" else (path,)
    if field and flags.get(field) is not None:
        return Origin(path, value, "flag", key.flag or "")
    for each in same:
        if each in told:
            return Origin(path, value, "environment", KEYS[each].environment)
    spoken = settings.voice and getattr(settings.voice, key.field, None)
    if path in ("audience", "tone") and spoken:
        return Origin(path, value, "file", f"voice {settings.voice.name}")  # type: ignore[union-attr]  # `spoken` says that there is one
    for each in same:
        if file and each in file.values:
            return Origin(path, value, "file", str(file.path))
    if path == "base_url" and value is not None:
        return Origin(path, value, "environment", "OPENAI_BASE_URL")
    return Origin(path, value, "default")


def _in_force(path: str, settings: Settings) -> object:
    """The value of a setting, as a file would give it."""
    key = KEYS[path]
    if path == "retry.max_attempts":
        return settings.max_attempts or settings.retry.max_attempts
    if not key.field:
        return getattr(settings.retry, key.name)
    value = getattr(settings, key.field)
    if isinstance(value, Voice):
        return value.name
    return not value if key.inverted else value


def _other_origins(
    environment: Mapping[str, str], settings: Settings, file: ConfigFile | None
) -> Iterator[Origin]:
    """Whether there is a key, then what stands in tables of the user's own."""
    layer: Literal["environment", "default"] = "environment" if settings.api_key else "default"
    state = "set" if settings.api_key else "not set"
    yield Origin("key", state, layer, settings.key_variable)
    limits = limits_from(environment.get("REPURPOSE_LIMITS") or "")
    for name, rules in settings.limits.items():
        for rule, number in rules.items():
            if rule in limits.get(name, {}):
                yield Origin(f"platforms.{name}.{rule}", number, "environment", "REPURPOSE_LIMITS")
            else:
                where = str(file.path) if file else ""
                yield Origin(f"platforms.{name}.{rule}", number, "file", where)
    for table, entries in (file.tables if file else {}).items():
        if file and table != "platforms":
            for name in entries:
                yield Origin(f"{table}.{name}", "declared", "file", str(file.path))


def _voice(named: object, file: ConfigFile | None) -> Voice | None:
    if isinstance(named, Voice):
        return named
    return voice_named(str(named), file) if named else None


def _retry(*layers: Mapping[str, object]) -> RetryPolicy:
    """Our policy under these layers, the last one over the others."""
    policy = RetryPolicy()
    switches = {each.name for each in fields(RetryOverrides)} - {"max_attempts"}
    for layer in layers:
        chosen: dict[str, Any] = {
            name: layer[path] for name in switches if (path := f"retry.{name}") in layer
        }
        counts: dict[str, Any] = {
            name: layer.get(f"retry.{name}") for name in ("max_attempts", "max_retries")
        }
        policy = policy.layered(RetryOverrides(max_attempts=attempts_from(**counts), **chosen))
    return policy


def _limits(environment: Mapping[str, str], file: ConfigFile | None) -> dict[str, dict[str, int]]:
    """The rules of platforms that file and environment change, the latter over the former."""
    found: dict[str, Any] = {
        name.strip().casefold(): dict(rules)
        for name, rules in (file.tables.get("platforms", {}) if file else {}).items()
    }
    for name, rules in limits_from(environment.get("REPURPOSE_LIMITS") or "").items():
        found[name] = {**found.get(name, {}), **rules}
    return found


def _tables(file: ConfigFile) -> dict[str, object]:
    tables = file.tables
    found: dict[str, object] = {
        "declared": tables.get("formats", {}),
        "endpoints": tables.get("endpoints", {}),
        "composites": tables.get("composites", {}),
        "folder": file.folder,
    }
    if "prices" in tables:
        # The table of prices is read only where a file has own ones: most commands need none.
        from repurpose.prices import own_price  # noqa: PLC0415 - see above

        priced: Mapping[str, Mapping[str, Any]] = tables["prices"]
        found["prices"] = {
            model: own_price(model, source=str(file.path), **figures)
            for model, figures in priced.items()
        }
    return found


def _address(
    environment: Mapping[str, str], said: Mapping[str, object], given: Mapping[str, object]
) -> dict[str, object]:
    """The model's address and the key that may go there."""
    own_url = given.get("base_url") or said.get("base_url")
    url = own_url or environment.get("OPENAI_BASE_URL") or None
    model = given.get("model") or said.get("model") or None
    variables = ("REPURPOSE_API_KEY",) if own_url else key_variables(model, url)
    key_variable = next((name for name in variables if environment.get(name)), variables[0])
    return {
        "model": model,
        "base_url": url,
        "api_key": environment.get(key_variable) or None,
        "key_variable": key_variable,
    }
