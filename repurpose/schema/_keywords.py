"""What each keyword of the subset means, as functions that `jsonschema` calls.

They replace the library's own for three reasons: its messages quote the answer, its equality
takes 1 for 1.0, and its patterns, its uniqueness and its messages have no bound on hostile
values. Each takes `(validator, value of the keyword, instance, schema)` and yields errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from repurpose.schema._equality import MAX_ITEM_DEPTH, TooDeepError, all_distinct, same
from repurpose.schema._patterns import matcher
from repurpose.schema._shape import json_type
from repurpose.schema._wording import counted, listed, must_be, quoted, undeclared

__all__ = ["MAX_ERRORS", "STANDARD", "STRICT"]

MAX_ERRORS = 100
"""How many errors are looked for; nobody reads more, and a hostile answer has a million."""

Errors: TypeAlias = Iterator[ValidationError]
Judge: TypeAlias = Any
"""The validator of a subschema; the library has no type for a class that it makes."""
Json: TypeAlias = Any
"""A part of an answer or of a schema, as the library hands it over, untyped."""
Keyword: TypeAlias = Callable[[Judge, Json, Json, Json], Errors]


class Node(dict[str, Any]):
    """A schema or a part of one, with room for the validator that is made from it."""

    __slots__ = ("judge",)

    judge: Judge


def _descend(validator: Judge, instance: Json, node: Json, path: str | int | None = None) -> Errors:
    """The errors of a part; the library's own `descend` makes a new validator for every value."""
    try:
        judge = node.judge
    except AttributeError:
        judge = node.judge = validator.evolve(schema=node)
    for error in judge.iter_errors(instance):
        if path is not None:
            error.path.appendleft(path)
        yield error


def _type(_validator: Judge, types: Json, instance: Json, _schema: Json) -> Errors:
    names = [types] if isinstance(types, str) else types
    actual = json_type(instance)
    if actual not in names and not (actual == "integer" and "number" in names):
        yield ValidationError(must_be(names, actual))


def _type_of_standard(validator: Judge, types: Json, instance: Json, schema: Json) -> Errors:
    """As `_type`, but 5.0 is an integer, as in draft 2020-12."""
    whole = isinstance(instance, float) and instance.is_integer()
    yield from _type(validator, types, 1 if whole else instance, schema)


def _equality(*, strict: bool) -> Mapping[str, Keyword]:
    """The keywords that compare values, type-strict or as JSON Schema has it."""

    def enum(_validator: Judge, members: Json, instance: Json, _schema: Json) -> Errors:
        if not any(same(member, instance, strict=strict) for member in members):
            yield ValidationError(f"must be one of {listed(members)}")

    def const(_validator: Judge, value: Json, instance: Json, _schema: Json) -> Errors:
        if not same(value, instance, strict=strict):
            yield ValidationError(f"must be exactly {quoted(value)}")

    def unique_items(_validator: Judge, wanted: Json, instance: Json, _schema: Json) -> Errors:
        if not wanted or not isinstance(instance, list):
            return
        try:
            if not all_distinct(instance, strict=strict):
                yield ValidationError("must not hold the same item twice")
        except TooDeepError:
            yield ValidationError(f"has items nested more than {MAX_ITEM_DEPTH} deep")

    return {"enum": enum, "const": const, "uniqueItems": unique_items}


def _min_length(_validator: Judge, least: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, str) and len(instance) < least:
        yield ValidationError(
            f"must have at least {counted(least, 'character')}, has {len(instance)}"
        )


def _max_length(_validator: Judge, most: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, str) and len(instance) > most:
        yield ValidationError(
            f"must have at most {counted(most, 'character')}, has {len(instance)}"
        )


def _pattern(_validator: Judge, pattern: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, str) and not matcher(pattern)(instance):
        yield ValidationError(f"must match the pattern {quoted(pattern)}")


def _minimum(_validator: Judge, bound: Json, instance: Json, _schema: Json) -> Errors:
    if _is_number(instance) and instance < bound:
        yield ValidationError(f"must be at least {bound}")


def _maximum(_validator: Judge, bound: Json, instance: Json, _schema: Json) -> Errors:
    if _is_number(instance) and instance > bound:
        yield ValidationError(f"must be at most {bound}")


def _exclusive_minimum(_validator: Judge, bound: Json, instance: Json, _schema: Json) -> Errors:
    if _is_number(instance) and instance <= bound:
        yield ValidationError(f"must be more than {bound}")


def _exclusive_maximum(_validator: Judge, bound: Json, instance: Json, _schema: Json) -> Errors:
    if _is_number(instance) and instance >= bound:
        yield ValidationError(f"must be less than {bound}")


def _multiple_of(_validator: Judge, step: Json, instance: Json, _schema: Json) -> Errors:
    if _is_number(instance) and instance % step != 0:
        yield ValidationError(f"must be a multiple of {step}")


def _min_items(_validator: Judge, least: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, list) and len(instance) < least:
        yield ValidationError(f"must have at least {counted(least, 'item')}, has {len(instance)}")


def _max_items(_validator: Judge, most: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, list) and len(instance) > most:
        yield ValidationError(f"must have at most {counted(most, 'item')}, has {len(instance)}")


def _prefix_items(validator: Judge, schemas: Json, instance: Json, _schema: Json) -> Errors:
    if isinstance(instance, list):
        for index, (item, subschema) in enumerate(zip(instance, schemas, strict=False)):
            yield from _descend(validator, item, subschema, path=index)


def _items(validator: Judge, subschema: Json, instance: Json, schema: Json) -> Errors:
    """The items after `prefixItems`; those beyond `maxItems` are too many already."""
    if not isinstance(instance, list):
        return
    first = len(schema.get("prefixItems", ()))
    for index in range(first, min(len(instance), schema.get("maxItems", len(instance)))):
        yield from _descend(validator, instance[index], subschema, path=index)


def _properties(validator: Judge, declared: Json, instance: Json, schema: Json) -> Errors:
    """Each declared property; null where it is required but not allowed counts as missing."""
    if not isinstance(instance, dict):
        return
    required = schema.get("required", ())
    for key, subschema in declared.items():
        if key not in instance:
            continue
        errors = _descend(validator, instance[key], subschema, path=key)
        if instance[key] is None and key in required and "null" not in _type_names(subschema):
            if next(errors, None) is not None:
                yield ValidationError(
                    "is required and must not be null", validator="required", path=[key]
                )
        else:
            yield from errors


def _required(_validator: Judge, names: Json, instance: Json, schema: Json) -> Errors:
    """Each required key. Something else than an object lacks them all, unless `type` decides."""
    if isinstance(instance, dict):
        for key in names:
            if key not in instance:
                yield ValidationError("is required but missing", path=[key])
    elif "type" not in schema:
        yield ValidationError(must_be(["object"], json_type(instance)), validator="type")


def _required_of_standard(_validator: Judge, names: Json, instance: Json, schema: Json) -> Errors:
    """As `_required`, but says nothing about what is no object, as in draft 2020-12."""
    if isinstance(instance, dict):
        yield from _required(_validator, names, instance, schema)


def _additional_properties(validator: Judge, rule: Json, instance: Json, schema: Json) -> Errors:
    if rule is True or not isinstance(instance, dict):
        return
    declared = schema.get("properties", {})
    extras = [key for key in instance if key not in declared]
    if rule is False:
        if extras:
            yield ValidationError(undeclared(extras, declared))
    else:
        for key in extras:
            yield from _descend(validator, instance[key], rule, path="*")


def _all_of(validator: Judge, schemas: Json, instance: Json, _schema: Json) -> Errors:
    for subschema in schemas:
        yield from _descend(validator, instance, subschema)


def _any_of(validator: Judge, schemas: Json, instance: Json, _schema: Json) -> Errors:
    failures = []
    for subschema in schemas:
        errors = list(islice(_descend(validator, instance, subschema), MAX_ERRORS))
        if not errors:
            return
        failures.append((subschema, errors))
    yield from _closest(failures, instance)


def _one_of(validator: Judge, schemas: Json, instance: Json, _schema: Json) -> Errors:
    failures = []
    for subschema in schemas:
        errors = list(islice(_descend(validator, instance, subschema), MAX_ERRORS))
        if errors:
            failures.append((subschema, errors))
    fitting = len(schemas) - len(failures)
    if fitting > 1:
        yield ValidationError(f"must fit exactly one of {len(schemas)} shapes, fits {fitting}")
    elif fitting == 0:
        yield from _closest(failures, instance)


def _closest(failures: list[tuple[Any, list[ValidationError]]], instance: Json) -> Errors:
    """The errors of the one alternative that the value was meant for, where that is plain."""
    meant = [errors for _, errors in failures if not any(map(_is_own_type_error, errors))]
    if len(meant) == 1:
        yield from meant[0]
    elif meant:
        yield ValidationError(f"must fit one of {counted(len(failures), 'shape')}, fits none")
    else:
        names = dict.fromkeys(name for schema, _ in failures for name in _type_names(schema))
        words = must_be(names, json_type(instance)) if names else "must have another type"
        yield ValidationError(words, validator="type")


def _is_own_type_error(error: ValidationError) -> bool:
    return error.validator == "type" and not error.path


def _not(validator: Judge, subschema: Json, instance: Json, _schema: Json) -> Errors:
    if next(_descend(validator, instance, subschema), None) is None:
        yield ValidationError("must not have a shape that the schema rules out")


def _type_names(schema: Mapping[str, Any]) -> list[str]:
    named = schema.get("type", [])
    return [named] if isinstance(named, str) else list(named)


def _is_number(instance: object) -> bool:
    return isinstance(instance, int | float) and not isinstance(instance, bool)


_COMMON: Mapping[str, Keyword] = {
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "multipleOf": _multiple_of,
    "minItems": _min_items,
    "maxItems": _max_items,
    "prefixItems": _prefix_items,
    "items": _items,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}

STRICT = extend(  # type: ignore[no-untyped-call]  # types-jsonschema leaves it untyped
    Draft202012Validator, {**_COMMON, **_equality(strict=True), "type": _type}
)
"""The subset, type-strict: 5.0 is no integer, and 1, 1.0 and true are three values."""

STANDARD = extend(  # type: ignore[no-untyped-call]  # types-jsonschema leaves it untyped
    Draft202012Validator,
    {
        **_COMMON,
        **_equality(strict=False),
        "type": _type_of_standard,
        "required": _required_of_standard,
    },
)
"""The subset as draft 2020-12 reads it: 5.0 is an integer, and 1 is 1.0."""
