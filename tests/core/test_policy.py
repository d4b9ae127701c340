"""How often a format may be asked again."""

from __future__ import annotations

import pytest

from repurpose.core.finding import Finding, FindingKind
from repurpose.core.policy import RetryOverrides, RetryPolicy, attempts_from
from repurpose.errors import UsageError


def test_the_default_is_one_call_and_one_repair_with_every_switch_on() -> None:
    assert RetryPolicy() == RetryPolicy(
        max_attempts=2,
        on_parse=True,
        on_missing_required=True,
        on_type_mismatch=True,
        on_unusable=False,
        on_quality=True,
    )


@pytest.mark.parametrize("attempts", [0, 6, -1, True])
def test_attempts_outside_one_to_five_are_refused(attempts: int) -> None:
    with pytest.raises(UsageError, match="1 to 5"):
        RetryPolicy(max_attempts=attempts)


@pytest.mark.parametrize(
    ("switch", "kind"),
    [
        ("on_parse", "parse"),
        ("on_missing_required", "missing_required"),
        ("on_type_mismatch", "type_mismatch"),
        ("on_quality", "quality"),
    ],
)
def test_each_switch_turns_off_its_own_kind_only(switch: str, kind: FindingKind) -> None:
    policy = RetryPolicy().layered(RetryOverrides(**{switch: False}))
    kinds: list[FindingKind] = [
        "parse",
        "missing_required",
        "type_mismatch",
        "constraint",
        "quality",
    ]
    repaired = {each for each in kinds if policy.repairs([Finding(each, "", "wrong")])}
    assert repaired == set(kinds) - {kind}


def test_one_enabled_kind_among_several_is_enough_for_a_round() -> None:
    policy = RetryPolicy(on_parse=False)
    mixed = [Finding("parse", "", "wrong"), Finding("type_mismatch", "a", "wrong")]
    assert policy.repairs(mixed)


def test_an_unusable_answer_is_asked_again_only_where_a_format_opts_in() -> None:
    finding = Finding("unusable", "", "nothing left")
    assert not RetryPolicy().repairs([finding])
    assert RetryPolicy(on_unusable=True).repairs([finding])


def test_layers_fall_through_field_by_field() -> None:
    format_level = RetryOverrides(on_parse=False)
    file_level = RetryOverrides(on_parse=True, max_attempts=3)
    assert RetryPolicy().layered(format_level, file_level) == RetryPolicy(
        max_attempts=3, on_parse=False
    )


def test_retries_are_attempts_less_one() -> None:
    assert attempts_from(max_attempts=None, max_retries=2) == 3
    assert attempts_from(max_attempts=4, max_retries=None) == 4
    assert attempts_from(max_attempts=None, max_retries=None) is None


def test_both_spellings_at_once_are_a_configuration_error() -> None:
    with pytest.raises(UsageError, match="max_attempts and max_retries"):
        attempts_from(max_attempts=2, max_retries=1)
