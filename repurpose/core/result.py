"""What a run came to: results by format, each with its envelope, made from rows alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from repurpose.core.envelope import Envelope, Meta
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Row, Run, RunStatus
from repurpose.core.source import Source
from repurpose.errors import RepurposeError

__all__ = ["FormatResult", "RunResult", "envelope_of", "run_status"]


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

    @property
    def envelope(self) -> Envelope:
        """All formats in one: the worst status, failures named, data keyed by format."""
        failed = [result for result in self.results.values() if not result.done]
        data = {name: result.envelope.data for name, result in self.results.items()}
        if not failed:
            return Envelope(200, "; ".join(r.envelope.message for r in self.results.values()), data)
        told = "; ".join(f"[{result.format}] {result.envelope.message}" for result in failed)
        return Envelope(400, f"part failed: {told}", data)

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some failed, 4 all failed, 130 interrupted."""
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


def run_status(results: Sequence[FormatResult], wanted: int) -> RunStatus:
    """How a run of `wanted` formats ended; one failed row makes it partial."""
    if len(results) < wanted:
        return "interrupted"
    rows = [row for result in results for row in result.rows]
    if all(row.status == "done" for row in rows):
        return "done"
    return "partial" if any(result.done for result in results) else "failed"
