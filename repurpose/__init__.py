"""One long text in; executive summary, FAQ, social posts and newsletter out, checked and stored.

    from repurpose import FaqGenerator, load, run

    source = load("article.md")
    print(FaqGenerator().generate(source).text)
    result = run(source, ["summary", "social"])

Importing this package loads no model library and no database; each name brings what it needs
when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from repurpose.api.adapters import load, open_store
    from repurpose.api.generators import (
        FaqGenerator,
        Generator,
        NewsletterGenerator,
        Result,
        SocialGenerator,
        SummaryGenerator,
    )
    from repurpose.api.replaying import replay
    from repurpose.api.runs import arun, run
    from repurpose.core.call import Call, Reply, Usage
    from repurpose.core.envelope import Envelope
    from repurpose.core.policy import RetryPolicy
    from repurpose.core.result import FormatResult, RunResult
    from repurpose.core.source import Source
    from repurpose.errors import RepurposeError
    from repurpose.ports import Engine

__version__ = "0.1.0"

_HOMES = {
    "Call": "repurpose.core.call",
    "Engine": "repurpose.ports",
    "Envelope": "repurpose.core.envelope",
    "FaqGenerator": "repurpose.api.generators",
    "FormatResult": "repurpose.core.result",
    "Generator": "repurpose.api.generators",
    "NewsletterGenerator": "repurpose.api.generators",
    "Reply": "repurpose.core.call",
    "RepurposeError": "repurpose.errors",
    "Result": "repurpose.api.generators",
    "RetryPolicy": "repurpose.core.policy",
    "RunResult": "repurpose.core.result",
    "SocialGenerator": "repurpose.api.generators",
    "Source": "repurpose.core.source",
    "SummaryGenerator": "repurpose.api.generators",
    "Usage": "repurpose.core.call",
    "arun": "repurpose.api.runs",
    "load": "repurpose.api.adapters",
    "open_store": "repurpose.api.adapters",
    "replay": "repurpose.api.replaying",
    "run": "repurpose.api.runs",
}
"""Where each public name lives."""

__all__ = [
    "Call",
    "Engine",
    "Envelope",
    "FaqGenerator",
    "FormatResult",
    "Generator",
    "NewsletterGenerator",
    "Reply",
    "RepurposeError",
    "Result",
    "RetryPolicy",
    "RunResult",
    "SocialGenerator",
    "Source",
    "SummaryGenerator",
    "Usage",
    "__version__",
    "arun",
    "load",
    "open_store",
    "replay",
    "run",
]


def __getattr__(name: str) -> object:
    """Load a public name's module when the name is first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
