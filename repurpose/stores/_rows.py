"""From records to columns and back: one field is one column, one nested value several.

Columns come from a record as plain values. `refuse_unclean` or `cleaned` decides what becomes of
text that SQLite cannot hold, and turns lists and objects into JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias

from repurpose.core.call import Call, Quote, Reply, Usage
from repurpose.core.item import Batch, Item
from repurpose.core.json_types import JsonValue
from repurpose.core.record import CallRecord, Measures, Row, Run
from repurpose.core.remembered import remembered
from repurpose.core.source import Block, Source
from repurpose.schema.intake import IntakeError, decode
from repurpose.stores._faults import Unstorable

__all__ = [
    "Columns",
    "batch_columns",
    "batch_from",
    "call_columns",
    "call_from",
    "cleaned",
    "cleaned_text",
    "item_columns",
    "item_from",
    "refuse_unclean",
    "reply_columns",
    "reply_from",
    "row_columns",
    "row_from",
    "run_columns",
    "run_from",
    "source_columns",
    "source_from",
]

Columns: TypeAlias = dict[str, Any]
"""Values by column name: of a record before writing, of a table's row after reading."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""NUL, which cuts a text short in SQL functions and C programs, and lone surrogates, which have
no UTF-8 form."""
_NUL_ESCAPE = "\\u0000"
"""NUL in JSON text; where the text means a backslash and these letters, too, it is looked at."""
_NUMBERS = frozenset({int, float, bool, type(None)})
_PLAIN = _NUMBERS | {str}
_EMPTY: Mapping[type, str] = {list: "[]", tuple: "[]", dict: "{}"}
_IN_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


# --- what a column can hold ---------------------------------------------------------------------


def cleaned_text(text: str) -> str:
    r"""`text` with U+FFFD for each character that cannot be stored; no offset moves.

    >>> cleaned_text("a\x00b") == "a\ufffdb"
    True
    """
    return text if _storable(text) else _UNSTORABLE.sub("\ufffd", text)


def cleaned(columns: Columns) -> Columns:
    """The columns as SQLite takes them, with every text cleaned, at any depth."""
    is_plain = _plain_in(columns)
    return {
        name: value if is_plain(type(value)) else _clean_value(name, value)
        for name, value in columns.items()
    }


def refuse_unclean(columns: Columns) -> Columns:
    """The columns as SQLite takes them, when every value in them will come back as it is.

    Raises:
        Unstorable: a text holds a character that cleaning would replace, or a value has no JSON
            form that our own decoder takes, such as NaN or a hundred levels.
    """
    values = dict(columns)
    is_plain = _plain_in(columns)
    for name, value in columns.items():
        if is_plain(type(value)):
            continue
        values[name] = column = _encoded(name, value)
        if not _is_clean(value, column):
            raise Unstorable(f"its {name} holds a NUL character or half of a surrogate pair")
        if value and column is not value:
            _decoded(name, column)
    return values


def _plain_in(columns: Columns) -> Callable[[type], bool]:
    """Tells which types of value need no further look: texts, too, if all of them are storable.

    One look at all texts together takes a tenth of the time that one at each does.
    """
    texts = "".join([value for value in columns.values() if type(value) is str])
    return (_PLAIN if _storable(texts) else _NUMBERS).__contains__


def _is_clean(value: Any, column: Any) -> bool:  # noqa: ANN401 - whatever JSON holds
    """Whether cleaning would change nothing of `value`, which `column` is the form of."""
    if not isinstance(column, str):
        return True
    quick = _storable(column) and (column is value or _NUL_ESCAPE not in column)
    return quick or bool(_cleaned(value) == value)


def _storable(text: str) -> bool:
    """Whether cleaning has nothing to do; many times faster than to look for what it would do."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _clean_value(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """One column's value: cleaned, and as JSON text where it is a list or an object."""
    if isinstance(value, str):
        return cleaned_text(value)
    text = _encoded(name, value)
    if text is value or not value:
        return text
    if _storable(text) and _NUL_ESCAPE not in text:
        return text
    try:
        return _encoded(name, _cleaned(value))
    except RecursionError as fault:
        raise Unstorable("a value is nested too deeply") from fault


def _cleaned(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    match value:
        case str():
            return cleaned_text(value)
        case Mapping():
            return {_cleaned(key): _cleaned(item) for key, item in value.items()}
        case list() | tuple():
            return type(value)(_cleaned(item) for item in value)
        case _:
            return value


def _is_json(value: object) -> bool:
    # The common types first: to ask whether something is a Mapping takes ten times as long.
    return type(value) not in _PLAIN and isinstance(value, dict | list | tuple | Mapping)


def _encoded(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    if not _is_json(value):
        return value
    if not value:  # as most notes and quotations are
        return _EMPTY.get(type(value)) or _IN_JSON(value)
    try:
        return _IN_JSON(value)
    except (ValueError, TypeError, RecursionError) as fault:
        raise Unstorable(f"its {name} has no JSON form") from fault


def _decoded(name: str, text: str) -> Any:  # noqa: ANN401 - whatever JSON holds
    """The value of a JSON column; of one that somebody has edited by hand, perhaps an error."""
    try:
        return decode(text)
    except IntakeError as fault:
        raise Unstorable(f"its {name} holds JSON that cannot be read") from fault


# --- records ------------------------------------------------------------------------------------


def source_columns(source_id: str, source: Source) -> Columns:
    """A source under the id that its runs know it by."""
    blocks = [
        {
            "kind": block.kind,
            "start": block.start,
            "end": block.end,
            "headings": block.headings,
            "level": block.level,
            **({"page": block.page} if block.page is not None else {}),
            **({"time": block.time} if block.time is not None else {}),
        }
        for block in source.blocks
    ]
    return {"id": source_id, **_shallow(source), "blocks": blocks}


def source_from(columns: Columns) -> Source:
    """The source of a table's row."""
    blocks = (
        Block(**{**block, "headings": tuple(block["headings"])})
        for block in _decoded("blocks", columns["blocks"])
    )
    return Source(
        **_fields(Source, columns, blocks=tuple(blocks), warnings=_texts(columns, "warnings"))
    )


def run_columns(run: Run) -> Columns:
    """A run."""
    return _shallow(run)


def run_from(columns: Columns) -> Run:
    """The run of a table's row."""
    return Run(**_fields(Run, columns, formats=_texts(columns, "formats")))


def row_columns(row: Row) -> Columns:
    """A row, its measures as columns of their own."""
    columns = _shallow(row)
    measures = columns.pop("measures")
    for name in _names(Measures):
        columns[name] = getattr(measures, name, None)
    return columns | {"quotes": [_shallow(quote) for quote in row.quotes]}


def row_from(columns: Columns) -> Row:
    """The row of a table's row."""
    return Row(
        **_fields(
            Row,
            columns,
            content=None if columns["content"] is None else _decoded("content", columns["content"]),
            measures=_measures(columns),
            validated=bool(columns["validated"]),
            quotes=_quotes(columns),
            coerced=_texts(columns, "coerced"),
            dropped=_texts(columns, "dropped"),
            notes=_texts(columns, "notes"),
        )
    )


def batch_columns(batch: Batch) -> Columns:
    """A batch."""
    return _shallow(batch)


def batch_from(columns: Columns) -> Batch:
    """The batch of a table's row."""
    lists = {name: _texts(columns, name) for name in ("origins", "formats")}
    objects = {name: _decoded(name, columns[name]) for name in ("plan", "summary")}
    return Batch(**_fields(Batch, columns, **lists, **objects))


def item_columns(item: Item) -> Columns:
    """An item."""
    return _shallow(item)


def item_from(columns: Columns) -> Item:
    """The item of a table's row."""
    return Item(**_fields(Item, columns, done=_decoded("done", columns["done"])))


def call_columns(record: CallRecord) -> Columns:
    """A call with both prompts and what came back."""
    columns = _shallow(record)
    call: Call = columns.pop("call")
    reply = columns.pop("reply")
    return (
        columns
        | {
            "format": call.format,
            "attempt": call.attempt,
            "system_prompt": call.system,
            "user_prompt": call.user,
            "schema": _schema_json(call.schema),
            "sent_schema": _schema_json(call.wire),
            "output_tokens": call.output_tokens,
            "shared_until": call.shared_until,
            "task_from": call.task_from,
        }
        | ({} if reply is None else reply_columns(reply))
    )


def call_from(columns: Columns, source: Source) -> CallRecord:
    """The call of a table's row, about `source`."""
    call = Call(
        format=columns["format"],
        system=columns["system_prompt"],
        user=columns["user_prompt"],
        schema=_decoded("schema", columns["schema"]),
        wire=_decoded("sent_schema", columns["sent_schema"]),
        source=source,
        attempt=columns["attempt"],
        output_tokens=columns["output_tokens"],
        shared_until=columns["shared_until"],
        task_from=columns["task_from"],
    )
    reply = None if columns["reply"] is None else reply_from(columns)
    parameters = _decoded("parameters", columns["parameters"])
    return CallRecord(**_fields(CallRecord, columns, call=call, reply=reply, parameters=parameters))


def reply_from(columns: Columns) -> Reply:
    """The reply of a call that has one."""
    return Reply(
        text=columns["reply"],
        finish=columns["finish"],
        refusal=columns["refusal"],
        reasoning=columns["reasoning"],
        usage=Usage(**_fields(Usage, columns)),
        model=columns["answered_by"],
        request_id=columns["request_id"],
        requests=columns["requests"],
        quotes=_quotes(columns),
    )


def reply_columns(reply: Reply) -> Columns:
    """A reply, as those columns of its call that hold it."""
    return {
        "reply": reply.text,
        "finish": reply.finish,
        "refusal": reply.refusal,
        "reasoning": reply.reasoning,
        "answered_by": reply.model,
        "request_id": reply.request_id,
        "requests": reply.requests,
        "quotes": [_shallow(quote) for quote in reply.quotes],
        **_shallow(reply.usage),
    }


def _measures(columns: Columns) -> Measures | None:
    if columns["unit"] is None:
        return None
    return Measures(**_fields(Measures, columns, shortened=bool(columns["shortened"])))


def _quotes(columns: Columns) -> tuple[Quote, ...]:
    return tuple(Quote(**quote) for quote in _decoded("quotes", columns["quotes"]))


def _texts(columns: Columns, name: str) -> tuple[str, ...]:
    return tuple(_decoded(name, columns[name]))


@remembered
def _schema_json(schema: Mapping[str, JsonValue]) -> str:
    """A schema as JSON text; every call of a format has the same two."""
    text: str = _clean_value("schema", schema)
    return text


@cache
def _names(record_type: Any) -> tuple[str, ...]:  # noqa: ANN401 - any of our dataclasses
    """The fields of one of our dataclasses."""
    return tuple(field.name for field in fields(record_type))


def _shallow(record: Any) -> Columns:  # noqa: ANN401 - any of our dataclasses
    """A record's fields by name, nested values as they are."""
    names, read = _reader(record.__class__)
    return dict(zip(names, read(record), strict=True))


@cache
def _reader(record_type: Any) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:  # noqa: ANN401 - any of our dataclasses
    names = _names(record_type)
    return names, attrgetter(*names)


def _fields(record_type: Any, columns: Columns, **nested: JsonValue | object) -> Columns:  # noqa: ANN401 - any of our dataclasses
    """The fields of `record_type`: those in `nested`, the others from columns of their name."""
    return {name: nested[name] if name in nested else columns[name] for name in _names(record_type)}
