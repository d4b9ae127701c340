"""Named places in prompts: `{name}` is replaced, and nothing is ever evaluated.

A template engine that could evaluate source or user text would make data into code, so there
is none. What is put into a place is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from repurpose.errors import UsageError

__all__ = ["EDITOR_PLACES", "SOURCE_PLACES", "places_in", "render"]

SOURCE_PLACES: Mapping[str, str] = MappingProxyType(
    {
        "title": "the title given in the source material",
        "author": "the author given in the source material",
        "date": "the date given in the source material",
        "url": "the address given in the source material",
    }
)
"""Places of a user's prompt that mean a fact of the source, with the words that are put there.

The fact itself is the source's, so it stands in the fenced block and never in a system prompt.
"""

EDITOR_PLACES = ("language", "audience", "tone")
"""Places of a user's prompt that are filled with the editor's own wishes."""

_PLACE = re.compile(r"\{([a-z][a-z0-9_-]*+(?:\.[A-Za-z0-9_-]++)*+)\}")
"""A name, or a dot path that begins with one: `{faq.pairs.0.question}`."""


def places_in(template: str) -> tuple[str, ...]:
    """The names of the places in `template`, in order, each once.

    >>> places_in("Write in {language}. {steering} {language} {faq.pairs.0.question}")
    ('language', 'steering', 'faq.pairs.0.question')
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
