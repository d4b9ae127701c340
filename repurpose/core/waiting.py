"""What servers say of waiting in headers: numbers, times and dates, never trusted to be any."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["number_in", "retry_after", "seconds_in"]

_LONGEST_NUMBER = 32
"""Characters of a number in a header; a longer one is an attack, not a waiting time."""
_MILLISECONDS = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)ms")
_SPOKEN = re.compile(
    r"(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6}(?:\.\d{1,9})?)s)?",
)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a server asks to wait, or None where it names no time we understand.

    `retry-after-ms` (OpenAI's own) before `retry-after` in seconds or as a date (RFC 9110,
    10.2.3). A date in the past is 0. Header names are looked up in lower case.

    >>> midnight = datetime(2026, 1, 1, tzinfo=UTC)
    >>> retry_after({"retry-after": "1.5"}, midnight)
    1.5
    >>> retry_after({"retry-after": "Thu, 01 Jan 2026 00:00:20 GMT"}, midnight)
    20.0
    """
    milliseconds = number_in(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    named = headers.get("retry-after")
    seconds = number_in(named)
    if seconds is not None or named is None:
        return seconds
    try:
        until = parsedate_to_datetime(named[:_LONGEST_NUMBER])
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())


def seconds_in(text: str | None) -> float | None:
    """The seconds of a time such as `6m0s`, `1.2s`, `20ms` or `7`; None where it is no time.

    >>> seconds_in("6m0s"), seconds_in("1.2s"), seconds_in("20ms"), seconds_in("7")
    (360.0, 1.2, 0.02, 7.0)
    """
    number = number_in(text)
    if number is not None or text is None or len(text) > _LONGEST_NUMBER:
        return number
    spoken = text.strip().lower()
    short = _MILLISECONDS.fullmatch(spoken)
    if short:
        return float(short[1]) / 1000
    found = _SPOKEN.fullmatch(spoken)
    if not found or not spoken:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 86_400 * days + 3_600 * hours + 60 * minutes + seconds


def number_in(text: str | None) -> float | None:
    """A finite number, not below 0; None where the text is none."""
    if text is None or len(text) > _LONGEST_NUMBER:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None
