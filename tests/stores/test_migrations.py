"""Databases of older and newer versions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from repurpose.errors import StoreError
from repurpose.stores._migrations import STEPS
from repurpose.stores.sqlite import open_store

SCHEMA_1 = """
CREATE TABLE sources (
    id TEXT NOT NULL PRIMARY KEY, title TEXT, author TEXT, date TEXT, language TEXT, url TEXT,
    origin TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, blocks TEXT NOT NULL,
    hidden INTEGER NOT NULL, warnings TEXT NOT NULL
);
CREATE TABLE runs (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    source_id TEXT NOT NULL REFERENCES sources (id), formats TEXT NOT NULL, engine TEXT NOT NULL,
    model TEXT, started_at TEXT NOT NULL, finished_at TEXT, status TEXT NOT NULL, language TEXT,
    audience TEXT, tone TEXT
);
CREATE TABLE calls (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run_id TEXT NOT NULL REFERENCES runs (id),
    source_id TEXT NOT NULL REFERENCES sources (id), key TEXT NOT NULL,
    settled INTEGER NOT NULL DEFAULT 0, format TEXT NOT NULL, attempt INTEGER NOT NULL,
    engine TEXT NOT NULL, model TEXT, parameters TEXT NOT NULL, system_prompt TEXT NOT NULL,
    user_prompt TEXT NOT NULL, schema TEXT NOT NULL, sent_schema TEXT NOT NULL,
    output_tokens INTEGER, started_at TEXT NOT NULL, seconds REAL NOT NULL, reply TEXT,
    finish TEXT, refusal TEXT, reasoning TEXT, answered_by TEXT, request_id TEXT, requests INTEGER,
    prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER,
    reasoning_tokens INTEGER, cost REAL, quotes TEXT, error TEXT, error_kind TEXT
);
CREATE TABLE rows (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, run_id TEXT NOT NULL REFERENCES runs (id),
    source_id TEXT NOT NULL REFERENCES sources (id), format TEXT NOT NULL, label TEXT NOT NULL,
    variant TEXT NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL, text TEXT, content TEXT,
    length INTEGER, max_length INTEGER, unit TEXT, shortened INTEGER, cut_mode TEXT,
    hashtags_dropped INTEGER, kind TEXT, attempts INTEGER NOT NULL, elapsed_ms INTEGER NOT NULL,
    engine TEXT NOT NULL, model TEXT, provenance TEXT NOT NULL, language TEXT,
    quotes TEXT NOT NULL, coerced TEXT NOT NULL, dropped TEXT NOT NULL, notes TEXT NOT NULL,
    reused_from TEXT, idempotency_key TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE TABLE _sqlite_migrations (
    id INTEGER PRIMARY KEY, migration_set TEXT, name TEXT, applied_at TEXT
);
INSERT INTO _sqlite_migrations VALUES (1, 'repurpose', 'm001_tables', '2026-01-01');
INSERT INTO sources VALUES
    ('s1', 'Bees', NULL, NULL, 'en', NULL, 'bees.md', 'text', 'Bees dance.',
     '[{"kind": "paragraph", "start": 0, "end": 11, "headings": [], "level": 0}]', 0, '[]');
INSERT INTO runs VALUES
    (1, 'run1', 's1', '["summary"]', 'scripted', NULL, '2026-01-01', '2026-01-01', 'done',
     NULL, NULL, NULL);
INSERT INTO calls (id, run_id, source_id, key, format, attempt, engine, parameters, system_prompt,
    user_prompt, schema, sent_schema, started_at, seconds, reply, finish, requests, quotes)
VALUES ('call1', 'run1', 's1', 'k', 'summary', 1, 'scripted', '{}', 's', 'u', '{}', '{}',
    '2026-01-01', 0.5, '{}', 'stop', 1, '[]');
INSERT INTO rows (id, run_id, source_id, format, label, variant, status, message, text, content,
    attempts, elapsed_ms, engine, provenance, quotes, coerced, dropped, notes, idempotency_key,
    created_at)
VALUES ('row1', 'run1', 's1', 'summary', 'Summary', 'default', 'done', 'Summary done',
    'Bees dance.', '{"sentences": ["Bees dance."]}', 1, 5, 'scripted', 'engine scripted', '[]',
    '[]', '[]', '[]', 'key', '2026-01-01');
"""
"""The first tables that were ever written, with a record of each kind. Never to be edited."""


@pytest.fixture
def oldest(tmp_path: Path) -> Path:
    path = tmp_path / "repurpose.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA_1)
    return path


def shape(path: Path) -> list[tuple[object, ...]]:
    """Every table's columns with types and keys, and every index with its columns."""
    columns = (
        "SELECT m.name, c.name, c.type, c.[notnull], c.dflt_value, c.pk"
        " FROM sqlite_master m JOIN pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND m.name != '_sqlite_migrations' ORDER BY m.name, c.cid"
    )
    indices = (
        "SELECT m.tbl_name, m.name, c.name FROM sqlite_master m JOIN pragma_index_info(m.name) c"
        " WHERE m.type = 'index' AND m.tbl_name != '_sqlite_migrations' ORDER BY 1, 2, c.seqno"
    )
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(columns).fetchall() + connection.execute(indices).fetchall()


def test_the_oldest_database_keeps_its_records(oldest):
    with closing(open_store(oldest)) as store:
        assert [run.id for run in store.runs()] == ["run1"]
        assert store.source("s1").blocks[0].end == 11
        assert [row.text for row in store.rows("run1")] == ["Bees dance."]
        assert [row.id for row in store.done_rows("key")] == ["row1"]
        assert store.calls("run1")[0].call.user == "u"
        assert store.unsettled_reply("k") is not None


def test_the_oldest_database_becomes_like_a_new_one(oldest, tmp_path):
    open_store(oldest).close()
    open_store(tmp_path / "new.db").close()
    assert shape(oldest) == shape(tmp_path / "new.db")


def test_each_step_is_recorded_by_its_name(oldest):
    open_store(oldest).close()
    with closing(sqlite3.connect(oldest)) as connection:
        names = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert names == [(step.__name__,) for step in STEPS]


def test_a_step_that_fails_leaves_the_database_as_it_was(oldest):
    with closing(sqlite3.connect(oldest)) as connection:
        connection.execute("CREATE INDEX calls_by_run ON calls (id)")  # in the way of a later step
    before = shape(oldest)
    with pytest.raises(StoreError):
        open_store(oldest)
    assert shape(oldest) == before


def test_a_database_of_a_newer_version_is_left_alone(tmp_path):
    path = tmp_path / "repurpose.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('repurpose', 'm999_later', '2030-01-01')"
        )
    with pytest.raises(StoreError, match="written by a newer version") as caught:
        open_store(path)
    assert "update repurpose" in (caught.value.hint or "")


def test_what_another_tool_records_in_the_file_does_not_matter(tmp_path):
    path = tmp_path / "repurpose.db"
    open_store(path).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
            " VALUES ('notes', 'm001', '2030-01-01')"
        )
        connection.execute("CREATE TABLE my_notes (text TEXT)")
    open_store(path).close()


def test_tables_that_another_process_makes_meanwhile_are_ours(tmp_path, monkeypatch):
    """Both begin with an empty file; the other one is done between two looks of this one."""
    path = tmp_path / "repurpose.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    applied = Migrations.applied

    def overtaken(steps: Migrations, db: Database) -> object:
        monkeypatch.setattr(Migrations, "applied", applied)
        before = applied(steps, db)
        open_store(path).close()
        return before

    monkeypatch.setattr(Migrations, "applied", overtaken)
    with closing(open_store(path)) as store:
        assert store.runs() == ()
