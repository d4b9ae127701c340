"""The embedded engine and formats of the user's own: the source's words, or an honest no."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.api.loading import load
from repurpose.core.call import Reply
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.extractive import extractive_engine
from repurpose.errors import UnusableOutput
from repurpose.formats import declared_format
from repurpose.formats.base import Format
from repurpose.schema.validate import compile_schema
from repurpose.steps.request import first_call

TEXT = """\
# How Tarnby filled its lake

The swimming lake of Tarnby opened on 3 June after six years of digging. It holds 90,000 cubic \
metres of water and cost the town 2.3 million euros. Neighbours came by bicycle and by bus.

## What does the lake need most?

Reeds on the northern shore clean the lake without any chemicals. Each week two students measure \
oxygen and temperature at eight places of the lake.

## The old gravel pit

A gravel company left the pit behind in 2009. Tarnby bought the pit for 140,000 euros and asked \
500 residents of Tarnby for ideas.

> The lake has given the town a place to meet.
"""
SOURCE = Source(
    text=TEXT, origin="-", kind="markdown", language="en", author="Ines Dahl", title=None
)


def made(*outputs: Any, **options: Any) -> Format:
    return declared_format("meta", prompt="Write.", outputs=outputs, **options)


def text(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "string", "required": True, **more}


def texts(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "array", "items": "string", "required": True, **more}


def reply_to(format: Format, source: Source = SOURCE) -> Reply:
    async def asked() -> Reply:
        return await extractive_engine().answer(first_call(format, source, Steering()))

    return asyncio.run(asked())


def answer_to(format: Format, source: Source = SOURCE) -> Any:
    return json.loads(reply_to(format, source).text)  # noqa: TID251 - our own answer


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for part in inner for found in strings(part)]


def plain(text: str) -> str:
    return " ".join(re.sub(r"^(?:#+|>|[-*]) ", "", text, flags=re.MULTILINE).split())


EVERYTHING = (
    text("title", max_length=60),
    text("metaDescription"),
    text("summary"),
    text("quote"),
    text("question"),
    texts("tags"),
    texts("highlights"),
    texts("headings"),
    text("author"),
    {
        "name": "sections",
        "type": "array",
        "items": "object",
        "required": True,
        "fields": [text("heading"), text("text")],
    },
    {
        "name": "faq",
        "type": "array",
        "items": "object",
        "required": True,
        "fields": [text("question"), text("answer")],
    },
    {"name": "score", "type": "number"},
)


def test_every_string_of_an_answer_stands_in_the_source_word_for_word() -> None:
    answer = answer_to(made(*EVERYTHING))
    assert set(answer) == {output["name"] for output in EVERYTHING} - {"score"}
    told = plain(TEXT)
    assert [each for each in strings(answer) if each not in told] == ["Ines Dahl"]


def test_its_answers_are_valid_for_what_was_declared() -> None:
    format = made(*EVERYTHING)
    assert compile_schema(format.schema, "meta").findings(answer_to(format)) == []


def test_fields_are_filled_by_what_they_are_named() -> None:
    answer = answer_to(made(*EVERYTHING))
    assert answer["title"] == "How Tarnby filled its lake"
    assert answer["quote"] == "The lake has given the town a place to meet."
    assert answer["question"] == "What does the lake need most?"
    assert answer["headings"] == ["What does the lake need most?", "The old gravel pit"]
    assert [each["heading"] for each in answer["sections"]] == answer["headings"]
    assert answer["faq"][0]["answer"].startswith("Reeds on the northern shore clean the lake")
    assert answer["metaDescription"] not in answer["summary"]


def test_a_description_says_it_where_the_name_does_not() -> None:
    field = text("oben", description="The title of the page")
    assert answer_to(made(field)) == {"oben": "How Tarnby filled its lake"}


def test_what_was_taken_is_told_with_its_place() -> None:
    for quote in reply_to(made(*EVERYTHING)).quotes:
        assert quote.text in plain(SOURCE.text[quote.start : quote.end])


@pytest.mark.parametrize(
    ("output", "path"),
    [
        ({"name": "score", "type": "number", "required": True}, "score"),
        ({"name": "count", "type": "integer", "required": True}, "count"),
        ({"name": "free", "type": "boolean", "required": True}, "free"),
        (text("kind", enum=["news", "advice"]), "kind"),
        (text("mood"), "mood"),
        (text("callToAction"), "callToAction"),
        (text("url"), "url"),
        (
            {
                "name": "who",
                "type": "object",
                "required": True,
                "fields": [{"name": "age", "type": "integer", "required": True}],
            },
            "who.age",
        ),
    ],
)
def test_what_would_have_to_be_invented_is_refused_by_its_name(output: Any, path: str) -> None:
    with pytest.raises(UnusableOutput) as caught:
        answer_to(made(text("title"), output))
    assert caught.value.message == f'without a model, "{path}" cannot be filled'


def test_an_optional_field_that_would_have_to_be_invented_is_left_out() -> None:
    optional = [{"name": "score", "type": "number"}, {"name": "mood", "type": "string"}]
    assert set(answer_to(made(text("title"), *optional))) == {"title"}


def test_a_shape_of_which_nothing_can_be_filled_is_refused() -> None:
    with pytest.raises(UnusableOutput, match='no field of "meta" can be filled'):
        answer_to(made({"name": "score", "type": "number"}))


def test_a_format_without_fields_is_refused() -> None:
    with pytest.raises(UnusableOutput, match='without a model, "meta" cannot be written'):
        answer_to(made())


def test_a_pattern_is_not_tried_and_a_constant_is_no_choice() -> None:
    schema: Any = {
        "type": "object",
        "properties": {
            "kind": {"const": "note"},
            "title": {"type": "string"},
            "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
        },
        "required": ["kind", "title"],
    }
    format = declared_format("meta", prompt="Write.", schema=schema)
    assert answer_to(format) == {"kind": "note", "title": "How Tarnby filled its lake"}


def test_the_same_source_gives_the_same_answer() -> None:
    assert reply_to(made(*EVERYTHING)) == reply_to(made(*EVERYTHING))


@pytest.mark.parametrize("file", ["article.md", "artikel.md", "kiji.md"])
def test_real_articles_are_answered_in_their_own_words(file: str, root: Path) -> None:
    source = load(root / "fixtures" / "sources" / file)
    answer = answer_to(made(text("title"), text("description"), texts("tags")), source)
    told = plain(source.text) + (source.title or "")
    assert [each for each in strings(answer) if each not in told] == []


NAMES = ["title", "description", "quote", "question", "tags", "points", "mood", "url", "section"]
FIELDS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.sampled_from(NAMES),
            "type": st.sampled_from(["string", "number", "boolean", "array"]),
            "required": st.booleans(),
        }
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each["name"],
)


@given(FIELDS, st.sampled_from([TEXT, "One sentence.", "# Only a heading\n\nAnd a line", "字"]))
@settings(max_examples=60, deadline=None)
def test_any_shape_is_answered_validly_or_refused(fields: list[Any], body: str) -> None:
    outputs = [
        {**each, **({"items": "string"} if each["type"] == "array" else {})} for each in fields
    ]
    format = made(*outputs)
    source = Source(text=body, origin="-", kind="markdown")
    try:
        answer = answer_to(format, source)
    except UnusableOutput:
        return
    assert compile_schema(format.schema, "meta").accepts(answer)
    assert all(each in plain(body) for each in strings(answer))
