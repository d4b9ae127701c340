"""The JSON object of a run."""

from __future__ import annotations

import json
from dataclasses import fields

from repurpose.core.record import Row, Run
from repurpose.exports.json import json_export


def exported(samples, rows=None):
    written = json_export(samples.run, samples.source, samples.rows if rows is None else rows)
    return json.loads(written)  # noqa: TID251 - our own export, read as any program would


def test_a_run_is_one_object_of_three_parts(samples):
    whole = exported(samples)
    assert list(whole) == ["run", "source", "rows"]
    assert set(whole["run"]) == {field.name for field in fields(Run)}
    assert whole["run"]["formats"] == ["summary", "faq", "social", "newsletter"]


def test_the_source_is_named_without_its_text(samples):
    source = exported(samples)["source"]
    assert source["title"] == "How bees tell the way"
    assert source["origin"] == "bees.md"
    assert source["digest"] == samples.source.digest
    assert source["url"] is None
    assert "text" not in source


def test_every_stored_fact_of_a_row_is_there(samples):
    rows = {(row["format"], row["variant"]): row for row in exported(samples)["rows"]}
    x = rows["social", "x"]
    assert set(x) == {field.name for field in fields(Row)}
    assert x["provenance"] == "extracted, no model"
    assert x["measures"] == {
        "length": 269,
        "unit": "x_weighted",
        "max_length": 280,
        "shortened": True,
        "cut_mode": "sentence",
        "hashtags_dropped": 1,
    }
    assert rows["summary", "default"]["quotes"] == [{"text": "Bees dance", "start": 0, "end": 10}]


def test_rows_stand_in_the_order_that_was_asked_for(samples):
    names = [(row["format"], row["variant"]) for row in exported(samples)["rows"]]
    assert names == [
        ("summary", "default"),
        ("faq", "default"),
        ("social", "linkedin"),
        ("social", "x"),
        ("social", "instagram"),
        ("newsletter", "default"),
    ]


def test_a_failed_row_has_its_reason_and_nothing_to_publish(samples):
    [row] = [row for row in exported(samples)["rows"] if row["status"] == "failed"]
    assert row["message"] == "Social posts (instagram) storage error: the disk is full"
    assert (row["text"], row["content"], row["kind"]) == (None, None, "store")


def test_a_faq_has_its_markup_for_search_engines_beside_the_pairs(samples):
    [faq] = [row for row in exported(samples)["rows"] if row["format"] == "faq"]
    assert "<" not in faq["json_ld"]
    page = json.loads(faq["json_ld"])  # noqa: TID251 - our own markup, read as any program would
    assert page["@type"] == "FAQPage"
    assert page["inLanguage"] == "en"
    assert page["mainEntity"][1]["name"] == "Is 1 < 2 </script>?"
    assert len(faq["content"]["pairs"]) == 2


def test_rows_without_pairs_have_no_such_markup(samples):
    rows = [samples.failed("faq", "FAQ", "FAQ failed"), samples.row("summary", "Summary", "Bees.")]
    assert all("json_ld" not in row for row in exported(samples, rows)["rows"])


def test_it_is_readable_and_always_the_same(samples):
    rows = [samples.row("summary", "Summary", "Bienen tanzen 🐝")]
    written = json_export(samples.run, samples.source, rows)
    assert "Bienen tanzen 🐝" in written
    assert written.startswith('{\n  "run": {\n    "id": "run1",')
    assert written.endswith("}\n")
    assert written == json_export(samples.run, samples.source, list(rows))
