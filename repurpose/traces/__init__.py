"""Sources of traces, each asked whether a run has ended. `TRACES` names the members."""

from __future__ import annotations

__all__ = ["TRACES"]

TRACES: dict[str, str] = {
    "mlflow": "repurpose.traces.mlflow:mlflow_traces",
    "otlp": "repurpose.traces.otlp:otlp_traces",
}
"""Kind to `module:factory`, loaded on use.

A factory takes the table `source`, its headers with their secrets in place, and `wire_for`. It
gives a `ports.TraceSource`, and raises `UsageError` where a key of the table cannot be used.
"""
