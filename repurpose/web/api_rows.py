"""Answers about texts: editing, deciding, comparing, and having a section made again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from repurpose.api import revising
from repurpose.api._asked_again import meant_by
from repurpose.api._sections import SectionStream
from repurpose.api.objects import shown_row
from repurpose.core.compose import section_input
from repurpose.core.events import SectionEvent
from repurpose.core.record import Row
from repurpose.errors import UsageError
from repurpose.ports import Store
from repurpose.web.bodies import Edit, Regeneration, Signed
from repurpose.web.doing import Again
from repurpose.web.faults import not_found
from repurpose.web.site import Asked, Site, found_row, not_while_live, stored_run
from repurpose.web.telling import Stored, planned_of
from repurpose.web.work import Job

__all__ = ["approve", "diff", "edit", "history", "regenerate", "release", "restore"]


def edit(site: Site, asked: Asked) -> dict[str, object]:
    """The row with a person's own text, locked from then on."""
    body = asked.body
    assert isinstance(body, Edit)  # noqa: S101 - its operation says so

    def edited(store: Store, row_id: str, by: str) -> Row:
        return revising.edit(
            store, site.settings, row_id, text=body.text, content=body.content, by=by
        )

    return _revised(site, asked, edited)


def approve(site: Site, asked: Asked) -> dict[str, object]:
    """The row as it is, locked from then on."""
    return _revised(site, asked, revising.approve)


def release(site: Site, asked: Asked) -> dict[str, object]:
    """The row as it is, not locked any more."""
    return _revised(site, asked, revising.release)


def restore(site: Site, asked: Asked) -> dict[str, object]:
    """An earlier or a proposed revision as the current one."""
    return _revised(site, asked, revising.restore)


def _revised(
    site: Site, asked: Asked, revise: Callable[[Store, str, str], Row]
) -> dict[str, object]:
    """The new revision, told to everybody who looks at the run."""
    body = asked.body
    assert isinstance(body, Signed)  # noqa: S101 - its operation says so
    with site.stores.lent() as store:
        before = found_row(store, asked.path["row"])
        row = revise(store, before.id, body.by or site.author)
        source = store.source(row.source_id)
    site.hub.tell(row.run_id, "row_changed", {"section": section_input(row)})
    return {"row": shown_row(row, source)}


def diff(site: Site, asked: Asked) -> dict[str, object]:
    """How a row differs from the one before it, from another, or from what is proposed."""
    with site.stores.lent() as store:
        row = found_row(store, asked.path["row"])
        other = asked.query.get("with")
        other_id = found_row(store, other).id if other else None
        return dict(revising.difference(store, row.id, other_id).to_map())


def history(site: Site, asked: Asked) -> dict[str, object]:
    """Every revision of a section, newest first."""
    with site.stores.lent() as store:
        run = stored_run(site, store, asked.path["run"])
        stored = Stored.of(run, store)
    section = asked.path["section"]
    rows = [row for row in stored.history if section_input(row) == section]
    if not rows and section not in {each.input for each in planned_of(stored, site.choices.known)}:
        raise not_found(UsageError(f"run {run.id} has no section {section[:80]!r}"))
    return {"revisions": [shown_row(row, stored.source) for row in reversed(rows)]}


def regenerate(site: Site, asked: Asked) -> dict[str, object]:
    """Have a section written anew; it is told of among the run's events."""
    body = asked.body
    assert isinstance(body, Regeneration)  # noqa: S101 - its operation says so
    with site.stores.lent() as store:
        run = stored_run(site, store, asked.path["run"])
        not_while_live(site, run.id)
        stored = Stored.of(run, store)
        try:
            meant = meant_by(store, run, asked.path["section"], site.settings)
        except UsageError as error:
            raise not_found(error) from None
    section = asked.path["section"].strip().casefold()
    again = Again(
        database=site.settings.database,
        settings=site.settings,
        engine=site.engines.again(site.settings, run),
        source=stored.source,
        stream=partial(
            _stream, site, stored, None if body.all_variants or not meant.variant else section
        ),
        section=section,
        instruction=body.instruction,
        all_variants=body.all_variants,
        by=body.by or site.author,
    )
    job = Job(run, site.hub.work_on(run.id), section=section)
    site.work.begin(job, again.do)
    return {"run": run.id, "section": section}


def _stream(
    site: Site, stored: Stored, only: str | None, emit: Callable[[SectionEvent], None]
) -> SectionStream:
    """What tells of the sections that are made again: one variant, or all that are planned."""
    planned = planned_of(stored, site.choices.known)
    if only is not None:
        planned = tuple(each for each in planned if each.input == only)
    return SectionStream(planned, emit, source=stored.source)
