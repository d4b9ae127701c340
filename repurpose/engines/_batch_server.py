"""Speaks to the files and batches endpoints of an OpenAI-compatible server.

Paths and shapes as in OpenAI's reference (2026-11). What can be asked twice without harm is sent
again as often as a live call; the one request that costs money, `create`, is sent once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import aiohttp

from repurpose.core.profile import Profile
from repurpose.engines._batch_lines import ENDPOINT, Told, told_from
from repurpose.engines._gate import Fault, Gate, Patience, Transport
from repurpose.engines._openai_connections import StatusError, sessions
from repurpose.engines._openai_faults import Party, fault_of
from repurpose.engines._openai_reply import decoded, error_object
from repurpose.engines._openai_requests import Address
from repurpose.engines._per_loop import PerLoop
from repurpose.errors import BrokenReply, NeverStarted
from repurpose.ports import Clock

__all__ = ["METADATA_KEY", "BatchServer", "batch_server"]

METADATA_KEY = "repurpose_batch"
"""Under which our id stands in a batch's metadata."""

_TRANSFER_SECONDS = 1800.0
"""For a file of up to 200 MB to go up, or for its answers to come down."""
_PAGE = 100
"""Batches in one answer to a list: the most that OpenAI gives."""
_MOST_PAGES = 100
_CHUNK = 1 << 16
"""Bytes read at once."""

T = TypeVar("T")


def batch_server(
    *,
    url: str,
    model: str,
    clock: Clock,
    api_key: str | None,
    key_variable: str,
    timeout: float,
    profile: Profile,
    patience: Patience = Patience(),  # noqa: B008 - it is frozen
    jitter: Callable[[], float] = random.random,
) -> BatchServer:
    """The server at `url`, for batches of requests to `model`.

    Raises:
        UsageError: `url` is no http or https address.
    """
    address = Address.of(url)
    gate = Gate(clock, jitter, patience)
    small = Transport(address.host, gate, clock, jitter, patience, address.unreachable_hint)
    large = replace(patience, deadline=max(patience.deadline, _TRANSFER_SECONDS))
    return BatchServer(
        address=address,
        party=Party(address.host, model, key_variable, timeout, api_key, profile),
        clock=clock,
        sessions=sessions(address.url, api_key, is_openai=address.is_openai),
        once=replace(small, patience=replace(patience, budget=1)),
        small=small,
        large=replace(small, patience=large),
    )


@dataclass(frozen=True, slots=True)
class BatchServer:
    """Files and batches at one address. Every method raises `EngineError` where it fails."""

    address: Address
    party: Party
    clock: Clock
    sessions: PerLoop[aiohttp.ClientSession]
    once: Transport
    """Gives up at the first loss; a rate limit is waited for, since it means not accepted."""
    small: Transport
    large: Transport

    async def close(self) -> None:
        """Close the connections."""
        await self.sessions.close()

    async def upload(self, path: Path, name: str) -> str:
        """The provider's id of the file that was sent."""

        async def send(left: float) -> str:
            with path.open("rb") as file, aiohttp.MultipartWriter("form-data") as form:
                _field(form, "purpose", b"batch")
                part = form.append(file, {"Content-Type": "application/jsonl"})
                part.set_content_disposition("form-data", name="file", filename=name)
                body = await self._json(
                    "POST",
                    "files",
                    min(left, _TRANSFER_SECONDS),
                    data=form,
                    headers={"Content-Type": form.content_type},
                )
            file_id = body.get("id") if isinstance(body, Mapping) else None
            if not isinstance(file_id, str) or not file_id:
                raise BrokenReply(f"{self.party.server} answered without a file", status=200)
            return file_id

        return await self._delivered(self.large, send, "no files are taken at this address")

    async def create(self, file_id: str, ours: str, digest: str) -> Told:
        """A new batch of the requests in a file, which bears our id in its metadata.

        Sent once: where the answer is lost, nobody knows whether there is such a batch, and only
        `found` tells.
        """

        async def send(left: float) -> Told:
            body = await self._json(
                "POST",
                "batches",
                min(left, self.party.timeout),
                json={
                    "input_file_id": file_id,
                    "endpoint": ENDPOINT,
                    "completion_window": "24h",
                    "metadata": {METADATA_KEY: ours, "sha256": digest},
                },
            )
            return told_from(body, self.party.server, METADATA_KEY)

        return await self._delivered(self.once, send, "no batches are made at this address")

    async def found(self, ours: str) -> Told | None:
        """The batch that bears our id, or None where the provider has none.

        Raises:
            BrokenReply: the list has no end that we reach, so that nobody can know.
        """
        after: str | None = None
        for _ in range(_MOST_PAGES):
            page, after = await self._page(after)
            for told in page:
                if told.ours == ours:
                    return told
            if after is None:
                return None
        raise BrokenReply(f"{self.party.server} lists too many batches to find ours among them")

    async def told(self, batch_id: str) -> Told:
        """What the provider tells of a batch now."""

        async def send(left: float) -> Told:
            path = f"batches/{quote(batch_id, safe='')}"
            body = await self._json("GET", path, min(left, self.party.timeout))
            return told_from(body, self.party.server, METADATA_KEY)

        return await self._delivered(self.small, send, "it has no such batch for this key")

    async def download(self, file_id: str, path: Path) -> None:
        """Write a file of the provider's to `path`."""

        async def send(left: float) -> None:
            url = f"{self.address.url.rstrip('/')}/files/{quote(file_id, safe='')}/content"
            session = await self.sessions.client()
            async with (
                asyncio.timeout(min(left, _TRANSFER_SECONDS)),
                session.get(url, allow_redirects=False) as response,
            ):
                await _refuse_status(response)
                with path.open("wb") as file:
                    async for chunk in response.content.iter_chunked(_CHUNK):
                        file.write(chunk)

        await self._delivered(self.large, send, "it has no such file any more")

    async def _page(self, after: str | None) -> tuple[list[Told], str | None]:
        """Some batches, and what the next ones come after; None where there are no more."""

        async def send(left: float) -> tuple[list[Told], str | None]:
            marks = {"limit": str(_PAGE), **({"after": after} if after else {})}
            seconds = min(left, self.party.timeout)
            body = await self._json("GET", "batches", seconds, params=marks)
            entries = body.get("data") if isinstance(body, Mapping) else None
            if not isinstance(body, Mapping) or not isinstance(entries, list):
                raise BrokenReply(f"{self.party.server} answered without a list", status=200)
            page = [told_from(each, self.party.server, METADATA_KEY) for each in entries]
            more = bool(body.get("has_more")) and bool(page)
            return page, page[-1].batch_id if more else None

        return await self._delivered(self.small, send, "no batches are listed at this address")

    async def _json(
        self,
        method: str,
        path: str,
        seconds: float,
        **options: Any,  # noqa: ANN401 - those of aiohttp
    ) -> object:
        """The JSON that a request is answered with."""
        url = f"{self.address.url.rstrip('/')}/{path}"
        session = await self.sessions.client()
        async with (
            asyncio.timeout(seconds),
            session.request(method, url, allow_redirects=False, **options) as response,
        ):
            await _refuse_status(response)
            content = await response.read()
        kind = response.headers.get("content-type", "")
        return decoded(content, server=self.party.server, status=response.status, kind=kind)

    async def _delivered(
        self, transport: Transport, send: Callable[[float], Awaitable[T]], absent: str
    ) -> T:
        """What `send` returns; `absent` says in our words what a 404 means here."""
        try:
            value, _ = await transport.deliver(send, self._fault_of)
        except NeverStarted as error:
            if error.status not in (404, 405):
                raise
            raise NeverStarted(
                f"{self.party.server}: {absent} (status {error.status})",
                hint="check --base-url and the key; not every server has provider batches",
                status=error.status,
            ) from error
        return value

    def _fault_of(self, error: Exception) -> Fault:
        return fault_of(error, self.party, self.clock.now())


def _field(form: aiohttp.MultipartWriter, name: str, value: bytes) -> None:
    part = form.append(value)
    part.set_content_disposition("form-data", name=name)
    del part.headers["Content-Type"]  # a plain field has none


async def _refuse_status(response: aiohttp.ClientResponse) -> None:
    if not 200 <= response.status < 300:
        told = error_object(await response.read())
        raise StatusError(response.status, response.headers, told)
