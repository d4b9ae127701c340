"""A family's table names its members by string, so that a member is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["member"]


def member(where: str) -> Any:  # noqa: ANN401 - each family knows what its members are
    """The member that a table names as `module:name`; its module is imported now.

    >>> member("repurpose.core.table:member").__name__
    'member'
    """
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
