"""The description of the interface for programs, made from the table of operations.

Source of the form: OpenAPI Specification 3.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from repurpose import __version__
from repurpose.web.answers import Faulty
from repurpose.web.operations import Operation

__all__ = ["document"]

_REF = "#/components/schemas/{model}"
_PLACE = re.compile(r"\{([a-z]+)\}")
_ABOUT = (
    "Runs, texts and what people make of them. Without a token, a request that changes something"
    " shows the value of GET /api/session as X-CSRF-Token; with one, it is enough to send"
    " Authorization: Bearer TOKEN."
)
_FAULTS = {
    "401": "A token is needed",
    "403": "Asked under another name, from another site, or without the right X-CSRF-Token",
    "404": "What the address names is not there",
    "409": "Changed meanwhile, or in work",
    "413": "Too large",
    "422": "Something in the request cannot be used; the message says what",
}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """An OpenAPI document of these operations."""
    used = (shape for one in operations for shape in (one.body, one.gives))
    unique: list[type[BaseModel]] = [Faulty, *dict.fromkeys(shape for shape in used if shape)]
    modes: list[tuple[type[BaseModel], Any]] = [(shape, "validation") for shape in unique]
    names, schemas = models_json_schema(modes, ref_template=_REF)
    refs = {shape: names[shape, "validation"] for shape in unique}
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _described(one, refs)
    return {
        "openapi": "3.1.1",
        "info": {"title": "repurpose", "version": __version__, "description": _ABOUT},
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "csrf": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"},
            },
        },
    }


def _described(one: Operation, refs: Mapping[Any, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.summary,
        "parameters": _parameters(one),
        "responses": _responses(one, refs),
    }
    if one.body is not None:
        told["requestBody"] = {
            "required": one.body.model_json_schema().get("required") is not None,
            "content": {"application/json": {"schema": refs[one.body]}},
        }
    elif one.method == "POST":
        file = {"type": "object", "required": ["file"], "properties": {"file": _BYTES}}
        told["requestBody"] = {
            "required": True,
            "content": {"multipart/form-data": {"schema": file}},
        }
    if one.method == "POST":
        told["security"] = [{"csrf": []}, {"token": []}]
    return told


_BYTES = {"type": "string", "contentMediaType": "application/octet-stream"}


def _parameters(one: Operation) -> list[dict[str, Any]]:
    text = {"type": "string"}
    places = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in _PLACE.findall(one.path)
    ]
    queries = [
        {"name": name, "in": "query", "description": meaning, "schema": text}
        for name, meaning in (one.query or {}).items()
    ]
    return [*places, *queries]


def _responses(one: Operation, refs: Mapping[Any, Any]) -> dict[str, Any]:
    schema = {"type": "string"} if one.gives is None else refs[one.gives]
    good = {"description": one.summary, "content": {one.media: {"schema": schema}}}
    fault = {"application/json": {"schema": refs[Faulty]}}
    bad = {
        status: {"description": meaning, "content": fault} for status, meaning in _FAULTS.items()
    }
    return {str(one.status): good, **bad}
