"""What is done to every valid answer before it is published: caps, and a look at its quality.

`lists` says how much of a list is published. `quality` finds what no schema can rule out: loops,
copies, echoes of the task, placeholders, the wrong language. What a platform lets through is known
to `repurpose.platforms`.
"""

from __future__ import annotations

from repurpose.checks.lists import MAX_PAIRS, MAX_SENTENCES, capped
from repurpose.text.trimming import non_blank, one_line, trimmed

__all__ = ["MAX_PAIRS", "MAX_SENTENCES", "capped", "non_blank", "one_line", "trimmed"]
