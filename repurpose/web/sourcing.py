"""The source of a wish: a pasted text, an uploaded file, or a page that may be fetched."""

from __future__ import annotations

import logging
import re
from dataclasses import replace

from repurpose.api.loading import load
from repurpose.config import Settings
from repurpose.core.source import Source
from repurpose.errors import RepurposeError, SourceError
from repurpose.fetching.web import Web
from repurpose.sources import load_bytes
from repurpose.web.bodies import Wish
from repurpose.web.faults import HttpFault, fault_of
from repurpose.web.uploads import Uploads

__all__ = ["MOST_TEXT", "PASTED", "source_of"]

log = logging.getLogger(__name__)

MOST_TEXT = 5_000_000
"""Bytes of a pasted text."""
PASTED = "pasted text"
"""The origin of a source that has no place."""
_HTTP = re.compile(r"https?://[^\s/]", re.IGNORECASE)


def source_of(wish: Wish, uploads: Uploads, settings: Settings) -> Source:
    """The source that a wish names; what stands at an address is fetched as `run` fetches it.

    Raises:
        HttpFault: it cannot be read; it names the key of the body that gave it.
    """
    field = next(name for name in ("text", "url", "upload") if getattr(wish, name) is not None)
    try:
        source = _loaded(wish, uploads, settings)
    except RepurposeError as error:
        raise fault_of(error, field) from None
    except HttpFault:
        raise
    except Exception as foreign:  # noqa: BLE001 - a library that reads files may raise anything
        log.warning("a source could not be read: %s", type(foreign).__name__)
        unread = SourceError("unreadable", f"the {field} cannot be read; save it as text")
        raise fault_of(unread, field) from None
    return replace(source, title=wish.title) if wish.title else source


def _loaded(wish: Wish, uploads: Uploads, settings: Settings) -> Source:
    if wish.upload is not None:
        content, name = uploads.content(wish.upload)
        return load_bytes(content, name)
    if wish.url is not None:
        return _fetched(wish.url, settings)
    content = (wish.text or "").encode(errors="replace")
    if len(content) > MOST_TEXT:
        megabytes = MOST_TEXT // 1_000_000
        raise SourceError(
            "too-large", f"the text is larger than {megabytes} MB", hint="send it as a file"
        )
    if not content.strip():
        raise SourceError("empty", "the text is empty", hint="paste an article, a talk or a report")
    return load_bytes(content, PASTED)


def _fetched(url: str, settings: Settings) -> Source:
    if not _HTTP.match(url):  # anything else would be taken for a path on this machine
        raise SourceError(
            "unsupported",
            "only http and https addresses can be fetched",
            hint="give the whole address: https://example.org/article",
        )
    with Web(allow_private=settings.allow_private, proxy=settings.proxy) as web:
        return load(url, web=web)
