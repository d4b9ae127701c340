"""One PDF file read in a child process, within limits of time, memory and text.

Whatever the file does to the process that reads it, the pages that came before are kept. After a
crash or a page that takes too long, another process goes on with the other library, or behind
that page.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import queue
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.schema.intake import IntakeError, decode

__all__ = ["Page", "Reading", "read_pages"]

_STALL = 3.0  # seconds until the next page must be there, or the other library takes over
_ALONE = 5.0  # likewise where there is no other
_FIRST = 8.0  # seconds in all, and for each page that came
_EACH = 0.2
_MOST = 60.0
_STARTS = 4
_PAGE_LIMIT = 5_000  # pages
_TEXT_LIMIT = 4_000_000  # characters; a book of a thousand pages has 2,500,000
_LINE_LIMIT = 8_000_000  # bytes of one message; its reader stops there
_CHILD = Path(__file__).with_name("_pdf_child.py")
# What a Python process may need to start. Nothing else is handed on: no key, no proxy, no home.
_ENVIRONMENT = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_END = b""
_HIGHEST = 1_000_000  # pages


@dataclass(frozen=True, slots=True)
class Page:
    """The text of one page as the library gave it."""

    text: str
    sizes: tuple[float, ...] = ()
    """The size of the letters in each line; 0 where it is not known."""


@dataclass(slots=True)
class Reading:
    """What came out of a file."""

    count: int = 0
    """How many pages the file has."""
    pages: dict[int, Page] = field(default_factory=dict)
    """By number, from 0."""
    faults: set[int] = field(default_factory=set)
    """Pages that could not be read."""
    about: dict[str, str] = field(default_factory=dict)
    """What the file says of itself: title, author, date, language."""
    bookmarks: list[tuple[int, str, int]] = field(default_factory=list)
    """Level from 1, title, page from 0 or -1."""
    refused: str | None = None
    """Why it was not opened: encrypted, corrupt, or crypto where a library is missing."""
    stopped: str | None = None
    """What cut the reading short: time or size."""
    engine: str = "auto"
    ended: bool = False
    length: int = 0
    """Characters on all pages so far."""

    @property
    def next_page(self) -> int:
        """The page that is read next."""
        done = self.pages.keys() | self.faults
        return max(done, default=-1) + 1

    @property
    def complete(self) -> bool:
        """Whether nothing more can come."""
        return self.ended or (0 < self.count <= self.next_page)


class _BrokenError(Exception):
    """The process died, fell silent, or spoke as it should not."""


def read_pages(content: bytes, *, child: Path = _CHILD) -> Reading:
    """Everything that could be read of the PDF file `content`; a bad file raises nothing.

    Raises:
        OSError: no process can be started.
    """
    reading = Reading()
    start = time.monotonic()
    engine = "auto"
    tried: set[tuple[int, str]] = set()
    for _ in range(_STARTS):
        command = [sys.executable, "-P", str(child), engine, str(reading.next_page)]
        with contextlib.suppress(_BrokenError):
            _attempt(command, content, reading, start)
        if reading.refused or reading.complete or _spent(reading, start):
            break
        page = reading.next_page
        tried |= {(page, engine), (page, reading.engine)}
        following = _untried(reading, {one for number, one in tried if number == page})
        if following is None and not reading.count:
            break
        if following is None:  # both libraries had their turn, so the page is given up
            reading.faults.add(page)
        engine = following or reading.engine
    if not reading.complete and not reading.refused:
        reading.stopped = reading.stopped or "time"
    return reading


def _untried(reading: Reading, tried: set[str]) -> str | None:
    """A library that has not tried the page yet; first the one that did not open the file."""
    order = ("pypdf", "pdfium") if reading.engine == "pdfium" else ("pdfium", "pypdf")
    return next((one for one in order if one not in tried and _installed(one)), None)


def _installed(engine: str) -> bool:
    return engine == "pypdf" or importlib.util.find_spec("pypdfium2") is not None


def _deadline(reading: Reading, start: float) -> float:
    """A long honest file has the time its pages need, one that hangs has not."""
    return start + min(_MOST, _FIRST + _EACH * len(reading.pages))


def _spent(reading: Reading, start: float) -> bool:
    return reading.stopped is not None or time.monotonic() >= _deadline(reading, start)


def _attempt(command: list[str], content: bytes, reading: Reading, start: float) -> None:
    """Take what one process gives.

    Raises:
        _BrokenError: it gave less than it should.
    """
    lines: queue.Queue[bytes] = queue.Queue(maxsize=64)
    process = subprocess.Popen(  # noqa: S603 - our own program, by its path
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    thread = threading.Thread(target=_converse, args=(process, content, lines), daemon=True)
    try:
        thread.start()
        wait = _STALL if _installed("pdfium") else _ALONE
        while not (reading.ended or reading.refused or reading.stopped):
            left = min(wait, _deadline(reading, start) - time.monotonic())
            _take(_next(lines, left), reading)
    finally:
        process.kill()
        process.wait()
        thread.join(_STALL)


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    # The libraries are looked for where this process found them, and nowhere else.
    places = os.pathsep.join(one for one in sys.path if one)
    return {**kept, "PYTHONPATH": places, "PYTHONIOENCODING": "utf-8"}


def _converse(process: subprocess.Popen[bytes], content: bytes, lines: queue.Queue[bytes]) -> None:
    """Hand over the file, then pass on line by line; in a thread, since both may block."""
    if process.stdin is None or process.stdout is None:
        return
    with contextlib.suppress(OSError), process.stdin:
        process.stdin.write(content)
    # Where nobody takes the lines any more, the process has been killed.
    with contextlib.suppress(OSError, queue.Full), process.stdout:
        while line := process.stdout.readline(_LINE_LIMIT):
            lines.put(line, timeout=_STALL / 4)
        lines.put(_END, timeout=_STALL / 4)


def _next(lines: queue.Queue[bytes], seconds: float) -> JsonObject:
    try:
        line = lines.get(timeout=max(seconds, 0))
        message = decode(line.decode())
    except (queue.Empty, UnicodeDecodeError, IntakeError):
        raise _BrokenError from None
    if not isinstance(message, dict):
        raise _BrokenError
    return message


def _take(message: JsonObject, reading: Reading) -> None:
    """Add what `message` says to `reading`.

    Raises:
        _BrokenError: a process that a file took over may say anything.
    """
    try:
        _understood(message, reading)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _BrokenError from None


def _understood(message: JsonObject, reading: Reading) -> None:
    match message["is"]:
        case "opened":
            reading.count, reading.engine = _number(message["pages"]), _text(message["engine"])
        case "about":
            reading.about = {key: _text(value) for key, value in message.items() if key != "is"}
        case "page":
            _add_page(message, reading)
        case "fault":
            reading.faults.add(_number(message["page"]))
        case "bookmarks":
            reading.bookmarks = [
                (_number(level), _text(title), _number(page))
                for level, title, page in map(_items, _items(message["entries"]))
            ]
        case "refused":
            reading.refused = _text(message["reason"])
        case "end":
            reading.ended = True
        case _:
            raise ValueError


def _add_page(message: JsonObject, reading: Reading) -> None:
    number, text = _number(message["page"]), _text(message["text"])
    if number >= reading.count:
        raise ValueError
    reading.length += len(text)
    if reading.length > _TEXT_LIMIT or len(reading.pages) >= _PAGE_LIMIT:
        reading.stopped = "size"
        return
    sizes = [float(one) for one in _items(message["sizes"]) if isinstance(one, int | float)]
    reading.pages[number] = Page(text, tuple(sizes))


def _number(value: JsonValue) -> int:
    if not isinstance(value, int) or not -1 <= value <= _HIGHEST:
        raise ValueError
    return value


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _items(value: JsonValue) -> list[JsonValue]:
    if not isinstance(value, list):
        raise TypeError
    return value
