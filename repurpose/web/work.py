"""The thread in which runs are made, so that whoever watches is never held up by one.

What is always true here: a job has its own store and is told of through its channel; at most so
many are in work at once, and the others wait in line. Nothing that a job does raises into another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from threading import Event, Lock, Thread

from repurpose.api._sections import PlannedSection
from repurpose.core.record import Run
from repurpose.core.source import Source
from repurpose.web.faults import HttpFault
from repurpose.web.hub import Channel, Hub

__all__ = ["Job", "Work"]

log = logging.getLogger(__name__)

_MOST_WAITING = 50
_GRACE_SECONDS = 10.0
"""How long a cancelled job has to note that it was."""


@dataclass(eq=False, slots=True)
class Job:
    """One piece of work on a run: the run itself, or one section of it made again."""

    run: Run
    """As it stood when the job was asked for."""
    channel: Channel
    section: str | None = None
    """The section that is made again; None for the whole run."""
    source: Source | None = None
    """Of a whole run, which may not be stored yet."""
    sections: tuple[PlannedSection, ...] = ()
    """Likewise, those that it is to fill."""
    begun: bool = False
    """Whether it left the line."""
    stopping: bool = False
    """Whether nothing new may begin."""
    task: asyncio.Task[None] | None = None


Doing = Callable[[Job], Awaitable[None]]
"""Does a job to its end. It tells the job's channel how it ended, whatever happens."""


class Work:
    """Does jobs in a thread of its own."""

    def __init__(self, hub: Hub, *, most: int = 2) -> None:
        self._hub = hub
        self._most = most
        self._jobs: set[Job] = set()
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Event | None = None
        self._thread: Thread | None = None
        self._at_end: Callable[[], Awaitable[None]] | None = None
        self.refusing = False
        """Whether no further job is taken."""

    # --- from any thread ------------------------------------------------------------------------

    def open(self, at_end: Callable[[], Awaitable[None]]) -> None:
        """Start the thread; `at_end` is awaited in its loop after the last job."""
        self._at_end = at_end
        ready = Event()
        self._thread = Thread(
            target=lambda: asyncio.run(self._live(ready)), name="repurpose-work", daemon=True
        )
        self._thread.start()
        ready.wait()

    def begin(self, job: Job, do: Doing) -> None:
        """Put a job in line.

        Raises:
            HttpFault: the line is too long, or the server stops.
        """
        with self._lock:
            refused = self._refusal(job)
            if refused is None:
                self._jobs.add(job)
        if refused is not None:
            self._hub.done_with(job.channel)
            raise refused
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._start, job, do)

    def _refusal(self, job: Job) -> HttpFault | None:
        if self.refusing or self._loop is None:
            return HttpFault(503, "stopping", "the server stops; nothing new begins")
        if sum(not each.begun for each in self._jobs) >= _MOST_WAITING:
            return HttpFault(
                429, "busy", f"{_MOST_WAITING} runs wait already", hint="try again when some ended"
            )
        same = (job.run.id, job.section)
        if any((each.run.id, each.section) == same for each in self._jobs):
            return HttpFault(409, "busy", "it is being written already")
        return None

    def of_run(self, run_id: str) -> list[Job]:
        """The jobs on a run that are not done."""
        with self._lock:
            return [job for job in self._jobs if job.run.id == run_id]

    def whole_runs(self) -> list[Job]:
        """The runs that are not done."""
        with self._lock:
            return [job for job in self._jobs if job.section is None]

    def stop(self, run_id: str | None = None) -> int:
        """Ask jobs to stop, of one run or of all; again, and they stop now. Returns how many."""
        with self._lock:
            jobs = [job for job in self._jobs if run_id in (None, job.run.id)]
        for job in jobs:
            if (job.stopping or not job.begun) and self._loop is not None and job.task is not None:
                self._loop.call_soon_threadsafe(job.task.cancel)
            job.stopping = True
        return len(jobs)

    @property
    def idle(self) -> bool:
        """Whether nothing is in work or in line."""
        return not self._jobs

    def close(self) -> None:
        """Stop all jobs now and wait for the thread's end."""
        self.refusing = True
        loop, closing, thread = self._loop, self._closing, self._thread
        if loop is not None and closing is not None and thread is not None:
            loop.call_soon_threadsafe(closing.set)
            thread.join(2 * _GRACE_SECONDS)
        self._loop = None

    # --- in the thread --------------------------------------------------------------------------

    async def _live(self, ready: Event) -> None:
        self._closing = asyncio.Event()
        self._lanes = asyncio.Semaphore(self._most)
        self._loop = asyncio.get_running_loop()
        ready.set()
        await self._closing.wait()
        tasks = [job.task for job in list(self._jobs) if job.task is not None]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE_SECONDS)
        if self._at_end is not None:
            await self._at_end()

    def _start(self, job: Job, do: Doing) -> None:
        job.task = asyncio.ensure_future(self._done(job, do))

    async def _done(self, job: Job, do: Doing) -> None:
        try:
            async with self._lanes:
                job.begun = True
                await do(job)
        except asyncio.CancelledError:
            if not job.begun:
                ended = {"status": "interrupted", "message": "stopped before it began"}
                job.channel.tell("run_ended", ended)
        except Exception as foreign:  # noqa: BLE001 - one job must not end the thread
            # No trace: an exception of a library may hold a text.
            log.error("a job failed: %s", type(foreign).__name__)  # noqa: TRY400 - see above
        finally:
            with self._lock:
                self._jobs.discard(job)
            self._hub.done_with(job.channel)
