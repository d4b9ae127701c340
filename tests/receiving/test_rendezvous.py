"""What holds for posts and whoever waits for them, in one process and over a store."""

from __future__ import annotations

import asyncio
import threading
import time

from receivers import Meeting, QuickClock, post
from repurpose.ports.endpoints import Rendezvous
from repurpose.receiving.memory import MemoryRendezvous
from repurpose.receiving.tokens import key_of, new_token, ticket_at


def test_what_was_posted_before_the_wait_is_kept_and_comes_as_it_was(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        raw = b'{"a":  1,\xff "a": NaN}\r\n'
        assert await post(ticket.url, raw) == (202, {"accepted": True})
        assert await rendezvous.wait(ticket.key, 0) == raw

    meeting(test)


def test_whoever_waits_is_woken(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        waiting = asyncio.create_task(rendezvous.wait(ticket.key, 30))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        await post(ticket.url, b"done")
        assert await waiting == b"done"

    meeting(test)


def test_bodies_come_in_the_order_in_which_they_were_posted_and_each_once(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        for body in (b"working", b"still working", b"done"):
            await post(ticket.url, body)
        taken = [await rendezvous.wait(ticket.key, 0.05) for _ in range(4)]
        assert taken == [b"working", b"still working", b"done", None]

    meeting(test)


def test_the_body_of_another_ticket_wakes_nobody_and_stays(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        mine, other = await rendezvous.ticket(), await rendezvous.ticket()
        assert mine.url != other.url
        waiting = asyncio.create_task(rendezvous.wait(mine.key, 0.1))
        await post(other.url, b"theirs")
        assert await waiting is None
        assert await rendezvous.wait(other.key, 0) == b"theirs"

    meeting(test)


def test_nothing_posted_is_none_after_the_time(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        began = time.monotonic()
        assert await rendezvous.wait(ticket.key, 0.1) is None
        assert await rendezvous.wait("callback:nobody", 0.1) is None
        assert time.monotonic() - began >= 0.2

    meeting(test)


def test_of_two_posts_the_first_wins_and_the_second_is_taken_by_nobody(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        assert (await post(ticket.url, b"first"))[0] == 202
        assert (await post(ticket.url, b"second"))[0] == 202
        assert await rendezvous.wait(ticket.key, 0) == b"first"
        rendezvous.forget(ticket.key)
        assert await rendezvous.wait(ticket.key, 0) is None

    meeting(test)


def test_a_late_post_is_acknowledged_and_never_meets_the_next_attempt(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        first = await rendezvous.ticket()
        assert await rendezvous.wait(first.key, 0) is None
        rendezvous.forget(first.key)
        second = await rendezvous.ticket()
        assert (await post(first.url, b"late"))[0] == 202
        assert await rendezvous.wait(second.key, 0.05) is None
        assert await rendezvous.wait(first.key, 0.05) is None

    meeting(test)


def test_a_cancelled_wait_ends_at_once_and_takes_nothing(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        waiting = asyncio.create_task(rendezvous.wait(ticket.key, 60))
        await asyncio.sleep(0.02)
        waiting.cancel()
        (ended,) = await asyncio.gather(waiting, return_exceptions=True)
        assert isinstance(ended, asyncio.CancelledError)
        await post(ticket.url, b"later")
        assert await rendezvous.wait(ticket.key, 1) == b"later"

    meeting(test)


def test_a_wrong_token_is_answered_with_404_and_changes_nothing(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        ticket = await rendezvous.ticket()
        base = ticket.url.rpartition("/")[0]
        wrong = f"{base}/{new_token()}"
        assert (await post(wrong, b"guessed"))[0] == 404
        assert (await post(f"{base}/{ticket.key}", b"read in the database"))[0] == 404
        assert await rendezvous.wait(key_of(wrong.rpartition("/")[2]), 0) is None
        assert await rendezvous.wait(ticket.key, 0) is None

    meeting(test)


def test_an_address_is_256_random_bits_and_shown_nowhere(meeting: Meeting) -> None:
    async def test(rendezvous: Rendezvous) -> None:
        tickets = [await rendezvous.ticket() for _ in range(20)]
        tokens = {ticket.url.rpartition("/")[2] for ticket in tickets}
        assert len(tokens) == 20
        for ticket in tickets:
            token = ticket.url.rpartition("/")[2]
            assert len(token) == 43
            assert token not in repr(ticket)
            assert token not in ticket.key
            assert token not in repr(rendezvous)

    meeting(test)


def test_a_base_address_with_or_without_a_slash_gives_the_same_ticket() -> None:
    with_slash, without = (ticket_at(f"https://example.org{end}", "t") for end in ("/", ""))
    assert with_slash == without
    assert without.url == "https://example.org/callbacks/t"


# --- the receiver within a process --------------------------------------------------------------


def test_it_listens_on_loopback_from_its_first_ticket_until_it_is_closed() -> None:
    async def test() -> None:
        rendezvous = MemoryRendezvous(QuickClock())
        first, second = await asyncio.gather(rendezvous.ticket(), rendezvous.ticket())
        assert first.url.startswith("http://127.0.0.1:")
        assert first.url.split("/")[2] == second.url.split("/")[2]
        await rendezvous.close()
        await rendezvous.close()
        with_error = await asyncio.gather(post(first.url), return_exceptions=True)
        assert isinstance(with_error[0], OSError)
        again = await rendezvous.ticket()
        assert (await post(again.url))[0] == 202
        assert (await post(again.url.replace(again.url[-43:], first.url[-43:])))[0] == 404

    asyncio.run(test())  # and ends without a close, which leaves no socket open


def test_one_that_is_cancelled_while_it_begins_leaves_the_others_their_receiver() -> None:
    async def test() -> None:
        rendezvous = MemoryRendezvous(QuickClock())
        cancelled, other = (asyncio.create_task(rendezvous.ticket()) for _ in range(2))
        await asyncio.sleep(0)
        cancelled.cancel()
        ticket = await other
        assert (await post(ticket.url))[0] == 202
        await rendezvous.close()

    asyncio.run(test())


def test_each_event_loop_has_its_own_receiver() -> None:
    rendezvous = MemoryRendezvous(QuickClock())
    hosts: list[str] = []
    both = threading.Barrier(2)

    async def test() -> None:
        ticket = await rendezvous.ticket()
        hosts.append(ticket.url.split("/")[2])
        await asyncio.to_thread(both.wait, 10)
        assert (await post(ticket.url, b"mine"))[0] == 202
        assert await rendezvous.wait(ticket.key, 5) == b"mine"
        await asyncio.to_thread(both.wait, 10)
        await rendezvous.close()

    threads = [threading.Thread(target=asyncio.run, args=(test(),)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(set(hosts)) == 2
