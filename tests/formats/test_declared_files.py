"""Formats from a configuration's tables and from folders: equal in result, and how errors read."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import repurpose.formats
from repurpose.core.policy import RetryOverrides
from repurpose.errors import SchemaError, UnusableOutput, UsageError
from repurpose.formats import (
    FORMATS,
    declared_format,
    format_from_table,
    format_named,
    formats_in,
    known_formats,
    ordered,
)
from repurpose.formats.base import FinishContext, Format

TABLE = """
label = "Meta tags"
prompt = "Write the meta title and description for {title}."
outputs = [ {name = "title", type = "string", required = true, max_length = 60},
            {name = "score", type = "number"},
            {name = "tags", type = "array", items = "string", max_items = 8} ]
extra = "drop"
[retry]
max_attempts = 3
on_type_mismatch = false
"""
PROMPT = """\
+++
extra = "drop"
[retry]
max_attempts = 3
on_type_mismatch = false
+++
Write the meta title and description for {title}.
"""
SCHEMA = {
    "title": "Meta tags",
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 60},
        "score": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
    },
    "required": ["title"],
    "additionalProperties": False,
}


def table(text: str = TABLE) -> dict[str, Any]:
    return tomllib.loads(text)


def from_table(text: str = TABLE, folder: Path = Path()) -> Format:
    return format_from_table("meta", table(text), folder=folder)


def written(folder: Path, name: str, prompt: str, schema: object | None = None) -> Path:
    for kind in ("prompts", "schemas"):
        (folder / kind).mkdir(exist_ok=True)
    (folder / "prompts" / f"{name}.md").write_text(prompt, encoding="utf-8")
    if schema is not None:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        (folder / "schemas" / f"{name}.schema.json").write_text(text, encoding="utf-8")
    return folder


# --- both ways ----------------------------------------------------------------------------------


def test_a_table_sets_everything_that_it_names() -> None:
    format = from_table()
    assert (format.name, format.label, format.extra) == ("meta", "Meta tags", "drop")
    assert format.declared == ("title", "score", "tags")
    assert format.retry == RetryOverrides(max_attempts=3, on_type_mismatch=False)


@pytest.mark.parametrize(
    "answer",
    [
        {"title": "T", "score": 1.5, "tags": ["a"]},
        {"title": " A first sentence that stands alone here. And a second one follows it. "},
        {"title": "T", "tags": [f"t{n}" for n in range(12)] + [" "]},
        {"title": " "},
        {"title": "T", "score": 3},
    ],
)
def test_a_table_and_a_folder_that_say_the_same_give_equal_results(
    answer: Any, tmp_path: Path
) -> None:
    one, other = from_table(), formats_in(written(tmp_path, "meta", PROMPT, SCHEMA))["meta"]

    def outcome(format: Format) -> object:
        try:
            return format.finish(answer, FinishContext(language="en"))
        except UnusableOutput as error:
            return error.message

    assert outcome(one) == outcome(other)
    assert {**one.schema, "title": "Meta tags"} == other.schema
    for name in ("label", "task", "declared", "retry", "extra", "coerce", "structured", "needs"):
        assert getattr(one, name) == getattr(other, name), name


def test_outputs_may_stand_in_the_settings_of_a_prompt_file(tmp_path: Path) -> None:
    prompt = '+++\noutputs = [{name = "title", type = "string"}]\n+++\nWrite.'
    format = formats_in(written(tmp_path, "meta", prompt))["meta"]
    assert (format.declared, format.task) == (("title",), "Write.")


def test_a_prompt_without_a_schema_passes_replies_through(tmp_path: Path) -> None:
    format = formats_in(written(tmp_path, "plain-notes", "Write."))["plain-notes"]
    assert (format.structured, format.declared) == (False, ("result",))
    assert format.label == "Plain notes"


def test_files_of_a_table_are_looked_for_beside_it(tmp_path: Path) -> None:
    written(tmp_path, "meta", "Write about {title}.", SCHEMA)
    text = 'prompt_file = "prompts/meta.md"\nschema_file = "schemas/meta.schema.json"'
    format = from_table(text, tmp_path)
    assert format.task == "Write about {title}."
    assert format.declared == ("title", "score", "tags")


def test_a_schema_may_leave_its_objects_open_and_is_closed_all_the_same(tmp_path: Path) -> None:
    schema = {**SCHEMA}
    del schema["additionalProperties"]
    format = formats_in(written(tmp_path, "meta", "Write.", schema))["meta"]
    assert format.schema["additionalProperties"] is False


# --- what is wrong, in one line -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('labl = "x"', 'format meta: unknown key "labl"; did you mean label?'),
        ('label = "x"', "has no prompt; give prompt or prompt_file"),
        ('prompt = "x"\nprompt_file = "y"', "prompt and prompt_file say the same; give one"),
        (
            'prompt = "x"\nschema_file = "y"\noutputs = [{name = "a", type = "string"}]',
            "outputs and schema_file say the same",
        ),
        ('prompt = "x"\noutputs = []', "outputs is empty"),
        ('prompt = "x"\noutputs = "title"', "outputs must be a list of tables"),
        ("prompt = 5", "prompt must be a text"),
        ('prompt = "x"\nextra = "keep"', 'extra is "reject" or "drop"'),
        ('prompt = "x"\ncoerce = "no"', "coerce must be true or false"),
        ('prompt = "x"\noutput_tokens = 0', "output_tokens must be at least 1"),
        ('prompt = "x"\noutput_tokens = true', "output_tokens must be a whole number"),
        (
            'prompt = "x"\nretry = {max_atempts = 2}',
            'format meta, retry: unknown key "max_atempts"; did you mean max_attempts?',
        ),
        (
            'prompt = "x"\nretry = {max_attempts = 2, max_retries = 1}',
            "max_attempts and max_retries say the same thing",
        ),
        ('prompt = "x"\nretry = {max_attempts = 0}', "max_attempts is 0"),
        ('prompt = "x"\nretry = {max_retries = 5}', "max_attempts is 6"),
        ('prompt = "x"\nretry = {on_parse = 1}', "on_parse must be true or false"),
        ('prompt_file = "gone.md"', "format meta: gone.md does not exist"),
        ('prompt = "x"\nschema_file = "gone.json"', "format meta: gone.json does not exist"),
        ('prompt = "About {titel}"', "unknown place {titel}"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        from_table(text, tmp_path)
    assert said in caught.value.message
    assert caught.value.message.startswith("format meta")
    assert "\n" not in caught.value.message


def test_max_retries_counts_the_calls_after_the_first() -> None:
    assert from_table('prompt = "x"\nretry = {max_retries = 2}').retry.max_attempts == 3


def test_a_schema_file_that_is_no_json_is_told_with_its_place(tmp_path: Path) -> None:
    known = known_formats(written(tmp_path, "meta", "Write.", '{"type": '))
    with pytest.raises(UsageError, match=r"schemas/meta.schema.json: is not valid JSON at line 1"):
        known.named("meta")


def test_a_schema_without_a_prompt_is_told(tmp_path: Path) -> None:
    written(tmp_path, "meta", "Write.", SCHEMA)
    (tmp_path / "prompts" / "meta.md").unlink()
    with pytest.raises(UsageError, match=r"prompts/meta.md does not exist"):
        known_formats(tmp_path).named("meta")


@pytest.mark.parametrize(
    ("settings", "said"),
    [("label = ", "the settings of its prompt"), ('prompt = "x"', "prompt is not set in a prompt")],
)
def test_bad_settings_of_a_prompt_file_are_told(settings: str, said: str, tmp_path: Path) -> None:
    written(tmp_path, "meta", f"+++\n{settings}\n+++\nWrite.")
    with pytest.raises(UsageError, match=said):
        known_formats(tmp_path).named("meta")


def test_a_folder_without_prompts_is_told_with_what_writes_an_example(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no folder prompts") as caught:
        known_formats(tmp_path)
    assert "repurpose new-format" in str(caught.value.hint)


# --- looking up ---------------------------------------------------------------------------------


def test_own_formats_are_known_beside_the_built_in_ones(tmp_path: Path) -> None:
    known = known_formats(written(tmp_path, "notes", "Write."), {"meta": table()})
    assert known.names() == ("summary", "faq", "social", "newsletter", "meta", "notes")
    assert known.named("META").label == "Meta tags"
    assert format_named("meta", known) is known.named("meta")
    assert known.named("faq").label == "FAQ"


def test_an_unknown_name_is_answered_with_the_nearest_of_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'unknown format "mete"; did you mean meta\? known: '):
        known_formats(tables={"meta": table()}).named("mete")


def test_a_bad_declaration_stops_no_other_format(tmp_path: Path) -> None:
    known = known_formats(tables={"bad": {"prompt": 5}, "meta": table()})
    assert known.named("meta").name == "meta"
    with pytest.raises(UsageError, match="format bad: prompt must be a text"):
        known.named("bad")


@pytest.mark.parametrize("name", ["faq", "FAQ", "summary"])
def test_a_built_in_format_cannot_be_replaced(name: str) -> None:
    with pytest.raises(UsageError, match="has the name of a built-in format"):
        known_formats(tables={name: table()})


def test_a_name_that_is_declared_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="format meta is declared twice"):
        known_formats(written(tmp_path, "meta", "Write."), {"meta": table()})


def test_a_file_whose_name_no_format_may_have_is_told_and_a_hidden_one_is_none(
    tmp_path: Path,
) -> None:
    written(tmp_path, "README", "Not a format.")
    written(tmp_path, ".draft", "Neither.")
    known = known_formats(tmp_path)
    assert [name for name in known.names() if name not in FORMATS] == ["readme"]
    with pytest.raises(UsageError, match="format 'README' is no name for a format"):
        known.named("README")


def test_a_label_is_one_line() -> None:
    assert declared_format("a", prompt="x", label=" Meta\n tags ").label == "Meta tags"


# --- entry points -------------------------------------------------------------------------------

OFFERED = declared_format("poem", prompt="Write a poem.")


def offered_poem() -> Format:
    return OFFERED


def raises() -> Format:
    raise RuntimeError("secret: " + "x" * 2000)


def offers(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    points = [EntryPoint(name, where, "repurpose.formats") for name, where in places.items()]
    monkeypatch.setattr(repurpose.formats, "entry_points", lambda group: points)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name under which this module can be imported."""
    import sys

    monkeypatch.setitem(sys.modules, "offering", sys.modules[__name__])
    return "offering"


@pytest.mark.parametrize("member", ["OFFERED", "offered_poem"])
def test_a_package_offers_a_format_or_what_makes_one(
    member: str, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers(monkeypatch, poem=f"{here}:{member}")
    assert format_named("Poem") is OFFERED
    assert known_formats().names()[-1] == "poem"


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("nowhere_at_all:x", "cannot be loaded: ModuleNotFoundError"),
        ("{here}:gone", "cannot be loaded: AttributeError"),
        ("{here}:raises", "cannot be loaded: RuntimeError"),
        ("{here}:TABLE", "is a str, not a Format"),
        ("{here}:OFFERED", "calls itself 'poem'"),
    ],
)
def test_a_broken_offer_is_one_line_and_stops_nothing_else(
    where: str, said: str, here: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers(monkeypatch, ode=where.format(here=here))
    with pytest.raises(UsageError) as caught:
        format_named("ode")
    assert said in caught.value.message
    assert "\n" not in caught.value.message
    assert "secret" not in caught.value.message
    assert format_named("faq").name == "faq"


def test_a_built_in_name_never_looks_at_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(group: str) -> list[EntryPoint]:
        raise AssertionError(group)

    monkeypatch.setattr(repurpose.formats, "entry_points", never)
    assert format_named("faq").name == "faq"


# --- what needs what ----------------------------------------------------------------------------


def reads(name: str, *paths: str) -> Format:
    prompt = " ".join(["Write.", *(f"{{{path}}}" for path in paths)])
    return declared_format(name, prompt=prompt, outputs=[{"name": "text", "type": "string"}])


def test_a_format_comes_after_those_whose_results_it_reads() -> None:
    formats = [reads("a", "b.text"), reads("c"), reads("b", "c.text", "faq.pairs.0.question")]
    found = ordered([*formats, format_named("faq")])
    assert [each.name for each in found] == ["c", "faq", "b", "a"]


@pytest.mark.parametrize(
    ("formats", "said"),
    [
        ([reads("a", "faq.pairs")], "format a: {faq.pairs} needs faq, which is not part of"),
        ([reads("a", "b.txt"), reads("b")], "{b.txt}: b has no field txt; did you mean text?"),
        ([reads("a", "b.text"), reads("b", "a.text")], "wait for each other: a needs b, b needs a"),
        ([reads("a", "a.text")], "wait for each other: a needs a"),
    ],
)
def test_what_can_never_be_read_is_refused_before_anything_is_called(
    formats: list[Format], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        ordered(formats)
    assert said in caught.value.message


def test_a_bad_schema_keeps_its_own_class() -> None:
    with pytest.raises(SchemaError):
        declared_format("meta", prompt="x", schema={"type": "object", "nonsense": 1})
