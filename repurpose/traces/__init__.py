"""Sources of traces, each asked whether a run has ended. `TRACES` names the members."""

from __future__ import annotations

__all__ = ["TRACES"]

TRACES: dict[str, str] = {}
"""Kind to `module:factory`."""
