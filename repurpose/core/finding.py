"""A finding: one defect found in an answer or a content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "FindingKind"]

FindingKind = Literal[
    "parse", "missing_required", "type_mismatch", "constraint", "unusable", "quality"
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect, told in words that a model and an editor can both act on.

    `message` names the rule that was broken and never quotes the answer, so that a finding may
    stand in a system prompt and in a row.
    """

    kind: FindingKind
    path: str
    """Where it is, as a dot path with list indices (`pairs.0.question`); empty for the whole."""
    message: str

    def __str__(self) -> str:
        """The finding as one line, `path: message`."""
        return f"{self.path}: {self.message}" if self.path else self.message
