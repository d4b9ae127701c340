"""Nights over a few sources, with a model that notes what would be paid."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from repurpose.api.loading import LoadOptions
from repurpose.batch.night import Night, Outcome
from repurpose.batch.plan import Plan, Step
from repurpose.config import Settings
from repurpose.core.call import Call, Reply, Usage
from repurpose.ports import Engine

TEXT = """{title}

The town of Halvik lends tools to everybody who lives there. Most people come for a drill, which
they need for an afternoon. The desk is open on two days of the week, and it is busy on both.
"""


@dataclass
class Model:
    """A model that answers what a format's golden reply says, unless it is told otherwise."""

    answers: Callable[[str], str]
    paid: list[tuple[str, str]] = field(default_factory=list)
    """Format and text's digest of each call, in order."""
    faults: dict[str, Exception] = field(default_factory=dict)
    """What is raised for a source whose text has this word."""
    bad: set[str] = field(default_factory=set)
    """Words of texts for which no valid answer comes."""
    before: Callable[[Call], None] = lambda _: None
    most: int = 0
    """The most calls that were in work at once."""
    now: int = 0

    async def __call__(self, call: Call) -> Reply:
        self.before(call)
        self.paid.append((call.format, call.source.digest))
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0)
        self.now -= 1
        for word, fault in self.faults.items():
            if word in call.source.text:
                raise fault
        if any(word in call.source.text for word in self.bad):
            return Reply("no JSON", usage=Usage(100, 10))
        return Reply(self.answers(call.format), usage=Usage(1000, 100))

    def counted(self) -> Counter[str]:
        """Calls by format."""
        return Counter(name for name, _ in self.paid)


def write(path: Path, title: str, age: float = 100.0) -> Path:
    """A source that was last changed some seconds ago."""
    path.write_text(TEXT.format(title=title), encoding="utf-8")
    moment = path.stat().st_mtime - age
    os.utime(path, (moment, moment))
    return path


@dataclass
class Nights:
    """Nights with one database."""

    model: Model
    database: Path
    formats: tuple[str, ...] = ("summary", "faq")
    steps: list[Step] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)

    def night(self, *, force: bool = False, follow: bool = False, **settings: object) -> Night:
        chosen = {"formats": self.formats, "concurrency": 4, **settings}
        engine = Engine("noted", self.model, model="mine")
        return Night(
            Settings(database=self.database, **chosen),  # type: ignore[arg-type]
            LoadOptions(follow=follow),
            engine=engine,
            force=force,
        )

    def run(self, *origins: Path | str, stopping: bool = False, **settings: object) -> Outcome:
        """One night over these origins."""
        self.steps = []
        with self.night(**settings) as night:  # type: ignore[arg-type]
            self.plan = night.planned([str(each) for each in origins], self.steps.append)
            return asyncio.run(night.worked(stopping=lambda: stopping, ended=lambda _: None))

    def actions(self) -> dict[str, str]:
        """What the last plan said, by the name of each file."""
        return {Path(step.item.origin).name: step.decision.action for step in self.steps}
