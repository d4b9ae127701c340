"""The page with an endpoint of the operator's own as the writer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from endpoint_servers import workflow
from repurpose.config import Settings

WRITER = {
    "submit": "/jobs",
    "correlate": "returned:job.id",
    "result_path": "output.text",
    "completion": {
        "mode": "poll",
        "status_path": "/jobs/{id}",
        "done": {"field": "state", "equals": "completed"},
        "interval": 0.01,
    },
}


@pytest.fixture
def written(settings: Settings) -> Settings:
    table = {"base_url": "http://127.0.0.1:1", **WRITER}
    return replace(settings, engine="endpoint:writer", endpoints={"writer": table})


def test_a_run_of_the_page_is_written_by_the_endpoint_and_again_by_it(
    opened: Callable[..., Any], written: Settings
) -> None:
    with workflow() as service:
        table = {"base_url": service.url, **WRITER}
        asking = opened(replace(written, endpoints={"writer": table}))
        run = asking.finished({"formats": ["summary"]})
        assert "endpoint writer" in json.dumps(asking.get(f"/api/runs/{run}"))
        path = f"/api/runs/{run}/sections/summary/regenerate"
        asking.post(path, {"instruction": "shorter"}, 202)
        asking.ended(run)
        assert len(service.asked) == 2
        assert "shorter" in json.dumps(service.asked[1])


def test_no_model_is_chosen_where_an_endpoint_writes(
    opened: Callable[..., Any], written: Settings
) -> None:
    asking = opened(written)
    error = asking.refused("POST", "/api/runs", 422, {"text": "A ferry.", "model": "gpt-4.1"})
    assert "endpoint:writer" in error["message"]


def test_the_start_page_names_the_endpoint_and_has_no_model_to_choose(
    opened: Callable[..., Any], written: Settings
) -> None:
    asking = opened(written)
    page = asking.client.get("/").text
    assert asking.get("/api/choices")["endpoint"] == "writer"
    assert "Written by your own service <strong>writer</strong>" in page
    assert 'id="model"' not in page
