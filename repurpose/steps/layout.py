"""How the prompts for one source are laid out: each by itself, or all with one beginning.

A server that keeps what it has computed for a prompt finds only beginnings again. So where several
formats are made of one source, the source comes first and the tasks after it. Where the server
counts the schema to the beginning, all formats are asked for under one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from repurpose.core.call import Call
from repurpose.core.json_types import JsonObject
from repurpose.core.profile import CacheWish
from repurpose.ports import Engine
from repurpose.schema.union import shared_schema
from repurpose.steps.job import Job
from repurpose.steps.request import shared_call

__all__ = ["arranged", "laid_out"]


def arranged(jobs: Sequence[Job], engine: Engine, wish: CacheWish) -> list[Job]:
    """The jobs of one source, laid out to begin alike where that is of use to the engine.

    `auto` goes by what is known of it, `on` is also for a server that nothing is known of, and
    `off` is never. A result is found again whichever it was made with.
    """
    kind = engine.cache
    is_wanted = wish == "on" or (wish == "auto" and kind != "none")
    if kind is None or not is_wanted:
        return list(jobs)
    return laid_out(jobs, one_schema=engine.needs_one_schema)


def laid_out(jobs: Sequence[Job], *, one_schema: bool) -> list[Job]:
    """The jobs of one source with calls that begin alike, as many of them as can.

    Unchanged where fewer than two can. Depends on nothing but the jobs, so the same run has the
    same calls again. With `one_schema`, formats of different schemas would share nothing, so they
    are sent one; plain text has none and stays as it is.
    """
    able = [job for job in jobs if job.refused is None and (job.first.wire or not one_schema)]
    wire: JsonObject | None = None
    if one_schema:
        wire = shared_schema([(job.format.name, job.first.wire) for job in able])
        if wire is None:
            return list(jobs)
    calls = {job.format.name: call for job in able if (call := _shared(job, wire))}
    if len(calls) < 2:
        return list(jobs)
    return [
        replace(job, first=calls[job.format.name], plain=job.first)
        if job.format.name in calls
        else job
        for job in jobs
    ]


def _shared(job: Job, wire: JsonObject | None) -> Call | None:
    return shared_call(
        job.first, job.format, job.steering, schema_in_prompt=job.schema_in_prompt, wire=wire
    )
