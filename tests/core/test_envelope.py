"""The envelope and what is none."""

from __future__ import annotations

import pytest

from repurpose.core.envelope import Envelope, retries_phrase


@pytest.mark.parametrize("status", [201, 0, 500, True, "200", 200.0, None])
def test_no_status_but_200_and_400_exists(status: int) -> None:
    with pytest.raises(ValueError, match="200 or 400"):
        Envelope(status, "done")  # type: ignore[arg-type]  # the wrong value is the test


def test_data_holds_declared_fields_only() -> None:
    envelope = Envelope.success("done", {"pairs": [1], "mood": "glad"}, declared=["pairs"])
    assert envelope.data == {"pairs": [1]}


def test_a_failure_has_no_data() -> None:
    assert Envelope.failure("no key").to_map() == {"status": 400, "message": "no key", "data": {}}


def test_an_envelope_survives_the_way_to_a_map_and_back() -> None:
    envelope = Envelope.success("done", {"a": 1}, declared=["a"])
    assert Envelope.from_object(envelope.to_map()) == envelope
    assert Envelope.from_object(envelope) is envelope


def test_a_message_of_a_failure_is_all_that_it_holds() -> None:
    failure = Envelope.failure("the key was refused")
    assert (failure.status, failure.message, failure.data) == (400, "the key was refused", {})


@pytest.mark.parametrize("status", [201, True, "200", 200.0])
def test_three_parts_from_elsewhere_are_checked(status: int) -> None:
    assert Envelope.of(400, "no", {"a": 1}) == Envelope(400, "no", {"a": 1})
    with pytest.raises(ValueError, match="200 or 400"):
        Envelope.of(status, "done", {})


@pytest.mark.parametrize(("message", "data"), [(None, {}), ("done", []), ("done", None)])
def test_parts_that_make_no_envelope_are_refused(message: str, data: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="message is a text and its data an object"):
        Envelope.of(200, message, data)


def test_an_envelope_is_told_from_any_other_value() -> None:
    assert Envelope.is_envelope(Envelope.failure("no"))
    assert Envelope.is_envelope({"status": 200, "message": "done", "data": {"status": 7}})
    assert not Envelope.is_envelope({"status": "draft", "data": []})
    assert not Envelope.is_envelope("200")


def test_an_envelope_in_an_envelopes_data_stays_data() -> None:
    inner = Envelope.failure("inner").to_map()
    outer = Envelope.success("done", {"step": inner}, declared=["step"])
    assert Envelope.from_object(outer.to_map()) == outer
    assert outer.data == {"step": inner}


@pytest.mark.parametrize(
    "value",
    [
        {"status": "draft", "data": []},
        {"status": 200, "message": "done"},
        {"status": 200, "message": "done", "data": {}, "more": 1},
        {"status": True, "message": "done", "data": {}},
        {"status": 201, "message": "done", "data": {}},
        {"status": 200.0, "message": "done", "data": {}},
        {"status": "200", "message": "done", "data": {}},
        {"status": 200, "message": None, "data": {}},
        {"status": 200, "message": "done", "data": []},
        [200, "done", {}],
        None,
    ],
)
def test_look_alikes_are_no_envelopes(value: object) -> None:
    assert Envelope.from_object(value) is None
    assert not Envelope.is_envelope(value)


@pytest.mark.parametrize(
    ("attempts", "phrase"), [(0, ""), (1, ""), (2, " (1 retry)"), (3, " (2 retries)")]
)
def test_retries_are_told_only_where_there_were_some(attempts: int, phrase: str) -> None:
    assert retries_phrase(attempts) == phrase
