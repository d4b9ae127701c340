"""A site on loopback for the tests that fetch."""

from __future__ import annotations

from web_site import names, site, tls, web

__all__ = ["names", "site", "tls", "web"]
