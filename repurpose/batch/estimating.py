"""What a plan takes: calls, tokens and dollars, at least, as expected, and at worst.

Sizes are estimates in tokens (`text/tokens.py`). A price that is not known stays unknown and is
never counted as nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from repurpose.api._reading import briefing_for, context_tokens
from repurpose.batch.making import Making
from repurpose.contexts import output_of
from repurpose.core.call import Usage
from repurpose.core.json_types import JsonObject
from repurpose.core.source import Source
from repurpose.ports import Observed
from repurpose.prices import FREE_ENGINES, cost_of, most_cost, price_of
from repurpose.steps.job import Job
from repurpose.steps.parts import parts_of
from repurpose.steps.reading import Window, foreseen
from repurpose.text.tokens import IN_HAND, token_weight

__all__ = ["ASSUMED_REPAIRS", "Estimator", "Take", "Takes"]

ASSUMED_REPAIRS = 0.05
"""Calls that ask again, as a share of the others, where none has been observed yet."""
_ANSWER = 700
"""Tokens of an answer, where none has been observed yet; also what briefs are planned with."""
_LONGEST_ANSWER = 16_384
"""The most that an answer is planned with where neither the user nor our table names a limit."""
_CORRECTION = 1_000
"""Tokens that findings and the rejected answer add to a prompt: 2,000 characters and the rest."""
_ANY = 10**9


@dataclass(slots=True)
class Take:
    """A sum of calls with what they take."""

    calls: float = 0
    tokens: float = 0
    """Prompts and replies together."""
    cost: float = 0
    """US dollars, of the calls whose price is known."""
    unpriced: float = 0
    """Calls whose price is not known."""

    def add(self, calls: float, usage: Usage, cost: float | None) -> None:
        """So many calls more, each of this size and cost."""
        self.calls += calls
        self.tokens += calls * ((usage.prompt_tokens or 0) + (usage.completion_tokens or 0))
        if cost is None:
            self.unpriced += calls
        else:
            self.cost += calls * cost

    def plus(self, other: Take) -> None:
        """The same with all of another one."""
        self.calls += other.calls
        self.tokens += other.tokens
        self.cost += other.cost
        self.unpriced += other.unpriced

    def to_json(self) -> JsonObject:
        """For programs; the cost is null where a part of it is not known."""
        return {
            "calls": round(self.calls),
            "tokens": round(self.tokens),
            "cost": None if self.unpriced else round(self.cost, 6),
        }


@dataclass(slots=True)
class Takes:
    """The three cases."""

    least: Take = field(default_factory=Take)
    """No answer is asked for again."""
    expected: Take = field(default_factory=Take)
    """As many are asked for again as were so far."""
    worst: Take = field(default_factory=Take)
    """Each one is, as often as it may be, with the longest answer that it may have."""

    def plus(self, other: Takes) -> None:
        """The same with all of another one."""
        self.least.plus(other.least)
        self.expected.plus(other.expected)
        self.worst.plus(other.worst)

    def to_json(self) -> JsonObject:
        """For programs."""
        cases = {"least": self.least, "expected": self.expected, "worst": self.worst}
        return {name: case.to_json() for name, case in cases.items()}


@dataclass(frozen=True, slots=True)
class _Shape:
    """What one format's calls have in common."""

    overhead: float
    """Tokens of a prompt beside the source."""
    answer: float
    longest: int
    attempts: int
    repairs: float


class Estimator:
    """Estimates items one by one."""

    def __init__(self, making: Making, observed: Mapping[str, Observed]) -> None:
        self._making = making
        engine, settings = making.engine, making.settings
        self.observed = sum(each.calls for each in observed.values())
        repairs = sum(each.repairs for each in observed.values())
        first = self.observed - repairs
        self.repairs = repairs / first if first else ASSUMED_REPAIRS
        """Calls that ask again, as a share of the others."""
        if engine.extractive:
            self.repairs = 0.0
        endpoint = engine.parameters.get("endpoint")
        self._endpoint = endpoint if isinstance(endpoint, str) else None
        self._own = settings.prices.get(engine.model or "")
        self.is_free = engine.extractive or engine.name in FREE_ENGINES
        window = Window(_ANY, None, engine.schema_in_prompt)
        self._shapes = {
            job.format.name: self._shape(job, window, observed) for job in making.probes
        }
        size = None if engine.extractive else context_tokens(engine, settings)
        self._room: float | None = None
        self._window: Window | None = None
        if size is not None:
            self._window = Window(size, output_of(engine.model), engine.schema_in_prompt)
            self._room = min(self._window.spare(job.first) for job in making.probes)

    def of(self, source: Source, names: Sequence[str]) -> Takes:
        """What these formats of a source take, if each is asked for.

        Raises:
            SourceError: it is too long and must not be read in parts.
            UsageError: nothing would fit beside the prompts.
        """
        takes = Takes()
        if not names:
            return takes
        text = token_weight(source.text)
        if self._room is not None and text > self._room:
            text = self._read_in_parts(source, names, takes)
        for name in names:
            self._add(self._shapes[name], text, 1, takes)
        return takes

    def _shape(self, job: Job, window: Window, observed: Mapping[str, Observed]) -> _Shape:
        seen = observed.get(job.format.name)
        settings, engine = self._making.settings, self._making.engine
        answer = seen.completion_tokens if seen else None
        longest = settings.output_tokens or output_of(engine.model) or _LONGEST_ANSWER
        return _Shape(
            overhead=window.overhead(job.first),
            answer=_ANSWER if answer is None else answer,
            longest=longest,
            attempts=1 if engine.extractive else job.policy.max_attempts,
            repairs=self.repairs,
        )

    def _add(self, shape: _Shape, text: float, calls: float, takes: Takes) -> None:
        sent = shape.overhead + text
        usage = _usage(sent, shape.answer)
        takes.least.add(calls, usage, self._cost(usage))
        takes.expected.add(calls * (1 + shape.repairs), usage, self._cost(usage))
        most = _usage(sent * IN_HAND, shape.longest)
        takes.worst.add(calls, most, self._most(most))
        if shape.attempts > 1:
            # An answer cut at the user's budget is asked for again with twice as much.
            double = 2 if self._making.settings.output_tokens else 1
            again = _usage((sent + _CORRECTION) * IN_HAND, double * shape.longest)
            takes.worst.add(calls * (shape.attempts - 1), again, self._most(again))

    def _read_in_parts(self, source: Source, names: Sequence[str], takes: Takes) -> float:
        """Add the calls that read a long source; returns how long its brief will be."""
        making = self._making
        jobs = making.jobs(source, names)
        briefing = briefing_for(
            jobs,
            lambda whole: making.jobs(whole, names),
            making.engine,
            making.settings,
            report=lambda _: None,
        )
        if briefing is None or self._window is None:
            return token_weight(source.text)
        found = parts_of(source, briefing.room())
        parts = [briefing.part_job(part, "").first for part in found]
        ahead = foreseen(self._window, parts, 0, [job.first for job in jobs])
        calls = max(1, ahead.calls - len(jobs))
        text = min(token_weight(source.text), max(self._room or 0, 1) / 2)
        each = (ahead.tokens - len(jobs) * (text + _ANSWER)) / calls - _ANSWER
        longest = max(shape.longest for shape in self._shapes.values())
        attempts = briefing.policy.max_attempts
        shape = _Shape(max(each, 0), _ANSWER, longest, attempts, self.repairs)
        self._add(shape, 0, calls, takes)
        return text

    def _cost(self, usage: Usage) -> float | None:
        if self.is_free:
            return 0.0
        return cost_of(usage, self._making.engine.model, self._endpoint, self._own)

    def _most(self, usage: Usage) -> float | None:
        """The cost where a provider's cache only costs: writing to it may be charged for."""
        price = self._own or price_of(self._making.engine.model, self._endpoint)
        if self.is_free:
            return 0.0
        if price is None:
            return None
        most = most_cost(price, usage.prompt_tokens or 0, usage.completion_tokens or 0)
        return None if most is None else float(most)


def _usage(prompt: float, answer: float) -> Usage:
    return Usage(round(prompt), round(answer), cache_write_tokens=0)
