"""The revisions of a stored row, and what differs between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from repurpose.core.compose import section_input
from repurpose.core.json_types import JsonValue
from repurpose.core.record import Row
from repurpose.errors import UsageError
from repurpose.ports import Store
from repurpose.text.differing import Change, three_way, word_changes

__all__ = [
    "Difference",
    "current_of",
    "difference",
    "proposal_in",
    "refuse_failed",
    "revisions_of",
]

_BY_HAND = frozenset({"edited", "approved", "released"})
"""What leaves a text as it was, or is a person's change of it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How a row differs from an earlier one, or how two rows differ from the one both come from."""

    mine: Row
    base: Row | None
    """None where there is no earlier revision."""
    theirs: Row | None = None
    """The proposed text of a three-way difference; None where there are only two."""
    mine_changes: tuple[Change, ...] = ()
    """From `base` to `mine`, word by word."""
    theirs_changes: tuple[Change, ...] = ()

    def to_map(self) -> dict[str, JsonValue]:
        """The texts, what differs, and which rows they are."""
        rows = {"base": self.base, "mine": self.mine, "theirs": self.theirs}
        return {
            **{name: row.text if row else None for name, row in rows.items()},
            "changes": {
                "mine": [list(change) for change in self.mine_changes],
                "theirs": [list(change) for change in self.theirs_changes],
            },
            "rows": {name: row.id if row else None for name, row in rows.items()},
        }


def difference(store: Store, row_id: str, with_id: str | None = None) -> Difference:
    """How a row differs from another; without one, from the revision before it.

    Where one of the two is proposed, it is a three-way difference: from the text that the other
    one was edited from, to each of them. Without `with_id`, so it is too where a newer text is
    proposed beside the row.

    Raises:
        UsageError: no such row, or a failed one.
    """
    row = store.row(row_id)
    refuse_failed(row, "compare")
    history = revisions_of(store, row)
    if with_id is not None:
        other = store.row(with_id)
        refuse_failed(other, "compare")
    elif row.action == "proposed":
        other = current_of(store, row)
    else:
        other = proposal_in(history, row) or _before(history, row) or row
    proposed = [each for each in (row, other) if each.action == "proposed"]
    if len(proposed) == 1 and _alike(row, other):
        mine = other if row.action == "proposed" else row
        return _three_way(_edited_from(history, mine), mine, proposed[0])
    changes = word_changes(other.text or "", row.text or "")
    return Difference(row, None if other is row else other, mine_changes=changes)


def revisions_of(store: Store, row: Row) -> tuple[Row, ...]:
    """Every revision of the same run, format and variant, oldest first."""
    return tuple(each for each in store.history(row.run_id) if _alike(each, row))


def proposal_in(history: Sequence[Row], row: Row) -> Row | None:
    """The newest text that is proposed beside a row; None where the row was decided on since."""
    newer = [
        each
        for each in history
        if each.action == "proposed"
        and each.status == "done"
        and _alike(each, row)
        and each.revision > row.revision
    ]
    return newer[-1] if newer and row.locked else None


def _three_way(base: Row, mine: Row, theirs: Row) -> Difference:
    changes = three_way(base.text or "", mine.text or "", theirs.text or "")
    return Difference(mine, base, theirs, changes.mine, changes.theirs)


def _edited_from(history: Sequence[Row], mine: Row) -> Row:
    """The text that a row was edited from: the last one that no person wrote or that was chosen."""
    line = [each for each in history if _is_before(each, mine)]
    made = (each for each in reversed([*line, mine]) if each.action not in _BY_HAND)
    return next(made, (line or [mine])[0])


def _before(history: Sequence[Row], row: Row) -> Row | None:
    """The revision that was the current one before this one."""
    line = [each for each in history if _is_before(each, row)]
    return line[-1] if line else None


def _is_before(each: Row, row: Row) -> bool:
    return each.action != "proposed" and each.status == "done" and each.revision < row.revision


def current_of(store: Store, row: Row) -> Row:
    """The current row of the same section; or the failed one of its whole format."""
    of_format = [each for each in store.rows(row.run_id) if each.format == row.format]
    found = [each for each in of_format if each.variant == row.variant]
    failed = [each for each in of_format if each.status == "failed"]
    if not (found or failed):
        raise UsageError(f"run {row.run_id} has no row of {section_input(row)} any more")
    return (found or failed)[0]


def refuse_failed(row: Row, act: str) -> None:
    if row.status == "failed":
        raise UsageError(
            f"{section_input(row)} failed, so there is no text to {act}",
            hint=f"repurpose regenerate {row.run_id} --section {section_input(row)}",
        )


def _alike(one: Row, other: Row) -> bool:
    """Whether two rows are revisions of one section."""
    return (one.run_id, one.format, one.variant) == (other.run_id, other.format, other.variant)
