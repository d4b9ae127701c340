"""A site on loopback for every test here."""

from __future__ import annotations

from web_site import names, site, tls, web

__all__ = ["names", "site", "tls", "web"]
