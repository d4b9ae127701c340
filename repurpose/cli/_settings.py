"""The settings of a command: its flags over the environment over the settings file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from repurpose.config import (
    ENDPOINT,
    database_in,
    faults_in,
    file_in_force,
    from_environment,
    place_of_file,
)
from repurpose.config import origins as origins_of
from repurpose.config._keys import KEYS

if TYPE_CHECKING:
    from repurpose.config import ConfigFile, Origin, Settings
    from repurpose.formats import Formats

__all__ = [
    "database_path",
    "faults_of_file",
    "file_used",
    "formats_of",
    "given",
    "origins",
    "settings_of",
]


def file_used() -> ConfigFile | None:
    """The settings file of the command that runs: `--config`, or the one that is found.

    Raises:
        UsageError: it cannot be used, or is not there though named.
    """
    context = click.get_current_context()
    meta: dict[str, Any] = context.find_root().meta
    if "repurpose.file" not in meta:
        named, search = meta.get("repurpose.config"), not meta.get("repurpose.no_config")
        if named and not search:
            raise click.UsageError("--config and --no-config contradict each other")
        meta["repurpose.file"] = file_in_force(os.environ, named, search=search)
    found: ConfigFile | None = meta["repurpose.file"]
    return found


def faults_of_file() -> list[tuple[str, str | None]]:
    """Each fault of the settings file that this command would use; none of a file that is right.

    Empty where there is no file.
    """
    meta: dict[str, Any] = click.get_current_context().find_root().meta
    if meta.get("repurpose.no_config"):
        return []
    place = place_of_file(os.environ, meta.get("repurpose.config"))
    if place is None:
        return []
    faults: list[str | None] = [*faults_in(place)]
    return [(f"settings {place}", fault) for fault in faults or [None]]


def given(context: click.Context) -> dict[str, object]:
    """What the user wrote on the command line, by the fields of `Settings`."""
    found: dict[str, object] = {}
    for parameter in context.command.params:
        name = parameter.name or ""
        key = next((key for key in KEYS.values() if key.flag in parameter.opts), None)
        if key is None or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if key.kind == "path":
            value = Path(value)
        found[key.field or key.name] = not value if key.inverted else value
    return found


def settings_of(context: click.Context, **flags: object) -> Settings:
    """The settings of this command; `flags` are over what is on the command line.

    Raises:
        UsageError: a value that cannot be used, or a model beside an endpoint that has none.
    """
    said = {**given(context), **flags}
    settings = from_environment(os.environ, file=file_used(), **said)
    if said.get("model") and settings.chosen_engine.startswith(ENDPOINT):
        raise click.UsageError(
            f"--model and --engine {settings.engine} exclude each other; with a model, give"
            " --engine openai",
            context,
        )
    return settings


def origins(context: click.Context) -> list[Origin]:
    """Each setting in force for this command, with who says so.

    Raises:
        UsageError: a value that cannot be used.
    """
    return origins_of(os.environ, file_used(), **given(context))


def formats_of(settings: Settings) -> Formats:
    """The formats that can be asked for: built in, of the settings file, of a folder, offered.

    Raises:
        UsageError: a folder or a name that cannot be used.
    """
    from repurpose.formats import known_formats

    return known_formats(settings.formats_dir, settings.declared, beside=settings.folder)


def database_path(database: str | None) -> Path:
    """The database that `--db`, the environment or the settings file name, else the default one.

    Raises:
        UsageError: the settings file cannot be used.
    """
    return Path(database) if database else database_in(os.environ, file_used())
