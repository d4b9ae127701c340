"""`repurpose run` from outside."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


def lines(text: str) -> list[dict[str, Any]]:
    """JSON lines, each decoded."""
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


def test_an_article_becomes_four_formats_without_a_key(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article)
    assert done.returncode == 0, done.stderr
    headings = [line for line in done.stdout.splitlines() if line.startswith("# ")]
    assert [heading.split(" (")[0] for heading in headings] == [
        "# Summary",
        "# FAQ",
        "# Social posts: LinkedIn",
        "# Social posts: X",
        "# Social posts: Instagram",
        "# Newsletter",
    ]
    assert all("extracted, no model" in heading for heading in headings)


def test_how_to_use_a_model_is_said_once_and_not_on_standard_output(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("run", article)
    assert done.stderr.count("--model") == 1
    assert "--model" not in done.stdout


def test_json_lines_are_envelopes_with_meta_and_rows(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article, "--formats", "faq,social", "--json")
    faq, social = sorted(lines(done.stdout), key=lambda line: str(line["format"]))
    assert set(faq) == {"format", "label", "envelope", "meta", "rows"}
    assert set(faq["envelope"]) == {"status", "message", "data"}
    assert faq["envelope"]["status"] == 200
    assert set(faq["envelope"]["data"]) == {"pairs"}
    assert list(social["envelope"]["data"]) == ["linkedin", "x", "instagram"]
    assert social["meta"]["provenance"] == "extracted, no model"
    assert all(row["quotes"] for row in faq["rows"])


def test_standard_input_is_a_source(repurpose: Command, article: Path) -> None:
    text = article.read_text(encoding="utf-8")
    done = repurpose("run", "-", "--formats", "summary", stdin=text)
    assert done.returncode == 0
    assert done.stdout.startswith("# Summary")


def test_the_same_run_again_makes_no_call_and_says_so(repurpose: Command, article: Path) -> None:
    first = repurpose("run", article, "--formats", "faq")
    second = repurpose("run", article, "--formats", "faq")
    assert "0 calls" in second.stderr
    assert "--force" in second.stderr
    assert second.stdout == first.stdout
    assert "1 call" in repurpose("run", article, "--formats", "faq", "--force").stderr


def test_quiet_says_nothing_but_the_texts(repurpose: Command, article: Path) -> None:
    assert repurpose("run", article, "--quiet", "--formats", "summary").stderr == ""


def test_quiet_still_says_what_failed_and_why(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    settings = tmp_path / "repurpose.toml"
    settings.write_text('[endpoints.gone]\nbase_url = "http://127.0.0.1:9"\n', encoding="utf-8")
    options = ["--engine", "endpoint:gone", "--config", settings, "--formats", "summary"]
    done = repurpose("run", article, "--quiet", *options)
    assert done.returncode == 4
    (line,) = done.stderr.splitlines()
    assert line.startswith("Summary: generation error: endpoint gone: no connection")


def test_the_working_directory_stays_as_it_is(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    before = sorted(path.name for path in tmp_path.iterdir())
    repurpose("run", article)
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_a_piped_run_has_no_escape_codes(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article, "--formats", "summary")
    assert "\x1b" not in done.stdout + done.stderr


BAD_SOURCES = {
    "empty": (b"", "empty"),
    "blank": (b"\xef\xbb\xbf \n\xc2\xa0", "no text"),
    "binary": (bytes(range(256)) * 8, "binary"),
    "pdf": (b"%PDF-1.7 rest", "pdf"),
}


@pytest.mark.parametrize(("content", "word"), BAD_SOURCES.values(), ids=BAD_SOURCES.keys())
def test_a_source_that_cannot_be_read_is_one_line_and_exit_3(
    repurpose: Command, tmp_path: Path, content: bytes, word: str
) -> None:
    path = tmp_path / "source.md"
    path.write_bytes(content)
    done = repurpose("run", path)
    assert done.returncode == 3
    assert done.stdout == ""
    error = done.stderr.splitlines()[0]
    assert error.startswith("Error: ")
    assert word in error.lower()
    assert "Traceback" not in done.stderr


def test_a_missing_file_is_exit_3_and_named(repurpose: Command) -> None:
    done = repurpose("run", "nowhere.md")
    assert done.returncode == 3
    assert "nowhere.md" in done.stderr


USAGE = {
    "format": (["--formats", "faqs"], "faq"),
    "no format": (["--formats", ","], "summary"),
    "language": (["--language", "german please"], "de"),
    "attempts": (["--max-attempts", "9"], "1 to 5"),
    "contradiction": (["--no-repair", "--max-attempts", "3"], "contradict"),
    "engine": (["--engine", "magic"], "extractive"),
    "no key": (["--model", "gpt-4.1-mini"], "OPENAI_API_KEY"),
    "provider": (["--model", "acme/writer"], "--base-url"),
    "segmenter": (["--segmenter", "spacy"], "sentencex"),
    "timeout": (["--timeout", "0"], "--timeout"),
    "timeout that is no number": (["--timeout", "nan"], "--timeout"),
    "temperature that is no number": (["--temperature", "nan"], "--temperature"),
    "unknown flag": (["--formatz", "faq"], "--formats"),
}


@pytest.mark.parametrize(("flags", "word"), USAGE.values(), ids=USAGE.keys())
def test_a_wrong_setting_is_exit_2_and_names_the_right_one(
    repurpose: Command, article: Path, flags: list[str], word: str
) -> None:
    done = repurpose("run", article, *flags)
    assert done.returncode == 2, done.stderr
    assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_unknown_command_names_the_nearest(repurpose: Command, article: Path) -> None:
    assert "'run'" in repurpose("runn", article).stderr
    assert f"repurpose run {article}" in repurpose(str(article)).stderr


def test_a_database_that_cannot_be_made_is_one_line_and_exit_2(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    done = repurpose("run", article, "--db", tmp_path / "file" / "x.db")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
