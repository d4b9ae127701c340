"""What is done to every valid answer before it is published: fitting, and a look at its quality.

`fitting` trims, drops, caps and cuts. `quality` finds what no schema can rule out: loops, copies,
echoes of the task, placeholders, the wrong language.
"""

from __future__ import annotations

from repurpose.checks.fitting import (
    MAX_HASHTAGS,
    MAX_PAIRS,
    MAX_SENTENCES,
    FittedPost,
    capped,
    fit_post,
    non_blank,
    normalised_hashtags,
    one_line,
    trimmed,
)

__all__ = [
    "MAX_HASHTAGS",
    "MAX_PAIRS",
    "MAX_SENTENCES",
    "FittedPost",
    "capped",
    "fit_post",
    "non_blank",
    "normalised_hashtags",
    "one_line",
    "trimmed",
]
