"""Pages: the article, what the page declares, and nothing that a reader does not see."""

from __future__ import annotations

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.html import load

PARAGRAPHS = "".join(
    f"<p>Paragraph {number} tells how the library of the town opened in the evening, how many"
    f" people came, and what they said about the {number}00 books on the new shelf.</p>"
    for number in range(1, 6)
)
GERMAN = "".join(
    f"<p>Absatz {number} erzählt, wie die Bücherei am Abend öffnete, wie viele Menschen kamen"
    " und was sie über die neuen Bücher sagten.</p>"
    for number in range(1, 6)
)


def page(*, head: str = "", body: str = PARAGRAPHS, attributes: str = 'lang="en"') -> bytes:
    text = (
        f"<!doctype html><html {attributes}><head><meta charset='utf-8'>{head}</head><body>"
        f"<nav><a href='/'>Front page</a></nav><article>{body}</article>"
        "<footer>Cookie settings</footer></body></html>"
    )
    return text.encode()


def loaded(content: bytes) -> Source:
    return load(Raw("https://example.org/a", content))


def test_the_article_becomes_markdown_without_boilerplate() -> None:
    source = loaded(page(body=f"<h1>Late</h1>{PARAGRAPHS}<h2>Why?</h2><ul><li>One reason</ul>"))
    assert source.text.startswith("# Late\n\nParagraph 1 tells")
    assert "## Why?" in source.text
    assert "- One reason" in source.text
    assert "Front page" not in source.text
    assert "Cookie" not in source.text
    assert source.blocks[-1].headings == ("Late", "Why?")
    assert source.kind == "html"


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display:none">SECRET</div>',
        '<div style="DISPLAY : NONE !important">SECRET</div>',
        "<span hidden>SECRET</span>",
        '<span aria-hidden="true">SECRET</span>',
        '<span style="visibility:hidden">SECRET</span>',
        '<span style="opacity:0">SECRET</span>',
        '<span style="opacity: 0.0">SECRET</span>',
        '<span style="font-size:0px">SECRET</span>',
        '<span style="position:absolute;left:-9999px">SECRET</span>',
        '<p style="text-indent:-5000px">SECRET</p>',
        '<span style="color:#fff;background-color:white">SECRET</span>',
        '<span style="color:rgb(1, 2, 3);background:#010203">SECRET</span>',
        '<span style="color:transparent">SECRET</span>',
        '<span style="clip: rect(0, 0, 0, 0)">SECRET</span>',
        '<div style="height:0;overflow:hidden">SECRET</div>',
        "<template><p>SECRET</p></template>",
        "<noscript><p>SECRET</p></noscript>",
        "<textarea>SECRET</textarea>",
    ],
)
def test_hidden_parts_do_not_get_in_and_are_counted(hidden: str) -> None:
    source = loaded(page(body=f"{PARAGRAPHS}<p>Before {hidden} after.</p>{PARAGRAPHS}"))
    assert "SECRET" not in source.text
    assert "after." in source.text
    assert source.hidden == 1


@pytest.mark.parametrize(
    "unseen",
    [
        "<!-- SECRET -->",
        "<script>SECRET</script>",
        "<style>.a{content:'SECRET'}</style>",
        '<img src="a.png" alt="SECRET" title="SECRET">',
        '<a href="data:text/html,SECRET" title="SECRET" aria-label="SECRET">a link</a>',
    ],
)
def test_what_is_no_visible_text_does_not_get_in(unseen: str) -> None:
    source = loaded(page(body=f"{PARAGRAPHS}<p>Before {unseen} after.</p>{PARAGRAPHS}"))
    assert "SECRET" not in source.text


def test_readings_beside_characters_are_left_out() -> None:
    body = (
        "<p>"
        + "図書館は夕方に<ruby>開<rp>(</rp><rt>ひら</rt><rp>)</rp></ruby>きました。" * 9
        + "</p>"
    )
    source = loaded(page(body=body, attributes='lang="ja"'))
    assert "夕方に開きました。" in source.text
    assert "ひら" not in source.text


def test_a_page_that_a_script_would_have_shown_is_kept() -> None:
    assert "Paragraph 1" in loaded(page(body=f"<div style='opacity:0'>{PARAGRAPHS}</div>")).text


def test_colours_that_differ_are_visible() -> None:
    body = f"{PARAGRAPHS}<p style='color:#fff;background:#000'>White on black.</p>"
    assert "White on black." in loaded(page(body=body)).text


def test_structured_fields_count_before_meta_tags() -> None:
    head = (
        '<script type="application/ld+json">{"@graph": [{"@type": "WebPage", "headline": "No"},'
        '{"@type": "NewsArticle", "headline": "Late opening", "author": {"@id": "#1"},'
        '"datePublished": "2026-03-12T08:00:00+01:00"},'
        '{"@type": "Person", "@id": "#1", "name": "Ada Ek"}]}</script>'
        '<meta name="author" content="Somebody Else"><meta name="date" content="2020-01-01">'
        '<meta property="og:title" content="Another title">'
    )
    source = loaded(page(head=head))
    assert (source.title, source.author, source.date) == ("Late opening", "Ada Ek", "2026-03-12")


def test_meta_tags_fill_the_fields() -> None:
    head = (
        '<title>Late opening | The Courier</title><meta name="author" content="Ada Ek">'
        '<meta property="article:published_time" content="2026-03-12T08:00:00+01:00">'
        '<meta property="og:site_name" content="The Courier">'
        '<link rel="canonical" href="https://example.org/late">'
    )
    source = loaded(page(head=head))
    assert (source.title, source.author, source.date) == ("Late opening", "Ada Ek", "2026-03-12")
    assert source.url == "https://example.org/late"


def test_broken_structured_fields_are_passed_over() -> None:
    head = '<script type="application/ld+json">{"@type": "Article", </script><title>Late</title>'
    assert loaded(page(head=head)).title == "Late"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Late opening – The Courier", "Late opening"),
        ("Late opening · The Courier", "Late opening"),
        ("The Courier", "The Courier"),
        ("Late opening - at last", "Late opening - at last"),
    ],
)
def test_the_name_of_the_site_is_no_part_of_the_title(title: str, expected: str) -> None:
    head = f'<title>{title}</title><meta property="og:site_name" content="The Courier">'
    assert loaded(page(head=head)).title == expected


def test_what_the_page_does_not_declare_is_none() -> None:
    source = loaded(page(body=PARAGRAPHS + '<p><a href="/2019/04/30/older">An older story</a></p>'))
    assert (source.author, source.date, source.url) == (None, None, None)


@pytest.mark.parametrize(
    ("attributes", "head"),
    [
        ('lang="de-AT"', ""),
        ("", '<meta property="og:locale" content="de_AT">'),
        ("", '<meta http-equiv="content-language" content="de-AT">'),
    ],
)
def test_the_language_is_read_from_the_page(attributes: str, head: str) -> None:
    assert loaded(page(head=head, body=GERMAN, attributes=attributes)).language == "de-AT"


def test_a_template_in_another_language_does_not_decide() -> None:
    source = loaded(page(body=GERMAN, attributes='lang="en"'))
    assert source.language == "de"
    assert len(source.warnings) == 1


def test_the_character_set_is_read_from_a_meta_tag() -> None:
    content = page(body=GERMAN).replace(b"utf-8", b"iso-8859-1")
    assert "Bücherei" in loaded(content.decode().encode("cp1252")).text


def test_a_podcast_transcript_keeps_its_speakers() -> None:
    content = (
        b"<cite>Ann:</cite>\n<time>0:00</time>\n<p>Welcome, it&#39;s late.</p>\n"
        b"<cite>Bo</cite><time>0:09</time><p>Thanks for having me here.</p><p>Really.</p>"
        b"<time>0:20</time><p>Nobody named speaks this.</p>"
    )
    source = loaded(content)
    assert source.text == (
        "Ann: Welcome, it's late.\n\nBo: Thanks for having me here.\n\nReally.\n\n"
        "Nobody named speaks this."
    )
    assert source.title is None


def test_quotations_with_sources_are_no_transcript() -> None:
    body = "<blockquote><p>Words.</p><cite>Ann</cite></blockquote><p>More of it.</p>" * 9
    assert "Ann:" not in loaded(page(body=body)).text


def test_the_mark_of_a_heading_link_is_no_word() -> None:
    body = f'<h2>Why? <a href="#why">#</a></h2>{PARAGRAPHS}<h2>How? <a href="#how">¶</a></h2><p>So.'
    assert "¶" not in loaded(page(body=body)).text


def test_a_fragment_is_a_page_too() -> None:
    assert loaded(b"<p>Only one paragraph, without anything around it.</p>").text == (
        "Only one paragraph, without anything around it."
    )


@pytest.mark.parametrize(
    "content",
    [
        b"<html><body></body></html>",
        b"<html><body><script>var words = 1</script></body></html>",
        b"<html><body><div hidden>Nothing to see</div></body></html>",
        b"<" * 50 + b"x",
    ],
)
def test_a_page_without_text_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(content)
    assert caught.value.reason == "no-text"
    assert "\n" not in caught.value.message


def test_an_empty_page_is_empty() -> None:
    with pytest.raises(SourceError) as caught:
        loaded(b" \n")
    assert caught.value.reason == "empty"
