"""What people do to stored rows, and how one section is made again."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repurpose.api.loading import LoadOptions, load
from repurpose.api.revising import (
    approve,
    aregenerate,
    difference,
    edit,
    editing_kind,
    proposal_in,
    regenerate,
    release,
    restore,
    row_of,
)
from repurpose.api.runs import arun
from repurpose.batch.night import Night
from repurpose.config import Settings
from repurpose.core.call import Reply, Usage
from repurpose.core.record import Row, Run
from repurpose.core.result import outputs_of
from repurpose.core.source import Source
from repurpose.core.voice import Voice
from repurpose.engines.extractive import extractive_engine
from repurpose.engines.scripted import ScriptedEngine, scripted_engine
from repurpose.errors import (
    BudgetReached,
    ChangedMeanwhile,
    EngineError,
    StillWorking,
    UsageError,
)
from repurpose.exports.json import json_export
from repurpose.exports.markdown import markdown_export
from repurpose.formats import FORMATS
from repurpose.ports import BatchStore, Engine
from repurpose.stores.sqlite import open_store

SOURCE = Source(text="Kestrels hover over the ring road.", origin="a.md", kind="text", title="Kes")
NEW_FAQ = {"pairs": [{"question": "What is new here?", "answer": "This answer is new."}]}

Golden = Callable[[str], dict[str, Any]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(database=tmp_path / "runs.db", concurrency=1)


@pytest.fixture
def store(settings: Settings) -> Iterator[BatchStore]:
    opened = open_store(settings.database)
    yield opened
    opened.close()


@pytest.fixture
def run(store: BatchStore, settings: Settings, golden: Golden) -> Run:
    """A run of all formats, in English for chefs."""
    engine = scripted_engine({name: [golden(name)] for name in FORMATS}, model="m")
    wishes = Settings(settings.database, language="en", audience="chefs", tone="dry", concurrency=1)
    done = asyncio.run(arun(SOURCE, list(FORMATS), engine=engine, store=store, settings=wishes))
    return done.run


@pytest.fixture
def again(store: BatchStore, settings: Settings) -> Callable[..., Any]:
    """Make a section of the newest run again."""

    def made(section: str, engine: ScriptedEngine | None = None, **options: Any) -> Any:
        given = {"engine": engine, "store": store, "settings": settings, "by": "Ann", **options}
        return regenerate("last", section, **{k: v for k, v in given.items() if v is not None})

    return made


def table(settings: Settings) -> dict[str, tuple[Any, ...]]:
    """Every column of every row in the database, by its id."""
    with sqlite3.connect(settings.database) as db:
        rows = db.execute("SELECT id, * FROM rows").fetchall()
    db.close()
    return {row[0]: row for row in rows}


def current(store: BatchStore, section: str = "faq") -> Row:
    return row_of(store, Settings(Path("unused")), "last", section)


# --- made again ---------------------------------------------------------------------------------


def test_a_section_is_made_again_with_one_call_and_every_other_row_stays_byte_for_byte(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    before, old = table(settings), current(store)
    engine = scripted_engine([NEW_FAQ], model="m2")
    made = again("faq", engine, instruction="  shorter, no jargon ")
    assert [call.format for call in engine.calls] == ["faq"]
    after = table(settings)
    (new,) = after.keys() - before.keys()
    assert {name: after[name] for name in before} == before
    row = current(store)
    assert (row.id, row.revision, row.action, row.author) == (new, 2, "regenerated", "Ann")
    assert (row.instruction, row.provenance) == ("shorter, no jargon", "model m2")
    assert row.content == NEW_FAQ
    assert [each.id for each in store.history(run.id) if each.format == "faq"] == [old.id, new]
    assert (made.exit_code, made.run.status, made.rows) == (0, "done", (row,))
    assert made.usage.calls == 1


def test_the_call_has_the_wishes_of_the_run_the_instruction_and_the_present_text(
    run: Run, again: Callable[..., Any], store: BatchStore
) -> None:
    old = current(store)
    engine = scripted_engine([NEW_FAQ])
    again("faq", engine, instruction="shorter")
    (call,) = engine.calls
    assert call.source.text == SOURCE.text
    for wish in ("English", "chefs", "dry", "shorter"):
        assert wish in call.system
    assert old.text is not None
    assert old.text.splitlines()[0] in call.user
    assert old.text.splitlines()[0] not in call.system
    assert [call.format for call in (each.call for each in store.calls(run.id))].count("faq") == 2


def test_a_stored_result_is_never_taken_in_place_of_the_call(
    run: Run, again: Callable[..., Any]
) -> None:
    engine = scripted_engine([NEW_FAQ, NEW_FAQ])
    again("faq", engine)
    again("faq", engine)
    assert len(engine.calls) == 2


def test_an_answer_that_cannot_be_used_is_repaired_as_usual(
    run: Run, again: Callable[..., Any]
) -> None:
    engine = scripted_engine(["no JSON", NEW_FAQ])
    assert again("faq", engine, instruction="shorter").result.meta.attempts == 2
    assert "shorter" in engine.calls[1].system


def test_of_one_post_only_that_one_is_stored(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings, golden: Golden
) -> None:
    before = table(settings)
    engine = scripted_engine([golden("social")])
    made = again("social.x", engine)
    assert [row.variant for row in made.rows] == ["x"]
    assert len(table(settings)) == len(before) + 1
    (call,) = engine.calls
    assert list(call.schema["properties"]) == ["linkedin", "x", "instagram"]  # type: ignore[arg-type]  # an object
    assert "Only `x` of your answer" in call.system
    linkedin = current(store, "social.linkedin").text
    assert linkedin is not None
    assert linkedin[:40] not in call.user


def test_with_all_variants_every_post_of_the_call_is_stored(
    run: Run, again: Callable[..., Any], golden: Golden
) -> None:
    whole = again("social.x", scripted_engine([golden("social")]), all_variants=True)
    assert [row.variant for row in whole.rows] == ["linkedin", "x", "instagram"]
    named = again("social", scripted_engine([golden("social")]))
    assert [(row.variant, row.revision) for row in named.rows] == [
        ("linkedin", 3),
        ("x", 3),
        ("instagram", 3),
    ]


def test_platforms_threads_variants_and_limits_are_those_of_the_stored_call(
    again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    posts = {
        "x": {"text": "One post that says a thing.", "hashtags": []},
        "x_2": {"text": "Ships sail north at seven.", "hashtags": []},
        "mastodon": {"text": "Another text for others.", "hashtags": []},
        "mastodon_2": {"text": "Bread is baked on Monday.", "hashtags": []},
    }
    asked = Settings(
        settings.database, platforms=("x", "mastodon=1000"), thread=True, variants=2, concurrency=1
    )
    engine = scripted_engine([posts])
    asyncio.run(arun(SOURCE, ["social"], engine=engine, store=store, settings=asked))
    second = scripted_engine([posts])
    made = again("social.x.2", second)
    assert second.calls[0].schema == engine.calls[0].schema
    assert [row.variant for row in made.rows] == ["x.2"]
    assert "posts" in (made.rows[0].content or {})
    (row,) = again("social.mastodon", scripted_engine([posts])).rows
    assert row.measures.max_length == 1000


def test_a_run_whose_rows_were_reused_is_asked_as_the_run_that_paid(
    again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    posts = {"x": {"text": "One post that says a thing.", "hashtags": []}}
    asked = Settings(settings.database, platforms=("x",), concurrency=1)
    engine = scripted_engine([posts])
    for _ in range(2):
        asyncio.run(arun(SOURCE, ["social"], engine=engine, store=store, settings=asked))
    assert len(engine.calls) == 1
    second = scripted_engine([posts])
    again("social.x", second)
    assert second.calls[0].schema == engine.calls[0].schema


def test_a_post_that_the_answer_lacks_is_a_failure_that_replaces_nothing(
    again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    posts = {
        "x": {"text": "One post that says a thing.", "hashtags": []},
        "x_2": {"text": "Ships sail north at seven.", "hashtags": []},
    }
    asked = Settings(settings.database, platforms=("x",), variants=2, concurrency=1)
    engine = scripted_engine([posts])
    asyncio.run(arun(SOURCE, ["social"], engine=engine, store=store, settings=asked))
    old = current(store, "social.x.2")
    made = again("social.x.2", scripted_engine([{**posts, "x_2": posts["x"]}]))
    assert made.exit_code == 4
    assert (made.rows[0].variant, made.rows[0].status) == ("x.2", "failed")
    assert "no x.2" in made.rows[0].message
    assert current(store, "social.x.2") == old


def test_beside_an_edited_row_the_new_text_is_only_proposed(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    made = current(store)
    mine = edit(store, settings, made.id, content={"pairs": [_pair("Mine?")]}, by="Ben")
    outcome = again("faq", scripted_engine([NEW_FAQ]))
    (proposed,) = outcome.proposed
    assert (outcome.exit_code, proposed.action) == (0, "proposed")
    assert current(store) == mine
    assert proposal_in(store.history(run.id), mine) == proposed
    found = difference(store, mine.id)
    assert (found.base, found.mine, found.theirs) == (made, mine, proposed)
    taken = restore(store, proposed.id, "Ben")
    assert (taken.text, taken.locked, taken.revision) == (proposed.text, True, 4)
    assert current(store) == taken
    assert proposal_in(store.history(run.id), taken) is None


@pytest.mark.parametrize("fault", ["no JSON", StillWorking("no answer came"), EngineError("gone")])
def test_a_failure_keeps_the_text_and_is_stored_beside_it(
    run: Run, again: Callable[..., Any], store: BatchStore, fault: Any
) -> None:
    old = current(store)
    made = again("faq", scripted_engine([fault, fault]), instruction="shorter")
    assert (made.exit_code, made.proposed, made.run.status) == (4, (), "done")
    assert current(store) == old
    failed = store.history(run.id)[-1]
    assert (failed.status, failed.action, failed.instruction) == ("failed", "proposed", "shorter")
    assert difference(store, old.id).theirs is None


def test_a_failed_format_that_is_made_ends_the_run_as_done(
    again: Callable[..., Any], store: BatchStore, settings: Settings, golden: Golden
) -> None:
    script: dict[str, list[Any]] = {"social": ["x", "y"], "faq": [golden("faq")]}
    first = scripted_engine(script)
    asyncio.run(arun(SOURCE, ["social", "faq"], engine=first, store=store, settings=settings))
    assert store.run("last").status == "partial"
    engine = scripted_engine([golden("social")])
    made = again("social.linkedin", engine)  # nothing of the format is there to be left as it is
    assert [row.variant for row in made.rows] == ["linkedin", "x", "instagram"]
    assert (made.run.status, store.run("last").status) == ("done", "done")
    run, rows = store.run("last"), store.rows(store.run("last").id)
    assert {name: each.status for name, each in outputs_of(run, rows).items()} == {
        "social": 200,
        "faq": 200,
    }


def test_a_format_that_was_never_begun_can_be_made(
    again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    asked = Run("run9", SOURCE.digest, ("faq",), "scripted", "m", "2026-12-01", "interrupted")
    store.start_run(asked, SOURCE)
    store.finish_run("run9", "interrupted", "2026-12-01")
    assert again("faq", scripted_engine([NEW_FAQ])).run.status == "done"


@pytest.mark.parametrize("section", ["podcast", "social.mastodon", "faq.x", "", "summary.x"])
def test_an_unknown_section_is_one_line_with_those_the_run_has(
    run: Run, again: Callable[..., Any], section: str
) -> None:
    engine = scripted_engine([])
    with pytest.raises(UsageError) as refused:
        again(section, engine)
    assert engine.calls == []
    assert "it has: summary, faq, social.linkedin, social.x, social.instagram, newsletter" in str(
        refused.value
    )


def test_the_voice_of_the_settings_is_kept(
    run: Run, again: Callable[..., Any], settings: Settings
) -> None:
    spoken = Settings(settings.database, voice=Voice("acme", banned=("cheap",)))
    engine = scripted_engine([NEW_FAQ])
    again("faq", engine, settings=spoken)
    assert 'Never use these words: "cheap"' in engine.calls[0].system


def test_a_run_without_a_model_is_made_again_without_one(
    store: BatchStore, settings: Settings, again: Callable[..., Any], root: Path
) -> None:
    source = load(root / "fixtures" / "sources" / "article.md")
    engine = extractive_engine()
    asyncio.run(arun(source, ["faq"], engine=engine, store=store, settings=settings))
    made = again("faq", instruction="shorter")
    assert made.rows[0].provenance == "extracted, no model"
    assert (made.rows[0].revision, made.usage.calls) == (2, 1)


def test_where_no_model_is_named_it_is_the_runs_own_at_the_settings_server(
    run: Run, again: Callable[..., Any], settings: Settings, mock_server: Any
) -> None:
    mock_server.answers["faq"] = NEW_FAQ
    at = Settings(settings.database, base_url=mock_server.url)
    made = again("faq", settings=at)
    assert made.rows[0].provenance == "model m"
    other = Settings(settings.database, base_url=mock_server.url, model="m9")
    assert again("faq", settings=other).rows[0].provenance == "model m9"


def test_a_run_of_a_model_that_cannot_be_asked_says_what_to_give(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    with pytest.raises(UsageError, match="needs a key"):
        again("faq")
    local = Run("run9", SOURCE.digest, ("faq",), "local", "tiny.gguf", "2026-12-01", "done")
    store.start_run(local, SOURCE)
    with pytest.raises(UsageError) as refused:
        again("faq")
    assert refused.value.hint == "give --model local:PATH of tiny.gguf"


def test_a_cap_holds_and_nothing_is_stored_beyond_it(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    before = store.history(run.id)
    capped = Settings(settings.database, max_calls=1)
    made = again("faq", scripted_engine(["no JSON", NEW_FAQ]), settings=capped)
    assert isinstance(made.stopped_by, BudgetReached)
    assert (made.exit_code, made.rows, made.usage.calls) == (5, (), 1)
    assert store.history(run.id) == before


def test_who_stops_it_leaves_everything_as_it_was(
    run: Run, again: Callable[..., Any], store: BatchStore
) -> None:
    before = store.history(run.id)
    made = again("faq", scripted_engine(["no JSON", NEW_FAQ]), stopping=lambda: True)
    assert (made.exit_code, made.rows) == (130, ())
    assert store.history(run.id) == before


def test_an_edit_that_comes_while_the_model_writes_is_not_lost(
    run: Run, store: BatchStore, settings: Settings
) -> None:
    engine = scripted_engine([])

    async def slow(_: object) -> Reply:
        edit(store, settings, current(store).id, content={"pairs": [_pair("Mine?")]}, by="Ben")
        return Reply(json.dumps(NEW_FAQ), usage=Usage(10, 10))

    held = Engine(name=engine.name, answer=slow, model="m")
    work = aregenerate("last", "faq", by="Ann", engine=held, store=store, settings=settings)
    made = asyncio.run(work)
    assert [row.action for row in made.rows] == ["proposed"]
    assert current(store).author == "Ben"


def test_an_instruction_has_a_bound(run: Run, again: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="2,000"):
        again("faq", scripted_engine([]), instruction="x" * 2001)


# --- by hand ------------------------------------------------------------------------------------


def _pair(question: str) -> dict[str, str]:
    return {"question": question, "answer": "So."}


def test_an_edit_is_a_revision_of_its_own_with_who_and_when(
    run: Run, store: BatchStore, settings: Settings
) -> None:
    before = table(settings)
    old = current(store, "social.x")
    new = edit(store, settings, old.id, text="A better post. #bees", by=" Anna  Lee ")
    assert (new.revision, new.action, new.author, new.locked) == (2, "edited", "Anna Lee", True)
    assert new.created_at > old.created_at
    assert new.measures is not None
    assert new.measures.max_length == 280
    assert current(store, "social.x") == new == store.row(new.id)
    after = table(settings)
    assert {name: after[name] for name in before} == before


def test_the_same_text_stores_nothing(run: Run, store: BatchStore, settings: Settings) -> None:
    old = current(store, "social.x")
    assert edit(store, settings, old.id, text=f"{old.text}\r\n", by="Ann") == old
    assert len(store.history(run.id)) == 6


def test_the_second_of_two_editors_is_told_and_nothing_is_lost(
    run: Run, store: BatchStore, settings: Settings
) -> None:
    old = current(store, "social.x")
    first = edit(store, settings, old.id, text="Anna's post.", by="Anna")
    with pytest.raises(ChangedMeanwhile, match=r"social\.x was changed meanwhile"):
        edit(store, settings, old.id, text="Ben's post.", by="Ben")
    for act in (approve, release):
        with pytest.raises(ChangedMeanwhile):
            act(store, old.id, "Ben")
    assert current(store, "social.x") == first


def test_a_limit_that_the_run_was_given_holds_for_edits(
    store: BatchStore, settings: Settings
) -> None:
    asked = Settings(settings.database, platforms=("x=premium",), concurrency=1)
    posts = {"x": {"text": "One post that says a thing.", "hashtags": []}}
    engine = scripted_engine([posts])
    asyncio.run(arun(SOURCE, ["social"], engine=engine, store=store, settings=asked))
    row = current(store, "social.x")
    long = edit(store, settings, row.id, text="a" * 300, by="Ann")
    assert long.measures is not None
    assert (long.measures.length, long.measures.max_length) == (300, 25_000)


@pytest.mark.parametrize("by", ["", " ", "x" * 81, "a\x1b[31m"])
def test_who_did_it_has_a_name(run: Run, store: BatchStore, by: str) -> None:
    with pytest.raises(UsageError, match="name"):
        approve(store, current(store).id, by)


def test_a_failed_row_has_nothing_to_edit_approve_restore_or_compare(
    store: BatchStore, settings: Settings
) -> None:
    engine = scripted_engine(["x", "y"])
    asyncio.run(arun(SOURCE, ["faq"], engine=engine, store=store, settings=settings))
    row = current(store)
    for act in (
        lambda: edit(store, settings, row.id, text="x", by="Ann"),
        lambda: approve(store, row.id, "Ann"),
        lambda: restore(store, row.id, "Ann"),
        lambda: difference(store, row.id),
    ):
        with pytest.raises(UsageError, match="failed, so there is no text") as refused:
            act()
        assert "regenerate" in (refused.value.hint or "")


def test_approved_is_locked_until_it_is_released(run: Run, store: BatchStore) -> None:
    old = current(store)
    yes = approve(store, old.id, "Ann")
    assert (yes.action, yes.locked, yes.text, yes.content) == (
        "approved",
        True,
        old.text,
        old.content,
    )
    assert approve(store, yes.id, "Ben") == yes
    no = release(store, yes.id, "Ben")
    assert (no.action, no.locked, no.revision) == ("released", False, 3)
    assert release(store, no.id, "Ben") == no


def test_any_revision_can_become_the_current_one_again(
    run: Run, store: BatchStore, settings: Settings
) -> None:
    first = current(store, "social.x")
    second = edit(store, settings, first.id, text="Two.", by="Ann")
    third = edit(store, settings, second.id, text="Three.", by="Ben")
    back = restore(store, second.id[:-1] if _is_alone(store, second) else second.id, "Cy")
    assert (back.text, back.action, back.author, back.revision) == ("Two.", "restored", "Cy", 4)
    assert restore(store, back.id, "Cy") == back
    assert restore(store, first.id, "Cy").text == first.text
    assert [row.id for row in store.history(run.id) if row.variant == "x"][:3] == [
        first.id,
        second.id,
        third.id,
    ]


def _is_alone(store: BatchStore, row: Row) -> bool:
    return sum(each.id.startswith(row.id[:-1]) for each in store.history(row.run_id)) == 1


def test_a_proposed_row_is_taken_before_it_is_edited(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    approve(store, current(store).id, "Ann")
    (proposed,) = again("faq", scripted_engine([NEW_FAQ])).proposed
    with pytest.raises(UsageError, match="only proposed") as refused:
        edit(store, settings, proposed.id, content=NEW_FAQ, by="Ann")
    assert refused.value.hint == f"take it first: repurpose restore {proposed.id}"


def test_a_format_that_is_gone_has_its_text_only(
    store: BatchStore, settings: Settings, tmp_path: Path
) -> None:
    output = {"name": "pros", "type": "array", "items": "string"}
    table_ = {"prompt": "Weigh it.", "outputs": [output]}
    own = Settings(settings.database, declared={"weigh": table_}, concurrency=1)
    engine = scripted_engine([{"pros": ["One reason.", "Another one."]}])
    asyncio.run(arun(SOURCE, ["weigh"], engine=engine, store=store, settings=own))
    row = current(store, "weigh")
    new = edit(store, own, row.id, content={"pros": ["Better."]}, by="Ann")
    assert (new.text, new.content) == ("- Better.", {"pros": ["Better."]})
    with pytest.raises(UsageError, match="not known any more"):
        edit(store, settings, new.id, content={"pros": ["x"]}, by="Ann")
    text = edit(store, settings, new.id, text="- Best.", by="Ann")
    assert (text.text, text.content) == ("- Best.", {"text": "- Best."})
    assert editing_kind(new) == "content"


def test_exports_say_who_edited_a_text(run: Run, store: BatchStore, settings: Settings) -> None:
    edit(store, settings, current(store, "social.x").id, text="Mine.", by="Anna")
    source, rows = store.source(run.source_id), store.rows(run.id)
    written = markdown_export(run, source, rows)
    assert "Mine." in written
    assert "model m, edited by Anna" in written
    exported = json.loads(json_export(run, source, rows))  # noqa: TID251 - our own output
    (row,) = [each for each in exported["rows"] if each["action"] == "edited"]
    assert (row["author"], row["revision"], row["text"]) == ("Anna", 2, "Mine.")


def test_a_later_run_makes_no_use_of_an_edit(
    run: Run, store: BatchStore, settings: Settings, golden: Golden
) -> None:
    made = current(store)
    edit(store, settings, made.id, content=NEW_FAQ, by="Ann")
    before = table(settings)
    wishes = Settings(settings.database, language="en", audience="chefs", tone="dry")
    engine = scripted_engine([], model="m")
    later = asyncio.run(arun(SOURCE, ["faq"], engine=engine, store=store, settings=wishes))
    assert engine.calls == []
    (row,) = later.results["faq"].rows
    assert (row.text, row.action, row.revision, row.author) == (made.text, "made", 1, None)
    after = table(settings)
    assert {name: after[name] for name in before} == before


# --- what differs -------------------------------------------------------------------------------


def test_the_last_two_revisions_are_compared(
    run: Run, store: BatchStore, settings: Settings
) -> None:
    first = current(store, "social.x")
    assert difference(store, first.id).base is None
    second = edit(store, settings, first.id, text="Two words.", by="Ann")
    third = edit(store, settings, second.id, text="Two more words.", by="Ann")
    found = difference(store, third.id)
    assert (found.base, found.mine, found.theirs) == (second, third, None)
    assert found.to_map() == {
        "base": "Two words.",
        "mine": "Two more words.",
        "theirs": None,
        "changes": {
            "mine": [["equal", "Two "], ["insert", "more "], ["equal", "words."]],
            "theirs": [],
        },
        "rows": {"base": second.id, "mine": third.id, "theirs": None},
    }
    assert difference(store, third.id, first.id).base == first


def test_a_three_way_difference_begins_with_the_text_that_was_edited_from(
    run: Run, again: Callable[..., Any], store: BatchStore, settings: Settings
) -> None:
    again("faq", scripted_engine([NEW_FAQ]))
    base = current(store)
    mine = edit(store, settings, base.id, content={"pairs": [_pair("Mine?")]}, by="Ben")
    mine = edit(store, settings, mine.id, content={"pairs": [_pair("Mine now?")]}, by="Ben")
    mine = approve(store, mine.id, "Cy")
    (theirs,) = again("faq", scripted_engine([{"pairs": [_pair("Theirs?")]}])).proposed
    for found in (
        difference(store, mine.id),
        difference(store, theirs.id),
        difference(store, mine.id, theirs.id),
        difference(store, theirs.id, mine.id),
    ):
        assert (found.base, found.mine, found.theirs) == (base, mine, theirs)


def test_after_a_decision_an_older_proposal_is_settled(
    run: Run, again: Callable[..., Any], store: BatchStore
) -> None:
    mine = approve(store, current(store).id, "Ann")
    again("faq", scripted_engine([NEW_FAQ]))
    free = release(store, mine.id, "Ann")
    assert proposal_in(store.history(run.id), free) is None
    assert difference(store, free.id).theirs is None


# --- a batch ------------------------------------------------------------------------------------


def test_another_night_leaves_edited_rows_alone(tmp_path: Path) -> None:
    posts = tmp_path / "posts"
    posts.mkdir()
    (posts / "a.md").write_text("# Bees\n\nBees dance. They tell the way to flowers.", "utf-8")
    settings = Settings(tmp_path / "night.db", formats=("summary",))

    def night() -> int:
        with Night(settings, LoadOptions(), force=False) as works:
            works.planned((str(posts),), lambda *_: None)
            ended = works.worked(stopping=lambda: False, ended=lambda _: None)
            return int(asyncio.run(ended).exit_code)

    assert night() == 0
    store = open_store(settings.database)
    edit(store, settings, current(store, "summary").id, text="Mine alone.", by="Ann")
    before = table(settings)
    assert night() == 0
    assert table(settings) == before
    assert current(store, "summary").text == "Mine alone."
    store.close()
