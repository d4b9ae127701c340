"""The example of a settings file that is shipped beside this module."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["example_text"]


def example_text() -> str:
    """A whole settings file with every key, its meaning, and the defaults of this version."""
    return (files("repurpose.config") / "example.toml").read_text(encoding="utf-8")
