"""Lines of a run and their viewers, without a server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from repurpose.core.sections import SectionStates, reduced
from repurpose.web.hub import Channel, Hub, Viewer
from repurpose.web.lines import numbered
from repurpose.web.streaming import EventStream

NAMES = ("faq", "social.x")


def channel() -> Channel:
    return Channel("run", whole=True, wake=lambda _: None)


def seen(viewer: Viewer) -> list[tuple[int, str, Any]]:
    """What a viewer is handed until there is nothing more."""
    found = []
    while portion := viewer.portion():
        for block in portion.decode().strip().split("\n\n"):
            told = dict(line.split(": ", 1) for line in block.split("\n"))
            payload = json.loads(told["data"])  # noqa: TID251 - our own
            found.append((int(told["id"]), told["event"], payload))
    return found


def tell_section(to: Channel, name: str, pieces: list[str]) -> None:
    to.tell("section_started", {"sectionName": name, "sectionIndex": 0, "totalSections": 1})
    for piece in pieces:
        to.tell("section_data", {"sectionName": name, "textDelta": piece})
    to.tell(
        "section_completed",
        {"sectionName": name, "finalText": "".join(pieces).upper(), "citations": []},
    )


def states(lines: list[tuple[int, str, Any]]) -> SectionStates:
    found: SectionStates = {}
    for _, kind, payload in lines:
        found = reduced(found, {"type": kind, "stream": "s", "payload": payload}, "s")
    return found


def test_a_line_break_in_a_text_cannot_end_a_line() -> None:
    (line,) = numbered([("section_data", {"textDelta": "a\n\ndata: b\r\nid: 9\u2028"})])
    encoded = line.encoded()
    assert encoded.count(b"\n") == 4
    assert b"\r" not in encoded


def test_half_a_character_does_no_harm() -> None:
    (line,) = numbered([("section_data", {"textDelta": "\ud800"})])
    line.encoded().decode()


def test_a_settled_channel_keeps_one_delta_of_many_and_its_numbers() -> None:
    told = channel()
    tell_section(told, "faq", ["a"] * 1000)
    told.settle()
    assert len(told) == 3
    viewer = Viewer(told, 0)
    lines = seen(viewer)
    assert [number for number, _, _ in lines] == [1, 1001, 1002]
    assert lines[1][2]["textDelta"] == "a" * 1000
    assert told.last == 1002


def test_a_section_told_again_is_kept_once() -> None:
    told = channel()
    for _ in range(30):
        tell_section(told, "faq", ["a", "b"])
        told.tell("row_changed", {"section": "faq"})
    told.settle()
    assert len(told) == 4
    assert [kind for _, kind, _ in seen(Viewer(told, 0))] == [
        "section_started",
        "section_data",
        "section_completed",
        "row_changed",
    ]


@given(
    pieces=st.lists(st.sampled_from(NAMES), max_size=30),
    cut=st.integers(0, 40),
    settled=st.booleans(),
)
def test_wherever_a_connection_is_cut_the_sections_come_out_the_same(
    pieces: list[str], cut: int, settled: bool
) -> None:
    told = channel()
    for name in NAMES:
        told.tell("section_started", {"sectionName": name, "sectionIndex": 0, "totalSections": 2})
    for place, name in enumerate(pieces):
        told.tell("section_data", {"sectionName": name, "textDelta": f"{place} "})
    for name in NAMES:
        text = " ".join(str(n) for n, each in enumerate(pieces) if each == name)
        told.tell("section_completed", {"sectionName": name, "finalText": text, "citations": []})
    whole = seen(Viewer(told, 0))
    first = [line for line in whole if line[0] <= cut]
    if settled:
        told.settle()
    rest = seen(Viewer(told, first[-1][0] if first else 0))
    assert states(first + rest) == states(whole)


def test_a_slow_viewer_is_handed_portions() -> None:
    told = channel()
    for _ in range(100):
        told.tell("section_data", {"sectionName": "faq", "textDelta": "x" * 10_000})
    viewer = Viewer(told, 0)
    portions = []
    while portion := viewer.portion():
        portions.append(len(portion))
    assert len(portions) > 2
    assert max(portions) < 300_000


def test_lines_from_many_threads_are_all_there_in_one_order() -> None:
    from threading import Thread

    told = channel()

    def tell(name: int) -> None:
        for place in range(200):
            told.tell("progress", {"from": name, "place": place})

    threads = [Thread(target=tell, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = seen(Viewer(told, 0))
    assert [number for number, _, _ in lines] == list(range(1, 801))
    for name in range(4):
        places = [each["place"] for _, _, each in lines if each["from"] == name]
        assert places == list(range(200))


def test_viewers_are_woken_once_for_many_lines() -> None:
    async def watched() -> int:
        hub = Hub(lambda: 0.0)
        loop = asyncio.get_running_loop()
        hub.open(loop)
        woken = 0
        told = hub.begin("run")
        calls: list[object] = []
        wake = loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *a: (calls.append(a), wake(*a))[1]  # type: ignore[method-assign, assignment, func-returns-value]
        viewer = hub.join(told)
        for _ in range(100):
            told.tell("progress", {})
        await asyncio.wait_for(viewer.woken.wait(), 1)
        woken = len(calls)
        del loop.call_soon_threadsafe
        return woken

    assert asyncio.run(watched()) == 1


def test_what_is_quiet_is_kept_alive_with_comments() -> None:
    async def watched() -> list[bytes]:
        hub = Hub(lambda: 0.0)
        hub.open(asyncio.get_running_loop())
        told = hub.begin("run")
        viewer = hub.join(told)
        stream = EventStream(hub, viewer, [], until_end=False, keep_alive=0.001)
        sent: list[bytes] = []

        async def send(message: Any) -> None:
            sent.append(message.get("body", b""))
            if len(sent) > 3:
                viewer.gone = True

        async def receive() -> Any:
            await asyncio.Event().wait()

        await stream({}, receive, send)
        assert not told.viewers
        return sent

    assert asyncio.run(watched())[2:4] == [b": still here\n\n"] * 2
