from __future__ import annotations

from repurpose.core.remembered import remembered


def test_one_object_is_worked_out_once() -> None:
    seen: list[int] = []

    def count(value: dict[str, int]) -> int:
        seen.append(len(value))
        return len(value)

    known, value = remembered(count), {"a": 1}
    assert [known(value), known(value)] == [1, 1]
    assert seen == [1]


def test_equal_objects_are_told_apart_since_one_of_them_may_change() -> None:
    known = remembered(lambda value: value["a"])
    first = {"a": 1}
    assert known(first) == 1
    assert known({"a": 2}) == 2
    assert known({"a": 1}) is known(first)


def test_a_value_that_was_freed_is_never_taken_for_a_new_one_at_its_address() -> None:
    known = remembered(lambda value: value[0])
    assert [known([number]) for number in range(1000)] == list(range(1000))
