"""Rows and calls as a person reads them, and as a program does."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

from repurpose.api.objects import row_object
from repurpose.core.call import Usage
from repurpose.core.compose import section_input
from repurpose.core.envelope import Meta, retries_phrase
from repurpose.core.outputs import source_envelope
from repurpose.core.record import CallRecord, Measures, Row
from repurpose.core.result import FormatResult, Total, TotalUsage
from repurpose.errors import SourceError

__all__ = [
    "call_object",
    "calls_table",
    "dollars",
    "history_table",
    "json_line",
    "measures_phrase",
    "prompts_text",
    "refused_object",
    "result_object",
    "row_object",
    "row_text",
    "table",
    "usage_phrase",
]

_UNIT_WORDS = {
    "code_points": "characters",
    "utf16": "characters",
    "x_weighted": "weighted characters",
    "graphemes": "graphemes",
    "mastodon": "characters",
    "utf8_bytes": "bytes",
}


def row_text(row: Row) -> str:
    """A row with a heading that says what it is, how long, and what wrote it."""
    name = row.label if row.variant == "default" else f"{row.label}: {_variant_label(row.variant)}"
    if row.status == "failed":
        return f"# {name} failed\n\n{row.message}\n"
    facts = [measures_phrase(row.measures)] if row.measures else []
    if row.attempts > 1:
        facts.append(retries_phrase(row.attempts).strip(" ()"))
    unchecked = [] if row.validated else ["not validated"]
    facts += [row.provenance, *unchecked, *_revision_marks(row)]
    return f"# {name} ({'; '.join(facts)})\n\n{row.text}\n"


def _revision_marks(row: Row) -> list[str]:
    """Who decided on a text and how often it was changed; that it was edited, its writer says."""
    if row.action == "made":
        return []
    who = f" by {row.author}" if row.author else ""
    acted = [] if row.action == "edited" else [f"{row.action}{who}"]
    return [*acted, f"revision {row.revision}"]


def history_table(rows: Sequence[Row], current: Collection[str]) -> str:
    """Every revision of a run's rows, one a line; a star at the current ones."""
    head = ("ROW", "", "SECTION", "REVISION", "ACTION", "BY", "WHEN", "LENGTH", "WHAT")
    return table(head, [_revision_cells(row, current) for row in rows])


def _revision_cells(row: Row, current: Collection[str]) -> list[str]:
    return [
        row.id,
        "*" if row.id in current else "",
        section_input(row),
        str(row.revision),
        row.action,
        row.author or "-",
        row.created_at,
        measures_phrase(row.measures) if row.measures else "-",
        f'"{row.instruction}"' if row.instruction else row.message,
    ]


def measures_phrase(measures: Measures) -> str:
    """How long a text is and what was done to make it fit.

    >>> measures_phrase(Measures(269, "x_weighted", 280, True, "sentence"))
    '269 of 280 weighted characters, shortened at a sentence end'
    """
    unit = _UNIT_WORDS.get(measures.unit, measures.unit)
    limit = "" if measures.max_length is None else f" of {measures.max_length:,}"
    where = "a sentence end" if measures.cut_mode == "sentence" else "a word"
    cut = f", shortened at {where}" if measures.shortened else ""
    tags = measures.hashtags_dropped
    dropped = f", {tags} hashtag{'s' if tags != 1 else ''} dropped" if tags else ""
    return f"{measures.length:,}{limit} {unit}{cut}{dropped}"


def result_object(result: FormatResult) -> dict[str, object]:
    """A format's result for programs: its envelope, the facts beside it, and its rows."""
    return {
        "format": result.format,
        "label": result.label,
        "envelope": result.envelope.to_map(),
        "meta": asdict(result.meta) | {"usage": asdict(result.usage)},
        "rows": [row_object(row) for row in result.rows],
    }


def refused_object(error: SourceError) -> dict[str, object]:
    """The same for a source that cannot be read: the failure of loading it, and no rows."""
    meta = Meta(run_id=None, attempts=0, elapsed_ms=0, provenance="")
    return {
        "format": "source",
        "label": "Source",
        "envelope": source_envelope(error).to_map(),
        "meta": asdict(meta) | {"usage": asdict(TotalUsage()), "reason": error.reason},
        "rows": [],
    }


def usage_phrase(usage: TotalUsage) -> str:
    """What calls took, in words; what is not known is said and never counted as nothing.

    >>> usage_phrase(TotalUsage(1, prompt_tokens=Total(1200), cost=Total(0.00048)))
    '1 call, 1,200 tokens in, 0 out, US$ 0.000480'
    >>> usage_phrase(TotalUsage(4, prompt_tokens=Total(900, 1), cost=Total(0, 4)))
    '4 calls, at least 900 tokens in, 0 out, cost unknown: 4 of 4 calls have no price'
    """
    told = [f"{usage.calls:,} call{'' if usage.calls == 1 else 's'}"]
    free = not (usage.cost.known or usage.cost.unknown)
    nothing_told = usage.prompt_tokens.unknown == usage.completion_tokens.unknown == usage.calls
    if usage.calls == 0 or (free and nothing_told):
        return told[0]
    cached = usage.cached_tokens.known
    told.append(_tokens(usage.prompt_tokens, usage.calls, "tokens in"))
    if cached:
        told[-1] += f" ({cached:,} cached)"
    told.append(_tokens(usage.completion_tokens, usage.calls, "out"))
    return ", ".join([*told, _cost_phrase(usage)])


def _tokens(total: Total, calls: int, kind: str) -> str:
    if total.unknown == calls:
        return f"{kind} not told"
    least = "at least " if total.unknown else ""
    return f"{least}{total.known:,} {kind}"


def _cost_phrase(usage: TotalUsage) -> str:
    cost = usage.cost
    if not cost.unknown:
        return f"US$ {dollars(cost.known)}"
    have = "has" if cost.unknown == 1 else "have"
    phrase = f"cost unknown: {cost.unknown} of {usage.calls} calls {have} no price"
    return f"{phrase}; the others US$ {dollars(cost.known)}" if cost.known else phrase


def dollars(amount: float) -> str:
    """An amount to the cent, or to three digits where it is less than a dollar.

    >>> dollars(0.000481234), dollars(0.0), dollars(12.3), dollars(0.5)
    ('0.000481', '0', '12.30', '0.500')
    """
    if amount == 0:
        return "0"
    places = max(2, 2 - math.floor(math.log10(amount)))
    return f"{amount:,.{places}f}"


def calls_table(records: Sequence[CallRecord]) -> str:
    """The calls of a run, one a line; `-` where something is not known."""
    head = ("CALL", "FORMAT", "TRY", "ENDED", "IN", "CACHED", "OUT", "REASONING", "US$")
    lines = [[*_call_cells(record)] for record in records]
    return table((*head, "SECONDS", "SENT", "MODEL"), lines)


def _call_cells(record: CallRecord) -> list[str]:
    reply, usage = record.reply, record.reply.usage if record.reply else Usage()
    counts = [
        usage.prompt_tokens,
        usage.cached_tokens,
        usage.completion_tokens,
        usage.reasoning_tokens,
    ]
    return [
        record.id,
        record.call.format,
        str(record.call.attempt),
        reply.finish if reply else record.error_kind or "no reply",
        *("-" if count is None else f"{count:,}" for count in counts),
        "-" if record.cost is None else dollars(record.cost),
        f"{record.seconds:.1f}",
        str(reply.requests) if reply else "-",
        (reply.model if reply else None) or record.model or "-",
    ]


def call_object(record: CallRecord, *, prompts: bool) -> dict[str, object]:
    """The facts of a call; with `prompts`, what was sent and what came back, word for word."""
    reply = record.reply
    facts: dict[str, object] = {
        "id": record.id,
        "run_id": record.run_id,
        "source_id": record.source_id,
        "key": record.key,
        "format": record.call.format,
        "attempt": record.call.attempt,
        "engine": record.engine,
        "model": record.model,
        "answered_by": reply.model if reply else None,
        "parameters": record.parameters,
        "started_at": record.started_at,
        "seconds": record.seconds,
        "requests": reply.requests if reply else None,
        "request_id": reply.request_id if reply else None,
        "finish": reply.finish if reply else None,
        "error": record.error,
        "error_kind": record.error_kind,
        **asdict(reply.usage if reply else Usage()),
        "cost": record.cost,
    }
    if prompts:
        facts |= {
            "system_prompt": record.call.system,
            "user_prompt": record.call.user,
            "reply": reply.text if reply else None,
            "reasoning": reply.reasoning if reply else None,
            "refusal": reply.refusal if reply else None,
        }
    return facts


def prompts_text(record: CallRecord) -> str:
    """What was sent and what came back, word for word, each part under a heading."""
    reply = record.reply
    came = (reply.text or reply.refusal or "") if reply else f"none: {record.error}"
    parts = {"system prompt": record.call.system, "user prompt": record.call.user, "reply": came}
    name = f"call {record.id}, {record.call.format}, attempt {record.call.attempt}"
    return "\n\n".join(f"# {name}: {part}\n\n{text}" for part, text in parts.items()) + "\n"


def json_line(value: Mapping[str, object]) -> str:
    """One JSON object on one line, in the characters it was written in."""
    return json.dumps(value, ensure_ascii=False)


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Aligned columns; the last one is as wide as it likes."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in (head, *lines)
    )


def _variant_label(variant: str) -> str:
    from repurpose.platforms import variant_label  # of a table that is read from a file

    return variant_label(variant)
