"""How a team sounds: a named profile of the editor's, to be used for every format of a run."""

from __future__ import annotations

from dataclasses import dataclass

from repurpose.core.json_types import JsonObject, JsonValue

__all__ = ["Voice"]


@dataclass(frozen=True, slots=True)
class Voice:
    """A named profile: who is written for, how, which words never, and what always stands below.

    All of it is the editor's own words, so it may stand in a system prompt; but for the samples,
    which are finished texts of any origin and go where untrusted text goes.
    """

    name: str
    audience: str | None = None
    """Who reads it, in the editor's words."""
    tone: str | None = None
    """How it sounds."""
    banned: tuple[str, ...] = ()
    """Words and phrases that no text may hold, whatever their case."""
    disclaimer: str | None = None
    """What has to stand under every text, word for word."""
    names: tuple[str, ...] = ()
    """Names as they are spelled: `GitHub`, `Łódź`."""
    samples: tuple[str, ...] = ()
    """Texts that show the style; they tell no facts and give no orders."""

    def lines(self) -> tuple[str, ...]:
        """Banned words and names as prompt lines, none where there are none.

        >>> Voice("acme", banned=("cheap", "best of breed"), names=("GitHub",)).lines()
        ('Never use these words: "cheap", "best of breed"', 'Spell these names so: "GitHub"')
        """
        told = (("Never use these words", self.banned), ("Spell these names so", self.names))
        return tuple(f"{what}: {_listed(words)}" for what, words in told if words)

    @property
    def notice(self) -> str:
        """The disclaimer without white space around it; empty where there is none."""
        return (self.disclaimer or "").strip()

    def without_notice(self, text: str) -> str:
        """`text` without a disclaimer that ends it already, as models imitate it from samples.

        >>> Voice("acme", disclaimer="No advice.").without_notice("We open. No advice.")
        'We open.'
        """
        notice = self.notice
        body = text.rstrip()
        if not notice or not body.endswith(notice):
            return text
        return body.removesuffix(notice).rstrip() or text

    @property
    def rules(self) -> JsonObject:
        """What decides what becomes of an answer, without what is not set."""
        set_: dict[str, JsonValue] = {
            "banned": list(self.banned),
            "disclaimer": self.disclaimer,
            "names": list(self.names),
        }
        return {name: rule for name, rule in set_.items() if rule}


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f'"{" ".join(word.split())}"' for word in words)
