"""The tables, as the steps that made them. A released step is never changed, only followed.

A field of `repurpose.core.record` is a column of the same name. Lists and objects are JSON text,
times ISO 8601 in UTC, truth values 0 or 1, and NULL means "not known" or "not given".
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from repurpose.errors import StoreError
from repurpose.stores._connection import immediate, write_ahead

__all__ = ["STEPS", "upgrade"]


def m001_tables(db: Database) -> None:
    """Four tables: a source, the runs over it, the calls of a run, and the rows they led to."""
    db.execute("""
        CREATE TABLE sources (
            id TEXT NOT NULL PRIMARY KEY,  -- SHA-256 of title and text
            title TEXT,
            author TEXT,
            date TEXT,
            language TEXT,
            url TEXT,
            origin TEXT NOT NULL,          -- path, address or - as first given
            kind TEXT NOT NULL,            -- markdown, text or html
            text TEXT NOT NULL,
            blocks TEXT NOT NULL,          -- JSON: headings, paragraphs, ... with their offsets
            hidden INTEGER NOT NULL,       -- hidden characters and nodes that were removed
            warnings TEXT NOT NULL         -- JSON
        )""")
    db.execute("""
        CREATE TABLE runs (
            number INTEGER PRIMARY KEY,    -- in the order they began
            id TEXT NOT NULL UNIQUE,
            source_id TEXT NOT NULL REFERENCES sources (id),
            formats TEXT NOT NULL,         -- JSON
            engine TEXT NOT NULL,
            model TEXT,
            started_at TEXT NOT NULL,
            finished_at TEXT,
            status TEXT NOT NULL,          -- running, done, partial, failed or interrupted
            language TEXT,                 -- as asked for
            audience TEXT,
            tone TEXT
        )""")
    db.execute("""
        CREATE TABLE calls (
            number INTEGER PRIMARY KEY,    -- in the order they ended
            id TEXT NOT NULL UNIQUE,
            run_id TEXT NOT NULL REFERENCES runs (id),
            source_id TEXT NOT NULL REFERENCES sources (id),
            key TEXT NOT NULL,             -- equal keys are equal requests
            settled INTEGER NOT NULL DEFAULT 0,  -- 1 when the result it led to is stored
            format TEXT NOT NULL,
            attempt INTEGER NOT NULL,
            engine TEXT NOT NULL,
            model TEXT,
            parameters TEXT NOT NULL,      -- JSON
            system_prompt TEXT NOT NULL,
            user_prompt TEXT NOT NULL,
            schema TEXT NOT NULL,          -- JSON: what the answer is checked against
            sent_schema TEXT NOT NULL,     -- JSON: what the endpoint was told
            output_tokens INTEGER,         -- the most it may answer
            started_at TEXT NOT NULL,
            seconds REAL NOT NULL,
            reply TEXT,                    -- as it came, before any check; NULL: none came
            finish TEXT,                   -- stop, length, refusal or content_filter
            refusal TEXT,
            reasoning TEXT,
            answered_by TEXT,              -- the model, as the server names it
            request_id TEXT,
            requests INTEGER,              -- how many times it was sent
            prompt_tokens INTEGER,
            completion_tokens INTEGER,
            cached_tokens INTEGER,
            reasoning_tokens INTEGER,
            cost REAL,                     -- US dollars; NULL: the price is not known
            quotes TEXT,                   -- JSON: passages with their offsets in the source
            error TEXT,
            error_kind TEXT
        )""")
    db.execute("""
        CREATE TABLE rows (
            number INTEGER PRIMARY KEY,    -- in the order they were stored
            id TEXT NOT NULL UNIQUE,
            run_id TEXT NOT NULL REFERENCES runs (id),
            source_id TEXT NOT NULL REFERENCES sources (id),
            format TEXT NOT NULL,
            label TEXT NOT NULL,
            variant TEXT NOT NULL,         -- default, or the platform
            status TEXT NOT NULL,          -- done or failed
            message TEXT NOT NULL,
            text TEXT,                     -- what is published
            content TEXT,                  -- JSON: the same as fields
            length INTEGER,                -- of the text, in unit
            max_length INTEGER,
            unit TEXT,
            shortened INTEGER,
            cut_mode TEXT,                 -- none, sentence or word
            hashtags_dropped INTEGER,
            kind TEXT,                     -- of failure
            attempts INTEGER NOT NULL,
            elapsed_ms INTEGER NOT NULL,
            engine TEXT NOT NULL,
            model TEXT,
            provenance TEXT NOT NULL,
            language TEXT,
            quotes TEXT NOT NULL,          -- JSON: passages with their offsets in the source
            coerced TEXT NOT NULL,         -- JSON
            dropped TEXT NOT NULL,         -- JSON
            notes TEXT NOT NULL,           -- JSON
            reused_from TEXT,              -- the run that paid for it
            idempotency_key TEXT NOT NULL,
            created_at TEXT NOT NULL
        )""")


def m002_indices(db: Database) -> None:
    """What the store looks up: a result by its key, a reply by its key, anything by its run."""
    db.execute("CREATE INDEX rows_by_idempotency_key ON rows (idempotency_key)")
    db.execute("CREATE INDEX rows_by_run ON rows (run_id)")
    db.execute("CREATE INDEX calls_by_key ON calls (key)")
    db.execute("CREATE INDEX calls_by_run ON calls (run_id)")
    db.execute("CREATE INDEX runs_by_source ON runs (source_id)")


def m003_cache_writes(db: Database) -> None:
    """What some providers charge for beside the tokens of prompt and completion."""
    db.execute("ALTER TABLE calls ADD COLUMN cache_write_tokens INTEGER")


STEPS = (m001_tables, m002_indices, m003_cache_writes)
"""In the order they are taken; each is recorded in the file by its name."""

_MIGRATIONS = Migrations("repurpose")
for _step in STEPS:
    _MIGRATIONS()(_step)


def upgrade(db: Database, place: str) -> None:
    """Bring the tables to this version's shape, or leave the file exactly as it was.

    Writes nothing where there is nothing to do. All steps stand in one transaction that holds
    the write lock, each with its own savepoint and record, so that processes which start at the
    same moment do not repeat a step.

    Raises:
        StoreError: a newer version wrote the database, or another program did.
    """
    with db.atomic():  # one moment for all that is read, while another process may be at work
        current = _is_current(db, place)
    write_ahead(db)
    if current:
        return
    with immediate(db):
        if not _is_current(db, place):
            _MIGRATIONS.apply(db)


def _is_current(db: Database, place: str) -> bool:
    """Whether no step is missing; refuses a database that is not ours to change."""
    applied = {step.name for step in _MIGRATIONS.applied(db)}
    known = {step.__name__ for step in STEPS}
    if not applied and db.table_names():
        raise StoreError(
            f"database {place}: it holds the tables of another program",
            hint="name another file; this one is left as it was",
        )
    if applied - known:
        raise StoreError(
            f"database {place}: it was written by a newer version",
            hint="update repurpose; the file is left as it was",
        )
    return applied == known
