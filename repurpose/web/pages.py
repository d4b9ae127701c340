"""The pages that the server writes; what moves in them is asked for by their scripts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, TemplateNotFound
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from repurpose import __version__
from repurpose.exports import RENDERERS
from repurpose.exports.composite_html import fragment
from repurpose.web.api_runs import composed
from repurpose.web.faults import HttpFault, plain_fault
from repurpose.web.listing import Search, listed
from repurpose.web.site import Asked, Site, found_run

__all__ = ["PAGES", "STATIC", "Page", "environment", "error_page"]

Page = Callable[[Site, Asked], Response]

_HERE = Path(__file__).parent
STATIC = _HERE / "static"


def environment() -> Environment:
    """The templates; whatever is filled in is escaped."""
    return Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def start_page(site: Site, _: Asked) -> Response:
    """Where a source is given, and what to make of it is chosen."""
    return _page(site, "start.html", {"choices": site.choices.to_map()})


def runs_page(site: Site, asked: Asked) -> Response:
    """The stored runs; works without scripts."""
    search = Search.of(asked.query)
    with site.stores.lent() as store:
        found = listed(site, store, search)
    query = {name: asked.query.get(name, "") for name in ("q", "status", "format")}
    shown = {"query": query, "formats": site.choices.formats(), **found}
    return _page(site, "runs.html", shown)


def run_page(site: Site, asked: Asked) -> Response:
    """One run, which its scripts fill."""
    with site.stores.lent() as store:
        run, waiting = found_run(site, store, asked.path["run"])
        if waiting is not None and waiting.source is not None:
            title, origin = waiting.source.title, waiting.source.origin
        else:
            title, origin = site.titles.of(run.source_id, store)
    return _page(site, "run.html", {"run": run.id, "title": title or origin})


def composite_page(site: Site, asked: Asked) -> Response:
    """A composite of a run, as its readers see it."""
    made = composed(site, asked)
    sections = {**made.payload, "dropped": []}  # the page has a place of its own for those
    shown = {
        "run": made.run.id if made.run else "",
        "name": made.composite.name,
        "fragment": Markup(fragment(sections)),  # noqa: S704 - each text in it is escaped
        "renderers": list(RENDERERS),
        "dropped": made.payload["dropped"],
    }
    return _page(site, "composite.html", shown)


def error_page(site: Site, fault: HttpFault) -> Response:
    """A page that says what is wrong."""
    try:
        told = {"status": fault.status, "message": fault.message, "hint": fault.hint}
        return _page(site, "error.html", told, fault.status)
    except TemplateNotFound:
        return plain_fault(fault)


def _page(
    site: Site, template: str, context: Mapping[str, object], status_code: int = 200
) -> Response:
    shared = {"csrf": site.csrf, "version": __version__}
    written = site.templates.get_template(template).render({**shared, **context})
    return HTMLResponse(written, status_code)


PAGES: dict[str, Page] = {
    "/": start_page,
    "/runs": runs_page,
    "/runs/{run}": run_page,
    "/runs/{run}/composites/{name}": composite_page,
}
"""By address."""
