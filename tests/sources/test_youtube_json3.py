"""Captions of YouTube in its own JSON."""

from __future__ import annotations

import json

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import load_bytes


def loaded(*events: object) -> Source:
    content = {"wireMagic": "pb3", "pens": [{}], "events": list(events)}
    return load_bytes(json.dumps(content).encode(), "talk.json3")


def event(start: int, *pieces: str, **more: object) -> dict[str, object]:
    segments = [{"utf8": one, "tOffsetMs": 200 * at} for at, one in enumerate(pieces)]
    return {"tStartMs": start, "dDurationMs": 4000, "segs": segments} | more


WINDOW = {"tStartMs": 0, "dDurationMs": 9000, "id": 1, "wpWinPosId": 1}
BREAK = event(900, "\n", wWinId=1, aAppend=1)


def test_pieces_are_joined_and_append_events_only_break_lines() -> None:
    source = loaded(WINDOW, event(160, "the", " hives"), BREAK, event(1000, "stand", " high"))
    assert source.text == "the hives stand high"
    assert [(one.kind, one.time) for one in source.blocks] == [("paragraph", 0.16)]


def test_a_line_said_twice_stays() -> None:
    assert loaded(event(0, "Yes."), event(100, "Yes.")).text == "Yes. Yes."


def test_speakers_and_sounds_read_as_in_subtitles() -> None:
    source = loaded(event(0, "[Music]"), event(1000, ">> Ann: Hello.\n>> Hi."))
    assert source.text == "Ann: Hello.\n\nHi."


def test_a_pause_is_counted_from_the_last_word_and_not_from_the_display() -> None:
    words = ["Bees"] + [" fly."] * 60
    source = loaded(event(0, *words), event(16_000, "Later."))
    assert source.blocks[-1].time == 16.0


def test_the_file_declares_no_language_and_none_is_invented() -> None:
    source = loaded(event(0, "This is clearly written in English, is it not?"))
    assert (source.language, source.title, source.author, source.date) == (None,) * 4


def test_a_surrogate_pair_in_two_pieces_costs_no_more_than_itself() -> None:
    content = (
        rb'{"events": [{"tStartMs": 0, "segs": [{"utf8": "Hi \ud83d"}, {"utf8": "\ude00!"}]}]}'
    )
    assert load_bytes(content, "a.json3").text.startswith("Hi")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"wireMagic": "pb3"}', "corrupt"),
        (b'{"events": [{"tStartMs": 0}]}', "no-text"),
        (b'{"events": [{"segs": [{"utf8": 5}, null, "x"]}]}', "no-text"),
        (b'{"events": [{"segs": [{"utf8": "' + b">> a. " * 400_000 + b'"}]}]}', "too-large"),
    ],
)
def test_what_holds_no_speech_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        load_bytes(content, "a.json3")
    assert caught.value.reason == reason
