"""From the tables of the settings to endpoints that can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import repurpose
from endpoint_servers import workflow
from repurpose.api._endpoints import _is_here, endpoint_chosen, endpoint_engine_for
from repurpose.api.runs import run
from repurpose.config import Settings
from repurpose.core.endpoint import Endpoint
from repurpose.core.source import Source
from repurpose.engines.endpoint import endpoint_engine
from repurpose.errors import UsageError
from repurpose.ports import Store
from repurpose.prices import own_price
from scripted_endpoints import ScriptedWire, answer

CALLS_BACK = {"completion": {"mode": "callback"}}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    tables = {"writer": {"base_url": "http://agents.example"}}
    return Settings(database=tmp_path / "a.db", engine="endpoint:writer", endpoints=tables)


def test_the_endpoint_is_the_one_that_the_engine_names(settings: Settings) -> None:
    assert endpoint_chosen(settings).base_url == "http://agents.example"


def test_one_that_is_not_declared_is_told_with_those_that_are(settings: Settings) -> None:
    with pytest.raises(UsageError, match="no endpoint 'desk'") as raised:
        endpoint_chosen(replace(settings, engine="endpoint:desk"))
    assert "there are: writer" in (raised.value.hint or "")
    with pytest.raises(UsageError) as raised:
        endpoint_chosen(replace(settings, endpoints={}))
    assert "there are: none" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:9000", True),
        ("http://127.3.2.1", True),
        ("http://[::1]:9000", True),
        ("https://localhost/a", True),
        ("http://writer.localhost:1", True),
        ("http://10.0.0.1", False),
        ("http://0.0.0.0", False),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
    ],
)
def test_only_an_endpoint_of_this_machine_can_post_to_loopback(url: str, here: bool) -> None:
    assert _is_here(url) is here


@pytest.mark.parametrize(
    ("url", "base_url", "refused"),
    [
        ("http://127.0.0.1:9000", None, False),
        ("http://agents.example", "https://desk.example/in", False),
        ("http://agents.example", None, True),
    ],
)
def test_one_that_calls_back_needs_an_address_that_it_can_reach(
    url: str,
    base_url: str | None,
    refused: bool,
    settings: Settings,
    clock: Any,
    new_id: Callable[[], str],
) -> None:
    tables = {"writer": {"base_url": url, **CALLS_BACK}}
    settings = replace(settings, endpoints=tables, callback_base_url=base_url)

    def made() -> object:
        return endpoint_engine_for(settings, clock=clock, new_id=new_id, environment={})

    if not refused:
        assert made()
        assert not settings.database.exists()
        return
    with pytest.raises(UsageError, match="callback_base_url"):
        made()


def test_what_it_cost_is_known_where_there_is_a_price_and_its_result_has_counts(
    settings: Settings,
    store: Store,
    clock: Any,
    new_id: Callable[[], str],
    golden: Callable[[str], Any],
) -> None:
    result = {"answer": golden("summary"), "usage": {"in": 1000, "out": 100}}
    paths = {"prompt_tokens": "usage.in", "completion_tokens": "usage.out"}
    writer = Endpoint("writer", "http://agents.example", result_path="answer", usage=paths)
    wire = ScriptedWire(answer(result))
    engine = endpoint_engine(writer, clock=clock, new_id=new_id, environment={}, wire=wire)
    priced = {"writer": own_price("writer", input=1.0, output=10.0)}
    made = run(
        Source("A ferry sank.", "ferry.md", "markdown", language="en"),
        ["summary"],
        engine=engine,
        store=store,
        settings=replace(settings, prices=priced, max_cost=1.0, output_tokens=500),
    )
    assert made.usage.cost.known == pytest.approx(0.002)
    assert made.usage.cost.unknown == 0


def test_a_program_gives_a_generator_the_endpoint_of_its_settings(
    tmp_path: Path, root: Path
) -> None:
    with workflow() as service:
        file = tmp_path / "repurpose.toml"
        file.write_text(
            f'[endpoints.writer]\nbase_url = "{service.url}"\nsubmit = "/write"\n'
            'result_path = "output"\nbody = {text = "{{prompt}}"}\n',
            encoding="utf-8",
        )
        engine = repurpose.engine_for(
            repurpose.read_settings({}, config=file, engine="endpoint:writer")
        )
        result = repurpose.SummaryGenerator(engine).generate(
            repurpose.load(root / "fixtures" / "sources" / "article.md")
        )
    assert result.envelope.status == 200
    assert result.text.startswith("The public library of Halvik")
