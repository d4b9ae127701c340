"""Reads what an endpoint answers: a body, its state, its own id; and tells a refusal in words."""

from __future__ import annotations

from typing import Literal

from repurpose.core.endpoint import Endpoint, StatusMatch
from repurpose.core.exchange import Response
from repurpose.core.json_types import JsonValue
from repurpose.core.paths import MISSING, at
from repurpose.errors import BrokenReply, NeverStarted
from repurpose.schema.intake import IntakeError, decode

__all__ = [
    "EXCERPT",
    "body_of",
    "decoded",
    "excerpt",
    "id_in",
    "is_success",
    "is_transient",
    "refused",
    "undecided",
    "verdict",
]

EXCERPT = 300
"""How many characters of a refusal are shown."""
_LONGEST_ID = 1000
"""Characters of an endpoint's own id; it is stored, and put into addresses."""
_READ = 4 * EXCERPT
"""How many bytes of it are looked at."""


def is_success(status: int) -> bool:
    """Whether an HTTP status is one of success."""
    return 200 <= status < 300


def is_transient(status: int) -> bool:
    """Whether an HTTP status that is no success means later, and not never."""
    return status in (408, 429) or status >= 500


def decoded(body: bytes) -> JsonValue:
    """A body as JSON.

    Raises:
        IntakeError: it is none.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise IntakeError("the body is not UTF-8") from None
    return decode(text)


def body_of(endpoint: Endpoint, response: Response) -> JsonValue:
    """The body of a response: JSON, or the text where it is none and the whole of it is wanted.

    Raises:
        BrokenReply: it is a web page, or no JSON although a part of it is wanted.
    """
    try:
        return decoded(response.body)
    except IntakeError as error:
        kind = response.headers.get("content-type", "").lower()
        if endpoint.result_path or "html" in kind:
            what = "a web page" if "html" in kind else f"no JSON: {error}"
            raise BrokenReply(
                f"endpoint {endpoint.name}: the answer is {what}", status=response.status
            ) from None
        return response.body.decode("utf-8", "replace")


def id_in(endpoint: Endpoint, body: JsonValue) -> str | None:
    """The endpoint's own id in its first answer; None where it is not asked for one.

    Raises:
        BrokenReply: it is not there, empty, too long, or no text.
    """
    if endpoint.returned_id is None:
        return None
    found = at(body, endpoint.returned_id)
    if isinstance(found, str) and len(found) > _LONGEST_ID:
        raise BrokenReply(
            f"endpoint {endpoint.name}: its id has more than {_LONGEST_ID} characters"
        )
    if isinstance(found, str) and found:
        return found
    what = "there is nothing" if found is MISSING else "there is no text, or an empty one"
    raise BrokenReply(
        f"endpoint {endpoint.name}: its first answer holds no id: {what} at {endpoint.returned_id}",
        hint='correlate = "returned:PATH" names the place of the id',
    )


def verdict(
    body: JsonValue, *, done: StatusMatch | None, failed: StatusMatch | None
) -> Literal["done", "failed"] | None:
    """What a body says; `failed` is looked at first, and None is not yet."""
    if failed is not None and failed.matches(body):
        return "failed"
    return "done" if done is not None and done.matches(body) else None


def undecided(body: JsonValue, done: StatusMatch) -> str:
    """Why a body is no end, for whoever looks at `done` in the settings."""
    if at(body, done.field) is MISSING:
        return f"holds nothing at {done.field}"
    return "says neither done nor failed"


def refused(endpoint: Endpoint, response: Response) -> NeverStarted:
    """That a submit was not accepted, with the status and the beginning of what was said."""
    said = excerpt(response.body)
    hint = None
    if response.status in (401, 403):
        hint = f"look at the headers of [endpoints.{endpoint.name}] and the variables they name"
    elif 300 <= response.status < 400:
        hint = "redirects are not followed: set base_url to the address itself"
    return NeverStarted(
        f"endpoint {endpoint.name}: the submit was answered {response.status}"
        + (f": {said}" if said else ""),
        status=response.status,
        hint=hint,
    )


def excerpt(body: bytes) -> str:
    """The beginning of a body on one line, at most 300 characters."""
    text = body[:_READ].decode("utf-8", "ignore")
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= EXCERPT else plain[: EXCERPT - 1] + "…"
