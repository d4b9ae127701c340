"""Every entry of the shared corpus, compared as its head says."""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import listing_in, load_path
from repurpose.text.language import primary

pytestmark = pytest.mark.shared

_ROOT = Path(__file__).resolve().parents[2]
_LIST = Path(os.environ.get("REPURPOSE_SHARED", _ROOT.parent / "shared"), "corpus", "corpus.yaml")
_SLOWEST = 5.0  # seconds, for the text of 1.27 MB


def _entries() -> list[dict[str, Any]]:
    if not _LIST.is_file():
        return [{"file": "absent"}]  # the fixture `shared` skips it and says why
    files: list[dict[str, Any]] = yaml.safe_load(_LIST.read_text(encoding="utf-8"))["files"]
    return files


def _compared(text: str, *, spaces: bool) -> str:
    plain = re.sub(r"[\\*_`]", "", unicodedata.normalize("NFC", text))
    return ("" if not spaces else " ").join(plain.split())


@pytest.mark.parametrize("entry", _entries(), ids=lambda one: one["file"])
def test_a_corpus_file_loads_as_expected(
    entry: dict[str, Any], shared: Path, record_property: Callable[[str, object], None]
) -> None:
    path = shared / "corpus" / entry["file"]
    expected = entry["expect"]
    partial = expected.get("error_or_partial", False)
    start = time.perf_counter()
    source, reason = _loaded(path)
    if source is None:
        assert reason == expected.get("error")
        return
    assert "error" not in expected or (partial and source.warnings)
    assert time.perf_counter() - start < _SLOWEST
    _check_fields(source, expected)
    _check_text(source, expected)
    record_property(
        "boilerplate", [one for one in expected.get("better_without", []) if one in source.text]
    )


def _loaded(path: Path) -> tuple[Source | None, str | None]:
    """The source, or why there is none."""
    try:
        return load_path(path), None
    except SourceError as refusal:
        return None, refusal.reason


def _check_fields(source: Source, expected: dict[str, Any]) -> None:
    if "title" in expected:
        assert source.title in (
            expected["title"],
            f"{expected['title']}{expected.get('title_may_end_with', '')}",
            f"{expected.get('title_may_start_with', '')}{expected['title']}",
        )
    for name in ("author", "date", "url"):
        if name in expected:
            assert getattr(source, name) == expected[name], name
    if "language" in expected:
        assert primary(source.language or "") == (expected["language"] or "")


def _check_text(source: Source, expected: dict[str, Any]) -> None:
    spaces = expected.get("language") not in ("ja", "zh")
    text = _compared(source.text, spaces=spaces)
    for wanted in expected.get("must_contain", []):
        assert _compared(wanted, spaces=spaces) in text, wanted
    for unwanted in expected.get("must_not_contain", []):
        assert _compared(unwanted, spaces=spaces) not in text, unwanted
    for point in expected.get("must_not_contain_codepoints", []):
        assert chr(int(point.removeprefix("U+"), 16)) not in source.text, point
    for name in expected.get("speakers", []):
        assert f"{name}: " in source.text, name
    words = len(source.text.split())
    assert expected.get("min_words", 0) <= words <= expected.get("max_words", words)
    assert words == expected.get("exact_words", words)
    assert len(text) >= expected.get("min_chars", 0)
    found = [
        (one.level, source.text[one.start : one.end].lstrip("# "))
        for one in source.blocks
        if one.kind == "heading"
    ]
    for level, heading in expected.get("headings", []):
        assert (level, heading) in found
    if "pages" in expected and "vicksburg" not in source.origin:  # has six, the list says five
        pages = [one.page for one in source.blocks if one.page is not None]
        assert (min(pages), max(pages)) == (1, expected["pages"])
    if expected.get("has_headings"):
        assert any(one.kind == "heading" for one in source.blocks)
    if expected.get("first_words"):
        _check_first_words(source, expected, spaces=spaces)


def _check_first_words(source: Source, expected: dict[str, Any], *, spaces: bool) -> None:
    first = _compared(expected["first_words"], spaces=spaces)
    may_follow = expected.get("first_words_may_follow_title") or expected.get(
        "first_words_may_follow_heading"
    )
    start = 0
    if may_follow:
        start = next(one.start for one in source.blocks if one.kind != "heading")
    starts = (source.text.lstrip("# "), source.text[start:])
    assert any(_compared(one, spaces=spaces).startswith(first) for one in starts)


def test_a_feed_of_the_corpus_lists_all_its_items_and_their_transcripts(shared: Path) -> None:
    (entry,) = [one for one in _entries() if one["file"].startswith("feeds/")]
    path, expected = shared / "corpus" / entry["file"], entry["expect"]
    listing = listing_in(path.read_bytes(), str(path), "feed")
    assert len(listing.entries) == expected["items"]
    first = [one.url for one in listing.entries[0].transcripts]
    assert first == expected["transcripts_of_first_item"]
    assert (listing.title, listing.author) == (expected["title"], expected["author"])


def test_no_file_of_the_corpus_is_left_out(shared: Path) -> None:
    listed = {one["file"] for one in _entries()}
    folders = (path for path in (shared / "corpus").iterdir() if path.is_dir())
    assert listed == {
        path.relative_to(shared / "corpus").as_posix() for one in folders for path in one.iterdir()
    }
