"""How long a text is, unit by unit, and what in it is one token."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from time import process_time
from typing import TYPE_CHECKING

import pytest
import regex
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.text._links import top_level_domains
from repurpose.text.counting import (
    MEASURES,
    code_points,
    grapheme_starts,
    graphemes,
    link_spans,
    mastodon_length,
    mention_spans,
    token_spans,
    unbreakable_spans,
    utf8_bytes,
    utf16_units,
    weighted_length,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


def found(text: str, spans: Callable[[str], list[tuple[int, int]]]) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # code points, UTF-16 units, UTF-8 bytes, graphemes, X
        ("", (0, 0, 0, 0, 0)),
        ("plain", (5, 5, 5, 5, 5)),
        ("Größe", (5, 5, 7, 5, 5)),
        ("Gro\u0308ße", (6, 6, 8, 5, 5)),
        ("a\r\nb", (4, 4, 4, 3, 4)),
        ("日本", (2, 2, 6, 2, 4)),
        ("\U0001f389", (1, 2, 4, 1, 2)),
        (FAMILY, (7, 11, 25, 1, 2)),
        ("\U0001f1f5\U0001f1f9", (2, 4, 8, 1, 2)),
        ("…", (1, 1, 3, 1, 2)),
        ("नमस्ते", (6, 6, 18, 3, 6)),
    ],
)
def test_each_unit_counts_its_own_thing(text: str, expected: tuple[int, ...]) -> None:
    counters = (code_points, utf16_units, utf8_bytes, graphemes, weighted_length)
    assert tuple(count(text) for count in counters) == expected


def test_the_measures_are_known_by_the_names_of_their_units() -> None:
    assert dict(MEASURES) == {
        "code_points": code_points,
        "utf16": utf16_units,
        "utf8_bytes": utf8_bytes,
        "graphemes": graphemes,
        "mastodon": mastodon_length,
        "x_weighted": weighted_length,
    }


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("Read https://example.com/" + "a" * 75, 5 + 23),
        ("http://a.org", 23),
        ("example.com/" + "a" * 20, 32),  # without a scheme it is no link there
        ("Ask @ana@social.example today", len("Ask @ana today")),
        ("Ask @ana today", 14),
        ("mail a@b@social.example", 23),
        (FAMILY * 3, 3),
        ("日本語", 3),
    ],
)
def test_mastodon_counts_graphemes_links_and_the_first_part_of_a_mention(
    text: str, length: int
) -> None:
    assert mastodon_length(text) == length


def test_mentions_are_not_what_addresses_end_in() -> None:
    text = "@ana, @bo@social.example and ＠chi, but not d@example.com, https://example.com/@eve"
    assert found(text, mention_spans) == ["@ana", "@bo@social.example", "＠chi"]
    assert mention_spans("nobody") == []


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("Read https://example.com/" + "a" * 75, 5 + 23),
        ("Read example.com today", 5 + 23 + 6),
        ("(example.com).", 1 + 23 + 2),
        ("mail me@example.com", 19),
        ("#example.com @example.com $example.com", 38),
        ("file.notatld", 12),
        ("見てexample.com。", 4 + 23 + 2),
        ("界" * 141, 282),
    ],
)
def test_x_counts_a_link_as_23_and_nothing_else_as_a_link(text: str, length: int) -> None:
    assert weighted_length(text) == length


@pytest.mark.parametrize(
    "emoji",
    [
        "\U0001f64b\U0001f3fd",  # a skin tone
        "1\ufe0f\u20e3",  # a keycap
        "1\u20e3",
        "\u00a9\ufe0f",  # a sign asked to be an emoji
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "\U0001f9d1\u200d\U0001f384",  # Emoji 13
        "\U0001f469\U0001f3fb\u200d\u2764\ufe0f\u200d\U0001f48b\u200d\U0001f468\U0001f3ff",
        "\U0001fae9",  # Emoji 16
    ],
)
def test_x_counts_any_emoji_as_2(emoji: str) -> None:
    assert weighted_length(emoji) == 2
    assert weighted_length(f"a{emoji}{emoji}b") == 6


def test_x_counts_a_sign_that_is_not_asked_to_be_an_emoji_as_a_letter() -> None:
    assert weighted_length("©®1#*") == 5


def test_an_endless_chain_of_joined_emoji_is_not_one_emoji() -> None:
    assert weighted_length("\u200d".join(["\U0001f431"] * 1000)) > 280


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("https://example.com/a_(b)_c, then", ["https://example.com/a_(b)_c"]),
        ("HTTPS://EXAMPLE.COM:8080/?q=1!", ["HTTPS://EXAMPLE.COM:8080/?q=1"]),
        ("one.example.com/x?y=z#frag.", ["one.example.com/x?y=z#frag"]),
        ("http://-bad.com http://bad-.com", []),
        ("http://exa_mple.com", []),
        ("http://bücher.example.de/Größe", ["http://bücher.example.de/Größe"]),
        ("ftp://example.com", []),
        ("https://192.168.0.1/x", []),
        (f"{'a' * 64}.com", []),
        (f"https://example.com/{'a' * 4100}", []),
        (f"https://t.co/{'a' * 41}", []),
        ("https://t.co/abc's page", ["https://t.co/abc"]),
        ("日本語example.com日本語", ["example.com"]),
        # The host is the whole run without a space, and a label holds 63 characters, encoded.
        ("長" * 60 + "example.com", []),
        ("長い文です。example.com", ["example.com"]),
    ],
)
def test_links_are_found_by_the_rules_of_x(text: str, links: list[str]) -> None:
    assert found(text, link_spans) == links


def test_tokens_end_before_the_punctuation_that_follows_them() -> None:
    text = "Ask @dr.smith, @me@social.example; mail a.b@example.org. See #AI_2! ftp://x.example/y."
    assert found(text, token_spans) == [
        "@dr.smith",
        "@me@social.example",
        "a.b@example.org",
        "#AI_2",
        "ftp://x.example/y",
    ]


def test_tokens_are_found_in_text_without_spaces() -> None:
    text = "请联系a@example.com或@acme看https://example.com/a。#话题"
    assert found(text, token_spans) == ["a@example.com", "@acme", "https://example.com/a", "#话题"]


@pytest.mark.parametrize(
    "number",
    ["12.5", "1,000", "1.000,50", "€1,000", "12.5%", "1\u202f000", "12万", "10:30", "３．５"],
)
def test_a_number_is_one_token_for_the_cutter(number: str) -> None:
    assert found(f"于{number}.", unbreakable_spans) == [number]


def test_a_no_break_space_alone_does_not_join_a_number_and_a_word() -> None:
    assert found("5\u00a0km and 10\u00a02026", unbreakable_spans) == ["5", "10", "2026"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab\r\n\u0301\u200d\U0001f1f5\U0001f469\U0001f3fdक्ष가"))
def test_grapheme_starts_and_graphemes_agree(text: str) -> None:
    starts = grapheme_starts(text)
    assert len(starts) == graphemes(text)
    assert starts[:1] == ([0] if text else [])
    assert starts == sorted(set(starts))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="a1\r\n\u0301\u200d\ufe0f\U0001f1f5\U0001f469\U0001f3fd\u0600\u1100가"))
def test_graphemes_are_those_of_the_unicode_rules(text: str) -> None:
    assert grapheme_starts(text) == [match.start() for match in regex.finditer(r"\X", text)]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab.:/@#-_http日é\u0301 \U0001f469\u200d"))
def test_x_counts_composed_and_decomposed_text_alike(text: str) -> None:
    assert weighted_length(text) == weighted_length(unicodedata.normalize("NFD", text))


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab.:/@#-_1,日 \u00a0("))
def test_spans_are_in_order_and_do_not_overlap(text: str) -> None:
    for spans in (link_spans(text), token_spans(text), unbreakable_spans(text)):
        flat = [offset for span in spans for offset in span]
        assert flat == sorted(flat)
        assert all(start < end for start, end in spans)


HOSTILE = {
    "dotted": "a." * 50_000,
    "no space": "x" * 100_000,
    "links": "https://example.com/a " * 10_000,
    "open brackets": "a.co/" + "(a" * 50_000,
    "addresses": "a.b@c.com" * 10_000,
    "at signs": "@a." * 33_000,
    "flags": "\U0001f1f5" * 100_000,
    "joined": "\U0001f469\u200d" * 50_000,
    "marks": "e" + "\u0323\u0301" * 50_000,
    "other hosts": "あ.中国" * 25_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_time_in_proportion_to_its_length(text: str) -> None:
    part = text[:20_000]
    began = process_time()
    for count in MEASURES.values():
        count(part)
    unbreakable_spans(part)
    assert process_time() - began < 1.0  # quadratic rules take seconds here


def test_counting_for_x_loads_no_network_package() -> None:
    code = (
        "import sys; from repurpose.text.counting import weighted_length;"
        "weighted_length('example.com');"
        "print(sorted({'requests', 'tldextract', 'nltk', 'sentencex'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.shared
def test_every_shared_platform_case_of_our_units_is_counted_right(shared: Path) -> None:
    table = yaml.safe_load((shared / "conformance/platform-limits.yaml").read_text("utf-8"))
    cases = [
        (case, MEASURES[unit])
        for case in table["cases"]
        if (unit := table["platforms"][case["platform"]]["unit"]) in MEASURES
    ]
    wrong = [
        case
        for case, measure in cases
        if measure(case["text"] * case.get("repeat", 1)) != case["expected_length"]
    ]
    assert len(cases) > 100
    assert wrong == []


@pytest.mark.shared
@pytest.mark.parametrize(
    "section",
    ["WeightedTweetsWithDiscountedEmojiCounterTest", "UnicodeDirectionalMarkerCounterTest"],
)
def test_the_counter_cases_of_twitter_text_hold(shared: Path, section: str) -> None:
    path = shared / "conformance/twitter-text/validate.yml"
    cases = yaml.safe_load(path.read_text("utf-8"))["tests"][section]
    wrong = [
        case["description"]
        for case in cases
        if weighted_length(case["text"]) != case["expected"]["weightedLength"]
    ]
    assert cases
    assert wrong == []


@pytest.mark.shared
@pytest.mark.parametrize("section", ["urls", "tco_urls_with_params"])
def test_the_link_cases_of_twitter_text_hold(shared: Path, section: str) -> None:
    path = shared / "conformance/twitter-text/extract.yml"
    cases = yaml.safe_load(path.read_text("utf-8"))["tests"][section]
    wrong = [c["description"] for c in cases if found(c["text"], link_spans) != c["expected"]]
    assert cases
    assert wrong == []


@pytest.mark.shared
@pytest.mark.parametrize("section", ["urls_with_indices", "urls_with_directional_markers"])
def test_the_link_offsets_of_twitter_text_hold(shared: Path, section: str) -> None:
    path = shared / "conformance/twitter-text/extract.yml"
    cases = yaml.safe_load(path.read_text("utf-8"))["tests"][section]
    wrong = [
        case["description"]
        for case in cases
        if link_spans(case["text"]) != [tuple(link["indices"]) for link in case["expected"]]
    ]
    assert cases
    assert wrong == []


@pytest.mark.shared
def test_hosts_of_every_top_level_domain_that_still_exists_are_links(shared: Path) -> None:
    """The list of twitter-text is of 2021; since then 137 domains were withdrawn or never came."""
    path = shared / "conformance/twitter-text/tlds.yml"
    sections = yaml.safe_load(path.read_text("utf-8"))["tests"].values()
    cases = [case for section in sections for case in section]
    wrong = [case["text"] for case in cases if found(case["text"], link_spans) != case["expected"]]
    gone = [text for text in wrong if text.rpartition(".")[2] not in top_level_domains()]
    assert len(cases) == 1574
    assert wrong == gone
    assert len(gone) <= 137
