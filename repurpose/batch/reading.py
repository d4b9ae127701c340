"""Files read in processes of their own, beside the one that plans.

A process reads one file at a time, so that one which crashes or hangs takes its own file with it
and no other; the next file gets a new process.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TypeAlias

from repurpose.api._contents import Pages
from repurpose.api.loading import Loaded, LoadOptions, load_found
from repurpose.batch.finding import Spot
from repurpose.errors import SourceError
from repurpose.sources._raw import shown

__all__ = ["Readers", "opened"]

SECONDS = 180.0
"""For one file. A large PDF takes half a minute."""

_Sent: TypeAlias = tuple[Loaded, tuple[str, str, str | None] | None]
"""What a process hands over: a source, or reason, message and hint of an error."""


def opened(spot: Spot, options: LoadOptions, pages: Pages | None = None) -> Iterator[Loaded]:
    """The sources at a spot, or why there are none; nothing for a file that is no source.

    `pages` are what earlier ones were fetched through.
    """
    if spot.error is not None:
        yield Loaded(spot.origin, error=spot.error, within=spot.within)
        return
    yield from load_found(
        spot.origin,
        options,
        within=spot.within,
        by_chance=spot.by_chance and spot.is_file,
        pages=pages,
    )


class Readers:
    """A few processes that read files; none is started before the first file."""

    def __init__(
        self, options: LoadOptions, count: int | None = None, seconds: float = SECONDS
    ) -> None:
        self.count = count or max(1, min(8, os.cpu_count() or 1))
        self._options = options
        self._seconds = seconds
        self._own = threading.local()
        self._all: list[_Reader] = []
        self._threads = ThreadPoolExecutor(self.count, thread_name_prefix="reader")

    def read(self, spot: Spot) -> Future[list[Loaded]]:
        """What will be at a spot, as `opened` gives it."""
        return self._threads.submit(self._read, spot)

    def close(self) -> None:
        """End the processes; what they are reading is lost."""
        for reader in self._all:
            reader.end()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for reader in self._all:
            reader.end()

    def _read(self, spot: Spot) -> list[Loaded]:
        reader: _Reader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = _Reader(self._options)
            self._all.append(reader)
        return reader.read(spot, self._seconds)


class _Reader:
    """One process, started again where it died."""

    def __init__(self, options: LoadOptions) -> None:
        self._options = options
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None

    def read(self, spot: Spot, seconds: float) -> list[Loaded]:
        """The sources at a spot; where its process ends or does not answer, an error of its own."""
        pipe = self._started()
        found: list[Loaded] = []
        what = "reading it ended the process"
        try:
            pipe.send(spot)
            while pipe.poll(seconds):
                sent: _Sent | None = pipe.recv()
                if sent is None:
                    return found
                loaded, fault = sent
                found.append(replace(loaded, error=_error(fault)) if fault else loaded)
            what = f"reading it took more than {seconds:g} s"
        except (EOFError, OSError):
            pass
        self.end()
        error = SourceError("unreadable", f"{shown(spot.origin)}: cannot be read: {what}")
        return [Loaded(spot.origin, error=error, within=spot.within)]

    def end(self) -> None:
        """Kill the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join()
        if self._pipe is not None:
            with suppress(OSError):
                self._pipe.close()

    def _started(self) -> Connection:
        if self._process is not None and self._pipe is not None:
            return self._pipe
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._options), daemon=True)
        self._process.start()
        theirs.close()
        return self._pipe


def _error(fault: tuple[str, str, str | None]) -> SourceError:
    reason, message, hint = fault
    return SourceError(reason, message, hint=hint)


def _serve(pipe: Connection, options: LoadOptions) -> None:
    """Read what is asked for until nobody asks any more; Ctrl-C is the asker's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            spot: Spot = pipe.recv()
            for loaded in opened(spot, options):
                error = loaded.error
                told = (error.reason, error.message, error.hint) if error else None
                pipe.send((replace(loaded, error=None), told))
            pipe.send(None)
