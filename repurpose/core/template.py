"""Named places in prompts: `{name}` is replaced, and nothing is ever evaluated.

A template engine that could evaluate source or user text would make data into code, so there
is none. What is put into a place is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from repurpose.errors import UsageError

__all__ = ["places_in", "render"]

_PLACE = re.compile(r"\{([a-z][a-z0-9_]*)\}")


def places_in(template: str) -> tuple[str, ...]:
    """The names of the places in `template`, in order, each once.

    >>> places_in("Write in {language}. {steering} {language}")
    ('language', 'steering')
    """
    return tuple(dict.fromkeys(_PLACE.findall(template)))


def render(template: str, places: Mapping[str, str], *, name: str) -> str:
    """`template` with every place filled, and runs of blank lines that empty places leave closed.

    Raises:
        UsageError: a place of the template is unknown; `name` says which file.

    >>> render("Write in {language}.", {"language": "{tone}"}, name="system")
    'Write in {tone}.'
    """
    unknown = [place for place in places_in(template) if place not in places]
    if unknown:
        raise UsageError(
            f"prompt {name}: unknown place {{{unknown[0]}}}",
            hint=f"known places: {', '.join(sorted(places)) or 'none'}",
        )
    lines = _blank_where_empty(template, places).strip()
    return _PLACE.sub(lambda place: places[place.group(1)], lines)


def _blank_where_empty(template: str, places: Mapping[str, str]) -> str:
    """`template` without the lines that hold nothing but an empty place."""
    return "\n".join(
        line
        for line in template.split("\n")
        if not ((alone := _PLACE.fullmatch(line.strip())) and not places[alone.group(1)])
    )
