"""The question behind `Store.statistics`, and what its answer means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from repurpose.core.result import Total
from repurpose.core.statistics import Grouping, Tally
from repurpose.stores._rows import Columns

__all__ = ["question", "tallies_from"]

_SUMMED = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
_CALLS_BY: Mapping[Grouping, str] = {
    "format": "format",
    "model": "coalesce(model, engine)",
    "day": "substr(started_at, 1, 10)",
}
_ROWS_BY: Mapping[Grouping, str] = {**_CALLS_BY, "day": "substr(created_at, 1, 10)"}
_MAY_BE_PAID = "(finish IS NOT NULL OR cost IS NULL OR cost <> 0)"
"""Any call but one that was never accepted, which took nothing."""


def question(by: Grouping) -> str:
    """One query for all groups: a row of sums for each, then one for each kind of failure.

    A call that waits for a provider's batch is none yet. Reads only columns of `calls_by_time`,
    since each row of `calls` holds whole prompts.
    """
    sums = ", ".join(
        f"total({name}) AS {name}, sum({name} IS NULL AND {_MAY_BE_PAID}) AS {name}_unknown"
        for name in _SUMMED
    )
    nothing = ", ".join("NULL" for _ in range(7 + 2 * len(_SUMMED)))
    # All names are our own constants; the one value is bound.
    return f"""
        SELECT {_CALLS_BY[by]} AS name, NULL AS kind, count(*) AS counted,
            sum(finish IS NULL) AS unanswered, sum(attempt = 1) AS begun,
            sum(attempt = 2) AS repeated, total(iif(finish IS NULL, 0, seconds)) AS seconds,
            total(cost) AS cost, sum(cost IS NULL) AS cost_unknown,
            total(iif(cached_tokens IS NULL, 0, prompt_tokens)) AS prompts_told, {sums}
        FROM calls
        WHERE started_at >= :since AND (finish IS NOT NULL OR error_kind <> 'waiting')
        GROUP BY 1
        UNION ALL
        SELECT {_ROWS_BY[by]}, coalesce(kind, 'unknown'), count(*), {nothing}
        FROM rows
        WHERE status = 'failed' AND created_at >= :since AND reused_from IS NULL
        GROUP BY 1, 2
        """  # noqa: S608 - see above


def tallies_from(found: Sequence[Columns]) -> tuple[Tally, ...]:
    """The groups by name; one that made no call but failed is a group too."""
    tallies: dict[str, Tally] = {}
    for columns in found:
        if columns["kind"] is None:
            tallies[columns["name"]] = _tally(columns)
    for columns in found:
        if columns["kind"] is not None:
            tally = tallies.get(columns["name"], Tally(columns["name"]))
            failures = {**tally.failures, columns["kind"]: columns["counted"]}
            tallies[tally.name] = replace(tally, failures=failures)
    return tuple(tallies[name] for name in sorted(tallies))


def _tally(columns: Columns) -> Tally:
    def tokens(name: str) -> Total:
        return Total(int(columns[name]), columns[f"{name}_unknown"])

    return Tally(
        name=columns["name"],
        calls=columns["counted"],
        unanswered=columns["unanswered"],
        begun=columns["begun"],
        repeated=columns["repeated"],
        seconds=columns["seconds"],
        prompt_tokens=tokens("prompt_tokens"),
        completion_tokens=tokens("completion_tokens"),
        cached_tokens=tokens("cached_tokens"),
        reasoning_tokens=tokens("reasoning_tokens"),
        cost=Total(columns["cost"], columns["cost_unknown"]),
        prompts_told=int(columns["prompts_told"]),
    )
