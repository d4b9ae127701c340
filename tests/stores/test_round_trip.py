"""Whatever a record holds comes back as it was, as long as a column can hold it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repurpose.core.call import Call, Quote, Reply, Usage
from repurpose.core.record import Measures
from repurpose.core.source import Block, Source
from repurpose.ports import Store
from repurpose.stores.sqlite import open_store

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
maybe = st.none() | texts
counts = st.integers(0, 2**63 - 1)
lists = st.lists(texts, max_size=2).map(tuple)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(texts, values, max_size=3)
quotes = st.lists(st.builds(Quote, texts, counts, counts), max_size=2).map(tuple)
measures = st.builds(
    Measures,
    length=counts,
    unit=texts,
    max_length=st.none() | counts,
    shortened=st.booleans(),
    cut_mode=st.sampled_from(["none", "sentence", "word"]),
    hashtags_dropped=counts,
)
usages = st.builds(Usage, *[st.none() | counts] * 5)
replies = st.builds(Reply, texts, st.just("stop"), maybe, maybe, usages, maybe, maybe)
moments = st.none() | st.floats(0, 1e9)
blocks = st.builds(
    Block,
    st.sampled_from(["heading", "turn"]),
    counts,
    counts,
    lists,
    counts,
    st.none() | counts,
    moments,
)
sources = st.builds(
    Source,
    texts,
    texts,
    texts,
    st.lists(blocks, max_size=2).map(tuple),
    *[maybe] * 5,
    counts,
    lists,
)
fresh = map(str, itertools.count())


@pytest.fixture(scope="module")
def kept(samples) -> Iterator[Store]:
    store = open_store(":memory:")
    store.start_run(samples.run(), samples.source)
    yield store
    store.close()


@settings(max_examples=40, deadline=None)
@given(
    text=maybe,
    content=st.none() | objects,
    measured=st.none() | measures,
    quoted=quotes,
    notes=lists,
    message=texts,
)
def test_a_row_comes_back(kept, samples, text, content, measured, quoted, notes, message):
    row = samples.row(
        next(fresh), text=text, content=content, measures=measured, quotes=quoted, notes=notes
    )
    row = replace(row, message=message, idempotency_key=row.id)
    kept.keep_result([row], settles=())
    assert kept.done_rows(row.id) == (row,)


@settings(max_examples=40, deadline=None)
@given(system=texts, user=texts, schema=objects, parameters=objects, reply=replies, quoted=quotes)
def test_a_call_comes_back(kept, samples, system, user, schema, parameters, reply, quoted):
    run = samples.run(next(fresh))
    kept.start_run(run, samples.source)
    call = Call("faq", system, user, schema, schema, samples.source)
    record = samples.call(next(fresh), run.id, call=call, parameters=parameters)
    record = replace(record, reply=replace(reply, quotes=quoted))
    kept.keep_call(record)
    assert kept.calls(run.id) == (record,)


@settings(max_examples=40, deadline=None)
@given(source=sources)
def test_a_source_comes_back(kept, samples, source):
    run = samples.run(next(fresh), source_id=next(fresh))
    kept.start_run(run, source)
    assert kept.source(run.source_id) == source


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=20))
def test_any_text_at_all_is_stored_or_refused_but_never_crashes(kept, samples, text):
    row = samples.row(next(fresh), text=text)
    [stored] = kept.keep_result([row], settles=())
    clean = not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)
    assert (stored == row) is clean
