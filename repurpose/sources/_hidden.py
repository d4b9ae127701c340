"""Parts of a page that a reader does not see, found by attributes and inline styles.

Hidden parts are where instructions for a model are put, and where sites keep menus and
previews. Style sheets are not evaluated, so what a class hides is not known here.
"""

from __future__ import annotations

import re

from lxml import etree
from lxml.html import HtmlElement

__all__ = ["remove_hidden"]

_UNSEEN = frozenset({"template", "noscript", "textarea", "rt", "rp"})
_QUIET = frozenset({"rt", "rp"})  # readings beside Japanese characters; nobody is misled
_PAGE = frozenset({"html", "body", "head"})  # hidden until a script has run
_ZERO = re.compile(r"[+-]?0*\.?0*(?:px|em|rem|pt|%|vh|vw)?")
_FAR = re.compile(
    r"-(?:\d{4,}|[3-9]\d{2})(?:\.\d+)?px|-\d{2,}(?:\.\d+)?(?:em|rem|vw|vh)|-[1-9]\d{2,}%"
)
_CLIPPED = re.compile(r"rect\((?:[01](?:px)?[, ]*){4}\)|inset\((?:[5-9]\d|100)%\)|circle\(0[^)]*\)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}|(?:rgb|hsl)a?\([^)]{0,60}\)|[a-z]{3,20}")
_NAMED = {"white": "ffffff", "black": "000000"}
_OFFSETS = ("left", "right", "top", "bottom", "margin-left", "margin-top", "text-indent")


def remove_hidden(tree: HtmlElement) -> int:
    """Take hidden elements out of `tree`; how many held words that no reader sees.

    The text after a removed element stays. An element that holds more than half of the page
    and is merely faded or marked for screen readers stays too: scripts would have shown it.
    """
    sizes = _sizes(tree)
    half = sizes[tree] / 2
    hidden: list[HtmlElement] = []
    walk = etree.iterwalk(tree, events=("start",))
    for _, element in walk:
        how = _hidden_how(element)
        if how is None or element.tag in _PAGE or element is tree:
            continue
        if how == "faded" and sizes[element] > half:
            continue
        hidden.append(element)
        walk.skip_subtree()
    for element in hidden:
        element.drop_tree()
    return sum(1 for one in hidden if sizes[one] and one.tag not in _QUIET)


def _sizes(tree: HtmlElement) -> dict[HtmlElement, int]:
    """How many characters other than spaces each element holds, in one pass over all of them."""
    sizes: dict[HtmlElement, int] = {}
    open_ones = [0]
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            open_ones.append(_length(element.text))
            continue
        if event == "end":
            sizes[element] = open_ones.pop()
            open_ones[-1] += sizes[element]
        if element is not tree:
            open_ones[-1] += _length(element.tail)
    return sizes


def _length(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0


def _hidden_how(element: HtmlElement) -> str | None:
    """`gone` or `faded` (a script may show it), or None for what a reader sees."""
    if element.tag in _UNSEEN or element.get("hidden") is not None:
        return "gone"
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return "faded"
    style = element.get("style")
    return _style_hides(_declarations(style)) if style else None


def _declarations(style: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in style.lower().split(";"))
    return {
        name.strip(): value.replace("!important", "").strip() for name, _, value in pairs if value
    }


def _style_hides(style: dict[str, str]) -> str | None:
    if style.get("display") == "none":
        return "gone"
    if style.get("visibility") in ("hidden", "collapse") or _is_zero(style.get("opacity")):
        return "faded"
    if _is_zero(style.get("font-size")) or _is_off_screen(style) or _is_cut_away(style):
        return "gone"
    return "gone" if _is_same_colour(style) else None


def _is_zero(value: str | None) -> bool:
    return bool(value) and _ZERO.fullmatch(value or "") is not None


def _is_off_screen(style: dict[str, str]) -> bool:
    return any(_FAR.fullmatch(style.get(one, "")) for one in _OFFSETS)


def _is_cut_away(style: dict[str, str]) -> bool:
    if any(_CLIPPED.fullmatch(style.get(one, "")) for one in ("clip", "clip-path")):
        return True
    if style.get("transform", "").replace(" ", "") in ("scale(0)", "scale(0,0)"):
        return True
    empty = any(_is_zero(style.get(one)) for one in ("width", "height", "max-height"))
    return empty and style.get("overflow") == "hidden"


def _is_same_colour(style: dict[str, str]) -> bool:
    colour = style.get("color", "")
    if colour == "transparent":
        return True
    behind = style.get("background-color") or style.get("background", "")
    seen = _colour_of(colour)
    return seen is not None and seen == _colour_of(behind)


def _colour_of(value: str) -> str | None:
    """A spelling that equal colours share, as far as inline styles need one."""
    found = _COLOUR.search(value)
    if found is None:
        return None
    colour = found[0]
    if colour.startswith("#") and len(colour) == 4:
        return "".join(2 * digit for digit in colour[1:])
    if colour.startswith("rgb"):
        numbers = [int(one) for one in re.findall(r"\d+", colour)[:3]]
        return "".join(f"{one:02x}" for one in numbers) if len(numbers) == 3 else colour
    return _NAMED.get(colour, colour.lstrip("#"))
