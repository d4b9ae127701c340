"""The process that reads a PDF file, and the one that starts it: limits, crashes and fallbacks."""

from __future__ import annotations

import importlib.util
import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pypdf
import pytest
from pypdf.errors import DependencyError

from pdf_files import pdf_of
from repurpose.sources import _pdf_process as process
from repurpose.sources._pdf_process import read_pages

TEXT = "The ferry to the island leaves the harbour at six."
Write = Callable[[str], Path]


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a program that stands for the reader; `engine`, `first` and `say` are at hand."""
    monkeypatch.setattr(process, "_installed", lambda _engine: True)

    def write(code: str) -> Path:
        path = tmp_path / "child.py"
        path.write_text(
            "import json, os, sys, time\n"
            "content = sys.stdin.buffer.read()\n"
            "engine, first = sys.argv[1], int(sys.argv[2])\n"
            "def say(**message):\n"
            "    print(json.dumps(message), flush=True)\n"
            "def page(number, text='words'):\n"
            "    say(**{'is': 'page', 'page': number, 'text': text, 'sizes': []})\n"
            "def opened(pages, name='pypdf'):\n"
            "    say(**{'is': 'opened', 'pages': pages, 'engine': name})\n" + code
        )
        return path

    return write


def test_the_other_library_goes_on_where_one_crashed(child: Write) -> None:
    code = """
opened(3, 'pdfium' if engine == 'pdfium' else 'pypdf')
for number in range(first, 3):
    if engine == 'auto' and number == 1:
        os._exit(1)
    page(number, engine)
say(**{'is': 'end'})
"""
    reading = read_pages(b"", child=child(code))
    assert [reading.pages[at].text for at in range(3)] == ["auto", "pdfium", "pdfium"]
    assert (reading.faults, reading.stopped) == (set(), None)


def test_a_page_that_neither_library_survives_is_given_up(child: Write) -> None:
    code = """
opened(3, 'pdfium' if engine == 'pdfium' else 'pypdf')
for number in range(first, 3):
    if number == 1:
        os._exit(1)
    page(number)
say(**{'is': 'end'})
"""
    reading = read_pages(b"", child=child(code))
    assert sorted(reading.pages) == [0, 2]
    assert (reading.faults, reading.stopped) == ({1}, None)


def test_what_came_before_the_time_was_up_is_kept(
    child: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    enough = 2
    monkeypatch.setattr(
        process, "_deadline", lambda got, start: start + (0 if len(got.pages) == enough else 30)
    )
    code = "opened(9); page(0); page(1); time.sleep(60)"
    reading = read_pages(b"", child=child(code))
    assert sorted(reading.pages) == [0, 1]
    assert reading.stopped == "time"


def test_text_above_the_limit_is_not_taken(child: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_TEXT_LIMIT", 100)
    code = "opened(3); page(0, 60 * 'a'); page(1, 60 * 'a'); page(2, 'a'); say(**{'is': 'end'})"
    reading = read_pages(b"", child=child(code))
    assert (sorted(reading.pages), reading.stopped) == ([0], "size")


@pytest.mark.parametrize(
    "code",
    [
        "os.write(1, bytes(range(256)) + b'\\n')",
        "print('[1, 2]')",
        'print(\'{"is": "opened", "pages": "many", "engine": "pypdf"}\')',
        "opened(1); page(7)",
        "say(**{'is': 'opened'})",
        "say(**{'is': 'nonsense'})",
        "say(**{'is': 'bookmarks', 'entries': [[1, 2]]})",
        "opened(1); say(**{'is': 'page', 'page': 0, 'text': 5, 'sizes': []})",
        "sys.exit(3)",
    ],
)
def test_a_process_that_says_nonsense_gives_no_page(
    child: Write, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_STARTS", 1)
    assert not read_pages(b"%PDF", child=child(code)).pages


def test_a_large_file_to_a_process_that_does_not_listen_is_no_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_FIRST", 0.3)
    path = tmp_path / "child.py"
    path.write_text("import time; time.sleep(60)")
    assert read_pages(bytes(1_000_000), child=path).stopped == "time"


@pytest.fixture(scope="module")
def reader() -> Iterator[ModuleType]:
    """The program of the process, as a module."""
    spec = importlib.util.spec_from_file_location("pdf_child", process._CHILD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pdf_child"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["pdf_child"]


def texts(reader: ModuleType, content: bytes, engine: str = "auto") -> list[str]:
    messages = list(reader.Child(content, engine).messages(0))
    assert messages[-1]["is"] == "end"
    return [str(one["text"]).strip() for one in messages if one["is"] == "page"]


@pytest.mark.parametrize("engine", ["pypdf", "pdfium"])
def test_both_libraries_give_text_sizes_and_bookmarks(reader: ModuleType, engine: str) -> None:
    if engine == "pdfium":
        pytest.importorskip("pypdfium2")
    writer = pypdf.PdfWriter(io.BytesIO(pdf_of([[("Boats", 20), TEXT], [TEXT]], {"Title": "Sea"})))
    parent = writer.add_outline_item(title="Boats", page_number=0)
    writer.add_outline_item(title="Later", page_number=1, parent=parent)
    out = io.BytesIO()
    writer.write(out)
    opened, about, first, second, bookmarks, end = reader.Child(out.getvalue(), engine).messages(0)
    assert opened == {"is": "opened", "pages": 2, "engine": engine}
    assert about["title"] == "Sea"
    assert str(first["text"]).split("\n")[0].strip() == "Boats"
    assert first["sizes"][:2] == [20.0, 11.0]
    assert str(second["text"]).strip() == TEXT
    assert bookmarks["entries"] == [(1, "Boats", 0), (2, "Later", 1)]
    assert end == {"is": "end"}


def test_pdfium_reads_what_pypdf_refuses(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(reader.pypdf, "PdfReader", lambda _file: 1 / 0)
    assert texts(reader, pdf_of([[TEXT]])) == [TEXT]


def test_pdfium_reads_long_files(reader: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(reader, "_LONG", 3)
    content = pdf_of([[TEXT]] * 4)
    assert reader.Child(content, "auto").chosen().name == "pdfium"
    assert reader.Child(pdf_of([[TEXT]] * 3), "auto").chosen().name == "pypdf"
    monkeypatch.setattr(reader.Pdfium, "page", lambda *_: ("من الأدوات القوية", []))
    assert reader.Child(content, "auto").chosen().name == "pypdf"


def test_a_page_with_almost_nothing_is_read_a_second_time(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pypdfium2")
    monkeypatch.setattr(reader.Pypdf, "page", lambda *_: ("\x01\x02\x03", []))
    assert texts(reader, pdf_of([[TEXT]])) == [TEXT]


def test_without_pdfium_a_bad_page_costs_that_page(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "Pdfium", lambda _content: 1 / 0)
    real = reader.Pypdf.page
    monkeypatch.setattr(
        reader.Pypdf, "page", lambda self, number: 1 / 0 if number == 1 else real(self, number)
    )
    messages = list(reader.Child(pdf_of([[TEXT]] * 3), "auto").messages(0))
    assert [one["is"] for one in messages[2:5]] == ["page", "fault", "page"]


def test_a_page_of_absurd_length_is_a_bad_page(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "_PAGE_LIMIT", 20)
    messages = list(reader.Child(pdf_of([[TEXT]]), "pypdf").messages(0))
    assert messages[2] == {"is": "fault", "page": 0}


def test_a_missing_library_for_encryption_is_told(
    reader: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(_file: object) -> SimpleNamespace:
        raise DependencyError

    monkeypatch.setattr(reader.pypdf, "PdfReader", locked)
    monkeypatch.setattr(reader, "Pdfium", lambda _content: 1 / 0)
    messages = list(reader.Child(pdf_of([[TEXT]]), "auto").messages(0))
    assert messages == [{"is": "refused", "reason": "crypto"}]


def test_halves_of_characters_can_be_sent(reader: ModuleType) -> None:
    assert reader._sendable("a\x00\ud83d\ude00\ud800") == "a😀\ufffd"


@pytest.mark.parametrize(
    ("size", "matrix", "scaled"),
    [
        (12, [1, 0, 0, 1, 0, 0], 12.0),
        (1, [0, 14, -14, 0], 14.0),
        ("x", [1, 0, 0, 1], 0.0),
        (12, None, 0.0),
        (float("nan"), [1, 0, 0, 1], 0.0),
        (1e300, [1e300, 0, 0, 1e300], 0.0),
    ],
)
def test_sizes_that_make_no_sense_are_not_known(
    reader: ModuleType, size: object, matrix: object, scaled: float
) -> None:
    assert reader._scaled(size, matrix) == scaled
