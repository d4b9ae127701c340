"""What an editor would not print: each sample is of a kind that a real, small model wrote."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.checks.quality import EVERY_STRING, Assignment, Prose, Review, review
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.formats import format_named
from repurpose.steps.request import first_call

TASK = first_call(
    format_named("newsletter"), Source("Bees.", "a.md", "text"), Steering(audience="beekeepers")
).system
SOURCE = (
    "The town put forty hives on its flat roofs. A beekeeper looks after them twice a week, and a"
    " local school counts the bees. In the first year the hives gave 310 kilograms of honey, most"
    " of it from lime trees. The second year was wet and gave half of that. Three roofs had to be"
    " mended because the stands were too heavy. Neighbours were asked what they think: nine in ten"
    " want the hives to stay, and two people were stung."
)
POST = (
    "Forty hives stand on the flat roofs of the town, and nine in ten neighbours want them there."
)


def of_text(text: str, *, source: str = SOURCE, **asked: Any) -> Review:
    """The review of one text of whole sentences."""
    return review({"text": text}, Prose(texts=("text",)), Assignment(TASK, source, **asked))


def of_line(text: str, **asked: Any) -> Review:
    return review({"line": text}, Prose(lines=("line",)), Assignment(TASK, SOURCE, **asked))


def of_posts(source: str = SOURCE, **posts: str) -> Review:
    answer = {name: {"text": text, "hashtags": []} for name, text in posts.items()}
    return review(answer, format_named("social").prose, Assignment(TASK, source, "en"))


def told(findings: Any) -> list[str]:
    return [str(finding) for finding in findings]


NOTHING = Review()


# --- repetition ----------------------------------------------------------------------------------


def test_a_sentence_in_a_loop_makes_a_text_unusable() -> None:
    found = of_text("The report was a joy to read. It was a joy to read. " + "It was a joy. " * 4)
    assert "text: repeats one sentence 4 times" in told(found.unusable)
    assert {finding.kind for finding in found.unusable} == {"quality"}


def test_case_and_punctuation_do_not_hide_a_loop() -> None:
    found = of_text("It was a joy to read! IT WAS A JOY TO READ. “It was a joy – to read”.")
    assert found.unusable


def test_a_sentence_said_twice_is_a_note() -> None:
    found = of_text(
        "Bees like flat roofs in town. They fly far in summer. Bees like flat roofs in town."
        " Nobody knows why that is so."
    )
    assert told(found.notes) == ["text: repeats an earlier sentence"]
    assert not found.unusable


def test_a_text_that_is_half_repetition_is_unusable() -> None:
    assert of_text("Bees like flat roofs in town. Bees like flat roofs in town.").unusable


def test_repetition_counts_over_the_entries_of_one_text() -> None:
    answer = {
        "sentences": ["Bees like flat roofs.", "They fly far.", *["Honey is sweet here."] * 3]
    }
    found = review(answer, format_named("summary").prose, Assignment(TASK, SOURCE))
    assert told(found.unusable) == ["sentences.3: repeats one sentence 3 times"]


def test_what_is_cut_off_anyway_is_not_looked_at() -> None:
    lines = [f"The hive on roof {word} gave honey." for word in "abcdefgh"]
    sentences = [f"{line} {word}." for line, word in zip(lines, SOURCE.split(), strict=False)]
    kept = format_named("summary").prose
    before = review({"sentences": sentences}, kept, Assignment(TASK, SOURCE))
    after = review({"sentences": [*sentences, "{{name}}:"]}, kept, Assignment(TASK, SOURCE))
    assert before == after


def test_short_answers_may_be_alike() -> None:
    assert of_text("Yes. It is warm. Yes. It is dry. Yes.") == NOTHING


def test_a_refrain_of_the_source_is_no_loop() -> None:
    refrain = "We shall keep the bees."
    text = f"{refrain} So it went: {refrain} And again: {refrain}"
    assert of_text(text, source=text) == NOTHING


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("ja", "屋上の巣箱から蜂蜜が取れました。"),
        ("zh", "屋顶上的蜂箱产出了三百公斤蜂蜜。"),
        ("hi", "छतों पर रखे छत्तों से बहुत शहद मिला।"),
        ("ar", "أنتجت خلايا النحل على الأسطح عسلا كثيرا. "),
    ],
)
def test_a_loop_is_seen_in_every_script(language: str, sentence: str) -> None:
    assert of_text(sentence * 3, language=language).unusable


def test_four_near_copies_are_a_loop_and_three_are_a_note() -> None:
    copy = "The {} beekeeper looks after all of the hives on the flat roofs of the town every week."
    four = [copy.format(word) for word in ("old", "young", "new", "kind")]
    other = "Honey is sold at the market. "
    assert told(of_text(other + " ".join(four)).unusable) == ["text: says almost the same 4 times"]
    assert told(of_text(other + " ".join(four[:3])).notes) == ["text: says almost the same 3 times"]


def test_parallel_sentences_with_facts_of_their_own_are_fine() -> None:
    text = " ".join(
        f"The {size} plan costs {price} euros a month and comes with {number} hives."
        for size, price, number in [
            ("small", 5, "two"), ("middle", 9, "four"), ("large", 15, "ten"), ("town", 50, "forty")
        ]
    )  # fmt: skip
    assert of_text(text) == NOTHING


def test_words_that_go_round_without_a_full_stop_are_a_loop() -> None:
    found = of_text("The hives gave honey and honey and wax " + "from the roof " * 5 + "in town.")
    assert told(found.unusable) == ["text: repeats the same words over and over"]
    assert of_text("Bees! #151312" + "#151312" * 9 + " and more.").unusable


def test_questions_may_be_worded_alike() -> None:
    names = ("hives", "roofs", "honey", "bees", "schools")
    pairs = [
        {"question": f"What does the town say about the {name}?", "answer": f"It likes {name}."}
        for name in names
    ]
    faq = format_named("faq").prose
    assert review({"pairs": pairs}, faq, Assignment(TASK, SOURCE)) == NOTHING


# --- posts ---------------------------------------------------------------------------------------


def test_equal_posts_for_all_platforms_are_unusable() -> None:
    found = of_posts(linkedin=POST, x=f"{POST} #bees", instagram=POST)
    assert told(found.unusable) == ["all posts are the same; each needs an angle of its own"]


def test_two_posts_that_are_nearly_alike_are_a_note() -> None:
    other = "Two people were stung last year. Three roofs had to be mended, and yet it goes on."
    found = of_posts(linkedin=f"{POST} It began small.", x=other, instagram=f"{POST} Come and see!")
    assert told(found.notes) == ["instagram: says almost the same as linkedin"]
    assert not found.unusable


def test_a_thin_source_may_give_one_text_for_all_platforms() -> None:
    found = of_posts(source=POST, linkedin=POST, x=POST, instagram=POST)
    assert found.notes
    assert not found.unusable


def test_posts_with_an_angle_each_are_fine() -> None:
    assert of_posts(linkedin=POST, x="Three roofs had to be mended for the bees.") == NOTHING


def test_a_sentence_may_stand_in_several_posts() -> None:
    shared = "Nine in ten want the hives to stay."
    found = of_posts(
        linkedin=f"{shared} The town put forty of them on its roofs, and a school counts the bees.",
        x=f"{shared} Two people were stung, and still they like the honey of the lime trees.",
        instagram=f"{shared} The wet year gave half, but the beekeeper goes up twice a week.",
    )
    assert found == NOTHING


# --- what a model leaves behind ------------------------------------------------------------------


@pytest.mark.parametrize(
    "echo",
    [
        "How to write one newsletter issue about the source",
        "Write one newsletter issue about the source, as a person would write to readers.",
        "The one thing that the reader is asked to do, as one sentence.",
        "One paragraph as plain text.",
        "The preview text beside the subject; does not repeat it.",
    ],
)
def test_wording_of_the_task_is_an_echo(echo: str) -> None:
    assert told(of_line(echo).unusable) == ["line: repeats the task in place of doing it"]


def test_a_long_run_of_the_task_inside_a_text_is_an_echo() -> None:
    text = (
        "Bees fly far in summer. The first one says what happened and why it matters to the reader."
        " They come home late at night, and the beekeeper writes down when each of them was seen."
    )
    assert of_text(text).unusable


@pytest.mark.parametrize(
    "text",
    [
        "What happened and why it matters",
        "Write to the town if you want a hive of your own.",
        "Where the source is thin, the river is too.",
        "It takes numbers, units, dates and names seriously.",
    ],
)
def test_common_wording_is_no_echo(text: str) -> None:
    assert of_line(text) == NOTHING


def test_what_the_source_says_itself_is_no_echo() -> None:
    said = "Write one newsletter issue about the source, as a person would write."
    assert of_text(said, source=f"Our rule is: {said}") == NOTHING


def test_a_wording_that_the_task_quotes_may_be_used() -> None:
    task = 'End with "Come and see the bees on the roof of the town hall".'
    asked = Assignment(task, SOURCE)
    answer = {"text": "Come and see the bees on the roof of the town hall."}
    assert review(answer, Prose(texts=("text",)), asked) == NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "Bees fly far.<|im_end|>",
        "|im_end|>]we would do it again.",
        "[INST] Bees fly far. [/INST]",
        "Bees fly far.<end_of_turn>",
        "Bees fly far.</s>",
        "Bees fly far. <|endoftext|> They sleep.",
        "### Response:\nBees fly far.",
        "▁Bees fly far.",
        "Bees fly far.</source_material>",
        "Bees fly [UNK] far.",
        "<think>Bees?</think> Bees fly far.",
    ],
)
def test_control_tokens_are_unusable(text: str) -> None:
    message = "text: holds a control token of the model's chat template"
    assert told(of_text(text).unusable) == [message]


def test_an_article_about_chat_templates_may_name_their_tokens() -> None:
    source = "A turn ends with <|im_end|>, elsewhere with [/INST]."
    assert of_text("Some models end a turn with <|im_end|>.", source=source) == NOTHING


def test_brackets_and_signs_of_ordinary_prose_are_no_tokens() -> None:
    text = "If a < b | c > d, write x[0]; “[he] said”, [sic] and 100 % of it (see <https://a.org>)."
    assert of_text(text) == NOTHING


@pytest.mark.parametrize(
    "text",
    [
        "Read more at [link].",
        "At [Company] we like bees.",
        "Dear {{name}}, bees fly far.",
        "Dear {{ user.first_name }}, bees fly far.",
        "Bees fly far, says [Your Name].",
        "More: [insert link here].",
        "Lorem ipsum dolor sit amet.",
        "Hello *|FNAME|*, bees fly far.",
        "Hello %FIRSTNAME%, bees fly far.",
        "Mehr dazu: [Link einfügen].",
        "Bei [Firma] mag man Bienen.",
        "Chez [Nom de l'entreprise], [lien].",
    ],
)
def test_a_place_that_nobody_filled_is_unusable(text: str) -> None:
    assert told(of_text(text).unusable) == ["text: holds a placeholder that nobody filled"]


@pytest.mark.parametrize(
    "text",
    [
        "“[The town] did well,” she said [sic], and “it [was] warm […] there”.",
        "He told [the company] about [name withheld].",
        "See [link](https://example.org/) and f{x}.",
        "In some templates {{ 7*7 }} is 49.",
    ],
)
def test_editors_brackets_are_no_placeholders(text: str) -> None:
    assert not of_text(text).unusable


def test_an_article_about_mail_may_show_its_placeholders() -> None:
    source = "Begin with {{name}} and never with [Company]."
    assert of_text("Begin with {{name}}, not [Company].", source=source) == NOTHING


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("See the [support page][support].", "holds a Markdown reference whose target is missing"),
        ("Bees fly far [1].", "holds a Markdown reference whose target is missing"),
        ("Bees fly far.[^3]", "holds a Markdown reference whose target is missing"),
        ("![Bees](bees.png) fly far.", "holds the Markdown of an image"),
        ("Bees fly ![", "holds the Markdown of an image"),
    ],
)
def test_markdown_that_points_nowhere_is_a_note(text: str, message: str) -> None:
    assert f"text: {message}" in told(of_text(text).notes)


@pytest.mark.parametrize(
    "text",
    [
        "Bees fly far [1].\n\n[1] https://example.org/bees",
        "In [2031] bees fly.",
        "Take a [0] here.",
    ],
)
def test_a_listed_source_and_other_numbers_are_no_dangling_reference(text: str) -> None:
    assert of_text(text).notes == ()


# --- ends ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [":", "：", ": #bees #honey", ":\n\n#bees"])
def test_a_text_that_ends_in_a_colon_is_unusable(end: str) -> None:
    found = of_text(f"To keep bees you need{end}")
    assert told(found.unusable) == ["text: ends in a colon: what it announces is missing"]


@pytest.mark.parametrize("end", ["what [", "the town, ", "and hives (", "honey –", "honey -"])
def test_a_text_that_breaks_off_is_unusable(end: str) -> None:
    found = of_text(f"Bees give {end}")
    assert told(found.unusable) == ["text: stops in the middle of a sentence"]


def test_a_subject_that_ends_in_a_colon_is_a_note() -> None:
    assert told(of_line("This month:").notes) == [
        "line: ends in a colon: what it announces is missing"
    ]
    assert not of_line("This month:").unusable


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The beekeeper goes up to the"),
        ("de", "Der Imker geht jede Woche auf das"),
        ("es", "El apicultor sube cada semana a la"),
    ],
)
def test_a_text_that_ends_with_an_article_stops_in_mid_sentence(language: str, text: str) -> None:
    found = of_text(text, language=language)
    assert told(found.notes) == ["text: stops in the middle of a sentence"]


def test_a_long_text_without_a_full_stop_is_a_note() -> None:
    text = "The beekeeper goes up twice a week and looks after the forty hives on the flat ro"
    assert told(of_text(text, language="en").notes) == [
        "text: ends without a full stop; its end may be missing"
    ]


@pytest.mark.parametrize(
    "end",
    [
        ".", "!", "?", "…", "”", ".)", " 🐝", " #bees #roof", " https://example.org/bees",
        "\n\nBees for all", "\n- hives and everything that belongs to them in the first year",
        " 310", "。", "।",
    ],
)  # fmt: skip
def test_these_ends_of_a_long_text_are_fine(end: str) -> None:
    text = f"The beekeeper goes up twice a week and looks after the forty hives on the roofs{end}"
    assert of_text(text, language="en") == NOTHING


def test_thai_needs_no_full_stop() -> None:
    text = "คนเลี้ยงผึ้งขึ้นไปบนหลังคาสัปดาห์ละสองครั้งเพื่อดูแลรังผึ้งสี่สิบรังและชาวบ้านส่วนใหญ่อยากให้รังผึ้งอยู่ต่อไป"
    assert of_text(text, language="th") == NOTHING


@pytest.mark.parametrize("text", ["…", "🐝🐝", "---", "?!"])
def test_a_text_without_a_letter_or_digit_is_empty(text: str) -> None:
    assert told(of_text(text).unusable) == ["text: holds nothing to read"]


def test_a_link_alone_is_no_text() -> None:
    found = of_text("https://example.org/in/somebody")
    assert told(found.unusable) == ["text: is a link and nothing else"]
    assert of_text("Bees: https://example.org/") == NOTHING
    assert of_text("記事の全文はこちら：https://example.org/bees") == NOTHING


def test_a_number_can_be_an_answer() -> None:
    assert of_text("310") == NOTHING


# --- language ------------------------------------------------------------------------------------

GERMAN = "Die Stadt stellte vierzig Bienenstöcke auf ihre flachen Dächer und zählt seitdem Honig."
SPANISH = "La ciudad puso cuarenta colmenas en sus tejados y ahora cuenta los kilos de miel."
CHINESE = (
    "这座城市在平屋顶上放置了四十个蜂箱，养蜂人每周上去两次，当地学校负责数蜜蜂。"
    "第一年收获了三百一十公斤蜂蜜，第二年雨水很多，产量只有一半，大多数邻居仍然希望蜂箱留下来。"
)
NORWEGIAN = (
    "Byen satte førti bikuber på de flate takene sine, og nå teller den kiloene med honning."
)


def test_another_language_than_asked_for_is_unusable() -> None:
    assert told(of_text(POST, language="de").unusable) == ["text: is written in en, not in de"]
    assert told(of_text(GERMAN, language="pt-BR").unusable) == [
        "text: is written in de, not in pt-BR"
    ]


@pytest.mark.parametrize(
    ("language", "text"),
    [("en", POST), ("de", GERMAN), ("de-CH", GERMAN), ("es", SPANISH), ("nb", NORWEGIAN),
     ("da", NORWEGIAN), ("zh-Hans", CHINESE)],
)  # fmt: skip
def test_the_language_asked_for_and_its_kin_are_fine(language: str, text: str) -> None:
    assert not [
        each for each in of_text(text, language=language).unusable if "written" in str(each)
    ]


def test_a_short_quotation_in_another_language_is_a_note() -> None:
    answer = {"paragraphs": [GERMAN, f"{GERMAN[:-1]} in jedem Jahr.", f"{GERMAN} Immer.", SPANISH]}
    found = review(answer, Prose(texts=("paragraphs.*",)), Assignment(TASK, SOURCE, "de"))
    assert told(found.notes)[-1:] == ["paragraphs.3: is written in es, not in de"]


def test_one_post_in_another_language_is_unusable_although_the_others_are_right() -> None:
    answer = {name: {"text": text} for name, text in (("linkedin", GERMAN), ("x", POST))}
    found = review(answer, format_named("social").prose, Assignment(TASK, SOURCE, "de"))
    assert told(found.unusable) == ["x.text: is written in en, not in de"]


def test_a_short_text_says_little_about_its_language() -> None:
    assert of_text("Forty hives, 310 kilograms.", language="de") == NOTHING


def test_no_language_means_no_check() -> None:
    assert of_text(GERMAN, language=None) == NOTHING


# --- what is looked at ---------------------------------------------------------------------------


def test_quotations_are_the_authors_own() -> None:
    odd = "They need: {{name}}, [1] and"
    found = of_text(odd, quotes=(odd,), language="de", source="Another spelling of it.")
    assert found == NOTHING


def test_an_answer_that_is_mostly_quotations_gets_notes_only() -> None:
    said = "The town put forty hives on its flat roofs."
    answer = {"pairs": [{"question": "What about:", "answer": said}] * 3}
    asked = Assignment(TASK, "elsewhere", quotes=(said,))
    found = review(answer, format_named("faq").prose, asked)
    assert found.notes
    assert not found.unusable


def test_a_format_that_says_nothing_about_its_fields_gets_notes_only() -> None:
    answer = {"a": {"b": ["Dear {{name}}:", "…"]}, "code": "<user>", "n": 3}
    found = review(answer, EVERY_STRING, Assignment(TASK, SOURCE, "en"))
    assert told(found.notes) == [
        "a.b.0: holds a placeholder that nobody filled",
        "code: holds a control token of the model's chat template",
    ]
    assert not found.unusable


def test_the_same_defect_in_many_places_is_told_once() -> None:
    sentences = [f"Bees {word}:" for word in ("fly", "sleep", "eat", "dance", "sting")]
    found = review({"s": sentences}, Prose(texts=("s.*",)), Assignment(TASK, SOURCE))
    assert told(found.unusable) == [
        "s.0: ends in a colon: what it announces is missing (likewise in 4 more places)"
    ]


@pytest.mark.parametrize("name", ["summary", "faq", "social", "newsletter"])
def test_golden_answers_pass(name: str, golden: Any, root: Any) -> None:
    source = (root / "fixtures" / "sources" / "article.md").read_text(encoding="utf-8")
    made = format_named(name)
    assert review(golden(name), made.prose, Assignment(TASK, source, "en")) == NOTHING


@pytest.mark.parametrize("name", ["summary", "faq", "social", "newsletter"])
def test_every_string_that_is_published_is_read(name: str, golden: Any) -> None:
    """A control token in any string of an answer is found, except in a hashtag."""

    def spoiled(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {inner: spoiled(each, inner) for inner, each in value.items()}
        if isinstance(value, list):
            return [spoiled(each, key) for each in value]
        return value if key == "hashtags" else f"{value}<|im_end|>"

    answer = spoiled(golden(name))
    count = str(answer).count("<|im_end|>")
    found = review(answer, format_named(name).prose, Assignment(TASK, SOURCE)).unusable
    message = "holds a control token of the model's chat template"
    told_places = [str(each) for each in found if message in each.message]
    assert told_places
    if count > 3:
        assert told_places[0].endswith(f"(likewise in {count - 1} more places)")
    else:
        assert len(told_places) == count


# --- laws ----------------------------------------------------------------------------------------

SNIPPETS = st.sampled_from(
    ["[", "]", "![", "{{", "}}", "<|im_end|>", "[1]", ":", "\n", " ", "#", "bees ", "蜂",
     "It is so now. ", "…", "lorem ipsum", "https://a.org ", "\ufffd", "\u200d", "%AAA%", "|"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(SNIPPETS, st.text(max_size=5)), max_size=30).map("".join)


@given(TEXTS)
def test_any_text_is_reviewed_and_never_quoted(text: str) -> None:
    secret = "Zweiundvierzigtausend"
    found = of_text(f"{secret} {text} {secret}")
    for finding in (*found.unusable, *found.notes):
        assert secret.lower() not in str(finding).lower()
        assert len(str(finding)) < 100


@pytest.mark.parametrize(
    "unit",
    ["[", "{{", "a ", " ", "\n", "<", "It is a loop here. ", "[1]", "[Name]", "<|x|>", "word. ",
     "蜂", "#a ", "“", "Write one newsletter issue about the source. ", "a.b/"],
)  # fmt: skip
def test_a_hostile_text_takes_no_longer_than_its_length_allows(unit: str) -> None:
    def seconds(size: int) -> float:
        text = (unit * size)[:size] + "."
        began = time.process_time()
        of_text(text, source=text[::-1], language="en")
        return time.process_time() - began

    seconds(1_000)
    assert seconds(40_000) < 1  # what is quadratic takes a minute


def test_a_number_before_an_echo_does_not_hide_it() -> None:
    """Small models number what they repeat: seen from a real one."""
    task = 'Write posts that match {"x":{"description":"The post for LinkedIn."}}'
    found = review(
        {"text": "1. The post for LinkedIn."},
        Prose(texts=("text",)),
        Assignment(task, source="Bees."),
    )
    assert [finding.message for finding in found.unusable] == [
        "repeats the task in place of doing it"
    ]
