"""What viewers of a run are told: as it is written, after a lost connection, after a restart."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from repurpose.config import Settings
from repurpose.core.sections import SectionStates, in_order, reduced
from repurpose.engines.scripted import scripted_engine
from repurpose.web.hub import Viewer
from web_server import Slow, events_in, serving

PAIRS = [{"question": f"What is asked {n}?", "answer": f"Answer number {n}."} for n in range(3)]
REPLY = json.dumps({"pairs": PAIRS})
PIECES = [REPLY[at : at + 12] for at in range(0, len(REPLY), 12)]
FAQ = {"text": "Owls sleep by day.", "formats": ["faq"]}


def until(lines: Iterator[tuple[int, str, Any]], wanted: str) -> list[tuple[int, str, Any]]:
    """The lines up to the first of a type."""
    seen = []
    for line in lines:
        seen.append(line)
        if line[1] == wanted:
            return seen
    raise AssertionError(f"no {wanted} came, but {[kind for _, kind, _ in seen]}")


def told_at_once(asking: Any, run: str, last: str = "") -> list[tuple[int, str, Any]]:
    """All lines of a run that is over."""
    answer = asking.client.get(f"/api/runs/{run}/events?until=end", headers={"Last-Event-ID": last})
    return list(events_in(iter(answer.text.splitlines())))


def states_of(lines: list[tuple[int, str, Any]]) -> SectionStates:
    states: SectionStates = {}
    for _, kind, payload in lines:
        states = reduced(states, {"type": kind, "stream": "s", "payload": payload}, "s")
    return states


def text_of(lines: list[tuple[int, str, Any]]) -> str:
    return in_order(states_of(lines))[0].accumulated_text


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    """One server with a slow model for many tests."""
    slow = Slow()
    database = tmp_path_factory.mktemp("patient") / "texts.db"
    with serving(Settings(database=database), engine=slow.engine()) as server:
        yield server, slow


@pytest.fixture
def live(patient: tuple[Any, Any], request: pytest.FixtureRequest) -> tuple[Any, Any, str]:
    """A server, its slow model, and a run that the model has begun to write."""
    server, slow = patient
    body = {**FAQ, "text": f"Owls sleep by day, says {request.node.name}."}
    return server, slow, server.asking.post("/api/runs", body, 202)["run"]


def test_a_section_fills_by_name_while_the_model_writes(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    with server.watching(run) as lines:
        slow.write(*PIECES[:3])
        begun = until(lines, "section_data")
        assert [kind for _, kind, _ in begun][-2:] == ["section_started", "section_data"]
        assert begun[-1][2]["sectionName"] == "faq"
        slow.write(*PIECES[3:])
        slow.end()
        rest = until(lines, "run_ended")
    assert [number for number, _, _ in begun + rest] == list(range(1, len(begun + rest) + 1))
    kinds = [kind for _, kind, _ in rest]
    assert kinds.count("section_data") > 3
    assert kinds[-2:] == ["section_completed", "run_ended"]
    final = rest[-2][2]["finalText"]
    assert "Answer number 2." in final
    assert text_of(begun + rest) == final
    assert rest[-1][2]["status"] == "done"


def test_a_viewer_who_joins_late_is_told_everything(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    with server.watching(run) as first:
        slow.write(*PIECES[:6])
        seen = until(first, "section_data")
        with server.watching(run) as second:
            slow.write(*PIECES[6:])
            slow.end()
            late = until(second, "run_ended")
        seen += until(first, "run_ended")
    assert late == seen


def test_a_lost_connection_goes_on_with_the_next_line(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    slow.write(*PIECES[:6])
    with server.watching(run) as lines:
        seen = until(lines, "section_data")
    slow.write(*PIECES[6:])
    with server.watching(run, last=str(seen[-1][0])) as lines:
        slow.end()
        rest = until(lines, "run_ended")
    assert rest[0][0] == seen[-1][0] + 1
    assert text_of(seen + rest) == rest[-2][2]["finalText"]


def test_a_number_that_nobody_gave_begins_anew(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    slow.write(*PIECES)
    slow.end()
    server.asking.ended(run)
    for last in ("999999", "-1", "x", "0", "1.5", "\u0663".encode(), "9" * 400):
        with server.watching(run, last=last) as lines:
            assert next(lines)[0] == 1


def test_a_connection_lost_before_the_end_is_made_whole_after_it(
    served: Callable[..., Any], slow: Any
) -> None:
    now = [0.0]
    server = served(engine=slow.engine(), seconds=lambda: now[0])
    run = server.asking.post("/api/runs", FAQ, 202)["run"]
    slow.write(*PIECES[:6])
    with server.watching(run) as lines:
        seen = until(lines, "section_data")
    slow.write(*PIECES[6:])
    slow.end()
    server.asking.ended(run)
    now[0] = 31.0
    server.app.site.hub.sweep()
    with server.watching(run, last=str(seen[-1][0])) as lines:
        rest = until(lines, "run_ended")
    assert len(rest) < 5  # what was written is merged when the run is over for a while
    assert text_of(seen + rest) == rest[-2][2]["finalText"]


def test_after_a_restart_a_run_is_told_from_its_rows(
    opened: Callable[..., Any], golden_engine: Any
) -> None:
    run = opened(engine=golden_engine).finished({"formats": ["summary", "social"]})
    second = opened(engine=golden_engine)  # another process would see the same file
    told = told_at_once(second, run, last="40")
    kinds = [kind for _, kind, _ in told]
    triple = ["section_started", "section_data", "section_completed"]
    assert kinds == triple * 4 + ["run_ended"]
    assert [number for number, _, _ in told] == list(range(1, 14))
    assert [payload["sectionName"] for _, kind, payload in told if kind == triple[0]] == [
        "summary",
        "social.linkedin",
        "social.x",
        "social.instagram",
    ]
    rows = {
        each["name"]: each["row"]["text"] for each in second.get(f"/api/runs/{run}")["sections"]
    }
    assert {name: state.accumulated_text for name, state in states_of(told).items()} == rows


def test_a_failed_format_is_told_after_a_restart(opened: Callable[..., Any]) -> None:
    run = opened(engine=scripted_engine(["no", "no"])).finished(FAQ)
    told = told_at_once(opened(), run)
    assert [kind for _, kind, _ in told] == ["progress", "run_ended"]
    assert told[0][2]["status"] == "failed"
    assert told[1][2]["status"] == "failed"


def test_later_changes_are_told_to_whoever_still_looks(
    served: Callable[..., Any], golden_engine: Any
) -> None:
    server = served(engine=golden_engine)
    run = server.asking.finished({"formats": ["summary"]})
    row = server.asking.get(f"/api/runs/{run}")["sections"][0]["row"]["id"]
    with server.watching(run) as lines:
        until(lines, "run_ended")
        server.asking.post(f"/api/rows/{row}/edit", {"text": "Mine."})
        number, kind, payload = next(lines)
        assert (kind, payload) == ("row_changed", {"section": "summary"})
        server.asking.post(f"/api/runs/{run}/sections/summary/regenerate", {}, 202)
        again = until(lines, "row_changed")
    kinds = [each[1] for each in again if each[1] != "progress"]
    assert kinds[:-1] == ["section_started", "section_data", "section_completed"]
    assert [each[0] for each in again] == list(range(number + 1, number + 1 + len(again)))


def test_a_section_made_again_of_an_old_run_is_told_after_its_rows(
    served: Callable[..., Any], golden_engine: Any
) -> None:
    run = served(engine=golden_engine).asking.finished({"formats": ["summary"]})
    server = served(engine=golden_engine)
    with server.watching(run) as lines:
        told = until(lines, "run_ended")
        server.asking.post(f"/api/runs/{run}/sections/summary/regenerate", {}, 202)
        told += until(lines, "row_changed")
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1))


# --- many ---------------------------------------------------------------------------------------


def test_fifty_viewers_get_every_line_in_order(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    viewers = asyncio.run(_fifty(server, slow, run))
    assert len(viewers) == 50
    assert all(lines == viewers[0] for lines in viewers)
    assert [number for number, _ in viewers[0]] == list(range(1, len(viewers[0]) + 1))
    assert viewers[0][-1][1] == "run_ended"
    assert len(viewers[0]) > len(PIECES)


async def _fifty(server: Any, slow: Any, run: str) -> list[list[tuple[int, str]]]:
    """What fifty viewers hear, of whom each joins before the model writes."""
    joined = asyncio.Semaphore(0)

    async def watch() -> list[tuple[int, str]]:
        port = int(server.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        ask = f"GET /api/runs/{run}/events?until=end HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        writer.write(ask.encode())
        heard: list[tuple[int, str]] = []
        number = 0
        async for raw in reader:
            line = raw.decode().strip()
            if line.startswith("retry:"):
                joined.release()
            elif line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith("event: "):
                heard.append((number, line[7:]))
            if line.startswith("data: ") and heard[-1][1] == "run_ended":
                break
        writer.close()
        return heard

    tasks = [asyncio.ensure_future(watch()) for _ in range(50)]
    for _ in range(50):
        await joined.acquire()
    slow.write(*PIECES)
    slow.end()
    return list(await asyncio.gather(*tasks))


def test_a_viewer_who_reads_nothing_holds_nobody_up(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    port = int(server.url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as stalled:
        stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ask = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n"
        stalled.sendall(ask.encode())
        big = json.dumps({"pairs": [{"question": "Why?", "answer": "word " * 400_000}]})
        slow.write(*(big[at : at + 50_000] for at in range(0, len(big), 50_000)))
        slow.end()
        slow.write(*PIECES)  # for the repair
        slow.end()
        with server.watching(run, until_end=True) as lines:
            told = until(lines, "run_ended")
    assert told[-1][1] == "run_ended"


def test_a_viewer_who_leaves_frees_everything(live: tuple[Any, Any, str]) -> None:
    server, slow, run = live
    hub = server.app.site.hub
    before = server.in_loop(lambda: len(asyncio.all_tasks()))
    gc.collect()
    known = sum(isinstance(each, Viewer) for each in gc.get_objects())
    port = int(server.url.rpartition(":")[2])
    ask = f"GET /api/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    for each in sockets:
        each.sendall(ask)
        assert each.recv(10)
    assert server.in_loop(lambda: len(hub.found(run).viewers)) == 20
    for each in sockets:
        each.close()
    _until(lambda: server.in_loop(lambda: len(hub.found(run).viewers)) == 0)
    _until(lambda: server.in_loop(lambda: len(asyncio.all_tasks())) <= before)
    gc.collect()
    assert sum(isinstance(each, Viewer) for each in gc.get_objects()) <= known
    slow.write(*PIECES)
    slow.end()
    server.asking.ended(run)


def test_a_run_that_nobody_looks_at_leaves_the_memory(
    served: Callable[..., Any], golden_engine: Any
) -> None:
    now = [0.0]
    server = served(engine=golden_engine, seconds=lambda: now[0])
    hub = server.app.site.hub
    run = server.asking.finished(FAQ)
    # The one that waited for its end is gone a moment after it has read it.
    _until(lambda: not hub.found(run).viewers and not hub.found(run).busy)
    hub.sweep()
    assert hub.found(run) is not None  # for viewers that lost their connection
    now[0] = 121.0
    hub.sweep()
    assert hub.found(run) is None
    with server.watching(run) as lines:
        until(lines, "run_ended")
        assert hub.found(run) is not None
    _until(lambda: hub.found(run) is None)
    assert len(hub) == 0


def test_a_server_that_closes_sends_its_viewers_away(served: Callable[..., Any], slow: Any) -> None:
    server = served(engine=slow.engine())
    run = server.asking.post("/api/runs", FAQ, 202)["run"]
    ended = threading.Event()

    def watch() -> None:
        with server.watching(run) as lines:
            for _ in lines:
                pass
        ended.set()

    thread = threading.Thread(target=watch)
    thread.start()
    _until(lambda: server.app.site.hub.found(run).viewers)
    server.loop.call_soon_threadsafe(server.app.site.hub.close)
    thread.join(5)
    assert ended.is_set()
    slow.end()
    slow.end()  # for the repair


def _until(true: Callable[[], Any]) -> None:
    import time

    for _ in range(300):
        if true():
            return
        time.sleep(0.01)  # noqa: TID251 - a thread of the server's is waited for
    raise AssertionError("it did not come to that")
