"""Settings for an A2A agent, by each way in which the protocol tells that a task has ended."""

from __future__ import annotations

WAYS = ("stream", "poll", "push")

_ENDPOINT = """
[endpoints.agent]
base_url = "URL"
header = {A2A-Version = "1.0", Authorization = "Bearer env:WRITER_TOKEN"}
correlate = "returned:result.task.id"
result_path = "RESULT"

[endpoints.agent.body]
jsonrpc = "2.0"
id = "{{run_id}}"
method = "METHOD"

[endpoints.agent.body.params.message]
messageId = "{{run_id}}"
role = "ROLE_USER"
metadata = {format = "{{format}}", attempt = "{{attempt}}"}
parts = [{text = "{{system}}"}, {text = "{{user}}"}, {data = "{{schema}}"}]
"""

_FAILED = '["TASK_STATE_FAILED", "TASK_STATE_REJECTED", "TASK_STATE_CANCELED"]'

_STREAM = f"""
[endpoints.agent.completion]
mode = "stream"
timeout = TIMEOUT
done = {{field = "result.artifactUpdate.lastChunk", equals = true}}
failed = {{field = "result.statusUpdate.status.state", one_of = {_FAILED}}}
"""

_POLL = f"""
[endpoints.agent.body.params.configuration]
returnImmediately = true

[endpoints.agent.completion]
mode = "poll"
timeout = TIMEOUT
interval = 0.02
status_path = "POST /"
done = {{field = "result.status.state", equals = "TASK_STATE_COMPLETED"}}
failed = {{field = "result.status.state", one_of = {_FAILED}}}

[endpoints.agent.completion.status_body]
jsonrpc = "2.0"
id = "{{{{run_id}}}}"
method = "GetTask"
params = {{id = "{{{{id}}}}", historyLength = 0}}
"""

_PUSH = f"""
[endpoints.agent.body.params.configuration]
returnImmediately = true
taskPushNotificationConfig = {{url = "{{{{callback_url}}}}"}}

[endpoints.agent.completion]
mode = "callback"
timeout = TIMEOUT
done = {{field = "artifactUpdate.lastChunk", equals = true}}
failed = {{field = "statusUpdate.status.state", one_of = {_FAILED}}}
"""

_BY_WAY = {
    "stream": (_STREAM, "SendStreamingMessage", "result.artifactUpdate.artifact"),
    "poll": (_POLL, "SendMessage", "result.artifacts.0"),
    "push": (_PUSH, "SendMessage", "artifactUpdate.artifact"),
}


def settings_for(way: str, url: str, *, timeout: float = 10.0, part: str = "0.text") -> str:
    """The settings of `[endpoints.agent]`; `part` is where in the answer's parts it stands."""
    completion, method, artifact = _BY_WAY[way]
    return (
        (_ENDPOINT + completion)
        .replace("URL", url, 1)
        .replace("RESULT", f"{artifact}.parts.{part}")
        .replace("METHOD", method)
        .replace("TIMEOUT", str(timeout))
    )
