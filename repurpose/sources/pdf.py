"""PDF: the text of its pages, read in a process of its own, as paragraphs with their page.

Hidden text is not told apart: a layer that makes scans searchable is invisible text, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from repurpose.core.source import Block, Source
from repurpose.errors import SourceError
from repurpose.sources._blocks import outline
from repurpose.sources._pdf_lines import Cleaning, lines_of, unmapped_share
from repurpose.sources._pdf_metadata import declared_date, declared_name, declared_title
from repurpose.sources._pdf_paragraphs import markdown_of, paragraphs_of
from repurpose.sources._pdf_process import Reading, read_pages
from repurpose.sources.base import MAX_BYTES, Raw, language_of, prose_of, shown
from repurpose.text.detection import scores_of

__all__ = ["load"]

_LITTLE = 20  # letters and digits for each page; scans have a stamp or a page number at most
_UNREADABLE = 1 / 3  # of the characters
_FEW_UNMAPPED = 20
_FEW_HIDDEN = 5
_LIKELY = 0.25
_SAMPLE = 2_000
_NAMED_PAGES = 10  # in a warning


def load(raw: Raw) -> Source:
    """A source from a PDF file; what its fonts do not name, and what repeats on each page, goes.

    A page that cannot be read is left out and named in a warning. The empty password is tried.

    Raises:
        SourceError: `empty`, `too-large`, `encrypted`, `corrupt`, `no-text` for scans and for
            fonts without a character map, `unsupported` where the extra is missing.
    """
    reading = _read(raw)
    _require_text(raw, reading)
    counts = Cleaning()
    text, places = markdown_of(paragraphs_of(lines_of(reading.pages, counts), reading.bookmarks))
    blocks = _with_pages(outline(text).blocks, places)
    if not any(map(str.isalnum, text)):
        raise _no_text(raw, "holds no text besides page numbers")
    language, doubts = _language(reading.about.get("language"), prose_of(text, blocks))
    return Source(
        text=text,
        origin=raw.origin,
        kind="pdf",
        blocks=blocks,
        title=declared_title(reading.about.get("title"), raw.origin),
        author=declared_name(reading.about.get("author")),
        date=declared_date(reading.about.get("date")),
        language=language,
        hidden=counts.hidden,
        warnings=(*_page_warnings(reading), *_letter_warnings(counts), *doubts),
    )


def _read(raw: Raw) -> Reading:
    where = shown(raw.origin)
    if not raw.content.strip(b"\0 \t\r\n"):
        raise SourceError("empty", f"{where}: empty; there is nothing to work on")
    if len(raw.content) > MAX_BYTES:
        raise SourceError(
            "too-large", f"{where}: larger than {MAX_BYTES // 1_000_000} MB; split it into parts"
        )
    try:
        reading = read_pages(raw.content)
    except OSError:
        raise SourceError(
            "unreadable", f"{where}: cannot be read: no process for it can be started"
        ) from None
    if reading.refused == "encrypted":
        raise SourceError("encrypted", f"{where}: protected by a password; save it without one")
    if reading.refused == "crypto":
        raise SourceError(
            "unsupported",
            f'{where}: an encrypted PDF file cannot be read without the "pdf" extra; install it: '
            "pip install 'repurpose-text[pdf]'",
        )
    if not reading.pages:
        raise _corrupt(where, reading)
    return reading


def _corrupt(where: str, reading: Reading) -> SourceError:
    if reading.stopped == "time":
        what = "no page of this PDF file could be read in time; print it to a new PDF file"
    else:
        what = "a damaged or incomplete PDF file; save or download it again"
    return SourceError("corrupt", f"{where}: {what}")


def _no_text(raw: Raw, what: str) -> SourceError:
    return SourceError("no-text", f"{shown(raw.origin)}: {what}; run OCR on it first")


def _require_text(raw: Raw, reading: Reading) -> None:
    """Refuse scans, and letters that nobody can read."""
    texts = [page.text for page in reading.pages.values()]
    if unmapped_share("\n".join(texts)) >= _UNREADABLE:
        raise _no_text(raw, "its fonts do not say which letters they show")
    if sum(sum(map(str.isalnum, one)) for one in texts) < _LITTLE * len(texts):
        raise _no_text(raw, "scanned, no text layer")


def _with_pages(blocks: Iterable[Block], places: list[tuple[int, int]]) -> tuple[Block, ...]:
    starts = [start for start, _ in places]
    return tuple(
        replace(one, page=places[max(0, bisect_right(starts, one.start) - 1)][1]) for one in blocks
    )


def _language(declared: str | None, prose: str) -> tuple[str | None, tuple[str, ...]]:
    """As `language_of`; a line or two of plain English counts as English.

    The model is not sure of so short a text in any language, but gives English ones several times
    the score of the next. For the other languages such scores are wrong as often as right.
    """
    code, doubts = language_of(declared, prose)
    if code is not None or sum(map(str.isalpha, prose)) < _LITTLE:
        return code, doubts
    scores = scores_of(prose[:_SAMPLE])
    english = scores.pop("en", 0.0)
    return "en" if english >= max(_LIKELY, 3 * max(scores.values(), default=0.0)) else None, doubts


def _page_warnings(reading: Reading) -> list[str]:
    warnings = []
    lost = sorted(reading.faults - reading.pages.keys())
    if lost:
        warnings.append(f"{_pages(lost)} could not be read and {_is(lost)} left out")
    blank = [
        number
        for number, page in sorted(reading.pages.items())
        if not any(map(str.isalnum, page.text))
    ]
    if blank:
        warnings.append(f"{_pages(blank)} {_has(blank)} no text layer: blank, scanned or damaged")
    if reading.stopped:
        why = "took too long" if reading.stopped == "time" else "too long"
        last = max(reading.pages) + 1
        warnings.append(f"reading stopped after page {last} of {reading.count}: {why}")
    return warnings


def _pages(numbers: list[int]) -> str:
    named = ", ".join(str(one + 1) for one in numbers[:_NAMED_PAGES])
    more = len(numbers) - _NAMED_PAGES
    tail = f" and {more} more" if more > 0 else ""
    return f"{'page' if len(numbers) == 1 else 'pages'} {named}{tail}"


def _is(numbers: list[int]) -> str:
    return "is" if len(numbers) == 1 else "are"


def _has(numbers: list[int]) -> str:
    return "has" if len(numbers) == 1 else "have"


def _letter_warnings(counts: Cleaning) -> list[str]:
    warnings = []
    if counts.unmapped > _FEW_UNMAPPED:
        warnings.append(f"{counts.unmapped} characters for which the file names no letter left out")
    if counts.hidden > _FEW_HIDDEN:
        warnings.append(f"{counts.hidden} hidden characters were removed from the text")
    return warnings
