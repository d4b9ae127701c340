"""Who wins, field by field: flags, then a format's own settings, then environment and file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from repurpose.api.runs import job_for, run
from repurpose.config import ConfigFile, Settings, from_environment
from repurpose.core.policy import RetryOverrides, RetryPolicy
from repurpose.core.source import Source
from repurpose.core.steering import Steering
from repurpose.engines.scripted import scripted_engine
from repurpose.formats import declared_format
from repurpose.ports import Store

SOURCE = Source(
    text="Kestrels hover over the ring road.", origin="a.md", kind="text", language="en"
)


def settings(
    file: dict[str, object], environment: dict[str, str] | None = None, **flags: object
) -> Settings:
    said = ConfigFile(Path("/x/repurpose.toml"), file)
    return from_environment(environment or {}, file=said, database=":memory:", **flags)


def policy(chosen: Settings, own: RetryOverrides | None = None) -> RetryPolicy:
    """What holds for a format with these settings of its own."""
    format = declared_format(
        "meta",
        prompt="Write.",
        outputs=[{"name": "n", "type": "number", "required": True}],
        retry=own or RetryOverrides(),
    )
    return job_for(format, SOURCE, Steering(), chosen, None).policy


@dataclass(frozen=True)
class Case:
    """What each place says, and what holds in the end."""

    expected: int | bool
    own: dict[str, Any] = field(default_factory=dict)
    file: dict[str, object] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    flags: dict[str, object] = field(default_factory=dict)


ATTEMPTS = {
    "nobody says anything": Case(2),
    "file over code": Case(4, file={"retry.max_attempts": 4}),
    "file in the other spelling": Case(4, file={"retry.max_retries": 3}),
    "environment over file": Case(
        3, file={"retry.max_attempts": 4}, environment={"REPURPOSE_MAX_ATTEMPTS": "3"}
    ),
    "environment in the other spelling": Case(
        1, file={"retry.max_attempts": 4}, environment={"REPURPOSE_MAX_RETRIES": "0"}
    ),
    "format over file": Case(5, own={"max_attempts": 5}, file={"retry.max_attempts": 4}),
    "format over environment": Case(
        5, own={"max_attempts": 5}, environment={"REPURPOSE_MAX_ATTEMPTS": "3"}
    ),
    "flag over file": Case(1, file={"retry.max_attempts": 4}, flags={"max_attempts": 1}),
    "flag over format": Case(1, own={"max_attempts": 5}, flags={"max_attempts": 1}),
    "flag over all": Case(
        2,
        own={"max_attempts": 5},
        file={"retry.max_attempts": 4},
        environment={"REPURPOSE_MAX_ATTEMPTS": "3"},
        flags={"max_attempts": 2},
    ),
    "a format that sets something else falls through": Case(
        4, own={"on_parse": False}, file={"retry.max_attempts": 4}
    ),
}


@pytest.mark.parametrize("case", ATTEMPTS.values(), ids=ATTEMPTS)
def test_who_decides_the_number_of_attempts(case: Case) -> None:
    chosen = settings(case.file, case.environment, **case.flags)
    assert policy(chosen, RetryOverrides(**case.own)).max_attempts == case.expected


@pytest.mark.parametrize(
    "switch",
    ["on_parse", "on_missing_required", "on_type_mismatch", "on_unusable", "on_quality"],
)
@pytest.mark.parametrize("own", [None, True, False])
@pytest.mark.parametrize("said", [None, True, False])
def test_who_decides_each_switch(switch: str, own: bool | None, said: bool | None) -> None:
    chosen = settings({} if said is None else {f"retry.{switch}": said})
    expected = next(
        each for each in (own, said, getattr(RetryPolicy(), switch)) if each is not None
    )
    held = policy(chosen, RetryOverrides(**{switch: own}))
    assert getattr(held, switch) is expected
    # No other field is touched.
    assert held == RetryPolicy().layered(RetryOverrides(**{switch: expected}))


def test_a_policy_given_by_a_program_is_over_everything() -> None:
    chosen = settings({"retry.max_attempts": 4}, max_attempts=3)
    job = job_for("faq", SOURCE, Steering(), chosen, RetryPolicy(max_attempts=5))
    assert job.policy.max_attempts == 5


@pytest.mark.parametrize(
    ("file", "environment", "flags", "calls"),
    [
        ({}, {}, {}, 2),
        ({"retry.max_attempts": 3}, {}, {}, 3),
        ({"retry.max_attempts": 3, "retry.on_parse": False}, {}, {}, 1),
        ({"retry.max_attempts": 3}, {"REPURPOSE_ON_PARSE": "no"}, {}, 1),
        ({"retry.max_attempts": 3}, {}, {"max_attempts": 1}, 1),
        ({"retry.max_retries": 0}, {}, {}, 1),
    ],
)
def test_the_settings_decide_how_many_calls_are_made(
    file: dict[str, object],
    environment: dict[str, str],
    flags: dict[str, object],
    calls: int,
    store: Store,
) -> None:
    engine = scripted_engine(["no JSON at all"], repeat_last=True)
    chosen = settings(file, environment, **flags)
    result = run(SOURCE, ["faq"], engine=engine, store=store, settings=chosen)
    assert (len(engine.calls), result.exit_code) == (calls, 4)


OTHERS: dict[str, tuple[object, str, object, str]] = {
    "timeout": (5, "6", 7.0, "timeout"),
    "concurrency": (5, "6", 7, "concurrency"),
    "language": ("de", "fr", "it", "language"),
    "tone": ("a", "b", "c", "tone"),
    "model": ("a", "b", "c", "model"),
    "run.variants": (2, "3", 4, "variants"),
    "run.formats": (("faq",), "summary", ("social",), "formats"),
    "retry.on_failure": ("abort", "skip", "abort", "on_failure"),
}


@pytest.mark.parametrize("key", OTHERS)
def test_every_other_setting_is_the_flags_then_the_environments_then_the_files(key: str) -> None:
    of_file, of_environment, of_flag, name = OTHERS[key]
    variable = f"REPURPOSE_{key.rpartition('.')[2].upper()}"
    environment = {variable: of_environment}

    def value(*args: Any, **flags: object) -> object:
        return getattr(settings(*args, **flags), name)

    assert value({key: of_file}) == of_file
    over: Callable[[object], object] = type(of_file)
    spoken = (of_environment,) if over is tuple else over(of_environment)
    assert value({key: of_file}, environment) == spoken
    assert value({key: of_file}, environment, **{name: of_flag}) == of_flag
