"""Pages from a site on loopback; every other address is only ever refused."""

from __future__ import annotations

import gzip
import logging
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpcore2
import httpx2
import pytest

from repurpose import __version__
from repurpose.errors import SourceError, UsageError
from repurpose.fetching import _faults, _media
from repurpose.fetching.web import Fetched, Limits, Web
from web_site import Names, Page, Site


def moved(to: str, status: int = 302) -> Page:
    return Page(content=b"", status=status, headers={"Location": to})


def refusal(web: Web, url: str) -> SourceError:
    with pytest.raises(SourceError) as raised:
        web.get(url)
    assert "\n" not in raised.value.message
    return raised.value


# --- a page -----------------------------------------------------------------------------------


def test_a_page_comes_with_its_address_type_and_character_set(web: Web, site: Site) -> None:
    site.pages["/a"] = Page(content=b"<p>Hi", type='Text/HTML; charset="ISO-8859-2"')
    assert web.get("http://site.example/a#top") == Fetched(
        "http://site.example/a", b"<p>Hi", "text/html", "iso-8859-2"
    )


def test_a_request_says_who_asks_and_no_more(web: Web, site: Site) -> None:
    site.pages["/"] = Page()
    web.get("http://site.example/")
    ((_, headers),) = site.asked
    assert headers["user-agent"].startswith(f"repurpose/{__version__} (+https://")
    assert headers["host"] == "site.example"
    assert not {"cookie", "referer", "authorization"} & set(headers)


def test_a_name_in_any_script_is_asked_for_in_its_ascii_form(
    web: Web, site: Site, names: Names
) -> None:
    names.known["xn--bcher-kva.example"] = names.known["site.example"]
    site.pages["/"] = Page()
    assert web.get("http://Bücher.example/").url == "http://xn--bcher-kva.example/"


def test_a_connection_is_kept_for_the_next_page(web: Web, site: Site, names: Names) -> None:
    site.pages["/"] = Page()
    web.get("http://site.example/")
    web.get("http://site.example/")
    assert len(names.connected) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed_and_its_end_is_the_address(
    web: Web, site: Site, status: int
) -> None:
    site.pages["/old"] = moved("new?b=1", status)
    site.pages["/new?b=1"] = Page()
    assert web.get("http://site.example/old").url == "http://site.example/new?b=1"


def test_five_redirects_are_followed_and_six_are_not(web: Web, site: Site) -> None:
    for number in range(6):
        site.pages[f"/{number}"] = moved(f"/{number + 1}")
    site.pages["/6"] = Page()
    assert web.get("http://site.example/1").url == "http://site.example/6"
    assert "5 times" in refusal(web, "http://site.example/0").message


def test_user_and_password_are_sent_to_their_own_site_alone(
    web: Web, site: Site, names: Names
) -> None:
    names.known["other.example"] = names.known["site.example"]
    site.pages["/a"] = moved("http://other.example/b")
    site.pages["/b"] = Page()
    fetched = web.get("http://me:secret@site.example/a")
    first, second = (headers for _, headers in site.asked)
    assert first["authorization"] == "Basic bWU6c2VjcmV0"
    assert "authorization" not in second
    assert fetched.url == "http://other.example/b"


def test_the_environment_names_no_proxy(
    web: Web, site: Site, names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9/")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9/")
    site.pages["/"] = Page()
    web.get("http://site.example/")
    assert names.resolved == ["site.example"]


# --- the guard --------------------------------------------------------------------------------

INSIDE = ["169.254.169.254", "127.0.0.1", "10.1.2.3", "100.64.0.1", "::ffff:7f00:1", "fe80::1%2"]


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_inside_is_never_connected_to(
    web: Web, names: Names, address: str
) -> None:
    names.known["inside.example"] = [address]
    error = refusal(web, "https://inside.example/latest/meta-data")
    assert error.reason == "blocked-address"
    assert "--allow-private" in error.message
    assert names.connected == []


def test_one_bad_address_among_good_ones_is_enough(web: Web, names: Names) -> None:
    names.known["mixed.example"] = [*names.known["site.example"], "10.0.0.1"]
    assert refusal(web, "http://mixed.example/").reason == "blocked-address"
    assert names.connected == []


@pytest.mark.parametrize(
    "target",
    [
        "http://inside.example/",
        "//inside.example/",
        "http://127.0.0.1/",
        "http://[::1]/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://localhost/",
        "http://site.example:8080/",
    ],
)
def test_no_redirect_leads_inside(web: Web, site: Site, names: Names, target: str) -> None:
    names.known |= {"inside.example": ["192.168.0.1"], "localhost": ["127.0.0.1"]}
    site.pages["/"] = moved(target)
    assert refusal(web, "http://site.example/").reason == "blocked-address"
    assert [address for address, _ in names.connected] == names.known["site.example"]


def test_the_checked_address_is_the_connected_one(
    site: Site, names: Names, tls: ssl.SSLContext
) -> None:
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])

    def rebinding(host: str, port: int) -> list[str]:
        return next(answers)

    site.pages["/"] = Page(headers={"Connection": "close"})
    with Web(resolve=rebinding, connect=names.connect, tls=tls) as web:
        web.get("http://rebind.example/")
        assert refusal(web, "http://rebind.example/").reason == "blocked-address"
    assert names.connected == [("93.184.215.14", 80)]


@pytest.mark.parametrize("host", ["127。0。0。1", "localhost", "127.1", "[::ffff:7f00:1]"])
def test_a_host_in_numbers_is_refused_before_a_name_server_is_asked(
    web: Web, names: Names, host: str
) -> None:
    assert refusal(web, f"http://{host}/").reason == "blocked-address"
    assert names.resolved == []


@pytest.mark.parametrize("port", [22, 25, 6379, 8080])
def test_only_the_ports_of_the_web_are_asked(web: Web, names: Names, port: int) -> None:
    assert refusal(web, f"http://site.example:{port}/").reason == "blocked-address"
    assert names.resolved == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://site.example/", "gopher://site.example/"]
)
def test_only_http_and_https_are_asked(web: Web, site: Site, url: str) -> None:
    assert refusal(web, url).reason == "unsupported"
    site.pages["/"] = moved(url)
    assert refusal(web, "http://site.example/").reason == "unsupported"
    assert len(site.asked) == 1


def test_private_addresses_and_ports_are_for_those_who_ask(site: Site, tls: ssl.SSLContext) -> None:
    site.pages["/"] = Page()
    with Web(allow_private=True, tls=tls) as web:
        assert web.get(f"{site.url}/").content == b"<p>Hello"


def test_the_next_address_is_tried_where_one_does_not_answer(
    site: Site, names: Names, tls: ssl.SSLContext
) -> None:
    names.known["two.example"] = ["1.1.1.1", "93.184.215.14"]

    def connect(address: str, port: int, seconds: float) -> httpcore2.NetworkStream:
        if address == "1.1.1.1":
            raise httpcore2.ConnectTimeout
        return names.connect(address, port, seconds)

    site.pages["/"] = Page()
    with Web(resolve=names.resolve, connect=connect, tls=tls) as web:
        assert web.get("http://two.example/").content == b"<p>Hello"


# --- a proxy ----------------------------------------------------------------------------------


def test_a_proxy_is_sent_the_whole_address_and_its_own_password(
    site: Site, tls: ssl.SSLContext
) -> None:
    site.pages["http://anywhere.example/a"] = Page()
    proxy = f"http://me:secret@127.0.0.1:{site.port}"
    with Web(proxy=proxy, tls=tls) as web:
        assert web.get("http://anywhere.example/a").content == b"<p>Hello"
    assert site.asked[0][1]["proxy-authorization"] == "Basic bWU6c2VjcmV0"


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "0x7f.1", "10.0.0.1", "localhost"])
def test_behind_a_proxy_an_address_in_numbers_is_still_checked(
    site: Site, tls: ssl.SSLContext, host: str
) -> None:
    with Web(proxy=site.url, tls=tls) as web:
        assert refusal(web, f"http://{host}/").reason == "blocked-address"
    assert site.asked == []


def test_a_proxy_that_refuses_is_named(site: Site, tls: ssl.SSLContext) -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        handler.send_error(407)

    with Web(proxy=site.url, tls=tls) as web:
        site.pages["http://a.example/"] = Page(serve=refuse)
        assert "proxy" in refusal(web, "http://a.example/").message
        assert "proxy" in refusal(web, "https://a.example/").message


@pytest.mark.parametrize("proxy", ["socks5://a:1", "a:b@c", "http://", "ftp://me:secret@x"])
def test_what_is_no_proxy_is_refused_without_its_password(proxy: str) -> None:
    with pytest.raises(UsageError) as raised:
        Web(proxy=proxy)
    assert "secret" not in raised.value.message


# --- secure connections -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A certificate for secure.example, signed by itself, with its key in one file."""
    x509 = pytest.importorskip("cryptography.x509")
    from datetime import UTC, datetime, timedelta

    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "secure.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 7, now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("secure.example")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "pair.pem"
    file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.fixture
def secure(site: Site, names: Names, certificate: Any) -> Callable[..., Web]:
    """The site over TLS, and webs that trust its certificate."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    site._server.socket = server.wrap_socket(site._server.socket, server_side=True)
    site.pages["/"] = Page()
    names.known |= dict.fromkeys(("secure.example", "x.example"), names.known["site.example"])

    def made(trusted: bool = True) -> Web:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if trusted:
            context.load_verify_locations(certificate)
        return Web(resolve=names.resolve, connect=names.connect, tls=context)

    return made


def test_a_certificate_is_checked_against_the_name_and_not_the_address(
    secure: Callable[..., Web],
) -> None:
    with secure() as web:
        assert web.get("https://secure.example/").content == b"<p>Hello"
        assert "for another name" in refusal(web, "https://x.example/").message


def test_a_certificate_signed_by_nobody_known_is_refused(secure: Callable[..., Web]) -> None:
    with secure(trusted=False) as web:
        assert "certificate" in refusal(web, "https://secure.example/").message


def test_a_server_that_speaks_no_tls_is_told_apart(web: Web) -> None:
    assert "secure connection" in refusal(web, "https://site.example/").message


# --- size, time, type -------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_content_is_decompressed(web: Web, site: Site, encoding: str) -> None:
    packed = {"gzip": gzip.compress, "deflate": zlib.compress}[encoding](b"<p>Packed")
    site.pages["/"] = Page(content=packed, headers={"Content-Encoding": encoding})
    assert web.get("http://site.example/").content == b"<p>Packed"


def test_ten_megabytes_are_read_and_a_byte_more_is_not(web: Web, site: Site) -> None:
    site.pages["/"] = Page(content=b"a" * 10_000_000)
    site.pages["/more"] = Page(content=b"a" * 10_000_001)
    assert len(web.get("http://site.example/").content) == 10_000_000
    assert refusal(web, "http://site.example/more").reason == "too-large"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, gzip"])
def test_a_bomb_stops_at_the_limit(web: Web, site: Site, encoding: str) -> None:
    bomb = zlib.compress(bytes(40_000_000), 1)
    if encoding.startswith("gzip"):
        bomb = gzip.compress(bytes(40_000_000), 1)
        bomb = gzip.compress(bomb) if "," in encoding else bomb
    site.pages["/"] = Page(content=bomb, headers={"Content-Encoding": encoding})
    assert refusal(web, "http://site.example/").reason == "too-large"


def test_damaged_compression_is_said(web: Web, site: Site) -> None:
    site.pages["/"] = Page(content=b"plain", headers={"Content-Encoding": "gzip"})
    assert "compression" in refusal(web, "http://site.example/").message


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, br"])
def test_a_compression_that_nobody_asked_for_is_refused(
    web: Web, site: Site, encoding: str
) -> None:
    site.pages["/"] = Page(headers={"Content-Encoding": encoding})
    assert "compressed" in refusal(web, "http://site.example/").message


@pytest.mark.parametrize("part", ["status", "content"])
def test_a_server_that_drips_is_left_when_the_time_is_up(
    site: Site, names: Names, tls: ssl.SSLContext, part: str
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9999\r\n\r\n"
        if part == "content":
            handler.wfile.write(head)
            head = b"a" * 9999
        for byte in head:
            handler.wfile.write(bytes([byte]))
            if site.ended.wait(0.02):
                return

    site.pages["/"] = Page(serve=drip)
    limits = Limits(seconds=0.2)
    began = time.monotonic()
    with Web(resolve=names.resolve, connect=names.connect, tls=tls, limits=limits) as web:
        error = refusal(web, "http://site.example/")
    assert time.monotonic() - began < 1
    assert "0.2 s" in error.message


def test_a_name_server_that_never_answers_is_left_when_the_time_is_up(tls: ssl.SSLContext) -> None:
    answered = threading.Event()

    def resolve(host: str, port: int) -> list[str]:
        answered.wait(5)
        return []

    with Web(resolve=resolve, tls=tls, limits=Limits(seconds=0.1)) as web:
        assert "0.1 s" in refusal(web, "http://slow.example/").message
    answered.set()


TYPES = {
    "text/html": True,
    "text/markdown": True,
    "application/xhtml+xml": True,
    "application/feed+json": True,
    "application/pdf": True,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": True,
    "image/png": False,
    "image/svg+xml": False,
    "video/mp4": False,
    "text/css": False,
    "application/javascript": False,
}


@pytest.mark.parametrize(("media_type", "read"), TYPES.items())
def test_only_types_that_hold_text_are_read(
    web: Web, site: Site, media_type: str, read: bool
) -> None:
    site.pages["/"] = Page(type=media_type)
    if read:
        assert web.get("http://site.example/").media_type == media_type
    else:
        error = refusal(web, "http://site.example/")
        assert error.reason == "unsupported"
        assert media_type in error.message


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/zip", None])
def test_an_untold_type_is_read_where_ending_or_content_tells(
    web: Web, site: Site, media_type: str | None
) -> None:
    site.pages["/a.md"] = Page(content=b"# Hi", type=media_type)
    site.pages["/pdf"] = Page(content=b"%PDF-1.7", type=media_type)
    site.pages["/noise"] = Page(content=b"\x00\x01\x02", type=media_type)
    assert web.get("http://site.example/a.md").content == b"# Hi"
    assert web.get("http://site.example/pdf").content == b"%PDF-1.7"
    assert refusal(web, "http://site.example/noise").reason == "unsupported"


def test_every_ending_that_a_loader_has_tells_an_untold_type() -> None:
    from repurpose.sources._kinds import ENDINGS

    assert set(ENDINGS) <= _media.ENDINGS


# --- what goes wrong, in words ----------------------------------------------------------------

STATUSES = {
    404: ("no such page", {}),
    403: ("does not let programs", {}),
    429: ("try again in 30 s", {"Retry-After": "30"}),
    503: ("2026-12-01 10:00 UTC", {"Retry-After": "Tue, 01 Dec 2026 10:00:00 GMT"}),
    500: ("status 500", {"Retry-After": "<script>"}),
    418: ("status 418", {}),
    599: ("status 599", {}),
}


@pytest.mark.parametrize("status", STATUSES)
def test_a_status_is_said_in_words(web: Web, site: Site, status: int) -> None:
    words, headers = STATUSES[status]
    site.pages["/"] = Page(status=status, headers=headers)
    error = refusal(web, "http://site.example/")
    assert error.reason == "fetch-failed"
    assert words in error.message
    assert "script" not in error.message


def test_an_unknown_name_is_said(web: Web) -> None:
    assert "not known" in refusal(web, "http://nowhere.example/").message


def test_a_network_that_is_down_is_told_from_an_unknown_name(tls: ssl.SSLContext) -> None:
    def resolve(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "temporary failure")

    with Web(resolve=resolve, tls=tls) as web:
        assert "network" in refusal(web, "http://site.example/").message


def test_a_refused_connection_is_said(tls: ssl.SSLContext) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens
        with Web(allow_private=True, tls=tls) as web:
            error = refusal(web, f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert "refused" in error.message


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 200 OK\r\nContent-"])
def test_a_server_that_breaks_off_or_speaks_otherwise_is_said(
    web: Web, site: Site, said: bytes
) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(said)
        handler.close_connection = True

    site.pages["/"] = Page(serve=answer)
    assert refusal(web, "http://site.example/").reason == "fetch-failed"


@pytest.mark.parametrize(
    "url",
    [
        "http://me:secret@nowhere.example/a?token=secret#secret",
        "http://me:secret@10.0.0.1/?secret",
        "http://me:secret@[broken/?secret",
        "http://me:sec/secret@x/",
        "http://exa mple.org:secret/",
        "http://a:99999999/?secret",
        "http://\x1b[31m.example/\n?secret",
    ],
)
def test_no_message_shows_a_password_or_a_query(
    web: Web, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        message = refusal(web, url).message
    assert "secret" not in message
    assert message.isprintable()
    assert "secret" not in caplog.text


def test_no_log_shows_an_address_with_its_query(
    web: Web, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    site.pages["/?token=abc"] = Page()
    with caplog.at_level(logging.DEBUG):
        web.get("http://me:secret@site.example/?token=abc")
    assert "abc" not in caplog.text
    assert "bWU6" not in caplog.text
    assert "secret" not in caplog.text


def test_every_exception_of_the_libraries_is_known_here() -> None:
    classes = [
        one
        for module in (httpcore2, httpx2)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, Exception)
    ]
    assert len(classes) > 20
    never = {"CookieConflict"}  # there are no cookies
    for one in classes:
        if one.__name__ not in never and not one.__name__.startswith("WebSocket"):
            assert issubclass(one, _faults.FOREIGN), one
