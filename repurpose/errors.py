"""Every error of ours, in one tree. Each carries one readable line, a hint and an exit code.

    RepurposeError
    ├── UsageError               2   a flag, setting or name that cannot be used
    │   ├── SchemaError          2   a schema outside the subset; raised before any call
    │   └── ChangedMeanwhile     2   somebody else changed the row first; nothing was stored
    ├── SourceError              3   the source cannot be read; `reason` names the kind
    ├── StoreError               2   the database cannot be opened or written
    ├── BudgetReached            5   what may be spent is spent; what is stored stays
    └── FormatError              1   one format gave nothing to publish; becomes a failed row
        ├── EngineError              no answer came back
        │   ├── NeverStarted         the call was not accepted: key, address, quota, schema
        │   ├── StillWorking         no answer within the deadline
        │   ├── AgentFailed          an endpoint took the work, and said that it failed
        │   └── BrokenReply          the server spoke, but not as its interface promises
        ├── Refused                  the model or its content filter said no
        ├── CutShort                 the reply ended at the token limit
        ├── InvalidAnswer            no valid JSON answer within the attempts allowed
        ├── UnusableOutput           a valid answer that leaves nothing to publish
        └── Unexpected               a foreign exception, behind our own words

Messages of these classes are written by us and safe to show and to store: they hold no source
text, no answer text and no key. A foreign exception never reaches a row with its own text.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "AgentFailed",
    "BrokenReply",
    "BudgetReached",
    "ChangedMeanwhile",
    "CutShort",
    "EngineError",
    "FormatError",
    "InvalidAnswer",
    "NeverStarted",
    "Refused",
    "RepurposeError",
    "SchemaError",
    "SourceError",
    "StillWorking",
    "StoreError",
    "Unexpected",
    "UnusableOutput",
    "UsageError",
]


class RepurposeError(Exception):
    """The root of the tree; `str()` is the one line a user reads."""

    exit_code: ClassVar[int] = 1
    """What the command line exits with when this error ends a command."""

    kind: ClassVar[str] = "error"
    """A short stable name for reports and for the `kind` of a failed row."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        """What to do about it, as one sentence, or None where the message says it."""


class UsageError(RepurposeError):
    """A flag, setting or name that cannot be used."""

    exit_code = 2
    kind = "usage"


class SchemaError(UsageError):
    """A schema outside the strict subset, found before the first call."""

    kind = "schema"


class ChangedMeanwhile(UsageError):
    """Somebody else changed the row first; nothing was stored over it."""

    kind = "changed_meanwhile"


class StoreError(RepurposeError):
    """The database cannot be opened, read or written."""

    exit_code = 2
    kind = "store"


class BudgetReached(RepurposeError):
    """What may be spent is spent, so no further call is made. What is stored stays."""

    exit_code = 5
    kind = "budget"


class SourceError(RepurposeError):
    """The source cannot be read; nothing was sent anywhere.

    `reason` is one of: empty, binary, corrupt, encrypted, no-text, too-large, unsupported,
    fetch-failed, blocked-address, robots, not-found, unreadable.
    """

    exit_code = 3
    kind = "source"

    def __init__(self, reason: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class FormatError(RepurposeError):
    """One format gave nothing to publish; its siblings go on."""

    kind = "format"


class EngineError(FormatError):
    """No answer came back. `status` is the HTTP status where there was one."""

    kind = "engine"

    def __init__(self, message: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class NeverStarted(EngineError):
    """The call was not accepted: a wrong key, model, address or schema, or no quota left."""

    kind = "never_started"


class StillWorking(EngineError):
    """No answer within the deadline, or within the transport budget."""

    kind = "still_working"


class AgentFailed(EngineError):
    """The endpoint accepted the call, worked on it, and said no."""

    kind = "agent_failed"


class BrokenReply(EngineError):
    """The server spoke, but not as its interface promises: HTML, half a body, no choices."""

    kind = "broken_reply"


class Refused(FormatError):
    """The model, or its provider's content filter, said no. Final: never asked again."""

    kind = "refused"


class CutShort(FormatError):
    """The reply ended at the token limit, so it is not complete."""

    kind = "cut_short"


class InvalidAnswer(FormatError):
    """No valid answer within the attempts allowed; the findings say what was wrong."""

    kind = "invalid_answer"


class UnusableOutput(FormatError):
    """A valid answer that leaves nothing to publish; the message is for an editor."""

    kind = "unusable"


class Unexpected(FormatError):
    """A foreign exception behind our own words, which are whole and take no label before them."""

    kind = "unexpected"
