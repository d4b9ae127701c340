"""The stored runs, searched and in pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from repurpose.api.objects import run_object
from repurpose.core.record import Run
from repurpose.ports import Store
from repurpose.web.faults import HttpFault
from repurpose.web.site import Site

__all__ = ["Search", "listed"]

_LIMIT = 30
_MOST = 200
_STATUSES = ("running", "done", "partial", "failed", "interrupted")


@dataclass(frozen=True, slots=True)
class Search:
    """Which runs are asked for."""

    q: str = ""
    """Part of a title, an origin or an id, whatever its case."""
    status: str = ""
    format: str = ""
    before: str = ""
    """The id after which, in the list, the page begins."""
    limit: int = _LIMIT

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Search:
        """The search that an address asks for.

        Raises:
            HttpFault: a value that cannot be used.
        """
        limit = query.get("limit", str(_LIMIT))
        if not (limit.isascii() and limit.isdecimal() and 1 <= int(limit[:9]) <= _MOST):
            raise HttpFault(
                422, "query", f"limit is a whole number from 1 to {_MOST}", field="limit"
            )
        status = query.get("status", "")
        if status and status not in _STATUSES:
            raise HttpFault(
                422, "query", f"status is one of {', '.join(_STATUSES)}", field="status"
            )
        words = query.get("q", "").strip()[:200].casefold()
        return cls(words, status, query.get("format", ""), query.get("before", ""), int(limit))


def listed(site: Site, store: Store, search: Search) -> dict[str, object]:
    """A page of runs, newest first, and where the next one begins."""
    found = list(islice(_matching(site, store, search), search.limit + 1))
    page = found[: search.limit]
    return {
        "runs": [
            {
                **run_object(run, *_names(site, store, run)),
                "sections": len(store.rows(run.id)),
            }
            for run in page
        ],
        "next": page[-1].id if len(found) > search.limit else None,
    }


def _matching(site: Site, store: Store, search: Search) -> Iterator[Run]:
    narrow = search.q or search.status or search.format or search.before
    stored = store.runs(None if narrow else search.limit + 1)
    waiting = [job.run for job in site.work.whole_runs() if not job.begun]
    runs: Iterable[Run] = (*sorted(waiting, key=lambda run: run.id, reverse=True), *stored)
    passed = not search.before
    for run in runs:
        if passed and _fits(site, store, run, search):
            yield run
        passed = passed or run.id == search.before


def _fits(site: Site, store: Store, run: Run, search: Search) -> bool:
    if search.status not in ("", run.status):
        return False
    if search.format and search.format not in run.formats:
        return False
    if not search.q:
        return True
    title, origin = _names(site, store, run)
    return any(search.q in each.casefold() for each in (title or "", origin, run.id))


def _names(site: Site, store: Store, run: Run) -> tuple[str | None, str]:
    job = site.live(run.id)
    if job is not None and job.source is not None:  # it may not be stored yet
        return job.source.title, job.source.origin
    return site.titles.of(run.source_id, store)
