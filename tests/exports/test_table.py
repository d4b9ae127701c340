"""The tables of exports and stores against the files, and what holds for every export."""

from __future__ import annotations

from importlib import import_module

import pytest

from repurpose.exports import EXPORTS, RENDERERS
from repurpose.stores import STORES

COMPOSITES = {f"composite_{name}": where for name, where in RENDERERS.items()}
"""The renderers of composites by their files."""


@pytest.fixture(params=sorted(EXPORTS))
def export(request):
    module, _, function = EXPORTS[request.param].partition(":")
    return getattr(import_module(module), function)


@pytest.mark.parametrize(
    ("family", "table"), [("exports", {**EXPORTS, **COMPOSITES}), ("stores", STORES)]
)
def test_the_table_names_every_member_of_its_folder(root, family, table):
    files = {file.stem for file in (root / "repurpose" / family).glob("*.py")}
    assert {name for name in files if not name.startswith("_")} - {"base"} == set(table)


def test_every_export_writes_a_run_as_a_text_that_ends_its_last_line(samples, export):
    written = export(samples.run, samples.source, samples.rows)
    assert written.endswith("\n")
    assert not written.endswith("\n\n")


def test_every_export_writes_equal_values_as_equal_texts(samples, export):
    written = export(samples.run, samples.source, samples.rows)
    assert written == export(samples.run, samples.source, list(samples.rows))


def test_a_run_without_rows_can_be_exported(samples, export):
    assert "How bees tell the way" in export(samples.run, samples.source, [])
