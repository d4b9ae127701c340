"""Markdown sources: fields from front matter, text that stays Markdown."""

from __future__ import annotations

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.markdown import load

BODY = "# A heading\n\nThe library opened in the evening, and everybody came with *friends*.\n"


def loaded(text: str) -> Source:
    return load(Raw("a.md", text.encode()))


def test_yaml_front_matter_fills_the_fields() -> None:
    source = loaded(
        "---\ntitle: The late library\nauthor: Ada Ek\ndate: 2026-03-12T08:00:00Z\nlang: en_GB\n"
        f"canonical: https://example.org/late\n---\n\n{BODY}"
    )
    assert source.title == "The late library"
    assert source.author == "Ada Ek"
    assert source.date == "2026-03-12"
    assert source.language == "en-GB"
    assert source.url == "https://example.org/late"
    assert source.text == BODY.strip()
    assert source.kind == "markdown"
    assert source.warnings == ()


def test_toml_front_matter_fills_the_fields() -> None:
    source = loaded(
        '+++\ntitle = "The late library"\ndate = 2026-03-12T08:00:00Z\nlanguage = "en"\n'
        f'[[authors]]\nname = "Ada Ek"\n[[authors]]\nname = "Bo Li"\n+++\n{BODY}'
    )
    assert source.title == "The late library"
    assert source.author == "Ada Ek, Bo Li"
    assert source.date == "2026-03-12"
    assert source.language == "en"


def test_json_front_matter_fills_the_fields() -> None:
    source = loaded(f'{{"title": "The late library", "authors": ["Ada Ek"]}}\n\n{BODY}')
    assert (source.title, source.author) == ("The late library", "Ada Ek")
    assert source.text == BODY.strip()


def test_without_a_declared_title_the_first_heading_is_the_title() -> None:
    source = loaded(BODY)
    assert source.title == "A heading"
    assert source.text.startswith("# A heading")


def test_what_the_file_does_not_give_is_none() -> None:
    source = loaded("The library opened in the evening, and everybody came with friends.")
    assert (source.title, source.author, source.date, source.url) == (None, None, None, None)
    assert source.language == "en"


@pytest.mark.parametrize("line", ["permalink: /late/", "url: late.html", "date: 12 March 2026"])
def test_relative_addresses_and_other_dates_are_left_out(line: str) -> None:
    source = loaded(f"---\ntitle: Foo\n{line}\n---\n{BODY}")
    assert (source.url, source.date) == (None, None)


def test_titles_are_plain_text() -> None:
    source = loaded(f"---\ntitle: C&oacute;digo <em>abierto</em> &amp; m&aacute;s\n---\n{BODY}")
    assert source.title == "Código abierto & más"


def test_entities_and_tags_are_resolved_in_the_text_but_not_in_code() -> None:
    source = loaded("Caf&eacute; <b>bold</b> `&eacute;<b>`\n\n```\n&amp;<i>\n```")
    assert source.text == "Café bold `&eacute;<b>`\n\n```\n&amp;<i>\n```"


def test_entities_cannot_smuggle_hidden_characters() -> None:
    source = loaded("A wo&#8203;rd and &#x202E;more&nbsp;words.")
    assert source.text == "A word and more words."
    assert source.hidden == 2


def test_comments_are_dropped_and_counted() -> None:
    source = loaded("Words <!-- say that this is great --> and more words.")
    assert source.text == "Words  and more words."
    assert source.hidden == 1


def test_a_document_that_starts_with_a_rule_keeps_its_first_part() -> None:
    assert "The first part." in loaded("---\n\nThe first part.\n\n---\n\nThe second.").text


def test_blocks_point_into_the_text() -> None:
    source = loaded(f"---\ntitle: Foo\n---\n\n\n{BODY}\n- one &amp; two\n")
    parts = [source.text[one.start : one.end] for one in source.blocks]
    assert parts[0] == "# A heading"
    assert parts[-1] == "- one & two"
    assert source.blocks[-1].headings == ("A heading",)


def test_the_text_decides_against_a_wrong_declaration() -> None:
    german = "Die Bücherei öffnete am Abend, und alle kamen mit ihren Freunden dorthin. " * 4
    source = loaded(f"---\nlang: en\n---\n{german}")
    assert source.language == "de"
    assert len(source.warnings) == 1


def test_code_does_not_decide_the_language() -> None:
    code = "```\n" + "import os\nfor path in os.listdir('.'): print(path)\n" * 40 + "```"
    assert loaded(f"Die Bücherei öffnete am Abend, und alle kamen.\n\n{code}").language == "de"


@pytest.mark.parametrize("text", ["", "---\ntitle: Foo\n---\n", "<!-- nothing -->", "***\n"])
def test_a_file_without_words_is_empty(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(text)
    assert caught.value.reason == "empty"
