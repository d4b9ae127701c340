"""Voices as a settings file declares them: `[voices.acme]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from repurpose.config._file import NAME, ConfigFile
from repurpose.config._keys import nearest, shown
from repurpose.core.voice import Voice
from repurpose.errors import UsageError

__all__ = ["voice_named"]

_MOST_BYTES = 1_000_000


def voice_named(name: str, file: ConfigFile | None) -> Voice:
    """The voice that a file declares under this name, with its sample files read.

    Raises:
        UsageError: there is none, and the message names the nearest; or a sample file cannot be
            read.
    """
    voices = file.tables.get("voices", {}) if file else {}
    if file is None or name not in voices:
        meant = nearest(name, voices)
        advice = f"; did you mean {shown(meant)}?" if meant else ""
        known = ", ".join(map(shown, voices)) or "none"
        where = str(file.path) if file else f"a {NAME}, which is not found"
        raise UsageError(
            f"no voice {shown(name)!r}{advice}",
            hint=f"declare it as [voices.{shown(name)}] in {where}; there are: {known}",
        )
    return _voice(name, voices[name], file.folder)


def _voice(name: str, table: Mapping[str, object], folder: Path) -> Voice:
    """The voice of a checked table."""

    def text(key: str) -> str | None:
        value = table.get(key)
        return value.strip() or None if isinstance(value, str) else None

    def texts(key: str) -> tuple[str, ...]:
        value = table.get(key, ())
        return tuple(map(str, value)) if isinstance(value, list) else ()

    files = (_sample(name, folder / path) for path in texts("sample_files"))
    return Voice(
        name=name,
        audience=text("audience"),
        tone=text("tone"),
        banned=tuple(dict.fromkeys(map(str.strip, texts("banned")))),
        disclaimer=text("disclaimer"),
        names=tuple(dict.fromkeys(map(str.strip, texts("names")))),
        samples=(*texts("samples"), *files),
    )


def _sample(name: str, path: Path) -> str:
    spoken = f"voice {shown(name)}: sample file {path}"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UsageError(f"{spoken} is larger than {_MOST_BYTES:,} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{spoken} is not UTF-8 text") from None
    except (OSError, ValueError) as fault:
        raise UsageError(f"{spoken} cannot be read: {_reason(fault)}") from None
    if not text.strip():
        raise UsageError(f"{spoken} is empty")
    return text


def _reason(fault: Exception) -> str:
    return (fault.strerror if isinstance(fault, OSError) else None) or "no such file"
