"""The scripted engine answers as it was told and remembers what it was asked."""

from __future__ import annotations

import asyncio

import pytest

from repurpose.core.call import Call, Reply
from repurpose.core.source import Source
from repurpose.engines import ENGINES
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import EngineError, StillWorking, UsageError


def call(format: str = "faq", attempt: int = 1) -> Call:
    source = Source("A short text.", "-", "text")
    return Call(format, "system", "user", {}, {}, source, attempt=attempt)


def answer(engine: ScriptedEngine, asked: Call) -> Reply:
    async def answered() -> Reply:
        return await engine.answer(asked)

    return asyncio.run(answered())


def texts(engine: ScriptedEngine, *calls: Call) -> list[str]:
    return [answer(engine, one).text for one in calls]


def test_a_sequence_is_given_in_order_whatever_format_asks() -> None:
    engine = scripted_engine(["one", {"pairs": ["zwölf"]}, Reply("three")])
    assert texts(engine, call("faq"), call("social"), call("faq")) == [
        "one",
        '{"pairs": ["zwölf"]}',
        "three",
    ]


def test_a_mapping_keeps_a_place_for_each_format() -> None:
    engine = scripted_engine({"faq": ["f1", "f2"], "social": ["s1"]})
    assert texts(engine, call("faq"), call("social"), call("faq")) == ["f1", "s1", "f2"]


def test_a_reply_keeps_everything_it_was_given() -> None:
    reply = Reply("", finish="refusal", refusal="no", requests=3)
    assert answer(scripted_engine([reply]), call()) == reply


def test_an_exception_in_the_script_is_raised_and_the_next_reply_follows() -> None:
    engine = scripted_engine([StillWorking("no answer in 4 requests"), "late"])
    with pytest.raises(StillWorking, match="no answer in 4 requests"):
        answer(engine, call())
    assert texts(engine, call()) == ["late"]


@pytest.mark.parametrize(
    ("engine", "line"),
    [
        (scripted_engine(["one"]), "the script has no reply left; it held 1"),
        (scripted_engine({"faq": ["one"]}), "the script has no reply left for faq; it held 1"),
    ],
)
def test_a_call_too_many_is_an_error_of_its_own(engine: ScriptedEngine, line: str) -> None:
    texts(engine, call())
    with pytest.raises(EngineError) as raised:
        answer(engine, call())
    assert str(raised.value) == line


def test_a_format_that_has_no_script_is_an_error() -> None:
    engine = scripted_engine({"faq": ["one"]}, repeat_last=True)
    with pytest.raises(EngineError, match="no reply left for social"):
        answer(engine, call("social"))


def test_the_last_reply_repeats_only_when_asked() -> None:
    engine = scripted_engine(["one", "two"], repeat_last=True)
    assert texts(engine, *[call()] * 4) == ["one", "two", "two", "two"]


def test_every_call_is_kept_in_order() -> None:
    engine = scripted_engine([EngineError("gone"), "two"])
    with pytest.raises(EngineError):
        answer(engine, call())
    answer(engine, call(attempt=2))
    assert [(one.format, one.attempt) for one in engine.calls] == [("faq", 1), ("faq", 2)]


def test_a_single_string_is_no_script() -> None:
    with pytest.raises(UsageError):
        scripted_engine("one")


def test_its_name_and_model_are_what_rows_are_labelled_with() -> None:
    assert scripted_engine(["one"]).provenance == "engine scripted"
    assert scripted_engine(["one"], name="mine", model="small").provenance == "model small"


@pytest.mark.parametrize("name", sorted(ENGINES))
def test_the_table_names_a_factory_in_a_module_of_its_family(name: str) -> None:
    module, _, factory = ENGINES[name].partition(":")
    assert (module, factory) == (f"repurpose.engines.{name}", f"{name}_engine")
