"""From a table `completion` to one of the five modes, with its defaults."""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.core.declared import Declared
from repurpose.core.endpoint import (
    INTERVALS,
    TIMEOUTS,
    Callback,
    Completion,
    Mode,
    Poll,
    StatusMatch,
    Stream,
    Sync,
    Trace,
)

__all__ = ["METHODS", "completion_from", "request_line"]

METHODS = ("POST", "PUT", "PATCH")
"""What a submit may be: it has a body."""
_MODE_KEYS: Mapping[str, tuple[str, ...]] = {
    "sync": (),
    "poll": ("status_path", "status_body", "done", "failed", "interval"),
    "stream": ("done", "failed"),
    "callback": ("done", "failed"),
    "trace": ("source", "interval"),
}
_LONGEST_WAIT = 86_400.0
"""A day, in seconds."""


def completion_from(top: Declared, *, returned_id: str | None, result_path: str) -> Completion:
    """How the endpoint tells that it has finished; sync where it does not say."""
    table = top.table("completion")
    mode = table.text("mode", "" if table.given else "sync")
    if mode not in _MODE_KEYS:
        raise table.fault(f"mode must be one of {', '.join(_MODE_KEYS)}, not {mode!r}")
    for key in table.given:
        fits = [other for other, keys in _MODE_KEYS.items() if key in keys]
        if fits and mode not in fits:
            raise table.fault(
                f'{key} and mode = "{mode}" do not go together: {key} is for {_or(fits)}'
            )
    table.only(("mode", "timeout", *_MODE_KEYS[mode]))
    match mode:
        case "poll":
            completion: Completion = _poll(table)
        case "stream":
            completion = Stream(
                done=_required_match(table, "stream"),
                failed=_match(table, "failed"),
                timeout=_timeout(table, "stream"),
            )
        case "callback":
            completion = Callback(
                done=_match(table, "done"),
                failed=_match(table, "failed"),
                timeout=_timeout(table, "callback"),
            )
        case "trace":
            completion = _trace(top, table, returned_id=returned_id, result_path=result_path)
        case _:
            completion = Sync(timeout=_timeout(table, "sync"))
    return completion


def _poll(table: Declared) -> Poll:
    method, path = request_line(
        table, "status_path", table.text("status_path"), ("GET", *METHODS), otherwise="GET"
    )
    body = table.json("status_body")
    if body is not None and method == "GET":
        raise table.fault(
            "status_body and a status_path that is read with GET do not go together",
            hint=f'status_path = "POST {path}" sends it',
        )
    timeout = _timeout(table, "poll")
    return Poll(
        status_path=path,
        done=_required_match(table, "poll"),
        failed=_match(table, "failed"),
        interval=_interval(table, "poll", timeout),
        timeout=timeout,
        status_method=method,
        status_body=body,
    )


def _trace(top: Declared, table: Declared, *, returned_id: str | None, result_path: str) -> Trace:
    if table.given.get("source") == "inline":
        raise table.fault(
            'source = "inline" and mode = "trace" do not go together:'
            " a trace is asked for while the submit is still under way",
            hint='mode = "sync" reads what the submit answers',
        )
    if returned_id is not None:
        raise top.fault(
            f'correlate = "returned:{returned_id}" and completion.mode = "trace" do not go'
            " together: the answer to the submit is not waited for",
            hint='correlate = "injected" sends {{run_id}}, which the trace must carry',
        )
    if not result_path:
        raise top.fault(
            'completion.mode = "trace" needs result_path: where in the trace the answer stands'
        )
    source = table.json("source")
    if not isinstance(source, Mapping) or not isinstance(source.get("kind"), str):
        raise table.fault('mode = "trace" needs source = {kind = …}: who knows of the traces')
    timeout = _timeout(table, "trace")
    return Trace(source=source, interval=_interval(table, "trace", timeout), timeout=timeout)


def _required_match(table: Declared, mode: str) -> StatusMatch:
    match = _match(table, "done")
    if match is None:
        raise table.fault(f'mode = "{mode}" needs done = {{field = …, equals = …}}')
    return match


def _match(table: Declared, key: str) -> StatusMatch | None:
    if key not in table.given:
        return None
    given = table.table(key)
    given.only(("field", "equals", "one_of"))
    field = given.text("field")
    if "equals" in given.given and "one_of" in given.given:
        raise given.fault("equals and one_of exclude each other")
    if "equals" in given.given:
        wanted: list[object] = [given.given["equals"]]
    elif "one_of" in given.given:
        listed = given.given["one_of"]
        if not isinstance(listed, list | tuple) or not listed:
            raise given.wrong("one_of", "a list with at least one value")
        wanted = list(listed)
    else:
        raise given.fault("needs equals or one_of, or nothing would ever match")
    values: list[str | int | float | bool | None] = []
    for value in wanted:
        if value is not None and not isinstance(value, str | int | float):
            raise given.fault("texts, numbers, true and false can be compared, and nothing else")
        values.append(value)
    return StatusMatch(field, tuple(values))


def _timeout(table: Declared, mode: Mode) -> float:
    return float(table.number("timeout", TIMEOUTS[mode], most=_LONGEST_WAIT))


def _interval(table: Declared, mode: Mode, timeout: float) -> float:
    default = min(INTERVALS[mode], timeout)
    interval = float(table.number("interval", default, most=_LONGEST_WAIT))
    if interval > timeout:
        raise table.fault(
            f"interval = {interval:g} and timeout = {timeout:g} do not go together:"
            " time would be up before the second look"
        )
    return interval


def request_line(
    table: Declared, key: str, line: str, methods: tuple[str, ...], *, otherwise: str = "POST"
) -> tuple[str, str]:
    """Method and path of a line such as `POST /runs/{run_id}`; without a method, `otherwise`."""
    first, _, rest = line.strip().partition(" ")
    is_path = first.startswith("/") or not first
    method, path = (otherwise, line.strip()) if is_path else (first.upper(), rest.strip())
    if method not in methods:
        raise table.wrong(key, f'a path, or one of {", ".join(methods)} and a path: "POST /runs"')
    if path and not path.startswith("/"):
        raise table.wrong(key, f"a path that begins with /, not {path[:60]!r}")
    if not path.isprintable() or " " in path or "#" in path:
        raise table.wrong(key, "a path without spaces, # and control characters")
    return method, path


def _or(names: list[str]) -> str:
    return " or ".join(names)
