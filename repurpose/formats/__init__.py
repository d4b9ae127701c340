"""The kinds of text we produce, by name. A format is loaded when it is asked for."""

from __future__ import annotations

import difflib

from repurpose.core.table import member
from repurpose.errors import UsageError
from repurpose.formats.base import Format

__all__ = ["FORMATS", "format_named"]

FORMATS: dict[str, str] = {
    "summary": "repurpose.formats.summary:build",
    "faq": "repurpose.formats.faq:build",
    "social": "repurpose.formats.social:build",
    "newsletter": "repurpose.formats.newsletter:build",
}
"""Where each format is built, in the order in which formats are listed and run."""


def format_named(name: str, **options: object) -> Format:
    """The format with this name, whatever its case; `options` are those of its `build`.

    Raises:
        UsageError: there is none; the message names the nearest and lists the known ones.

    >>> format_named("faq").label
    'FAQ'
    """
    wanted = name.strip().casefold()
    if wanted not in FORMATS:
        nearest = difflib.get_close_matches(wanted, FORMATS, n=1)
        meant = f"did you mean {nearest[0]}? " if nearest else ""
        raise UsageError(f'unknown format "{name}"; {meant}known: {", ".join(FORMATS)}')
    made: Format = member(FORMATS[wanted])(**options)
    return made
