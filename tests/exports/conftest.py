"""A run whose four formats show everything an export has to show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from repurpose.core.call import Quote
from repurpose.core.record import Measures, Row, Run
from repurpose.core.source import Source

SOURCE = Source(
    text="Bees dance to tell the way.",
    origin="bees.md",
    kind="markdown",
    title="How bees tell the way",
    language="en",
)
RUN = Run(
    id="run1",
    source_id=SOURCE.digest,
    formats=("summary", "faq", "social", "newsletter"),
    engine="extractive",
    model=None,
    started_at="2026-05-02T08:00:00.000Z",
    status="partial",
    finished_at="2026-05-02T08:00:03.000Z",
)


def row(format: str, label: str, text: str | None, **changes: object) -> Row:
    made = Row(
        id=f"{format}-{changes.get('variant', 'default')}",
        run_id="run1",
        source_id=SOURCE.digest,
        format=format,
        label=label,
        variant="default",
        status="done",
        message=f"{label} done",
        idempotency_key="key",
        engine="extractive",
        provenance="extracted, no model",
        created_at="2026-05-02T08:00:02.000Z",
        attempts=1,
        text=text,
        content={"text": text},
        language="en",
    )
    return replace(made, **changes)


def failed(format: str, label: str, message: str, **changes: object) -> Row:
    return row(
        format, label, None, status="failed", message=message, kind="store", content=None, **changes
    )


PAIRS = [
    {"question": "Why do bees dance?", "answer": "To tell the way.\nAnd how far it is."},
    {"question": "Is 1 < 2 </script>?", "answer": "Yes."},
]
ROWS = (
    row(
        "newsletter",
        "Newsletter",
        "Subject: ...",
        content={
            "subject": "Dancing bees",
            "preheader": "How they tell the way",
            "paragraphs": ["First paragraph.", "Second paragraph."],
            "callToAction": "Read the article.",
        },
    ),
    row(
        "summary",
        "Summary",
        "Bees dance. They tell the way.",
        measures=Measures(30, "code_points"),
        quotes=(Quote("Bees dance", 0, 10),),
    ),
    row(
        "social",
        "Social posts",
        "Bees dance.\n\n#bees #dance",
        variant="linkedin",
        measures=Measures(24, "utf16", 3000),
    ),
    row(
        "social",
        "Social posts",
        "Bees dance a lot.",
        variant="x",
        measures=Measures(269, "x_weighted", 280, True, "sentence", 1),
    ),
    failed(
        "social",
        "Social posts",
        "Social posts (instagram) storage error: the disk is full",
        variant="instagram",
    ),
    row("faq", "FAQ", "Q: ...", content={"pairs": PAIRS}),
)


class Samples:
    """What an export is given, and how to make more of it."""

    run, source, rows = RUN, SOURCE, ROWS
    row, failed = staticmethod(row), staticmethod(failed)


@pytest.fixture(scope="session")
def samples() -> Samples:
    return Samples()
