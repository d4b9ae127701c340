"""Where runs, calls and rows are kept: `STORES` names what opens each kind of store."""

from __future__ import annotations

__all__ = ["STORES"]

STORES: dict[str, str] = {
    "sqlite": "repurpose.stores.sqlite:open_store",
}
"""From a store's name to the function that opens it, `module:function`, loaded on use."""
