"""A declared schema as it is enforced: which bounds are cut to, and which are asked for again.

A schema says `maxLength` and `maxItems`; a model that writes 63 characters instead of 60 is not
asked for the whole answer again. Where a text can be cut and a list be capped, the bound moves
from what an answer is validated by into its description, and post-validation keeps it. Where
cutting could break another rule (an enum, a pattern, a lower bound) or where alternatives leave
open which shape is meant, it stays a rule of validation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from repurpose.core.json_types import JsonObject
from repurpose.errors import SchemaError
from repurpose.formats._declared_outputs import UNIT
from repurpose.formats._declared_wording import meant
from repurpose.schema.subset import check_subset
from repurpose.text.counting import MEASURES

__all__ = ["Bound", "checked_schema", "cut_bound", "is_fixed", "item_bound", "judged"]

_FIXED = ("enum", "const", "pattern")
_UNIT_WORDS = {
    "code_points": "characters",
    "graphemes": "characters",
    "utf16": "characters",
    "mastodon": "characters as Mastodon counts them",
    "x_weighted": "characters as X counts them",
    "utf8_bytes": "bytes",
}

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a text may have."""

    limit: int
    unit: str
    """A key of `repurpose.text.counting.MEASURES`."""


def checked_schema(schema: object, name: str) -> JsonObject:
    """The schema with every object closed that says nothing of further keys.

    Raises:
        SchemaError: it is outside the strict subset, declares no field, or has a bound that
            nothing can be cut to; the one line names the place.
    """
    closed = _closed(schema) if isinstance(schema, Mapping) else schema
    check_subset(closed, name)
    assert isinstance(closed, Mapping)  # noqa: S101 - nothing else is inside the subset
    if not closed.get("properties"):
        raise SchemaError(f'schema "{name}", top: declares no properties; declare the fields')
    for path, node in _reached(closed, ""):
        words = _bound_fault(node)
        if words is not None:
            raise SchemaError(f'schema "{name}", {path or "top"}: {words}')
    return closed


def judged(schema: JsonObject) -> JsonObject:
    """The schema that answers are validated by: without the bounds that post-validation keeps.

    >>> judged({"type": "string", "maxLength": 60, "description": "The title"})
    {'type': 'string', 'description': 'The title. At most 60 characters.'}
    """

    def relaxed(node: Node) -> dict[str, Any]:
        made = dict(node)
        words = []
        bound, most = cut_bound(node), item_bound(node)
        if bound is not None:
            del made["maxLength"]
            words.append(f"At most {bound.limit:,} {_UNIT_WORDS[bound.unit]}.")
        if most is not None:
            del made["maxItems"]
            words.append(f"At most {most} item{'s' if most > 1 else ''}.")
        if words:
            made["description"] = _sentences(node.get("description", ""), words)
        return made

    made: JsonObject = _changed(schema, relaxed)
    return made


def cut_bound(node: Node) -> Bound | None:
    """What a text of this schema is cut to, or None where nothing is cut."""
    limit = node.get("maxLength")
    if limit is None or is_fixed(node) or node.get("minLength", 0) > 1:
        return None
    return Bound(limit, _unit(node) or "code_points")


def item_bound(node: Node) -> int | None:
    """How many items of a list of this schema are kept, or None where all are."""
    most = node.get("maxItems")
    return None if most is None or is_fixed(node) else int(most)


def is_fixed(node: Node) -> bool:
    """Whether a value has to stay exactly as it is."""
    return any(keyword in node for keyword in _FIXED)


def _unit(node: Node) -> str | None:
    comment = node.get("$comment", "")
    return comment.removeprefix(UNIT).strip() if comment.startswith(UNIT) else None


def _bound_fault(node: Node) -> str | None:
    bound, most = cut_bound(node), item_bound(node)
    if bound is not None and bound.limit < 2:
        return "maxLength leaves no room to cut; make it at least 2"
    if most is not None and most < 1:
        return "maxItems leaves nothing of a list; make it at least 1"
    unit = _unit(node)
    if unit is not None and unit not in MEASURES:
        advice = meant(unit, MEASURES) or f"known: {', '.join(MEASURES)}"
        return f'the unit "{unit[:40]}" is not known; {advice}'
    return None


def _closed(schema: Mapping[str, Any]) -> JsonObject:
    """Undeclared keys are refused where the schema does not say otherwise.

    What stands under `allOf` or beside it describes a part of an object only, so it stays open.
    """

    def closed(node: Node) -> dict[str, Any]:
        if not isinstance(node.get("properties"), Mapping) or "allOf" in node:
            return dict(node)
        return {**node, "additionalProperties": node.get("additionalProperties", False)}

    made: JsonObject = _changed(schema, closed, alternatives=True)
    return made


def _changed(
    node: Any,  # noqa: ANN401 - a schema that may not have been checked yet
    change: Callable[[Node], dict[str, Any]],
    *,
    alternatives: bool = False,
    depth: int = 0,
) -> Any:  # noqa: ANN401 - likewise
    """A copy with `change` applied to every schema that a fixed path leads to."""
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return node

    def inner(part: object) -> Any:  # noqa: ANN401 - likewise
        return _changed(part, change, alternatives=alternatives, depth=depth + 1)

    made = change(node)
    if isinstance(made.get("properties"), Mapping):
        made["properties"] = {key: inner(part) for key, part in made["properties"].items()}
    if isinstance(made.get("items"), Mapping):
        made["items"] = inner(made["items"])
    for keyword in ("anyOf", "oneOf", "prefixItems") if alternatives else ():
        if isinstance(made.get(keyword), list | tuple):
            made[keyword] = [inner(part) for part in made[keyword]]
    return made


_DEEPEST = 64
"""Beyond what the subset lets through, so that its own message is the one that is read."""


def _reached(node: Node, path: str) -> Iterator[tuple[str, Node]]:
    """Every schema that a fixed path leads to, with that path."""
    yield path, node
    for key, part in node.get("properties", {}).items():
        yield from _reached(part, f"{path}.properties.{key}".lstrip("."))
    if "items" in node:
        yield from _reached(node["items"], f"{path}.items".lstrip("."))


def _sentences(description: str, words: list[str]) -> str:
    text = description.rstrip()
    if text and text[-1] not in ".!?:;。":
        text += "."
    return " ".join([text, *words]).lstrip()
