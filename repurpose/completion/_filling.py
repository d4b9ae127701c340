"""Fills the places of an endpoint's paths, headers and body. Nothing is ever evaluated.

What is put into a place is not looked at again, and a place that nobody fills stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote

from pydantic_core import to_json

from repurpose.core.declared import REFERENCE
from repurpose.core.endpoint import Endpoint
from repurpose.core.exchange import Request
from repurpose.core.json_types import JsonValue
from repurpose.errors import BrokenReply

__all__ = ["PLACE", "address", "filled", "request_for", "written"]

PLACE = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]{0,60})\}\}")
"""A place in a body or a header: `{{system}}`."""
_PATH_PLACE = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]{0,60})\}\}|\{([A-Za-z][A-Za-z0-9_]{0,60})\}")


def filled(template: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """A template with its places filled, at any depth; keys, numbers and switches stay.

    A text that is one place and nothing else becomes the value itself, whatever its type.

    >>> filled({"run": "{{run_id}}", "n": [1, "{{other}} {{run_id}}"]}, {"run_id": "r1"})
    {'run': 'r1', 'n': [1, '{{other}} r1']}
    """
    if isinstance(template, str):
        whole = PLACE.fullmatch(template)
        if whole:
            return values.get(whole.group(1), template)
        return PLACE.sub(lambda place: _as_text(values, place.group(1), place.group()), template)
    if isinstance(template, Mapping):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [filled(value, values) for value in template]
    return template


def address(endpoint: Endpoint, path: str, values: Mapping[str, JsonValue]) -> str:
    """The address of a path under the endpoint's base, with every value percent-encoded (RFC 3986).

    Raises:
        BrokenReply: a value is `.` or `..`, which would lead to another path whatever its encoding.

    >>> writer = Endpoint("writer", "http://localhost:9000/")
    >>> address(writer, "/runs/{id}/status", {"id": "a/b?x"})
    'http://localhost:9000/runs/a%2Fb%3Fx/status'
    """

    def quoted(place: re.Match[str]) -> str:
        name = place.group(1) or place.group(2)
        if name not in values:
            return place.group()
        value = _as_text(values, name, "")
        if value in (".", ".."):
            raise BrokenReply(f"endpoint {endpoint.name}: {name} is {value!r}, which is no name")
        return quote(value, safe="")

    base = endpoint.base_url
    filled_path = _PATH_PLACE.sub(quoted, path)
    return f"{base.removesuffix('/')}/{filled_path.removeprefix('/')}" if path else base


def request_for(
    endpoint: Endpoint,
    values: Mapping[str, JsonValue],
    *,
    method: str,
    path: str,
    body: JsonValue,
) -> Request:
    """A request to the endpoint but for the headers that hold secrets; None sends no body."""
    headers = {"accept": "application/json, text/event-stream;q=0.9, */*;q=0.5"}
    if body is not None:
        headers["content-type"] = "application/json"
    for name, value in endpoint.headers.items():
        if not REFERENCE.search(value):
            headers[name.lower()] = str(filled(value, values))
    return Request(
        method=method,
        url=address(endpoint, path, values),
        body=None if body is None else to_json(filled(body, values)),
        headers=headers,
    )


def written(value: JsonValue) -> str:
    """A value as one text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else to_json(value).decode()


def _as_text(values: Mapping[str, JsonValue], name: str, otherwise: str) -> str:
    return written(values[name]) if name in values else otherwise
