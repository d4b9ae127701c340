"""One variable for each setting, over the file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.config import KEYS, ConfigFile, Settings, from_environment, origins
from repurpose.errors import UsageError


def test_every_setting_has_a_variable_of_its_own() -> None:
    variables = [key.environment for key in KEYS.values()]
    assert len(set(variables)) == len(variables)
    assert {"REPURPOSE_DB", "REPURPOSE_FORMATS", "REPURPOSE_MAX_ATTEMPTS"} <= set(variables)


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("REPURPOSE_DB", "a.db", "database", Path("a.db")),
        ("REPURPOSE_FORMATS", "faq, summary", "formats", ("faq", "summary")),
        ("REPURPOSE_THREAD", "yes", "thread", True),
        ("REPURPOSE_BRIEF", "0", "no_brief", True),
        ("REPURPOSE_TIMEOUT", "2.5", "timeout", 2.5),
        ("REPURPOSE_MAX_OUTPUT_TOKENS", "800", "output_tokens", 800),
        ("REPURPOSE_LIMIT", "3", "entries", 3),
        ("REPURPOSE_ON_FAILURE", "abort", "on_failure", "abort"),
        ("REPURPOSE_TIMEOUT", " ", "timeout", 120.0),
    ],
)
def test_a_variable_sets_its_field(variable: str, text: str, field: str, value: object) -> None:
    assert getattr(from_environment({variable: text}), field) == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("REPURPOSE_TIMEOUT", "soon"),
        ("REPURPOSE_TIMEOUT", "nan"),
        ("REPURPOSE_TIMEOUT", "1_0"),
        ("REPURPOSE_CONCURRENCY", "1.5"),
        ("REPURPOSE_THREAD", "perhaps"),
        ("REPURPOSE_VARIANTS", "6"),
        ("REPURPOSE_LANGUAGE", "German"),
        ("REPURPOSE_ON_FAILURE", "stop"),
        ("REPURPOSE_MAX_ATTEMPTS", "0"),
    ],
)
def test_a_value_that_cannot_be_used_names_its_variable(variable: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"^{variable} must be "):
        from_environment({variable: text})


def test_both_counts_in_the_environment_contradict_each_other() -> None:
    both = {"REPURPOSE_MAX_ATTEMPTS": "2", "REPURPOSE_MAX_RETRIES": "1"}
    with pytest.raises(UsageError, match="say the same thing"):
        from_environment(both)


def test_a_variables_count_is_over_the_files_other_spelling() -> None:
    file = ConfigFile(Path("/x/repurpose.toml"), {"retry.max_attempts": 5})
    assert from_environment({"REPURPOSE_MAX_RETRIES": "0"}, file=file).retry.max_attempts == 1


def test_rules_of_platforms_are_merged_one_by_one() -> None:
    tables = {"platforms": {"Mastodon": {"limit": 1000, "max_links": 2}}}
    file = ConfigFile(Path("/x/repurpose.toml"), {}, tables)
    chosen = from_environment({"REPURPOSE_LIMITS": "mastodon.limit=700"}, file=file)
    assert chosen.limits == {"mastodon": {"limit": 700, "max_links": 2}}


def test_each_setting_says_where_it_comes_from() -> None:
    file = ConfigFile(Path("/x/repurpose.toml"), {"timeout": 5, "tone": "dry", "model": "m"})
    environment = {"REPURPOSE_TONE": "warm", "OPENAI_API_KEY": "sk-hunter2"}
    found = {each.key: each for each in origins(environment, file, model="mine")}
    told = {key: (found[key].value, found[key].layer, found[key].where) for key in found}
    assert told["timeout"] == (5, "file", "/x/repurpose.toml")
    assert told["tone"] == ("warm", "environment", "REPURPOSE_TONE")
    assert told["model"] == ("mine", "flag", "--model")
    assert told["concurrency"] == (4, "default", "")
    assert told["key"] == ("set", "environment", "OPENAI_API_KEY")
    assert "hunter2" not in repr(found)
    assert set(KEYS) - {"retry.max_retries"} <= set(found)


@given(st.dictionaries(st.sampled_from([key.environment for key in KEYS.values()]), st.text()))
def test_any_environment_gives_settings_or_a_usage_error(environment: dict[str, str]) -> None:
    environment.pop("REPURPOSE_VOICE", None)
    with suppress(UsageError):
        assert isinstance(from_environment(environment), Settings)
