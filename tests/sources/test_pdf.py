"""PDF files: what a reader sees of them, and what is said of those that cannot be read."""

from __future__ import annotations

import io
from pathlib import Path

import pypdf
import pytest

from pdf_files import pdf_of
from repurpose.errors import SourceError
from repurpose.sources import _pdf_process as process
from repurpose.sources import pdf
from repurpose.sources._raw import Raw

PARAGRAPH = [
    "The ferry to the island leaves the harbour at six in the morn-",
    "ing, and on Fridays a second boat follows two hours later, so",
    "that the children who live there reach their school in time.",
]


def refusal(content: bytes) -> SourceError:
    with pytest.raises(SourceError) as caught:
        pdf.load(Raw("boat.pdf", content))
    assert "\n" not in caught.value.message
    assert "boat.pdf" in caught.value.message
    return caught.value


def test_a_file_is_loaded_with_its_pages_and_what_it_says_of_itself() -> None:
    info = {"Title": "Two boats", "Author": "Kim Adeyemi", "CreationDate": "D:20260314080000Z"}
    content = pdf_of(
        [PARAGRAPH, ["Nobody waits on the pier any more."]], info, catalog="/Lang (en-GB)"
    )
    source = pdf.load(Raw("boat.pdf", content))
    assert source.text == (
        "The ferry to the island leaves the harbour at six in the morning, and on Fridays a second "
        "boat follows two hours later, so that the children who live there reach their school in "
        "time.\n\nNobody waits on the pier any more."
    )
    assert [(one.kind, one.page) for one in source.blocks] == [("paragraph", 1), ("paragraph", 2)]
    assert (source.title, source.author) == ("Two boats", "Kim Adeyemi")
    assert (source.date, source.language) == ("2026-03-14", "en-GB")
    assert (source.kind, source.hidden, source.warnings) == ("pdf", 0, ())


def test_a_scan_is_refused_with_advice() -> None:
    fault = refusal(pdf_of([[], ["2"], []]))
    assert fault.reason == "no-text"
    assert "OCR" in fault.message


@pytest.mark.parametrize("content", [b"", b"\n \x00"])
def test_a_file_without_content_is_empty(content: bytes) -> None:
    assert refusal(content).reason == "empty"


@pytest.mark.parametrize("content", [b"%PDF-1.4\n" + b"x" * 200, pdf_of([PARAGRAPH])[:150]])
def test_a_file_cut_short_is_corrupt(content: bytes) -> None:
    assert refusal(content).reason == "corrupt"


def test_a_file_above_the_limit_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_BYTES", 100)
    assert refusal(pdf_of([PARAGRAPH])).reason == "too-large"


def encrypted(password: str) -> bytes:
    pytest.importorskip("cryptography")
    writer = pypdf.PdfWriter(io.BytesIO(pdf_of([PARAGRAPH])))
    writer.encrypt(password, "owner", algorithm="AES-256")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_the_empty_password_is_tried() -> None:
    assert "ferry" in pdf.load(Raw("boat.pdf", encrypted(""))).text


def test_a_password_is_asked_for() -> None:
    assert refusal(encrypted("harbour")).reason == "encrypted"


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_it(_content: bytes) -> process.Reading:
        return process.Reading(refused="crypto")

    monkeypatch.setattr(pdf, "read_pages", without_it)
    fault = refusal(pdf_of([PARAGRAPH]))
    assert fault.reason == "unsupported"
    assert "pip install 'repurpose-text[pdf]'" in fault.message


def read_as(monkeypatch: pytest.MonkeyPatch, *pages: str, **more: object) -> None:
    reading = process.Reading(
        count=len(pages), pages={at: process.Page(one) for at, one in enumerate(pages)}, ended=True
    )
    for name, value in more.items():
        setattr(reading, name, value)
    monkeypatch.setattr(pdf, "read_pages", lambda _content: reading)


def test_letters_that_the_fonts_do_not_name_are_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, "\ue012\ue033\ue01a \ue044\ue051 abc " * 30)
    assert refusal(b"%PDF").reason == "no-text"


def test_few_unnamed_letters_are_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, "The boat left early in the morning. " * 20 + "\x01\x05" * 15)
    source = pdf.load(Raw("boat.pdf", b"%PDF"))
    assert "\x01" not in source.text
    assert source.hidden == 0
    assert source.warnings == ("30 characters for which the file names no letter left out",)


def test_what_was_not_read_in_time_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, "The boat left early in the morning.", count=9, stopped="time")
    source = pdf.load(Raw("boat.pdf", b"%PDF"))
    assert source.warnings == ("reading stopped after page 1 of 9: took too long",)


def test_a_page_that_could_not_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    first, last = "The boat left early that morning.", "Nobody waited for it at the pier."
    read_as(monkeypatch, first, "", last)
    reading = pdf.read_pages(b"")
    del reading.pages[1]
    reading.faults.add(1)
    source = pdf.load(Raw("boat.pdf", b"%PDF"))
    assert source.text == f"{first}\n\n{last}"
    assert [one.page for one in source.blocks] == [1, 3]
    assert source.warnings == ("page 2 could not be read and is left out",)


def test_pages_without_text_between_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "The boat left early in the morning, and nobody waited for it."
    read_as(monkeypatch, text, " 3\n", text, "", text)
    warnings = pdf.load(Raw("boat.pdf", b"%PDF")).warnings
    assert warnings == ("page 4 has no text layer: blank, scanned or damaged",)


def test_hidden_characters_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    read_as(monkeypatch, "The boat\u200b\u202e left early\u2060 in the morning. " * 3)
    source = pdf.load(Raw("boat.pdf", b"%PDF"))
    assert source.hidden == 9
    assert source.warnings == ("9 hidden characters were removed from the text",)


def test_a_file_that_no_process_can_read_is_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process.sys, "executable", "/nonexistent/python")
    assert refusal(pdf_of([PARAGRAPH])).reason == "unreadable"


def test_the_reader_gets_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert "sk-none" not in " ".join(process._environment().values())
    assert "HOME" not in process._environment()
