"""ZIP containers: sizes are bounded, damage is contained, names are only names."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path

import pytest

from repurpose.errors import SourceError
from repurpose.sources import _archive
from repurpose.sources._archive import Archive, place_of
from repurpose.sources._raw import MAX_BYTES, Raw


def packed(*parts: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, content in parts:
            file.writestr(name, content)
    return buffer.getvalue()


def opened(content: bytes) -> Archive:
    return Archive(Raw("book.epub", content))


def reason(content: bytes) -> str:
    with pytest.raises(SourceError) as caught:
        opened(content)
    assert str(caught.value).startswith("book.epub: ")
    assert "\n" not in str(caught.value)
    return caught.value.reason


def test_a_part_is_found_whatever_its_case_and_slashes() -> None:
    archive = opened(packed(("Word\\Document.xml", b"text")))
    assert archive.read("word/document.xml") == b"text"
    assert archive.read("/word/document.xml") == b"text"
    assert "word/document.xml" in archive
    assert archive.warnings == ()


def test_an_absent_part_is_none_without_a_warning() -> None:
    archive = opened(packed(("a", b"text")))
    assert archive.read("b") is None
    assert archive.xml("b") is None
    assert archive.warnings == ()


def test_a_part_with_a_wrong_check_sum_is_lost_and_the_others_are_not() -> None:
    content = packed(("a", b"first text"), ("b", b"other text"), method=zipfile.ZIP_STORED)
    archive = opened(content.replace(b"first text", b"wirst text", 1))
    assert archive.read("a") is None
    assert archive.read("b") == b"other text"
    assert archive.warnings == ("the part a was left out: damaged",)


def test_a_part_that_is_no_xml_is_lost_with_a_warning() -> None:
    archive = opened(packed(("a.xml", b"<a>"), ("b.xml", b"<b/>")))
    assert archive.xml("a.xml") is None
    assert archive.xml("b.xml") is not None
    assert archive.warnings == ("the part a.xml was left out: not well-formed XML",)


def test_many_lost_parts_are_summed_up() -> None:
    archive = opened(packed(("a", b"")))
    for number in range(1_000):
        archive.lost(f"part {number}", "missing")
    assert len(archive.warnings) == 11
    assert archive.warnings[-1] == "and 990 more"


@pytest.mark.parametrize("length", [0, 3, 40, 100])
def test_a_truncated_archive_is_corrupt(length: int) -> None:
    assert reason(packed(("a", b"text" * 100))[:length]) == "corrupt"


def test_an_archive_of_zeros_that_unpacks_a_thousandfold_is_too_large() -> None:
    assert reason(packed(("a", bytes(30_000_000)))) == "too-large"


def test_a_nested_bomb_is_refused_for_what_it_holds_itself() -> None:
    inner = packed(("zeros", bytes(25_000_000)))
    outer = packed(*((f"{n}.zip", inner) for n in range(5)))
    archive = opened(outer)  # its parts are never opened as archives
    assert archive.read("0.zip") == inner
    assert reason(packed(("a.zip", packed(("zeros", bytes(1)))), ("b", bytes(25_000_000)))) == (
        "too-large"
    )


def test_a_small_file_that_repeats_itself_is_read() -> None:
    archive = opened(packed(("a", b"la " * 1_000_000)))
    assert len(archive.read("a") or b"") == 3_000_000


def test_declared_sizes_over_the_limit_are_too_large_whatever_is_really_there() -> None:
    content = bytearray(packed(("a", b"text")))
    entry = content.index(b"PK\x01\x02")
    struct.pack_into("<L", content, entry + 24, 300_000_000)  # APPNOTE 4.3.12: uncompressed size
    assert reason(bytes(content)) == "too-large"


def test_a_part_that_claims_to_be_small_is_read_no_further_than_it_claims() -> None:
    content = bytearray(packed(("a", bytes(10_000_000)), ("b", b"text")))
    entry = content.index(b"PK\x01\x02")
    struct.pack_into("<L", content, entry + 24, 1_000)
    archive = opened(bytes(content))
    assert archive.read("a") is None
    assert archive.unpacked == 0
    assert archive.read("b") == b"text"


def test_one_part_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_archive, "MAX_PART", 100_000)
    archive = opened(packed(("a", bytes(100_001)), ("b", bytes(100_000))))
    assert archive.read("b") is not None
    with pytest.raises(SourceError, match="a part of more than"):
        archive.read("a")


def test_reading_again_and_again_meets_the_limit_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_archive, "MAX_UNPACKED", 250_000)
    archive = opened(packed(("a", bytes(100_000))))
    assert archive.read("a") == archive.read("a")
    with pytest.raises(SourceError, match="unpacks to more"):
        archive.read("a")


def test_too_many_parts_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_archive, "MAX_PARTS", 3)
    assert len(opened(packed(*((f"{n}", b"") for n in range(3)))).names) == 3
    assert reason(packed(*((f"{n}", b"") for n in range(4)))) == "too-large"


def test_a_file_over_the_limit_is_not_even_opened() -> None:
    assert reason(b"PK\x03\x04" + bytes(MAX_BYTES)) == "too-large"


def test_an_encrypted_part_makes_the_document_encrypted() -> None:
    content = bytearray(packed(("a", b"text")))
    entry = content.index(b"PK\x01\x02")
    content[entry + 8] |= 1  # APPNOTE 4.4.4
    assert reason(bytes(content)) == "encrypted"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_documents_do_not_use_costs_the_part(method: int) -> None:
    archive = opened(packed(("a", b"text"), method=method))
    assert archive.read("a") is None
    assert archive.warnings == ("the part a was left out: damaged",)


def test_of_two_parts_with_one_name_the_last_counts() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        content = packed(("a.xml", b"<first/>"), ("a.xml", b"<second/>"))
    root = opened(content).xml("a.xml")
    assert root is not None
    assert root.tag == "second"


def test_a_name_that_points_outside_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    archive = opened(packed(("../../evil.xml", b"<a/>"), ("/abs.xml", b"<b/>")))
    assert archive.xml("../../evil.xml") is not None
    assert archive.xml("abs.xml") is not None
    assert list(tmp_path.iterdir()) == [tmp_path / "home"]


@pytest.mark.parametrize(
    ("href", "base", "place"),
    [
        ("one.xhtml", "EPUB/book.opf", "EPUB/one.xhtml"),
        ("../text/a%20b.xhtml#part-2", "EPUB/book/book.opf", "EPUB/text/a b.xhtml"),
        ("../../../../etc/passwd", "EPUB/book.opf", "etc/passwd"),
        ("%2e%2e/%2E%2E/x", "a/b/c", "x"),
        ("/word/styles.xml", "word/document.xml", "word/styles.xml"),
        ("./a/../b", "", "b"),
    ],
)
def test_references_stay_in_the_container(href: str, base: str, place: str) -> None:
    assert place_of(href, base) == place
