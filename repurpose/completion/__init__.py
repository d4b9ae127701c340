"""How an endpoint tells that it has finished. `MODES` names one `drive` for each mode."""

from __future__ import annotations

__all__ = ["MODES"]

MODES: dict[str, str] = {
    mode: f"repurpose.completion.{mode}:drive"
    for mode in ("sync", "poll", "stream", "callback", "trace")
}
"""Mode to `module:drive`, each a `completion.base.Drive`."""
