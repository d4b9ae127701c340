"""What answers a call. `ENGINES` names the members; none is imported before it is used."""

from __future__ import annotations

__all__ = ["ENGINES"]

ENGINES: dict[str, str] = {
    "endpoint": "repurpose.engines.endpoint:endpoint_engine",
    "extractive": "repurpose.engines.extractive:extractive_engine",
    "instructor": "repurpose.engines.instructor:instructor_engine",
    "local": "repurpose.engines.local:local_engine",
    "openai": "repurpose.engines.openai:openai_engine",
    "responses": "repurpose.engines.responses:responses_engine",
    "scripted": "repurpose.engines.scripted:scripted_engine",
}
"""Name to `module:factory`. Strings, because an SDK costs a second of start-up."""
