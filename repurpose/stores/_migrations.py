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


def m004_validated(db: Database) -> None:
    """Whether a row's answer had to be of a declared shape; until now, each one's had to."""
    db.execute("ALTER TABLE rows ADD COLUMN validated INTEGER NOT NULL DEFAULT 1")


def m005_batches(db: Database) -> None:
    """What batches know of their sources, what a running one has planned, and who works on what."""
    db.execute("""
        CREATE TABLE batches (
            number INTEGER PRIMARY KEY,    -- in the order they began
            id TEXT NOT NULL UNIQUE,
            owner TEXT NOT NULL,           -- the process that runs it
            origins TEXT NOT NULL,         -- JSON: as they were named
            formats TEXT NOT NULL,         -- JSON
            engine TEXT NOT NULL,
            model TEXT,
            started_at TEXT NOT NULL,
            status TEXT NOT NULL,          -- running, done, partial, failed, budget or interrupted
            ended_at TEXT,
            plan TEXT NOT NULL,            -- JSON: counts, calls and costs as planned
            summary TEXT NOT NULL          -- JSON: what it came to
        )""")
    db.execute("""
        CREATE TABLE items (
            number INTEGER PRIMARY KEY,
            key TEXT NOT NULL UNIQUE,      -- path, address, or feed and id of the entry
            origin TEXT NOT NULL,
            state TEXT NOT NULL,           -- todo, done, failed or parked
            digest TEXT,                   -- SHA-256 of title and text, as last read
            title TEXT,
            within TEXT,                   -- the folder, list or feed it was found in
            entry_id TEXT,
            stat TEXT,                     -- size and time of the file when it was read
            done TEXT NOT NULL,            -- JSON: format to digest of settings
            tries INTEGER NOT NULL,        -- failures in a row
            error TEXT,
            error_kind TEXT,
            run_id TEXT,                   -- the last run over it
            batch_id TEXT,                 -- the last batch that worked on it
            seen_at TEXT NOT NULL
        )""")
    db.execute("CREATE INDEX items_by_batch ON items (batch_id, state)")
    db.execute("CREATE INDEX items_by_state ON items (state)")
    db.execute("""
        CREATE TABLE planned (
            number INTEGER PRIMARY KEY,
            batch_id TEXT NOT NULL,        -- only while it runs
            key TEXT NOT NULL,
            digest TEXT,
            action TEXT NOT NULL,
            reason TEXT NOT NULL,
            formats TEXT NOT NULL          -- JSON: those to be made
        )""")
    db.execute("CREATE UNIQUE INDEX planned_once ON planned (batch_id, digest)")
    db.execute("""
        CREATE TABLE leases (
            name TEXT NOT NULL PRIMARY KEY,  -- what is worked on
            owner TEXT NOT NULL,             -- by which process
            until REAL NOT NULL              -- seconds since 1970, UTC; renewed while it lives
        )""")
    db.execute("CREATE INDEX leases_by_owner ON leases (owner)")


def m006_provider_batches(db: Database) -> None:
    """The calls that a provider answers in batches, and these batches."""
    db.execute("""
        CREATE TABLE provider_batches (
            number INTEGER PRIMARY KEY,    -- in the order they were made
            id TEXT NOT NULL UNIQUE,       -- ours; it stands in the batch's metadata
            endpoint TEXT NOT NULL,
            model TEXT,
            lines INTEGER NOT NULL,        -- requests in its file
            digest TEXT NOT NULL,          -- SHA-256 of its file
            created_at TEXT NOT NULL,
            state TEXT NOT NULL,           -- prepared, submitted or ended
            file_id TEXT,                  -- the provider's, of its file
            batch_id TEXT,                 -- the provider's; NULL: whether it was sent is not known
            status TEXT,                   -- as the provider last told it
            submitted_at TEXT,
            ended_at TEXT,
            message TEXT,                  -- what went wrong
            misses INTEGER NOT NULL        -- how often its files could not be read whole
        )""")
    db.execute("""
        CREATE TABLE provider_requests (
            number INTEGER PRIMARY KEY,    -- in the order they were queued
            call_id TEXT NOT NULL UNIQUE REFERENCES calls (id),  -- its custom id at the provider
            key TEXT NOT NULL,             -- that of the call
            body TEXT,                     -- JSON, as it is sent; NULL when there is an outcome
            state TEXT NOT NULL,           -- queued, batched, answered, refused or told
            batch TEXT REFERENCES provider_batches (id),
            line INTEGER,                  -- in the file of that batch
            sends INTEGER NOT NULL DEFAULT 0,  -- how many batches it was in
            hint TEXT,                     -- what to do about a refusal
            wanted_at TEXT NOT NULL        -- when a run last asked for it
        )""")
    db.execute(
        "CREATE UNIQUE INDEX provider_requests_waiting ON provider_requests (key)"
        " WHERE state IN ('queued', 'batched')"
    )
    db.execute(
        "CREATE INDEX provider_requests_refused ON provider_requests (key) WHERE state = 'refused'"
    )
    db.execute(
        "CREATE INDEX provider_requests_queued ON provider_requests (number) WHERE state = 'queued'"
    )
    db.execute("CREATE INDEX provider_requests_by_batch ON provider_requests (batch, line)")


def m007_layouts(db: Database) -> None:
    """How a prompt is laid out, and an index that knows what calls took without their prompts."""
    db.execute("ALTER TABLE calls ADD COLUMN shared_until INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE calls ADD COLUMN task_from INTEGER NOT NULL DEFAULT 0")
    db.execute(
        "CREATE INDEX calls_by_time ON calls (started_at, format, model, engine, attempt, finish,"
        " error_kind, seconds, prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens,"
        " cost)"
    )
    db.execute(
        "CREATE INDEX rows_failed ON rows (created_at, format, model, engine, kind, reused_from)"
        " WHERE status = 'failed'"
    )


def m008_revisions(db: Database) -> None:
    """Who changed a row after it was made, and composites with the names of their sections."""
    db.execute("ALTER TABLE rows ADD COLUMN revision INTEGER NOT NULL DEFAULT 1")
    # made, regenerated, proposed, edited, approved, restored or released
    db.execute("ALTER TABLE rows ADD COLUMN action TEXT NOT NULL DEFAULT 'made'")
    db.execute("ALTER TABLE rows ADD COLUMN author TEXT")
    db.execute("ALTER TABLE rows ADD COLUMN instruction TEXT")
    db.execute("""
        CREATE TABLE composite_versions (
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            sections TEXT NOT NULL,        -- JSON: their names, which never change in a version
            PRIMARY KEY (name, version)
        )""")
    db.execute("""
        CREATE TABLE composites (
            number INTEGER PRIMARY KEY,    -- in the order they were stored
            run_id TEXT NOT NULL REFERENCES runs (id),
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            status INTEGER NOT NULL,       -- 200, or 400 where a section was dropped
            message TEXT NOT NULL,
            payload TEXT NOT NULL,         -- JSON
            created_at TEXT NOT NULL
        )""")
    db.execute("CREATE INDEX composites_by_run ON composites (run_id, name)")


def m009_deliveries(db: Database) -> None:
    """What is posted to us, for those who wait for it, in whatever process."""
    db.execute("""
        CREATE TABLE tickets (
            key TEXT NOT NULL PRIMARY KEY,   -- a hash of the token in its address
            issued_at REAL NOT NULL,         -- seconds since 1970, UTC; so are all below
            forgotten_at REAL                -- since then, what is posted is given to nobody
        )""")
    db.execute("CREATE INDEX tickets_by_time ON tickets (issued_at)")
    db.execute("""
        CREATE TABLE deliveries (
            number INTEGER PRIMARY KEY,      -- in the order they came
            key TEXT NOT NULL,               -- of a ticket, or openai:ID of an object there
            delivered_at REAL NOT NULL,
            claimed_at REAL,                 -- when the one who waited took it; swept soon after
            body BLOB NOT NULL               -- as it was posted
        )""")
    db.execute(
        "CREATE INDEX deliveries_waiting ON deliveries (key, number) WHERE claimed_at IS NULL"
    )
    db.execute(
        "CREATE INDEX deliveries_claimed ON deliveries (claimed_at) WHERE claimed_at IS NOT NULL"
    )
    db.execute("CREATE INDEX deliveries_by_time ON deliveries (delivered_at)")
    db.execute("""
        CREATE TABLE webhook_events (
            id TEXT NOT NULL PRIMARY KEY,    -- the provider's; a second one of this id does nothing
            seen_at REAL NOT NULL
        )""")
    db.execute("CREATE INDEX webhook_events_by_time ON webhook_events (seen_at)")


STEPS = (
    m001_tables,
    m002_indices,
    m003_cache_writes,
    m004_validated,
    m005_batches,
    m006_provider_batches,
    m007_layouts,
    m008_revisions,
    m009_deliveries,
)
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
