"""From a table `[endpoints.NAME]` to an endpoint, with everything refused that cannot work.

A message names the keys as they stand in the file, both of them where two contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from repurpose.completion._filling import PLACE
from repurpose.completion._modes import METHODS, completion_from, request_line
from repurpose.core.declared import REFERENCE, Declared
from repurpose.core.endpoint import Endpoint
from repurpose.core.json_types import JsonValue

__all__ = ["PLACES", "endpoint_from"]

PLACES: Final = (
    "run_id",
    "task",
    "system",
    "user",
    "prompt",
    "schema",
    "format",
    "attempt",
    "callback_url",
    "id",
)
"""What the places of bodies and paths may be called; `keys` adds to them."""

_KEYS = (
    "base_url",
    "submit",
    "header",
    "body",
    "keys",
    "result_path",
    "correlate",
    "completion",
    "concurrency",
    "usage",
)
_IN_HEADERS = frozenset({"run_id", "format", "attempt"})
"""Places that a header may hold: what is a prompt is no header."""
_MOST_CALLS = 256
_NAME = re.compile(r"[A-Za-z0-9_-]{1,60}")
_KEY_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")


def endpoint_from(name: str, table: Mapping[str, object]) -> Endpoint:
    """The endpoint that a table declares.

    Raises:
        UsageError: a key that is not known, a value that cannot be used, or keys that contradict
            each other.
    """
    top = Declared(f"endpoints.{name}", table)
    if not _NAME.fullmatch(name):
        raise top.fault("the name may hold letters, digits, - and _ only")
    top.only(_KEYS)
    method, path = request_line(top, "submit", top.text("submit", "POST"), METHODS)
    keys = _own_keys(top)
    result_path = top.text("result_path", "")
    returned_id = _returned_id(top)
    completion = completion_from(top, returned_id=returned_id, result_path=result_path)
    body = top.json("body", _default_body(completion.mode))
    headers = _headers(top, keys)
    if completion.mode == "callback" and "callback_url" not in _places(path, body, headers):
        raise top.fault(
            'completion.mode = "callback" needs {{callback_url}} in body or submit,'
            " or the endpoint never learns where to post"
        )
    return Endpoint(
        name=name,
        base_url=top.address("base_url"),
        method=method,
        path=path,
        headers=headers,
        body=body,
        keys=keys,
        result_path=result_path,
        returned_id=returned_id,
        completion=completion,
        lanes=int(top.number("concurrency", 0, least=1, most=_MOST_CALLS, whole=True)) or None,
        usage=_usage(top),
    )


def _own_keys(top: Declared) -> dict[str, str]:
    table = top.table("keys")
    for key in table.given:
        if key in PLACES:
            raise table.fault(f"{key} is a place of ours; call it something else")
        if not _KEY_NAME.fullmatch(key):
            raise table.fault(f"{key[:60]!r} cannot be a place: letters, digits and _ only")
    return table.texts()


def _returned_id(top: Declared) -> str | None:
    said = top.text("correlate", "injected")
    if said == "injected":
        return None
    path = said.removeprefix("returned:")
    if path == said or not path.strip():
        raise top.wrong("correlate", '"injected" or "returned:PATH", as in "returned:data.id"')
    return path.strip()


def _headers(top: Declared, keys: Mapping[str, str]) -> dict[str, str]:
    found = top.headers("header")
    for name, value in found.items():
        for place in PLACE.findall(value):
            if place in PLACES and place not in _IN_HEADERS:
                raise top.fault(
                    f"header.{name} and {{{{{place}}}}} do not go together: put it in body"
                )
            if place in keys and REFERENCE.search(value):
                raise top.fault(f"header.{name}: a secret and {{{{{place}}}}} do not go together")
    return found


def _usage(top: Declared) -> dict[str, str]:
    table = top.table("usage")
    table.only(("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"))
    return table.texts()


def _default_body(mode: str) -> JsonValue:
    """What is sent where no body is given."""
    body: dict[str, JsonValue] = {
        "run_id": "{{run_id}}",
        "system": "{{system}}",
        "user": "{{user}}",
        "schema": "{{schema}}",
    }
    return {**body, "callback_url": "{{callback_url}}"} if mode == "callback" else body


def _places(path: str, body: JsonValue, headers: Mapping[str, str]) -> set[str]:
    """The places that a submit holds."""
    found = set(PLACE.findall(path)) | set(re.findall(r"\{([a-z_]+)\}", path))
    waiting: list[JsonValue] = [body, *headers.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.update(PLACE.findall(value))
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)
    return found
