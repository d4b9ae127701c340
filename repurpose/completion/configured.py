"""From a table `[endpoints.NAME]` to an endpoint, with everything refused that cannot work.

A message names the keys as they stand in the file, both of them where two contradict each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from repurpose.completion._filling import PLACE, REFERENCE
from repurpose.completion._modes import METHODS, completion_from, request_line
from repurpose.completion._reading import Table
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
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
"""A token of RFC 9110, section 5.6.2."""
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "te", "upgrade"})
"""Headers that the transport writes."""


def endpoint_from(name: str, table: Mapping[str, object]) -> Endpoint:
    """The endpoint that a table declares.

    Raises:
        UsageError: a key that is not known, a value that cannot be used, or keys that contradict
            each other.
    """
    top = Table(f"endpoints.{name}", table)
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
        base_url=_base_url(top),
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


def _base_url(table: Table) -> str:
    url = table.text("base_url")
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or not url.isprintable() or " " in url:
        raise table.wrong("base_url", 'an http or https address: "http://localhost:9000"')
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise table.wrong("base_url", "an address without password, ? and #")
    return url


def _own_keys(top: Table) -> dict[str, str]:
    table = top.table("keys")
    for key in table.given:
        if key in PLACES:
            raise table.fault(f"{key} is a place of ours; call it something else")
        if not _KEY_NAME.fullmatch(key):
            raise table.fault(f"{key[:60]!r} cannot be a place: letters, digits and _ only")
    return table.texts()


def _returned_id(top: Table) -> str | None:
    said = top.text("correlate", "injected")
    if said == "injected":
        return None
    path = said.removeprefix("returned:")
    if path == said or not path.strip():
        raise top.wrong("correlate", '"injected" or "returned:PATH", as in "returned:data.id"')
    return path.strip()


def _headers(top: Table, keys: Mapping[str, str]) -> dict[str, str]:
    table = top.table("header")
    found = table.texts()
    for name, value in found.items():
        if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
            raise table.fault(f"{name[:60]!r} is no header that can be set")
        if not (value.isascii() and value.isprintable()):
            raise table.wrong(name, "one line of plain ASCII")
        for place in PLACE.findall(value):
            if place in PLACES and place not in _IN_HEADERS:
                raise table.fault(f"{name} and {{{{{place}}}}} do not go together: put it in body")
            if place in keys and REFERENCE.search(value):
                raise table.fault(f"{name}: a secret and {{{{{place}}}}} do not go together")
    return found


def _usage(top: Table) -> dict[str, str]:
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
