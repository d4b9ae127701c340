"""Who works on what: leases that are renewed while their owner lives, and end when it does not.

A process that is killed loses its leases after a minute, or as soon as another process on the
same machine sees that it is gone.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from pathlib import Path

from repurpose.errors import StoreError
from repurpose.ports import BatchStore, Clock

__all__ = ["SECONDS", "Leases", "is_dead", "new_owner"]

log = logging.getLogger(__name__)

SECONDS = 60.0
"""How long a lease lasts after it was last renewed."""
_BEATS = 4  # renewals within that time


class Leases:
    """The leases of one process."""

    def __init__(
        self, store: BatchStore, owner: str, clock: Clock, seconds: float = SECONDS
    ) -> None:
        self._store = store
        self._owner = owner
        self._clock = clock
        self._seconds = seconds
        self._held: set[str] = set()
        self.lost = False
        """Whether others may have taken what this process was working on."""

    def claim(self, name: str) -> str | None:
        """Take a lease; None when it is ours, else who has it."""
        holder = self._claimed(name)
        if holder is not None and is_dead(holder):
            self._store.release(holder, name)  # exactly this one; a third may have taken it by now
            holder = self._claimed(name)
        if holder is None:
            self._held.add(name)
        return holder

    def bury(self) -> None:
        """Give up what processes held that are gone."""
        for owner in self._store.owners():
            if is_dead(owner):
                self._store.release(owner)

    def release(self, name: str) -> None:
        """Give a lease up; one that cannot be given up ends by itself."""
        self._held.discard(name)
        try:
            self._store.release(self._owner, name)
        except StoreError as fault:
            log.warning("a lease could not be given up: %s", fault.message)

    def renew(self) -> None:
        """Prolong all that are held, and notice where one was lost meanwhile."""
        renewed = self._store.renew(self._owner, self._now + self._seconds)
        if renewed < len(self._held):
            self.lost = True

    async def keep(self) -> None:
        """Renew for ever; a database that fails once may have recovered the next time."""
        while True:
            await self._clock.sleep(self._seconds / _BEATS)
            try:
                self.renew()
            except StoreError as fault:
                log.warning("leases could not be renewed: %s", fault.message)

    def _claimed(self, name: str) -> str | None:
        now = self._now
        return self._store.claim(name, self._owner, now, now + self._seconds)

    @property
    def _now(self) -> float:
        return self._clock.now().timestamp()


def new_owner() -> str:
    """A name for this process that no other one ever has; tells others where to look for it."""
    place = f"{socket.gethostname()} {_namespace()}"
    return f"{place} {os.getpid()} {_started(os.getpid())} {secrets.token_hex(4)}"


def is_dead(owner: str) -> bool:
    """Whether a process is certainly gone: it was on this machine, and is not there any more.

    False where that cannot be known, as of another machine or container.
    """
    parts = owner.split(" ")
    if len(parts) != 5 or os.name != "posix":
        return False
    host, namespace, pid, started, _ = parts
    if (host, namespace) != (socket.gethostname(), _namespace()) or not pid.isdecimal():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:  # it is there, and not ours
        return False
    return started != _started(int(pid))


def _namespace() -> str:
    """Within what the numbers of processes are unique, where the system has such a thing."""
    try:
        return str(Path("/proc/self/ns/pid").readlink()).replace(" ", "")
    except OSError:
        return "-"


def _started(pid: int) -> str:
    """When a process began, in the system's own count; a number is given to many in turn."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "-"
    # Field 22 (proc(5)); the second, a name in brackets, may hold anything. A dead process that
    # nobody has waited for is in state Z.
    fields = told.rpartition(")")[2].split()
    return "gone" if fields[0] in "ZX" else fields[19]
