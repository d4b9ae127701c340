"""Answers about runs: planning, starting, looking at, stopping and exporting them."""

from __future__ import annotations

from dataclasses import asdict

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from repurpose.api.adapters import SystemClock, exported, new_id
from repurpose.api.composing import Deliverable, composed_from, composite_named
from repurpose.api.objects import run_object
from repurpose.asking import iso
from repurpose.core.record import Run
from repurpose.core.source import Source
from repurpose.errors import UsageError
from repurpose.ports import BatchStore
from repurpose.web.bodies import Start, Wish
from repurpose.web.doing import run_doer
from repurpose.web.faults import HttpFault, not_found
from repurpose.web.lines import Line, numbered
from repurpose.web.listing import Search, listed
from repurpose.web.orders import Order, order_for
from repurpose.web.plans import planned
from repurpose.web.site import Asked, Site, found_run, stored_run
from repurpose.web.sourcing import source_of
from repurpose.web.streaming import EventStream
from repurpose.web.telling import Stored, lines_of, planned_of, sections_of
from repurpose.web.work import Job

__all__ = [
    "composed",
    "composite_export",
    "events",
    "export",
    "plan",
    "run",
    "runs",
    "source",
    "start",
    "stop",
]

_ENDINGS = {
    "markdown": ("md", "text/markdown"),
    "html": ("html", "text/html"),
    "json": ("json", "application/json"),
}


# --- beginning ----------------------------------------------------------------------------------


def plan(site: Site, asked: Asked) -> dict[str, object]:
    """What a run would take; it is kept, so that it can be started."""
    with site.stores.lent() as store:
        order = _order(site, asked, store)
        told = planned(order, store)
    return {**told, "plan": site.plans.keep(order)}


def start(site: Site, asked: Asked) -> dict[str, object]:
    """Begin a run. A plan that is started twice is one run."""
    body = asked.body
    if not isinstance(body, Start) or body.plan is None:
        with site.stores.lent() as store:
            order = _order(site, asked, store)
        return _begun(site, order)
    kept = site.plans.found(body.plan)
    with kept.starting:
        if kept.run is None:
            begun = _begun(site, kept.order)
            kept.run = str(begun["run"])
        return _at(kept.run)


def _order(site: Site, asked: Asked, store: BatchStore) -> Order:
    wish = asked.body
    assert isinstance(wish, Wish)  # noqa: S101 - its operation says so
    site.choices.settings_for(wish)  # what cannot be used is told before anything is fetched
    source = source_of(wish, site.uploads, site.settings)
    return order_for(wish, source, site.choices, site.engines, store)


def _begun(site: Site, order: Order) -> dict[str, object]:
    steering, engine = order.making.steering, order.making.engine
    made = Run(
        id=new_id(),
        source_id=order.source.digest,
        formats=order.names,
        engine=engine.name,
        model=engine.model,
        started_at=iso(SystemClock().now()),
        language=steering.language,
        audience=steering.audience,
        tone=steering.tone,
    )
    job = Job(made, site.hub.begin(made.id), source=order.source, sections=order.sections)
    site.work.begin(job, run_doer(order, site.settings.database))
    site.uploads.drop(order.upload)
    return _at(made.id)


def _at(run_id: str) -> dict[str, object]:
    return {"run": run_id, "url": f"/runs/{run_id}"}


# --- looking ------------------------------------------------------------------------------------


def runs(site: Site, asked: Asked) -> dict[str, object]:
    """The stored runs, newest first."""
    with site.stores.lent() as store:
        return listed(site, store, Search.of(asked.query))


def run(site: Site, asked: Asked) -> dict[str, object]:
    """A run with its sections, as far as they are stored."""
    with site.stores.lent() as store:
        found, waiting = found_run(site, store, asked.path["run"])
        job, known = waiting or site.live(found.id), site.choices.known
        stored = None if waiting else Stored.of(found, store)
        made_of = stored.source if stored else _source_of(waiting)
        plan = planned_of(stored, known) if stored else ()
        if job is not None:
            expected = {section.input for section in job.sections}
            plan = (*job.sections, *(each for each in plan if _is_extra(each.input, expected)))
        sections = sections_of(plan, stored, site.settings, known)
        kept = [record.name for record in store.composites(found.id)] if stored else []
    return {
        "run": {
            **run_object(found, made_of.title, made_of.origin),
            "sections": len(sections),
            "queued": job is not None and not job.begun,
            "stopping": job is not None and job.stopping,
            "composites": list(dict.fromkeys([*site.settings.composites, *kept])),
        },
        "source": {
            "title": made_of.title,
            "url": made_of.url,
            "language": made_of.language,
            "characters": len(made_of.text),
        },
        "sections": sections,
        "live": job is not None,
    }


def _is_extra(name: str, expected: set[str]) -> bool:
    """Whether a stored section was not planned; a failed whole format stands in each of its own."""
    return name not in expected and not any(each.startswith(f"{name}.") for each in expected)


def _source_of(waiting: Job | None) -> Source:
    """The source of a run that waits in line."""
    assert waiting is not None  # noqa: S101 - all others are stored
    assert waiting.source is not None  # noqa: S101 - a whole run has one
    return waiting.source


def source(site: Site, asked: Asked) -> dict[str, object]:
    """The text that a run was made of, with its blocks; places are in code points."""
    with site.stores.lent() as store:
        found, waiting = found_run(site, store, asked.path["run"])
        made_of = _source_of(waiting) if waiting else store.source(found.source_id)
    return {
        "text": made_of.text,
        "title": made_of.title,
        "blocks": [
            {
                name: value
                for name, value in asdict(block).items()
                if name in ("kind", "start", "end", "headings", "page", "time")
            }
            for block in made_of.blocks
        ],
    }


async def events(site: Site, request: Request) -> EventStream | Response:
    """A run's lines as they come, or what they came to where it is over."""

    def resolved() -> str:
        with site.stores.lent() as store:
            return found_run(site, store, request.path_params["run"])[0].id

    def told() -> list[Line]:
        with site.stores.lent() as store:
            stored = Stored.of(store.run(run_id), store)
        return numbered(lines_of(stored, planned_of(stored, site.choices.known)))

    run_id = await run_in_threadpool(resolved)
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    channel = site.hub.found(run_id) or site.hub.follow(run_id)
    viewer = site.hub.join(channel, request.headers.get("last-event-id"))
    first: list[Line] = []
    try:
        if not channel.whole:  # joined before it is read, so that nothing is missed between
            first = await run_in_threadpool(told)
            viewer.shift = len(first) - viewer.cursor
    except BaseException:
        site.hub.leave(viewer)
        raise
    until_end = request.query_params.get("until") == "end"
    return EventStream(site.hub, viewer, first, until_end=until_end)


# --- stopping and taking ------------------------------------------------------------------------


def stop(site: Site, asked: Asked) -> dict[str, object]:
    """Finish what is in flight and begin nothing more; asked again, stop at once."""
    with site.stores.lent() as store:
        found, _ = found_run(site, store, asked.path["run"])
    if not site.work.stop(found.id):
        raise HttpFault(409, "over", "nothing of that run is in work")
    return {"run": found.id, "stopping": True}


def export(site: Site, asked: Asked) -> Response:
    """A run as one document."""
    kind = asked.query.get("to", "markdown")
    with site.stores.lent() as store:
        found = stored_run(site, store, asked.path["run"])
        text = exported(store, found.id, kind)
    return _attached(text, kind, f"run-{found.id}")


def composed(site: Site, asked: Asked) -> Deliverable:
    """A composite of a stored run, put together now.

    Raises:
        HttpFault: no such run or composite.
    """
    with site.stores.lent() as store:
        found = stored_run(site, store, asked.path["run"])
        try:
            composite = composite_named(asked.path["name"], site.settings)
        except UsageError as error:
            raise not_found(error) from None
        return composed_from(composite, store, found.id, site.choices.known)


def composite_export(site: Site, asked: Asked) -> Response:
    """A composite as one document."""
    made = composed(site, asked)
    kind = asked.query.get("to", made.composite.renderer)
    text = made.text(kind)
    of_run = made.run.id if made.run else ""
    return _attached(text, kind, f"{made.composite.name}-{of_run}")


def _attached(text: str, kind: str, name: str) -> Response:
    """A file to keep; its name is made of ids of ours only."""
    ending, media = _ENDINGS[kind]
    headers = {"Content-Disposition": f'attachment; filename="{name}.{ending}"'}
    return Response(text, media_type=media, headers=headers)
