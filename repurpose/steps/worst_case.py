"""The most that one call can take, in tokens and money, before it is sent.

The worst case of a prompt has the estimate's error in hand, and that of a reply is the budget that
the model is given, or else its largest reply. What nobody knows is None, and never a guess.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from decimal import Decimal

from repurpose.core.call import Call
from repurpose.core.json_types import JsonObject
from repurpose.core.remembered import remembered
from repurpose.prices import Price, most_cost
from repurpose.text.tokens import IN_HAND, token_weight

__all__ = ["Load", "call_load", "load_cost"]

_FRAME = 16
"""What servers put around two messages."""


@dataclass(frozen=True, slots=True)
class Load:
    """What one call takes at most, in tokens.

    >>> Load(1200, 700).tokens, Load(1200, None).tokens
    (1900, None)
    """

    prompt: int
    reply: int | None
    """None where nobody knows how long it may be."""

    @property
    def tokens(self) -> int | None:
        """Prompt and reply together."""
        return None if self.reply is None else self.prompt + self.reply


def call_load(call: Call, largest_reply: int | None, factor: float = 1.0) -> Load:
    """What a call takes at most, sent once.

    `largest_reply` is the model's, None where not known. `factor` is how many of the model's
    tokens one of our estimate was seen to be. The schema is counted wherever it is sent: some
    servers put it into the prompt beside the one that stands there.
    """
    schema = _schema_weight(call.wire) if call.wire else 0
    estimate = token_weight(call.system) + token_weight(call.user) + schema + _FRAME
    known = [size for size in (call.output_tokens, largest_reply) if size is not None]
    return Load(math.ceil(IN_HAND * factor * estimate), min(known) if known else None)


def load_cost(load: Load, price: Price | None, *, batch: bool = False) -> Decimal | None:
    """The most that a load costs in US dollars, however a cache behaves; None where not known."""
    if price is None or load.reply is None:
        return None
    return most_cost(price, load.prompt, load.reply, batch=batch)


@remembered
def _schema_weight(wire: JsonObject) -> float:
    return token_weight(json.dumps(wire, ensure_ascii=False))
