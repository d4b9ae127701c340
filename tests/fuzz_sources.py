"""Damaged files of every kind: loading gives text or a typed refusal, soon, and in little memory.

    python tests/fuzz_sources.py [--count 2000] [--seed 1] [--only NUMBER] FOLDER...

The files in the folders are damaged, each time in one of ten ways, and loaded in a process of
its own, which is replaced when it hangs or dies. Any exception but SourceError, a source whose
blocks do not fit its text, more than 10 seconds or more than 500 MB is a fault, and makes the
script fail. Equal seed and equal files make equal damage; `--only` repeats one case.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing
import random
import re
import sys
import time
import traceback
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path, PurePath

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import LISTINGS, SOURCES, kind_of, listing_in, load_bytes
from repurpose.sources._kinds import ENDINGS

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

SECONDS = 10.0
GROWTH = 500  # MB
_GRACE = 2.0  # seconds that starting a process and sending a file may take on a busy machine
_ADDRESSES = 4 << 30  # bytes; a runaway ends in MemoryError and not in the machine's memory


@dataclass(frozen=True)
class Case:
    """One damaged file."""

    number: int
    name: str
    kind: str
    damage: str
    content: bytes


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    result: str
    """text, the reason of a refusal, or a fault: what went wrong and where."""
    seconds: float = 0.0
    growth: float = 0.0
    """MB, of the process and of the processes it started."""
    fault: bool = False


# Damage


def truncated(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def flipped(content: bytes, chance: random.Random) -> bytes:
    out = bytearray(content)
    for _ in range(chance.choice([1, 4, 30])):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def inserted(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.randbytes(chance.choice([1, 16, 500])) + content[at:]


def doubled(content: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:last] + content[first:last] * chance.choice([1, 1, 20]) + content[last:]


def swapped(content: bytes, chance: random.Random) -> bytes:
    a, b, c = sorted(chance.randrange(len(content) + 1) for _ in range(3))
    return content[:a] + content[b:c] + content[a:b] + content[c:]


def blanked(content: bytes, chance: random.Random) -> bytes:
    first, last = sorted(chance.randrange(len(content) + 1) for _ in range(2))
    return content[:first] + chance.choice([b"\0", b" ", b"\xff"]) * (last - first) + content[last:]


def numbers_changed(content: bytes, chance: random.Random) -> bytes:
    """Another value where a number stands: lengths, places, times, character codes."""
    places = list(re.finditer(rb"\d{1,10}", content))
    for one in chance.sample(places, min(len(places), 3)):
        value = chance.choice([b"0", b"-1", b"99999999999999999999", b"1e999", b"2147483647"])
        content = content[: one.start()] + value + content[one.end() :]
    return content


def brackets_repeated(content: bytes, chance: random.Random) -> bytes:
    """Something that opens, a few thousand times."""
    opening = [b"<div>", b"[", b"{", b'{"a":', b"(", b">", b"<a ", b"{\\b", b"<<", b"&amp;", b"* "]
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(opening) * 5_000 + content[at:]


DAMAGE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    one.__name__: one
    for one in (
        truncated, flipped, inserted, doubled, swapped, blanked, numbers_changed, brackets_repeated
    )
}  # fmt: skip


def with_damaged_part(content: bytes, chance: random.Random) -> bytes | None:
    """A ZIP container whose directory is right and one of whose parts is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = {one.filename: archive.read(one) for one in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, ValueError):
        return None
    names = [name for name, part in parts.items() if part]
    if not names:
        return None
    name = chance.choice(names)
    parts[name] = chance.choice(list(DAMAGE.values()))(parts[name], chance)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for other, part in parts.items():
            archive.writestr(other, part)
    return out.getvalue()


def case_of(number: int, seed: int, files: Sequence[tuple[str, bytes]]) -> Case:
    """The case with that number: the files take turns, the rest is chance."""
    chance = random.Random(f"{seed}:{number}")
    name, content = files[number % len(files)]
    kind = _kind(name, content)
    if content.startswith(b"PK") and chance.random() < 0.7:
        part = with_damaged_part(content, chance)
        if part is not None:
            return Case(number, name, kind, "part of a container", part)
    damage = chance.choice([*DAMAGE, "other ending"])
    if damage == "other ending":
        ending = chance.choice(sorted(ENDINGS))
        return Case(number, f"{PurePath(name).stem}.{ending}", kind, f"ending {ending}", content)
    damaged = DAMAGE[damage](content, chance) if content else b""
    return Case(number, name, kind, damage, damaged)


def _kind(name: str, content: bytes) -> str:
    try:
        return kind_of(name, content)
    except SourceError as refusal:
        return f"({refusal.reason})"


# Loading


def load(case: Case) -> str:
    """What loading gives: `text`, or a reason. Raises what it should not raise."""
    try:
        kind = kind_of(case.name, case.content)
        if kind in LISTINGS:
            for entry in listing_in(case.content, case.name, kind).entries:
                if entry.source is not None:
                    check(entry.source)
        if kind in SOURCES:
            check(load_bytes(case.content, case.name))
    except SourceError as refusal:
        lines, reason = refusal.message.split("\n"), refusal.reason
        if len(lines) > 1:
            raise ValueError("a message of several lines") from None
        return reason
    return "text"


def check(source: Source) -> None:
    """Raise AssertionError for a source that breaks its promise."""
    end = 0
    for block in source.blocks:
        assert end <= block.start < block.end <= len(source.text), "blocks overlap or lie outside"
        outside = source.text[end : block.start]
        # Definitions of links hold no text of the body; see `repurpose.sources._blocks`.
        assert "[" in outside or not any(map(str.isalnum, outside)), "words outside of blocks"
        end = block.end
    assert any(map(str.isalnum, source.text)), "no words"
    told = (source.title, source.author, source.date, source.language, source.url)
    for text in (source.text, *filter(None, told), *source.warnings):
        text.encode()


def outcome_of(case: Case) -> Outcome:
    """Load in this process, and measure."""
    before, children = _memory(), _children()
    start = time.perf_counter()
    fault = False
    try:
        result = load(case)
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        fault = True
        place = traceback.extract_tb(error.__traceback__)[-1]
        ours = [
            one for one in traceback.extract_tb(error.__traceback__) if "repurpose" in one.filename
        ]
        at = ours[-1] if ours else place
        result = (
            f"{type(error).__name__}: {str(error)[:100]} ({Path(at.filename).name}:{at.lineno})"
        )
    seconds = time.perf_counter() - start
    grown = max(_memory(peak=True) - before, _children() if _children() > children else 0.0)
    return Outcome(result, seconds, grown, fault)


def _memory(*, peak: bool = False) -> float:
    """What this process has, or had most since the last call without `peak`; in MB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return _most("RUSAGE_SELF")
    if not peak:
        Path("/proc/self/clear_refs").write_text("5")  # proc(5): the peak starts anew
    name = "VmHWM" if peak else "VmRSS"
    found = re.search(rf"{name}:\s+(\d+)", status.read_text())
    return int(found[1]) / 1024 if found else 0.0


def _children() -> float:
    """The most that any process had that this one started, in MB."""
    return _most("RUSAGE_CHILDREN")


def _most(who: str) -> float:
    if resource is None:
        return 0.0
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # getrusage(2) of each system
    return resource.getrusage(getattr(resource, who)).ru_maxrss / unit


def work(pipe: Connection) -> None:
    """The loading process: takes cases until the pipe closes."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    pipe.send(None)
    while True:
        try:
            case = pipe.recv()
        except EOFError:
            return
        pipe.send(outcome_of(case))


@dataclass
class Worker:
    """A loading process that is replaced when it hangs or dies."""

    _process: multiprocessing.process.BaseProcess | None = None
    _pipe: Connection | None = None

    def run(self, case: Case) -> Outcome:
        """What becomes of `case`."""
        pipe = self._ready()
        start = time.perf_counter()
        pipe.send(case)
        try:
            if not pipe.poll(SECONDS + _GRACE):
                self.close()
                return Outcome("hangs", time.perf_counter() - start, fault=True)
            outcome = pipe.recv()
        except (EOFError, OSError):
            self.close()
            return Outcome("died", time.perf_counter() - start, fault=True)
        assert isinstance(outcome, Outcome)
        return judged(outcome)

    def _ready(self) -> Connection:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=work, args=(other,), daemon=True)
            self._process.start()
            other.close()
            self._pipe.recv()
        return self._pipe

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._pipe is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def judged(outcome: Outcome) -> Outcome:
    """Too long or too large is a fault, whatever came out."""
    if outcome.seconds > SECONDS:
        result = f"{outcome.result} after {outcome.seconds:.1f} s"
    elif outcome.growth > GROWTH:
        result = f"{outcome.result} with {outcome.growth:.0f} MB"
    else:
        return outcome
    return Outcome(result, outcome.seconds, outcome.growth, fault=True)


def outcomes(
    files: Sequence[tuple[str, bytes]], numbers: Iterable[int], seed: int
) -> Iterator[tuple[Case, Outcome]]:
    """Each case with what became of it."""
    worker = Worker()
    try:
        for number in numbers:
            case = case_of(number, seed, files)
            yield case, worker.run(case)
    finally:
        worker.close()


# Telling


@dataclass
class Sum:
    """The cases of one kind."""

    results: Counter[str] = field(default_factory=Counter)
    faults: int = 0
    slowest: float = 0.0
    growth: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
        if outcome.fault:
            self.faults += 1
        else:
            self.results[outcome.result] += 1
        self.slowest = max(self.slowest, outcome.seconds)
        self.growth = max(self.growth, outcome.growth)


def table(sums: dict[str, Sum]) -> str:
    """One row for each kind of undamaged file."""
    lines = [
        "| kind | cases | text | refusals | faults | slowest ms | peak growth MB |",
        "| :-- | --: | --: | :-- | --: | --: | --: |",
    ]
    for kind, one in sorted(sums.items()):
        told = [f"{reason} {n}" for reason, n in one.results.most_common() if reason != "text"]
        lines.append(
            f"| {kind} | {one.results.total() + one.faults} | {one.results['text']}"
            f" | {', '.join(told)} | {one.faults} | {1000 * one.slowest:.0f} | {one.growth:.0f} |"
        )
    return "\n".join(lines) + "\n"


def files_in(folders: Iterable[Path]) -> list[tuple[str, bytes]]:
    """Name and content of every file below the folders, hidden ones left out."""
    paths = sorted(
        path
        for folder in folders
        for path in ([folder] if folder.is_file() else folder.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    )
    return [(path.name, path.read_bytes()) for path in paths]


def main() -> int:
    """Damage, load, and print the table; 1 where a case was a fault."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", type=int, help="repeat the case with this number, in this process"
    )
    options = parser.parse_args()
    files = files_in(options.folder)
    if options.only is not None:
        case = case_of(options.only, options.seed, files)
        sys.stderr.write(f"{case.name} ({case.kind}): {case.damage}, {len(case.content)} bytes\n")
        sys.stdout.write(f"{load(case)}\n")
        return 0
    sums: dict[str, Sum] = {}
    for case, outcome in outcomes(files, range(options.count), options.seed):
        sums.setdefault(case.kind, Sum()).add(outcome)
        if outcome.fault:
            sys.stderr.write(
                f"--seed {options.seed} --only {case.number}: {case.name} ({case.kind}), "
                f"{case.damage}: {outcome.result}\n"
            )
            sys.stderr.flush()
    sys.stdout.write(table(sums))
    return 1 if any(one.faults for one in sums.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
