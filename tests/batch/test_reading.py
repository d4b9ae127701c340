"""Files are read in processes of their own, which may crash or hang."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from batch_nights import write
from repurpose.api.loading import LoadOptions
from repurpose.batch.finding import Spot, spots
from repurpose.batch.reading import Readers, opened

OPTIONS = LoadOptions()


def found(*origins: object) -> list[Spot]:
    return list(spots(*map(str, origins)))


def test_files_of_folders_patterns_and_lists_are_found_unopened(tmp_path: Path):
    for name in ("a.md", "b.txt", "c.exe"):
        (tmp_path / name).write_bytes(b"\xff\xfe\x00")
    (tmp_path / "list").write_text(f"# mine\n{tmp_path / 'a.md'}\nhttps://example.org/x\n")
    assert [Path(spot.origin).name for spot in found(tmp_path)] == ["a.md", "b.txt"]
    assert [Path(spot.origin).name for spot in found(tmp_path / "*.txt")] == ["b.txt"]
    listed = found(f"@{tmp_path / 'list'}")
    assert [spot.is_file for spot in listed] == [True, False]


def test_what_cannot_be_looked_into_is_told_with_its_reason(tmp_path: Path):
    (empty,) = found(tmp_path)
    (missing,) = found("@nowhere.txt")
    assert empty.error is not None
    assert missing.error is not None
    assert (empty.error.reason, missing.error.reason) == ("empty", "not-found")


def test_a_file_is_known_by_one_name_from_every_folder(tmp_path: Path, monkeypatch):
    path = write(tmp_path / "a.md", "Edition")
    monkeypatch.chdir(tmp_path)
    assert Spot("a.md").key == Spot("./a.md").key == Spot(str(path)).key


def test_an_address_is_known_without_its_password():
    assert Spot("https://me:secret@example.org/feed").key == "https://example.org/feed"


def test_a_file_that_has_just_changed_is_not_taken_for_unchanged(tmp_path: Path):
    path = write(tmp_path / "a.md", "Edition", age=0)
    written = path.stat().st_mtime
    assert Spot(str(path)).stat(written + 1) is None
    assert Spot(str(path)).stat(written + 3) is not None


@pytest.mark.slow
def test_files_read_elsewhere_are_as_those_read_here(root: Path, tmp_path: Path):
    folder = root / "fixtures" / "sources"
    files = [spot for spot in found(folder) if not spot.may_list]
    here = [list(opened(spot, OPTIONS)) for spot in files]
    readers = Readers(OPTIONS, count=2)
    try:
        elsewhere = [work.result(timeout=60) for work in [readers.read(each) for each in files]]
    finally:
        readers.close()
    assert [[one.source for one in each] for each in elsewhere] == [
        [one.source for one in each] for each in here
    ]
    assert sum(len(each) for each in here) >= 3


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the file kills its reader as POSIX does")
def test_a_file_that_kills_or_holds_its_process_costs_nobody_else(tmp_path: Path):
    """A loader that dies or sleeps stands for a library with a bug; its process is a real one."""
    for n in range(6):
        write(tmp_path / f"{n}.md", f"Edition {n}")
    script = textwrap.dedent("""
        import os, signal, sys, threading
        from repurpose.sources import markdown

        load = markdown.load

        def poisonous(raw):
            if raw.origin.endswith("2.md"):
                os.kill(os.getpid(), signal.SIGKILL)
            if raw.origin.endswith("4.md"):
                threading.Event().wait(60)
            return load(raw)

        markdown.load = poisonous

        if __name__ == "__main__":
            from repurpose.api.loading import LoadOptions
            from repurpose.batch.finding import spots
            from repurpose.batch.reading import Readers

            readers = Readers(LoadOptions(), count=2, seconds=3.0)
            for work in [readers.read(spot) for spot in spots(sys.argv[1])]:
                (one,) = work.result()
                print(one.source.title if one.source else one.error.message.partition(": ")[2])
            readers.close()
    """)
    (tmp_path / "poisonous.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(tmp_path / "poisonous.py"), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = done.stdout.splitlines()
    assert len(said) == 6, done.stderr
    assert said[2] == "cannot be read: reading it ended the process"
    assert said[4] == "cannot be read: reading it took more than 3 s"
    assert not any("cannot" in said[n] for n in (0, 1, 3, 5))
