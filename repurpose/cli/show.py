"""`repurpose show`: what a run made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from repurpose.core.envelope import Envelope
    from repurpose.core.record import CallRecord, Row, Run

__all__ = ["command"]


@click.command(
    epilog="""\b
Examples:
  repurpose show last
  repurpose show 019a3 --format social
  repurpose show last --format social --variant x --json
  repurpose show last --path faq.pairs.0.question
  repurpose show last --envelope
  repurpose show last --calls
  repurpose show last --history
"""
)
@click.argument("run")
@click.option("--format", "format_name", metavar="NAME", help="Only this format.")
@click.option("--variant", metavar="NAME", help="Only this variant, such as x.")
@click.option("--path", metavar="PATH", help="One value, such as faq.pairs.0.question.")
@click.option("--flat", is_flag=True, help="All fields by FORMAT__FIELD, as one JSON object.")
@click.option("--envelope", is_flag=True, help="The run, or with --format that one, as envelope.")
@click.option("--calls", is_flag=True, help="The calls instead: tokens, cost, time; no texts.")
@click.option("--history", is_flag=True, help="Every revision: who changed what, and when.")
@click.option("--prompts", is_flag=True, help="With --calls: prompts and replies, word for word.")
@_options.as_json
@_options.database
def command(
    *,
    run: str,
    format_name: str | None,
    variant: str | None,
    path: str | None,
    flat: bool,
    envelope: bool,
    calls: bool,
    history: bool,
    prompts: bool,
    as_json: bool,
    database: str | None,
) -> None:
    """Show what a run made.

    With lengths against limits, and the reasons of failures. RUN is a run's id, the beginning of
    one, or `last`. With --path, one value of the stored fields: a text as it is, anything else as
    JSON. With --calls, one line for each call and what they took together; with --json as well,
    the last line holds those totals. A cost is by list price, and - where it is not known. With
    --history, one line for each revision of a text, and a star at the current ones.
    """
    from repurpose.cli._stored import opened
    from repurpose.core.result import outputs_of

    views = {
        "--path": path is not None,
        "--flat": flat,
        "--envelope": envelope,
        "--calls": calls,
        "--history": history,
    }
    _refuse_contradictions(views, format_name, variant, prompts=prompts)
    with opened(database) as store:
        found = store.run(run)
        if calls:
            _show_calls(store.calls(found.id), found, format_name, as_json=as_json, prompts=prompts)
            return
        rows = sorted(store.rows(found.id), key=lambda row: found.formats.index(row.format))
        revisions = store.history(found.id) if history else ()
    if history:
        _show_history(revisions, rows, format_name, variant, as_json=as_json)
    elif path is not None:
        _show_value(outputs_of(found, rows), path, found, as_json=as_json)
    elif flat or envelope:
        _show_whole(outputs_of(found, rows), found, format_name, flat=flat, as_json=as_json)
    else:
        _show_rows(rows, found, format_name, variant, as_json=as_json)


def _refuse_contradictions(
    views: Mapping[str, bool], format_name: str | None, variant: str | None, *, prompts: bool
) -> None:
    """Raise UsageError for flags that ask for two things at once."""
    from repurpose.errors import UsageError

    asked = [flag for flag, given in views.items() if given]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} ask for different things", hint="give one of them")
    if prompts and not views["--calls"]:
        raise UsageError("--prompts shows what calls sent", hint="add --calls")
    if views["--calls"] and variant is not None:
        raise UsageError("a call serves all variants of its format", hint="leave out --variant")
    if views["--path"] and (format_name or variant):
        raise UsageError("a path names format and variant itself: social.x.text")
    if (views["--flat"] or views["--envelope"]) and variant is not None:
        raise UsageError(f"{asked[0]} shows all variants", hint="for one: --path social.x")


def _show_rows(
    rows: Sequence[Row],
    run: Run,
    format_name: str | None,
    variant: str | None,
    *,
    as_json: bool,
) -> None:
    """The texts and failures that are asked for."""
    from repurpose.cli import _render
    from repurpose.errors import UsageError

    wanted = [
        row for row in rows if format_name in {None, row.format} and variant in {None, row.variant}
    ]
    if not wanted:
        held = dict.fromkeys(
            row.format if row.variant == "default" else f"{row.format} {row.variant}"
            for row in rows
        )
        raise UsageError(
            f"run {run.id} has no such row", hint=f"it has: {', '.join(held) or 'none yet'}"
        )
    for row in wanted:
        click.echo(_render.json_line(_render.row_object(row)) if as_json else _render.row_text(row))


def _show_history(
    revisions: Sequence[Row],
    current: Sequence[Row],
    format_name: str | None,
    variant: str | None,
    *,
    as_json: bool,
) -> None:
    """Every revision, section by section, the newest one last."""
    from repurpose.cli import _render

    places = {(row.format, row.variant): place for place, row in enumerate(current)}
    wanted = [
        row
        for row in sorted(revisions, key=lambda row: places.get((row.format, row.variant), -1))
        if format_name in {None, row.format} and variant in {None, row.variant}
    ]
    if as_json:
        for row in wanted:
            click.echo(_render.json_line(_render.row_object(row)))
    elif wanted:
        click.echo(_render.history_table(wanted, {row.id for row in current}))


def _show_value(outputs: Mapping[str, Envelope], path: str, run: Run, *, as_json: bool) -> None:
    """What stands at a path: a text as it is, anything else as JSON.

    Raises:
        RepurposeError: nothing stands there; the message says why, or what stands before it.
    """
    from repurpose.core.outputs import resolve
    from repurpose.core.paths import MISSING
    from repurpose.errors import RepurposeError

    name = path.partition(".")[0]
    step = outputs.get(name)
    if step is None:
        raise RepurposeError(f"run {run.id} has no format {name!r}; it has: {', '.join(outputs)}")
    if step.status != 200:
        raise RepurposeError(f"{name}: {step.message}")
    value = resolve(outputs, path)
    if value is MISSING:
        raise RepurposeError(f"nothing stands at {path!r}; {_before(outputs, path)}")
    click.echo(value if isinstance(value, str) and not as_json else _in_json(value, as_json))


def _before(outputs: Mapping[str, Envelope], path: str) -> str:
    """The longest beginning of a path that leads somewhere, and what is there."""
    from repurpose.core.outputs import resolve
    from repurpose.core.paths import MISSING

    parts = path.split(".")
    beginnings = [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    there = next((each for each in beginnings if resolve(outputs, each) is not MISSING), parts[0])
    match resolve(outputs, there):
        case dict() as fields:
            return f"{there} has: {', '.join(fields) or 'no fields'}"
        case list() as items:
            return f"{there} is a list of {len(items)}, counted from 0"
        case _:
            return f"{there} is a single value"


def _show_whole(
    outputs: Mapping[str, Envelope],
    run: Run,
    format_name: str | None,
    *,
    flat: bool,
    as_json: bool,
) -> None:
    """The run, or one of its formats, as an envelope or as flat fields."""
    from repurpose.core.outputs import aggregate, flattened
    from repurpose.errors import UsageError

    if format_name not in {None, *outputs}:
        raise UsageError(
            f"run {run.id} has no format {format_name!r}", hint=f"it has: {', '.join(outputs)}"
        )
    chosen = outputs if format_name is None else {format_name: outputs[format_name]}
    if flat:
        click.echo(_in_json(flattened(chosen), as_json))
        return
    whole = aggregate(outputs) if format_name is None else outputs[format_name]
    click.echo(_in_json(whole.to_map(), as_json))


def _in_json(value: object, as_json: bool) -> str:
    """JSON to read, or with --json on one line."""
    import json

    return json.dumps(value, ensure_ascii=False, indent=None if as_json else 2)


def _show_calls(
    records: Sequence[CallRecord],
    run: Run,
    format_name: str | None,
    *,
    as_json: bool,
    prompts: bool,
) -> None:
    """The run's calls, then what they took together."""
    from dataclasses import asdict

    from repurpose.cli import _render
    from repurpose.core.result import total_usage
    from repurpose.errors import UsageError

    if format_name not in {None, *run.formats}:
        raise UsageError(
            f"run {run.id} has no format {format_name!r}", hint=f"it has: {', '.join(run.formats)}"
        )
    shown = [record for record in records if format_name in {None, record.call.format}]
    usage = total_usage(shown)
    if as_json:
        for record in shown:
            click.echo(_render.json_line(_render.call_object(record, prompts=prompts)))
        click.echo(_render.json_line({"run": run.id, "usage": asdict(usage)}))
        return
    if shown:
        click.echo(_render.calls_table(shown))
    if prompts:
        for record in shown:
            click.echo(f"\n{_render.prompts_text(record)}")
    click.echo(f"run {run.id}: {_render.usage_phrase(usage)}")
