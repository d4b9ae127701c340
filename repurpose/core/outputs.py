"""What the steps of a run have handed on, by name: reading it, and putting it together.

A step's value is an envelope, whose fields are read through its data, or any other JSON value,
which is read as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.core.envelope import Envelope
from repurpose.core.json_types import JsonObject, JsonValue
from repurpose.core.paths import MISSING, at
from repurpose.core.source import Source
from repurpose.errors import SourceError

__all__ = ["aggregate", "flattened", "resolve", "source_envelope"]


def resolve(outputs: Mapping[str, object], path: str) -> object:
    """What stands at `path`, whose first part names a step; `MISSING` where there is nothing.

    The rest of the path begins in the data of an envelope, so its status and message cannot be
    mistaken for fields. A leading `data` may be written and means the same, unless a field has
    that name.

    >>> done = Envelope.success("FAQ done", {"pairs": [{"question": "Why?"}]}, declared=["pairs"])
    >>> resolve({"faq": done}, "faq.pairs.0.question")
    'Why?'
    >>> resolve({"faq": done}, "faq.data.pairs.0.question"), resolve({"faq": done}, "faq.status")
    ('Why?', MISSING)
    """
    name, _, rest = path.partition(".")
    if name not in outputs:
        return MISSING
    envelope = Envelope.from_object(outputs[name])
    if envelope is None:
        return at(outputs[name], rest)
    first, _, deeper = rest.partition(".")
    if first == "data" and "data" not in envelope.data:
        return at(envelope.data, deeper)
    return at(envelope.data, rest)


def flattened(outputs: Mapping[str, Envelope]) -> JsonObject:
    """Every field of every step by `{step}__{field}`; two steps cannot overwrite each other.

    >>> done = Envelope.success("FAQ done", {"pairs": []}, declared=["pairs"])
    >>> flattened({"faq": done})
    {'faq__pairs': []}
    """
    return {
        f"{step}__{field}": value
        for step, envelope in outputs.items()
        for field, value in envelope.data.items()
    }


def aggregate(outputs: Mapping[str, Envelope]) -> Envelope:
    """All steps as one envelope: data by step, the worst status, and who failed and why.

    A failed step has no entry in the data, so that no empty object is taken for its result.

    >>> aggregate({"faq": Envelope.failure("no quota"), "summary": Envelope(200, "done", {"n": 1})})
    Envelope(status=400, message='part failed: [faq] no quota', data={'summary': {'n': 1}})
    """
    failed = {step: one for step, one in outputs.items() if one.status != 200}
    data: dict[str, JsonValue] = {
        step: one.data for step, one in outputs.items() if step not in failed
    }
    if not failed:
        return Envelope(200, "; ".join(one.message for one in outputs.values()), data)
    reasons = "; ".join(f"[{step}] {one.message}" for step, one in failed.items())
    return Envelope(400, f"part failed: {reasons}", data)


def source_envelope(loaded: Source | SourceError) -> Envelope:
    """What loading hands on: title, text, language and origin; or why there is no source.

    >>> source_envelope(Source("A text.", "a.md", "markdown")).data["source"]
    'a.md'
    """
    if isinstance(loaded, SourceError):
        return Envelope.failure(
            f"{loaded.message} ({loaded.hint})" if loaded.hint else loaded.message
        )
    facts: JsonObject = {
        "title": loaded.title,
        "text": loaded.text,
        "language": loaded.language,
        "source": loaded.origin,
    }
    return Envelope(200, "Source loaded", facts)
