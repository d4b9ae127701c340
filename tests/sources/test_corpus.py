"""Every Markdown, text and HTML entry of the shared corpus, compared as its head says."""

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
from repurpose.sources import load_path
from repurpose.text.language import primary

pytestmark = pytest.mark.shared

_ROOT = Path(__file__).resolve().parents[2]
_LIST = Path(os.environ.get("REPURPOSE_SHARED", _ROOT.parent / "shared"), "corpus", "corpus.yaml")
_SLOWEST = 5.0  # seconds, for the text of 1.27 MB


def _entries() -> list[dict[str, Any]]:
    if not _LIST.is_file():
        return [{"file": "absent"}]  # the fixture `shared` skips it and says why
    files = yaml.safe_load(_LIST.read_text(encoding="utf-8"))["files"]
    return [one for one in files if one["file"].split("/")[0] in ("md", "txt", "html")]


def _compared(text: str, *, spaces: bool) -> str:
    plain = re.sub(r"[\\*_`]", "", unicodedata.normalize("NFC", text))
    return ("" if not spaces else " ").join(plain.split())


@pytest.mark.parametrize("entry", _entries(), ids=lambda one: one["file"])
def test_a_corpus_file_loads_as_expected(
    entry: dict[str, Any], shared: Path, record_property: Callable[[str, object], None]
) -> None:
    path = shared / "corpus" / entry["file"]
    expected = entry["expect"]
    if "error" in expected:
        with pytest.raises(SourceError) as caught:
            load_path(path)
        assert caught.value.reason == expected["error"]
        return
    start = time.perf_counter()
    source = load_path(path)
    assert time.perf_counter() - start < _SLOWEST
    _check_fields(source, expected)
    _check_text(source, expected)
    record_property(
        "boilerplate", [one for one in expected.get("better_without", []) if one in source.text]
    )


def _check_fields(source: Source, expected: dict[str, Any]) -> None:
    if "title" in expected:
        assert source.title in (
            expected["title"],
            f"{expected['title']}{expected.get('title_may_end_with', '')}",
        )
    for name in ("author", "date", "url"):
        if name in expected:
            assert getattr(source, name) == expected[name], name
    if "language" in expected:
        assert source.language is not None
        assert primary(source.language) == expected["language"]


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
    assert len(text) >= expected.get("min_chars", 0)
    if expected.get("has_headings"):
        assert any(one.kind == "heading" for one in source.blocks)
    if "first_words" in expected:
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
