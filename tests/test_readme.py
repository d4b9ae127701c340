"""The README's commands and code, run as they stand there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import textwrap
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose.cli import main
from repurpose.config import faults_in
from web_site import Page, Site, site  # noqa: F401 - a fixture

README = Path(__file__).resolve().parent.parent / "README.md"


def blocks(language: str) -> list[str]:
    """The README's code blocks in this language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


ALL_COMMANDS = [
    line.split("  #")[0].strip()
    for block in blocks("sh")
    for line in block.splitlines()
    if line.startswith(("repurpose ", "cat "))
]
RECEIVER = "repurpose serve-callbacks"
SERVERS = [command for command in ALL_COMMANDS if command.startswith("repurpose serve ")]
SERVERS += [command for command in ALL_COMMANDS if command == "repurpose serve"]
COMMANDS = [command for command in ALL_COMMANDS if command not in (*SERVERS, RECEIVER)]


FEED = """<?xml version="1.0"?>
<rss version="2.0"><channel><title>Halvik</title>
<item><guid>1</guid><title>Washers</title><description>The washer is lent most.</description>
<link>SITE/post.html</link></item></channel></rss>
"""


def captions(text: str) -> str:
    """A talk in which two people say the sentences of a text in turn, four seconds each."""
    cues = [
        f"{at // 15:02}:{at % 15 * 4:02}.000 --> {at // 15:02}:{at % 15 * 4 + 3:02}.000\n"
        f"<v {('Ana', 'Ben')[at % 2]}>{sentence}"
        for at, sentence in enumerate(re.split(r"(?<=[.?!])\s+", text))
    ]
    return "WEBVTT\n\n" + "\n\n".join(cues) + "\n"


def report(text: str) -> bytes:
    """A PDF file of one page with a line for each 90 characters of a text."""
    lines = [f"({line}) Tj T*" for line in textwrap.wrap(re.sub(r"[()\\]", "", text), 90)]
    drawn = "BT /F1 10 Tf 12 TL 40 740 Td " + "\n".join(lines) + " ET"
    return f"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R
/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length {len(drawn)}>>stream
{drawn}
endstream endobj
trailer<</Root 1 0 R>>
""".encode("ascii")


@pytest.fixture
def folder(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mock_server: MockServer,
    site: Site,  # noqa: F811 - the fixture above
) -> Path:
    """A folder as the README supposes it, with the servers it names on loopback."""
    sources = root / "fixtures" / "sources"
    shutil.copy(sources / "article.md", tmp_path / "article.md")
    shutil.copy(sources / "notes.txt", tmp_path / "notes.md")
    for name in ("posts", "drafts"):
        (tmp_path / name).mkdir()
        shutil.copy(sources / "artikel.md", tmp_path / name / "artikel.md")
    prose = re.findall(r"(?m)^[A-Z][ -~]{80,}$", (tmp_path / "article.md").read_text("utf-8"))
    (tmp_path / "talk.vtt").write_text(captions(" ".join(prose)), encoding="utf-8")
    (tmp_path / "report.pdf").write_bytes(report(" ".join(prose)))
    page = (sources / "page.html").read_bytes()
    site.pages["/post.html"] = Page(page)
    site.pages["/feed.xml"] = Page(FEED.replace("SITE", site.url).encode(), "application/rss+xml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    monkeypatch.setenv("OPENAI_BASE_URL", mock_server.url)
    return tmp_path


def test_there_are_commands_to_run() -> None:
    assert len(COMMANDS) >= 12


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(
    command: str,
    folder: Path,
    mock_server: MockServer,
    site: Site,  # noqa: F811 - the fixture above
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _run("repurpose run article.md --quiet", folder, monkeypatch)
    if command.startswith(("repurpose status", "repurpose retry")):
        _run("repurpose batch posts/ --quiet", folder, monkeypatch)
    if command.startswith("repurpose compose"):
        (settings,) = [block for block in blocks("toml") if "[composites." in block]
        (folder / "repurpose.toml").write_text(settings, encoding="utf-8")
        _run("repurpose compose launch-kit article.md --to store --quiet", folder, monkeypatch)
    if command.startswith("repurpose edit"):
        monkeypatch.setenv("EDITOR", _editor(folder))
    if "--formats-dir" in command:
        _run("repurpose new-format meta", folder, monkeypatch)
    if "webhook" in command:
        monkeypatch.setenv("REPURPOSE_CALLBACK_BASE_URL", "http://127.0.0.1:8410")
        monkeypatch.setenv("OPENAI_WEBHOOK_SECRET", "whsec_c2VjcmV0")
    local = command.replace("http://localhost:11434/v1", mock_server.url)
    if "https://example.org" in local:
        local = local.replace("https://example.org", site.url) + " --allow-private"
    assert _run(local, folder, monkeypatch) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C for another process")
@pytest.mark.parametrize("command", SERVERS)
def test_a_server_of_the_readme_serves(command: str, folder: Path) -> None:
    with _served(command, folder) as address, urllib.request.urlopen(address) as answer:
        assert b"Turn one text into many" in answer.read()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no Ctrl-C for another process")
def test_the_receiver_of_the_readme_takes_posts(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert RECEIVER in ALL_COMMANDS
    (settings,) = [block for block in blocks("toml") if block.startswith("callback_base_url")]
    (folder / "repurpose.toml").write_text(settings, encoding="utf-8")
    with _served(RECEIVER, folder) as address:
        post = urllib.request.Request(f"{address}/in/callbacks/nobodys", b"{}", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(post)


@contextmanager
def _served(command: str, folder: Path) -> Iterator[str]:
    """The address of a server that runs until Ctrl-C, and then ends well."""
    started = subprocess.Popen(
        [sys.executable, "-m", "repurpose", *shlex.split(command)[1:], "--port", "0"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(README.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert started.stdout is not None
    with started, started.stdout:
        address = re.search(r"http://127\.0\.0\.1:\d+", started.stdout.readline())
        assert address
        try:
            yield address[0]
        finally:
            started.send_signal(signal.SIGINT)
        assert started.wait(20) == 0


@pytest.mark.parametrize("settings", blocks("toml"))
def test_the_readmes_settings_can_be_used(settings: str, tmp_path: Path) -> None:
    file = tmp_path / "repurpose.toml"
    file.write_text(settings, encoding="utf-8")
    assert faults_in(file) == []


def _editor(folder: Path) -> str:
    """An editor that replaces whatever it is given."""
    script = folder / "editor.py"
    script.write_text(
        "import pathlib, sys\npathlib.Path(sys.argv[1]).write_text('Borrow a drill.')\n", "utf-8"
    )
    return f"{sys.executable} {script}"


def _run(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int | str | None:
    """Run a line of a shell in this process; a `cat` before it becomes its standard input."""
    before, _, after = command.rpartition("|")
    with monkeypatch.context() as process:
        if before:
            piped = (folder / shlex.split(before)[1]).open(encoding="utf-8")
            process.setattr(sys, "stdin", piped)
        process.setattr(sys, "argv", shlex.split(after))
        with pytest.raises(SystemExit) as ended:
            main()
        if before:
            piped.close()
    return ended.value.code


@pytest.mark.parametrize("code", blocks("python"))
def test_the_readmes_python_runs(
    code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "Q: " in printed
    assert "of 280" in printed
    assert "Summary done; Newsletter done" in printed


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the README's lines are for a POSIX shell")
def test_the_first_line_of_the_readme_runs_the_main_job_from_a_clean_copy(
    root: Path, tmp_path: Path, copied: Callable[[Path], Path]
) -> None:
    (line,) = [each for each in _lines() if "repurpose run" in each]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        line,
        shell=True,
        cwd=copied(tmp_path / "clone"),
        env=clean,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n# ") == 5


def _lines() -> list[str]:
    """The lines that set everything up."""
    found = [each for block in blocks("sh") for each in block.splitlines() if "-m venv" in each]
    assert len(found) == 2
    return found


@pytest.fixture
def copied(root: Path) -> Callable[[Path], Path]:
    """Copy what is under version control, and nothing else, into a folder."""

    def copy(target: Path) -> Path:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (root / name).is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, target / name)
        return target

    return copy
