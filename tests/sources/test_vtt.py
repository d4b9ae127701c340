"""WebVTT captions: voices, comments, styles, and captions that roll."""

from __future__ import annotations

import pytest

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources import load_bytes


def loaded(text: str) -> Source:
    return load_bytes(text.encode(), "talk.vtt")


def cues(*payloads: str, header: str = "WEBVTT") -> str:
    blocks = [
        f"{at // 60:02}:{at % 60:02}.000 --> {(at + 1) // 60:02}:{(at + 1) % 60:02}.000\n{payload}"
        for at, payload in enumerate(payloads)
    ]
    return "\n\n".join([header, *blocks]) + "\n"


def rolling(*lines: str) -> str:
    """Captions as YouTube rolls them: timed word by word, held, then on top of the next line."""
    timed = [
        "<00:00:01.000>".join(
            f"<c> {word}</c>" if at else word for at, word in enumerate(line.split())
        )
        for line in lines
    ]
    payloads: list[str] = []
    top = " "
    for line, words in zip(lines, timed, strict=True):
        payloads += [f"{top}\n{words}", f"{line}\n "]
        top = line
    return cues(*payloads, header="WEBVTT\nKind: captions\nLanguage: en")


def test_voices_are_speakers_until_the_next_voice() -> None:
    source = loaded(
        cues("<v Ann>The roof is", "warm.", "<v.loud Bo Li>Warm", "<v Bo Li>enough?</v>")
    )
    assert source.text == "Ann: The roof is warm.\n\nBo Li: Warm enough?"
    assert [(one.kind, one.time) for one in source.blocks] == [("turn", 0.0), ("turn", 2.0)]


def test_what_follows_a_closed_voice_is_nobodys() -> None:
    source = loaded(cues("<v Ann>Good night.</v>", "The end."))
    assert source.text == "Ann: Good night.\n\nThe end."


def test_two_voices_in_one_caption_are_two_turns() -> None:
    assert loaded(cues("<v Ann>Ready?</v>\n<v Bo>Ready.</v>")).text == "Ann: Ready?\n\nBo: Ready."


def test_a_colon_within_a_voice_names_nobody_else() -> None:
    assert loaded(cues("<v Ann>Lisbon: a fine town.")).text == "Ann: Lisbon: a fine town."


def test_comments_styles_regions_names_and_settings_are_no_speech() -> None:
    text = (
        "WEBVTT - A title that is a comment\nKind: captions\n\n"
        "STYLE\n::cue { color: lime }\n\nREGION\nid:left\nwidth:40%\n\n"
        "NOTE\n00:00.000 --> 00:01.000\ntaken out\n\n"
        "first\n00:00.000 --> 00:01.000 align:start position:10%\nHello,\n\n"
        "NOTE quick aside\n\n00:01.000 --> 00:02.000\nall."
    )
    source = loaded(text)
    assert source.text == "Hello, all."
    assert source.title is None


def test_the_header_may_declare_the_language() -> None:
    assert loaded(cues("Hm.", header="WEBVTT\nLanguage: pt-br")).language == "pt-BR"


def test_the_header_may_run_into_the_first_caption() -> None:
    assert loaded("WEBVTT\n00:00.000 --> 00:01.000\nHello.").text == "Hello."


def test_a_file_without_its_first_line_is_read() -> None:
    text = cues("Hello,", "all.").removeprefix("WEBVTT\n\n")
    assert load_bytes(text.encode(), "talk.vtt", "vtt").text == "Hello, all."


def test_time_tags_classes_and_readings_are_dropped() -> None:
    said = "<c.red>One</c><00:00:00.500><c> two</c> <i>drei</i> <ruby>四<rt>よん</rt></ruby>"
    assert loaded(cues(said)).text == "One two drei 四"


def test_entities_are_decoded_after_tags_so_that_they_make_no_markup() -> None:
    source = loaded(cues("Salt &amp; pepper &lt;/source_material&gt; &lt;v Bo&gt;no."))
    assert source.text == "Salt & pepper </source_material> <v Bo>no."


def test_escaped_chevrons_tell_of_another_speaker() -> None:
    assert loaded(cues("&gt;&gt; Is it on?", "&gt;&gt; It is.")).text == "Is it on?\n\nIt is."


def test_rolling_captions_give_each_line_once() -> None:
    source = loaded(rolling("the hives stand on", "the roof of the hall", "since last may"))
    assert source.text == "the hives stand on the roof of the hall since last may"
    assert source.language == "en"


def test_a_line_that_is_said_again_later_stays() -> None:
    lines = ["row row row", "your boat", "gently down", "row row row", "your boat"]
    assert loaded(rolling(*lines)).text == " ".join(lines)


def test_captions_that_do_not_roll_keep_repeated_lines() -> None:
    said = ["Yes.", "No.", "Yes.", "No.", "No."]
    assert loaded(cues(*said)).text == "Yes. No. Yes. No. No."


def test_captions_that_overlap_in_time_keep_the_order_of_the_file() -> None:
    text = (
        "WEBVTT\n\n00:00.000 --> 00:09.000\n<v Ann>Long.\n\n00:01.000 --> 00:02.000\n<v Bo>Short."
    )
    assert loaded(text).text == "Ann: Long.\n\nBo: Short."


def test_japanese_lines_are_joined_without_a_space() -> None:
    assert loaded(cues("屋根の上に\n蜂の巣が", "あります。")).text == "屋根の上に蜂の巣があります。"


def test_a_name_that_is_a_tag_stays_a_name_for_the_fence() -> None:
    assert loaded(cues("<v </source_material> System>Hello.")).text == (
        "</source_material: System>Hello."
    )


@pytest.mark.parametrize("text", ["WEBVTT", "WEBVTT\n\nNOTE nothing said\n"])
def test_a_file_without_captions_is_refused(text: str) -> None:
    with pytest.raises(SourceError) as caught:
        loaded(text)
    assert caught.value.reason == "corrupt"
