"""The process that reads one PDF file: its bytes on standard input, JSON lines on standard output.

    python -P _pdf_child.py auto|pypdf|pdfium FIRST_PAGE

It is started by its path and imports nothing of the package, so that it starts fast and that a
hostile file which breaks it, fills its memory or keeps it busy breaks nothing else; so it is one
file, if a long one. Each line is an object whose `is` says what it holds: opened, about, page,
fault, bookmarks, refused or end. Pages count from 0 and come one by one, so that those before a
fault are not lost.
"""

from __future__ import annotations

import importlib
import io
import json
import logging
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, cast

import pypdf
from pypdf.errors import DependencyError

try:
    import resource
except ImportError:  # Windows bounds memory by other means, and this does not use them
    resource = None  # type: ignore[assignment]

_MEMORY = 480 << 20  # bytes of address space; the readers and a file of 20 MB need half of it
_SECONDS = 90  # of processor time, in case that whoever started this is gone and cannot end it
_LONG = 120
"""Pages from which PDFium reads: pypdf needs some 25 ms for each, PDFium 2."""
_SAMPLE = 3  # pages that tell the script of a long file
_LITTLE = 20  # letters and digits; a page with fewer is read a second time
_PAGE_LIMIT = 1_000_000  # characters; a dense page of a newspaper has 20,000
_BOOKMARKS = 2_000
_VALUE = 1_000  # characters of a title or a name
# Nothing on a page stands for what these are: letters of fonts without a character map.
_UNMAPPED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]|/[A-Za-z]{1,3}\\d{1,5}")
_ARABIC = re.compile("[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefe]")
_SIZE = 1  # decimal places

Message = dict[str, object]
Lines = tuple[str, list[float]]
"""The text of a page, and the size of the letters in each of its lines (0: not known)."""


class RefusedError(Exception):
    """A file that no reader can read; the argument is the reason."""


class Reading(Protocol):
    """One file, opened by one library."""

    name: str

    def count(self) -> int: ...
    def about(self) -> dict[str, object]: ...
    def page(self, number: int) -> Lines: ...
    def bookmarks(self) -> Iterator[tuple[int, str, int]]: ...


class _Letters(Protocol):
    """What is used of a text page of PDFium."""

    raw: object


class Pypdf:
    """The better text: right order, right Arabic. Slow, and strict about damage."""

    name = "pypdf"

    def __init__(self, content: bytes) -> None:
        self._file = pypdf.PdfReader(io.BytesIO(content))
        if self._file.is_encrypted and not self._file.decrypt(""):
            raise RefusedError("encrypted")
        self._count = len(self._file.pages)

    def count(self) -> int:
        return self._count

    def about(self) -> dict[str, object]:
        found, root = self._file.metadata, self._file.root_object
        return {
            "title": found and found.title,
            "author": found and found.author,
            "date": found and found.creation_date_raw,
            # `get` would give a reference where the value stands elsewhere in the file.
            "language": root["/Lang"] if "/Lang" in root else None,  # noqa: SIM401
        }

    def page(self, number: int) -> Lines:
        parts: list[tuple[str, float]] = []

        def visit(text: str, outer: object, inner: object, _font: object, size: object) -> None:
            parts.append((text, _scaled(size, outer) * _scaled(1, inner)))

        text = self._file.pages[number].extract_text(visitor_text=visit)
        return text, _sizes(parts)

    def bookmarks(self) -> Iterator[tuple[int, str, int]]:
        def walk(entries: list[Any], level: int) -> Iterator[tuple[int, str, int]]:
            for one in entries:
                if isinstance(one, list):
                    yield from walk(one, level + 1)
                else:
                    page = self._file.get_destination_page_number(one)
                    yield level, str(one.title), -1 if page is None else page

        yield from walk(self._file.outline, 1)


class Pdfium:
    """Fast, and reads much that is damaged. In Arabic it swaps the letters of a ligature."""

    name = "pdfium"

    def __init__(self, content: bytes) -> None:
        # It may not be installed, and most files never need it.
        pypdfium2 = importlib.import_module("pypdfium2")
        self._raw = pypdfium2.raw
        try:
            self._file = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as fault:
            locked = getattr(fault, "err_code", None) == self._raw.FPDF_ERR_PASSWORD
            raise RefusedError("encrypted" if locked else "corrupt") from None

    def count(self) -> int:
        return len(self._file)

    def about(self) -> dict[str, object]:
        keys = {"title": "Title", "author": "Author", "date": "CreationDate"}
        return {name: self._file.get_metadata_value(key) for name, key in keys.items()}

    def page(self, number: int) -> Lines:
        page = self._file[number]
        try:
            letters = page.get_textpage()
            text = letters.get_text_range()
            # Where nothing was left out or put in between, places in the text are places in the
            # list of letters.
            aligned = len(text) == letters.count_chars()
            sizes = list(self._line_sizes(text, letters)) if aligned else []
            letters.close()
        finally:
            page.close()
        return text.replace("\r\n", "\n").replace("\r", "\n"), sizes

    def _line_sizes(self, text: str, letters: _Letters) -> Iterator[float]:
        at = 0
        for line in text.split("\n"):
            middle = at + len(line.rstrip()) // 2
            matrix = self._raw.FS_MATRIX()
            known = line.strip() and self._raw.FPDFText_GetMatrix(letters.raw, middle, matrix)
            size = self._raw.FPDFText_GetFontSize(letters.raw, middle) if known else 0.0
            yield round(_scaled(size, [matrix.a, matrix.b, matrix.c, matrix.d]), _SIZE)
            at += len(line) + 1

    def bookmarks(self) -> Iterator[tuple[int, str, int]]:
        for one in self._file.get_toc():
            place = one.get_dest()
            index = place.get_index() if place else None
            yield one.level + 1, one.get_title(), -1 if index is None else index


def _scaled(size: object, matrix: object) -> float:
    """`size` as a matrix shows it; 0 where either makes no sense."""
    try:
        a, b, c, d = (float(one) for one in cast(Sequence[float], matrix)[:4])
        scaled = abs(float(cast(float, size))) * math.sqrt(abs(a * d - b * c))
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return scaled if 0.0 < scaled < 10_000 else 0.0


def _sizes(parts: list[tuple[str, float]]) -> list[float]:
    """For each line the size that most of its letters have."""
    sizes: list[float] = []
    here: Counter[float] = Counter()
    for text, size in parts:
        first, *others = text.split("\n")
        here[size] += len(first.strip())
        for piece in others:
            sizes.append(_most(here))
            here = Counter({size: len(piece.strip())})
    return [*sizes, _most(here)]


def _most(sizes: Counter[float]) -> float:
    size, letters = max(sizes.items(), key=lambda one: one[1], default=(0.0, 0))
    return round(size, _SIZE) if letters else 0.0


def good_letters(text: str) -> int:
    """How many letters and digits of `text` mean something."""
    return sum(map(str.isalnum, _UNMAPPED.sub("", text)))


class Child:
    """One file and the libraries that have opened it."""

    def __init__(self, content: bytes, engine: str) -> None:
        self._content = content
        self._engine = engine
        self._opened: dict[str, Reading | None] = {}

    def chosen(self) -> Reading:
        """The library that reads this file.

        Raises:
            RefusedError: none does; a password counts more than damage.
        """
        if self._engine == "pdfium":
            return Pdfium(self._content)
        reasons = []
        try:
            reading: Reading = Pypdf(self._content)
            if reading.count():
                return self._quicker(reading) if self._engine == "auto" else reading
            reasons.append("corrupt")
        except RefusedError as refusal:
            reasons.append(str(refusal))
        except DependencyError:
            reasons.append("crypto")
        except Exception:  # noqa: BLE001 - a hostile file may raise anything
            reasons.append("corrupt")
        if "encrypted" not in reasons and self._engine == "auto":
            other = self._pdfium()
            if other is not None and other.count():
                return other
        raise RefusedError(reasons[0])

    def _quicker(self, reading: Reading) -> Reading:
        """The reader for a file of that length and script."""
        other = self._pdfium() if reading.count() > _LONG else None
        if other is None or other.count() != reading.count():
            return reading
        sample = "".join(other.page(number)[0] for number in range(_SAMPLE))
        return reading if len(_ARABIC.findall(sample)) > len(sample) / 10 else other

    def _pdfium(self) -> Reading | None:
        if "pdfium" not in self._opened:
            try:
                self._opened["pdfium"] = Pdfium(self._content)
            except Exception:  # noqa: BLE001 - not installed, refused, or out of memory
                self._opened["pdfium"] = None
        return self._opened["pdfium"]

    def page(self, reading: Reading, number: int) -> Lines:
        """A page by `reading`; by PDFium where that gives nothing, almost nothing or garbage."""
        first: Lines | None = None
        try:
            first = reading.page(number)
            letters = good_letters(first[0])
            dirty = 4 * len(_UNMAPPED.findall(first[0])) > letters
            if letters >= _LITTLE and not dirty:
                return first
        except Exception:
            if self._engine != "auto" or reading.name == "pdfium":
                raise
        other = self._pdfium() if self._engine == "auto" and reading.name == "pypdf" else None
        if other is not None:
            second = other.page(number)
            if first is None or good_letters(second[0]) > good_letters(first[0]):
                return second
        if first is None:
            raise ValueError
        return first

    def messages(self, first: int) -> Iterator[Message]:
        """What is sent, in order."""
        try:
            reading = self.chosen()
        except RefusedError as refusal:
            yield {"is": "refused", "reason": str(refusal)}
            return
        yield {"is": "opened", "pages": reading.count(), "engine": reading.name}
        yield {"is": "about", **_about(reading)}
        for number in range(first, reading.count()):
            try:
                text, sizes = self.page(reading, number)
                if len(text) > _PAGE_LIMIT:
                    raise ValueError  # noqa: TRY301 - a page like one that cannot be read
                yield {"is": "page", "page": number, "text": _sendable(text), "sizes": sizes}
            except Exception:  # noqa: BLE001 - a bad page costs that page
                yield {"is": "fault", "page": number}
        yield {"is": "bookmarks", "entries": _bookmarks(reading)}
        yield {"is": "end"}


def _about(reading: Reading) -> Message:
    try:
        return {
            name: _sendable(value)[:_VALUE]
            for name, value in reading.about().items()
            if isinstance(value, str)
        }
    except Exception:  # noqa: BLE001 - the text is worth more than what the file says of itself
        return {}


def _bookmarks(reading: Reading) -> list[tuple[int, str, int]]:
    found: list[tuple[int, str, int]] = []
    try:
        for level, title, page in reading.bookmarks():
            found.append((level, _sendable(title)[:_VALUE], page))
            if len(found) == _BOOKMARKS:
                break
    except Exception:  # noqa: BLE001, S110 - headings are found without them, if less surely
        pass
    return found


def _sendable(text: str) -> str:
    """`text` without what UTF-8 or JSON cannot carry."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return whole.replace("\x00", "")


def _limit() -> None:
    """Bound memory and processor time, where the system can."""
    if resource is None:
        return
    for name, limit in (("RLIMIT_AS", _MEMORY), ("RLIMIT_CPU", _SECONDS), ("RLIMIT_CORE", 0)):
        try:
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
            resource.setrlimit(kind, (bound, bound))
        except (AttributeError, ValueError, OSError):
            continue  # macOS knows the limit on memory and refuses to set it


def main() -> None:
    """Read the file, page by page."""
    # What the libraries print must not get between the messages.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    logging.disable(logging.CRITICAL)
    content = sys.stdin.buffer.read()
    _limit()
    for message in Child(content, sys.argv[1]).messages(int(sys.argv[2])):
        out.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
        out.flush()


if __name__ == "__main__":
    main()
