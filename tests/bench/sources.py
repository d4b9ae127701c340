"""What loading costs, for each kind, beside the bare library on the same bytes; a Markdown table.

    python tests/bench/sources.py [--rounds 5] [--kind KIND] FOLDER...

The files in the folders are loaded in turn by us and by the library that reads their kind (where
there is none, by the nearest thing to it), in the same run. Processor time counts, that of child
processes included; for each file the median of the rounds, for each kind the sum over its files.
Files that either side refuses are left out. Needs the extras `pdf`, `office` and `feeds`.
"""

from __future__ import annotations

import argparse
import email
import email.policy
import io
import json
import logging
import resource
import statistics
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import charset_normalizer
import feedparser
import lxml.etree
import lxml.html
import mammoth
import pypdf
import trafilatura
from markdown_it import MarkdownIt
from striprtf.striprtf import rtf_to_text

from repurpose.errors import SourceError
from repurpose.sources import LISTINGS, SOURCES, kind_of, listing_in, load_bytes

Read = Callable[[bytes], object]

_IN_A_PROCESS = (
    "import io, logging, pypdf, sys; logging.disable(50); "
    "print([page.extract_text() for page in "
    "pypdf.PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages])"
)


def html(content: bytes) -> object:
    """The article as Markdown, with what the page says of itself."""
    return trafilatura.extract(
        content,
        output_format="markdown",
        include_comments=False,
        include_tables=True,
        with_metadata=True,
    )


def pdf(content: bytes) -> list[str]:
    """The text of every page."""
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(content)).pages]


def pdf_in_a_process(content: bytes) -> object:
    """The same in a new process, whose start counts."""
    command = [sys.executable, "-c", _IN_A_PROCESS]
    return subprocess.run(command, input=content, capture_output=True, check=True).stdout


def docx(content: bytes) -> object:
    """The document as HTML."""
    return mammoth.convert_to_html(io.BytesIO(content)).value


def zipped(content: bytes) -> list[str]:
    """The text of every XML part."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [archive.read(one) for one in archive.namelist() if one.endswith((".xml", "html"))]
    return ["".join(lxml.etree.fromstring(one).itertext()) for one in parts]


def rtf(content: bytes) -> object:
    """The plain text."""
    return rtf_to_text(content.decode("latin-1"))


def eml(content: bytes) -> object:
    """The preferred body, decoded, and its text where it is HTML."""
    body = email.message_from_bytes(content, policy=email.policy.default).get_body()
    text = body.get_content() if body is not None else ""
    return lxml.html.fromstring(text).text_content() if "<" in text else text


def text(content: bytes) -> str:
    """The text in the likeliest character set."""
    return str(charset_normalizer.from_bytes(content).best())


def markdown(content: bytes) -> object:
    """The tokens."""
    return MarkdownIt("commonmark").parse(content.decode())


def decoded_json(content: bytes) -> object:
    """The decoded values."""
    return json.loads(content)  # noqa: TID251 - the bare library is what is measured


LIBRARIES: dict[str, tuple[tuple[str, Read], ...]] = {
    "html": (("trafilatura", html),),
    "pdf": (("pypdf", pdf), ("pypdf in a process", pdf_in_a_process)),
    "docx": (("mammoth", docx),),
    "pptx": (("zipfile, lxml", zipped),),
    "odt": (("zipfile, lxml", zipped),),
    "epub": (("zipfile, lxml", zipped),),
    "rtf": (("striprtf", rtf),),
    "eml": (("email, lxml", eml),),
    "text": (("charset-normalizer", text),),
    "markdown": (("markdown-it", markdown),),
    "srt": (("decode", bytes.decode),),
    "vtt": (("decode", bytes.decode),),
    "podcast-json": (("json", decoded_json),),
    "youtube-json3": (("json", decoded_json),),
    "json-feed": (("json", decoded_json),),
    "feed": (("feedparser", feedparser.parse),),
    "sitemap": (("lxml", lxml.etree.fromstring),),
}
"""What stands beside us, by kind; the first is what the loader itself uses, where it uses one."""


@dataclass
class Cost:
    """What the files of one kind cost beside one library."""

    library: str
    files: int = 0
    pages: int = 0
    size: int = 0
    ours: float = 0.0
    theirs: float = 0.0


def processor_ms(act: Callable[[], object]) -> float:
    """User and system time of `act` and of the processes it waited for, in milliseconds."""

    def spent() -> float:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(one.ru_utime + one.ru_stime for one in used)

    before = spent()
    act()
    return 1000 * (spent() - before)


def loaded(name: str, content: bytes, kind: str) -> object:
    """By us: the source, or the entries of what is only a listing."""
    return load_bytes(content, name) if kind in SOURCES else listing_in(content, name, kind)


def pages_in(kind: str, content: bytes) -> int:
    """Pages of a PDF file; anything else counts as one."""
    return len(pypdf.PdfReader(io.BytesIO(content)).pages) if kind == "pdf" else 1


def measure(files: Iterable[tuple[str, bytes]], rounds: int) -> dict[tuple[str, str], Cost]:
    """The cost of all files, by kind and library."""
    costs: dict[tuple[str, str], Cost] = {}
    for name, content in files:
        try:
            kind = kind_of(name, content)
            act = partial(loaded, name, content, kind)
            act()
        except SourceError:
            continue
        for library, read in LIBRARIES[kind]:
            beside = partial(read, content)
            try:
                beside()
            except Exception as fault:  # noqa: BLE001 - libraries raise what they like
                sys.stderr.write(f"{name}: {library} raises {type(fault).__name__}\n")
                continue
            pairs = [(processor_ms(act), processor_ms(beside)) for _ in range(rounds)]
            cost = costs.setdefault((kind, library), Cost(library))
            cost.files += 1
            cost.pages += pages_in(kind, content)
            cost.size += len(content)
            cost.ours += statistics.median(one for one, _ in pairs)
            cost.theirs += statistics.median(one for _, one in pairs)
    return costs


def table(costs: dict[tuple[str, str], Cost]) -> str:
    """One row for each kind and library."""
    lines = [
        f"{datetime.now(UTC):%d %B %Y}, Python {sys.version.split()[0]}.",
        "",
        "| kind | files | kB | ms a page or document | MB/s | beside | its ms | ratio |",
        "| :-- | --: | --: | --: | --: | :-- | --: | --: |",
    ]
    order = [*SOURCES, *LISTINGS]
    for (kind, library), one in sorted(costs.items(), key=lambda each: order.index(each[0][0])):
        speed = one.size / 1000 / one.ours if one.ours else 0.0
        ratio = one.ours / one.theirs if one.theirs else 0.0
        lines.append(
            f"| {kind} | {one.files} | {one.size / 1000:.0f} | {one.ours / one.pages:.1f}"
            f" | {speed:.2f} | {library} | {one.theirs / one.pages:.1f} | {ratio:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kind", help="only files whose path holds this")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    paths = sorted(
        path
        for folder in options.folder
        for path in ([folder] if folder.is_file() else folder.rglob("*"))
        if path.is_file() and (options.kind is None or options.kind in str(path))
    )
    files = ((path.name, path.read_bytes()) for path in paths)
    sys.stdout.write(table(measure(files, options.rounds)))


if __name__ == "__main__":
    main()
