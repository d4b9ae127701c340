"""What a batch has come to so far, in numbers that do not grow with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields

from repurpose.core.item import BatchStatus, Item
from repurpose.core.json_types import JsonObject
from repurpose.core.result import RunResult, Total, TotalUsage

__all__ = ["Ended", "Tally"]

EXIT_CODES: dict[BatchStatus, int] = {
    "done": 0,
    "waiting": 0,
    "partial": 1,
    "failed": 4,
    "budget": 5,
    "interrupted": 130,
    "running": 130,
}


@dataclass(frozen=True, slots=True)
class Ended:
    """One item that was worked on."""

    item: Item
    """As it is stored now."""
    result: RunResult | None
    """None where no run was begun: it is done by another process, or cannot be read any more."""
    seconds: float
    elsewhere: bool = False
    """Whether another process did it meanwhile."""


@dataclass(slots=True)
class Tally:
    """Counts over the items and formats of a batch."""

    done: int = 0
    failed: int = 0
    """Items of which a format failed, or that cannot be read; parked ones included."""
    parked: int = 0
    """Of these, those that are not tried again by themselves."""
    elsewhere: int = 0
    """Items that another process did meanwhile."""
    unread: int = 0
    """Items that could not be read when the plan was made; also among the failed ones."""
    unfinished: int = 0
    """Items that were begun and stopped, or not begun."""
    formats_done: int = 0
    reused: int = 0
    """Of these, those without a call."""
    repaired: int = 0
    """Of these, those that took more than one attempt."""
    formats_failed: Counter[str] = field(default_factory=Counter)
    """By kind of failure."""
    usage: TotalUsage = field(default=TotalUsage())

    @property
    def ended(self) -> int:
        """Items that need no more work tonight."""
        return self.done + self.failed + self.elsewhere

    def add(self, ended: Ended) -> None:
        """One item more."""
        if ended.elsewhere:
            self.elsewhere += 1
            return
        match ended.item.state:
            case "done":
                self.done += 1
            case "todo":
                self.unfinished += 1
            case "failed":
                self.failed += 1
            case "parked":
                self.failed += 1
                self.parked += 1
        if ended.result is not None:
            self._add_formats(ended.result)
        elif ended.item.error_kind:
            self.formats_failed[ended.item.error_kind] += 1

    def unreadable(self, parked: bool) -> None:
        """One item that could not be read for the plan."""
        self.failed += 1
        self.unread += 1
        self.parked += parked
        self.formats_failed["source"] += 1

    def _add_formats(self, result: RunResult) -> None:
        self.usage = plus(self.usage, result.usage)
        for each in result.results.values():
            if each.done:
                self.formats_done += 1
                self.reused += each.meta.reused_from is not None
                self.repaired += each.meta.attempts > 1
            else:
                kind = each.rows[0].kind if each.rows else None
                self.formats_failed[kind or "format"] += 1

    def status(self, *, stopped: BatchStatus | None, left_out: int = 0) -> BatchStatus:
        """How the batch ended; `left_out` items were done before, so not everything failed."""
        if stopped is not None:
            return stopped
        if not self.failed:
            return "waiting" if self.unfinished else "done"
        good = self.done + self.elsewhere + self.formats_done + left_out
        return "partial" if good else "failed"

    def exit_code(self, status: BatchStatus) -> int:
        """0 all done, 1 some failed, 3 nothing could be read, 4 all failed, 5 the budget's end."""
        if status == "failed" and self.unread == self.failed:
            return 3
        return EXIT_CODES[status]

    def to_json(self) -> JsonObject:
        """For programs and for the store; what is not known of a sum is told beside it."""
        usage = self.usage

        def total(sum_: Total) -> JsonObject:
            return {"known": sum_.known, "unknown_calls": sum_.unknown}

        return {
            "items": {
                "done": self.done,
                "failed": self.failed,
                "parked": self.parked,
                "unread": self.unread,
                "unfinished": self.unfinished,
                "done_by_another_process": self.elsewhere,
            },
            "formats": {
                "done": self.formats_done,
                "reused": self.reused,
                "repaired": self.repaired,
                "failed": sum(self.formats_failed.values()),
                "failed_by_kind": dict(self.formats_failed),
            },
            "usage": {
                "calls": usage.calls,
                "unanswered": usage.unanswered,
                "requests": total(usage.requests),
                "prompt_tokens": total(usage.prompt_tokens),
                "cached_tokens": total(usage.cached_tokens),
                "completion_tokens": total(usage.completion_tokens),
                "reasoning_tokens": total(usage.reasoning_tokens),
                "cost": total(usage.cost),
            },
        }


def plus(one: TotalUsage, other: TotalUsage) -> TotalUsage:
    """What two took together."""

    def sum_of(name: str) -> Total | float:
        mine, theirs = getattr(one, name), getattr(other, name)
        if isinstance(mine, Total):
            return Total(mine.known + theirs.known, mine.unknown + theirs.unknown)
        return mine + theirs  # type: ignore[no-any-return]  # counts and seconds

    return TotalUsage(**{each.name: sum_of(each.name) for each in fields(TotalUsage)})  # type: ignore[arg-type]  # each of its own type
