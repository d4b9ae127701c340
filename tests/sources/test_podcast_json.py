"""Podcasting 2.0 transcripts in JSON."""

from __future__ import annotations

import json

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import load_bytes


def loaded(content: object) -> Source:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return load_bytes(raw, "talk.json", "podcast-json")


def segments(*said: tuple[str | None, str]) -> dict[str, object]:
    entries = [
        {"startTime": at / 2, "endTime": at / 2 + 0.4, "body": body}
        | ({"speaker": speaker} if speaker else {})
        for at, (speaker, body) in enumerate(said)
    ]
    return {"version": "1.0.0", "segments": entries}


def test_words_of_one_speaker_are_one_turn() -> None:
    source = loaded(segments(("Ann", "Bees"), ("Ann", "sleep"), ("Ann", "."), ("Bo", "Do they?")))
    assert source.text == "Ann: Bees sleep.\n\nBo: Do they?"
    assert [(one.kind, one.time) for one in source.blocks] == [("turn", 0.0), ("turn", 1.5)]


def test_a_segment_without_a_speaker_is_nobodys() -> None:
    source = loaded(segments(("Ann", "Good night."), (None, "The end.")))
    assert [one.kind for one in source.blocks] == ["turn", "paragraph"]


def test_names_are_looked_for_in_the_words_where_no_segment_has_one() -> None:
    assert (
        loaded(segments((None, "Ann: Hello."), (None, "Bo: Hi."))).text == "Ann: Hello.\n\nBo: Hi."
    )


def test_sounds_are_dropped_and_hidden_characters_counted() -> None:
    source = loaded(segments(("Ann", "[MUSIC] Hel\u200blo"), ("Ann", "♪")))
    assert (source.text, source.hidden) == ("Ann: Hello", 1)


def test_what_whisper_writes_is_read_with_its_language() -> None:
    entry = {"start": 1.5, "end": 3.0, "text": " Guten Morgen."}
    source = loaded({"language": "de", "text": "Guten Morgen.", "segments": [entry]})
    assert (source.text, source.language, source.blocks[0].time) == ("Guten Morgen.", "de", 1.5)


def test_an_incomplete_file_gives_what_is_whole_and_a_warning() -> None:
    whole = json.dumps(segments(("Ann", "One."), ("Ann", "Two."), ("Ann", "Three.")))
    source = loaded(whole[: whole.index("Three")].encode())
    assert source.text == "Ann: One. Two."
    assert source.warnings == ("the file is damaged or incomplete; some of it is missing",)


def test_a_damaged_segment_costs_only_itself() -> None:
    whole = json.dumps(segments(("Ann", "One."), ("Ann", "Two."), ("Ann", "Three.")))
    source = loaded(whole.replace('"Two."', '"Two.').encode())
    assert source.text == "Ann: One. Three."


def test_values_of_the_wrong_type_are_passed_over() -> None:
    entries = [
        "words", None, {"body": 5}, {"body": "One.", "startTime": "1.5", "speaker": ["Ann"]},
        {"body": "Two.", "startTime": True, "endTime": 1e400},
    ]  # fmt: skip
    source = loaded({"segments": entries, "title": 7, "language": ["de"]})
    assert (source.text, source.title, source.blocks[0].time) == ("One. Two.", None, 1.5)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"{}", "empty"),
        (b'{"a": 1}', "corrupt"),
        (b'{"segments": 1}', "corrupt"),
        (b"[" * 100_000 + b"1", "corrupt"),
        (b'{"segments": [' + b'{"body": ' * 100_000, "corrupt"),
        (b'{"segments": [' + b"{}," * 600_000 + b"1]}", "too-large"),
        (b'{"segments": [{"body": "..."}]}', "no-text"),
    ],
)
def test_what_is_no_transcript_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(content)
    assert caught.value.reason == reason
