"""RTF: words in any code page, with the structure that word processors save."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.rtf import load

STYLES = r"{\stylesheet{\ql Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\s9 Title;}}"


def loaded(body: str, *, head: str = STYLES) -> Source:
    return load(
        Raw("a.rtf", (r"{\rtf1\ansi\ansicpg1252\uc1 " + head + body + "}").encode("cp1252"))
    )


def reason_for(content: bytes) -> str:
    with pytest.raises(SourceError) as caught:
        load(Raw("a.rtf", content))
    assert "\n" not in caught.value.message
    return caught.value.reason


def test_paragraphs_and_signs_are_read() -> None:
    source = loaded(r"{\b Late} opening\emdash every\~day\par Ends at 9\'a4 \{net\}\line or so\par")
    assert source.text == "Late opening—every day\n\nEnds at 9¤ {net}\nor so"
    assert source.kind == "rtf"


def test_headings_are_known_by_style_and_by_outline_level() -> None:
    source = loaded(
        r"\pard\s9 Report\par\pard\s2 Why\par\pard Because.\par"
        r"\pard\outlinelevel2 Third\par\pard Words.\par"
    )
    assert [one.level for one in source.blocks] == [1, 2, 0, 3, 0]
    assert source.blocks[-1].headings == ("Report", "Why", "Third")


@pytest.mark.parametrize(
    ("fonts", "body", "expected"),
    [
        (r"{\fonttbl{\f0\fcharset128 Mincho;}}", r"\f0 \'83e\'83X\'83g", "テスト"),
        (r"{\fonttbl{\f0\fcharset238 Arial CE;}}", r"\f0 \'9elu\'9dou\'e8k\'fd", "žluťoučký"),
        (r"{\fonttbl{\f3\cpg1251 Arial;}}", r"{\f3 \'cf\'f0\'e8}vet", "Приvet"),
        (r"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset161 B;}}", r"\f0 caf\'e9 \f1 \'e1", "café α"),
        (r"\ansicpg932 ", r"\'82\'b1\'82\'f1", "こん"),
    ],
)
def test_each_font_is_decoded_in_its_character_set(fonts: str, body: str, expected: str) -> None:
    assert loaded(rf"{body}\par", head=fonts).text == expected


def test_characters_by_number_replace_what_stands_in_for_them() -> None:
    assert loaded(r"na\u239\'3fve \uc2\u8364 EU5 {\uc0\u-10179\u-8704}!\par").text == "naïve €5 😀!"


def test_hidden_and_deleted_text_does_not_get_in_and_is_counted() -> None:
    source = loaded(r"Open{\v SECRET} late{\deleted SECRET}.\v SECRET\v0  Yes.\v\par\v0 No.\par")
    assert source.text == "Open late. Yes.\n\nNo."
    assert source.hidden == 3
    assert source.warnings == ("hidden text was left out: 3 pieces",)


@pytest.mark.parametrize(
    "aside",
    [
        r"{\header SECRET\par}",
        r"{\*\annotation SECRET}",
        r"{\*\unknownword SECRET {\b SECRET}}",
        r"{\pict\pngblip 534543524554}",
        r"{\pict\bin6 SECRET}",
        r"{\field{\*\fldinst HYPERLINK " + '"https://example.org/SECRET"}{' + r"\fldrslt }}",
        r"{\*\bkmkstart SECRET}",
        r"{\info{\comment SECRET}{\keywords SECRET}}",
        r"{\header{\*\shpinst{\shptxt SECRET}}}",
    ],
)
def test_what_is_no_text_of_the_document_does_not_get_in(aside: str) -> None:
    assert loaded(rf"Before {aside}and after.\par").text == "Before and after."


def test_links_keep_their_words_and_text_boxes_theirs() -> None:
    source = loaded(
        r'See {\field{\*\fldinst HYPERLINK "https://example.org"}{\fldrslt our page}}.\par'
        r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt In the box.\par}}"
        r"{\shprslt In the box.}}\par"
    )
    assert source.text == "See our page.\n\nIn the box."


def test_lists_keep_their_numbers() -> None:
    source = loaded(
        r"{\listtext\'b7\tab}Doors\par{\listtext\'b7\tab}Lamps\par\pard Then:\par"
        r"{\pntext 3.\tab}Three\par{\pntext 4.\tab}Four\par{\listtext a)\tab}Letters\par"
    )
    assert source.text == "- Doors\n- Lamps\n\nThen:\n\n3. Three\n4. Four\n\n- a) Letters"


def test_tables_become_tables() -> None:
    source = loaded(
        r"\trowd\intbl Day\cell Visits\cell\row\trowd\intbl Mon\cell 4|5\par 6\cell\row"
        r"\pard Words after.\par"
    )
    assert source.text == ("| Day | Visits |\n| --- | --- |\n| Mon | 4\\|5 6 |\n\nWords after.")


def test_footnotes_stand_at_the_end() -> None:
    source = loaded(r"Bees fly{\footnote\pard\plain At noon.\par} far.\par Always.\par")
    assert source.text == "Bees fly[1] far.\n\nAlways.\n\n\\[1] At noon." or (
        source.text == "Bees fly[1] far.\n\nAlways.\n\n[1] At noon."
    )


def test_the_fields_of_the_file_are_read() -> None:
    source = loaded(
        r"Words.\par",
        head=r"{\info{\title Sp\'e4te Stunden}{\author Ada Ek}{\creatim\yr2026\mo3\dy12\hr8}}",
    )
    assert (source.title, source.author, source.date) == ("Späte Stunden", "Ada Ek", "2026-03-12")


@pytest.mark.parametrize(
    "head", ["", r"{\info{\title Document1}{\author admin}{\creatim\yr0\mo0\dy0}}"]
)
def test_what_the_file_does_not_say_is_none(head: str) -> None:
    source = loaded(r"Words.\par", head=head)
    assert (source.title, source.author, source.date, source.url) == (None, None, None, None)


def test_a_file_that_is_cut_short_is_read_as_far_as_it_goes() -> None:
    source = load(Raw("a.rtf", rb"{\rtf1\ansi Before.\par {\b And the la"))
    assert source.text == "Before.\n\nAnd the la"
    assert source.warnings == ("the file is cut short; its end is missing",)


def test_what_follows_the_document_does_not_get_in() -> None:
    assert load(Raw("a.rtf", rb"{\rtf1 Words.\par}SECRET")).text == "Words."


def test_text_that_looks_like_structure_stays_text() -> None:
    assert loaded(r"# 9 of 10\par 1. FC Nord\par").text == "\\# 9 of 10\n\n1\\. FC Nord"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \r\n", "empty"),
        (b"{\\html1 words}", "corrupt"),
        (b"{\\rtf1" + b"{" * 6_000 + b"words", "corrupt"),
        (b"{\\rtf1\\ansi}", "no-text"),
        (b"{\\rtf1{\\pict 0123456789}}", "no-text"),
        (b"{\\rtf1 " + b"x" * 20_000_001, "too-large"),
    ],
)
def test_what_holds_no_readable_text_is_refused(content: bytes, reason: str) -> None:
    assert reason_for(content) == reason


@pytest.mark.parametrize(
    "piece",
    [
        r"{\field{\*\fldinst{HYPERLINK ",
        r"\u99999999 \u-9999999999 \uc999999999 ",
        r"{\fonttbl{\f1\fcharset99999;}}\f1 ",
        r"\ansicpg-7 \ansicpg65000 \'",
        r"\bin9999999999 ",
        r"\cell\row\intbl",
        r"}{",
        r"{\v a}",
        r"{\footnote a}",
        r"\'83",
    ],
)
def test_hostile_files_are_read_or_refused_in_time(piece: str) -> None:
    start = time.perf_counter()
    with contextlib.suppress(SourceError):
        load(Raw("a.rtf", rb"{\rtf1\ansi words\par " + piece.encode() * 2_000))
    assert time.perf_counter() - start < 2


@settings(max_examples=60)
@given(st.text(alphabet="\\{}'*;ab019 \n", max_size=80), st.integers(0, 200))
def test_no_damage_is_an_error_of_ours(piece: str, place: int) -> None:
    body = STYLES + r"{\fonttbl{\f0\fcharset128 M;}}\f0 \'83e\u9731 x{\footnote n}\cell\row\par"
    content = r"{\rtf1\ansi " + body[:place] + piece + body[place:]
    with contextlib.suppress(SourceError):
        load(Raw("a.rtf", content.encode()))
