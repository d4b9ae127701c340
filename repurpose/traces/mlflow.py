"""Asks an MLflow tracking server for the trace of a run, over its REST API.

Works with MLflow 3: `traces/search` finds the trace, `traces/get` has its spans, and
`get-trace-artifact` those that an older client or server keeps in a file.
https://mlflow.org/docs/latest/genai/tracing/search-traces/
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from pydantic_core import to_json

from repurpose.core.declared import Declared
from repurpose.core.endpoint import TraceState
from repurpose.core.exchange import Request, Response, WireError
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.errors import UsageError
from repurpose.ports.endpoints import TraceSource, Wire
from repurpose.schema.intake import IntakeError, decode
from repurpose.traces._spans import attributes_of, is_root, objects, plain_span, read_text

__all__ = ["mlflow_traces"]

_KEY = "tags.repurpose.run_id"
_FIELD = re.compile(
    r"client_request_id|(tags|metadata)\.([A-Za-z0-9_.:/ -]{1,200})"
    r"|(span\.attributes)\.([A-Za-z0-9_.]{1,200})"
)
_TAKEN = frozenset({"name", "run_id", "prompt", "text", "timestamp", "execution_time", "end_time"})
"""Names that MLflow's search reads as fields of its own, even as `tags.run_id`."""
_RUN_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
"""What needs no quoting in a filter."""
_PATIENCE = 30.0
"""Seconds for one request."""
_IN_STORE = frozenset({"TRACKING_STORE", "ARCHIVE_REPO"})
"""Where spans may be that `traces/get` has; others are in a file."""
_DEFAULT_EXPERIMENT = "0"


def mlflow_traces(
    source: Mapping[str, JsonValue],
    *,
    wire_for: Callable[[str, Mapping[str, str]], Wire],
) -> TraceSource:
    """The traces of one experiment of an MLflow server.

    Keys of the table: `url`; `experiment`, a name, or an id in digits, without which it is
    MLflow's default one; `key`, where a trace says which run it is of: `tags.NAME` (by default
    `tags.repurpose.run_id`), `metadata.NAME`, `client_request_id` or `span.attributes.NAME`;
    `header`, as it is sent.

    Raises:
        UsageError: a key cannot be used.
    """
    declared = Declared("completion.source", source)
    declared.only(("kind", "url", "experiment", "key", "header"))
    url = declared.address("url").rstrip("/")
    key = declared.line("key", _KEY)
    found = _FIELD.fullmatch(key)
    if found is None:
        wanted = "tags.NAME, metadata.NAME, span.attributes.NAME or client_request_id"
        raise declared.wrong("key", wanted)
    kind, name = found[1] or found[3], found[2] or found[4] or key
    if found[1] and name.lower() in _TAKEN:
        raise UsageError(
            f"completion.source.key: MLflow takes {key} for a field of its own",
            hint=f'use a longer name, such as "{kind}.repurpose.{name}"',
        )
    wire = wire_for(url, declared.headers("header"))
    experiment = _experiment(declared)
    return _Mlflow(wire, url, experiment, key, _condition(kind, name))


@dataclass(slots=True)
class _Mlflow:
    """A `ports.TraceSource`. Of several traces with the same key, the latest counts."""

    wire: Wire = field(repr=False)
    url: str = field(repr=False)
    experiment: str
    key: str
    condition: str
    experiment_id: str | None = None

    async def state(self, key: str) -> TraceState:
        """Whether the trace with this key has ended."""
        experiment_id = await self._experiment_id()
        if experiment_id is None:
            return TraceState("absent", f'MLflow has no experiment "{self.experiment}" yet')
        found = await self._found(key, experiment_id)
        if found is None:
            return TraceState("absent", f"MLflow has no trace with {self.key} of this run yet")
        match found.get("state"):
            case "OK":
                return TraceState("done")
            case "ERROR":
                return TraceState("failed")
            case "IN_PROGRESS":
                return TraceState("running", "the trace is still in progress")
            case _:
                return TraceState("running", "the trace does not say whether it has ended")

    async def record(self, key: str) -> JsonValue:
        """Of that trace `info`, `request`, `response`, `attributes` and `spans`.

        Request and response are what went into the root span and came out of it. None while the
        root span is not there, except of a trace that failed.
        """
        experiment_id = await self._experiment_id()
        found = await self._found(key, experiment_id) if experiment_id else None
        if found is None:
            return None
        spans = await self._spans(found)
        root = next((span for span in spans if is_root(span)), None)
        if root is None and found.get("state") != "ERROR":
            return None
        attributes = attributes_of(root.get("attributes")) if root else {}
        return {
            "info": found,
            "request": read_text(attributes.get("mlflow.spanInputs")),
            "response": read_text(attributes.get("mlflow.spanOutputs")),
            "attributes": attributes,
            "spans": [plain_span(span) for span in spans],
        }

    async def _experiment_id(self) -> str | None:
        """The experiment's id, asked for once; None while there is no such experiment."""
        if self.experiment_id is None and self.experiment.isdecimal():
            self.experiment_id = self.experiment
        if self.experiment_id is None:
            path = "/api/2.0/mlflow/experiments/get-by-name"
            response = await self._get(path, experiment_name=self.experiment)
            if response.status == 404 and _code(response) == "RESOURCE_DOES_NOT_EXIST":
                return None
            experiment = _object(response).get("experiment")
            said = experiment.get("experiment_id") if isinstance(experiment, Mapping) else None
            if not isinstance(said, str):
                raise WireError("MLflow's answer has no experiment_id")
            self.experiment_id = said
        return self.experiment_id

    async def _found(self, key: str, experiment_id: str) -> JsonObject | None:
        """What MLflow tells of the latest trace with this key, spans apart."""
        if not _RUN_ID.fullmatch(key):
            raise WireError("the run id holds a character that MLflow cannot be asked for")
        location = {"experiment_id": experiment_id}
        asked = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": location}],
            "filter": self.condition.format(key),
            "max_results": 1,
            "order_by": ["timestamp_ms DESC"],
        }
        path = f"{self.url}/api/3.0/mlflow/traces/search"
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        response = await self._sent(Request("POST", path, to_json(asked), headers))
        return next(objects(_object(response).get("traces")), None)

    async def _spans(self, found: JsonObject) -> list[JsonObject]:
        """The spans of a trace; none while they are not there."""
        trace_id, tags = str(found.get("trace_id", "")), found.get("tags")
        place = tags.get("mlflow.trace.spansLocation") if isinstance(tags, Mapping) else None
        if place in _IN_STORE:
            path = "/api/3.0/mlflow/traces/get"
            response = await self._get(path, trace_id=trace_id, allow_partial="true")
        else:
            path = "/ajax-api/2.0/mlflow/get-trace-artifact"
            response = await self._get(path, request_id=trace_id)
        if response.status in (404, 500):  # a file that is not written yet is either of them
            return []
        answer = _object(response)
        trace = answer.get("trace")
        return list(objects((trace if isinstance(trace, Mapping) else answer).get("spans")))

    async def _get(self, path: str, **query: str) -> Response:
        url = f"{self.url}{path}?{urlencode(query)}"
        return await self._sent(Request("GET", url, None, {"Accept": "application/json"}))

    async def _sent(self, request: Request) -> Response:
        try:
            return await self.wire.send(request, _PATIENCE)
        except TimeoutError:
            raise WireError(f"MLflow did not answer within {_PATIENCE:.0f} s") from None


def _experiment(declared: Declared) -> str:
    """A name, or an id, which may stand there as a number."""
    value = declared.given.get("experiment")
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    return declared.line("experiment", _DEFAULT_EXPERIMENT)


def _condition(kind: str | None, name: str) -> str:
    """The condition of MLflow's search language for a run, with {} for the run's id."""
    match kind:
        case None:
            return f"{name} = '{{}}'"
        case "span.attributes":  # MLflow looks into the span's JSON, where the text has quotes
            return f"span.attributes.{name} LIKE '%{{}}%'"
        case _:
            return f"{kind}.`{name}` = '{{}}'"


def _object(response: Response) -> JsonObject:
    """The object that MLflow answered with.

    Raises:
        WireError: it answered otherwise; the message holds nothing of the answer but its code.
    """
    if not 200 <= response.status < 300:
        raise WireError(_refusal(response))
    value = _body(response)
    if not isinstance(value, Mapping):
        raise WireError("what answered does not speak as MLflow does")
    return value


def _refusal(response: Response) -> str:
    code = _code(response)
    said = f"MLflow answered {response.status}" + (f" {code}" if code else "")
    match response.status:
        case 401 | 403:
            return f"{said}: see header.Authorization of completion.source"
        case 404 if not code:
            return f"{said}: is url the address of an MLflow 3 server?"
        case _:
            return said


def _code(response: Response) -> str | None:
    """MLflow's name for what is wrong: `RESOURCE_DOES_NOT_EXIST`."""
    body = _body(response)
    code = body.get("error_code") if isinstance(body, Mapping) else None
    return code if isinstance(code, str) and re.fullmatch(r"[A-Z_]{1,60}", code) else None


def _body(response: Response) -> JsonValue:
    try:
        return decode(response.body.decode(errors="replace"))
    except IntakeError:
        return None
