"""What becomes of a valid answer to a declared format: trimmed, cut, capped, and plain text.

The same for a list of outputs and for a schema file. Nothing here fails but an answer that lacks
a required text, or holds nothing to read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.record import CutMode, Measures
from repurpose.errors import UnusableOutput
from repurpose.formats._declared_schema import cut_bound, is_fixed, item_bound
from repurpose.formats._declared_wording import label_of
from repurpose.formats.base import Finish, FinishContext, Finished, Piece
from repurpose.text.counting import MEASURES, code_points
from repurpose.text.cutting import cut
from repurpose.text.trimming import trimmed

__all__ = ["finish_by", "finish_plain"]

_MODES: tuple[CutMode, ...] = ("none", "sentence", "word")
"""From the mildest to the harshest."""
_WHERE = {"sentence": "a sentence end", "word": "a word"}

Node = Mapping[str, Any]


def finish_by(schema: JsonObject) -> Finish:
    """Post-validation by a checked schema, whose bounds are kept by cutting and capping.

    Texts are trimmed, and texts that must not change (an enum, a pattern) are left as they are.
    Of a list, blank and incomplete items are dropped first. Each change is a note.
    """

    def finish(answer: JsonObject, context: FinishContext) -> Finished:
        work = _Work(context)
        fields = work.fields(answer, schema, "")
        if work.lacking:
            raise UnusableOutput(f"the answer lacks {', '.join(work.lacking)}")
        if not any(map(_says_something, fields.values())):
            raise UnusableOutput("the answer holds nothing to publish")
        declared = schema["properties"]
        assert isinstance(declared, Mapping)  # noqa: S101 - the schema is checked
        work.notes.extend(f"{name}: left empty" for name in declared if name not in fields)
        return _finished(fields, plain_text(fields, declared), work)

    return finish


def finish_plain(answer: JsonObject, context: FinishContext) -> Finished:
    """The one text of a format that declares nothing, as it came but for white space around it."""
    text = trimmed(str(answer["result"]))
    if not text:
        raise UnusableOutput("the reply is empty")
    return _finished({"result": text}, text, _Work(context))


def _finished(fields: JsonObject, text: str, work: _Work) -> Finished:
    measures = Measures(
        length=code_points(text),
        unit="code_points",
        shortened=work.mode != "none",
        cut_mode=work.mode,
    )
    piece = Piece(variant="default", text=text, content=fields, measures=measures)
    return Finished(content=fields, fields=fields, pieces=(piece,), notes=tuple(work.notes))


class _Work:
    """One answer in work, and what was done to it so far."""

    def __init__(self, context: FinishContext) -> None:
        self._context = context
        self.notes: list[str] = []
        self.lacking: list[str] = []
        self.mode: CutMode = "none"

    def fields(self, answer: Mapping[str, JsonValue], schema: Node, path: str) -> JsonObject:
        """The declared fields of an object in their declared order, then what it may hold besides.

        Of the whole answer, nothing is kept besides.
        """
        declared: Node = schema.get("properties", {})
        made: dict[str, JsonValue] = {}
        for name, node in declared.items():
            if name not in answer:
                continue
            where = f"{path}.{name}" if path else name
            if _is_incomplete(answer[name], node):
                if name in schema.get("required", ()):
                    self.lacking.extend(_blanks(answer[name], node, where))
                elif path:
                    self.notes.append(f"{where}: left empty")
                continue
            made[name] = self._value(answer[name], node, where)
        others = [name for name in answer if name not in declared]
        if path:
            made |= {name: answer[name] for name in others}
        elif others:
            count = f"{len(others)} undeclared field{'s' if len(others) > 1 else ''}"
            self.notes.append(f"{count} left out")
        return made

    def _value(self, value: JsonValue, node: Node, path: str) -> JsonValue:
        match value:
            case str():
                return value if is_fixed(node) else self._text(trimmed(value), node, path)
            case Mapping():
                return self.fields(value, node, path)
            case Sequence():
                return self._items(value, node, path)
            case _:
                return value

    def _text(self, text: str, node: Node, path: str) -> str:
        bound = cut_bound(node)
        if bound is None:
            return text
        context = self._context
        short = cut(text, bound.limit, MEASURES[bound.unit], context.language, context.segmenter)
        if short.shortened:
            self.mode = max(self.mode, short.mode, key=_MODES.index)
            size = f"{short.length:,} of {bound.limit:,}"
            self.notes.append(f"{path}: shortened at {_WHERE[short.mode]} to {size}")
        return short.text

    def _items(self, items: Sequence[JsonValue], node: Node, path: str) -> list[JsonValue]:
        if "prefixItems" in node or is_fixed(node):
            return list(items)
        shape: Node = node.get("items", {})
        kept = [item for item in items if not _is_incomplete(item, shape)]
        if len(kept) < len(items):
            self.notes.append(f"{path}: {len(items) - len(kept)} blank or incomplete dropped")
        most = item_bound(node)
        if most is not None and len(kept) > most:
            self.notes.append(f"{path}: {len(kept)} given, the first {most} kept")
            kept = kept[:most]
        return [self._value(item, shape, f"{path}.{place}") for place, item in enumerate(kept)]


def _is_incomplete(value: JsonValue, node: Node) -> bool:
    """Whether a value that has to say something does not: a blank text, or a part that lacks one.

    An empty list says that there is nothing, and a list of blanks says nothing.
    """
    match value:
        case str():
            return not is_fixed(node) and not trimmed(value)
        case Mapping():
            declared: Node = node.get("properties", {})
            required = node.get("required", ())
            return bool(value) and (
                any(
                    _is_incomplete(value[name], part)
                    for name, part in declared.items()
                    if name in required and name in value
                )
                or not any(map(_says_something, value.values()))
            )
        case Sequence():
            shape: Node = node.get("items", {})
            return bool(value) and all(_is_incomplete(item, shape) for item in value)
        case _:
            return False


def _blanks(value: JsonValue, node: Node, path: str) -> Iterator[str]:
    """Where an incomplete value says nothing, as far down as objects lead."""
    inner = [
        (name, part)
        for name, part in node.get("properties", {}).items()
        if isinstance(value, Mapping) and name in node.get("required", ()) and name in value
        if _is_incomplete(value[name], part)
    ]
    if not isinstance(value, Mapping) or not inner:
        yield path
        return
    for name, part in inner:
        yield from _blanks(value[name], part, f"{path}.{name}")


def _says_something(value: JsonValue) -> bool:
    match value:
        case str():
            return bool(trimmed(value))
        case Mapping():
            return any(map(_says_something, value.values()))
        case Sequence():
            return any(map(_says_something, value))
        case _:
            return value is not None


# --- plain text ---------------------------------------------------------------------------------


def plain_text(fields: JsonObject, declared: Node) -> str:
    """The fields as `Label: value` lines, lists as bullets; one field alone stands without a label.

    >>> print(plain_text({"title": "Bees", "tags": ["roof", "city"]}, {"title": {}, "tags": {}}))
    Title: Bees
    <BLANKLINE>
    Tags:
    - roof
    - city
    """
    if len(declared) == 1:
        ((name, node),) = declared.items()
        return _block(fields[name], node)
    blocks = [
        _labelled(name, fields[name], node)
        for name, node in declared.items()
        if name in fields and _says_something(fields[name])
    ]
    text = ""
    for before, block in zip(["", *blocks], blocks, strict=False):
        gap = "\n\n" if "\n" in before or "\n" in block else "\n"
        text += f"{gap if text else ''}{block}"
    return text


def _labelled(name: str, value: JsonValue, node: Node) -> str:
    label = node.get("title") or label_of(name)
    block = _block(value, node)
    if isinstance(value, Mapping):
        return f"{label}:\n{_indented(block)}"
    own_line = "\n" in block or not isinstance(value, str | int | float | None)
    return f"{label}:\n{block}" if own_line else f"{label}: {block}"


def _block(value: JsonValue, node: Node) -> str:
    match value:
        case str():
            return value
        case Mapping():
            declared: Node = node.get("properties", {})
            return "\n".join(
                _labelled(name, part, declared.get(name, {}))
                for name, part in value.items()
                if _says_something(part)
            )
        case Sequence():
            shape: Node = node.get("items", {})
            items = [_block(item, shape) for item in value if _says_something(item)]
            return "\n".join(f"- {_indented(item).lstrip(' ')}" for item in items)
        case _:
            return json.dumps(value)


def _indented(block: str) -> str:
    return "\n".join(f"  {line}" if line else line for line in block.split("\n"))
