"""A real agent of the user's, asked once: the check that no server of ours can replace.

    REPURPOSE_LIVE_CONFIG=~/repurpose.toml REPURPOSE_LIVE_ENGINE=endpoint:writer \\
        python -m pytest -m live

It sends the article of the fixtures to that agent, which may cost money.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from repurpose.api.adapters import open_store
from repurpose.cli import main

CONFIG, ENGINE = os.environ.get("REPURPOSE_LIVE_CONFIG"), os.environ.get("REPURPOSE_LIVE_ENGINE")


@pytest.mark.live
@pytest.mark.skipif(
    not (CONFIG and ENGINE), reason="REPURPOSE_LIVE_CONFIG and REPURPOSE_LIVE_ENGINE name no agent"
)
def test_the_agent_writes_a_summary_that_is_kept(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    article, database = str(root / "fixtures" / "sources" / "article.md"), tmp_path / "texts.db"
    chosen = ["--engine", str(ENGINE), "--config", str(CONFIG), "--db", str(database)]
    arguments = ["repurpose", "run", article, "--formats", "summary", *chosen]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    store = open_store(database)
    (row,) = store.rows(store.run("last").id)
    store.close()
    assert row.status == "done"
