"""The capability in a callback's address, and the key that deliveries are kept under."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import TypeAlias

from repurpose.core.endpoint import Ticket

__all__ = ["CALLBACKS", "NewToken", "event_key", "key_of", "new_token", "ticket_at"]

CALLBACKS = "/callbacks/"
"""The path before a token."""

NewToken: TypeAlias = Callable[[], str]


def new_token() -> str:
    """256 random bits, as 43 characters that an address holds as they are."""
    return secrets.token_urlsafe(32)


def key_of(token: str) -> str:
    """What deliveries to this token's address are kept under.

    A hash, so that whoever reads it in a database cannot post to that address. It needs no salt
    and no stretching: nobody guesses 256 random bits.
    """
    return f"callback:{hashlib.sha256(token.encode()).hexdigest()}"


def ticket_at(base_url: str, token: str) -> Ticket:
    """The ticket of a token at a receiver's address, whether that ends in a slash or not.

    >>> ticket_at("https://example.org/in/", "abc") == ticket_at("https://example.org/in", "abc")
    True
    >>> ticket_at("https://example.org/in/", "abc").url
    'https://example.org/in/callbacks/abc'
    """
    return Ticket(key=key_of(token), url=f"{base_url.rstrip('/')}{CALLBACKS}{token}")


def event_key(object_id: str) -> str:
    """What a verified event is kept under: by the object that it tells of.

    >>> event_key("batch_1")
    'openai:batch_1'
    """
    return f"openai:{object_id}"
