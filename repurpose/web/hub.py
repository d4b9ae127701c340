"""What is told of each run as numbered lines, and who reads them.

What is always true here: a line is written once, in whatever thread, and never waits for a reader.
A reader is a place in the list; one that is slow is only further back, and one that leaves takes
its place with it.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from repurpose.core.json_types import JsonObject
from repurpose.web.lines import Line, settled

__all__ = ["Channel", "Hub", "Viewer"]

_KEPT_SECONDS = 120.0
"""How long the lines of a run stay after its end, for viewers that lost their connection."""
_EXACT_SECONDS = 30.0
"""How long they all stay; then only what a viewer still needs."""
_PORTION = 256_000
"""Bytes that a viewer is handed at once."""


@dataclass(eq=False, slots=True)
class Viewer:
    """One reader of a channel; used in the thread of the server's loop only."""

    channel: Channel
    cursor: int
    """The number of the last line that it has."""
    shift: int = 0
    """What its numbers are ahead of the channel's, where it was told of stored rows first."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    gone: bool = False
    """Whether its connection is closed."""

    def portion(self) -> bytes:
        """The next lines for it; empty where there are none yet."""
        parts: list[bytes] = []
        size = 0
        for line, encoded in self.channel.after(self.cursor):
            if line.since > self.cursor:  # else it has the beginning of what was merged here
                part = encoded if self.shift == 0 else line.encoded(self.shift)
                parts.append(part)
                size += len(part)
            self.cursor = line.number
            if size > _PORTION:
                break
        return b"".join(parts)


class Channel:
    """The lines of one run."""

    def __init__(self, run_id: str, *, whole: bool, wake: Callable[[Channel], None]) -> None:
        self.run_id = run_id
        self.whole = whole
        """Whether its lines begin with the run's first, so that a viewer can go on from any of
        them. Else they come after what is told of stored rows."""
        self.over = False
        """Whether the run has ended."""
        self.busy = 0
        """How many works on the run are not done yet."""
        self.idle_since = 0.0
        self.viewers: set[Viewer] = set()
        self.start = 0
        """The number after which a viewer begins that is new."""
        self.settled = True
        """Whether there is nothing that could be merged."""
        self._lines: list[Line] = []
        self._encoded: list[bytes] = []
        self._numbers: list[int] = []
        self._last = 0
        self._lock = Lock()
        self._wake = wake

    def tell(self, kind: str, payload: JsonObject) -> None:
        """Append a line; in any thread."""
        with self._lock:
            self._last += 1
            line = Line(self._last, kind, payload, self._last)
            self._lines.append(line)
            self._encoded.append(line.encoded())
            self._numbers.append(line.number)
            self.settled = False
        self._wake(self)

    def after(self, number: int) -> list[tuple[Line, bytes]]:
        """The lines behind the one with that number."""
        with self._lock:
            place = bisect_right(self._numbers, number)
            return list(zip(self._lines[place:], self._encoded[place:], strict=True))

    @property
    def last(self) -> int:
        """The number of the newest line; 0 where there is none."""
        with self._lock:
            return self._last

    def __len__(self) -> int:
        return len(self._lines)

    def settle(self) -> None:
        """Keep of what is over only what a viewer still needs; numbers stay."""
        with self._lock:
            if self.settled:
                return
            self._lines = settled(self._lines)
            self._encoded = [line.encoded() for line in self._lines]
            self._numbers = [line.number for line in self._lines]
            self.settled = True

    def has_lag(self) -> bool:
        """Whether a viewer has not yet got all of it."""
        return any(viewer.cursor < self._last for viewer in list(self.viewers))


class Hub:
    """The channels of the runs that are in work, were a moment ago, or are looked at."""

    def __init__(self, seconds: Callable[[], float], *, keep: float = _KEPT_SECONDS) -> None:
        self._seconds = seconds
        self._keep = keep
        self._channels: dict[str, Channel] = {}
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken: set[Channel] = set()
        self.closing = False

    def open(self, loop: asyncio.AbstractEventLoop) -> None:
        """Viewers are from now on in this loop."""
        self._loop = loop

    def close(self) -> None:
        """Send every viewer away; in the thread of the loop."""
        self.closing = True
        for channel in list(self._channels.values()):
            for viewer in channel.viewers:
                viewer.woken.set()

    def begin(self, run_id: str) -> Channel:
        """The channel of a run that begins now."""
        with self._lock:
            channel = Channel(run_id, whole=True, wake=self._wake)
            channel.busy = 1
            self._channels[run_id] = channel
        return channel

    def found(self, run_id: str) -> Channel | None:
        """The channel of a run, where it is in memory."""
        return self._channels.get(run_id)

    def follow(self, run_id: str) -> Channel:
        """The channel of a run that is stored, for what becomes of it from now on."""
        with self._lock:
            channel = self._channels.get(run_id)
            if channel is None:
                channel = Channel(run_id, whole=False, wake=self._wake)
                channel.over = True
                self._channels[run_id] = channel
        return channel

    def work_on(self, run_id: str) -> Channel:
        """As `follow`, and kept until `done_with`."""
        channel = self.follow(run_id)
        with self._lock:
            channel.busy += 1
            self._channels[run_id] = channel
        return channel

    def done_with(self, channel: Channel) -> None:
        """Work on the channel's run is done."""
        with self._lock:
            channel.busy -= 1
            channel.over = True
            channel.idle_since = self._seconds()
            if not channel.whole:
                channel.start = channel.last  # what came before is stored by now
        self._wake(channel)
        self.sweep()

    def tell(self, run_id: str, kind: str, payload: JsonObject) -> None:
        """Append a line where anybody follows the run; else the store says it."""
        channel = self._channels.get(run_id)
        if channel is not None:
            channel.tell(kind, payload)

    def join(self, channel: Channel, last: str | None = None) -> Viewer:
        """A new viewer behind the line that it had `last`, or at the beginning of what is told.

        In the loop's thread. A number that the channel has not given is as none at all.
        """
        viewer = Viewer(channel, channel.start)
        if channel.whole and last and last.isascii() and last.isdecimal():
            number = int(last[:18])
            viewer.cursor = number if number <= channel.last else 0
        with self._lock:
            channel.viewers.add(viewer)
            self._channels.setdefault(channel.run_id, channel)
        return viewer

    def leave(self, viewer: Viewer) -> None:
        """The viewer is gone; in the loop's thread."""
        with self._lock:
            viewer.channel.viewers.discard(viewer)
            viewer.channel.idle_since = self._seconds()
        self.sweep()

    def sweep(self) -> None:
        """Let go of what nobody needs any more."""
        now = self._seconds()
        with self._lock:
            for run_id, channel in list(self._channels.items()):
                idle = 0.0 if channel.busy else now - channel.idle_since
                kept = channel.whole and idle < self._keep
                if not (channel.busy or channel.viewers or kept):
                    del self._channels[run_id]
                elif idle >= self._keep or (idle >= _EXACT_SECONDS and not channel.has_lag()):
                    channel.settle()

    def __len__(self) -> int:
        return len(self._channels)

    def _wake(self, channel: Channel) -> None:
        """Wake the channel's viewers, once for all lines since they were last woken."""
        loop = self._loop
        with self._lock:
            if loop is None or channel in self._woken:
                return
            self._woken.add(channel)
        try:
            loop.call_soon_threadsafe(self._awaken, channel)
        except RuntimeError:  # the server is gone; what is stored tells the rest
            self._woken.discard(channel)

    def _awaken(self, channel: Channel) -> None:
        with self._lock:
            self._woken.discard(channel)
        for viewer in channel.viewers:
            viewer.woken.set()
