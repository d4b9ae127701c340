"""`repurpose run --json`: one line for each format as it ends, each as the shipped schema says."""

from __future__ import annotations

import io
import json
import sys
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mock_server import MockServer
from repurpose.core.envelope import Meta
from repurpose.core.record import Row
from repurpose.core.result import TotalUsage
from repurpose.resources import schema_text

Command = Callable[..., Any]

SCHEMA: dict[str, Any] = json.loads(schema_text("envelope"))  # noqa: TID251 - our own file
LINE = Draft202012Validator(SCHEMA)


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines, each decoded and held against the schema."""
    found = [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output
    for line in found:
        LINE.validate(line)
    return found


@pytest.fixture
def with_model(repurpose: Command, article: Path, mock_server: MockServer, golden: Any) -> Command:
    """Run FAQ and summary of the article with the mock server, as JSON lines."""
    for name in ("faq", "summary", "social"):
        mock_server.answers[name] = golden(name)

    def run(*flags: object) -> Any:
        where = ("--model", "m", "--base-url", mock_server.url)
        return repurpose("run", article, "--formats", "faq,summary", "--json", *where, *flags)

    return run


def test_the_schema_is_one_and_describes_every_key_of_a_line() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    defined = SCHEMA["$defs"]
    assert set(defined["envelope"]["properties"]) == {"status", "message", "data"}
    named = {field.name for field in fields(Meta)}
    assert set(defined["meta"]["properties"]) == named | {"usage", "reason"}
    assert set(defined["meta"]["required"]) == named | {"usage"}
    usage = defined["meta"]["properties"]["usage"]["properties"]
    assert set(usage) == {field.name for field in fields(TotalUsage)}
    assert set(defined["row"]["properties"]) <= {field.name for field in fields(Row)}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("status", 201),
        ("status", True),
        ("status", "200"),
        ("message", None),
        ("data", []),
        ("more", 1),
    ],
)
def test_the_schema_refuses_what_is_no_envelope(
    repurpose: Command, article: Path, key: str, value: object
) -> None:
    (line,) = lines(repurpose("run", article, "--formats", "summary", "--json").stdout)
    line["envelope"][key] = value
    assert not LINE.is_valid(line)


def test_a_failure_with_data_or_a_success_without_rows_is_refused_by_the_schema(
    repurpose: Command, article: Path
) -> None:
    (line,) = lines(repurpose("run", article, "--formats", "summary", "--json").stdout)
    assert not LINE.is_valid(line | {"rows": []})
    assert not LINE.is_valid(line | {"envelope": line["envelope"] | {"status": 400}})


def test_done_formats_are_lines_of_the_schema(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article, "--json", "--platforms", "x,linkedin", "--variants", "2")
    found = {line["format"]: line for line in lines(done.stdout)}
    assert set(found) == {"summary", "faq", "social", "newsletter"}
    assert set(found["social"]["envelope"]["data"]) == {"x", "x.2", "linkedin", "linkedin.2"}
    assert all(line["meta"]["attempts"] == 1 for line in found.values())


def test_run_facts_stand_in_meta_and_never_in_data(repurpose: Command, article: Path) -> None:
    (line,) = lines(repurpose("run", article, "--json", "--formats", "faq").stdout)
    assert set(line["envelope"]["data"]) == {"pairs"}
    assert line["meta"]["run_id"] == line["rows"][0]["run_id"]
    assert line["meta"]["elapsed_ms"] >= 0
    assert line["meta"]["files"] == []


def test_a_result_that_is_used_again_is_a_line_of_the_schema(
    repurpose: Command, article: Path
) -> None:
    (first,) = lines(repurpose("run", article, "--json", "--formats", "faq").stdout)
    (again,) = lines(repurpose("run", article, "--json", "--formats", "faq").stdout)
    assert again["envelope"] == first["envelope"]
    assert again["meta"]["reused_from"] == first["meta"]["run_id"]
    assert (again["meta"]["attempts"], again["meta"]["usage"]["calls"]) == (0, 0)


def test_a_retried_format_says_so_and_a_reused_one_made_no_retry(
    with_model: Command, mock_server: MockServer
) -> None:
    mock_server.plan("missing", "ok", schema="faq")
    found = {line["format"]: line for line in lines(with_model().stdout)}
    assert found["faq"]["envelope"]["message"] == "FAQ done (1 retry)"
    assert found["faq"]["meta"]["attempts"] == found["faq"]["meta"]["usage"]["calls"] == 2
    assert found["summary"]["envelope"]["message"] == "Summary done"
    again = {line["format"]: line for line in lines(with_model().stdout)}
    assert again["faq"]["envelope"]["message"] == "FAQ done"


def test_a_failed_format_names_the_fields_that_its_last_answer_lacked(
    with_model: Command, mock_server: MockServer
) -> None:
    mock_server.plan("malformed", "missing", schema="faq")
    done = with_model()
    found = {line["format"]: line for line in lines(done.stdout)}
    assert done.returncode == 1
    faq = found["faq"]
    assert (faq["envelope"]["status"], faq["envelope"]["data"]) == (400, {})
    assert faq["envelope"]["message"].endswith("(1 retry)")
    assert faq["meta"]["missing_required"]
    assert all(path in faq["envelope"]["message"] for path in faq["meta"]["missing_required"])
    assert faq["meta"]["type_mismatched"] == []
    assert [row["status"] for row in faq["rows"]] == ["failed"]
    assert found["summary"]["meta"]["missing_required"] == []


def test_a_failed_format_names_the_fields_of_another_type(
    with_model: Command, mock_server: MockServer
) -> None:
    mock_server.plan("wrongtype", schema="faq")
    found = {line["format"]: line for line in lines(with_model("--no-repair").stdout)}
    assert found["faq"]["meta"]["type_mismatched"]
    assert found["faq"]["meta"]["attempts"] == 1
    assert "retr" not in found["faq"]["envelope"]["message"]


def test_a_variant_that_cannot_be_stored_leaves_a_partial_result(
    with_model: Command, mock_server: MockServer, golden: Any
) -> None:
    """Half of a surrogate pair cannot be in JSON, so a store is made to refuse one row."""
    from repurpose.stores import sqlite

    keep = sqlite.insert

    def refusing(db: Any, table: Any, columns: Any, **options: Any) -> None:
        if columns.get("variant") == "x" and columns["status"] == "done":
            raise OverflowError
        keep(db, table, columns, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sqlite, "insert", refusing)
        done = with_model("--formats", "social")
    (line,) = lines(done.stdout)
    assert done.returncode == 1
    assert line["envelope"]["status"] == 200
    assert set(line["envelope"]["data"]) == {"linkedin", "instagram"}
    assert "Social posts (x) storage error: " in line["envelope"]["message"]
    assert [row["status"] for row in line["rows"]] == ["done", "failed", "done"]


def test_a_source_that_cannot_be_read_is_a_line_too_and_the_rest_as_ever(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("run", "nowhere.md", "--json")
    assert done.returncode == 3
    assert done.stderr.startswith("Error: nowhere.md: no such file")
    (line,) = lines(done.stdout)
    assert (line["origin"], line["format"]) == ("nowhere.md", "source")
    assert (line["envelope"]["status"], line["envelope"]["data"]) == (400, {})
    assert line["envelope"]["message"].startswith("nowhere.md: no such file")
    assert line["meta"]["reason"] == "not-found"
    many = repurpose("run", "nowhere.md", article, "--json", "--formats", "summary")
    assert many.returncode == 1
    told = [(one["origin"], one["format"]) for one in lines(many.stdout)]
    assert told == [("nowhere.md", "source"), (str(article), "summary")]


def test_a_source_that_does_not_fit_is_a_line_and_the_others_go_on(
    repurpose: Command, tmp_path: Path, mock_server: MockServer, golden: Any
) -> None:
    mock_server.answers["summary"] = golden("summary")
    sentence = "Kestrels hover over the ring road and look for voles in the grass. "
    (tmp_path / "long.md").write_text("# Birds\n\n" + sentence * 600, encoding="utf-8")
    (tmp_path / "short.md").write_text("# Owls\n\nOwls fly at night.\n", encoding="utf-8")
    model = ("--model", "m", "--base-url", mock_server.url, "--context-tokens", "4096")
    flags = ("--formats", "summary", "--no-brief", "--json")
    done = repurpose("run", "long.md", "short.md", *model, *flags)
    assert done.returncode == 1
    told = [(one["origin"], one["format"], one["envelope"]["status"]) for one in lines(done.stdout)]
    assert told == [("long.md", "source", 400), ("short.md", "summary", 200)]
    assert repurpose("run", "long.md", *model, *flags).returncode == 3


# --- when a line comes ----------------------------------------------------------------------


def test_a_line_is_printed_when_its_format_is_stored_and_in_the_order_of_completion(
    repurpose: Command, article: Path, mock_server: MockServer, golden: Any
) -> None:
    """FAQ is asked for first and held; the summary's line must not wait for it."""
    mock_server.answers |= {"faq": golden("faq"), "summary": golden("summary")}
    mock_server.plan("hold", schema="faq")
    seen: list[str] = []

    def watch(text: object, **options: Any) -> None:
        if not options.get("err"):
            seen.append(json.loads(str(text))["format"])  # noqa: TID251 - our own output
            mock_server.released.set()  # only now may the other one answer

    from repurpose.cli import _many

    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_many.click, "echo", watch)
        where = ("--model", "m", "--base-url", mock_server.url, "--json", "--quiet")
        done = repurpose("run", article, "--formats", "faq,summary", *where)
    assert done.returncode == 0
    assert seen == ["summary", "faq"]
    assert time.monotonic() - began < 8  # the server holds an answer for 10 s


def test_a_reader_that_has_left_stops_no_format(
    repurpose: Command, article: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from repurpose import cli
    from repurpose.cli import _many

    def gone(*_: object, **options: object) -> None:
        if not options.get("err"):
            raise BrokenPipeError

    with monkeypatch.context() as patched:
        patched.setattr(_many.click, "echo", gone)
        patched.setattr(cli, "_forget_stdout", lambda: None)
        done = repurpose("run", article, "--json", "--quiet")
    assert done.returncode == 0
    stored = repurpose("list", "--json").stdout
    assert json.loads(stored)["status"] == "done"  # noqa: TID251 - our own output
    assert repurpose("show", "last").stdout.count("# ") >= 4


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_lines_go_to_the_pipe_while_progress_is_drawn_on_a_terminal(article: Path) -> None:
    from repurpose.api.loading import LoadOptions
    from repurpose.cli._many import Output, run_all
    from repurpose.cli._running import Runs
    from repurpose.config import Settings

    out, screen = io.TextIOWrapper(io.BytesIO()), _Terminal(io.BytesIO())
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TERM", "xterm")
        patched.setattr(sys, "stdout", out)
        patched.setattr(sys, "stderr", screen)
        settings = Settings(database=Path(":memory:"))
        with Runs(("summary",), settings, force=False, quiet=False) as runs:
            assert run_all((str(article),), LoadOptions(), runs, Output(True, False)) == 0
        out.flush()
        screen.flush()
    (line,) = lines(out.buffer.getvalue().decode())  # type: ignore[attr-defined]  # a BytesIO
    assert line["format"] == "summary"
    drawn = screen.buffer.getvalue().decode()  # type: ignore[attr-defined]  # likewise
    assert "Summary" in drawn
    assert '"envelope"' not in drawn
