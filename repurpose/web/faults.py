"""What goes wrong, as an answer: a status with `{"error": {"kind", "message", "hint"}}`."""

from __future__ import annotations

from html import escape

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from repurpose.errors import (
    BudgetReached,
    ChangedMeanwhile,
    RepurposeError,
    SourceError,
    StoreError,
    UsageError,
)

__all__ = ["HttpFault", "fault_of", "is_api", "json_fault", "not_found", "plain_fault"]


class HttpFault(Exception):  # noqa: N818 - named as in `errors`
    """An answer that says no; its words are ours and hold no text of a source or a model."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        hint: str | None = None,
        field: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint
        self.field = field
        """The key of the body that caused it, where it is one."""

    def to_map(self) -> dict[str, object]:
        """The body of the answer."""
        told = {"kind": self.kind, "message": self.message, "hint": self.hint}
        return {"error": told | ({"field": self.field} if self.field else {})}


def fault_of(error: RepurposeError, field: str | None = None) -> HttpFault:
    """The answer to one of our errors.

    >>> fault_of(ChangedMeanwhile("faq default was changed meanwhile")).status
    409
    """
    match error:
        case ChangedMeanwhile() | BudgetReached():
            status = 409
        case SourceError(reason="too-large"):
            status = 413
        case UsageError() | SourceError():
            status = 422
        case StoreError():
            status = 500
        case _:
            status = 422
    return HttpFault(status, error.kind, error.message, hint=error.hint, field=field)


def not_found(error: RepurposeError) -> HttpFault:
    """The answer where an address names something that is not there."""
    return HttpFault(404, "not_found", error.message)


def is_api(scope: Scope) -> bool:
    """Whether a program asks, so that the answer is JSON and no page."""
    path: str = scope["path"]
    return path == "/api" or path.startswith("/api/")


def json_fault(fault: HttpFault) -> Response:
    """The answer for programs, and for the page's own questions."""
    return JSONResponse(fault.to_map(), fault.status)


def plain_fault(fault: HttpFault) -> Response:
    """A page of one line that needs no other file: whoever sees it may not be let in."""
    said = escape(fault.message + (f": {fault.hint}" if fault.hint else ""))
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{fault.status}</title>'
        f"</head><body><p>{said}</p></body></html>"
    )
    return HTMLResponse(page, fault.status)
