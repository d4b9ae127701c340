"""A finding: one defect found in an answer or a content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from repurpose.core.json_types import JsonObject

__all__ = ["Finding", "FindingKind", "Validation"]

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


@dataclass(frozen=True, slots=True)
class Validation:
    """Whether an answer is of its declared shape, and if not, where not."""

    findings: tuple[Finding, ...] = ()
    """What is wrong: ten at most, and then one that counts the rest."""
    answer: JsonObject | None = None
    """The answer as it is used, its numeric texts converted; None where it is not valid."""
    coerced: tuple[str, ...] = ()
    """The dot paths of numeric texts that became numbers."""
    dropped: tuple[str, ...] = ()
    """The dot paths of undeclared keys that were left out."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def message(self) -> str:
        """The findings in one line; empty where there are none."""
        return "; ".join(map(str, self.findings))

    @property
    def missing_required(self) -> tuple[str, ...]:
        """The dot paths of required fields that are absent or null; an empty text is neither."""
        return self._paths("missing_required")

    @property
    def type_mismatched(self) -> tuple[str, ...]:
        """The dot paths of values of another type than declared."""
        return self._paths("type_mismatch")

    def _paths(self, kind: FindingKind) -> tuple[str, ...]:
        """Without the finding that counts the rest, which stands at no path."""
        return tuple(each.path for each in self.findings if each.kind == kind and each.path)
