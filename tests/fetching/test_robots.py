"""What sites ask programs not to read."""

from __future__ import annotations

import time

import pytest

from repurpose.errors import SourceError
from repurpose.fetching.robots import Robots
from repurpose.fetching.web import Web
from web_site import Names, Page, Site

RULES = b"User-agent: *\nDisallow: /private/\n\nUser-agent: repurpose\nDisallow: /no-tools/\n"


def robots_txt(content: bytes = RULES, status: int = 200, media_type: str = "text/plain") -> Page:
    return Page(content, media_type, status)


def refusal(web: Web, url: str) -> SourceError | None:
    return Robots(web).refusal(url)


def test_the_rules_for_this_program_count(web: Web, site: Site) -> None:
    site.pages["/robots.txt"] = robots_txt()
    robots = Robots(web)
    refused = robots.refusal("http://site.example/no-tools/a?token=secret")
    assert refused is not None
    assert refused.reason == "robots"
    assert "secret" not in refused.message
    assert robots.refusal("http://site.example/private/a") is None
    assert site.paths == ["/robots.txt"]


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_a_site_without_rules_allows_everything(web: Web, site: Site, status: int) -> None:
    site.pages["/robots.txt"] = robots_txt(status=status)
    assert refusal(web, "http://site.example/a") is None


@pytest.mark.parametrize("status", [500, 503])
def test_a_site_that_cannot_tell_its_rules_forbids_everything(
    web: Web, site: Site, status: int
) -> None:
    site.pages["/robots.txt"] = robots_txt(status=status)
    refused = refusal(web, "http://site.example/a")
    assert refused is not None
    assert refused.reason == "robots"
    assert not Robots(web).forbids("http://site.example/a")


def test_an_unreachable_site_forbids_everything(web: Web) -> None:
    refused = refusal(web, "http://nowhere.example/a")
    assert refused is not None
    assert refused.reason == "robots"


def test_a_site_inside_is_refused_as_such(web: Web, names: Names) -> None:
    names.known["inside.example"] = ["10.0.0.1"]
    refused = refusal(web, "http://inside.example/a")
    assert refused is not None
    assert refused.reason == "blocked-address"
    assert names.connected == []


def test_half_a_megabyte_of_rules_is_read_and_no_more(web: Web, site: Site) -> None:
    rules = RULES + b"#" * (500 * 1024 - len(RULES) - 1) + b"\nUser-agent: *\nDisallow: /\n"
    site.pages["/robots.txt"] = robots_txt(rules)
    assert refusal(web, "http://site.example/a") is None
    assert refusal(web, "http://site.example/no-tools/") is not None


@pytest.mark.parametrize("content", [b"\xff\xfe\x00junk", b"<html>", b"Disallow: *\n" * 99, b""])
def test_a_file_that_is_no_rules_allows(web: Web, site: Site, content: bytes) -> None:
    site.pages["/robots.txt"] = robots_txt(content, media_type="image/png")
    assert refusal(web, "http://site.example/a") is None


def test_a_mark_at_the_beginning_hides_no_rule(web: Web, site: Site) -> None:
    site.pages["/robots.txt"] = robots_txt(b"\xef\xbb\xbf" + RULES)
    assert refusal(web, "http://site.example/no-tools/") is not None


def test_what_is_no_web_address_is_left_to_the_fetch(web: Web) -> None:
    assert refusal(web, "ftp://site.example/") is None
    assert refusal(web, "http://[broken/") is None


def test_a_group_is_ours_by_its_product_alone(web: Web, site: Site) -> None:
    rules = b"User-agent: re\nDisallow: /a\n\nuser-agent: Repurpose/1.0 # us\nDisallow: /b\n"
    site.pages["/robots.txt"] = robots_txt(rules)
    assert refusal(web, "http://site.example/a") is None
    assert refusal(web, "http://site.example/b") is not None


def test_many_programs_with_many_rules_take_no_time(web: Web, site: Site) -> None:
    agents = b"".join(b"User-agent: a%d\n" % number for number in range(12_000))
    site.pages["/robots.txt"] = robots_txt(agents + b"Disallow: /x*y\n" * 15_000 + RULES)
    began = time.monotonic()
    assert refusal(web, "http://site.example/no-tools/") is not None
    assert time.monotonic() - began < 1
