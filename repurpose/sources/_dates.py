"""Dates as mail and feeds write them (RFC 5322, 3.3)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

__all__ = ["mail_date"]

_LONGEST = 100  # characters


def mail_date(value: object) -> str | None:
    """The ISO 8601 date of a date in mail form, where it was written; None for anything else.

    >>> mail_date("Tue, 14 Feb 2017 23:30:00 -0800"), mail_date("yesterday")
    ('2017-02-14', None)
    """
    if not isinstance(value, str) or len(value) > _LONGEST:
        return None
    try:
        return parsedate_to_datetime(value).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):  # older Pythons raise all of them
        return None
