"""Answers that hold for the whole server: the session, what can be chosen, counting, uploads."""

from __future__ import annotations

from starlette.requests import Request

from repurpose.api.runs import platforms_for
from repurpose.platforms import Platform, changed, platform_chosen
from repurpose.text.counting import MEASURES
from repurpose.web.bodies import Counting
from repurpose.web.site import Asked, Site

__all__ = ["choices", "count", "session", "upload"]


def session(site: Site, _: Asked) -> dict[str, object]:
    """What a request that changes something has to show."""
    return {"csrf": site.csrf}


def choices(site: Site, _: Asked) -> dict[str, object]:
    """What can be made, and for whom."""
    return site.choices.to_map()


def count(site: Site, asked: Asked) -> dict[str, object]:
    """How long a text is for a platform, under its rules here."""
    body = asked.body
    assert isinstance(body, Counting)  # noqa: S101 - its operation says so
    platform = _platform(site, body.platform)
    length = MEASURES[platform.unit](body.text)
    told: dict[str, object] = {
        "length": length,
        "limit": platform.limit,
        "unit": platform.unit,
        "over": max(0, length - platform.limit),
    }
    also = platform.also
    if also is not None:  # a second limit holds at the same time
        second = MEASURES[also.unit](body.text)
        beyond = max(0, second - also.limit)
        told["also"] = {"length": second, "limit": also.limit, "unit": also.unit, "over": beyond}
    return told


def _platform(site: Site, named: str) -> Platform:
    platform = platform_chosen(named)
    if "=" in named:
        return platform
    settings = site.settings
    own = platforms_for(settings).get(platform.name)
    return own or changed(platform, settings.limits.get(platform.name, {}))


async def upload(site: Site, request: Request) -> dict[str, object]:
    """Keep a file for a plan or a run, for at most an hour."""
    kept = await site.uploads.received(request)
    return {"upload": kept.id, "name": kept.name, "bytes": kept.size}
