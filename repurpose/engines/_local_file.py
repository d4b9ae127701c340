"""What can be told of a GGUF file without loading it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from repurpose.errors import UsageError

__all__ = ["ModelFile"]

_MAGIC = b"GGUF"
"""The first four bytes: ggml-org/ggml, docs/gguf.md, "File Structure"."""
_DIGESTED = 2**20
"""Bytes of the digest. They hold the name and the settings of a model; the whole may be 40 GB."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file that begins as a GGUF file does."""

    path: Path
    size: int
    """In bytes."""
    start_digest: str
    """16 hex digits of the SHA-256 of its first MB."""

    @property
    def name(self) -> str:
        """The file's own name; its folder is nobody's business."""
        return self.path.name

    @classmethod
    def at(cls, path: str | Path) -> ModelFile:
        """The file at `path`; a `~` at its beginning is the home directory.

        Raises:
            UsageError: it is missing, not readable or no GGUF file.
        """
        place = Path(path).expanduser()
        try:
            with place.open("rb") as file:
                start = file.read(_DIGESTED)
            size = place.stat().st_size
        except FileNotFoundError as error:
            raise UsageError(
                f"there is no model file {place}", hint="give --model local:PATH.gguf"
            ) from error
        except OSError as error:
            raise UsageError(
                f"the model file {place} cannot be read ({type(error).__name__})",
                hint="give --model local:PATH.gguf, one file that you may read",
            ) from error
        if not start.startswith(_MAGIC):
            raise UsageError(
                f"{place} is not a GGUF file",
                hint="a local model is one .gguf file; other kinds have to be converted first",
            )
        return cls(place, size, hashlib.sha256(start).hexdigest()[:16])
