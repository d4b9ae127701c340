"""Settings for the service of `endpoint_servers`, in each of the five modes; stream in two ways."""

from __future__ import annotations

_ENDED = """done = {field = "state", equals = "completed"}
failed = {field = "state", one_of = ["failed", "canceled"]}
"""
MODES = {
    "sync": ("/write", "output", 'mode = "sync"'),
    "poll": (
        "/jobs",
        "output.text",
        f'mode = "poll"\nstatus_path = "/jobs/{{id}}"\ninterval = 0.01\n{_ENDED}',
    ),
    "events": ("/events", "output.text", f'mode = "stream"\n{_ENDED}'),
    "lines": ("/lines", "output.text", f'mode = "stream"\n{_ENDED}'),
    "callback": ("/webhook/write", "output.text", f'mode = "callback"\n{_ENDED}'),
    "trace": (
        "/invoke",
        "attributes.output",
        'mode = "trace"\ninterval = 0.01\nsource = {kind = "otlp", path = "traces.jsonl"}',
    ),
}


def settings_for(mode: str, url: str, *, timeout: float = 10.0, path: str | None = None) -> str:
    """The settings of `[endpoints.agent]`."""
    submit, result, completion = MODES[mode]
    correlate = 'correlate = "returned:job.id"' if mode == "poll" else ""
    return f"""
[endpoints.agent]
base_url = "{url}"
submit = "POST {path or submit}"
header.Authorization = "Bearer env:WRITER_TOKEN"
body = {{text = "{{{{prompt}}}}", reply_to = "{{{{callback_url}}}}", run = "{{{{run_id}}}}"}}
result_path = "{result}"
{correlate}

[endpoints.agent.completion]
timeout = {timeout}
{completion}
"""
