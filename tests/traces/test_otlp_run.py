"""Runs with a writer that tells of its work in a file of spans, while its submits are held."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from endpoint_servers import Workflow, workflow
from repurpose.cli import main

SETTINGS = """
[endpoints.writer]
submit = "POST /invoke"
base_url = "{url}"
body = {{run = "{{{{run_id}}}}", material = "{{{{prompt}}}}"}}
result_path = "attributes.output"

[endpoints.writer.completion]
mode = "trace"
source = {{kind = "otlp", path = "spans.jsonl"}}
interval = 0.02
timeout = {timeout}
"""
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Workflow]:
    with workflow(tmp_path / "spans.jsonl") as running:
        yield running


@pytest.fixture
def run(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    service: Workflow,
) -> Run:
    """Exit code and words of a run over the article."""
    article = str(root / "fixtures" / "sources" / "article.md")

    def ran(*, formats: str = "summary", timeout: float = 20) -> tuple[int, str]:
        settings = SETTINGS.format(url=service.url, timeout=timeout)
        (tmp_path / "repurpose.toml").write_text(settings, encoding="utf-8")
        given = ["run", article, "--engine", "endpoint:writer", "--formats", formats]
        with monkeypatch.context() as process:
            process.setattr(sys, "argv", ["repurpose", *given, "--db", "texts.db"])
            process.chdir(tmp_path)
            with pytest.raises(SystemExit) as ended:
                main()
        said = capsys.readouterr()
        return int(ended.value.code or 0), " ".join((said.out + said.err).split())

    return ran


def test_formats_that_are_written_at_once_each_have_the_answer_of_their_own_trace(
    run: Run, service: Workflow
) -> None:
    code, said = run(formats="summary,faq")
    assert code == 0, said
    assert len({asked["run"] for asked in service.asked}) == 2


def test_an_answer_that_is_not_valid_is_asked_for_again_with_a_trace_of_its_own(
    run: Run, service: Workflow
) -> None:
    service.plans.append("invalid")
    code, said = run()
    assert code == 0, said
    assert len({asked["run"] for asked in service.asked}) == 2


def test_a_trace_that_failed_is_told(run: Run, service: Workflow) -> None:
    service.plans.append("fails")
    code, said = run()
    assert code == 4
    assert "endpoint writer failed, by its trace" in said
    assert "out of ink" not in said


def test_a_writer_without_a_trace_is_told_when_time_is_up(run: Run, service: Workflow) -> None:
    service.plans.append("silent")
    code, said = run(timeout=0.3)
    assert code == 4
    assert "there is no file with traces yet" in said
