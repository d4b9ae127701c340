"""Declared formats as they stand in files: a table of a configuration, or a folder.

A folder holds `prompts/NAME.md` and, where the answer has fields, `schemas/NAME.schema.json`.
A prompt file may begin with settings between two lines of `+++`, in TOML, under the keys that a
table has. So both say the same, and both are read by the same function.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from repurpose.core.json_types import JsonObject
from repurpose.core.policy import RetryOverrides, attempts_from
from repurpose.errors import UsageError
from repurpose.formats._declared import checked_name, declared_format
from repurpose.formats._declared_wording import unknown_key
from repurpose.formats.base import Format
from repurpose.schema.intake import IntakeError, decode

__all__ = ["format_from_files", "format_from_table", "names_in"]

_KEYS = (
    "label",
    "prompt",
    "prompt_file",
    "outputs",
    "schema_file",
    "extra",
    "retry",
    "coerce",
    "output_tokens",
)
_SWITCHES = ("on_parse", "on_missing_required", "on_type_mismatch", "on_unusable", "on_quality")
_COUNTS = ("max_attempts", "max_retries")
_RETRY_KEYS = (*_COUNTS, *_SWITCHES)
_PROMPT, _SCHEMA = ".md", ".schema.json"
_FRONT = re.compile(r"\ufeff?\+{3}[ \t]*+\n(.*?)^\+{3}[ \t]*+(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_MOST_BYTES = 1_000_000
"""A prompt or schema of more is none; a mistyped name must not read a film."""

T = TypeVar("T")


def format_from_table(name: str, table: Mapping[str, object], *, folder: Path) -> Format:
    """The format that a configuration's table `[formats.NAME]` declares.

    Keys: `label`; `prompt` or `prompt_file`; `outputs` or `schema_file`; `extra`; `coerce`;
    `output_tokens`; and `retry` with `max_attempts` or `max_retries` and the switches. Files are
    looked for from `folder` on.

    Raises:
        UsageError: an unknown key, of which the message names the nearest; two keys that say the
            same; a value of another type; a file that cannot be read.
        SchemaError: outputs or a schema outside the strict subset.
    """
    checked_name(name)
    if not isinstance(table, Mapping):
        raise UsageError(f"format {name}: must be a table with a prompt")
    fault = unknown_key(table, _KEYS)
    if fault:
        raise UsageError(f"format {name}: {fault}")
    read = _Reader(name, table)
    outputs = read.value("outputs", list, "a list of tables")
    return declared_format(
        name,
        label=read.value("label", str, "a text"),
        prompt=_prompt(read, folder),
        outputs=_given(outputs, name),
        schema=_schema(read, folder),
        extra=read.value("extra", str, '"reject" or "drop"') or "reject",  # type: ignore[arg-type]  # declared_format checks it
        retry=_retry(name, read.value("retry", dict, "a table")),
        coerce=read.value("coerce", bool, "true or false") is not False,
        output_tokens=read.value("output_tokens", int, "a whole number"),
    )


def names_in(folder: Path) -> tuple[str, ...]:
    """The names of the formats that a folder declares, sorted; no file is opened.

    Raises:
        UsageError: there is no such folder, or it holds no prompts.
    """
    prompts = folder / "prompts"
    if not prompts.is_dir():
        raise UsageError(
            f"{folder} has no folder prompts", hint="write an example: repurpose new-format NAME"
        )
    found = {path.name.removesuffix(_PROMPT) for path in prompts.glob(f"*{_PROMPT}")}
    found |= {path.name.removesuffix(_SCHEMA) for path in folder.glob(f"schemas/*{_SCHEMA}")}
    return tuple(sorted(name for name in found if not name.startswith(".")))


def format_from_files(name: str, *, folder: Path) -> Format:
    """The format that `prompts/NAME.md` and `schemas/NAME.schema.json` of a folder declare.

    Without a schema file, and without `outputs` in the prompt's settings, replies pass as they
    come. The label is the schema's title where none is set.

    Raises:
        UsageError: as `format_from_table`.
        SchemaError: likewise.
    """
    checked_name(name)
    text = _text(folder / "prompts" / f"{name}{_PROMPT}", f"format {name}: prompts/{name}{_PROMPT}")
    settings, prompt = _parted(text, name)
    for key in ("prompt", "prompt_file", "schema_file"):
        if key in settings:
            raise UsageError(f"format {name}: {key} is not set in a prompt file; remove it")
    table = {**settings, "prompt": prompt}
    file = Path("schemas") / f"{name}{_SCHEMA}"
    if (folder / file).exists():
        table["schema_file"] = file.as_posix()
    return format_from_table(name, table, folder=folder)


class _Reader:
    """Reads the values of one table."""

    def __init__(self, name: str, table: Mapping[str, object]) -> None:
        self.name = name
        self.table = table

    def value(self, key: str, kind: type[T], spoken: str) -> T | None:
        """The value under a key, or None where it is not given."""
        value = self.table.get(key)
        if value is None:
            return None
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise UsageError(f"format {self.name}: {key} must be {spoken}")
        return value

    def one_of(self, first: str, second: str) -> None:
        """Refuse two keys that say the same."""
        if first in self.table and second in self.table:
            raise UsageError(f"format {self.name}: {first} and {second} say the same; give one")


def _given(outputs: list[Any] | None, name: str) -> list[Any]:
    if outputs is not None and not outputs:
        raise UsageError(f"format {name}: outputs is empty; declare some, or leave it out")
    return outputs or []


def _prompt(read: _Reader, folder: Path) -> str:
    read.one_of("prompt", "prompt_file")
    prompt = read.value("prompt", str, "a text")
    if prompt is not None:
        return prompt
    file = read.value("prompt_file", str, "the path of a file")
    if file is None:
        raise UsageError(f"format {read.name}: has no prompt; give prompt or prompt_file")
    settings, text = _parted(_text(folder / file, f"format {read.name}: {file}"), read.name)
    if settings:
        raise UsageError(
            f"format {read.name}: {file} begins with settings, which belong into the table here"
        )
    return text


def _parted(text: str, name: str) -> tuple[dict[str, Any], str]:
    """The settings before a prompt, and the prompt."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text
    try:
        return tomllib.loads(front[1]), text[front.end() :]
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"format {name}: the settings of its prompt: {error}") from None


def _schema(read: _Reader, folder: Path) -> JsonObject | None:
    read.one_of("outputs", "schema_file")
    file = read.value("schema_file", str, "the path of a file")
    if file is None:
        return None
    try:
        schema = decode(_text(folder / file, f"format {read.name}: {file}"))
    except IntakeError as error:
        said = str(error).removeprefix("the reply ")
        raise UsageError(f"format {read.name}: {file}: {said}") from None
    if not isinstance(schema, Mapping):
        raise UsageError(f"format {read.name}: {file} is not a JSON object")
    return schema


def _retry(name: str, table: Mapping[str, object] | None) -> RetryOverrides:
    """The retry settings of a table."""
    if table is None:
        return RetryOverrides()
    fault = unknown_key(table, _RETRY_KEYS)
    if fault:
        raise UsageError(f"format {name}, retry: {fault}")
    read = _Reader(f"{name}, retry", table)
    counts = {
        key: read.value(key, int, "a whole number") for key in ("max_attempts", "max_retries")
    }
    try:
        attempts = attempts_from(**counts)
    except UsageError as error:
        raise UsageError(f"format {name}, retry: {error.message}") from None
    switches = {key: read.value(key, bool, "true or false") for key in _SWITCHES}
    return RetryOverrides(max_attempts=attempts, **switches)


def _text(path: Path, spoken: str) -> str:
    """The text of a file of the user's."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{spoken} is larger than {_MOST_BYTES:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"{spoken} does not exist") from None
    except UnicodeDecodeError:
        raise UsageError(f"{spoken} is not UTF-8 text") from None
    except OSError as fault:
        raise UsageError(f"{spoken} cannot be read: {fault.strerror or 'unknown'}") from None
