"""A quick yes for answers that are valid, which nearly all are; never a no.

Built for the keywords that formats use every day. What it lets through, the reference lets
through; what it does not, the reference is asked about, since only that one can say why. A schema
with any other keyword has no quick judge. Takes a hundredth of the reference's time, and spares
a process whose answers are all valid the import of a validating library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from typing import Any, TypeAlias

from repurpose.schema._shape import ANNOTATIONS, Schema, is_list, json_type

__all__ = ["Judge", "quick_judge"]

Judge: TypeAlias = Callable[[Any], bool]
"""Whether a decoded value is surely valid."""


class _Unsupported(Exception):  # noqa: N818 - not an error: the reference judges such schemas
    """The schema says something that only the reference understands."""


def quick_judge(schema: Schema) -> Judge | None:
    """The quick judge of a schema inside the strict subset, or None where there is none.

    >>> judge = quick_judge({"type": "object", "properties": {"n": {"type": "integer"}}})
    >>> judge is not None and judge({"n": 5}), judge is not None and judge({"n": 5.0})
    (True, False)
    """
    try:
        return _judge(schema)
    except _Unsupported:
        return None


def _judge(schema: Schema) -> Judge:
    checks: list[Judge] = []
    for keyword, value in schema.items():
        if keyword in ANNOTATIONS or keyword in _WITH_OBJECT:
            continue
        make = _MAKERS.get(keyword)
        if make is None:
            raise _Unsupported
        checks.append(make(value))
    if not _WITH_OBJECT.isdisjoint(schema):
        checks.append(_object(schema))
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def _type(named: Any) -> Judge:  # noqa: ANN401 - the value of a keyword
    names = frozenset(named) if is_list(named) else frozenset((named,))
    if names == {"string"}:
        return lambda value: type(value) is str
    if "number" in names:
        names |= {"integer"}
    return lambda value: json_type(value) in names


def _object(schema: Schema) -> Judge:
    """Properties, required and additionalProperties, which go together."""
    judges = {key: _judge(part) for key, part in schema.get("properties", {}).items()}
    required = tuple(schema.get("required", ()))
    extra = schema.get("additionalProperties", True)
    further = _judge(extra) if isinstance(extra, Mapping) else (lambda _: bool(extra))
    # Without a type, what is no object lacks its required keys; with one, the type decides.
    other_passes = "type" in schema or "required" not in schema

    def judge(value: Any) -> bool:  # noqa: ANN401 - any JSON value
        if type(value) is not dict:
            return other_passes
        return all(key in value for key in required) and all(
            judges.get(key, further)(part) for key, part in value.items()
        )

    return judge


def _items(schema: Schema) -> Judge:
    judge = _judge(schema)
    return lambda value: type(value) is not list or all(map(judge, value))


def _any_of(schemas: list[Schema]) -> Judge:
    judges = [_judge(schema) for schema in schemas]
    return lambda value: any(judge(value) for judge in judges)


def _enum(values: list[Any]) -> Judge:
    if not all(isinstance(value, str) for value in values):
        raise _Unsupported  # equality of other values is the reference's
    known = frozenset(values)
    return lambda value: type(value) is str and value in known


def _sized(kind: type[Sized], fits: Callable[[int, int], bool]) -> Callable[[int], Judge]:
    def make(bound: int) -> Judge:
        def judge(value: Any) -> bool:  # noqa: ANN401 - any JSON value
            return type(value) is not kind or fits(len(value), bound)

        return judge

    return make


def _bounded(fits: Callable[[float, float], bool]) -> Callable[[float], Judge]:
    def make(bound: float) -> Judge:
        return lambda value: type(value) not in (int, float) or fits(value, bound)

    return make


_WITH_OBJECT = frozenset({"properties", "required", "additionalProperties"})
_MAKERS: Mapping[str, Callable[[Any], Judge]] = {
    "type": _type,
    "items": _items,
    "anyOf": _any_of,
    "enum": _enum,
    "const": lambda value: _enum([value]),
    "minLength": _sized(str, lambda length, least: length >= least),
    "maxLength": _sized(str, lambda length, most: length <= most),
    "minItems": _sized(list, lambda length, least: length >= least),
    "maxItems": _sized(list, lambda length, most: length <= most),
    "minimum": _bounded(lambda value, bound: value >= bound),
    "maximum": _bounded(lambda value, bound: value <= bound),
    "exclusiveMinimum": _bounded(lambda value, bound: value > bound),
    "exclusiveMaximum": _bounded(lambda value, bound: value < bound),
}
