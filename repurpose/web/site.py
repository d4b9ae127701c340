"""What all answers of one server share, and how a run or a row is found in an address."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from jinja2 import Environment

from repurpose.config import Settings
from repurpose.core.record import Row, Run
from repurpose.errors import ChangedMeanwhile, UsageError
from repurpose.ports import Store
from repurpose.web.bodies import Body, Nothing
from repurpose.web.choices import Choices
from repurpose.web.engines import Engines
from repurpose.web.faults import HttpFault, not_found
from repurpose.web.hub import Hub
from repurpose.web.plans import Plans
from repurpose.web.stores import Stores
from repurpose.web.uploads import Uploads
from repurpose.web.work import Job, Work

__all__ = ["Asked", "Site", "Titles", "found_row", "found_run", "not_while_live", "stored_run"]

_MOST_TITLES = 20_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, read and checked."""

    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Body = field(default_factory=Nothing)


class Titles:
    """Titles and origins of sources, which never change, so that a list need not load the texts."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, tuple[str | None, str]] = OrderedDict()
        self._lock = Lock()

    def of(self, source_id: str, store: Store) -> tuple[str | None, str]:
        """The title and the origin of a source."""
        with self._lock:
            known = self._known.get(source_id)
        if known is None:
            source = store.source(source_id)
            known = (source.title, source.origin)
            with self._lock:
                self._known[source_id] = known
                if len(self._known) > _MOST_TITLES:
                    self._known.popitem(last=False)
        return known


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of a running server."""

    choices: Choices
    stores: Stores
    engines: Engines
    hub: Hub
    work: Work
    plans: Plans
    uploads: Uploads
    templates: Environment
    csrf: str
    author: str
    """Who did it where nobody says."""
    titles: Titles = field(default_factory=Titles)

    @property
    def settings(self) -> Settings:
        """Those that the server was started with."""
        return self.choices.settings

    def live(self, run_id: str) -> Job | None:
        """The job that makes a run, where it is not over."""
        return next((job for job in self.work.of_run(run_id) if job.section is None), None)


def found_run(site: Site, store: Store, run_id: str) -> tuple[Run, Job | None]:
    """The run with this id, with this unique beginning of an id, or `last`.

    With its job, where it waits in line: it is stored when it begins, so there is no more of it.

    Raises:
        HttpFault: there is none.
    """
    live = site.live(run_id)
    try:
        return store.run(run_id), None
    except UsageError as error:
        if live is not None:
            return live.run, live
        raise not_found(error) from None


def stored_run(site: Site, store: Store, run_id: str) -> Run:
    """As `found_run`, and stored.

    Raises:
        HttpFault: there is none, or it waits in line.
    """
    run, waiting = found_run(site, store, run_id)
    if waiting is not None:
        raise HttpFault(409, "busy", "the run waits in line", hint="wait for its end, or stop it")
    return run


def found_row(store: Store, row_id: str) -> Row:
    """The row with this id.

    Raises:
        HttpFault: there is none.
    """
    try:
        return store.row(row_id)
    except ChangedMeanwhile:
        raise
    except UsageError as error:
        raise not_found(error) from None


def not_while_live(site: Site, run_id: str) -> None:
    """Refuse what would change a run that is in work.

    Raises:
        HttpFault: it is.
    """
    if site.live(run_id) is not None:
        raise HttpFault(
            409, "busy", "the run is still in work", hint="wait for its end, or stop it"
        )
