"""What the editor wishes for: language, audience and tone. Trusted, so it may stand in a prompt."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Steering"]


@dataclass(frozen=True, slots=True)
class Steering:
    """The editor's wishes for every format of a run."""

    language: str | None = None
    """The language to write in, as a code; None for the source's own."""
    audience: str | None = None
    """Who reads it, in the editor's words: `CFOs of mid-sized firms`."""
    tone: str | None = None
    """How it should sound: `dry, exact`."""

    def lines(self) -> str:
        """Audience and tone as prompt lines, or an empty text where neither is given."""
        wishes = (("Write for these readers", self.audience), ("Tone", self.tone))
        return "\n".join(f"{name}: {' '.join(wish.split())}" for name, wish in wishes if wish)
