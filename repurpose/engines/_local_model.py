"""A GGUF model in this process, through llama.cpp in `xllamacpp`. Everything here blocks.

The library always opens a port on loopback beside its calls in process. It is closed to others
by a random key that nobody is told.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from repurpose.core.call import Reply
from repurpose.engines._local_file import ModelFile
from repurpose.engines._local_reply import Pieces
from repurpose.errors import EngineError, NeverStarted, UsageError

__all__ = ["LocalModel", "Setup", "require_library", "usable_threads"]

_LIBRARY = "xllamacpp"
_BATCH = 128
"""Prompt tokens between two looks at whether to stop; llama.cpp's own 2,048 are minutes with a
large model. On a processor 64 to 1,024 were measured to be equally fast."""
_CACHE_MIB = 512
"""Memory for the prompts of other texts, so that two in turn do not forget each other; llama.cpp's
own 8,192 is more than many machines have."""


class _Server(Protocol):
    """What of xllamacpp's `Server` is used."""

    def handle_chat_completions(
        self, body: Mapping[str, object], on_chunk: Callable[[object], bool]
    ) -> object:
        """Answer in chunks until there are no more or `on_chunk` returns True."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a model is loaded with."""

    file: ModelFile
    context_tokens: int
    threads: int


class LocalModel:
    """One model: loaded when it is first asked, and asked by one thread only."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._server: _Server | None = None

    def ask(
        self,
        body: Mapping[str, object],
        stopped: Callable[[], bool],
        heard: Callable[[str], None] = lambda _: None,
    ) -> Reply:
        """The reply to a chat completion request; `heard` is told its text as it is written.

        `stopped` is asked before every token and after every batch of the prompt; what there is
        of the answer is lost then.

        Raises:
            NeverStarted: the model cannot be loaded, or the prompt does not fit into it.
            EngineError: there is no whole answer.
        """
        name = self._setup.file.name
        server = self._server = self._server or _loaded(self._setup)
        pieces = Pieces(name)

        def on_chunk(chunk: object) -> bool:
            text = pieces.add(chunk)
            if text:
                heard(text)
            return stopped()

        try:
            server.handle_chat_completions(body, on_chunk)
        except ValueError as error:  # its text may quote the prompt, so it goes no further
            raise NeverStarted(
                f"{name} does not take our prompt or our JSON schema",
                hint="use a model made for chats, with a chat template in its file",
            ) from error
        except Exception as error:
            raise EngineError(f"{name} failed ({type(error).__name__})") from error
        return pieces.reply()

    def unload(self) -> None:
        """Let go of the memory; asking again loads the model again."""
        self._server = None


def usable_threads() -> int:
    """One less than the processors that this process may use, and at least 1.

    The spare one matters: threads of llama.cpp wait for each other in a busy loop, and one that
    has to share its processor makes all of them several times slower.
    """
    if hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
    else:
        processors = os.cpu_count() or 1
    return max(1, processors - 1)


def require_library() -> None:
    """Make sure that llama.cpp is there, without loading it.

    Raises:
        UsageError: the extra is not installed.
    """
    if importlib.util.find_spec(_LIBRARY) is None:
        raise UsageError(
            "a local model needs the extra repurpose-text[local]",
            hint="pip install 'repurpose-text[local]'",
        )


def _loaded(setup: Setup) -> _Server:
    # Read by the library as it loads; without it waiting threads keep their processors busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        library = importlib.import_module(_LIBRARY)
    except ImportError as error:
        raise NeverStarted(
            "llama.cpp cannot be loaded on this system", hint="install xllamacpp again"
        ) from error
    try:
        server: _Server = library.Server(_parameters(library, setup))
    except Exception as error:
        raise NeverStarted(
            f"{setup.file.name} cannot be loaded with a context of {setup.context_tokens:,} tokens",
            hint="the file is damaged, of a kind that llama.cpp does not know, or too large for"
            " the memory: use another file or a smaller --context-tokens",
        ) from error
    return server


def _parameters(library: Any, setup: Setup) -> object:  # noqa: ANN401 - it has no types
    """What llama.cpp is started with: one slot, quiet, closed to others."""
    parameters = library.CommonParams()
    parameters.model.path = str(setup.file.path)
    parameters.n_ctx = setup.context_tokens
    parameters.n_parallel = 1
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = setup.threads
    parameters.cache_ram_mib = _CACHE_MIB
    parameters.api_keys = [secrets.token_urlsafe(32)]
    parameters.ui = False
    parameters.verbosity = -1  # it writes to standard error past Python, where progress is shown
    return parameters
