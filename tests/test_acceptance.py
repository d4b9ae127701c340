"""What others build on, through the public interface alone: the package and the command line.

Envelope, validator, policy, helper (the loop around one format) and resolver; then end to end:
several outputs read downstream, bad JSON, outputs of one's own, and a history with data and status.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import repurpose
from mock_server import MockServer
from repurpose import (
    MISSING,
    Envelope,
    FaqGenerator,
    Loaded,
    RetryPolicy,
    RunResult,
    Source,
    aggregate,
    flattened,
    load_all,
    open_store,
    outputs_of,
    resolve,
    run,
    source_envelope,
    validate,
)
from repurpose.engines.scripted import scripted_engine
from repurpose.errors import EngineError
from repurpose.formats import declared_format

SOURCE = Source("Kestrels hover over the ring road.", "kes.md", "text", title="Kestrels")
FAQ = {"pairs": [{"question": "Where do they hover?", "answer": "Over the ring road."}]}
SUMMARY = {"sentences": ["Kestrels hover over the ring road."]}
POSTS = {
    name: {"text": f"Kestrels on {name} hover over the ring road.", "hashtags": ["birds"]}
    for name in ("linkedin", "x", "instagram")
}
GOOD: dict[str, dict[str, Any]] = {"faq": FAQ, "summary": SUMMARY, "social": POSTS}

Store = Any
Command = Callable[..., subprocess.CompletedProcess[str]]


def decoded(text: str) -> Any:
    return json.loads(text)  # noqa: TID251 - our own output


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "results.db"


@pytest.fixture
def kept(database: Path) -> Iterator[Store]:
    store = open_store(database)
    yield store
    store.close()


@pytest.fixture
def command(database: Path, tmp_path: Path) -> Command:
    """The command line in a process of its own, over the same database."""
    root = Path(repurpose.__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root), "REPURPOSE_DB": str(database)}

    def run_it(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "repurpose", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run_it


def runs(
    store: Store, formats: Sequence[Any], replies: dict[str, Any], **options: Any
) -> RunResult:
    return run(SOURCE, formats, engine=scripted_engine(replies, model="m"), store=store, **options)


# --- envelope -------------------------------------------------------------------------------


def test_envelope_is_status_message_and_data_and_nothing_else() -> None:
    done = Envelope.success("FAQ done", FAQ, declared=["pairs"])
    assert done.to_map() == {"status": 200, "message": "FAQ done", "data": FAQ}
    failed = Envelope.failure("no quota left")
    assert failed.to_map() == {"status": 400, "message": "no quota left", "data": {}}


def test_envelope_knows_two_statuses() -> None:
    for status in (201, 500, 0, True, "200", None):
        with pytest.raises(ValueError, match="200 or 400"):
            Envelope.of(status, "done", {})  # type: ignore[arg-type]  # wrong values are the test


def test_envelope_survives_a_map_and_json() -> None:
    done = Envelope.success("FAQ done", FAQ, declared=["pairs"])
    assert Envelope.from_object(done.to_map()) == done
    assert Envelope.from_object(decoded(json.dumps(done.to_map()))) == done


def test_envelope_is_not_seen_in_business_data_that_looks_like_one() -> None:
    for value in (
        {"status": "draft", "data": []},
        {"status": 200, "data": {}},
        {"status": 200, "message": "done", "data": {}, "run_id": "7"},
        {"status": True, "message": "done", "data": {}},
        {"status": 200, "message": "done", "data": "text"},
    ):
        assert not Envelope.is_envelope(value)
        assert Envelope.from_object(value) is None


def test_envelope_holds_declared_fields_only_and_the_others_are_named_beside_it(
    kept: Store,
) -> None:
    """No run facts either: they stand in meta."""
    own = declared_format(
        "meta",
        prompt="Write a title.",
        outputs=[{"name": "title", "type": "string", "required": True}],
        extra="drop",
    )
    made = runs(kept, [own], {"meta": [{"title": "Kestrels", "mood": "glad"}]}).results["meta"]
    assert made.envelope.data == {"title": "Kestrels"}
    assert made.meta.dropped == ("mood",)
    assert made.meta.run_id is not None
    assert made.meta.elapsed_ms >= 0
    assert made.meta.files == ()


# --- validator ------------------------------------------------------------------------------

OFFER = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "seller": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    },
    "required": ["name", "price", "tags", "seller"],
    "additionalProperties": False,
}
WHOLE = {"name": "Lamp", "price": 1, "tags": [], "seller": {"city": "Halvik"}}


def test_validator_tells_missing_fields_and_wrong_types_by_path() -> None:
    found = validate({"name": None, "price": "cheap", "tags": {}, "seller": {}}, OFFER)
    assert not found.ok
    assert found.missing_required == ("name", "seller.city")
    assert found.type_mismatched == ("price", "tags")
    assert "seller.city" in found.message
    assert validate(WHOLE, OFFER).ok


def test_validator_takes_an_empty_text_for_present_and_null_for_missing() -> None:
    assert validate(WHOLE | {"name": ""}, OFFER).ok
    assert validate(WHOLE | {"name": None}, OFFER).missing_required == ("name",)


def test_validator_finds_a_numeric_text_converted_and_recorded() -> None:
    found = validate(WHOLE | {"price": "15.83"}, OFFER)
    assert found.answer is not None
    assert found.answer["price"] == 15.83
    assert (found.coerced, found.type_mismatched) == (("price",), ())
    for text in ("15,83", "", "NaN"):
        assert validate(WHOLE | {"price": text}, OFFER).type_mismatched == ("price",)


# --- policy ---------------------------------------------------------------------------------


def test_policy_asks_twice_and_for_every_kind_by_default() -> None:
    policy = RetryPolicy()
    assert policy.max_attempts == 2
    assert policy.on_parse
    assert policy.on_missing_required
    assert policy.on_type_mismatch


@pytest.mark.parametrize(
    ("switch", "bad"),
    [
        ("on_parse", "no JSON at all"),
        ("on_missing_required", {}),
        ("on_missing_required", {"pairs": None}),
        ("on_type_mismatch", {"pairs": "none"}),
    ],
)
def test_policy_spends_a_call_on_a_kind_or_fails_at_once(switch: str, bad: Any) -> None:
    engine = scripted_engine({"faq": [bad, FAQ]})
    repaired = FaqGenerator(engine).generate(SOURCE)
    assert (repaired.envelope.status, len(engine.calls)) == (200, 2)
    engine = scripted_engine({"faq": [bad, FAQ]})
    refused = FaqGenerator(engine, retry=RetryPolicy(**{switch: False})).generate(SOURCE)
    assert (refused.envelope.status, len(engine.calls)) == (400, 1)


def test_policy_of_one_attempt_makes_no_repair_and_tells_of_none() -> None:
    engine = scripted_engine({"faq": ["no JSON", FAQ]})
    failed = FaqGenerator(engine, retry=RetryPolicy(max_attempts=1)).generate(SOURCE)
    assert len(engine.calls) == 1
    assert "retr" not in failed.envelope.message


# --- helper: the loop around one format -----------------------------------------------------


@pytest.mark.parametrize(
    ("replies", "message"),
    [([FAQ], "FAQ done"), (["no JSON", FAQ], "FAQ done (1 retry)")],
)
def test_helper_counts_the_attempts_really_made(replies: list[Any], message: str) -> None:
    made = FaqGenerator(scripted_engine({"faq": replies})).generate(SOURCE)
    assert made.envelope.message == message
    assert (made.meta.attempts, made.error) == (len(replies), None)
    assert made.envelope.data == FAQ


def test_helper_names_what_was_missing_in_the_next_prompt() -> None:
    engine = scripted_engine({"faq": [{"pairs": [{"question": "Where?"}]}, FAQ]})
    FaqGenerator(engine).generate(SOURCE)
    assert "pairs.0.answer" in engine.calls[1].system
    assert "pairs.0.answer" not in engine.calls[0].system


def test_helper_returns_a_failure_and_raises_none() -> None:
    for fault in (EngineError("the server said 500"), ValueError("secret")):
        failed = FaqGenerator(scripted_engine({"faq": [fault]})).generate(SOURCE)
        assert (failed.envelope.status, failed.envelope.data) == (400, {})
        assert failed.error is not None
        assert "secret" not in failed.envelope.message
        assert failed.meta.attempts == 1


def test_helper_wraps_loading_as_a_step_too(tmp_path: Path) -> None:
    loaded = source_envelope(SOURCE)
    assert (loaded.status, loaded.data["title"]) == (200, "Kestrels")
    (missing,) = load_all(str(tmp_path / "nowhere.md"))
    assert isinstance(missing, Loaded)
    assert missing.envelope.status == 400
    assert "nowhere.md" in missing.envelope.message
    assert missing.envelope.data == {}


# --- resolver -------------------------------------------------------------------------------


def test_resolver_looks_through_the_envelope_into_its_data() -> None:
    outputs = {"faq": Envelope(200, "FAQ done", FAQ), "profile": {"name": {"first": "Ada"}}}
    assert resolve(outputs, "faq.pairs.0.question") == "Where do they hover?"
    assert resolve(outputs, "faq.data.pairs.0.question") == "Where do they hover?"
    assert resolve(outputs, "profile.name.first") == "Ada"
    for path in ("faq.status", "faq.message", "faq.pairs.1", "faq.pairs.0.question.x", "other"):
        assert resolve(outputs, path) is MISSING


def test_resolver_flattens_by_step_so_that_equal_names_do_not_clash() -> None:
    outputs = {
        "faq": Envelope(200, "done", {"title": "one"}),
        "meta": Envelope(200, "done", {"title": "two"}),
        "bad": Envelope.failure("no"),
    }
    assert flattened(outputs) == {"faq__title": "one", "meta__title": "two"}


def test_resolver_puts_all_together_with_the_worst_status_and_who_failed() -> None:
    done = Envelope(200, "FAQ done", FAQ)
    bad = Envelope.failure("no quota left")
    assert aggregate({"faq": done, "meta": done}).message == "FAQ done; FAQ done"
    whole = aggregate({"faq": done, "social": bad, "summary": bad})
    assert whole.status == 400
    assert whole.message == "part failed: [social] no quota left; [summary] no quota left"
    assert whole.data == {"faq": FAQ}


@pytest.mark.parametrize("helper", ["repurpose.core.paths", "repurpose.core.template"])
def test_paths_and_templates_know_nothing_of_envelopes(helper: str) -> None:
    code = f"import sys, {helper}; sys.exit('repurpose.core.envelope' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- end to end -----------------------------------------------------------------------------


def test_several_outputs_are_readable_downstream(kept: Store, command: Command) -> None:
    """In the same process, from the store alone, and by another program."""
    result = runs(kept, ("faq", "summary", "social"), {n: [GOOD[n]] for n in GOOD})
    assert result.at("faq.pairs.0.question") == "Where do they hover?"
    assert result.at("social.x.length") == len(str(result.at("social.x.text")))
    assert set(result.flat) == {
        "faq__pairs",
        "summary__sentences",
        "social__linkedin",
        "social__x",
        "social__instagram",
    }
    stored = outputs_of(kept.run("last"), kept.rows(result.run.id))
    assert stored == result.outputs
    assert aggregate(stored) == result.envelope
    shown = command("show", "last", "--path", "faq.pairs.0.question")
    assert (shown.returncode, shown.stdout) == (0, "Where do they hover?\n")
    assert decoded(command("show", "last", "--flat").stdout) == decoded(json.dumps(result.flat))
    whole = Envelope.from_object(decoded(command("show", "last", "--envelope").stdout))
    assert whole is not None
    assert (whole.status, set(whole.data)) == (200, {"faq", "summary", "social"})


def test_a_later_format_reads_an_earlier_one_in_a_block_of_its_own(kept: Store) -> None:
    post = declared_format(
        "teaser",
        prompt="Answer this question in a teaser: {faq.pairs.0.question}",
        outputs=[{"name": "teaser", "type": "string", "required": True}],
    )
    engine = scripted_engine({"faq": [FAQ], "teaser": [{"teaser": "Over the road."}]})
    result = run(SOURCE, [post, "faq"], engine=engine, store=kept)
    assert result.at("teaser.teaser") == "Over the road."
    (asked,) = [call for call in engine.calls if call.format == "teaser"]
    assert "Where do they hover?" in asked.user
    assert "Where do they hover?" not in asked.system


def test_bad_json_is_retried_and_then_a_failure_with_the_reason(
    kept: Store, command: Command
) -> None:
    result = runs(
        kept, ("faq", "summary"), {"faq": ["Sure! {pairs:", "still no JSON"], "summary": [SUMMARY]}
    )
    faq = result.results["faq"]
    assert (faq.envelope.status, faq.envelope.data, faq.meta.attempts) == (400, {}, 2)
    assert faq.envelope.message.startswith("FAQ generation error: ")
    assert faq.envelope.message.endswith(" (1 retry)")
    assert "Traceback" not in faq.envelope.message
    assert result.results["summary"].done
    assert result.envelope.message == f"part failed: [faq] {faq.envelope.message}"
    assert (result.run.status, result.exit_code) == ("partial", 1)
    assert result.usage.calls == len(kept.calls(result.run.id)) == 3
    told = command("show", "last", "--path", "faq.pairs")
    assert (told.returncode, told.stdout) == (1, "")
    assert faq.envelope.message in told.stderr


def test_the_last_answers_missing_and_mistyped_fields_are_told(kept: Store) -> None:
    bad = {"pairs": [{"question": 7}]}
    meta = runs(kept, ["faq"], {"faq": ["no JSON", bad]}).results["faq"].meta
    assert meta.missing_required == ("pairs.0.answer",)
    assert meta.type_mismatched == ("pairs.0.question",)


def test_outputs_of_ones_own_go_through_the_same_loop(kept: Store, command: Command) -> None:
    own = declared_format(
        "offer",
        prompt="Describe the offer in {title}.",
        outputs=[
            {"name": "name", "type": "string", "required": True},
            {"name": "price", "type": "number", "required": True},
        ],
    )
    replies = [{"name": "Lamp"}, {"name": "Lamp", "price": "15.83"}]
    made = runs(kept, [own], {"offer": replies}).results["offer"]
    assert made.envelope.to_map() == {
        "status": 200,
        "message": "Offer done (1 retry)",
        "data": {"name": "Lamp", "price": 15.83},
    }
    assert made.meta.coerced == ("price",)
    assert command("show", "last", "--path", "offer.price").stdout == "15.83\n"


def test_outputs_of_ones_own_with_one_field_or_none(kept: Store) -> None:
    one = declared_format("one", prompt="A title.", outputs=[{"name": "title", "type": "string"}])
    none = declared_format("none", prompt="Release notes.")
    engine = scripted_engine({"one": [{"title": "Kes"}], "none": ["Version 2 is out."]})
    result = run(SOURCE, [one, none], engine=engine, store=kept)
    assert {call.format: bool(call.wire) for call in engine.calls} == {"one": True, "none": False}
    assert result.at("none.result") == "Version 2 is out."
    assert not result.results["none"].meta.validated
    assert result.results["one"].meta.validated


def test_history_shows_data_and_status(
    command: Command, mock_server: MockServer, tmp_path: Path
) -> None:
    (tmp_path / "kes.md").write_text("# Kestrels\n\nKestrels hover over the ring road.\n")
    mock_server.answers |= GOOD
    mock_server.plan("malformed", "ok", schema="faq")
    mock_server.plan("malformed", schema="summary")
    where = ("--model", "m", "--base-url", mock_server.url, "--formats", "faq,summary")
    done = command("run", "kes.md", "--json", *where)
    assert done.returncode == 1
    told = {line["format"]: line for line in map(decoded, done.stdout.splitlines())}
    assert Envelope.from_object(told["faq"]["envelope"]) == Envelope(200, "FAQ done (1 retry)", FAQ)
    assert told["summary"]["envelope"]["status"] == 400
    listed = decoded(command("list", "--json").stdout)
    assert listed["status"] == "partial"
    shown = command("show", listed["id"]).stdout
    assert "1 retry" in shown.splitlines()[0]
    assert "Where do they hover?" in shown
    assert "# Summary failed" in shown
    whole = decoded(command("show", listed["id"], "--envelope").stdout)
    assert whole["data"] == {"faq": FAQ}
    assert whole["message"] == f"part failed: [summary] {told['summary']['envelope']['message']}"
