"""`repurpose compose` on the command line: what it runs, where the composite goes, how it ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mock_server import MockServer
from repurpose.cli.compose import command
from repurpose.core.composite import DESTINATIONS, RENDERERS

Command = Callable[..., Any]

CONFIG = """
[composites.launch-kit]
version = 1
destination = "file"
renderer = "markdown"
sections = [ {name = "summary", input = "summary", label = "Summary"},
             {name = "linkedin", input = "social.linkedin", label = "LinkedIn"},
             {name = "questions", input = "faq", label = "Questions"} ]

[composites.short]
sections = [ {name = "summary", input = "summary"}, {name = "news", input = "news"} ]

[composites.posts]
destination = "stdout"
sections = [ {name = "toot", input = "social.mastodon", label = "Mastodon"} ]

[composites.nothing]
"""


@pytest.fixture(autouse=True)
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "repurpose.toml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


@pytest.fixture
def model(mock_server: MockServer, golden: Any) -> tuple[str, ...]:
    """Options for a model that knows the summary and the FAQ."""
    for name in ("summary", "faq"):
        mock_server.answers[name] = golden(name)
    return ("--model", "mock", "--base-url", mock_server.url)


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]  # noqa: TID251 - our own output


def headings(text: str) -> list[str]:
    return re.findall(r"^#{1,2} .*$", text, re.MULTILINE)


def run_of(repurpose: Command) -> str:
    return str(lines(repurpose("list", "--json").stdout)[0]["id"])


def test_a_source_becomes_a_file_with_each_section_under_its_label(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    done = repurpose("compose", "launch-kit", article)
    assert (done.returncode, done.stdout) == (0, "")
    written = tmp_path / f"launch-kit-{run_of(repurpose)}.md"
    assert headings(written.read_text(encoding="utf-8")) == [
        "# What a town learned from lending 1,400 tools",
        "## Summary",
        "## LinkedIn",
        "## Questions",
    ]
    told = done.stderr.splitlines()
    assert "launch-kit put together: 3 sections" in told
    assert told[-1] == f"written: {written.name}"


def test_each_format_is_called_once_and_its_calls_are_told(
    repurpose: Command, article: Path, mock_server: MockServer, model: tuple[str, ...]
) -> None:
    done = repurpose("compose", "short", article, *model)
    assert done.returncode == 1
    assert len(mock_server.requests) == 1
    assert "done: 1 of 1 formats, 1 call" in done.stderr


def test_a_stored_run_gives_the_same_bytes_without_a_call(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    repurpose("compose", "launch-kit", article, "--output", "first.md")
    again = repurpose("compose", "launch-kit", "--run", "last", "--to", "stdout")
    assert again.returncode == 0
    assert again.stdout == (tmp_path / "first.md").read_text(encoding="utf-8")
    assert len(lines(repurpose("list", "--json").stdout)) == 1
    html = repurpose(
        "compose", "launch-kit", "--run", "last", "--to", "stdout", "--renderer", "html"
    )
    assert html.stdout.startswith("<!DOCTYPE html>")


def test_the_same_source_again_is_not_paid_again(
    repurpose: Command, article: Path, mock_server: MockServer, model: tuple[str, ...]
) -> None:
    for _ in range(2):
        repurpose("compose", "short", article, *model)
    assert len(mock_server.requests) == 1


def test_platforms_are_those_that_sections_name_unless_one_says_others(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "posts", article)
    assert done.returncode == 0
    assert headings(done.stdout)[1:] == ["## Mastodon"]
    other = repurpose("compose", "posts", article, "--platforms", "x", "--json")
    assert other.returncode == 4
    (line,) = lines(other.stdout)
    assert line["envelope"]["data"]["dropped"] == [
        {"sectionName": "toot", "reason": "social has no post for mastodon in this run"}
    ]


def test_what_cannot_be_made_is_named_and_the_rest_delivered(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "short", article, "--to", "stdout", "--quiet")
    assert done.returncode == 1
    assert headings(done.stdout)[1:] == ["## summary"]
    assert done.stderr == ("short: 1 of 2 sections; dropped: news (no format news: not known)\n")


def test_a_stored_composite_says_how_to_see_it(repurpose: Command, article: Path) -> None:
    done = repurpose("compose", "short", article)
    assert done.stdout == ""
    see = f"repurpose compose short --run {run_of(repurpose)} --to stdout"
    assert done.stderr.splitlines()[-1].endswith(f"to see it: {see}")
    assert repurpose(*see.split()[1:]).stdout.startswith("# What a town")


def test_a_composite_without_sections_is_valid_and_makes_no_call(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "nothing", article, "--json")
    assert done.returncode == 0
    (line,) = lines(done.stdout)
    assert line["envelope"]["status"] == 200
    assert line["envelope"]["data"]["sections"] == []
    assert line["meta"]["run_id"] is None
    assert repurpose("list", "--json").stdout == ""


def test_json_is_one_line_with_the_envelope_and_the_facts_beside_it(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "launch-kit", article, "--json", "--output", "kit.md")
    (line,) = lines(done.stdout)
    assert list(line) == ["composite", "version", "envelope", "meta"]
    assert list(line["envelope"]) == ["status", "message", "data"]
    assert line["meta"]["run_id"] == run_of(repurpose)
    assert line["meta"]["files"] == ["kit.md"]
    assert line["meta"]["usage"]["calls"] == 3


def test_a_json_file_declares_a_composite_too(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    table = {
        "name": "pack",
        "widgetType": "json",
        "destination": "stdout",
        "sections": [{"sectionName": "q", "inputNodeId": "faq"}],
    }
    (tmp_path / "kit.json").write_text(json.dumps(table), encoding="utf-8")
    done = repurpose("compose", "./kit.json", article)
    assert done.returncode == 0
    payload = json.loads(done.stdout)  # noqa: TID251 - our own output
    assert [section["sectionName"] for section in payload["sections"]] == ["q"]


# ---- events


def test_events_of_a_stored_run_come_in_threes_and_end_with_the_composite(
    repurpose: Command, article: Path
) -> None:
    repurpose("compose", "launch-kit", article, "--to", "store")
    done = repurpose("compose", "launch-kit", "--run", "last", "--to", "store", "--events", "jsonl")
    told = lines(done.stdout)
    assert [line["type"] for line in told] == [
        *(["section_started", "section_data", "section_completed"] * 3),
        "composite_completed",
    ]
    assert {line["stream"] for line in told} == {"launch-kit"}
    assert [line["payload"]["sectionIndex"] for line in told[::3][:3]] == [0, 1, 2]
    assert told[-1]["payload"] == {
        "name": "launch-kit",
        "version": 1,
        "status": 200,
        "message": "launch-kit put together: 3 sections",
        "dropped": [],
        "run": run_of(repurpose),
    }


def test_events_of_a_source_end_with_what_is_stored(
    repurpose: Command, article: Path, model: tuple[str, ...]
) -> None:
    done = repurpose("compose", "short", article, "--events", "jsonl", *model)
    assert done.returncode == 1
    told = lines(done.stdout)
    assert told[0]["type"] == "section_started"
    assert told[-1]["type"] == "composite_completed"
    assert told[-1]["payload"]["dropped"][0]["sectionName"] == "news"
    (whole,) = [line["payload"] for line in told if line["type"] == "section_completed"]
    (row,) = lines(repurpose("show", "last", "--json").stdout)
    assert whole["finalText"] == row["text"]
    deltas = [line["payload"].get("textDelta", "") for line in told if "data" in line["type"]]
    assert "".join(deltas) != ""


def test_a_composite_without_sections_has_one_line_of_events(
    repurpose: Command, article: Path
) -> None:
    done = repurpose("compose", "nothing", article, "--events", "jsonl")
    assert [line["type"] for line in lines(done.stdout)] == ["composite_completed"]


def test_a_plain_run_has_no_section_events(repurpose: Command, article: Path) -> None:
    done = repurpose("run", article, "--json")
    assert all("envelope" in line for line in lines(done.stdout))


# ---- what is refused


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('sections = [{name = "a"}]', "sections.0.input"),
        (
            'sections = [{name = "a", input = "faq"}, {name = "A", input = "faq"}]',
            "sections.1.name",
        ),
        ('destination = "printer"', "destination"),
        ("version = 0", "version"),
        ("colour = 1", "colour"),
    ],
)
def test_a_bad_declaration_is_one_line_and_no_call(
    repurpose: Command,
    article: Path,
    settings: Path,
    mock_server: MockServer,
    model: tuple[str, ...],
    table: str,
    words: str,
) -> None:
    settings.write_text(f"[composites.kit]\n{table}\n", encoding="utf-8")
    done = repurpose("compose", "kit", article, "--quiet", *model)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert words in line
    assert mock_server.requests == []
    assert words in repurpose("check").stdout
    assert repurpose("check").returncode == 2


def test_renamed_sections_are_refused_before_a_call_and_by_check(
    repurpose: Command, article: Path, settings: Path
) -> None:
    repurpose("compose", "launch-kit", article, "--to", "store")
    settings.write_text(CONFIG.replace('"questions"', '"faq"'), encoding="utf-8")
    done = repurpose("compose", "launch-kit", article)
    assert done.returncode == 2
    assert "section questions is missing, section faq is new under version 1" in done.stderr
    assert "raise version to 2" in done.stderr
    checked = repurpose("check")
    assert checked.returncode == 2
    assert "composite launch-kit: section questions is missing" in checked.stdout
    assert len(lines(repurpose("list", "--json").stdout)) == 1


def test_check_freezes_no_names(repurpose: Command, settings: Path) -> None:
    settings.write_text(CONFIG.replace('"news"', '"faq"'), encoding="utf-8")
    assert repurpose("check").returncode == 0
    settings.write_text(CONFIG.replace('"news"', '"faq"').replace("questions", "qa"), "utf-8")
    assert repurpose("check").returncode == 0


def test_check_names_what_could_never_be_put_together(repurpose: Command) -> None:
    done = repurpose("check")
    assert done.returncode == 2
    assert "composite short: sections.1.input: no format news" in done.stdout.splitlines()
    assert "composite launch-kit: ok" in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["launch-kit"], "give a SOURCE", 2),
        (["launch-kit", "a.md", "--run", "last"], "give a SOURCE", 2),
        (["lunch-kit", "--run", "last"], "no composite 'lunch-kit'", 2),
        (["launch-kit", "--run", "nothing"], "nothing", 2),
        (["launch-kit", "--run", "last", "--model", "m"], "--model has no use with --run", 2),
        (["launch-kit", "a.md", "--json", "--events", "jsonl"], "give one of them", 2),
        (["launch-kit", "a.md", "--output", "x", "--to", "store"], "contradict", 2),
        (["launch-kit", "a.md", "--to", "printer"], "printer", 2),
        (["launch-kit", "nowhere.md"], "nowhere.md", 3),
        (["launch-kit", "."], "lists several sources", 2),
        (["nowhere.json", "a.md"], "nowhere.json cannot be read", 2),
    ],
)
def test_what_cannot_be_done_is_told_without_a_trace(
    repurpose: Command, tmp_path: Path, arguments: list[str], words: str, code: int
) -> None:
    (tmp_path / "notes.md").write_text("One sentence.", encoding="utf-8")
    done = repurpose("compose", *arguments)
    assert done.returncode == code
    assert words in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_source_that_cannot_be_read_is_an_envelope_for_programs(repurpose: Command) -> None:
    done = repurpose("compose", "launch-kit", "nowhere.md", "--json")
    assert done.returncode == 3
    (line,) = lines(done.stdout)
    assert line["envelope"]["status"] == 400
    assert "nowhere.md" in line["envelope"]["message"]


def test_another_file_is_overwritten_only_when_it_is_said(
    repurpose: Command, article: Path, tmp_path: Path
) -> None:
    (tmp_path / "kit.md").write_text("mine", encoding="utf-8")
    done = repurpose("compose", "launch-kit", article, "--output", "kit.md")
    assert done.returncode == 2
    assert "kit.md exists and is not overwritten" in done.stderr
    assert repurpose("list", "--json").stdout == "", "it is refused before anything is made"
    assert (tmp_path / "kit.md").read_text(encoding="utf-8") == "mine"
    done = repurpose("compose", "launch-kit", article, "--output", "kit.md", "--overwrite")
    assert done.returncode == 0
    assert (tmp_path / "kit.md").read_text(encoding="utf-8").startswith("# What a town")


def test_abort_gives_no_composite_and_exit_4(
    repurpose: Command, article: Path, mock_server: MockServer, model: tuple[str, ...]
) -> None:
    mock_server.answers["faq"] = "no JSON"
    options = (*model, "--no-repair", "--concurrency", "1", "--platforms", "x", "--json")
    mock_server.answers["social"] = {"x": {"text": "A post.", "hashtags": []}}
    done = repurpose("compose", "launch-kit", article, "--on-failure", "abort", *options)
    assert done.returncode == 4
    (line,) = lines(done.stdout)
    assert line["envelope"]["data"] == {}
    assert "launch-kit was not put together: FAQ" in done.stderr


def test_a_budget_that_is_reached_delivers_what_is_there_with_exit_5(
    repurpose: Command, article: Path, model: tuple[str, ...], settings: Path
) -> None:
    text = CONFIG.replace('input = "news"', 'input = "faq"')
    settings.write_text(text + '[prices."mock"]\ninput = 1\noutput = 2\n', encoding="utf-8")
    limits = ("--max-calls", "1", "--concurrency", "1", "--to", "stdout")
    done = repurpose("compose", "short", article, *model, *limits)
    assert done.returncode == 5
    assert headings(done.stdout)[1:] == ["## summary"]
    assert "dropped: news (faq was not finished)" in done.stderr


def test_an_interrupted_run_is_not_put_together_and_says_how_to(
    repurpose: Command, article: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("repurpose.cli._running.Interrupts.asked", lambda _: True)
    done = repurpose("compose", "launch-kit", article, "--events", "jsonl")
    assert done.returncode == 130
    (line,) = lines(done.stdout)
    assert (line["type"], line["payload"]["status"]) == ("composite_completed", 400)
    later = f"repurpose compose launch-kit --run {run_of(repurpose)}"
    assert done.stderr.splitlines()[-1].endswith(later)


def test_one_big_prompt_becomes_sections_that_are_tuned_one_by_one(
    repurpose: Command, article: Path, settings: Path, mock_server: MockServer, golden: Any
) -> None:
    declared = """
        [formats.pitch]
        prompt = "WISH"
        outputs = [{name = "pitch", type = "string", required = true}]

        [composites.press-pack]
        destination = "stdout"
        sections = [ {name = "pitch", input = "pitch", label = "Why it matters"},
                     {name = "questions", input = "faq", label = "Questions"} ]
    """
    mock_server.answers |= {"pitch": {"pitch": "Borrow, do not buy."}, "faq": golden("faq")}
    wishes = ("Say why it matters.", "Say in one sentence why it matters.")
    for calls, wish in zip((2, 3), wishes, strict=True):
        settings.write_text(declared.replace("WISH", wish), encoding="utf-8")
        assert repurpose("check").returncode == 0
        options = ("--model", "mock", "--base-url", mock_server.url)
        done = repurpose("compose", "press-pack", article, *options)
        assert headings(done.stdout)[1:] == ["## Why it matters", "## Questions"]
        assert len(mock_server.requests) == calls


def test_the_example_that_is_shipped_as_json_means_what_the_table_means(
    repurpose: Command, article: Path, root: Path
) -> None:
    example = root / "fixtures" / "composites" / "launch-kit.json"
    repurpose("compose", example, article, "--to", "store")
    by_file, by_table = (
        repurpose("compose", kit, "--run", "last", "--to", "stdout", "--renderer", "json").stdout
        for kit in (example, "launch-kit")
    )
    assert by_file == by_table != ""


def test_the_command_offers_exactly_the_known_destinations_and_renderers() -> None:
    offered: dict[str, Any] = {each.name or "": each.type for each in command.params}
    assert tuple(offered["destination"].choices) == DESTINATIONS
    assert tuple(offered["renderer"].choices) == RENDERERS
