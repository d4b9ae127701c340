"""One format of one source, typed, without a database."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from repurpose.api.adapters import engine_for
from repurpose.api.loading import load
from repurpose.api.runs import job_for, prepared_for, runner_for, steering_for, waited
from repurpose.config import Settings
from repurpose.core.envelope import Envelope, Meta
from repurpose.core.policy import RetryPolicy
from repurpose.core.result import FormatResult
from repurpose.core.source import Source
from repurpose.errors import RepurposeError
from repurpose.ports import Engine
from repurpose.steps.job import Job

if TYPE_CHECKING:  # the formats bring pydantic, and only the one that is used shall
    from repurpose.formats.faq import FaqContent  # noqa: F401 - named as a string below
    from repurpose.formats.newsletter import NewsletterContent  # noqa: F401 - likewise
    from repurpose.formats.social import SocialContent  # noqa: F401 - likewise
    from repurpose.formats.summary import SummaryContent  # noqa: F401 - likewise

__all__ = [
    "FaqGenerator",
    "Generator",
    "NewsletterGenerator",
    "Result",
    "SocialGenerator",
    "SummaryGenerator",
]

ContentT = TypeVar("ContentT")


@dataclass(frozen=True, slots=True)
class Result(Generic[ContentT]):
    """What a generator made of a source."""

    content: ContentT | None
    """The typed content, such as `FaqContent`; None where the envelope's status is 400."""
    envelope: Envelope
    meta: Meta
    texts: Mapping[str, str]
    """What is published, by variant: `default`, or one text for each platform."""
    error: RepurposeError | None = None
    """Why there is no content; None where there is."""

    @property
    def text(self) -> str:
        """All variants as one text, in order."""
        return "\n\n".join(self.texts.values())


class Generator(Generic[ContentT]):
    """Makes one format of one source, without a database.

    Works with any engine: one of ours, or `Engine(name="mine", answer=async_function)`. The
    embedded engine is used where none is given. Bad answers are repaired as `retry` allows; a
    failure is a result with a 400 envelope.
    """

    format_name: ClassVar[str]

    def __init__(
        self,
        engine: Engine | None = None,
        *,
        language: str | None = None,
        audience: str | None = None,
        tone: str | None = None,
        retry: RetryPolicy | None = None,
        output_tokens: int | None = None,
    ) -> None:
        self.engine = engine
        self.retry = retry
        self.settings = Settings(
            database=Path(os.devnull),
            language=language,
            audience=audience,
            tone=tone,
            output_tokens=output_tokens,
        )

    async def agenerate(self, source: Source | str | Path | bytes) -> Result[ContentT]:
        """The format's content for `source`.

        Raises:
            SourceError: the source cannot be read.
        """
        source = source if isinstance(source, Source) else load(source)
        engine = self.engine or engine_for(self.settings)
        steering = steering_for(engine, self.settings)

        def jobs_of(whole: Source) -> list[Job]:
            shown = engine.schema_in_prompt
            name, settings, retry = self.format_name, self.settings, self.retry
            return [job_for(name, whole, steering, settings, retry, schema_in_prompt=shown)]

        try:
            runner = runner_for(engine, None, self.settings, {})
            jobs = jobs_of(source)
            prepared = prepared_for(jobs, jobs_of, engine, self.settings, self.retry, runner.report)
            ran = await runner.run(source, jobs, steering, prepared)
        finally:
            if self.engine is None:
                await engine.close()
        return _typed(ran.results[self.format_name])

    def generate(self, source: Source | str | Path | bytes) -> Result[ContentT]:
        """`agenerate` for programs without an event loop."""
        return waited(self.agenerate(source), "agenerate")


class SummaryGenerator(Generator["SummaryContent"]):
    """An executive summary of at most eight sentences."""

    format_name = "summary"


class FaqGenerator(Generator["FaqContent"]):
    """At most ten pairs of question and answer."""

    format_name = "faq"


class SocialGenerator(Generator["SocialContent"]):
    """One post for each platform, each within its platform's limits."""

    format_name = "social"


class NewsletterGenerator(Generator["NewsletterContent"]):
    """Subject, preheader, paragraphs and exactly one call to action."""

    format_name = "newsletter"


def _typed(result: FormatResult) -> Result[Any]:
    """A format's result with its rows as texts."""
    return Result(
        content=result.content,
        envelope=result.envelope,
        meta=result.meta,
        texts={row.variant: row.text for row in result.rows if row.text is not None},
        error=result.error,
    )
