"""Rich Text Format: what word processors save for each other."""

from __future__ import annotations

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._document import Declared, Piece, counted, source_of
from repurpose.sources._markup import markdown_of
from repurpose.sources._rtf_text import RtfReader
from repurpose.sources.base import MAX_BYTES, Raw, shown

__all__ = ["load"]

_MARK = b"{\\rtf"


def load(raw: Raw) -> Source:
    r"""A source from an RTF file, in whatever code pages its fonts are.

    Headings are known by their styles and outline levels. Footnotes stand at the end, their
    numbers in brackets. The date is that of the file's creation, as the file declares it.

    Raises:
        SourceError: `empty`, `corrupt`, `no-text` or `too-large`.
    """
    where, content = shown(raw.origin), raw.content.lstrip(b"\xef\xbb\xbf \t\r\n\x00")
    if len(content) > MAX_BYTES:
        raise SourceError(
            "too-large",
            f"{where}: larger than {MAX_BYTES // 1_000_000} MB; save it without pictures",
        )
    if not content:
        raise SourceError("empty", f"{where}: empty; there is nothing to work on")
    if not content.startswith(_MARK):
        raise _corrupt(where, "does not begin as RTF does")
    reader = RtfReader()
    try:
        reader.read(content)
    except ValueError as fault:
        raise _corrupt(where, str(fault)) from None
    warnings = [] if reader.whole else ["the file is cut short; its end is missing"]
    if reader.hidden:
        warnings.append(f"hidden text was left out: {counted(reader.hidden, 'piece')}")
    return source_of(
        raw,
        "rtf",
        [Piece(markdown_of(reader.tree.root))],
        Declared(reader.fields.get("title"), reader.fields.get("author"), _date(reader.fields)),
        hidden=reader.hidden,
        warnings=warnings,
    )


def _corrupt(where: str, reason: str) -> SourceError:
    return SourceError("corrupt", f"{where}: {reason}; save it again, as RTF or as .docx")


def _date(fields: dict[str, str]) -> str | None:
    if not {"y", "m", "d"} <= fields.keys():
        return None
    return f"{int(fields['y']):04}-{int(fields['m']):02}-{int(fields['d']):02}"
