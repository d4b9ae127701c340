"""The SQLite file: its rights, its settings, its columns, and what is said when it fails."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from dataclasses import fields
from pathlib import Path

import pytest

from repurpose.core.record import CallRecord, Measures, Row, Run
from repurpose.core.source import Source
from repurpose.errors import StoreError
from repurpose.stores import _connection
from repurpose.stores._faults import reason_of
from repurpose.stores.sqlite import open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "folder" / "repurpose.db"


@pytest.fixture
def kept(path, samples):
    """A store in the file `path` in which `run1` has begun."""
    store = open_store(path)
    store.start_run(samples.run(), samples.source)
    yield store
    store.close()


def sql(path: Path, query: str) -> list[tuple[object, ...]]:
    """What any SQLite browser sees."""
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(query).fetchall()


def refusal(path: Path | str) -> StoreError:
    with pytest.raises(StoreError) as caught:
        open_store(path)
    assert "\n" not in str(caught.value)
    return caught.value


# --- the file


def test_only_its_owner_can_read_the_file_and_the_files_beside_it(kept, path):
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    names = ("repurpose.db", "repurpose.db-shm", "repurpose.db-wal")
    assert modes == dict.fromkeys(names, 0o600)


def test_an_existing_files_rights_are_its_owners_business(kept, path):
    path.chmod(0o640)
    open_store(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_the_connection_waits_and_writes_ahead_and_checks_references(kept):
    read = {
        name: kept._db.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("journal_mode", "busy_timeout", "foreign_keys", "synchronous")
    }
    assert read == {
        "journal_mode": "wal",
        "busy_timeout": 30_000,
        "foreign_keys": 1,
        "synchronous": 1,
    }


def test_a_closed_store_is_one_file(kept, path):
    kept.close()
    assert [file.name for file in path.parent.iterdir()] == ["repurpose.db"]


def test_opening_a_current_store_changes_nothing(kept, path):
    before = sql(path, "PRAGMA data_version"), sql(path, "SELECT * FROM _sqlite_migrations")
    with closing(open_store(path)) as again:
        assert again._db.conn.total_changes == 0
    assert (
        sql(path, "PRAGMA data_version"),
        sql(path, "SELECT * FROM _sqlite_migrations"),
    ) == before


def test_a_store_in_memory_leaves_no_file(tmp_path, monkeypatch, samples):
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    with closing(open_store(":memory:")) as store:
        store.start_run(samples.run(), samples.source)
    assert set(tmp_path.iterdir()) == before


def test_reading_loads_no_sdk_and_no_validator():
    script = (
        "import sys; from repurpose.stores.sqlite import open_store; open_store(':memory:').runs();"
        "print([m for m in ('pydantic', 'openai', 'jsonschema', 'nltk') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert ran.stdout == "[]\n"


# --- the tables


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ("sources", {f.name for f in fields(Source)}),
        ("runs", {f.name for f in fields(Run)}),
        ("calls", {f.name for f in fields(CallRecord)} - {"call"}),
        ("rows", {f.name for f in (*fields(Row), *fields(Measures))} - {"measures"}),
    ],
)
def test_every_field_of_a_record_is_a_column(kept, path, table, names):
    assert names <= {column[1] for column in sql(path, f"PRAGMA table_info({table})")}


def test_a_person_can_read_the_rows(kept, path, samples):
    kept.keep_result(samples.posts(), settles=())
    query = (
        "SELECT run_id, format, variant, status, text, content, attempts, length, max_length, unit,"
        " shortened, cut_mode, hashtags_dropped FROM rows WHERE variant = 'x'"
    )
    content = '{"text": "Bienen tanzen 🐝", "hashtags": ["#bees"]}'
    text = "Bienen tanzen 🐝 #bees"
    assert sql(path, query) == [
        ("run1", "social", "x", "done", text, content, 2, 22, 280, "x_weighted", 1, "word", 3)
    ]


def test_a_person_can_read_the_calls(kept, path, samples):
    kept.keep_call(samples.call(cost=None))
    query = (
        "SELECT system_prompt, user_prompt, sent_schema, reply, finish, prompt_tokens,"
        " completion_tokens, cached_tokens, reasoning_tokens, cost, requests, settled FROM calls"
    )
    reply = '{"text": "Bienen tanzen 🐝"}'
    assert sql(path, query) == [
        ("Our rules.", "<block>", '{"type": "object"}', reply, "stop", 100, 20, 64, 0, None, 2, 0)
    ]


def test_every_reference_holds(kept, path, samples):
    kept.keep_call(samples.call())
    kept.keep_result(samples.posts(), settles=["call1"])
    assert sql(path, "PRAGMA foreign_key_check") == []
    assert sql(path, "SELECT count(*) FROM pragma_foreign_key_list('rows')") == [(2,)]


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ("SELECT * FROM rows WHERE idempotency_key = 'k'", "rows_by_idempotency_key"),
        ("SELECT * FROM rows WHERE run_id = 'r'", "rows_by_run"),
        ("SELECT * FROM calls WHERE key = 'k' AND settled = 0", "calls_by_key"),
        ("SELECT * FROM calls WHERE run_id = 'r'", "calls_by_run"),
    ],
)
def test_what_the_store_looks_up_is_indexed(kept, path, query, index):
    assert index in str(sql(path, f"EXPLAIN QUERY PLAN {query}"))


def test_json_broken_by_hand_is_named_with_its_column(kept, path):
    sql(path, "UPDATE runs SET formats = '[broken'")
    with pytest.raises(StoreError, match="its formats holds JSON that cannot be read"):
        kept.runs()


# --- one failing row


def test_a_row_that_the_database_refuses_fails_alone(kept, path, samples):
    sql(
        path,
        "CREATE TRIGGER refuse BEFORE INSERT ON rows WHEN NEW.variant = 'x' AND NEW.status = 'done'"
        " BEGIN SELECT raise(ABORT, 'no such luck'); END",
    )
    kept.keep_call(samples.call())
    stored = kept.keep_result(samples.posts(), settles=["call1"])
    assert [row.status for row in stored] == ["done", "failed", "done"]
    assert stored[1].message.startswith("Social posts (x) storage error: ")
    assert "no such luck" not in stored[1].message
    assert kept.rows("run1") == stored
    assert kept.unsettled_reply("key of the call") is not None


def test_a_fault_that_ends_the_transaction_keeps_none_of_its_rows(kept, path, samples):
    sql(
        path,
        "CREATE TRIGGER refuse BEFORE INSERT ON rows WHEN NEW.variant = 'instagram'"
        " BEGIN SELECT raise(ROLLBACK, 'gone'); END",
    )
    kept.keep_call(samples.call())
    with pytest.raises(StoreError):
        kept.keep_result(samples.posts(), settles=["call1"])
    assert kept.rows("run1") == ()
    assert kept.unsettled_reply("key of the call") is not None


def test_a_full_disk_is_said_and_loses_nothing_that_was_kept(kept, samples):
    kept.keep_call(samples.call())
    pages = kept._db.execute("PRAGMA page_count").fetchone()[0]
    kept._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="the disk is full") as caught:
        kept.keep_call(samples.call("call2", error="x" * 1_000_000))
    assert "free some space" in (caught.value.hint or "")
    assert [call.id for call in kept.calls("run1")] == ["call1"]


def test_a_lock_held_too_long_is_said(kept, path, samples):
    kept._db.execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="locked by another process") as caught:
            kept.keep_call(samples.call())
        assert kept.runs() == (samples.run(),)  # readers do not wait for a writer
    assert "wait" in (caught.value.hint or "")


# --- files that cannot be used


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    article = tmp_path / "article.md"
    article.write_text("# Bees\n" * 1000)
    error = refusal(article)
    assert error.message == f"database {article}: the file is not a database"
    assert "another file" in (error.hint or "")
    assert article.read_text() == "# Bees\n" * 1000


def test_a_damaged_file_says_what_to_do(kept, path):
    kept.close()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 40_000)
    assert "is damaged" in refusal(path).message


def test_another_programs_database_is_left_as_it_is(tmp_path):
    other = tmp_path / "places.sqlite"
    sql(other, "CREATE TABLE bookmarks (url TEXT)")
    before = other.read_bytes()
    error = refusal(other)
    assert "another program" in error.message
    assert other.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir() if "sqlite" in file.name] == ["places.sqlite"]


def test_a_folder_is_not_a_database(tmp_path):
    assert "it cannot be opened" in refusal(tmp_path).message


@pytest.mark.parametrize("name", ["", "."])
def test_a_database_needs_a_name(name):
    assert "no name" in refusal(name).message


def test_a_name_that_no_system_allows_is_said(tmp_path):
    assert "it cannot be created" in refusal(tmp_path / "a\0b").message


def test_a_file_in_the_way_of_the_folder_is_said(tmp_path):
    (tmp_path / "file").write_text("here first")
    error = refusal(tmp_path / "file" / "below" / "repurpose.db")
    assert "it cannot be created: Not a directory" in error.message
    assert "may write" in (error.hint or "")


def test_a_folder_that_may_not_be_written_says_so(tmp_path, monkeypatch):
    """Run as the superuser, who may write everywhere, the refusal has to be acted."""
    if os.geteuid() == 0:
        monkeypatch.setattr(_connection.os, "open", _refused)
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    error = refusal(folder / "repurpose.db")
    assert error.message.endswith("repurpose.db: it cannot be created: Permission denied")
    assert "may write" in (error.hint or "")


def _refused(*_: object) -> int:
    raise PermissionError(13, os.strerror(13))


def test_a_database_that_may_not_be_written_says_so(kept, samples):
    kept._db.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreError, match="it cannot be written") as caught:
        kept.keep_call(samples.call())
    assert "writable" in (caught.value.hint or "")


PRIMARY_CODES = {
    name: code
    for name, code in vars(sqlite3).items()
    if name.startswith("SQLITE_") and isinstance(code, int) and 1 <= code <= 26
}


@pytest.mark.parametrize("name", sorted(PRIMARY_CODES))
def test_every_code_of_sqlite_has_one_line_of_ours(name):
    fault = sqlite3.OperationalError("near SELECT: secret text")
    fault.sqlite_errorcode, fault.sqlite_errorname = PRIMARY_CODES[name] | 256, name
    reason, _ = reason_of(fault)
    assert reason
    assert "secret" not in reason
    assert "\n" not in reason
