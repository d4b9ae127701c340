"""What steps handed on, read by path, laid flat and put together."""

from __future__ import annotations

import pytest

from repurpose.core.envelope import Envelope
from repurpose.core.outputs import aggregate, flattened, resolve, source_envelope
from repurpose.core.paths import MISSING
from repurpose.core.source import Source
from repurpose.errors import SourceError

FAQ = Envelope(200, "FAQ done", {"pairs": [{"question": "Why?"}], "profile": {"name": "Ada"}})
POST = Envelope(200, "Social posts done", {"x": {"length": 37}, "pairs": "other"})
BAD = Envelope.failure("FAQ generation error: no quota")


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("faq.profile.name", "Ada"),
        ("faq.data.profile.name", "Ada"),
        ("faq.pairs.0.question", "Why?"),
        ("social.data.x.length", 37),
        ("faq", FAQ.data),
        ("faq.data", FAQ.data),
        ("plain.profile.name", "Bo"),
        ("text", "as it is"),
        ("lookalike.status", "draft"),
    ],
)
def test_a_path_reads_through_the_data_of_an_envelope(path: str, found: object) -> None:
    outputs = {
        "faq": FAQ,
        "social": POST.to_map(),
        "plain": {"profile": {"name": "Bo"}},
        "text": "as it is",
        "lookalike": {"status": "draft", "data": []},
    }
    assert resolve(outputs, path) == found


@pytest.mark.parametrize(
    "path", ["faq.status", "faq.message", "faq.data.status", "bad.pairs", "nobody.pairs", ""]
)
def test_status_and_message_are_no_fields(path: str) -> None:
    assert resolve({"faq": FAQ, "bad": BAD}, path) is MISSING


def test_a_field_named_data_is_reachable() -> None:
    own = Envelope(200, "done", {"data": {"name": "field"}, "name": "outer"})
    assert resolve({"own": own}, "own.data.name") == "field"


def test_the_same_field_of_two_formats_stays_two_in_the_flat_view() -> None:
    assert flattened({"faq": FAQ, "social": POST}) == {
        "faq__pairs": FAQ.data["pairs"],
        "faq__profile": FAQ.data["profile"],
        "social__x": POST.data["x"],
        "social__pairs": "other",
    }


def test_a_failed_format_has_no_flat_fields() -> None:
    assert flattened({"faq": BAD}) == {}


def test_all_done_is_200_with_the_data_by_format() -> None:
    whole = aggregate({"faq": FAQ, "social": POST})
    assert (whole.status, whole.message) == (200, "FAQ done; Social posts done")
    assert whole.data == {"faq": FAQ.data, "social": POST.data}


def test_the_worst_status_wins_and_one_of_three_failed_has_one_bracket() -> None:
    whole = aggregate({"faq": BAD, "social": POST, "summary": FAQ})
    assert whole.status == 400
    assert whole.message == "part failed: [faq] FAQ generation error: no quota"
    assert set(whole.data) == {"social", "summary"}


def test_all_reasons_are_joined_in_order() -> None:
    whole = aggregate({"faq": BAD, "social": Envelope.failure("down")})
    assert whole.message == "part failed: [faq] FAQ generation error: no quota; [social] down"


def test_an_aggregate_is_an_envelope_again() -> None:
    whole = aggregate({"faq": FAQ, "bad": BAD})
    assert Envelope.from_object(whole.to_map()) == whole


def test_a_loaded_source_is_a_step_with_title_text_language_and_source() -> None:
    source = Source("A text.", "a.md", "markdown", title="A", language="en")
    loaded = source_envelope(source)
    assert (loaded.status, loaded.message) == (200, "Source loaded")
    assert loaded.data == {"title": "A", "text": "A text.", "language": "en", "source": "a.md"}
    assert resolve({"source": loaded}, "source.title") == "A"


def test_what_a_source_does_not_say_is_null_and_not_guessed() -> None:
    data = source_envelope(Source("A text.", "-", "text")).data
    assert (data["title"], data["language"]) == (None, None)


def test_a_source_that_cannot_be_read_is_a_failed_step_with_the_reason_and_what_to_do() -> None:
    error = SourceError("not-found", "a.md: no such file", hint="check the path")
    assert source_envelope(error) == Envelope.failure("a.md: no such file (check the path)")
    assert source_envelope(SourceError("empty", "a.md: empty")).message == "a.md: empty"
