"""What an API key may be: it goes into a header, so a line break in it would end that."""

from __future__ import annotations

from repurpose.errors import UsageError

__all__ = ["usable_key"]


def usable_key(given: str | None, variable: str | None) -> str | None:
    """The key without blanks around it; None where there is none.

    `variable` is where it is read from, to be named in the message.

    Raises:
        UsageError: it holds a character that no header has.
    """
    key = (given or "").strip() or None
    if key and not (key.isascii() and key.isprintable()):
        raise UsageError(
            "the API key holds a character that no key has",
            hint=f"set {variable} again" if variable else None,
        )
    return key
