"""SubRip subtitles: what is said, by whom, and when."""

from __future__ import annotations

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import load_bytes


def loaded(text: str | bytes) -> Source:
    content = text if isinstance(text, bytes) else text.encode()
    return load_bytes(content, "talk.srt", "srt")


def cues(*payloads: str, gap: int = 0) -> str:
    """One cue of two seconds for each payload, `gap` seconds apart."""
    return "\n".join(
        f"{at + 1}\n{stamp(at * (2 + gap))} --> {stamp(at * (2 + gap) + 2)}\n{payload}\n"
        for at, payload in enumerate(payloads)
    )


def stamp(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02},000"


def parts(source: Source) -> list[tuple[str, float | None, str]]:
    return [(one.kind, one.time, source.text[one.start : one.end]) for one in source.blocks]


def test_each_turn_is_a_paragraph_with_its_speaker_and_its_time() -> None:
    source = loaded(cues("Ann: Good morning.", "Bo: Morning, Ann.", "Ann: Shall we begin?"))
    assert source.text == "Ann: Good morning.\n\nBo: Morning, Ann.\n\nAnn: Shall we begin?"
    assert parts(source) == [
        ("turn", 0.0, "Ann: Good morning."),
        ("turn", 2.0, "Bo: Morning, Ann."),
        ("turn", 4.0, "Ann: Shall we begin?"),
    ]


def test_a_sentence_over_several_captions_is_joined_under_the_last_name() -> None:
    source = loaded(cues("Ann: When the river\nrose, we", "moved the hives\nto the roof."))
    assert source.text == "Ann: When the river rose, we moved the hives to the roof."


def test_a_name_repeated_in_each_caption_stands_once() -> None:
    assert loaded(cues("Ann: One.", "Ann: Two.")).text == "Ann: One. Two."


def test_chevrons_without_a_name_begin_a_paragraph_of_nobody() -> None:
    source = loaded(cues("Ann: Is it open?", ">> Since eight.", "And until noon."))
    assert parts(source)[1] == ("paragraph", 2.0, "Since eight. And until noon.")


def test_chevrons_may_stand_before_a_name_and_inside_a_line() -> None:
    source = loaded(cues(">> ANN: It works. >> Really? >>> BO: It does."))
    assert source.text == "ANN: It works.\n\nReally?\n\nBO: It does."


def test_dashes_in_one_caption_are_two_speakers() -> None:
    assert loaded(cues("- Who is there?\n- Only the wind.")).text == (
        "Who is there?\n\nOnly the wind."
    )


def test_a_dash_alone_is_left_as_typed() -> None:
    assert loaded(cues("- - for the third time")).text == "- - for the third time"


@pytest.mark.parametrize("prefix", ["[Ann Lee] ", "[Ann Lee]: ", "Ann Lee: ", "[Ann Lee]\n"])
def test_a_name_may_stand_in_brackets(prefix: str) -> None:
    source = loaded(cues(f"{prefix}Good morning.", "Bo: Hello.", f"{prefix}So long."))
    assert source.text == "Ann Lee: Good morning.\n\nBo: Hello.\n\nAnn Lee: So long."


def test_names_in_other_scripts_are_found_where_they_recur() -> None:
    source = loaded(
        cues("司会：おはようございます。", "田中：どうも。", "司会：では、", "始めます。")
    )
    assert source.text.startswith("司会: おはようございます。")
    assert source.text.endswith("司会: では、始めます。")


@pytest.mark.parametrize(
    "said",
    [
        "Here is the thing: nobody asked.",
        "It opens at 10:30 on Sundays.",
        "Remember: close the lid.",
        "See https://example.org for more.",
    ],
)
def test_a_colon_in_a_sentence_names_nobody(said: str) -> None:
    assert [one.kind for one in loaded(cues("Well.", said)).blocks] == ["paragraph"]


def test_a_capital_and_a_colon_inside_a_sentence_name_nobody() -> None:
    assert loaded(cues("and the motto of", "Lisbon: never hurry.")).text == (
        "and the motto of Lisbon: never hurry."
    )


def test_sounds_and_signs_of_music_are_dropped() -> None:
    source = loaded(cues("[MUSIC]", "♪ [Applause] ♪", "[STATIC]\nAnn: Hello (laughs) there.", "♪♪"))
    assert source.text == "Ann: Hello there."


@pytest.mark.parametrize(
    "said", ["He said [sic] so.", "The (pop music) shop.", "It [the bee] flew."]
)
def test_other_brackets_stay(said: str) -> None:
    assert loaded(cues(said)).text == said


def test_markup_goes_and_entities_become_text() -> None:
    source = loaded(
        cues(
            '<i>Salt</i> &amp; <font color="#fff">pepper</font>', r"{\an8}a < b &lt;i&gt; <laughs>"
        )
    )
    assert source.text == "Salt & pepper a < b <i> <laughs>"


def test_byte_order_mark_and_line_ends_of_windows_leave_no_trace() -> None:
    content = b"\xef\xbb\xbf" + cues("Ann: One", "and two.").replace("\n", "\r\n").encode()
    assert loaded(content).text == "Ann: One and two."


def test_missing_blank_lines_and_numbers_are_tolerated() -> None:
    text = (
        "1\n00:00:00,000 --> 00:00:01,000\nOne\n2\n00:00:01.5 --> 00:00:02.5\ntwo\n\n"
        "00:03 -->00:04 X1:20\nthree\n\nfour"
    )
    assert loaded(text).text == "One two three four"


def test_a_line_of_spaces_does_not_end_a_caption() -> None:
    assert loaded(cues(" \nOne\n \ntwo.")).text == "One two."


def test_a_number_may_be_what_is_said() -> None:
    assert loaded(cues("It was", "1969", "in July.")).text == "It was 1969 in July."


def test_a_caption_whose_times_cannot_be_read_keeps_its_words() -> None:
    source = loaded("1\n00:00:00,000 --> 00:00:01,000\nOne\n\n2\n00:xx --> 00:yy\n\n3\n--> \ntwo\n")
    assert "two" in source.text
    assert source.warnings == ("the times of 1 caption cannot be read",)


def test_a_caption_written_twice_counts_once_but_a_repeated_word_stays() -> None:
    once = "00:00:00,000 --> 00:00:01,000\nNo.\n\n"
    again = "00:00:01,000 --> 00:00:02,000\nNo.\n\n"
    assert loaded(once + once + again).text == "No. No."


def test_rolling_captions_without_their_blank_lines_are_unrolled() -> None:
    said = ["one two three", "four five six", "seven eight nine"]
    payloads = [
        said[0],
        said[0],
        f"{said[0]}\n{said[1]}",
        said[1],
        f"{said[1]}\n{said[2]}",
        said[2],
    ]
    assert loaded(cues(*payloads)).text == " ".join(said)


def test_long_speech_of_nobody_is_split_where_sentences_end() -> None:
    halves = [half for at in range(40) for half in (f"Hive number {at} gave", "honey all summer.")]
    source = loaded(cues(*halves))
    assert len(source.blocks) > 4
    for one in source.blocks:
        text = source.text[one.start : one.end]
        assert text.endswith("summer.")
        assert text.startswith("Hive")
        assert len(text) <= 900
    assert source.blocks[1].time == 24.0  # six sentences of two captions of two seconds


def test_speech_without_marks_is_split_between_captions() -> None:
    source = loaded(cues(*["the bees fly out over the field and come back home"] * 60))
    assert len(source.blocks) > 2
    assert all(source.text[one.start :].startswith("the bees") for one in source.blocks)
    assert all(one.end - one.start < 900 for one in source.blocks)


def test_a_long_pause_ends_a_paragraph() -> None:
    first = "The first part of the talk is about the roof. " * 5
    source = loaded(cues(first, "Now the cellar.", gap=5))
    assert [one.time for one in source.blocks] == [0.0, 7.0]


def test_a_long_turn_stays_one_block() -> None:
    assert len(loaded(cues("Ann: One.", *["And so we went on."] * 300)).blocks) == 1


def test_the_language_is_found_in_what_is_said() -> None:
    source = loaded(cues("Guten Morgen, liebe Nachbarn.", "Die Bücherei öffnet heute später."))
    assert (source.language, source.title, source.author) == ("de", None, None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"1\n00:00:00,000 --> 00:00:01,000\n\n", "no-text"),
        (b"Just a letter to a friend.", "corrupt"),
        (b"1\n00:00:00,000 --> 00:00:01,000\n[MUSIC]\n", "no-text"),
        (bytes(range(256)) * 8, "binary"),
        (b"1\n00:00:00,000 --> 00:00:01,000\n" + b"x\n" * 400_000, "too-large"),
    ],
)
def test_what_holds_no_speech_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(content)
    assert caught.value.reason == reason
    assert "\n" not in caught.value.message


def test_hidden_characters_are_counted_also_where_entities_stand_for_them() -> None:
    source = loaded(cues("One\u200b\u200b\u200b two&lrm;&rlm;&#8203; three."))
    assert source.text == "One two three."
    assert source.hidden == 6
    assert source.warnings == ("6 hidden characters were removed from the text",)
