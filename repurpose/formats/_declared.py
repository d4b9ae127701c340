"""From a declaration to a format: one like any other, for the same loop, store and exports.

Nobody has to write Python for one. A list of outputs and a schema file say the same things, so
both become a schema, and everything else is made of that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from repurpose.core.json_types import JsonObject
from repurpose.core.policy import RetryOverrides, RetryPolicy
from repurpose.core.template import EDITOR_PLACES, SOURCE_PLACES, places_in
from repurpose.errors import UsageError
from repurpose.formats._declared_finish import finish_by, finish_plain
from repurpose.formats._declared_outputs import schema_of
from repurpose.formats._declared_schema import checked_schema, judged
from repurpose.formats._declared_wording import label_of, meant
from repurpose.formats.base import Format

__all__ = ["RESULT", "checked_name", "declared_format"]

RESULT = "result"
"""The one field of a format that declares none."""

_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")
_RESERVED = frozenset({"brief", "default", "source"})
"""What calls over long sources and lone variants are named."""
_PLAIN_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {RESULT: {"type": "string"}},
    "required": [RESULT],
    "additionalProperties": False,
}


def declared_format(
    name: str,
    *,
    prompt: str,
    label: str | None = None,
    outputs: Sequence[object] = (),
    schema: JsonObject | None = None,
    extra: Literal["reject", "drop"] = "reject",
    retry: RetryOverrides | None = None,
    coerce: bool = True,
    output_tokens: int | None = None,
) -> Format:
    """A format of the user's own, from its prompt and the fields of its answer.

    The fields are `outputs`, tables with `name`, `type` and more (see `_declared_outputs`), or a
    JSON Schema inside the strict subset. An output is optional unless it says `required`: then a
    model may answer null. A text over its `max_length` (`maxLength`) is cut where a reader would
    stop, a list over its `max_items` (`maxItems`) capped, and each time a note says so; no call is
    spent on either. Lengths are code points where no `unit` is named. A blank required text makes
    the answer unusable.

    With neither, the reply is the result as it comes: one field `result`, no JSON, no repair, and
    its row says that nothing was validated.

    `prompt` may hold `{title}`, `{author}`, `{date}`, `{url}`, of which a model is told where they
    stand; `{language}`, `{audience}`, `{tone}`, which are the editor's; and results of other
    formats by dot path, `{faq.pairs.0.question}`, which arrive in blocks of their own. A blank
    prompt is refused when the format is run.

    Raises:
        UsageError: a name, place or number that cannot be used.
        SchemaError: outputs or a schema outside the strict subset.

    >>> declared_format("meta", prompt="Write a title.", outputs=[{"name": "title",
    ...     "type": "string", "required": True}]).declared
    ('title',)
    """
    checked_name(name)
    if outputs and schema is not None:
        raise UsageError(f"format {name}: outputs and a schema say the same thing; give one")
    if extra not in ("reject", "drop"):
        raise UsageError(f'format {name}: extra is "reject" or "drop", not {str(extra)[:40]!r}')
    if output_tokens is not None and output_tokens < 1:
        raise UsageError(f"format {name}: output_tokens must be at least 1")
    given = schema if schema is not None else schema_of(outputs, name) if outputs else None
    full = _PLAIN_SCHEMA if given is None else checked_schema(given, name)
    titled = full.get("title")
    properties = full["properties"]
    assert isinstance(properties, dict)  # noqa: S101 - both makers see to it
    return Format(
        name=name,
        label=_one_line(label) or _one_line(titled) or label_of(name),
        version=1,
        task=prompt.strip(),
        schema=judged(full),
        declared=tuple(properties),
        finish=finish_plain if given is None else finish_by(full),
        retry=_checked_retry(retry or RetryOverrides(), name),
        extra=extra,
        output_tokens=output_tokens,
        coerce=coerce,
        structured=given is not None,
        templated=True,
        needs=_checked_places(prompt, name),
        rules={"schema": full, "extra": extra, "coerce": coerce},
    )


def _one_line(text: object) -> str:
    return " ".join(text.split()) if isinstance(text, str) else ""


def checked_name(name: str) -> None:
    """Return quietly for a name that a format of the user's own may have.

    Raises:
        UsageError: it is no plain name, or one that we use ourselves.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"format {name[:60]!r} is no name for a format",
            hint="begin with a small letter; small letters, digits and - follow, 40 at most",
        )
    if name in _RESERVED:
        raise UsageError(f"format {name} has a name that is used for something else; rename it")


def _checked_places(prompt: str, name: str) -> tuple[str, ...]:
    """The earlier results that a prompt speaks of, once each."""
    known = (*SOURCE_PLACES, *EDITOR_PLACES)
    for place in places_in(prompt):
        if "." not in place and place not in known:
            advice = meant(place, known)
            listed = f"{', '.join(known)}, or a result such as faq.pairs.0.question"
            raise UsageError(
                f"format {name}: the prompt has the unknown place {{{place}}}",
                hint=f"{advice} known places: {listed}".strip(),
            )
    return tuple(place for place in places_in(prompt) if "." in place)


def _checked_retry(retry: RetryOverrides, name: str) -> RetryOverrides:
    try:
        RetryPolicy().layered(retry)
    except UsageError as error:
        raise UsageError(f"format {name}, retry: {error.message}", hint=error.hint) from None
    return retry
