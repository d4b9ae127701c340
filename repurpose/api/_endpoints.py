"""Endpoints of the user's own, from the tables of the settings to engines."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from repurpose.completion.configured import endpoint_from
from repurpose.config import ENDPOINT, NAME, Settings, nearest, shown
from repurpose.core.endpoint import Callback, Endpoint, Trace
from repurpose.core.table import member
from repurpose.engines import ENGINES
from repurpose.errors import UsageError
from repurpose.fetching.addresses import is_loopback
from repurpose.ports import Clock, Engine, NewId
from repurpose.ports.endpoints import Rendezvous

__all__ = ["endpoint_chosen", "endpoint_engine_for"]


def endpoint_engine_for(
    settings: Settings, *, clock: Clock, new_id: NewId, environment: Mapping[str, str]
) -> Engine:
    """The engine `endpoint:NAME` of these settings; nothing is sent and nothing listens yet.

    Raises:
        UsageError: there is no such endpoint, its table cannot be used, a secret is not set, or it
            would have to call back and has no address for that.
    """
    endpoint = endpoint_chosen(settings)
    engine: Engine = member(ENGINES["endpoint"])(
        endpoint,
        clock=clock,
        new_id=new_id,
        environment=environment,
        rendezvous=_rendezvous(endpoint, settings, clock),
    )
    return engine


def endpoint_chosen(settings: Settings) -> Endpoint:
    """The endpoint that `--engine endpoint:NAME` names.

    Raises:
        UsageError: there is none, and the message names the nearest; or its table cannot be used.
    """
    name = (settings.engine or "").removeprefix(ENDPOINT)
    table = settings.endpoints.get(name)
    if table is not None:
        return _seen_from(settings.folder, endpoint_from(name, table))
    meant = nearest(name, settings.endpoints)
    advice = f"; did you mean {ENDPOINT}{shown(meant)}?" if meant else ""
    known = ", ".join(map(shown, settings.endpoints)) or "none"
    raise UsageError(
        f"no endpoint {shown(name)!r}{advice}",
        hint=f"declare it as [endpoints.{shown(name) or 'NAME'}] in {NAME}; there are: {known}",
    )


def _seen_from(folder: Path | None, endpoint: Endpoint) -> Endpoint:
    """The endpoint with the path of its traces begun in the settings file's folder."""
    mode = endpoint.completion
    path = mode.source.get("path") if isinstance(mode, Trace) else None
    if folder is None or not isinstance(mode, Trace) or not isinstance(path, str):
        return endpoint
    path = os.path.expanduser(path)  # noqa: PTH111 - pathlib's may raise
    source = {**mode.source, "path": str(folder / path)}
    return replace(endpoint, completion=replace(mode, source=source))


def _rendezvous(endpoint: Endpoint, settings: Settings, clock: Clock) -> Rendezvous | None:
    """Where the endpoint's posts are met; None for one that does not call back."""
    if not isinstance(endpoint.completion, Callback):
        return None
    try:
        found: Rendezvous = member("repurpose.api._rendezvous:rendezvous_for")(
            settings, clock, reachable_on_loopback=_is_here(endpoint.base_url)
        )
    except UsageError as error:
        raise UsageError(f"endpoint {endpoint.name}: {error.message}", hint=error.hint) from None
    return found


def _is_here(base_url: str) -> bool:
    """Whether the address is this machine's own, so that it reaches what listens here.

    >>> _is_here("http://127.0.0.1:9000"), _is_here("http://agents.example")
    (True, False)
    """
    host = urlsplit(base_url).hostname or ""
    return is_loopback(host) or host.endswith(".localhost")  # RFC 6761, section 6.3
