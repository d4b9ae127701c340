"""A stored reply through today's rules again, without a call and without storing anything."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from repurpose.api.runs import job_for
from repurpose.config import Settings
from repurpose.core.call import Call
from repurpose.core.finding import Finding
from repurpose.core.keys import idempotency_key
from repurpose.core.policy import RetryPolicy
from repurpose.core.record import CallRecord, Row, Run
from repurpose.core.steering import Steering
from repurpose.errors import RepurposeError, Unexpected, UsageError
from repurpose.formats import Formats
from repurpose.formats.social import asked_for
from repurpose.platforms import platform_chosen
from repurpose.ports import Store
from repurpose.schema.answer import Rejected
from repurpose.steps.briefs import BRIEF
from repurpose.steps.job import Job
from repurpose.steps.repair import Settled, converse, read_reply
from repurpose.steps.rows import Stamp, rows_of

__all__ = ["Replayed", "replay"]

_COMPARED = ("text", "content", "measures", "quotes", "coerced", "dropped", "notes")
"""What of a row comes from its reply and today's rules; the rest tells of the run."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a stored reply comes to by today's rules."""

    call: CallRecord
    rows: tuple[Row, ...]
    """As a run would store them, without ids; one failed row where nothing can be published."""
    findings: tuple[Finding, ...]
    """Everything that is wrong with the answer; empty where it is usable, or no answer came."""
    stored: tuple[Row, ...]
    """The rows of the same run and format; empty where the run was cut off before it had any."""
    differences: tuple[str, ...]
    """How `rows` differ from `stored`, one line each; empty where they are alike."""
    remarks: tuple[str, ...]
    """What a reader of the differences must know, such as rules that changed since."""

    @property
    def usable(self) -> bool:
        """Whether there is something to publish."""
        return all(row.status == "done" for row in self.rows)


def replay(
    store: Store, call_id: str, *, settings: Settings | None = None, known: Formats | None = None
) -> Replayed:
    """What the stored reply of one call comes to by today's rules.

    Intake, coercion, validation and post-validation are those of a run, for the format that has
    the call's format's name today, looked up in `known`. No call is made and nothing is stored.
    `settings` give the segmenter; language comes from the call's run. Deterministic: the same
    reply and rules give the same rows.

    Raises:
        UsageError: no call or more than one has this id or begins with it, or the format is not
            known any more.
        StoreError: the database cannot be read.
    """
    record = store.call(call_id)
    if record.call.format == BRIEF:
        raise UsageError(
            "this call read a part of a long source",
            hint="replay the calls of the formats that were made from it",
        )
    run = store.run(record.run_id)
    steering = Steering(run.language, run.audience, run.tone)
    settings = settings or Settings(database=Path(os.devnull))
    settings = _as_asked(settings, record.call)
    source = record.call.source
    job = job_for(record.call.format, source, steering, settings, None, known=known)
    calls = store.calls(run.id)
    settled = _settled(job, record, calls)
    rows = rows_of(job.format, settled, _stamp(record, job), itertools.repeat(""))
    stored = tuple(row for row in store.rows(run.id) if row.format == record.call.format)
    return Replayed(
        call=record,
        rows=rows,
        findings=_findings(job, record, settled),
        stored=stored,
        differences=tuple(_differences(rows, stored)) if stored else (),
        remarks=tuple(_remarks(job, record, stored, calls, run)),
    )


def _as_asked(settings: Settings, call: Call) -> Settings:
    """The settings with the posts that the call asked for; options of platforms stay as given."""
    if call.format != "social":
        return settings
    names, threads, variants = asked_for(call.schema)
    given = {platform_chosen(each).name: each for each in settings.platforms}
    platforms = tuple(given.get(name, name) for name in names)
    return replace(settings, platforms=platforms, thread=threads, variants=variants)


def _settled(job: Job, record: CallRecord, calls: Sequence[CallRecord]) -> Settled:
    """How the conversation would end if this reply were its last."""
    if record.reply is None:
        reason = record.error or "no reason is stored"
        return Settled(record.call.attempt, error=Unexpected(f"no reply is stored: {reason}"))
    # A repair's answer is judged by the instructions that it shares with the first call.
    firsts = [each.call for each in calls if _is_first(each, job)]
    first = (firsts or [record.call])[0]
    asked = replace(record.call, system=first.system, user=first.user, task_from=first.task_from)
    last = RetryPolicy(max_attempts=1)
    conversation = converse(job.format, asked, job.validator, last, job.context)
    next(conversation)
    try:
        conversation.send(record.reply)
    except StopIteration as end:
        settled: Settled = end.value
        return settled
    except RepurposeError as error:
        fault = Unexpected(error.message)
    except Exception as foreign:  # noqa: BLE001 - a user's own format may raise anything
        fault = Unexpected(f"{job.format.label} generation failed: {type(foreign).__name__}")
    else:
        raise AssertionError("a policy of one attempt asks for no second one")
    return Settled(record.call.attempt, error=fault)


def _is_first(record: CallRecord, job: Job) -> bool:
    """Whether it is a first call of the job's format."""
    return record.call.format == job.format.name and record.call.attempt == 1


def _findings(job: Job, record: CallRecord, settled: Settled) -> tuple[Finding, ...]:
    """All findings, of which a row's message names the first few."""
    if settled.finished is not None or record.reply is None or record.reply.finish != "stop":
        return ()
    read = read_reply(job.format, job.validator, record.reply, record.call)
    if isinstance(read, Rejected):
        return read.findings
    return (Finding("unusable", "", settled.error.message if settled.error else ""),)


def _stamp(record: CallRecord, job: Job) -> Stamp:
    """What the rows say of their origin, from the call that they would come from."""
    kind = "endpoint" if record.engine == "endpoint" else "model"
    model = f"{kind} {record.model}" if record.model else f"engine {record.engine}"
    return Stamp(
        run_id=record.run_id,
        source_id=record.source_id,
        idempotency_key="",
        engine=record.engine,
        provenance="extracted, no model" if record.engine == "extractive" else model,
        created_at=record.started_at,
        elapsed_ms=0,
        model=record.model,
        language=job.context.language,
    )


def _differences(rows: Sequence[Row], stored: Sequence[Row]) -> Iterator[str]:
    """One line for each variant that is not alike."""
    now: Mapping[str, Row] = {row.variant: row for row in rows}
    before: Mapping[str, Row] = {row.variant: row for row in stored}
    for variant in dict.fromkeys([*before, *now]):
        if variant not in now:
            yield f"{variant}: stored, but not made now"
        elif variant not in before:
            yield f"{variant}: made now, but not stored"
        else:
            yield from _row_differences(variant, now[variant], before[variant])


def _row_differences(variant: str, now: Row, before: Row) -> Iterator[str]:
    if now.status != before.status:
        yield f"{variant}: {now.status} now, stored as {before.status}: {before.message}"
    elif now.status == "failed":
        if now.kind != before.kind:
            yield f"{variant}: fails as {now.kind} now, stored as {before.kind}"
    else:
        unlike = [name for name in _COMPARED if getattr(now, name) != getattr(before, name)]
        if unlike:
            yield f"{variant}: another {', '.join(unlike)}"


def _remarks(
    job: Job, record: CallRecord, stored: Sequence[Row], calls: Sequence[CallRecord], run: Run
) -> Iterator[str]:
    name = job.format.name
    if record.call.schema != job.first.schema:
        yield f"the schema of {name} has changed since"
    if not stored:
        yield f"run {run.id} holds no row of {name} to compare with"
        return
    last = max(call.call.attempt for call in calls if call.call.format == name)
    if record.call.attempt < last:
        yield f"this is attempt {record.call.attempt}; the stored rows come from attempt {last}"
    if any(row.reused_from for row in stored):
        yield f"the stored rows were reused from run {stored[0].reused_from}"
    changed = _changed_rules(job, calls, stored[0].idempotency_key)
    if changed:
        yield changed


def _changed_rules(job: Job, calls: Sequence[CallRecord], key: str) -> str | None:
    """What of the rules has changed since rows with this key were stored, or None for nothing.

    The key covers the format's version and what post-validation was told, and neither is stored
    in another way; so the versions until today's are tried.
    """
    asked = [each for each in calls if _is_first(each, job)]
    firsts = [each.key for each in asked if not each.call.task_from]
    if not firsts:
        # Its first reply came from an earlier run, or the rows are known by a call that was laid
        # out in another way than the one that was sent.
        return None

    def is_key_of(version: int) -> bool:
        return any(
            idempotency_key(first, version=version, finishing=job.finishing) == key
            for first in firsts
        )

    today = job.format.version
    if is_key_of(today):
        return None
    older = next((version for version in range(1, today) if is_key_of(version)), None)
    if older is not None:
        return f"{job.format.name} had version {older} when the rows were stored; it is {today} now"
    return "the format's version, a platform's limit, the voice or the segmenter has changed since"
