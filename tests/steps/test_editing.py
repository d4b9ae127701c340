"""What a person makes of a row: kept as it was written, or refused with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from repurpose.core.call import Quote
from repurpose.core.json_types import JsonObject
from repurpose.core.record import Row
from repurpose.core.voice import Voice
from repurpose.errors import UsageError
from repurpose.formats import declared_format, format_named
from repurpose.formats.base import FinishContext, Format
from repurpose.formats.social import build as build_social
from repurpose.platforms import PLATFORMS, platform_chosen
from repurpose.platforms.threads import DELIMITER
from repurpose.steps.editing import (
    Edited,
    edited_content,
    edited_text,
    editing_kind,
    revised,
)

CONTEXT = FinishContext(language="en", platforms=PLATFORMS)


def row_of(format: Format, answer: JsonObject, variant: str = "default", **changes: Any) -> Row:
    """The row that a run would store for this answer."""
    finished = format.finish(answer, CONTEXT)
    piece = next(each for each in finished.pieces if each.variant == variant)
    facts: dict[str, Any] = {
        "text": piece.text,
        "content": piece.content,
        "measures": piece.measures,
        **changes,
    }
    return Row(
        "r1",
        "run1",
        "s1",
        format.name,
        format.label,
        variant,
        "done",
        f"{format.label} done (1 retry)",
        "key",
        "scripted",
        "model m",
        "2026-11-29T00:00:00.000Z",
        attempts=2,
        elapsed_ms=900,
        language="en",
        **facts,
    )


def post(platform: str, text: str = "We open in May.", **answer: object) -> Row:
    given = {"text": text, "hashtags": ["ferry"], **answer}
    return row_of(build_social([platform]), {platform: given}, platform)  # type: ignore[dict-item]  # JSON by name


def thread(text: str) -> Row:
    social = build_social(["x"], threads=True)
    return row_of(social, {"x": {"text": text, "hashtags": []}}, "x")


def edited(row: Row, text: str, context: FinishContext = CONTEXT) -> Edited:
    format = None if row.format == "social" else format_named(row.format)
    made = edited_text(row, text, format=format, context=context)
    assert made is not None
    return made


FAQ = row_of(format_named("faq"), {"pairs": [{"question": "Why?", "answer": "So."}]})
SUMMARY = row_of(format_named("summary"), {"sentences": ["We open in May.", "Come by!"]})
NEWS = row_of(
    format_named("newsletter"),
    {"subject": "S", "preheader": "P", "paragraphs": ["One."], "callToAction": "Read."},
)


# --- which way ----------------------------------------------------------------------------------


def test_posts_and_summaries_are_edited_as_text_and_several_fields_as_content() -> None:
    kinds = [editing_kind(row) for row in (post("x"), SUMMARY, FAQ, NEWS)]
    assert kinds == ["text", "text", "content", "content"]


def test_a_format_of_ones_own_goes_by_its_fields() -> None:
    plain = row_of(declared_format("memo", prompt="Write."), {"result": "A memo."})
    text = {"name": "body", "type": "string"}
    single = declared_format("note", prompt="Write.", outputs=[text])
    listed = {"name": "tags", "type": "array", "items": "string"}
    tags = declared_format("tags", prompt="Write.", outputs=[listed])
    both = declared_format("both", prompt="Write.", outputs=[text, {**text, "name": "title"}])
    assert editing_kind(plain) == "text"
    assert editing_kind(row_of(single, {"body": "A note."})) == "text"
    assert editing_kind(row_of(tags, {"tags": ["a", "b"]})) == "content"
    assert editing_kind(row_of(both, {"body": "A.", "title": "B"})) == "content"


def test_a_format_that_is_not_known_any_more_has_only_its_text() -> None:
    assert editing_kind(FAQ, known=False) == "text"


# --- posts --------------------------------------------------------------------------------------


def test_a_post_is_counted_again_and_its_hashtags_are_read_again() -> None:
    made = edited(post("x"), "  Ferries open 🚢 in June. #boats #Ferries\n")
    assert made.text == "Ferries open 🚢 in June. #boats #Ferries"
    assert made.measures.length == 40  # an emoji counts as two on X
    assert (made.measures.unit, made.measures.max_length) == ("x_weighted", 280)
    assert made.content == {
        "text": made.text,
        "hashtags": ["#boats", "#Ferries"],
        "length": 40,
        "max_length": 280,
        "unit": "x_weighted",
        "shortened": False,
        "cut_mode": "none",
        "hashtags_dropped": 0,
    }


@pytest.mark.parametrize(
    ("platform", "text", "told"),
    [
        ("x", "a" * 283, "X: 3 too many; it has 283 of at most 280"),
        ("x", "🚢" * 141, "X: 2 too many; it has 282"),
        ("linkedin", "b" * 3001, "LinkedIn: 1 too many; it has 3,001 of at most 3,000"),
        ("bluesky", "é" * 300 + "x", "1 too many"),
        ("instagram", " ".join(f"#tag{n}x" for n in range(6)), "takes 5 hashtags, not 6"),
    ],
)
def test_what_a_platform_would_refuse_is_refused_by_how_much_and_never_cut(
    platform: str, text: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told.replace("(", "\\(")):
        edited(post(platform), text)


def test_the_longest_text_that_fits_is_kept() -> None:
    assert edited(post("x"), "a" * 280).measures.length == 280


def test_the_second_limit_of_a_platform_holds_too() -> None:
    family = "👩‍👩‍👧‍👦"  # one grapheme, 25 bytes
    with pytest.raises(UsageError, match="bytes"):
        edited(post("bluesky"), family * 200)


def test_the_layout_of_a_post_stays_as_it_was_written() -> None:
    text = "One line.\n#a #b\n\n\nAnother   one."
    assert edited(post("linkedin"), text).text == text


def test_the_limit_is_that_which_the_row_was_held_to() -> None:
    premium = FinishContext(platforms={"x": platform_chosen("x=premium")})
    assert edited(post("x"), "a" * 281, premium).measures.max_length == 25_000


def test_a_title_is_the_first_paragraph_and_has_its_own_limit() -> None:
    titled = next(name for name, each in PLATFORMS.items() if each.title and each.post)
    rule = PLATFORMS[titled].title
    assert rule is not None
    row = post(titled, title="Old")
    made = edited(row, "New title\n\nNew text.")
    assert (made.content["title"], made.content["title_length"]) == ("New title", 9)
    assert made.content["text"] == "New text."
    assert made.text == "New title\n\nNew text."
    with pytest.raises(UsageError, match="begins with its title"):
        edited(row, "Only one paragraph.")
    with pytest.raises(UsageError, match=r"title .* 1 too many"):
        edited(row, "t" * (rule.limit + 1) + "\n\nText.")


def test_a_thread_is_parted_and_each_of_its_posts_is_counted() -> None:
    row = thread("One sentence that is long enough. " * 20)
    assert editing_kind(row) == "text"
    parts = (row.text or "").split(DELIMITER)
    assert len(parts) > 2
    made = edited(row, DELIMITER.join(["Short.\n\n1/3", *parts[1:]]))
    posts = made.content["posts"]
    assert isinstance(posts, list)
    assert posts[0] == {"text": f"Short.\n\n1/{len(parts)}", "length": 11}
    assert made.measures.length == max(each["length"] for each in posts)


def test_a_thread_that_lost_a_post_is_numbered_anew_and_says_so() -> None:
    made = edited(thread("One sentence that is long enough. " * 20), "A.\n\n1/3\n* * *\nB.\n\n3/3")
    assert made.text == f"A.\n\n1/2{DELIMITER}B.\n\n2/2"
    assert made.notes == ("the posts of the thread are numbered anew",)


def test_a_thread_of_one_post_has_no_number() -> None:
    made = edited(thread("One sentence that is long enough. " * 20), "All of it.\n\n1/3")
    assert made.text == "All of it."


def test_a_post_of_a_thread_that_is_too_long_is_named() -> None:
    with pytest.raises(UsageError, match=r"X, post 2: 6 too many.*a line of \* \* \*"):
        edited(thread("One sentence that is long enough. " * 20), f"A.\n* * *\n{'b' * 286}")


# --- texts and fields ---------------------------------------------------------------------------


def test_a_summary_keeps_its_text_and_has_new_sentences() -> None:
    text = "We open in May.\n\nDr. Obi comes, too. Bring 1.5 cakes!"
    made = edited(SUMMARY, text)
    assert made.text == text
    assert made.content == {
        "sentences": ["We open in May.", "Dr. Obi comes, too.", "Bring 1.5 cakes!"]
    }
    assert made.measures.length == len(text)


def test_sentences_that_were_there_are_not_parted_anew() -> None:
    row = row_of(format_named("summary"), {"sentences": ["One. And two.", "Three"]})
    made = edited(row, "Zero. One. And two. Threefold.")
    assert made.content == {"sentences": ["Zero.", "One. And two.", "Threefold."]}


def test_a_ninth_sentence_is_refused_and_not_dropped() -> None:
    with pytest.raises(UsageError, match="9 sentences, the first 8 kept"):
        edited(SUMMARY, "We open at nine. " * 9)


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b"])
def test_nothing_is_no_text(text: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        edited(SUMMARY, text)


@pytest.mark.parametrize("text", ["{}", "\n{}\r\n", "{}  "])
def test_the_same_text_is_no_edit(text: str) -> None:
    summary = format_named("summary")
    given = text.replace("{}", SUMMARY.text or "")
    assert edited_text(SUMMARY, given, format=summary, context=CONTEXT) is None


def test_lines_of_a_web_form_end_as_others_do() -> None:
    assert edited(post("x"), "One.\r\nTwo.\rThree.").text == "One.\nTwo.\nThree."


def faq(pairs: object) -> Edited | None:
    content: JsonObject = {"pairs": pairs}  # type: ignore[dict-item]  # may be anything
    return edited_content(FAQ, content, format=format_named("faq"), context=CONTEXT)


def test_fields_give_the_text_and_its_length_again() -> None:
    made = faq([{"question": " How? ", "answer": "Like this.\nAnd that."}])
    assert made is not None
    assert made.content == {"pairs": [{"question": "How?", "answer": "Like this.\nAnd that."}]}
    assert made.text == "Q: How?\nA: Like this.\nAnd that."
    assert made.measures.length == len(made.text)


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([{"question": "Why?"}], "pairs.0.answer"),
        ([{"question": "Why?", "answer": 3}], "pairs.0.answer"),
        ([{"question": "Why?", "answer": "So.", "mood": "good"}], "undeclared key"),
        ("none", "pairs"),
        ([], "no complete pair"),
        ([{"question": "", "answer": "So."}], "no complete pair"),
        ([{"question": f"Why {n}?", "answer": "So."} for n in range(11)], "11 pairs, the first 10"),
        ([{"question": "Why\nso?", "answer": "So."}], "pairs.0.question would be changed"),
    ],
)
def test_fields_that_the_format_would_change_are_refused(pairs: object, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        faq(pairs)


def test_the_same_fields_are_no_edit() -> None:
    assert faq([{"question": "Why? ", "answer": "So."}]) is None


def test_several_fields_are_not_edited_as_text_and_a_post_not_as_fields() -> None:
    with pytest.raises(UsageError, match="has several fields"):
        edited(FAQ, "Q: Else?")
    with pytest.raises(UsageError, match="as one text"):
        edited_content(post("x"), {"text": "x"}, format=format_named("faq"), context=CONTEXT)


def test_a_bound_of_ones_own_format_refuses_and_does_not_cut() -> None:
    short = {"name": "body", "type": "string", "max_length": 20}
    own = declared_format("note", prompt="Write.", outputs=[short])
    row = row_of(own, {"body": "A note."})
    with pytest.raises(UsageError, match="20"):
        edited_text(row, "A note that is far longer.", format=own, context=CONTEXT)
    made = edited_text(row, "A better note.", format=own, context=CONTEXT)
    assert made is not None
    assert made.content == {"body": "A better note."}


def test_a_format_that_is_gone_keeps_the_text_and_says_what_is_lost() -> None:
    made = edited_text(FAQ, "Just words.", format=None, context=CONTEXT)
    assert made is not None
    assert (made.text, made.content) == ("Just words.", {"text": "Just words."})
    assert made.notes == ("the format is not known any more, so only its text is kept",)


# --- voices -------------------------------------------------------------------------------------

VOICE = Voice("acme", banned=("cheap", "best of breed"), disclaimer="No advice.")
SPOKEN = FinishContext(language="en", platforms=PLATFORMS, voice=VOICE)


def test_a_banned_word_is_noted_and_the_edit_is_kept() -> None:
    made = edited(post("x"), "CHEAP ferries. No advice.", SPOKEN)
    assert made.notes == ('uses the banned word "cheap"',)


def test_a_missing_disclaimer_is_noted() -> None:
    assert edited(SUMMARY, "New.", SPOKEN).notes == ("lacks the disclaimer of voice acme",)


def test_a_disclaimer_below_is_no_sentence_of_the_summary() -> None:
    row = row_of(format_named("summary"), {"sentences": ["One."]}, text="One.\n\nNo advice.")
    made = edited(row, "Two.\n\nNo advice.", SPOKEN)
    assert made.content == {"sentences": ["Two."]}
    assert made.text == "Two.\n\nNo advice."


def test_a_disclaimer_stays_under_fields() -> None:
    row = row_of(format_named("faq"), FAQ.content or {}, text=f"{FAQ.text}\n\nNo advice.")
    content: JsonObject = {"pairs": [{"question": "How?", "answer": "So."}]}
    made = edited_content(row, content, format=format_named("faq"), context=SPOKEN)
    assert made is not None
    assert made.text == "Q: How?\nA: So.\n\nNo advice."


# --- the revision -------------------------------------------------------------------------------


def test_an_edited_row_says_who_edited_it_and_holds_no_facts_of_calls() -> None:
    quotes = (Quote("Ferries", 0, 7), Quote("gone", 8, 12))
    row = post("x")
    made = edited(row, "Ferries.")
    facts: Mapping[str, Any] = {"row_id": "r2", "by": "Anna", "now": "2026-11-30T00:00:00.000Z"}
    new = revised(replace(row, quotes=quotes, reused_from="run0"), made, **facts)
    assert (new.id, new.action, new.author, new.locked) == ("r2", "edited", "Anna", True)
    assert new.created_at == "2026-11-30T00:00:00.000Z"
    assert new.provenance == "model m, edited by Anna"
    assert new.message == "Social posts edited by Anna"
    assert (new.attempts, new.elapsed_ms, new.reused_from) == (0, 0, None)
    assert new.quotes == quotes[:1]
    again = revised(new, made, **facts)
    assert again.provenance == "model m, edited by Anna"
