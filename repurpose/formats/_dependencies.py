"""Which formats read the results of which others, and in what order they can be made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from repurpose.errors import UsageError
from repurpose.formats._declared_wording import meant
from repurpose.formats.base import Format

__all__ = ["needed_by", "ordered"]


def needed_by(format: Format) -> tuple[str, ...]:
    """The names of the formats whose results this one's prompt speaks of, once each."""
    return tuple(dict.fromkeys(path.partition(".")[0] for path in format.needs))


def ordered(formats: Sequence[Format]) -> tuple[Format, ...]:
    """The formats, each after those that it needs, else in the order given.

    Raises:
        UsageError: a needed format is not among them, or has no such field, or formats wait for
            each other. Nothing has been called then.
    """
    known = {format.name: format for format in formats}
    for format in formats:
        _check_paths(format, known)
    done: dict[str, Format] = {}
    left = list(formats)
    while left:
        ready = next((each for each in left if done.keys() >= set(needed_by(each))), None)
        if ready is None:
            raise UsageError(_circle(left))
        done[ready.name] = ready
        left.remove(ready)
    return tuple(done.values())


def _check_paths(format: Format, known: Mapping[str, Format]) -> None:
    for path in format.needs:
        name, _, rest = path.partition(".")
        if name not in known:
            raise UsageError(
                f"format {format.name}: {{{path}}} needs {name}, which is not part of the run",
                hint=meant(name, known) or f"name {name} as well, before or after {format.name}",
            )
        fields = known[name].declared
        field = rest.removeprefix("data.").partition(".")[0] if "data" not in fields else ""
        if field and field not in fields:
            advice = meant(field, fields) or f"it has {', '.join(fields)}"
            raise UsageError(
                f"format {format.name}: {{{path}}}: {name} has no field {field}; {advice}"
            )


def _circle(left: Sequence[Format]) -> str:
    waits = ", ".join(f"{each.name} needs {' and '.join(needed_by(each))}" for each in left)
    return f"formats wait for each other: {waits}"
