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
    from repurpose.api.adapters import engine_for, open_store
    from repurpose.api.budgeting import budgeted
    from repurpose.api.composing import Deliverable, acompose, compose
    from repurpose.api.generators import (
        FaqGenerator,
        Generator,
        NewsletterGenerator,
        Result,
        SocialGenerator,
        SummaryGenerator,
    )
    from repurpose.api.inspecting import inspect_source
    from repurpose.api.loading import Loaded, LoadOptions, load, load_all
    from repurpose.api.replaying import replay
    from repurpose.api.revising import (
        approve,
        aregenerate,
        difference,
        edit,
        regenerate,
        release,
        restore,
    )
    from repurpose.api.runs import arun, run
    from repurpose.api.validating import validate
    from repurpose.config import Settings, read_settings
    from repurpose.core.budget import Budget
    from repurpose.core.call import Call, Reply, Usage
    from repurpose.core.composite import Composite, Section, composite_from
    from repurpose.core.envelope import Envelope
    from repurpose.core.finding import Validation
    from repurpose.core.outputs import aggregate, flattened, resolve, source_envelope
    from repurpose.core.paths import MISSING
    from repurpose.core.policy import RetryPolicy
    from repurpose.core.result import FormatResult, RunResult, outputs_of
    from repurpose.core.source import Source
    from repurpose.core.voice import Voice
    from repurpose.errors import BudgetReached, RepurposeError
    from repurpose.fetching.web import Web
    from repurpose.formats import Formats, declared_format, formats_in, known_formats
    from repurpose.formats.base import Format
    from repurpose.ports import Engine

__version__ = "0.1.0"

_HOMES = {
    "Budget": "repurpose.core.budget",
    "BudgetReached": "repurpose.errors",
    "Call": "repurpose.core.call",
    "Composite": "repurpose.core.composite",
    "Deliverable": "repurpose.api.composing",
    "Engine": "repurpose.ports",
    "Envelope": "repurpose.core.envelope",
    "FaqGenerator": "repurpose.api.generators",
    "Format": "repurpose.formats.base",
    "FormatResult": "repurpose.core.result",
    "Formats": "repurpose.formats",
    "Generator": "repurpose.api.generators",
    "LoadOptions": "repurpose.api.loading",
    "Loaded": "repurpose.api.loading",
    "MISSING": "repurpose.core.paths",
    "NewsletterGenerator": "repurpose.api.generators",
    "Reply": "repurpose.core.call",
    "RepurposeError": "repurpose.errors",
    "Result": "repurpose.api.generators",
    "RetryPolicy": "repurpose.core.policy",
    "RunResult": "repurpose.core.result",
    "Section": "repurpose.core.composite",
    "Settings": "repurpose.config",
    "SocialGenerator": "repurpose.api.generators",
    "Source": "repurpose.core.source",
    "SummaryGenerator": "repurpose.api.generators",
    "Usage": "repurpose.core.call",
    "Validation": "repurpose.core.finding",
    "Voice": "repurpose.core.voice",
    "Web": "repurpose.fetching.web",
    "acompose": "repurpose.api.composing",
    "aggregate": "repurpose.core.outputs",
    "approve": "repurpose.api.revising",
    "aregenerate": "repurpose.api.revising",
    "arun": "repurpose.api.runs",
    "budgeted": "repurpose.api.budgeting",
    "compose": "repurpose.api.composing",
    "composite_from": "repurpose.core.composite",
    "declared_format": "repurpose.formats",
    "difference": "repurpose.api.revising",
    "edit": "repurpose.api.revising",
    "engine_for": "repurpose.api.adapters",
    "flattened": "repurpose.core.outputs",
    "formats_in": "repurpose.formats",
    "inspect_source": "repurpose.api.inspecting",
    "known_formats": "repurpose.formats",
    "load": "repurpose.api.loading",
    "load_all": "repurpose.api.loading",
    "open_store": "repurpose.api.adapters",
    "outputs_of": "repurpose.core.result",
    "read_settings": "repurpose.config",
    "regenerate": "repurpose.api.revising",
    "release": "repurpose.api.revising",
    "replay": "repurpose.api.replaying",
    "resolve": "repurpose.core.outputs",
    "restore": "repurpose.api.revising",
    "run": "repurpose.api.runs",
    "source_envelope": "repurpose.core.outputs",
    "validate": "repurpose.api.validating",
}
"""Where each public name lives."""

__all__ = [
    "MISSING",
    "Budget",
    "BudgetReached",
    "Call",
    "Composite",
    "Deliverable",
    "Engine",
    "Envelope",
    "FaqGenerator",
    "Format",
    "FormatResult",
    "Formats",
    "Generator",
    "LoadOptions",
    "Loaded",
    "NewsletterGenerator",
    "Reply",
    "RepurposeError",
    "Result",
    "RetryPolicy",
    "RunResult",
    "Section",
    "Settings",
    "SocialGenerator",
    "Source",
    "SummaryGenerator",
    "Usage",
    "Validation",
    "Voice",
    "Web",
    "__version__",
    "acompose",
    "aggregate",
    "approve",
    "aregenerate",
    "arun",
    "budgeted",
    "compose",
    "composite_from",
    "declared_format",
    "difference",
    "edit",
    "engine_for",
    "flattened",
    "formats_in",
    "inspect_source",
    "known_formats",
    "load",
    "load_all",
    "open_store",
    "outputs_of",
    "read_settings",
    "regenerate",
    "release",
    "replay",
    "resolve",
    "restore",
    "run",
    "source_envelope",
    "validate",
]


def __getattr__(name: str) -> object:
    """Load a public name's module when the name is first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
