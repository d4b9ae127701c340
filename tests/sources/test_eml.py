"""Mails: what their author wrote, and nothing that a program put around it."""

from __future__ import annotations

import base64
import contextlib
import time
from email.message import EmailMessage

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources.base import Raw
from repurpose.sources.eml import load

HEAD = b"From: Ada Ek <ada@example.org>\r\nSubject: Late opening\r\n"


def loaded(content: bytes | EmailMessage) -> Source:
    return load(Raw("a.eml", content if isinstance(content, bytes) else content.as_bytes()))


def plain(body: str, *, subject: str = "Late opening", head: str = "") -> Source:
    text = (
        f"From: Ada Ek <ada@example.org>\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n{head}"
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n"
    )
    return loaded((text + body.replace("\n", "\r\n")).encode())


def html(body: str, *, subject: str = "Late opening") -> Source:
    message = EmailMessage()
    message["From"] = "Ada Ek <ada@example.org>"
    message["Subject"] = subject
    message.set_content("Open this mail in a browser.")
    message.add_alternative(f"<html><body>{body}</body></html>", subtype="html")
    return loaded(message)


def reason_for(content: bytes) -> str:
    with pytest.raises(SourceError) as caught:
        loaded(content)
    assert "\n" not in caught.value.message
    return caught.value.reason


def test_the_headers_fill_the_fields() -> None:
    source = loaded(
        b"From: =?utf-8?q?J=C3=BCrgen?= Gro <j@example.org>\n"
        b"Subject: =?iso-8859-1?Q?Sp=E4te?= Stunden\nDate: Thu, 12 Mar 2026 23:30:00 -0800\n"
        b"Content-Language: de-AT, en\n\n"
        b"Die Stadt hat ihre Bibliothek am Abend lange offen gehalten.\n"
    )
    assert (source.title, source.author) == ("Späte Stunden", "Jürgen Gro")
    assert (source.date, source.language, source.kind) == ("2026-03-12", "de-AT", "eml")


def test_what_the_headers_do_not_say_is_none() -> None:
    source = loaded(b"From: ada@example.org\nDate: soon\n\nThe library was open late.\n")
    assert (source.title, source.author, source.date, source.url) == (None, None, None, None)


@pytest.mark.parametrize("prefix", ["Re: ", "AW: Re: ", "Fwd: ", "RE[2]: ", "WG: "])
def test_marks_of_answers_are_no_part_of_the_title(prefix: str) -> None:
    assert plain("Words.", subject=f"{prefix}Late opening").title == "Late opening"


def test_html_is_preferred_and_hidden_parts_do_not_get_in() -> None:
    source = html(
        "<div style='display:none;max-height:0'>SECRET preview</div><h1>Late</h1>"
        "<p>It was open.</p><img src='https://example.org/SECRET.gif' width=1 height=1>"
    )
    assert source.text == "# Late\n\nIt was open."
    assert source.hidden == 1


def test_plain_text_is_read_where_the_html_holds_none() -> None:
    source = html("<img src='cid:1' alt='picture'>")
    assert source.text == "Open this mail in a browser."


def test_a_mail_laid_out_with_tables_is_read_in_order() -> None:
    source = html(
        "<table><tr><td><table><tr><td>One</td></tr></table></td></tr>"
        "<tr><td><h2>Two</h2><p>Three</p></td></tr></table>"
    )
    assert source.text == "One\n\n## Two\n\nThree"


def test_flowed_lines_are_joined_but_not_the_mark_of_a_signature() -> None:
    source = plain(
        "One line \nthat flows \non.\nAnother.\n \n From here.\n-- \nAda\n",
        head="Content-Type: text/plain; charset=utf-8; format=flowed\r\nX-Ignored: ",
    )
    assert source.text == "One line that flows on.\nAnother.\n\nFrom here."


def test_deleted_spaces_join_words() -> None:
    text = (
        HEAD + b"Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes\r\n\r\n"
        b"Biblio \r\nthek\r\n"
    )
    assert loaded(text).text == "Bibliothek"


def test_a_signature_is_left_out() -> None:
    assert plain("It was open.\n\n-- \nAda Ek\nTown library\n").text == "It was open."


def test_a_rule_in_the_middle_of_a_long_mail_is_no_signature() -> None:
    body = "Before.\n--\n" + "A line of news.\n" * 30
    assert "A line of news." in plain(body).text


@pytest.mark.parametrize(
    "attribution",
    [
        "On 12 May 2026, at 09:30, Bo Ask <bo@example.org> wrote:",
        "On Tue, 12 May 2026 at 09:30, Bo Ask\n<bo@example.org> wrote:",
        "Am 12.05.2026 um 09:30 schrieb Bo Ask:",
        "Le 12 mai 2026 à 09:30, Bo Ask a écrit :",
        "El 12 may 2026, Bo Ask escribió:",
        "2026-05-12 09:30 GMT+02:00 Bo Ask <bo@example.org> wrote:",
    ],
)
def test_a_quoted_mail_is_left_out_with_the_line_above_it(attribution: str) -> None:
    body = f"Yes, at ten.\n\n{attribution}\n\n> When do you open?\n> Bo\n"
    assert plain(body, subject="Re: Late opening").text == "Yes, at ten."


def test_answers_between_the_quoted_lines_stay() -> None:
    body = "Bo Ask <bo@example.org> wrote:\n> When?\nAt ten.\n> And where?\nIn the hall.\n"
    assert plain(body, subject="Re: Questions").text == "At ten.\nIn the hall."


def test_a_quotation_in_a_mail_that_answers_nothing_stays() -> None:
    source = plain("She wrote:\n\n> We were open.\nThen she left.\n")
    assert "> We were open." in source.text
    assert [one.kind for one in source.blocks] == ["paragraph", "quote", "paragraph"]


@pytest.mark.parametrize(
    "earlier",
    [
        "-----Original Message-----\nFrom: Bo\nHello",
        "_______________\nFrom: Bo Ask\nSent: Monday\nTo: Ada\nSubject: Hours\n\nHi",
        "Von: Bo Ask\nGesendet: Montag\nAn: Ada\nBetreff: Zeiten\n\nHallo",
    ],
)
def test_an_earlier_mail_below_its_headers_is_left_out(earlier: str) -> None:
    assert plain(f"Yes, at ten.\n\n{earlier}\n").text == "Yes, at ten."


@pytest.mark.parametrize(
    "quoted",
    [
        "<div class='gmail_quote'>On Monday Bo wrote:<blockquote>SECRET</blockquote></div>",
        "<div>On 12 May 2026, Bo wrote:</div><blockquote type='cite'>SECRET</blockquote>",
        "<hr><div id='divRplyFwdMsg'>From: Bo</div><div>SECRET</div>",
        "<p>From: Bo<br>Sent: Monday<br>To: Ada<br>Subject: Hours</p><p>SECRET</p>",
        "<div class='moz-signature'>-- <br>SECRET</div>",
        "<div class='gmail_signature'>SECRET</div>",
    ],
)
def test_what_mail_programs_mark_as_quoted_or_signed_is_left_out(quoted: str) -> None:
    assert html(f"<p>Yes, at ten.</p>{quoted}").text == "Yes, at ten."


def test_what_newsletters_say_of_themselves_is_left_out() -> None:
    source = html(
        "<p>View this mail in your browser</p><p>How to unsubscribe from meetings: do not go.</p>"
        "<p>More soon.</p><p><a href='https://example.org/x'>Unsubscribe</a></p>"
    )
    assert source.text == "How to unsubscribe from meetings: do not go.\n\nMore soon."


def test_quotations_of_the_author_stay() -> None:
    assert html("<p>She said:</p><blockquote>Open late.</blockquote>").text == (
        "She said:\n\n> Open late."
    )


def test_a_forwarded_mail_is_read_whole() -> None:
    body = "See below.\n\nFrom: Bo\nSent: Monday\nSubject: Hours\n\nThe hours are new.\n"
    assert "The hours are new." in plain(body, subject="Fwd: Hours").text


def test_a_mail_that_is_nothing_but_a_quotation_is_read_whole() -> None:
    assert "When" in plain("> When do you open?\n", subject="Re: Hours").text


def test_attachments_are_named_and_not_read() -> None:
    message = EmailMessage()
    message["From"] = "Ada Ek <ada@example.org>"
    message.set_content("See the lists.")
    for name in ("a.txt", "b.txt"):
        message.add_attachment("SECRET words of a list", filename=name)
    source = loaded(message)
    assert source.text == "See the lists."
    assert source.warnings == ("2 attachments were not read: a.txt, b.txt",)


def test_many_attachments_are_counted() -> None:
    message = EmailMessage()
    message["From"] = "Ada Ek <ada@example.org>"
    message.set_content("See the pictures.")
    for number in range(7):
        message.add_attachment(
            b"\x89PNG", maintype="image", subtype="png", filename=f"{number}.png"
        )
    assert loaded(message).warnings == (
        "7 attachments were not read: 0.png, 1.png, 2.png, 3.png, 4.png and 2 more",
    )


def test_an_attached_mail_is_named_and_read_where_there_is_nothing_else() -> None:
    inner = EmailMessage()
    inner["Subject"] = "Hours"
    inner["From"] = "Bo <bo@example.org>"
    inner.set_content("The hours are new.")
    for note, expected in (("See this.", "See this."), ("", "The hours are new.")):
        outer = EmailMessage()
        outer["From"] = "Ada Ek <ada@example.org>"
        outer.set_content(note)
        outer.add_attachment(inner)
        source = loaded(outer)
        assert source.text == expected
        assert bool(source.warnings) == bool(note)


@pytest.mark.parametrize(
    "kind",
    [
        'multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b',
        'application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"',
    ],
)
def test_an_encrypted_mail_is_refused_as_that(kind: str) -> None:
    body = b"\r\n\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\nxyz\r\n--b--\r\n"
    assert reason_for(HEAD + b"Content-Type: " + kind.encode() + body) == "encrypted"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b" \r\n\r\n", "empty"),
        (bytes(range(256)) * 9, "corrupt"),
        (b"no header at all", "corrupt"),
        (HEAD + b"\r\n\r\n", "no-text"),
        (HEAD + b"Content-Type: image/png\r\n\r\nwords", "no-text"),
        (HEAD + b"x" * 20_000_001, "too-large"),
        (HEAD + b"boundary\n" * 20_000, "too-large"),
    ],
)
def test_what_is_no_mail_with_text_is_refused(content: bytes, reason: str) -> None:
    assert reason_for(content) == reason


def test_a_wrong_character_set_does_not_lose_the_text() -> None:
    for declared in (b"x-unknown", b"us-ascii", b'"', b"utf-16"):
        content = HEAD + b"Content-Type: text/plain; charset=" + declared + b"\r\n\r\n"
        assert "Bücherei" in loaded(content + "Die Bücherei war offen.".encode()).text


def test_bare_latin_1_in_a_header_is_read() -> None:
    content = "From: Jürgen <j@example.org>\nSubject: Späte Stunden\n\nWords.".encode("cp1252")
    source = loaded(content)
    assert (source.title, source.author) == ("Späte Stunden", "Jürgen")


def test_a_part_of_garbage_costs_that_part_only() -> None:
    content = (
        HEAD + b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nThe hall was open.\r\n"
        b"--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n"
        + base64.b64encode(bytes(range(256)) * 9)
        + b"\r\n--b--\r\n"
    )
    source = loaded(content)
    assert source.text == "The hall was open."
    assert source.warnings == ("a part of this mail holds no readable text and was left out",)


def test_text_that_looks_like_structure_stays_text_and_typed_lists_stay_lists() -> None:
    source = plain("Agenda:\n\n- Doors\n- Lamps\n\n# 9 is new\n\n    Indented words\n")
    assert [one.kind for one in source.blocks] == ["paragraph", "list", "list"] + ["paragraph"] * 2
    assert "\\# 9 is new" in source.text


def test_a_header_cannot_smuggle_lines_into_the_fields() -> None:
    source = loaded(b"From: =?utf-8?q?Ada=0ABcc:_x?= <a@b.c>\nSubject: A=?utf-8?q?=0D=0AB?=\n\nHi.")
    assert "\n" not in f"{source.title}{source.author}"


@pytest.mark.parametrize(
    "content",
    [
        HEAD.replace(b"Ada", b"(" * 100_000),
        HEAD.replace(b"Ada", b'"<@' * 100_000),
        HEAD.replace(b"Late", b"=?utf-8?q?x?=" * 50_000),
        HEAD + b"Content-Type: text/plain" + b'; a="\\\\' * 50_000,
        HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n" * 2_000,
        b"".join(
            HEAD + b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (one, one)
            for one in range(250)
        ),
        HEAD + b"Content-Type: message/rfc822\n\n" * 3_000 + b"words",
        HEAD + b"\n" + b"On wrote wrote wrote 1 wrote:\n" * 5_000 + b"> x",
        HEAD + b"\n" + b"From: x\n" * 4_000,
        HEAD + b"Content-Type: text/plain; format=flowed\n\n" + b"word \n" * 20_000,
    ],
    ids=range(10),
)
def test_hostile_mails_are_read_or_refused_in_time(content: bytes) -> None:
    start = time.perf_counter()
    with contextlib.suppress(SourceError):
        loaded(content)
    assert time.perf_counter() - start < 3


@settings(max_examples=40)
@given(st.data())
def test_no_damage_is_an_error_of_ours(data: st.DataObject) -> None:
    message = EmailMessage()
    message["From"] = "Ada Ek <ada@example.org>"
    message["Subject"] = "Späte Stunden"
    message.set_content("Words of the day.")
    message.add_alternative("<p>Words of the day.", subtype="html")
    message.add_attachment(b"xyz", maintype="image", subtype="png", filename="ä.png")
    content = bytearray(message.as_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), max_size=8)):
        content[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SourceError):
        loaded(bytes(content[: data.draw(st.integers(0, len(content)))]))
