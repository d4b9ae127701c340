"""The prompts and schemas that we ship, as text; no other module opens them.

They are plain files, so that anybody can read and review them. In a wheel they stand inside the
package under `_data`; in a checkout they stand beside it. This is the only place that knows both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from repurpose.errors import UsageError

__all__ = ["prompt_text", "schema_names", "schema_text"]

_SCHEMA_SUFFIX = ".schema.json"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""What a file may be called; keeps a name from walking out of its folder."""


def prompt_text(name: str) -> str:
    """The prompt file `prompts/NAME.md`, with its named places unfilled.

    Raises:
        UsageError: there is no such file; the message names it.
    """
    return _text("prompts", name, ".md")


def schema_text(name: str) -> str:
    """The schema file `schemas/NAME.schema.json`, undecoded.

    Raises:
        UsageError: there is no such file; the message names it.
    """
    return _text("schemas", name, _SCHEMA_SUFFIX)


def schema_names() -> tuple[str, ...]:
    """The names that `schema_text` knows, sorted."""
    found = {
        entry.name.removesuffix(_SCHEMA_SUFFIX)
        for folder in _folders("schemas")
        for entry in folder.iterdir()
        if entry.name.endswith(_SCHEMA_SUFFIX)
    }
    return tuple(sorted(found))


def _text(kind: str, name: str, suffix: str) -> str:
    if _NAME.fullmatch(name):
        for folder in _folders(kind):
            entry = folder / f"{name}{suffix}"
            if entry.is_file():
                return entry.read_text(encoding="utf-8")
    raise UsageError(f"{kind}/{name}{suffix} does not exist")


def _folders(kind: str) -> Iterator[Traversable]:
    """The folders of this kind that exist: the package's own first, then the checkout's."""
    package = files("repurpose")
    beside = Path(__file__).resolve().parent.parent
    for folder in (package / "_data" / kind, beside / kind):
        if folder.is_dir():
            yield folder
