"""Who is let in: this machine's browser or a program, asking the server that it means to ask.

What is always true here: no request reaches a handler before its Host was checked, and the token
where there is one. One that changes something comes from our own page, which its Origin and a
secret that no other site can read both show, or from a program that holds the token. Every answer
has headers that keep scripts of others out.

Sources: OWASP's cheat sheets on CSRF and DNS rebinding; Fetch Metadata (W3C); CSP Level 3.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from repurpose.web.faults import HttpFault, is_api, json_fault, plain_fault

__all__ = ["HEADERS", "Gate", "Hosts"]

_CSP = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer, whatever it is."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_WILDCARDS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - they are recognized, not bound
_YEAR = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Hosts:
    """The names under which the server answers: a page elsewhere cannot make itself one of them."""

    host: str
    port: int
    others: tuple[str, ...] = ()
    """Further ones, as a browser sends them: `tool.example.org`, or with its port."""

    def allow(self, given: str) -> bool:
        """Whether a request's Host header names this server.

        >>> hosts = Hosts("127.0.0.1", 8400)
        >>> hosts.allow("localhost:8400"), hosts.allow("evil.example:8400"), hosts.allow("")
        (True, False, False)
        """
        given = given.strip().casefold()
        return given in self._names or (self.host in _WILDCARDS and self._is_address(given))

    @property
    def _names(self) -> frozenset[str]:
        own = _bracketed(self.host).casefold()
        names = {own, "localhost", "127.0.0.1", "[::1]"}
        ports = {f"{name}:{self.port}" for name in names}
        others = {name.casefold() for name in self.others}
        others |= {f"{name}:{self.port}" for name in others if ":" not in name}
        return frozenset(ports | others | (names if self.port == 80 else set()))

    def _is_address(self, given: str) -> bool:
        """Whether it is an address in numbers: no name server could have been made to lie."""
        host, colon, port = given.rpartition(":")
        if not colon or port != str(self.port):
            return False
        try:
            ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Gate:
    """The application behind all checks, each answer with the headers."""

    app: ASGIApp
    hosts: Hosts
    csrf: str
    """What a request that changes something shows in `X-CSRF-Token`."""
    token: str | None = None
    """What everybody must have; None lets in whoever reaches the address."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._answer(scope)
        await (answer or self.app)(scope, receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """The answer of the gate itself; None lets the request through."""
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            by_token = self._has_bearer(headers)
            if not by_token:
                entry = self._check_token(scope, headers)
                if entry is not None:
                    return entry
                self._check_site(scope, headers)
        except HttpFault as fault:
            return json_fault(fault) if is_api(scope) else plain_fault(fault)
        return None

    def _check_host(self, headers: Headers) -> None:
        given = headers.getlist("host")
        if len(given) != 1 or not self.hosts.allow(given[0]):
            raise HttpFault(
                403,
                "host",
                "this server is not asked under that name",
                hint="open the address that repurpose serve printed, or allow the name with"
                " --allowed-host",
            )

    def _has_bearer(self, headers: Headers) -> bool:
        """Whether a program shows the token."""
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        if self.token is None or scheme.casefold() != "bearer":
            return False
        return _equal(shown.strip(), self.token)

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Refuse who has no token; the answer to the visit that brings it, else None."""
        if self.token is None:
            return None
        if scope["path"] == "/" and scope["method"] == "GET":
            query = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=10)
            if _equal(query.get("token", [""])[0], self.token):
                return self._entry()
        if _equal(_cookie(headers, self._cookie), self._pass):
            return None
        raise HttpFault(
            401,
            "token",
            "a token is needed",
            hint="open the address that repurpose serve printed, with its token, or send"
            " Authorization: Bearer TOKEN",
        )

    def _entry(self) -> Response:
        """The cookie in place of the token, which leaves the address bar."""
        entry = RedirectResponse("/", 303)
        entry.set_cookie(
            self._cookie, self._pass, max_age=_YEAR, path="/", httponly=True, samesite="strict"
        )
        return entry

    @property
    def _cookie(self) -> str:
        return f"repurpose_{self.hosts.port}"  # cookies are shared by all ports of a host

    @property
    def _pass(self) -> str:
        """What the cookie holds: made of the token, which cannot be made of it."""
        return hashlib.sha256(f"repurpose cookie {self.token}".encode()).hexdigest()

    def _check_site(self, scope: Scope, headers: Headers) -> None:
        """Refuse what another site's page asks for."""
        safe = scope["method"] in _SAFE
        site = headers.get("sec-fetch-site")
        visit = safe and headers.get("sec-fetch-mode") == "navigate"
        if site not in (None, "same-origin", "none") and not visit:
            raise _elsewhere()
        if safe:
            return
        origin = headers.get("origin")
        if site == "none" or (origin is not None and not _is_own(origin, headers["host"])):
            raise _elsewhere()
        if not _equal(headers.get("x-csrf-token", ""), self.csrf):
            raise HttpFault(
                403,
                "csrf",
                "the X-CSRF-Token header is missing or out of date",
                hint="load the page again; programs ask GET /api/session for it",
            )


def _elsewhere() -> HttpFault:
    return HttpFault(403, "origin", "another site's page may not ask for this")


def _is_own(origin: str, host: str) -> bool:
    """Whether an Origin header names the host that is asked, behind TLS or not."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.casefold() == host.strip().casefold()


def _cookie(headers: Headers, name: str) -> str:
    for line in headers.getlist("cookie"):
        try:
            found = SimpleCookie(line).get(name)
        except CookieError:
            continue
        if found is not None:
            return found.value
    return ""


def _equal(shown: str, secret: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(shown.encode(), secret.encode())


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
