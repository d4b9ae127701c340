"""A composite as Markdown, HTML and JSON."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import import_module
from typing import Any

import pytest

from repurpose.core.composite import RENDERERS as NAMES
from repurpose.exports import RENDERERS
from repurpose.exports._composites import CompositeFacts
from repurpose.exports.composite_html import composite_html, fragment
from repurpose.exports.composite_json import composite_json
from repurpose.exports.composite_markdown import composite_markdown

FACTS = CompositeFacts(
    name="kit",
    title="How bees tell the way",
    origin="bees.md",
    run_id="run1",
    started_at="2026-05-02T08:00:00.000Z",
    provenance=("model m",),
    language="en",
)
HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>"


def section(name: str = "a", text: str = "", data: object = None, **more: Any) -> dict[str, Any]:
    return {
        "sectionName": name,
        "displayLabel": None,
        "textContent": text,
        "structuredData": data,
        "citations": [],
        **more,
    }


def payload(*sections: dict[str, Any], dropped: Any = ()) -> dict[str, Any]:
    return {
        "destination": "store",
        "widgetType": "markdown",
        "sections": list(sections),
        "dropped": list(dropped),
    }


WHOLE = payload(
    section("summary", "Bees dance.", {"sentences": ["Bees dance."]}, displayLabel="Summary"),
    section(
        "questions",
        "Q: Why do bees dance?\nA: To tell the way.\n\nNo advice.",
        {"pairs": [{"question": "Why do bees dance?", "answer": "To tell the way."}]},
        displayLabel="Questions",
        citations=[{"text": "Bees dance", "start": 0, "end": 10, "label": "The dance"}],
    ),
    section(
        "mail",
        "Subject: Dancing bees\nPreheader: The way\n\nFirst.\n\nSecond.\n\nRead on.",
        {
            "subject": "Dancing bees",
            "preheader": "The way",
            "paragraphs": ["First.", "Second."],
            "callToAction": "Read on.",
        },
    ),
    dropped=[{"sectionName": "x", "reason": "social has no post for x in this run"}],
)


class Checker(HTMLParser):
    """Opens and closes as HTML does; remembers what a page must not have."""

    VOID = frozenset({"meta", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def headings(markdown: str) -> list[str]:
    return re.findall(r"^#{1,6} .*$", markdown, re.MULTILINE)


def renderer(name: str) -> Any:
    module, _, function = RENDERERS[name].partition(":")
    return getattr(import_module(module), function)


def test_there_is_one_renderer_for_each_name_that_a_composite_may_give() -> None:
    assert tuple(RENDERERS) == NAMES
    assert len({id(renderer(name)) for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_equal_payloads_give_equal_texts_that_end_their_last_line(name: str) -> None:
    written = renderer(name)(WHOLE, FACTS)
    assert written == renderer(name)(json.loads(json.dumps(WHOLE)), FACTS)  # noqa: TID251 - our own payload
    assert written.endswith("\n")
    assert not written.endswith("\n\n")


@pytest.mark.parametrize("name", NAMES)
def test_a_composite_without_sections_can_be_written(name: str) -> None:
    assert renderer(name)(payload(), FACTS)


def test_json_is_the_payload() -> None:
    assert json.loads(composite_json(WHOLE, FACTS)) == WHOLE  # noqa: TID251 - our own output


def test_markdown_has_each_section_under_its_label_or_else_its_name() -> None:
    assert headings(composite_markdown(WHOLE, FACTS)) == [
        "# How bees tell the way",
        "## Summary",
        "## Questions",
        "### Why do bees dance?",
        "## mail",
    ]


def test_markdown_tells_origin_writer_run_citations_and_what_was_left_out() -> None:
    lines = composite_markdown(WHOLE, FACTS).splitlines()
    assert lines[2] == "Source: bees.md · model m · run run1 · 2026-05-02T08:00:00.000Z"
    assert "From the source: The dance" in lines
    assert lines[-1] == "> **Left out:** x: social has no post for x in this run"


def test_a_faq_keeps_what_stands_below_it_and_a_newsletter_its_parts() -> None:
    written = composite_markdown(WHOLE, FACTS)
    assert "To tell the way.\n\nNo advice.\n" in written
    assert "**Subject:** Dancing bees\n\n**Preheader:** The way\n\nFirst.\n\nSecond." in written
    assert "**Call to action:** Read on." in written


def test_a_text_that_somebody_changed_is_shown_and_not_its_old_parts() -> None:
    pairs = {
        "pairs": [{"question": "Why?", "answer": "So."}, {"question": "How?", "answer": "By."}]
    }
    changed = "Q: Why?\nA: So.\n\nA paragraph that an editor wrote.\n\nQ: How?\nA: By."
    for text in (changed, "Only this."):
        written = composite_markdown(payload(section("q", text, pairs)), FACTS)
        assert text in written
        assert headings(written) == ["# How bees tell the way", "## q"]


@pytest.mark.parametrize(
    ("data", "markdown", "html"),
    [
        (
            {"title": "Bees", "score": 1.5},
            "- **title:** Bees\n- **score:** 1.5",
            '<dt>title</dt><dd dir="auto">Bees</dd>',
        ),
        (["one", "two"], "- one\n- two", '<li dir="auto">one</li>'),
        (
            {"a": {"b": ["ü"]}},
            '    {"a":{"b":["ü"]}}',
            '<pre><code>{"a":{"b":["ü"]}}</code></pre>',
        ),
        (None, "(no content)", "<p>(no content)</p>"),
        ({}, "(no content)", "<p>(no content)</p>"),
        ([], "(no content)", "<p>(no content)</p>"),
    ],
)
def test_fields_are_shown_by_their_shape_only_where_there_is_no_text(
    data: object, markdown: str, html: str
) -> None:
    empty, full = payload(section("a", "", data)), payload(section("a", "Text.", data))
    assert f"## a\n\n{markdown}\n" in composite_markdown(empty, FACTS)
    assert html in composite_html(empty, FACTS)
    assert "## a\n\nText.\n" in composite_markdown(full, FACTS)
    assert html not in composite_html(full, FACTS)


@pytest.mark.parametrize(
    ("citation", "place"),
    [
        ({"label": "Costs", "title": "T", "id": "1"}, "Costs"),
        ({"label": None, "title": "T", "id": "1"}, "T"),
        ({"id": "1"}, "1"),
        ({"text": "word " * 40}, "“" + ("word " * 12).rstrip() + "…”"),
    ],
)
def test_a_citation_is_shown_by_label_else_title_else_id(
    citation: dict[str, Any], place: str
) -> None:
    cited = payload(section("a", "Text.", citations=[citation, citation]))
    assert f"From the source: {place}\n" in composite_markdown(cited, FACTS)
    assert f'<p class="places">From the source: {place}</p>' in composite_html(cited, FACTS)


def test_no_text_can_add_a_heading_or_swallow_one() -> None:
    bad = "# Mine\n\n```\n<!--\nTitle\n==="
    sections = [
        section("one", bad, displayLabel="# x"),
        section("two", "", {"# k": bad}),
        section("three", "", ["# item", "```"]),
        section("four", "Text.", citations=[{"label": "# y"}]),
        section("five", "End."),
    ]
    written = composite_markdown(payload(*sections), FACTS)
    assert headings(written) == [
        "# How bees tell the way",
        "## # x",
        "## two",
        "## three",
        "## four",
        "## five",
    ]
    assert not re.search(
        r"^(?:- )?(?:```|<!--|===|# )", written.partition("## # x")[2], re.MULTILINE
    )


def test_html_is_one_whole_document_without_script_or_request() -> None:
    written = composite_html(WHOLE, FACTS)
    page = Checker(written)
    assert written.startswith("<!DOCTYPE html>\n")
    assert '<html lang="en">' in written
    assert not {"script", "link", "img", "iframe", "a"} & set(page.seen)
    assert not {"src", "href", "style"} & page.attributes
    assert not re.search(r"url\(|@import", written)
    assert "prefers-color-scheme: dark" in written
    assert page.seen.count("h1") == 1
    assert page.seen.count("h2") == 4


def test_no_text_can_become_markup() -> None:
    facts = CompositeFacts(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, (HOSTILE,), HOSTILE)
    hostile = payload(
        section(HOSTILE, HOSTILE, citations=[{"label": HOSTILE}]),
        section("b", "", {HOSTILE: HOSTILE}),
        section("c", "", [HOSTILE]),
        section("d", "", {"a": {"b": HOSTILE}}),
        section("e", f"Q: {HOSTILE}\nA: x", {"pairs": [{"question": HOSTILE, "answer": "x"}]}),
        dropped=[{"sectionName": HOSTILE, "reason": HOSTILE}],
    )
    written = composite_html(hostile, facts)
    page = Checker(written)
    assert not {"script", "img"} & set(page.seen)
    assert page.attributes == {"lang", "charset", "http-equiv", "content", "name", "class", "dir"}
    assert "<script" not in written
    assert 'lang="und"' in written
    assert page.text.count("alert(1)") >= 8


def test_html_keeps_paragraphs_and_lines_and_drops_control_characters() -> None:
    written = composite_html(payload(section("a", "One\r\ntwo\n \nthree\x00\x1b & four")), FACTS)
    assert '<p dir="auto">One<br>\ntwo</p>\n<p dir="auto">three &amp; four</p>' in written


def test_the_fragment_is_what_the_document_holds() -> None:
    assert fragment(WHOLE).strip() in composite_html(WHOLE, FACTS)
    assert fragment(WHOLE, FACTS) == fragment(WHOLE)
    assert "<h1" not in fragment(WHOLE)
