"""Declared fields before a Markdown text, and documents that only look as if they had some."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.sources._front_matter import split


def test_yaml_values_stay_strings() -> None:
    front = split("---\ntitle: Night trains\nlang: no\ndate: 2026-03-12\ndraft: false\n---\nBody\n")
    assert front.body == "Body\n"
    assert front.fields == {
        "title": "Night trains",
        "lang": "no",
        "date": "2026-03-12",
        "draft": "false",
    }


def test_yaml_may_end_with_three_dots() -> None:
    assert split("---\ntitle: Foo\n...\nBody").body == "Body"


def test_a_byte_order_mark_does_not_hide_front_matter() -> None:
    assert split("\ufeff---\ntitle: Foo\n---\nBody").fields == {"title": "Foo"}


def test_keys_are_compared_in_lower_case() -> None:
    assert split("---\nTitle: Foo\n---\nBody").fields == {"title": "Foo"}


def test_broken_yaml_is_read_line_by_line_with_a_warning() -> None:
    front = split('---\ntitle: Trains: a history\nauthor: "Ada"\ntags:\n  - rail\n---\nBody')
    assert front.fields["title"] == "Trains: a history"
    assert front.fields["author"] == "Ada"
    assert front.body == "Body"
    assert len(front.warnings) == 1
    assert "YAML" in front.warnings[0]


def test_toml_keeps_its_dates() -> None:
    front = split('+++\ntitle = "Trains"\ndate = 2026-03-12\n+++\nBody')
    assert front.fields == {"title": "Trains", "date": datetime.date(2026, 3, 12)}
    assert front.body == "Body"


def test_broken_toml_is_read_line_by_line_with_a_warning() -> None:
    front = split('+++\ntitle = "Trains"\nbroken = = 1\n+++\nBody')
    assert front.fields["title"] == "Trains"
    assert front.body == "Body"
    assert "TOML" in front.warnings[0]


def test_a_leading_json_object_is_front_matter() -> None:
    front = split('{\n"title": "Trains",\n"tags": ["rail"]\n}\n\nBody')
    assert front.fields["title"] == "Trains"
    assert front.body.strip() == "Body"


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nThe first part.\n\n---\n\nThe second part.",
        "---\nThe first part stands right below the rule.\n---\n\nThe second part.",
        "---\nNote: this sentence has a colon in it.\n---\n\nMore.",
        "---\n- a list\n- between rules\n---\n\nMore.",
        "---\ntitle: never closed\n\nBody",
        "+++ not a fence\ntitle = 1",
        '{"data": 1}\n\nA file that starts with an object.',
        '{"title": "only an object"}',
        "{{< shortcode >}}\n\nBody",
        "----\ntitle: four dashes\n----\nBody",
    ],
)
def test_a_document_without_front_matter_loses_nothing(text: str) -> None:
    front = split(text)
    assert front.body == text
    assert not front.fields
    assert not front.warnings


@pytest.mark.parametrize(
    "text",
    [
        "---\n" + "[" * 16_000 + "\n---\nBody",
        '{"title": ' + "[" * 16_000,
        '{"title": ' + "9" * 10_000 + "}\n\nBody",
        "---\n!!python/object/apply:os.system ['x']\n---\nBody",
        "---\ntitle: &a [*a]\n---\nBody",
        "---\n? [a, b]\n: title\n---\nBody",
    ],
    ids=["deep yaml", "deep json", "long number", "python tag", "loop", "odd key"],
)
def test_hostile_front_matter_keeps_the_body(text: str) -> None:
    assert split(text).body.endswith(text[-4:])


@given(st.text("-+={}:. \nabt\"'[]&*", max_size=60))
def test_no_input_raises_and_the_end_is_kept(text: str) -> None:
    assert text.endswith(split(text).body)
