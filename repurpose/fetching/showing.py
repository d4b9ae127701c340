"""How an address of a page may be shown: without what may be a secret."""

from __future__ import annotations

import re

__all__ = ["shown_address", "without_credentials"]

_LONGEST = 200  # characters
_AUTHORITY = re.compile(r"(?:\[[0-9a-fA-F:.%]{0,60}\]|[^:\[\]\s]{1,255})(?::\d{0,5})?")


def shown_address(url: str) -> str:
    """`url` for a message: one line, short, without user, password, query and fragment.

    A query may hold a token, so only that there is one is shown.

    >>> shown_address("https://me:secret@example.org/a?key=1#top")
    'https://example.org/a?…'
    """
    bare, query = _cut(url)
    scheme, mark, rest = bare.partition("://")
    authority, slash, path = rest.partition("/")
    authority = authority.rpartition("@")[2]
    if not _AUTHORITY.fullmatch(authority):
        return f"{scheme[:20]}://…"  # part of a password may stand where a port should
    line = "".join(char if char.isprintable() else "?" for char in f"{authority}{slash}{path}")
    if len(line) > _LONGEST:
        line = f"{line[:80]}…{line[-100:]}"
    return f"{scheme}{mark}{line}{'?…' if query else ''}"


def without_credentials(url: str) -> str:
    """`url` without user, password and fragment; what is no address stays as it is.

    >>> without_credentials("https://me:secret@example.org/a?b=1#top")
    'https://example.org/a?b=1'
    """
    if "://" not in url:
        return url
    scheme, mark, rest = url.partition("#")[0].partition("://")
    ends = [place for sign in "/?" if (place := rest.find(sign)) >= 0]
    authority = rest[: min(ends)] if ends else rest
    return f"{scheme}{mark}{authority.rpartition('@')[2]}{rest[len(authority) :]}"


def _cut(url: str) -> tuple[str, bool]:
    """What stands before query and fragment, and whether there is a query."""
    address = url.partition("#")[0]
    bare, mark, _ = address.partition("?")
    return bare, bool(mark)
