"""Composites from the outside: the gate, the run that one needs, and what is kept."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose import Composite, Section, acompose, compose, composite_from, declared_format
from repurpose.api._documents import refuse_taken, write_document
from repurpose.api.composing import (
    checked_composite,
    composed_from,
    composite_in,
    composite_named,
    declared_fault,
    keep,
    needs_of,
    refuse_renamed,
)
from repurpose.config import Settings
from repurpose.core.composite import canonical
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import FormatError, RepurposeError, SourceError, UsageError
from repurpose.formats import Formats, known_formats
from repurpose.ports import Store
from repurpose.resources import schema_text
from repurpose.schema.intake import decode
from repurpose.schema.validate import compile_schema

SOURCE = b"Kestrels hover over the ring road. They hunt voles at dusk."
SETTINGS = Settings(database=Path("unused.db"))
TOML = """
[composites.kit]
renderer = "html"
sections = [ {name = "summary", input = "summary", label = "Summary"},
             {name = "post", input = "social.x"},
             {name = "questions", input = "faq", label = "Questions"} ]
"""
JSON = {
    "name": "kit",
    "widgetType": " HTML ",
    "sections": [
        {"sectionName": "summary", "inputNodeId": "summary", "displayLabel": "Summary"},
        {"sectionName": "post", "inputNodeId": "social.x"},
        {"sectionName": "questions", "inputNodeId": "faq", "displayLabel": "Questions"},
    ],
}
KIT = Composite(
    "kit",
    (
        Section("summary", "summary", "Summary"),
        Section("post", "social.x"),
        Section("questions", "faq", "Questions"),
    ),
    renderer="html",
)


@pytest.fixture
def engine(golden: Callable[[str], Any]) -> ScriptedEngine:
    """A model that answers each format once."""
    names = ("summary", "faq", "newsletter")
    script: dict[str, Any] = {name: [golden(name)] for name in names}
    script["social"] = [{"x": {"text": "Kestrels hover.", "hashtags": ["birds"]}}]
    return scripted_engine(script, model="m")


@pytest.fixture
def options(store: Store, engine: ScriptedEngine) -> dict[str, Any]:
    return {"store": store, "engine": engine, "settings": SETTINGS}


def asked(engine: ScriptedEngine) -> list[str]:
    return sorted(call.format for call in engine.calls)


# ---- the gate


def test_toml_json_and_python_give_equal_payloads(
    options: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "kit.json"
    path.write_text(json.dumps(JSON), encoding="utf-8")
    told = Settings(database=Path("x"), composites=tomllib.loads(TOML)["composites"])
    from_toml, from_json = composite_named("kit", told), composite_in(path)
    assert from_toml == from_json == KIT
    run = compose(KIT, SOURCE, **options).run
    assert run is not None
    payloads = [
        json.dumps(composed_from(each, store, run.id).payload)
        for each in (KIT, from_toml, from_json)
    ]
    assert len(set(payloads)) == 1


TABLES = st.fixed_dictionaries(
    {},
    optional={
        "version": st.sampled_from([1, 2, 0, -1, "1", 1.5, True, None]),
        "destination": st.sampled_from(["store", " FILE ", "printer", 3, None, ""]),
        "renderer": st.sampled_from(["html", "JSON", "pdf", [], None]),
        "sections": st.one_of(
            st.sampled_from([None, "faq", {}, 3]),
            st.lists(
                st.one_of(
                    st.just("faq"),
                    st.fixed_dictionaries(
                        {},
                        optional={
                            "name": st.sampled_from(["a", "b", "A", " ", "", 3, None]),
                            "input": st.sampled_from(["faq", "social.x", "f q", "", 3, None]),
                            "label": st.sampled_from(["L", "", 3, None]),
                        },
                    ),
                ),
                max_size=3,
            ),
        ),
    },
)


@given(TABLES)
def test_what_the_schema_refuses_no_door_lets_in(table: dict[str, Any]) -> None:
    """The schema is a part of the checks: it never refuses what a constructor would take."""
    schema = compile_schema(decode(schema_text("composite")), "composite")  # type: ignore[arg-type]
    try:
        made = composite_from("kit", table)
    except UsageError:
        with pytest.raises(UsageError):
            checked_composite("kit", table)
        return
    assert schema.findings(canonical("kit", table)) == []
    assert checked_composite("kit", table) == made


def test_a_fault_is_one_line_with_the_place_and_the_others_are_its_hint() -> None:
    with pytest.raises(UsageError) as raised:
        checked_composite("kit", {"version": 0, "sections": [{"name": "a"}]})
    assert raised.value.message.startswith("composite kit: ")
    assert "\n" not in raised.value.message
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("1 more: ")
    told = raised.value.message + raised.value.hint
    assert all(place in told for place in ("version", "sections.0.input"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "not valid JSON"),
        (b"", "not valid JSON"),
        (b"[]", "no JSON object"),
        (b"\xff", "not UTF-8"),
        (b'{"name": 3}', "name"),
        (b'{"sections": [{"name": "a", "name": "b"}]}', "twice"),
    ],
)
def test_a_file_that_holds_no_composite_is_told_in_one_line(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "kit.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=words):
        composite_in(path)


def test_a_file_without_a_name_gives_its_own_and_an_empty_object_no_sections(
    tmp_path: Path,
) -> None:
    path = tmp_path / "press-pack.json"
    path.write_text("{}", encoding="utf-8")
    assert composite_in(path) == Composite("press-pack")
    with pytest.raises(UsageError, match="cannot be read"):
        composite_in(tmp_path / "nowhere.json")


def test_an_unknown_name_is_told_with_the_declared_ones() -> None:
    told = Settings(database=Path("x"), composites={"kit": {}})
    with pytest.raises(UsageError) as raised:
        composite_named("kot", told)
    assert raised.value.hint == "declared are kit"


# ---- what is run


def test_each_format_is_run_once_whatever_number_of_sections_reads_it(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    twice = Composite("kit", (*KIT.sections, Section("again", "faq")))
    made = compose(twice, SOURCE, **options)
    assert made.envelope.status == 200
    assert made.result is not None
    assert asked(engine) == ["faq", "social", "summary"]
    assert made.result.usage.calls == 3


def test_posts_are_written_for_the_platforms_that_sections_name(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    made = compose(KIT, SOURCE, **options)
    (social,) = [call for call in engine.calls if call.format == "social"]
    assert list(social.schema["properties"]) == ["x"]  # type: ignore[call-overload]
    assert [row.variant for row in made.rows if row.format == "social"] == ["x"]


def test_whoever_names_platforms_has_them_and_other_posts_are_left_out() -> None:
    chosen = Settings(database=Path("x"), platforms=("mastodon",))
    assert needs_of(KIT, chosen).settings.platforms == ("mastodon",)
    assert needs_of(KIT, SETTINGS).settings.platforms == ("x",)


def test_a_second_post_asks_for_two() -> None:
    second = Composite("kit", (Section("a", "social.x.2"), Section("b", "social.linkedin")))
    needs = needs_of(second, SETTINGS)
    assert (needs.settings.variants, needs.settings.platforms) == (2, ("x", "linkedin"))


def test_formats_that_a_prompt_reads_are_run_too() -> None:
    known = Formats(
        {
            "thread": lambda: declared_format(
                "thread", prompt="Write on {faq.pairs.0.question} and {digest.text}."
            ),
            "digest": lambda: declared_format("digest", prompt="Digest {summary.sentences.0}."),
        }
    )
    needs = needs_of(Composite("kit", (Section("a", "thread"),)), SETTINGS, known)
    assert needs.formats[0] == "thread"
    assert set(needs.formats) == {"thread", "faq", "digest", "summary"}
    assert set(needs.plain) == {"thread", "digest"}


def test_a_format_of_ones_own_is_a_section_without_any_code(
    store: Store, golden: Callable[[str], Any]
) -> None:
    tables = {"meta": {"prompt": "Write.", "outputs": [{"name": "title", "type": "string"}]}}
    own = Settings(database=Path("x"), declared=tables)
    kit = Composite("kit", (Section("head", "meta", "Head"), Section("questions", "faq")))
    answers = {"meta": [{"title": "Kestrels"}], "faq": [golden("faq")]}
    engine = scripted_engine(answers, model="m")
    made = compose(kit, SOURCE, store=store, engine=engine, settings=own)
    assert made.envelope.status == 200
    assert "## Head\n\nKestrels" in made.text()


def test_unknown_formats_and_platforms_are_dropped_and_the_rest_is_delivered(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    sections = (Section("a", "news"), Section("b", "social.myspace"), Section("c", "faq"))
    made = compose(Composite("kit", sections), SOURCE, **options)
    assert [(each.name, each.reason) for each in made.composed.dropped] == [
        ("a", "no format news: not known"),
        ("b", "social has no post for myspace in this run"),
    ]
    assert asked(engine) == ["faq"]
    assert made.composed.exit_code == 1


def test_a_failed_format_is_dropped_with_its_reason(
    store: Store, golden: Callable[[str], Any]
) -> None:
    engine = scripted_engine({"summary": [golden("summary")], "faq": ["no", "no"]}, model="m")
    kit = Composite("kit", (Section("a", "summary"), Section("b", "faq")))
    made = compose(kit, SOURCE, store=store, engine=engine, settings=SETTINGS)
    (dropped,) = made.composed.dropped
    assert dropped.name == "b"
    assert dropped.reason.startswith("FAQ failed: ")
    assert made.envelope.status == 400
    assert "dropped: b (FAQ failed: " in made.envelope.message


def test_a_run_that_is_to_abort_gives_no_composite_when_a_format_failed(
    store: Store, golden: Callable[[str], Any]
) -> None:
    engine = scripted_engine({"summary": [golden("summary")], "faq": ["no", "no"]}, model="m")
    kit = Composite("kit", (Section("a", "summary"), Section("b", "faq")))
    with pytest.raises(FormatError, match=r"kit was not put together: FAQ .*on_failure is abort"):
        compose(kit, SOURCE, store=store, engine=engine, settings=SETTINGS, on_failure="abort")
    (run,) = store.runs()
    assert store.composites(run.id) == ()


@pytest.mark.parametrize("sections", [(), (Section("a", "news"),)])
def test_where_no_format_is_to_be_made_nothing_is_run(
    options: dict[str, Any], engine: ScriptedEngine, store: Store, sections: Any
) -> None:
    made = compose(Composite("kit", sections), SOURCE, **options)
    assert made.run is None
    assert made.payload["sections"] == []
    assert made.composed.exit_code == (4 if sections else 0)
    assert (engine.calls, store.runs()) == ([], ())
    assert made.text().startswith("# ")


def test_changing_one_sections_prompt_leaves_the_others_requests_as_they_were(
    store: Store, golden: Callable[[str], Any]
) -> None:
    def prompts(prompt: str, name: str) -> str:
        tables = {"meta": {"prompt": prompt, "outputs": [{"name": "title", "type": "string"}]}}
        engine = scripted_engine(
            {"meta": [{"title": "T"}], "faq": [golden("faq")]}, name=name, model="m"
        )
        kit = Composite("kit", (Section("head", "meta"), Section("questions", "faq")))
        own = Settings(database=Path("x"), declared=tables)
        made = compose(kit, SOURCE, store=store, engine=engine, settings=own)
        assert made.envelope.status == 200
        (faq,) = [call for call in engine.calls if call.format == "faq"]
        return faq.system + faq.user

    assert prompts("Write a title.", "one") == prompts("Write a long title.", "two")


# ---- stored runs


def test_a_stored_run_gives_the_same_bytes_without_a_call(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    made = compose(KIT, SOURCE, **options)
    calls = len(engine.calls)
    assert made.run is not None
    again = compose(KIT, run=made.run.id, **options)
    assert len(engine.calls) == calls
    assert json.dumps(again.payload) == json.dumps(made.payload)
    assert [again.text(name) for name in ("markdown", "html", "json")] == [
        made.text(name) for name in ("markdown", "html", "json")
    ]


def test_it_works_inside_an_event_loop(options: dict[str, Any]) -> None:
    assert asyncio.run(acompose(KIT, SOURCE, **options)).envelope.status == 200


def test_exactly_one_of_source_and_run_is_needed(options: dict[str, Any]) -> None:
    for arguments in ({}, {"source": SOURCE, "run": "last"}):
        with pytest.raises(UsageError, match="of a source or of a run"):
            compose(KIT, **arguments, **options)


def test_a_source_that_cannot_be_read_is_raised(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    with pytest.raises(SourceError):
        compose(KIT, "nowhere.md", **options)
    assert engine.calls == []


def test_a_composite_is_kept_once_and_again_only_when_it_says_something_else(
    options: dict[str, Any], store: Store
) -> None:
    made = compose(KIT, SOURCE, **options)
    assert made.run is not None
    (first,) = store.composites(made.run.id)
    assert (first.name, first.version, first.status) == ("kit", 1, 200)
    assert first.payload == json.loads(json.dumps(made.payload))  # noqa: TID251 - our own payload
    elsewhere = Composite("kit", KIT.sections, destination="stdout", renderer="json")
    compose(elsewhere, run="last", **options)
    assert store.composites(made.run.id) == (first,)
    relabelled = Composite("kit", [Section(each.name, each.input, "New") for each in KIT.sections])
    compose(relabelled, run="last", **options)
    (newest,) = store.composites(made.run.id)
    assert newest != first


def test_names_are_immutable_within_a_version(
    options: dict[str, Any], engine: ScriptedEngine
) -> None:
    compose(KIT, SOURCE, **options)
    calls = len(engine.calls)
    renamed = Composite("kit", (*KIT.sections[:2], Section("faq", "faq")))
    with pytest.raises(UsageError) as raised:
        compose(renamed, SOURCE, **options)
    assert raised.value.message == (
        "composite kit: section questions is missing, section faq is new under version 1;"
        " names do not change within a version"
    )
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("raise version to 2")
    assert len(engine.calls) == calls
    with pytest.raises(UsageError):
        compose(renamed, run="last", **options)
    raised_version = Composite("kit", renamed.sections, version=2)
    assert compose(raised_version, run="last", **options).envelope.status == 200


def test_order_labels_and_inputs_may_change_within_a_version(
    options: dict[str, Any],
) -> None:
    compose(KIT, SOURCE, **options)
    changed = [Section(each.name, "faq", "Another") for each in reversed(KIT.sections)]
    assert compose(Composite("kit", changed), run="last", **options).envelope.status == 200


def test_what_was_never_put_together_has_no_names_yet(
    options: dict[str, Any], store: Store
) -> None:
    compose(KIT, SOURCE, **options)
    draft = Composite("draft", KIT.sections)
    composed_from(draft, store, "last")
    assert store.section_names("draft", 1) == ()
    keep(composed_from(draft, store, "last"), store)
    assert store.section_names("draft", 1) == ("summary", "post", "questions")
    refuse_renamed(draft, store.section_names("draft", 1))


def test_texts_never_reach_the_log(
    options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    made = compose(KIT, SOURCE, **options)
    assert "Kestrels hover." not in caplog.text
    assert "Kestrels hover." in made.text()


@pytest.mark.parametrize(
    ("wanted", "fault"),
    [
        ("news", "no format news"),
        ("social", "needs a platform, such as social.linkedin"),
        ("social.myspace", "no platform myspace"),
        ("faq.x", "faq has no variants"),
        ("social.x.2", None),
        ("faq", None),
    ],
)
def test_what_could_never_be_put_together_is_found_beforehand(
    wanted: str, fault: str | None
) -> None:
    kit = Composite("kit", (Section("a", wanted),))
    assert declared_fault(kit, known_formats()) == (fault and f"sections.0.input: {fault}")


# ---- files


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "kit.md"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_document_is_written_as_it_is(target: Path) -> None:
    write_document(target, "ä\r\n")
    assert target.read_bytes() == "ä\r\n".encode()


def test_another_file_is_overwritten_only_when_it_is_said(target: Path) -> None:
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="exists and is not overwritten"):
        write_document(target, "theirs")
    with pytest.raises(UsageError, match="exists"):
        refuse_taken(target)
    assert target.read_text(encoding="utf-8") == "mine"
    write_document(target, "mine")
    write_document(target, "theirs", overwrite=True)
    assert target.read_text(encoding="utf-8") == "theirs"


def test_a_folder_that_is_not_there_is_told(target: Path) -> None:
    missing = target.parent / "nowhere" / "kit.md"
    for act in (lambda: write_document(missing, "x"), lambda: refuse_taken(missing)):
        with pytest.raises(RepurposeError, match="cannot be written"):
            act()
