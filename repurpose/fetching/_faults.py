"""What went wrong on the way to a page, in our own words."""

from __future__ import annotations

import re
import socket
import ssl
from email.utils import parsedate_to_datetime
from http import HTTPStatus

import httpcore2
import httpx2

from repurpose.errors import SourceError

__all__ = ["FOREIGN", "failed", "refused_status"]

FOREIGN = (
    httpcore2.ConnectionNotAvailable,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
    httpx2.HTTPError,
    httpx2.InvalidURL,
    httpx2.StreamError,
    OSError,
)
"""Every exception that asking for a page may bring."""

# Verification results of OpenSSL (x509_vfy.h).
_CERTIFICATES = {
    10: "its certificate has expired",
    18: "its certificate is signed by nobody else",
    19: "its certificate is signed by nobody known",
    20: "its certificate is signed by nobody known",
    21: "its certificate is signed by nobody known",
    62: "its certificate is for another name",
}
_STATUSES = {
    401: "asks for a password",
    403: "does not let programs read this page",
    404: "no such page",
    407: "the proxy asks for a password",
    410: "the page is gone",
    429: "too many requests",
}
_STATUS = re.compile(r"\d{3}\b")


def failed(where: str, fault: BaseException, seconds: float) -> SourceError:
    """The error for a request that brought no whole answer; `where` is safe to show."""
    return SourceError("fetch-failed", f"{where}: {_cause(fault, seconds)}")


def refused_status(where: str, status: int, retry_after: str | None) -> SourceError:
    """The error for an answer that is no page."""
    words = _STATUSES.get(status) or _phrase(status)
    return SourceError("fetch-failed", f"{where}: {words} (status {status}){_later(retry_after)}")


def _cause(fault: BaseException, seconds: float) -> str:
    match fault:
        case httpcore2.ConnectTimeout() | httpcore2.PoolTimeout():
            return f"no connection within {seconds:g} s; try again later"
        case httpcore2.TimeoutException():
            return f"no whole answer within {seconds:g} s; try again later"
        case httpcore2.NetworkError():
            return _connection(fault)
        case httpcore2.ProxyError():
            status = _STATUS.match(str(fault))
            return f"the proxy refused to connect{f' (status {status[0]})' if status else ''}"
        case httpx2.DecodingError():
            return "its compression is damaged"
        case httpcore2.RemoteProtocolError():
            return "the server broke off, or does not speak HTTP; try again later"
        case httpcore2.LocalProtocolError() | httpcore2.UnsupportedProtocol() | httpx2.InvalidURL():
            return "not an address that can be asked for; check it"
        case socket.gaierror(errno=socket.EAI_AGAIN):
            return "no name server answers; check the network and try again"
        case OSError():
            return "the name of its server is not known; check the address"
        case _:
            return "the connection failed; try again later"


def _connection(fault: httpcore2.NetworkError) -> str:
    """What happened below HTTP; httpcore2 keeps the system's own exception as an argument."""
    cause = fault.args[0] if fault.args else None
    match cause:
        case ssl.SSLCertVerificationError():
            words = _CERTIFICATES.get(cause.verify_code, "its certificate cannot be verified")
            return f"{words}, so it may be another server's page"
        case ssl.SSLError():
            return "no secure connection could be made"
        case ConnectionRefusedError():
            return "the server refused the connection; check the address"
        case OSError() if not isinstance(fault, httpcore2.ConnectError):
            return "the connection was lost; try again later"
        case OSError(strerror=str(words)):
            return f"no connection: {words.lower()}"
        case _:
            return "the connection failed; try again later"


def _phrase(status: int) -> str:
    if status >= 500:
        return "the server is at fault; try again later"
    try:
        return HTTPStatus(status).phrase.lower()
    except ValueError:
        return "not a page"


def _later(retry_after: str | None) -> str:
    """When to try again, where a server names a time (RFC 9110, 10.2.3)."""
    if not retry_after or len(retry_after) > 60:
        return ""
    if retry_after.isascii() and retry_after.isdigit():
        return f"; try again in {int(retry_after)} s"
    try:
        return f"; try again after {parsedate_to_datetime(retry_after):%Y-%m-%d %H:%M %Z}".rstrip()
    except ValueError:
        return ""
