"""Runs of the command line: one source after the other, with Ctrl-C heard."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

if TYPE_CHECKING:
    from repurpose.api.runs import RunOptions
    from repurpose.config import Settings
    from repurpose.core.result import FormatResult, RunResult
    from repurpose.core.source import Source
    from repurpose.ports import Engine, Listener

__all__ = ["Interrupts", "Runs"]


class Runs:
    """Runs sources with one engine, which is made for the first and closed after the last."""

    def __init__(
        self, formats: tuple[str, ...], settings: Settings, *, force: bool, quiet: bool
    ) -> None:
        self.settings = settings
        self._formats = formats
        self._force = force
        self._quiet = quiet
        self._interrupts = Interrupts()
        self._engine: Engine | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._engine is not None:
            asyncio.run(_closed(self._engine))

    @property
    def interrupted(self) -> bool:
        """Whether the user asked to stop, so that nothing more may begin."""
        return self._interrupts.asked()

    def run(
        self,
        source: Source,
        on_result: Callable[[FormatResult], None] | None = None,
        listen: Callable[[str], Listener] | None = None,
    ) -> RunResult:
        """All formats of `source`, stored as they are done, and each given to `on_result` then.

        `listen` gives what hears the replies to a format while they are written.

        Raises:
            UsageError: a format or setting that is not known.
            KeyboardInterrupt: the user pressed Ctrl-C twice.
        """
        from repurpose.api.adapters import engine_for

        if self._engine is None:
            self._engine = engine_for(self.settings)
            if self.settings.is_capped:
                from repurpose.api.budgeting import within_budget

                # One budget for all sources, so that it is not each run's own.
                self._engine = within_budget(self._engine, self.settings)
        return asyncio.run(self._run(source, self._engine, on_result, listen))

    async def _run(
        self,
        source: Source,
        engine: Engine,
        on_result: Callable[[FormatResult], None] | None,
        listen: Callable[[str], Listener] | None,
    ) -> RunResult:
        """The run, with its progress shown and Ctrl-C heard."""
        from repurpose.api.runs import arun
        from repurpose.cli._progress import shown

        # Lines that change in place and results would write over each other on one terminal.
        steady = on_result is not None and sys.stdout.isatty()
        with shown(quiet=self._quiet, steady=steady) as report:
            options: RunOptions = {
                "engine": engine,
                "settings": self.settings,
                "force": self._force,
                "report": report,
                "stopping": self._interrupts.asked,
            }
            if on_result is not None:
                options["on_result"] = on_result
            if listen is not None:
                options["listen"] = listen
            work = asyncio.ensure_future(arun(source, self._formats, **options))
            with self._interrupts.heard(work):
                try:
                    return await work
                except asyncio.CancelledError:
                    raise KeyboardInterrupt from None


async def _closed(engine: Engine) -> None:
    await engine.close()


class Interrupts:
    """Ctrl-C once: finish what is in flight and stop. Twice: stop now."""

    def __init__(self) -> None:
        self._count = 0

    def asked(self) -> bool:
        """Whether the user asked to stop."""
        return self._count > 0

    @contextmanager
    def heard(self, work: asyncio.Future[Any]) -> Iterator[None]:
        """Count interrupts while in this context; the second one cancels `work`."""
        loop = asyncio.get_running_loop()
        try:
            # Wakes the loop whichever thread the signal comes to; a plain handler might not.
            loop.add_signal_handler(signal.SIGINT, self._hear, work)
        except NotImplementedError:  # Windows
            signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(self._hear, work))
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                loop.remove_signal_handler(signal.SIGINT)

    def _hear(self, work: asyncio.Future[Any]) -> None:
        self._count += 1
        if self._count == 1:
            click.echo("stopping after what is in flight; Ctrl-C again stops now", err=True)
        else:
            work.cancel()
