"""The receiver of callbacks and webhooks, with the store that the settings name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Protocol

from repurpose.api.adapters import SystemClock, open_store
from repurpose.config import Settings
from repurpose.core.table import member
from repurpose.errors import UsageError
from repurpose.receiving.webhooks import SECRET_VARIABLE, Secret

__all__ = ["serve_callbacks", "without_base_url"]


class Listening(Protocol):
    """Is told when posts are taken, at which address and for which base address."""

    def __call__(self, address: str, base_url: str, *, webhooks: bool) -> None: ...


def serve_callbacks(
    settings: Settings,
    *,
    host: str,
    port: int,
    listening: Listening,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Take posts until SIGINT or SIGTERM, for whoever waits with the same database.

    Raises:
        UsageError: no `callback_base_url` is set, the secret of webhooks is none, or the address
            cannot be used.
        StoreError: the database cannot be opened.
    """
    base_url = settings.callback_base_url
    if base_url is None:
        raise without_base_url("and serve-callbacks takes posts for that address")
    said = (os.environ if environment is None else environment).get(SECRET_VARIABLE) or ""
    secret = Secret.of(said) if said.strip() else None
    store = open_store(settings.database)
    try:
        member("repurpose.receiving.serving:serve")(
            store.deliveries,
            SystemClock(),
            host=host,
            port=port,
            base_url=base_url,
            secret=secret,
            listening=lambda address: listening(address, base_url, webhooks=secret is not None),
        )
    finally:
        store.close()


def without_base_url(why: str) -> UsageError:
    """What to do where nobody knows at which address we can be reached."""
    return UsageError(
        f"callback_base_url is not set, {why}",
        hint="set it in repurpose.toml, or as REPURPOSE_CALLBACK_BASE_URL, to where others reach"
        " repurpose serve-callbacks; on one machine that is http://127.0.0.1:8410",
    )
