"""How often one format may be asked again, and for which faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from repurpose.core.finding import Finding, FindingKind
from repurpose.errors import UsageError

__all__ = ["MAX_ATTEMPTS", "OnFailure", "RetryOverrides", "RetryPolicy", "attempts_from"]

OnFailure: TypeAlias = Literal["skip", "abort"]
"""What a format that ends with status 400 means for the others of its run: they go on without it,
or those that are not begun yet are not begun."""

MAX_ATTEMPTS = 5
"""More rounds than this were never seen to help, and each is paid."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often one format may be asked again, and for which faults.

    Counts attempts, not retries: 2 means the first call and one repair. Lost connections have
    their own budget and never use up an attempt here.
    """

    max_attempts: int = 2
    """Calls in all, 1 to 5."""
    on_parse: bool = True
    """Ask again when the reply is empty or no JSON."""
    on_missing_required: bool = True
    """Ask again when a required field is absent or null."""
    on_type_mismatch: bool = True
    """Ask again when a value has another type than declared and is not losslessly convertible."""
    on_unusable: bool = False
    """Ask again when a valid answer leaves nothing to publish."""
    on_quality: bool = True
    """Ask again when a valid answer cannot be published as it is: a loop, a placeholder, another
    language."""

    def __post_init__(self) -> None:
        if isinstance(self.max_attempts, bool) or not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise UsageError(
                f"max_attempts is {self.max_attempts}; it counts calls and must be 1 to"
                f" {MAX_ATTEMPTS}",
                hint="1 means no repair, 2 means the first call and one repair",
            )

    def repairs(self, findings: Iterable[Finding]) -> bool:
        """Whether these findings are worth another call: at least one kind present is enabled."""
        return any(self._enabled(finding.kind) for finding in findings)

    def layered(self, *overrides: RetryOverrides) -> RetryPolicy:
        """This policy with each field taken from the first override that sets it.

        Pass the most specific first: the format's, then the configuration file's.
        """
        chosen: dict[str, int | bool] = {}
        for override in overrides:
            for name, value in override.given().items():
                chosen.setdefault(name, value)
        return replace(self, **chosen)  # type: ignore[arg-type]  # names and types match by construction

    def _enabled(self, kind: FindingKind) -> bool:
        match kind:
            case "parse":
                return self.on_parse
            case "missing_required":
                return self.on_missing_required
            case "type_mismatch":
                return self.on_type_mismatch
            case "constraint":
                return True
            case "unusable":
                return self.on_unusable
            case "quality":
                return self.on_quality


@dataclass(frozen=True, slots=True)
class RetryOverrides:
    """The fields of a policy that one place sets; None falls through to the next place."""

    max_attempts: int | None = None
    on_parse: bool | None = None
    on_missing_required: bool | None = None
    on_type_mismatch: bool | None = None
    on_unusable: bool | None = None
    on_quality: bool | None = None

    def given(self) -> dict[str, int | bool]:
        """The fields that are set, by name."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if value is not None}


def attempts_from(*, max_attempts: int | None, max_retries: int | None) -> int | None:
    """The number of attempts that two spellings of the same setting mean, or None for neither.

    `max_retries = n` means n further calls, so n + 1 attempts.

    Raises:
        UsageError: both are given; they would contradict each other sooner or later.

    >>> attempts_from(max_attempts=None, max_retries=1)
    2
    """
    if max_attempts is not None and max_retries is not None:
        raise UsageError("max_attempts and max_retries say the same thing; give one of them")
    return max_attempts if max_retries is None else max_retries + 1
