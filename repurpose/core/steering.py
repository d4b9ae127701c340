"""What the editor wishes for: language, audience, tone, voice. Trusted, but for a voice's samples.

So all of it may stand in a system prompt, and samples go to the user prompt.
"""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.core.voice import Voice

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
    voice: Voice | None = None
    """Banned words, names and samples. Its audience and tone count where those above are set to
    them, since flags may say otherwise."""

    def lines(self) -> str:
        """The wishes as prompt lines, or an empty text where there are none."""
        wishes = (("Write for these readers", self.audience), ("Tone", self.tone))
        told = [f"{name}: {' '.join(wish.split())}" for name, wish in wishes if wish]
        return "\n".join([*told, *(self.voice.lines() if self.voice else ())])

    @property
    def samples(self) -> tuple[str, ...]:
        """Texts that show the style."""
        return self.voice.samples if self.voice else ()
