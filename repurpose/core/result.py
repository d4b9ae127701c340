"""What a run came to: results by format, each with its envelope, made from rows alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from repurpose.core.call import Reply
from repurpose.core.envelope import Envelope, Meta
from repurpose.core.json_types import JsonObject
from repurpose.core.outputs import aggregate, flattened, resolve
from repurpose.core.record import CallRecord, Row, Run, RunStatus
from repurpose.core.source import Source
from repurpose.errors import RepurposeError

__all__ = [
    "FormatResult",
    "RunResult",
    "Total",
    "TotalUsage",
    "envelope_of",
    "outputs_of",
    "run_status",
    "total_usage",
]


@dataclass(frozen=True, slots=True)
class Total:
    """A sum over calls that never takes what is not known for nothing.

    Exact where `unknown` is 0; else the whole is at least `known`.
    """

    known: float = 0
    unknown: int = 0
    """How many calls did not tell their part."""


@dataclass(frozen=True, slots=True)
class TotalUsage:
    """What calls took together: of one format, or of a run. A reused reply is no call."""

    calls: int = 0
    unanswered: int = 0
    """How many of the calls brought no reply."""
    seconds: float = 0.0
    """The sum of their times; calls side by side take less of a clock's."""
    requests: Total = field(default=Total())
    """How many times the calls were sent."""
    prompt_tokens: Total = field(default=Total())
    completion_tokens: Total = field(default=Total())
    cached_tokens: Total = field(default=Total())
    """The part of the prompts that came from a provider's prefix cache."""
    reasoning_tokens: Total = field(default=Total())
    """The part of the completions that was reasoning."""
    cost: Total = field(default=Total())
    """US dollars, by list price."""


@dataclass(frozen=True, slots=True)
class FormatResult:
    """What one format came to."""

    format: str
    label: str
    envelope: Envelope
    meta: Meta
    rows: tuple[Row, ...]
    """One row per variant when done, one failed row when not."""
    content: object | None = None
    """The typed content, such as `FaqContent`; None on failure and where rows were reused."""
    error: RepurposeError | None = None
    usage: TotalUsage = field(default=TotalUsage())
    """What its calls took, repairs included; nothing where no call was made."""

    @property
    def done(self) -> bool:
        """Whether there is something to publish."""
        return self.envelope.status == 200


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to: one result for each format that was finished, keyed by format."""

    run: Run
    source: Source
    results: Mapping[str, FormatResult]
    usage: TotalUsage = field(default=TotalUsage())
    """What all its calls took, those of a format that was stopped included."""
    stopped_by: RepurposeError | None = None
    """Why it was interrupted, where the user did not ask for it: the budget is reached."""

    @property
    def outputs(self) -> dict[str, Envelope]:
        """The envelope of each format that was asked for; see `outputs_of`."""
        made = {name: result.envelope for name, result in self.results.items()}
        return _complete(self.run, made)

    @property
    def envelope(self) -> Envelope:
        """All formats in one: the worst status, failures named, data keyed by format."""
        return aggregate(self.outputs)

    @property
    def flat(self) -> JsonObject:
        """Every field of every format as `{format}__{field}`."""
        return flattened(self.outputs)

    def at(self, path: str) -> object:
        """What stands at a dot path such as `faq.pairs.0.question`, or `MISSING`.

        The first part names a format, the rest leads into its data.
        """
        return resolve(self.outputs, path)

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some failed, 4 all failed, 5 the budget is reached, 130 interrupted."""
        if self.stopped_by is not None:
            return self.stopped_by.exit_code
        match self.run.status:
            case "done":
                return 0
            case "partial":
                return 1
            case "failed":
                return 4
            case "interrupted" | "running":
                return 130


def envelope_of(rows: Sequence[Row]) -> Envelope:
    """One format's rows as its envelope: 200 where any variant can be published.

    Data is the content of the `default` row, or each variant's content by name. A variant that
    could not be stored is named in the message and missing from the data.
    """
    done = [row for row in rows if row.status == "done"]
    failed = [row.message for row in rows if row.status == "failed"]
    if not done:
        return Envelope.failure("; ".join(dict.fromkeys(failed)))
    contents: dict[str, JsonObject] = {row.variant: row.content or {} for row in done}
    alone = [row.variant for row in rows] == ["default"]
    return Envelope(
        200, "; ".join([done[0].message, *failed]), contents["default"] if alone else contents
    )


def outputs_of(run: Run, rows: Sequence[Row]) -> dict[str, Envelope]:
    """The envelope of each format that a stored run was asked for, in that order, from its rows.

    A format without rows is a failure too: it was not begun, since another one failed and the run
    was to stop then, or it was not finished.
    """
    by_format: dict[str, list[Row]] = {}
    for row in rows:
        by_format.setdefault(row.format, []).append(row)
    return _complete(run, {name: envelope_of(found) for name, found in by_format.items()})


def _complete(run: Run, made: Mapping[str, Envelope]) -> dict[str, Envelope]:
    stopped = run.status in ("interrupted", "running")
    lacking = Envelope.failure("not finished" if stopped else "not begun")
    return {name: made.get(name, lacking) for name in dict.fromkeys((*run.formats, *made))}


def run_status(results: Sequence[FormatResult], wanted: int) -> RunStatus:
    """How a run of `wanted` formats ended; one failed row makes it partial."""
    if len(results) < wanted:
        return "interrupted"
    rows = [row for result in results for row in result.rows]
    if all(row.status == "done" for row in rows):
        return "done"
    return "partial" if any(result.done for result in results) else "failed"


def total_usage(records: Sequence[CallRecord]) -> TotalUsage:
    """What these calls took together.

    A call that was never accepted (its stored cost is 0 and it has no reply) took no tokens. Any
    other call without a reply may have been paid, so its part is unknown.
    """

    def total(part: Callable[[Reply], float | None]) -> Total:
        return _total([part(reply) for reply in replies], lost)

    replies = [record.reply for record in records if record.reply is not None]
    unanswered = len(records) - len(replies)
    lost = sum(record.reply is None and record.cost != 0 for record in records)
    return TotalUsage(
        calls=len(records),
        unanswered=unanswered,
        seconds=sum(record.seconds for record in records),
        requests=_total([reply.requests for reply in replies], unanswered),
        prompt_tokens=total(lambda reply: reply.usage.prompt_tokens),
        completion_tokens=total(lambda reply: reply.usage.completion_tokens),
        cached_tokens=total(lambda reply: reply.usage.cached_tokens),
        reasoning_tokens=total(lambda reply: reply.usage.reasoning_tokens),
        cost=_total([record.cost for record in records], 0),
    )


def _total(parts: Sequence[float | None], lost: int) -> Total:
    """The sum of the known parts; `lost` calls have none to begin with."""
    known = [part for part in parts if part is not None]
    return Total(sum(known), lost + len(parts) - len(known))
