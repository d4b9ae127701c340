"""Small PDF files, written out by hand: one line of text below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Text = str | tuple[str, float]
"""A line, or a line and the size of its letters; an empty line leaves a gap."""


def pdf_of(
    pages: Sequence[Sequence[Text]],
    info: Mapping[str, str] | None = None,
    *,
    catalog: str = "",
    contents: Mapping[int, bytes] | None = None,
) -> bytes:
    """A PDF file with these pages in Helvetica.

    `info` goes to the document information, `catalog` to the catalogue as it stands, and
    `contents` stands for the content streams of the pages with these numbers, from 0.
    """
    objects: dict[int, bytes] = {}
    kids = " ".join(f"{10 + 2 * at} 0 R" for at in range(len(pages)))
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode("latin-1")
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = (
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    named = " ".join(f"/{key} ({_escaped(value)})" for key, value in (info or {}).items())
    objects[4] = f"<< {named} >>".encode("cp1252")
    for at, lines in enumerate(pages):
        objects[10 + 2 * at] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            b"/Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>" % (11 + 2 * at)
        )
        stream = (contents or {}).get(at, _stream(lines))
        objects[11 + 2 * at] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
    return _file(objects)


def _stream(lines: Sequence[Text]) -> bytes:
    drawn = ["BT", "72 780 Td"]
    for line in lines:
        text, size = (line, 11.0) if isinstance(line, str) else line
        drawn.append(f"/F1 {size} Tf ({_escaped(text)}) Tj 0 {-1.3 * size:.1f} Td")
    return "\n".join([*drawn, "ET"]).encode("cp1252")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _file(objects: Mapping[int, bytes]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    for number in sorted(objects):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, objects[number])
    start, count = len(out), max(objects) + 1
    out += b"xref\n0 %d\n" % count
    for number in range(count):
        used = number in places
        out += b"%010d %05d %s \n" % (
            places.get(number, 0),
            0 if used else 65535,
            b"fn"[used : used + 1],
        )
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        count,
        start,
    )
    return bytes(out)
