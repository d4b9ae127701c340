"""Puts the pieces of a streamed answer together; nothing in them is trusted to be there.

The shape is that of OpenAI's chat completion chunks, as llama.cpp fills them.
"""

from __future__ import annotations

from collections.abc import Mapping

from repurpose.core.call import Reply, Usage
from repurpose.errors import BrokenReply, EngineError, NeverStarted

__all__ = ["Pieces"]

_TOO_LONG = "exceed_context_size_error"
"""llama.cpp's name for a prompt over the context; both numbers stand beside it."""


class Pieces:
    """The answer as far as it has come."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._finish: str | None = None
        self._usage = Usage()
        self._id: str | None = None
        self._error: Mapping[str, object] | None = None

    def add(self, chunk: object) -> str:
        """Take in one chunk, and return the text that it adds to the answer.

        Never raises: it runs inside a library that would swallow it.
        """
        if not isinstance(chunk, Mapping):
            return ""
        error = chunk.get("error")
        if isinstance(error, Mapping):
            self._error = error
        name = chunk.get("id")
        if isinstance(name, str):
            self._id = name
        usage = chunk.get("usage")
        if isinstance(usage, Mapping):
            self._usage = _usage(usage)
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], Mapping):
            return self._add_choice(choices[0])
        return ""

    def reply(self) -> Reply:
        """The whole answer.

        Raises:
            NeverStarted: the model was not asked, because the prompt does not fit.
            BrokenReply: it failed on the way, or its answer has no end.
        """
        if self._error is not None:
            raise self._failure(self._error)
        if self._finish is None:
            raise BrokenReply(f"{self._model} stopped without ending its answer")
        return Reply(
            text=_stored("".join(self._text)),
            finish="length" if self._finish == "length" else "stop",
            reasoning=_stored("".join(self._reasoning)) or None,
            usage=self._usage,
            model=self._model,
            request_id=self._id,
        )

    def _add_choice(self, choice: Mapping[str, object]) -> str:
        finish = choice.get("finish_reason")
        if isinstance(finish, str):
            self._finish = finish
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            return ""
        for name, pieces in (("content", self._text), ("reasoning_content", self._reasoning)):
            piece = delta.get(name)
            if isinstance(piece, str):
                pieces.append(piece)
        text = delta.get("content")
        return text if isinstance(text, str) else ""

    def _failure(self, error: Mapping[str, object]) -> EngineError:
        """Our own words: those of the library may quote the prompt."""
        if error.get("type") != _TOO_LONG:
            return BrokenReply(f"{self._model} failed on the way to an answer")
        prompt, context = _tokens(error.get("n_prompt_tokens")), _tokens(error.get("n_ctx"))
        sizes = "" if None in (prompt, context) else f": {prompt:,} tokens, and {context:,} fit"
        return NeverStarted(
            f"the text is too long for {self._model}{sizes}",
            hint="use a shorter text, or a larger --context-tokens where the model allows it",
        )


def _usage(usage: Mapping[str, object]) -> Usage:
    details = usage.get("prompt_tokens_details")
    return Usage(
        prompt_tokens=_tokens(usage.get("prompt_tokens")),
        completion_tokens=_tokens(usage.get("completion_tokens")),
        cached_tokens=_tokens(details.get("cached_tokens"))
        if isinstance(details, Mapping)
        else None,
    )


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _stored(text: str) -> str:
    """`text` with halves of surrogate pairs, which no database keeps, written as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
