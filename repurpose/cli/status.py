"""`repurpose status`: how a batch is going, or how it went."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from repurpose.cli import _options

if TYPE_CHECKING:
    from repurpose.core.item import Batch, ItemState
    from repurpose.ports import BatchStore

__all__ = ["command"]

_SHOWN = 20


@click.command(
    epilog="""\b
Examples:
  repurpose status
  repurpose status last --json
"""
)
@click.argument("batch", default="last", metavar="[BATCH]")
@click.option("--all", "all_items", is_flag=True, help="Name all failed items, not only twenty.")
@_options.as_json
@_options.database
def command(*, batch: str, all_items: bool, as_json: bool, database: str | None) -> None:
    """Show how a batch is going, or how it went.

    A batch is named by its id, by the beginning of its id, or as `last`, the default.
    """
    from repurpose.cli import _render
    from repurpose.cli._stored import opened

    limit = None if all_items else _SHOWN
    with opened(database) as store:
        found = store.batch(batch)
        alive = _is_alive(store, found)
        counts = store.item_counts(found.id)
        parked = store.item_counts()["parked"]
        failed = store.items_of(found.id, ("failed", "parked"), limit)
    if as_json:
        items = [
            {"key": item.key, "state": item.state, "tries": item.tries, "error": item.error}
            for item in failed
        ]
        facts: dict[str, object] = {
            "batch": found.id,
            "status": _status(found, alive=alive),
            "started_at": found.started_at,
            "ended_at": found.ended_at,
            "items": counts,
            "parked_in_all": parked,
            "plan": found.plan,
            "summary": found.summary,
            "failed": items,
        }
        click.echo(_render.json_line(facts))
        return
    for line in _lines(found, counts, parked, alive=alive):
        click.echo(line)
    for item in failed:
        tries = f", {item.tries} {'try' if item.tries == 1 else 'tries'}" if item.tries else ""
        click.echo(f"  {item.state}{tries}: {item.origin}: {item.error}")
    more = counts["failed"] + counts["parked"] - len(failed)
    if more:
        click.echo(f"  and {more:,} more: --all")


def _is_alive(store: BatchStore, batch: Batch) -> bool:
    """Whether its process is still at work."""
    from repurpose.api.adapters import SystemClock
    from repurpose.batch.leases import is_dead

    holder = store.holder(f"batch {batch.id}", SystemClock().now().timestamp())
    return holder is not None and not is_dead(holder)


def _status(batch: Batch, *, alive: bool) -> str:
    return "died" if batch.status == "running" and not alive else batch.status


def _lines(batch: Batch, counts: dict[ItemState, int], parked: int, *, alive: bool) -> list[str]:
    """What is known, in words."""
    status = _status(batch, alive=alive)
    began = batch.started_at[:16].replace("T", " ")
    until = f" to {batch.ended_at[:16].replace('T', ' ')}" if batch.ended_at else ""
    by = batch.model or batch.engine
    told = [f"batch {batch.id} {status}, {began}{until} UTC, {by}, {', '.join(batch.formats)}"]
    planned = batch.plan.get("todo")
    of = f" of {planned:,}" if isinstance(planned, int) else ""
    told.append(
        f"{counts['done']:,}{of} items done, {counts['failed']:,} failed,"
        f" {counts['parked']:,} parked"
    )
    if parked > counts["parked"]:
        told.append(f"{parked:,} items are parked in all")
    if status in ("died", "interrupted", "budget"):
        told.append("the same command goes on with it")
    return told
