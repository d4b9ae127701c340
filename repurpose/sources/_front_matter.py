"""The block of fields before a Markdown text, in YAML, TOML or JSON.

A document that merely starts with a rule (`---`) has no front matter and loses nothing. Front
matter that its own format cannot parse is read line by line; it never reaches the body.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

__all__ = ["FrontMatter", "split"]

_LONGEST = 16_384  # characters; a longer block is no front matter
_OPEN = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_MOST_BRACKETS = 500  # the YAML scanner needs quadratic time for nested ones
_FIRST_LINE = re.compile(r"(---|\+\+\+)[ \t]*\n")
_FIELD = re.compile(r"([A-Za-z_][\w.-]{0,40})[ \t]*[:=](?:[ \t]+([^\n]*)|[ \t]*)$")
_FIELD_OR_PART = re.compile(r"[A-Za-z_][\w.-]{0,40}[ \t]*[:=]|[ \t]|-[ \t]|#|[\]}]")
_KEY = re.compile(r"[\w.-]{1,40}(?:[ \w.-]{0,40}\w)?")
_SENTENCE_END = re.compile(r"[.!?。！？…]\s*$")
_KNOWN = frozenset({
    "title", "subtitle", "author", "authors", "date", "lang", "language", "locale",
    "canonical", "canonical_url", "url", "permalink", "slug", "tags", "tag", "categories",
    "category", "description", "summary", "excerpt", "layout", "draft", "published",
    "updated", "lastmod", "weight", "order", "type", "image", "keywords", "id", "series",
    "aliases", "template", "status"
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The declared fields, keys in lower case, and the body after them."""

    body: str
    fields: Mapping[str, object] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    r"""`text`, parted into declared fields and body.

    `text` has newlines as line ends. Values of YAML stay strings, so `lang: no` is Norwegian.

    >>> split("---\ntitle: Foo\nlang: no\n...\nBody")
    FrontMatter(body='Body', fields={'title': 'Foo', 'lang': 'no'}, warnings=())
    """
    text = text.removeprefix("\ufeff")
    if text.startswith("{"):
        return _json(text)
    first = _FIRST_LINE.match(text)
    if first is None:
        return FrontMatter(text)
    end = _OPEN[first[1]].search(text, first.end(), first.end() + _LONGEST)
    if end is None:
        return FrontMatter(text)
    block = text[first.end() : end.start()]
    body = text[end.end() :].removeprefix("\n")
    parsed = _yaml(block) if first[1] == "---" else _toml(block)
    if parsed is not None:
        taken = first[1] == "+++" or _is_declaration(parsed, block)
        return FrontMatter(body, _lowered(parsed)) if taken else FrontMatter(text)
    lines = _line_by_line(block)
    if lines is None:
        return FrontMatter(text)
    language = "YAML" if first[1] == "---" else "TOML"
    return FrontMatter(
        body, lines, (f"the front matter is not valid {language} and was read line by line",)
    )


def _yaml(block: str) -> Mapping[Any, object] | None:
    """The mapping in `block`; None where it is something else or broken."""
    if block.count("[") + block.count("{") > _MOST_BRACKETS:
        return None
    try:
        # BaseLoader keeps every scalar a string and builds no objects.
        value = yaml.load(block, Loader=yaml.BaseLoader)  # noqa: S506 - safer than SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _toml(block: str) -> Mapping[Any, object] | None:
    try:
        return dict(tomllib.loads(block))
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def _json(text: str) -> FrontMatter:
    try:
        # Not the strict intake of answers: this object ends where the body begins.
        value, end = json.JSONDecoder(strict=False).raw_decode(text[:_LONGEST])
    except (ValueError, RecursionError):
        return FrontMatter(text)
    body = text[end:].lstrip(" \t")
    if not isinstance(value, dict) or not body.startswith("\n"):
        return FrontMatter(text)
    fields = _lowered(value)
    return FrontMatter(body[1:], fields) if _KNOWN & fields.keys() else FrontMatter(text)


def _is_declaration(parsed: Mapping[Any, object], block: str) -> bool:
    """Whether a YAML mapping is front matter, and not prose with a colon between two rules."""
    keys = [str(key) for key in parsed]
    if any(key.lower() in _KNOWN for key in keys):
        return True
    if block.startswith("\n") or not all(_KEY.fullmatch(key) for key in keys):
        return False
    return not any(isinstance(one, str) and _SENTENCE_END.search(one) for one in parsed.values())


def _line_by_line(block: str) -> Mapping[str, object] | None:
    """The `key: value` lines of a broken block; None where the block is prose."""
    lines = [line for line in block.split("\n") if line.strip()]
    found = [pair for line in lines if (pair := _FIELD.fullmatch(line.rstrip()))]
    fields = {pair[1].lower(): (pair[2] or "").strip().strip("\"'") for pair in found}
    if not _KNOWN & fields.keys() or not all(_FIELD_OR_PART.match(line) for line in lines):
        return None
    return fields


def _lowered(fields: Mapping[Any, object]) -> Mapping[str, object]:
    return {str(key).lower(): value for key, value in fields.items()}
