"""Files that are sent: bounded, under names of our own, and gone when they were used."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from repurpose.web.uploads import MOST_BYTES

MD = b"# Owls\n\nOwls sleep by day."


@pytest.fixture
def send(asking: Any) -> Callable[..., Any]:
    def sent(content: bytes = MD, name: str = "owls.md", field: str = "file") -> Any:
        return asking.client.post(
            "/api/uploads",
            files={field: (name, content)},
            headers={"X-CSRF-Token": asking.csrf},
        )

    return sent


def test_a_file_is_sent_planned_and_run(asking: Any, send: Callable[..., Any]) -> None:
    kept = send().json()
    assert (kept["name"], kept["bytes"]) == ("owls.md", len(MD))
    wish = {"upload": kept["upload"], "formats": ["faq"]}
    plan = asking.post("/api/plan", wish)
    assert plan["source"]["title"] == "Owls"
    again = asking.post("/api/plan", {**wish, "formats": ["summary"]})
    run = asking.post("/api/runs", {"plan": again["plan"]}, 202)["run"]
    asking.ended(run)
    assert asking.get(f"/api/runs/{run}")["run"]["origin"] == "owls.md"
    assert asking.refused("POST", "/api/plan", 404, wish)["field"] == "upload"


def test_a_file_lies_in_a_private_folder_under_a_random_name(
    asking: Any, send: Callable[..., Any]
) -> None:
    kept = send(name="../../../etc/cron.d/evil.md").json()
    uploads = asking.client.app.site.uploads
    (file,) = uploads._folder.iterdir()
    assert file.name == kept["upload"]
    assert len(file.name) == 32
    assert kept["name"] == "evil.md"
    assert stat.S_IMODE(uploads._folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_files_are_gone_when_the_server_is(asking: Any, send: Callable[..., Any]) -> None:
    send()
    folder = asking.client.app.site.uploads._folder
    asking.client.app.site.uploads.close()
    assert not folder.exists()


def test_a_file_is_gone_after_an_hour(opened: Callable[..., Any]) -> None:
    now = [0.0]
    asking = opened(seconds=lambda: now[0])
    headers = {"X-CSRF-Token": asking.csrf}
    kept = asking.client.post("/api/uploads", files={"file": ("a.md", MD)}, headers=headers).json()
    folder = asking.client.app.site.uploads._folder
    assert len(list(folder.iterdir())) == 1
    now[0] = 3600.0
    error = asking.refused("POST", "/api/plan", 404, {"upload": kept["upload"]})
    assert error["hint"] == "send the file again"
    assert not list(folder.iterdir())


def test_only_the_newest_files_are_kept(asking: Any, send: Callable[..., Any]) -> None:
    ids = [send().json()["upload"] for _ in range(25)]
    assert len(asking.client.app.site.uploads) == 20
    asking.refused("POST", "/api/plan", 404, {"upload": ids[0]})
    asking.post("/api/plan", {"upload": ids[-1]})


@pytest.mark.parametrize("size", [MOST_BYTES + 1, MOST_BYTES + 1_000_000])
def test_a_file_that_is_too_large_is_refused_and_not_kept(
    asking: Any, send: Callable[..., Any], size: int
) -> None:
    answer = send(b"a" * size)
    assert answer.status_code == 413
    assert "20 MB" in answer.json()["error"]["message"]
    assert len(asking.client.app.site.uploads) == 0


def test_a_body_is_counted_whatever_it_says_of_its_length(asking: Any) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        while sent < 10 * MOST_BYTES:
            sent += 1_000_000
            yield b"a" * 1_000_000

    headers = {"X-CSRF-Token": asking.csrf, "Content-Type": "multipart/form-data; boundary=b"}
    answer = asking.client.post("/api/uploads", content=endless(), headers=headers)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/json", 415),
        (b"a", "multipart/form-data", 400),
        (b"a", "multipart/form-data; boundary=b", 400),
        (b"--b\r\nContent-Disposition: form-data\r\n\r\na\r\n--b--\r\n", "b", 400),
        (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n--b--\r\n', "b", 422),
        (b"--b\r\n" + b"X: y\r\n" * 10_000 + b"\r\na\r\n--b--\r\n", "b", 400),
    ],
)
def test_what_is_no_form_with_a_file_is_refused(
    asking: Any, content: bytes, kind: str, status: int
) -> None:
    kind = "multipart/form-data; boundary=b" if kind == "b" else kind
    headers = {"X-CSRF-Token": asking.csrf, "Content-Type": kind}
    answer = asking.client.post("/api/uploads", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert "Traceback" not in answer.text


def test_two_files_are_one_too_many(asking: Any) -> None:
    files = [("file", ("a.md", MD)), ("file", ("b.md", MD))]
    answer = asking.client.post("/api/uploads", files=files, headers={"X-CSRF-Token": asking.csrf})
    assert answer.status_code == 400


def test_a_file_in_another_field_is_none(send: Callable[..., Any]) -> None:
    assert send(field="other").status_code == 422


@pytest.mark.parametrize(
    ("content", "name"),
    [(b"\x00\x01\x02\x03" * 100, "a.bin"), (b"%PDF-1.7 broken", "a.pdf"), (b"", "a.md")],
)
def test_a_file_that_cannot_be_read_is_told_in_one_line(
    asking: Any, send: Callable[..., Any], content: bytes, name: str
) -> None:
    kept = send(content, name).json()
    error = asking.refused("POST", "/api/plan", 422, {"upload": kept["upload"]})
    assert error["field"] == "upload"
    assert "/tmp" not in error["message"]


def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(
    asking: Any, send: Callable[..., Any]
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", b"<a>" + b" " * 120_000_000)
    kept = send(packed.getvalue(), "bomb.docx").json()
    error = asking.refused("POST", "/api/plan", 413, {"upload": kept["upload"]})
    assert error["kind"] == "source"


def test_a_file_never_makes_a_request_of_its_own(
    asking: Any, send: Callable[..., Any], root: Path
) -> None:
    feed = (
        b'<?xml version="1.0"?><rss version="2.0"><channel><title>F</title><item><title>I</title>'
        b"<link>http://127.0.0.1:1/a</link><description>Owls sleep by day and hunt by night."
        b"</description></item></channel></rss>"
    )
    kept = send(feed, "feed.xml").json()
    plan = asking.post("/api/plan", {"upload": kept["upload"], "formats": ["faq"]})
    assert plan["source"]["kind"] == "feed"
