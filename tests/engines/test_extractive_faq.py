"""Questions that a text answers: five kinds, in order, with answers in its own sentences."""

from __future__ import annotations

import asyncio
import json

import pytest

from repurpose.core.call import Call, Reply
from repurpose.core.source import Source
from repurpose.engines._extract_phrases import defined, question_of
from repurpose.engines.extractive import extractive_engine

BODY = "The bakery sold 900 loaves in its first week. Nobody had expected that in the village."


async def _answered(call: Call) -> Reply:
    return await extractive_engine().answer(call)


def pairs_of(text: str, language: str = "en", title: str | None = None) -> list[tuple[str, str]]:
    source = Source(text, "-", "markdown", title=title, language=language)
    reply = asyncio.run(_answered(Call("faq", "", "", {}, {}, source)))
    answer = json.loads(reply.text)  # noqa: TID251 - our own answer
    return [(pair["question"], pair["answer"]) for pair in answer["pairs"]]


def test_a_question_heading_is_answered_by_its_section() -> None:
    assert pairs_of(f"## Did it work?\n\n{BODY}") == [("Did it work?", BODY)]


def test_a_heading_that_asks_gets_its_mark_and_one_that_tells_gets_a_template() -> None:
    text = f"## What was slow\n\n{BODY}\n\n## How we cut waste\n\nFlour is weighed twice a day now."
    assert pairs_of(text) == [
        ("What was slow?", BODY),
        (
            "What does the article say about “How we cut waste”?",
            "Flour is weighed twice a day now.",
        ),
    ]


def test_a_question_in_the_text_is_answered_by_the_same_paragraph() -> None:
    text = f"The oven is old. Where does the flour come from? {BODY}\n\nThe mill is near."
    assert pairs_of(text) == [("Where does the flour come from?", BODY)]


@pytest.mark.parametrize(
    "text",
    [
        "The oven is old. But where does the flour come from? It comes by train.",
        "We asked ourselves: where does the flour come from? It comes by train.",
        "The flour comes by train, right? Every morning somebody fetches the sacks.",
        "Where does the flour come from?\n\nEvery morning somebody fetches the sacks.",
        "Really? Every morning somebody fetches the sacks from the station.",
    ],
)
def test_a_question_that_cannot_stand_alone_or_has_no_answer_is_none(text: str) -> None:
    pairs = pairs_of(text, title="Flour")
    assert [question for question, _ in pairs] == ["What does the article say about “Flour”?"]


def test_a_definition_answers_what_the_thing_is() -> None:
    sentence = "A sourdough starter is a mix of flour and water that lives."
    text = f"{sentence} The sourdough starter of the village is 40 years old."
    assert pairs_of(text) == [("What is a sourdough starter?", sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The first month was a success for everybody.",
        "It is a mix of flour and water.",
        "The oven is the oldest of the village.",
        "Anna Berg is a baker from the north.",
    ],
)
def test_not_every_sentence_with_is_defines_something(sentence: str) -> None:
    text = f"{sentence} Month, oven, Anna Berg and flour come back here, so does water."
    assert all(not question.startswith("What is") for question, _ in pairs_of(text, title="Bread"))


def test_the_kinds_come_in_order_of_how_much_they_are_the_authors_own() -> None:
    text = (
        "# Bread\n\nA rye bun is a loaf of dark flour. Rye bun after rye bun left the oven.\n\n"
        "## The mill\n\nThe mill stands by the river since 1821.\n\n"
        "## What was slow\n\nThe old oven needed three hours for each batch.\n\n"
        "## Costs\n\nWhat does a loaf cost today? A loaf costs four euros at the market.\n\n"
        "## Is it open on Sundays?\n\nThe shop opens on Sundays from eight to noon."
    )
    assert [question for question, _ in pairs_of(text)] == [
        "Is it open on Sundays?",
        "What was slow?",
        "What does a loaf cost today?",
        "What is a rye bun?",
        "What does the article say about “The mill”?",
    ]


def test_an_answer_that_announces_a_list_takes_it_along() -> None:
    text = "## What do you need?\n\nFor two loaves you need:\n\n- flour\n- *cold* water\n- salt"
    assert pairs_of(text) == [
        (
            "What do you need?",
            "For two loaves you need:\n- flour\n- cold water\n- salt",
        )
    ]


def test_an_announcement_without_its_list_is_left_out() -> None:
    text = (
        "## What do you need?\n\nTwo loaves take a whole evening. You need this:\n\n```\nflour\n```"
    )
    assert pairs_of(text) == [("What do you need?", "Two loaves take a whole evening.")]


def test_an_answer_has_at_most_three_sentences_in_a_row() -> None:
    sentences = [f"On day {n} the bakery sold {n * 7} loaves of bread." for n in range(1, 7)]
    (_, answer), *_ = pairs_of(f"## How many loaves?\n\n{' '.join(sentences)}")
    assert answer == " ".join(sentences[:3])


def test_no_question_and_no_answer_comes_twice() -> None:
    again = "## Did it work?\n\nThe oven is warm at five."
    pairs = pairs_of(f"## Did it work?\n\n{BODY}\n\n{again}\n\n## Oven?\n\n{BODY}")
    assert pairs == [("Did it work?", BODY)]


def test_there_are_never_more_than_ten_pairs() -> None:
    text = "\n\n".join(
        f"## Is {n} enough?\n\nFor {n} guests the dough weighs {n} kilos." for n in range(14)
    )
    assert len(pairs_of(text)) == 10


def test_sections_of_code_lists_and_scraps_make_no_pair() -> None:
    text = (
        f"# Bread\n\n{BODY}\n\n## Listing\n\n```\nx\n```\n\n## Links\n\n- [a](b)\n\n"
        "## More\n\nSee [x](y)\n\n## Ovens\n\nWood burns for two hours before the first loaf."
    )
    assert [q for q, _ in pairs_of(text)] == ["What does the article say about “Ovens”?"]


def test_without_headings_and_questions_one_pair_is_about_the_title() -> None:
    assert pairs_of(BODY, title="Bread") == [("What does the article say about “Bread”?", BODY)]


def test_an_unknown_language_asks_with_the_bare_heading() -> None:
    assert pairs_of("## Teig\n\nDer Teig ruht zwölf Stunden im Keller.", language="gsw") == [
        ("Teig", "Der Teig ruht zwölf Stunden im Keller.")
    ]


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        ("en", "Why increase the price", "Why increase the price?"),
        ("en", "How does the oven work", "How does the oven work?"),
        ("en", "How to store bread", "How to store bread?"),
        ("en", "What other towns can copy", None),
        ("en", "Why repairs matter", None),
        ("de", "Was kostet ein Brot", "Was kostet ein Brot?"),
        ("de", "Wie alles begann", None),
        ("fr", "Pourquoi tout mesurer", "Pourquoi tout mesurer ?"),
        ("fr", "Comment le pain a changé", None),
        ("es", "Cómo se hace el pan", "¿Cómo se hace el pan?"),
        ("it", "Perché il pane costa", "Perché il pane costa?"),
        ("pt", "Por que medir", "Por que medir?"),
        ("nl", "Wat kost een brood", "Wat kost een brood?"),
        ("sv", "Vad kostar ett bröd", "Vad kostar ett bröd?"),
        ("nb", "Hva koster et brød", "Hva koster et brød?"),
        ("ja", "パンはどう変わったか", "パンはどう変わったか？"),
        ("zh", "为什么要测量", "为什么要测量？"),
        ("ru", "Почему хлеб дорожает", "Почему хлеб дорожает?"),
        ("ar", "لماذا نخبز", "لماذا نخبز؟"),
        ("hi", "रोटी कैसे बनती है", "रोटी कैसे बनती है?"),
        ("xx", "Why not", None),
    ],
)
def test_whether_a_heading_asks_depends_on_its_language(
    language: str, heading: str, question: str | None
) -> None:
    assert question_of(heading, language) == question


@pytest.mark.parametrize(
    ("language", "sentence", "question"),
    [
        ("de", "Ein Sauerteig ist eine Mischung aus Mehl und Wasser.", "Was ist ein Sauerteig?"),
        ("fr", "Un levain est un mélange de farine.", "Qu’est-ce qu’un levain ?"),
        ("es", "Una masa madre es una mezcla de harina.", "¿Qué es una masa madre?"),
        ("it", "Un lievito è un fungo utile.", "Che cos’è un lievito?"),
        ("ja", "天然酵母とは、果物から育てた酵母のことです。", "天然酵母とは何ですか？"),
        ("zh", "酵母是一种真菌。", "什么是酵母？"),
        ("ru", "Закваска — это смесь муки и воды.", "Что такое Закваска?"),
        ("en", "WebVTT is a format for captions.", "What is WebVTT?"),
        ("en", "Bread is baked at night.", None),
    ],
)
def test_a_definition_is_recognised_by_its_form(
    language: str, sentence: str, question: str | None
) -> None:
    found = defined(sentence, language)
    assert (found[1] if found else None) == question
