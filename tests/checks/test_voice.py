"""Banned words and the spelling of names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.checks.quality import EVERY_STRING, Prose
from repurpose.checks.voice import banned_in, is_read, respelled


def everywhere(_: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("A CHEAP tool", "cheap"),
        ("cheap", "Cheap"),
        ("so _cheap_ and", "cheap"),
        ("**cheap**!", "cheap"),
        ("best\n of\u00a0breed", "best of breed"),
        ("ＣＨＥＡＰ", "cheap"),
        ("ch\u00adeap", "cheap"),
        ("don’t", "don't"),
        ("STRASSE", "Straße"),
        ("cafe\u0301", "café"),
        ("AI技術の話", "AI"),
        ("これは無料です", "無料"),
        ("무료는 없다", "무료"),
        ("น้ำราคาถูกมาก", "ราคาถูก"),
        ("C++ it is", "C++"),
        ("read #CheapFlights now", "cheap"),
        ("read #CheapFlights now", "cheap flights"),
        ("read #cheapflights now", "Cheap Flights"),
        ("read #cheap_flights", "flights"),
        ("AIArt", "art"),
    ],
)
def test_a_banned_word_is_found(text: str, word: str) -> None:
    assert banned_in({"text": text}, [word]) == [("text", word)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Start the cart", "art"),
        ("cheaper and cheapest", "cheap"),
        ("artist", "art"),
        ("best in breed", "best of breed"),
        ("größer", "groß"),
        ("nothing", " "),
        ("", "cheap"),
        ("", "!"),
    ],
)
def test_a_part_of_another_word_is_none(text: str, word: str) -> None:
    assert banned_in({"text": text}, [word]) == []


def test_every_text_of_an_answer_is_looked_at_and_named_by_its_path() -> None:
    answer = {"pairs": [{"question": "Cheap?", "answer": "No."}], "tags": ["ok", "cheapart"]}
    assert banned_in(answer, ["cheap", "cheap art"]) == [
        ("pairs.0.question", "cheap"),
        ("tags.1", "cheap art"),
    ]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Github and GITHUB and github", "GitHub", "GitHub and GitHub and GitHub"),
        ("Iphone, IPHONE", "iPhone", "iPhone, iPhone"),
        ("A Github-like site, Github/Gitlab.", "GitHub", "A GitHub-like site, GitHub/Gitlab."),
        ("Nasa says", "NASA", "NASA says"),
        ("in New york or NEW\nYORK", "New York", "in New York or New\nYork"),
        ("ŁÓDŹ grows", "Łódź", "Łódź grows"),
        ("用github吧", "GitHub", "用GitHub吧"),
    ],
)
def test_a_name_in_another_case_is_corrected(text: str, name: str, expected: str) -> None:
    assert respelled({"t": text}, [name], paths=everywhere).answer == {"t": expected}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("see https://Github.example/Github and github.com", "GitHub"),
        ("#github @Github me@github.example", "GitHub"),
        ("in ~/github/x, /srv/github, C:\\github and `github`", "GitHub"),
        ("github_token", "GitHub"),
        ("Githubs", "GitHub"),
        ("It is us. Us too.", "IT"),
        ("It is us. Us too.", "US"),
        ("an apple and a red hat", "Apple"),
        ("a red hat", "Red Hat"),
        ("łódź płynie", "Łódź"),
        ("Lodz", "Łódź"),
        ("がくせい", "かくせい"),
        ("한국", "하국"),
    ],
)
def test_what_is_no_text_or_may_be_meant_stays(text: str, name: str) -> None:
    assert respelled({"t": text}, [name], paths=everywhere).answer == {"t": text}


def test_notes_say_what_was_corrected_and_what_was_left() -> None:
    answer = {"t": "Github has Github. From Lodz to łódź."}
    made = respelled(answer, ["GitHub", "Łódź"], paths=everywhere)
    assert made.notes == (
        "spelling: Github is now GitHub, 2 times",
        "spelling: Lodz may be Łódź",
        "spelling: łódź may be Łódź",
    )


def test_what_an_author_wrote_is_told_and_not_corrected() -> None:
    made = respelled({"t": "Github"}, ["GitHub"], paths=everywhere, quoted=True)
    assert (made.answer, made.notes) == ({"t": "Github"}, ("spelling: Github may be GitHub",))


def test_only_texts_that_are_read_are_corrected() -> None:
    answer = {"x": {"text": "Github", "hashtags": ["github"], "count": 3}}
    made = respelled(answer, ["GitHub"], paths=is_read(Prose(texts=("*.text",))))
    assert made.answer == {"x": {"text": "GitHub", "hashtags": ["github"], "count": 3}}
    assert is_read(EVERY_STRING)("a.b.0")


_WORDS = st.lists(
    st.sampled_from(
        ["GitHub", "github", "GITHUB", "Łódź", "lodz", "New", "york", "YORK", "IT", "it",
         "#github", "@GitHub", "https://github.com/Github", "x.Github", "\n", "無料",
         "é", "İ", "ß", "`Github`"]
    ),
    max_size=12,
)  # fmt: skip
_LISTED = ["GitHub", "Łódź", "New York", "IT"]


@given(_WORDS, st.sampled_from(["", " "]))
def test_correcting_keeps_the_length_changes_case_only_and_is_done_once(
    words: list[str], between: str
) -> None:
    text = between.join(words)
    once = respelled({"t": text}, _LISTED, paths=everywhere)
    made = str(once.answer["t"])
    assert len(made) == len(text)
    assert made.lower() == text.lower()
    again = respelled(once.answer, _LISTED, paths=everywhere)
    assert again.answer == once.answer


@given(st.text(max_size=60), st.lists(st.text(max_size=8), max_size=3))
def test_any_text_and_any_words_are_looked_at_without_an_error(text: str, words: list[str]) -> None:
    assert {word for _, word in banned_in({"t": text}, words)} <= set(words)
    assert len(str(respelled({"t": text}, words, paths=everywhere).answer["t"])) == len(text)


def test_a_long_hostile_text_takes_no_long_time() -> None:
    text = "cheap " * 20_000 + " " * 20_000 + "`" * 20_000 + "#" * 20_000
    banned_in({"t": text}, ["cheap flights", "cheap  cheap x"])
    respelled({"t": text}, ["Cheap", "Cheap Cheap X"], paths=everywhere)
