"""Whether a webhook is from the one who knows our secret, and was sent just now.

The scheme is Standard Webhooks, symmetric (https://www.standardwebhooks.com, its specification of
2023), which OpenAI signs with: HMAC-SHA256 over `id.timestamp.body`, in base64 behind `v1,`. The
body is the bytes as they came; a JSON value read and written again has another signature.

Not the package `standardwebhooks`: it has a clock of its own, signs another moment than the header
gives where that has a fraction, and ends in foreign exceptions at a malformed signature or body.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from repurpose.errors import UsageError
from repurpose.schema.intake import IntakeError, decode

__all__ = ["SECRET_VARIABLE", "TOLERANCE_SECONDS", "Secret", "WebhookRefused", "object_of"]

SECRET_VARIABLE = "OPENAI_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
"""As OpenAI's own library names it."""
TOLERANCE_SECONDS = 300
"""How far the moment of signing may be from ours, both ways; the scheme's own."""

_PREFIX = "whsec_"
_VERSION = "v1,"
_ID = re.compile(r"[!-~]{1,256}")
_SECONDS = re.compile(r"[0-9]{1,12}")
_OBJECT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


class WebhookRefused(Exception):  # noqa: N818 - not an error of ours
    """A post that proves nothing. The message is safe to show and says nothing of the secret."""


@dataclass(frozen=True, slots=True)
class Secret:
    """What a provider signs its webhooks with."""

    key: bytes = field(repr=False)

    @classmethod
    def of(cls, text: str) -> Secret:
        """The secret as the provider shows it: `whsec_` and base64, else the characters.

        Raises:
            UsageError: it is empty, or not base64 behind `whsec_`.
        """
        plain = text.strip()
        key = plain.encode("utf-8", "surrogateescape")
        if plain.startswith(_PREFIX):
            try:
                key = base64.b64decode(plain.removeprefix(_PREFIX), validate=True)
            except (binascii.Error, ValueError):
                key = b""
        if not key:
            raise UsageError(
                f"{SECRET_VARIABLE} is no secret of a webhook",
                hint="copy it as the provider shows it: whsec_ and base64",
            )
        return cls(key)

    def verified(self, headers: Mapping[str, str], body: bytes, now: float) -> str:
        """The event's id, of a body that was signed with this secret within the tolerance.

        One that is sent again keeps its id. `headers` are found by names in lower case.

        Raises:
            WebhookRefused: a header is missing or malformed, the moment of signing is too far
                from `now`, in seconds since 1970, or no signature fits.
        """
        event_id = headers.get("webhook-id", "")
        moment = headers.get("webhook-timestamp", "")
        signatures = headers.get("webhook-signature", "")
        if not (_ID.fullmatch(event_id) and _SECONDS.fullmatch(moment) and signatures):
            raise WebhookRefused("the headers of a signed webhook are missing or malformed")
        if abs(now - int(moment)) > TOLERANCE_SECONDS:
            raise WebhookRefused("it was not signed within the last minutes")
        if not self._fits(signatures, f"{event_id}.{moment}.".encode() + body):
            raise WebhookRefused("the signature does not fit")
        return event_id

    def _fits(self, signatures: str, signed: bytes) -> bool:
        """Whether one of the signatures is ours; several stand there while a secret changes.

        The comparison takes the same time wherever two signatures begin to differ.
        """
        mac = hmac.new(self.key, signed, hashlib.sha256).digest()
        ours = base64.b64encode(mac)
        given = [each for each in signatures.split() if each.startswith(_VERSION)]
        return any(
            hmac.compare_digest(ours, each.removeprefix(_VERSION).encode("utf-8", "replace"))
            for each in given
        )


def object_of(body: bytes) -> str | None:
    """The id of what an event tells of, its `data.id`; None where it tells of nothing.

    >>> object_of(b'{"type": "batch.completed", "data": {"id": "batch_1"}}')
    'batch_1'
    """
    try:
        event = decode(body.decode("utf-8"))
    except (UnicodeDecodeError, IntakeError):
        return None
    told = event.get("data") if isinstance(event, dict) else None
    found = told.get("id") if isinstance(told, dict) else None
    return found if isinstance(found, str) and _OBJECT_ID.fullmatch(found) else None
