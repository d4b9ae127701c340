"""What the owners of sites ask programs not to read (robots.txt, RFC 9309)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from protego import Protego

from repurpose.errors import SourceError
from repurpose.fetching.showing import shown_address
from repurpose.fetching.web import PRODUCT, Web

__all__ = ["Robots"]

_SIZE = 500 * 1024  # bytes that must be read at least: RFC 9309, 2.5
_SECONDS = 10.0
_AGENT = re.compile(
    r"^[^\S\n]*+user(?:-|[^\S\n]*+)agent[^\S\n]{0,9}:?[^\S\n]*+([^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_TOKEN = re.compile(r"\*|[A-Za-z_-]+")  # RFC 9309, 2.2.1: what follows a product's name is no part


class Robots:
    """The rules of the sites that pages are asked of, each read once.

    A file that the server says it does not have (status 400 to 499) allows everything; one that
    cannot be read forbids everything (RFC 9309, 2.3.1.3 and 2.3.1.4).
    """

    def __init__(self, web: Web) -> None:
        self._web = web
        self._known: dict[str, Protego | SourceError | None] = {}

    def forbids(self, url: str) -> bool:
        """Whether the rules forbid `url`, as far as there are rules that can be read."""
        rules = self._rules(url)
        return isinstance(rules, Protego) and not rules.can_fetch(url, PRODUCT)

    def refusal(self, url: str) -> SourceError | None:
        """Why `url` is not asked for when a list named it; None where it may be."""
        rules = self._rules(url)
        where = shown_address(url)
        if isinstance(rules, SourceError):
            if rules.reason == "blocked-address":
                return rules
            return SourceError("robots", f"{where}: robots.txt of its site cannot be read")
        if rules is None or rules.can_fetch(url, PRODUCT):
            return None
        message = f"{where}: robots.txt of its site asks programs not to read it"
        return SourceError("robots", message, hint="name the page itself to read it all the same")

    def _rules(self, url: str) -> Protego | SourceError | None:
        """The rules of a site; None where it has none, the fault where nobody can tell."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return None
        if parts.scheme not in ("http", "https"):  # asking for the page says what is wrong
            return None
        site = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        if site not in self._known:
            self._known[site] = self._read(f"{site}/robots.txt")
        return self._known[site]

    def _read(self, url: str) -> Protego | SourceError | None:
        try:
            head = self._web.head(url, _SIZE, min(_SECONDS, self._web.limits.seconds))
        except SourceError as fault:
            return fault
        if 400 <= head.status < 500:
            return None
        if not 200 <= head.status < 300:
            return SourceError("fetch-failed", f"{shown_address(url)}: status {head.status}")
        rules = head.content.decode("utf-8-sig", "replace").splitlines()
        return Protego.parse(_AGENT.sub(_ours_or_others, "\n".join(rules)))


def _ours_or_others(line: re.Match[str]) -> str:
    """The line with all other programs under one name.

    Protego keeps every rule for every program that it is for, so that half a megabyte may name
    a hundred million.
    """
    token = _TOKEN.match(line[1])
    name = token[0].lower() if token else ""
    return f"User-agent: {name if name in ('*', PRODUCT) else 'others'}"
