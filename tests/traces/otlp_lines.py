"""Lines of OTLP JSON for tests, and short ways to ask a source about them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from repurpose.core.endpoint import TraceState
from repurpose.core.json_types import JsonValue
from repurpose.ports.endpoints import TraceSource
from repurpose.traces.otlp import otlp_traces

TRACE = "5b8efff798038103d269b633813fc60c"
OTHER = "0af7651916cd43dd8448eb211c80319c"


def source(path: Path, **table: object) -> TraceSource:
    def wire_for(*_: object) -> Any:
        raise AssertionError("files need no wire")

    given: dict[str, Any] = {"kind": "otlp", "path": str(path), **table}
    return otlp_traces(given, wire_for=wire_for)


def state(asked: TraceSource, key: str = "run1") -> TraceState:
    return asyncio.run(asked.state(key))


def record(asked: TraceSource, key: str = "run1") -> JsonValue:
    return asyncio.run(asked.record(key))


def text(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def span(span_id: str = "a1", *, run: str | None = "run1", **fields: Any) -> dict[str, Any]:
    attributes = [text("repurpose.run_id", run)] if run else []
    return {
        "traceId": TRACE,
        "spanId": span_id,
        "parentSpanId": "",
        "name": "agent.run",
        "startTimeUnixNano": "1581452772000000321",
        "endTimeUnixNano": "1581452773000000789",
        "status": {},
        **fields,
        "attributes": [*attributes, *fields.get("attributes", [])],
    }


def line(*spans: dict[str, Any], resource: list[dict[str, Any]] | None = None) -> str:
    scope = {"scope": {"name": "writer"}, "spans": list(spans)}
    of_resource = {"resource": {"attributes": resource or []}, "scopeSpans": [scope]}
    return json.dumps({"resourceSpans": [of_resource]}) + "\n"


def append(path: Path, content: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(content)
