"""From a source to the jobs of a batch's formats, and under which settings they are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from repurpose.api.runs import (
    RunOptions,
    job_for,
    prepared_for,
    runner_for,
    steering_for,
)
from repurpose.config import Settings
from repurpose.core.keys import call_key, idempotency_key
from repurpose.core.progress import Progress
from repurpose.core.source import Source, digest_of
from repurpose.core.steering import Steering
from repurpose.errors import UsageError
from repurpose.formats import FORMATS, Formats, known_formats, needed_by, ordered
from repurpose.ports import Engine, Store
from repurpose.runner import Prepared, Runner
from repurpose.steps.job import Job
from repurpose.steps.layout import arranged

__all__ = ["Making"]

_PROBE = Source("A text that stands for any other.", "probe", "text", language="en")


@dataclass(frozen=True, slots=True)
class Making:
    """What every source of a batch is made into, by which engine."""

    engine: Engine
    settings: Settings
    steering: Steering
    known: Formats
    probes: tuple[Job, ...]
    """A job for each format, of a text that stands for any other."""
    needs: Mapping[str, tuple[str, ...]]
    """By format, those whose results it reads."""
    prints: Mapping[str, str]
    """By format, a digest of all that its result depends on beside the source."""

    @classmethod
    def of(cls, engine: Engine, settings: Settings, names: Sequence[str] = ()) -> Making:
        """What `settings` ask for, checked.

        Raises:
            UsageError: a format or setting that cannot be used, before any call.
        """
        names = tuple(dict.fromkeys(names or settings.formats or FORMATS))
        if not names:
            raise UsageError("no format is named", hint=f"choose from {', '.join(FORMATS)}")
        steering = steering_for(engine, settings)
        known = known_formats(settings.formats_dir, settings.declared, beside=settings.folder)
        empty = cls(engine, settings, steering, known, (), {}, {})
        probes = tuple(empty.jobs(_PROBE, names))
        ordered([job.format for job in probes])
        needs = {job.format.name: needed_by(job.format) for job in probes}
        own = {job.format.name: empty.key_of(job) for job in probes}
        prints = {
            name: digest_of(key, *(own[needed] for needed in needs[name]))
            for name, key in own.items()
        }
        return cls(engine, settings, steering, known, probes, needs, prints)

    def jobs(self, source: Source, names: Sequence[str]) -> list[Job]:
        """The jobs of these formats.

        Raises:
            UsageError: a prompt cannot be rendered for it.
        """
        made = [
            job_for(
                name,
                source,
                self.steering,
                self.settings,
                None,
                known=self.known,
                schema_in_prompt=self.engine.schema_in_prompt,
            )
            for name in names
        ]
        return arranged(made, self.engine, self.settings.cache)

    def prepared(
        self, source: Source, names: Sequence[str], report: Callable[[Progress], None]
    ) -> tuple[list[Job], Prepared | None]:
        """The jobs, and what makes them from a brief where the source does not fit.

        Raises:
            SourceError: it does not fit and must not be read in parts.
            UsageError: nothing would fit beside the prompts.
        """
        jobs = self.jobs(source, names)
        remade = lambda whole: self.jobs(whole, names)  # noqa: E731 - as `prepared_for` wants it
        return jobs, prepared_for(jobs, remade, self.engine, self.settings, None, report)

    def key_of(self, job: Job) -> str:
        """What finished rows equal to the job's are found by, as the runner looks for them."""
        engine = self.engine
        asked = call_key(
            job.known_by, engine=engine.name, model=engine.model, parameters=engine.parameters
        )
        return idempotency_key(asked, version=job.format.version, finishing=job.finishing)

    def runner(self, engine: Engine, store: Store, options: RunOptions) -> Runner:
        """What runs them, asking `engine`."""
        return runner_for(engine, store, self.settings, options)
