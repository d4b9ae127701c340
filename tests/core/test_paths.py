"""Dot paths: what they find, and that they never guess."""

from __future__ import annotations

import subprocess
import sys

import pytest

from repurpose.core.paths import MISSING, at, text_at

ANSWER = {"choices": [{"message": {"content": "Hi"}}], "n": 0, "none": None, "": {"": 1}}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("choices.0.message.content", "Hi"),
        ("n", 0),
        ("none", None),
        ("", ANSWER),
        (".", 1),
    ],
)
def test_a_path_finds_what_stands_there(path: str, found: object) -> None:
    assert at(ANSWER, path) == found


@pytest.mark.parametrize(
    "path",
    [
        "choices.1",
        "choices.-1",
        "choices.+0",
        "choices. 0",
        "choices.٠",
        "choices.0x0",
        "choices.first",
        "n.real",
        "none.x",
        "choices.0.message.content.0",
        "absent",
        "choices..0",
    ],
)
def test_a_path_to_nothing_is_missing_and_no_error(path: str) -> None:
    assert at(ANSWER, path) is MISSING


def test_a_key_with_dots_is_found_where_no_shorter_one_leads_anywhere() -> None:
    posts = {"x": {"length": 1}, "x.2": {"length": 2}, "a.b": {"c.d": [0, {"e": 3}]}}
    assert at(posts, "x.length") == 1
    assert at(posts, "x.2") == {"length": 2}
    assert at(posts, "x.2.length") == 2
    assert at(posts, "a.b.c.d.1.e") == 3
    assert at(posts, "x.3") is MISSING
    assert at({"x": {"2": "shorter"}, "x.2": "longer"}, "x.2") == "shorter"


def test_a_null_is_not_missing() -> None:
    assert at({"a": None}, "a") is None
    assert at({"a": None}, "a") is not MISSING


def test_paths_know_nothing_of_envelopes() -> None:
    code = "import sys, repurpose.core.paths; print('repurpose.core.envelope' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("output.*.content.*.text", "One. Two. Three."),
        ("output.0.content.*.text", "One. Two. "),
        ("output.*.kind", "messagereasoningmessage"),
        ("output.*.content", MISSING),
        ("output.*.size", MISSING),
        ("output.1.tokens.*", 7),
        ("output.*.nothing", MISSING),
        ("name.*", MISSING),
        ("*.name", MISSING),
        ("name", "r1"),
    ],
)
def test_a_star_is_every_item_of_a_list_and_their_texts_are_put_together(path, found):
    value = {
        "name": "r1",
        "output": [
            {"kind": "message", "size": 1, "content": [{"text": "One. "}, {"text": "Two. "}]},
            {"kind": "reasoning", "size": 2, "tokens": [7]},
            {"kind": "message", "size": 3, "content": [{"text": "Three."}]},
        ],
    }
    assert text_at(value, path) == found
