"""Where sentences end: the rules of the layer, under either segmenter."""

from __future__ import annotations

import importlib
import json
import pickle
import subprocess
import sys
from time import process_time
from typing import TYPE_CHECKING

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.errors import UsageError
from repurpose.text.sentences import primary_language, segmenter_named, sentence_spans

if TYPE_CHECKING:
    from pathlib import Path

    from repurpose.text.sentences import Segmenter, Span

SEGMENTERS = ("sentencex", "nltk")


def sentences(text: str, language: str | None = "en", segmenter: str = "sentencex") -> list[str]:
    chosen = segmenter_named(segmenter)
    return [text[start:end] for start, end in sentence_spans(text, language, segmenter=chosen)]


CASES: dict[str, list[tuple[str, list[str]]]] = {
    "abbreviations": [
        ("en", ["Dr. Obi and Ms. Lind came.", "They stayed."]),
        ("en", ["Gen. Ruiz met Sgt. Cole.", "Capt. Moss was late."]),
        ("en", ["Some tools, e.g. Docker, help.", "Others do not."]),
        ("en", ["I like it, i.e. Everybody does.", "Good."]),
        ("en", ["Cho et al. found nothing.", "Others did."]),
        ("en", ["Bring pens, paper, etc. to the hall.", "We start at noon."]),
        ("en", ["See Fig. 2a and Sec. 4.", "Both are short."]),
        ("en", ["It takes approx. 14 min. to install.", "Then restart."]),
        ("en", ["The board met on Jan. 5 and Feb. 12.", "Nobody left."]),
        ("en", ["The No. 1 reason is price.", "Habit comes next."]),
        ("en", ["Acme Inc. CEO Ada Roe spoke.", "The room was full."]),
        ("en", ["She works at Acme Corp.", "He works at home."]),
        ("en", ["He holds a Ph.D. in physics.", "She holds two."]),
        ("de", ["Das ist z. B. gut, d. h. brauchbar.", "Wir bleiben."]),
        ("de", ["Wir nutzen z.B. Rust.", "Das reicht."]),
        ("de", ["Es kostet ca. 5 Euro.", "Siehe Abs. 3.", "Danke."]),
        ("de", ["Frau Prof. Dr. Kurz kommt.", "Herr Meier nicht."]),
        ("fr", ["M. Petit et Mme Roux sont là.", "Ils parlent."]),
        ("fr", ["C'est bon, p. ex. ici.", "Bien sûr."]),
        ("es", ["Vive en EE. UU. desde 2010.", "Le gusta."]),
        ("es", ["Son aprox. un millón.", "¿Te sorprende?"]),
        ("it", ["Il Sig. Neri e la Dott.ssa Blu arrivano.", "Si parte."]),
        ("pt-BR", ["O Sr. Lima chegou.", "Comece já."]),
        ("ru", ["Это стоит 5 руб. за штуку.", "Дёшево."]),
        ("pl", ["Np. Jan przyszedł.", "Było miło."]),
        ("sv", ["Vi läser t.ex. Lagerlöf.", "Det är bra."]),
    ],
    "initials and dotted names": [
        ("en", ["J. R. R. Tolkien wrote it.", "We print it."]),
        ("en", ["A.J. Lee spoke first.", "B.B. King played last."]),
        ("en", ["Our guest, Ann Q. Public, smiled.", "We clapped."]),
        ("en", ["The U.S. Senate voted.", "The E.U. market fell."]),
        ("en", ["We sell in the U.S.", "They sell in the U.K."]),
        ("en", ["Meet at 5 p.m. ET on Friday.", "Do not be late."]),
        ("en", ["We chose plan B.", "It worked."]),
        ("en", ["Do we charge?", "No.", "We don't."]),
        ("en", ["Thanks for reading.", "P.S. We moved the date."]),
        ("ru", ["А. С. Пушкин писал стихи.", "Мы читаем."]),
    ],
    "numbers": [
        ("en", ["Costs fell by 12.5 percent.", "Sales rose by 3.1%."]),
        ("en", ["It costs 1,000.50 dollars.", "10 people paid."]),
        ("en", ["Version 3.2.1 is out.", "2.9 is no longer supported."]),
        ("en", ["It opened in 2019.", "2020 was hard."]),
        ("de", ["Am 24. Dezember ist zu.", "Am 27. Dezember ist offen."]),
        ("de", ["Das war im 19. Jahrhundert.", "Danach kam mehr."]),
    ],
    "ellipses": [
        ("en", ["I waited... and waited...", "Nothing came."]),
        ("en", ["And then… it worked.", "Wow."]),
        ("en", ["We tried it all…", "Nothing helped."]),
        ("en", ['They quote "[...] the sea [...] was calm" here.', "Odd."]),
    ],
    "quotes and brackets": [
        ("en", ['She said, "We are done."', "Then she left."]),
        ("en", ['"Is it fast?" she asked.', "It is."]),
        ("en", ["“Ship it.”", "That was all."]),
        ("en", ["(We tried it twice.)", "It works."]),
        ("en", ["We tried it (twice!) and it works.", "Promise."]),
        ("en", ["**Bold claim.**", "_Really._", "Prove it."]),
        ("en", ["It is known.[12]", "We checked."]),
        ("en", ["The plan (see p. 12. It is short.) holds.", "Read it."]),
        ("de", ["„Komm her!“, rief er.", "Sie blieb."]),
        ("de", ["„Wir sind fertig.“", "Dann ging sie."]),
        ("de", ["Er sagte: „Nein. Nie.“", "Dann ging er."]),
        ("fr", ["« C'est fini ! »", "Il part."]),
    ],
    "exclamations": [
        ("en", ["Is it done?!", "Not yet!!", "Soon."]),
        ("en", ["Yahoo! was big.", "Then it was not."]),
        ("en", ["it works.", "try it.", "tell us."]),
        ("en", ["Wow!", "iPhone sales doubled."]),
    ],
    "lists": [
        ("en", ["1. Write the draft.", "2. Edit it.", "3. Ship it."]),
        ("en", ["1) Ship", "2) Rest", "3) Repeat"]),
        ("en", ["• Start small", "• Ship weekly"]),
        ("en", ["Step 1. Open the box.", "Step 2. Read the note."]),
        ("en", ["a. Plan it.", "b. Do it."]),
        ("en", ["Two steps: 1. Plan; 2. Do.", "Then rest."]),
    ],
    "links and tags": [
        ("en", ["Read https://example.com/a.b?q=c.D.", "Then tell us."]),
        ("en", ["Visit example.com.", "It is free."]),
        ("en", ["Thanks @dr.smith and @acme.co.", "See you."]),
        ("en", ["Mail jo.doe@example.org.", "We answer."]),
        ("en", ["Use Node.js or ASP.NET.", "Pick one."]),
        ("en", ["Call `run! Now` first.", "Then stop."]),
        ("en", ["Good talk.", "#AI #Python"]),
        ("en", ["Yes!", "#launch is live."]),
    ],
    "other scripts": [
        ("el", ["Το είδατε;", "Πείτε μας."]),
        ("ar", ["هل أنت جاهز؟", "نعم."]),
        ("ur", ["یہ اچھا ہے۔", "جی ہاں۔"]),
        ("hi", ["यह अच्छा है।", "हाँ।"]),
        ("hy", ["Սա լավ է։", "Այո։"]),
        ("ko", ["새 판입니다.", "써 보세요!"]),
        ("he", ["זה עובד.", "יש שאלות?"]),
    ],
}


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@pytest.mark.parametrize("group", CASES)
def test_sentences_end_where_a_reader_would_say(group: str, segmenter: str) -> None:
    found = {
        " ".join(parts): sentences(" ".join(parts), language, segmenter)
        for language, parts in CASES[group]
    }
    assert found == {" ".join(parts): parts for _, parts in CASES[group]}


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@pytest.mark.parametrize(
    ("language", "parts"),
    [
        ("zh", ["新版本来了。", "快试试吧！", "好吗？"]),
        ("zh", ["价格是3.5元。", "很便宜。"]),
        ("ja", ["すごい！！", "本当？！", "はい。"]),
        ("ja", ["彼は「行くよ。」と言った。", "終わり。"]),
        ("ja", ["「行く。帰る。」", "それだけ。"]),
        ("hi", ["यह है।", "वह है।"]),
        ("ar", ["هل هذا صحيح؟", "نعم هو صحيح."]),
        ("es", ["¿Listo?", "¡Vamos!"]),
        (None, ["新版本来了。", "Try it now."]),
    ],
)
def test_clear_sentence_marks_need_no_space_after_them(
    language: str | None, parts: list[str], segmenter: str
) -> None:
    assert sentences("".join(parts), language, segmenter) == parts


@pytest.mark.parametrize("segmenter", SEGMENTERS)
def test_emoji_after_a_stop_never_keep_the_sentence_open(segmenter: str) -> None:
    assert sentences("We did it!🎉 Thank you.", segmenter=segmenter) == [
        "We did it!🎉",
        "Thank you.",
    ]
    assert sentences("Launch day. 🚀 Read on.", segmenter=segmenter)[0] in {
        "Launch day.",
        "Launch day. 🚀",
    }


def test_a_last_emoji_belongs_to_the_sentence_before_it() -> None:
    assert sentences("We grew. Thank you. 🙌") == ["We grew.", "Thank you. 🙌"]


@pytest.mark.parametrize("segmenter", SEGMENTERS)
@pytest.mark.parametrize(
    "text",
    [
        "a stream of words that goes on and on without any stop",
        "นี่คือข้อความที่ไม่มีเครื่องหมายจบประโยค",
        "第一行没有标点",
    ],
)
def test_text_without_stops_is_one_sentence(text: str, segmenter: str) -> None:
    assert sentences(text, None, segmenter) == [text]


@pytest.mark.parametrize("line_break", ["\n", "\n\n", "\r\n", "\u2028", "\u2029", "\v"])
def test_a_line_break_ends_a_sentence(line_break: str) -> None:
    assert sentences(f"Line one{line_break}Line two, e.g.{line_break}three") == [
        "Line one",
        "Line two, e.g.",
        "three",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\u00a0\t\n"])
def test_text_without_a_word_has_no_sentence(text: str) -> None:
    assert sentence_spans(text) == []


def test_a_no_break_space_is_white_space() -> None:
    assert sentences("It works.\u00a0Try it.\u00a0") == ["It works.", "Try it."]


@pytest.mark.parametrize(
    ("code", "primary"),
    [("pt-BR", "pt"), ("zh_Hans", "zh"), ("DE", "de"), (None, "en"), ("", "en"), ("gsw", "gsw")],
)
def test_the_rules_of_a_language_follow_its_primary_code(code: str | None, primary: str) -> None:
    assert primary_language(code) == primary


def test_an_unknown_language_still_gets_sentences() -> None:
    assert sentences("Ina ci. Ina sha.", "ha") == ["Ina ci.", "Ina sha."]
    assert sentences("One. Two.", "no such language") == ["One.", "Two."]


ALPHABET = "aB1 .!?…,。「」()\"'“”«»*#@:/-\n\u00a0é\u0301🎉🇩🇪\u200d•"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=ALPHABET, max_size=60), st.sampled_from(["en", "de", "ja", "el", None]))
def test_the_spans_hold_every_character_but_white_space(text: str, language: str | None) -> None:
    position = 0
    for start, end in sentence_spans(text, language):
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        position = end
    assert text[position:].strip() == ""


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(-5, 30), st.integers(-5, 30)), max_size=5))
def test_a_wild_segmenter_cannot_lose_text(proposed: list[tuple[int, int]]) -> None:
    text = "One two. Three four! Five"

    def wild(text: str, language: str, /) -> list[Span]:
        return proposed

    spans = sentence_spans(text, segmenter=wild)
    assert " ".join(text[start:end] for start, end in spans) == text


def test_a_segmenter_sees_tokens_as_words_and_a_primary_code() -> None:
    seen: list[tuple[str, str]] = []

    def noting(text: str, language: str, /) -> list[Span]:
        seen.append((text, language))
        return [(0, len(text))]

    sentence_spans("See example.com/a.b now", "de-AT", segmenter=noting)
    assert seen == [("See X" + "x" * 14 + " now", "de")]


HOSTILE = {
    "stops": "a. " * 33_000,
    "dotted": "A.B.C. " * 15_000,
    "open quotes": "«a. " * 25_000,
    "open brackets": "「a。" * 25_000,
    "no space": "x" * 100_000,
    "marks": "! " * 50_000,
    "brackets": "(.) " * 25_000,
    "spaces": "a." + " " * 100_000 + "b",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_costs_time_in_proportion_to_its_length(text: str) -> None:
    began = process_time()
    sentence_spans(text[:12_000])
    assert process_time() - began < 1.0  # quadratic rules take seconds here


@pytest.mark.parametrize("name", ["", "punkt", "nltk:", "sentencex:x", "spacy", "NLTK"])
def test_an_unknown_segmenter_is_refused_with_the_choices(name: str) -> None:
    with pytest.raises(UsageError, match=r"sentencex, nltk or nltk:PATH"):
        segmenter_named(name)


def test_nltk_is_imported_only_when_it_is_chosen() -> None:
    code = (
        "import sys; from repurpose.text.sentences import segmenter_named, sentence_spans;"
        "sentence_spans('One. Two.', segmenter=segmenter_named('sentencex'));"
        "print('nltk' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.strip() == "False"


TRAINING = (
    "The xyz. value rose. The xyz. value fell. A xyz. value is kept. Every xyz. value counts. "
    "People like it. Nobody knows the xyz. value. We measure the xyz. value daily. "
) * 20


def trained() -> object:
    punkt = importlib.import_module("nltk.tokenize.punkt")
    trainer = punkt.PunktTrainer()
    trainer.train(TRAINING, finalize=True)
    return trainer.get_params()


def knowing_xyz() -> object:
    """A model whose only knowledge is one abbreviation."""
    parameters = importlib.import_module("nltk.tokenize.punkt").PunktParameters()
    parameters.abbrev_types = {"xyz"}
    return parameters


def tables(parameters: object, folder: Path) -> Path:
    """The four files of the punkt_tab format, written as NLTK writes them."""
    folder.mkdir(parents=True)
    lines = {
        "abbrev_types.txt": sorted(parameters.abbrev_types),
        "collocations.tab": ["\t".join(pair) for pair in sorted(parameters.collocations)],
        "sent_starters.txt": sorted(parameters.sent_starters),
        "ortho_context.tab": [f"{w}\t{n}" for w, n in sorted(parameters.ortho_context.items())],
    }
    for name, content in lines.items():
        (folder / name).write_text("\n".join(content), encoding="utf-8")
    return folder


def as_tuple(parameters: object) -> tuple[object, ...]:
    return (
        parameters.abbrev_types,
        parameters.collocations,
        parameters.sent_starters,
        dict(parameters.ortho_context),
    )


def test_a_trained_model_survives_the_way_through_a_file(tmp_path: Path) -> None:
    punkt = importlib.import_module("repurpose.text.punkt")
    parameters = trained()
    assert "xyz" in parameters.abbrev_types
    punkt.save_punkt(parameters, tmp_path / "model.json")
    assert as_tuple(punkt.read_punkt(tmp_path / "model.json")) == as_tuple(parameters)
    folder = tables(parameters, tmp_path / "model")
    assert as_tuple(punkt.read_punkt(folder)) == as_tuple(parameters)


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_model_of_the_users_own_decides_what_ends_a_sentence(tmp_path: Path, kind: str) -> None:
    punkt = importlib.import_module("repurpose.text.punkt")
    parameters = knowing_xyz()
    path = tmp_path / "model"
    if kind == "file":
        punkt.save_punkt(parameters, path)
    else:
        tables(parameters, path)
    text = "We saw the xyz. Value of it. Good."
    assert sentences(text, "en", f"nltk:{path}") == ["We saw the xyz. Value of it.", "Good."]
    assert sentences(text, "en", "nltk") == ["We saw the xyz.", "Value of it.", "Good."]


def test_the_tables_of_the_user_are_used_where_nltk_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    punkt = importlib.import_module("repurpose.text.punkt")
    tables(knowing_xyz(), tmp_path / "tokenizers" / "punkt_tab" / "english")
    monkeypatch.setattr("nltk.data.path", [str(tmp_path)])
    punkt._tokenizer.cache_clear()
    try:
        assert sentences("The xyz. Value rose. Good.", "en", "nltk") == [
            "The xyz. Value rose.",
            "Good.",
        ]
    finally:
        punkt._tokenizer.cache_clear()


def model_file(**changes: object) -> bytes:
    tables = {"abbreviations": [], "collocations": [], "starters": [], "contexts": {}}
    return json.dumps({"format": "punkt-1", **tables, **changes}).encode()


def test_a_model_without_knowledge_is_a_model(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_bytes(model_file())
    assert sentences("One. Two.", "en", f"nltk:{tmp_path / 'model.json'}") == ["One.", "Two."]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b'{"format": "punkt-2"}',
        model_file(abbreviations=[1]),
        model_file(collocations=[["one word"]]),
        model_file(contexts={"a": True}),
        model_file(starters=None),
        b"\xff\xfe",
        pickle.dumps({"abbrev_types": {"dr"}}),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="no Punkt model at"):
        segmenter_named(f"nltk:{path}")


def test_a_path_without_a_model_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(UsageError, match="no Punkt model at"):
            segmenter_named(f"nltk:{path}")


def _social_hits(cases: list[dict[str, object]], segmenter: Segmenter) -> list[str]:
    missed = []
    for case in cases:
        text = case["text"]
        spans = sentence_spans(text, case["lang"], segmenter=segmenter)
        got = ["".join(text[start:end].split()) for start, end in spans]
        accepted = [["".join(part.split()) for part in parts] for parts in case["accepted"]]
        if got not in accepted:
            missed.append(text)
    return missed


@pytest.mark.shared
@pytest.mark.parametrize("segmenter", SEGMENTERS)
def test_shared_posts_are_segmented_as_a_person_would(shared: Path, segmenter: str) -> None:
    path = shared / "conformance/segmentation-social.yaml"
    cases = yaml.safe_load(path.read_text("utf-8"))["cases"]
    missed = _social_hits(cases, segmenter_named(segmenter))
    assert len(cases) == 75
    assert len(missed) <= 2, missed
