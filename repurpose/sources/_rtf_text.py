"""The text of an RTF file (Rich Text Format 1.9.1) as a tree of HTML elements.

One pass over the control words, in linear time; what a group changes ends with it. Hidden and
deleted text is counted and left out, and so are comments, pictures, page heads and field codes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from repurpose.sources._rtf_codes import ASIDE, CHARACTERS, charset_of, codepage
from repurpose.sources._rtf_state import State, Style
from repurpose.sources._rtf_tree import RtfTree

__all__ = ["RtfReader"]

_DEEPEST = 5_000  # groups in each other; Word writes about ten
_MOST_SKIPPED = 9  # characters that stand in for one
_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})? ?"
    r"|\\'(?P<hex>[0-9a-fA-F]{2})|\\(?P<sign>[^a-zA-Z])|(?P<brace>[{}])"
    r"|(?P<text>[^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
_SIGNS = {"~": "\u00a0", "_": "\u2011", "{": "{", "}": "}", "\\": "\\"}
_Handler: TypeAlias = Callable[["RtfReader", int | None], None]
_PLACES = {"fonttbl": "fonts", "stylesheet": "styles", "listtext": "marker", "pntext": "marker"}


@dataclass(slots=True)
class RtfReader:
    """One pass over one file; the other fields are whole after `read`."""

    tree: RtfTree = field(default_factory=RtfTree)
    fields: dict[str, str] = field(default_factory=dict)
    """`title` and `author`, and `y`, `m`, `d` of the day of creation, where the file has them."""
    hidden: int = 0
    """How many runs of hidden words were left out."""
    whole: bool = False
    """Whether the outermost group is closed; in a file that was cut short it is not."""

    _charset: str = "cp1252"
    _default_font: int = -1
    _charsets: dict[int, str] = field(default_factory=dict)
    _styles: dict[int, Style] = field(default_factory=dict)
    _state: State = field(default_factory=State)
    _outer: list[State] = field(default_factory=list)
    _octets: bytearray = field(default_factory=bytearray)
    _skipping: int = 0
    _unseen: bool = False
    """Whether the hidden run at hand holds words."""

    def read(self, content: bytes) -> None:
        """Read all of `content`.

        Raises:
            ValueError: groups are nested too deeply.
        """
        text, at = content.decode("latin-1"), 0
        while not self.whole and (found := _TOKEN.match(text, at)) is not None:
            at = found.end()
            if found["word"] == "bin":
                at += max(0, int(found["number"] or 0))
            else:
                self._take(found)
        self._flush()
        self.tree.end()

    def _take(self, token: re.Match[str]) -> None:
        if token["text"] is not None:
            self._raw(token["text"].encode("latin-1"))
        elif token["hex"] is not None:
            self._raw(bytes.fromhex(token["hex"]))
        else:
            if token["word"] or token["sign"] or token["brace"]:
                self._skipping = 0
                self._flush()
            if token["brace"] == "{":
                self._open()
            elif token["brace"] == "}":
                self._close()
            elif token["sign"] is not None:
                self._sign(token["sign"])
            elif token["word"] is not None:
                self._word(token["word"], int(token["number"]) if token["number"] else None)

    def _open(self) -> None:
        if len(self._outer) >= _DEEPEST:
            raise ValueError("groups nested too deeply")
        self._outer.append(self._state)
        self._state = replace(self._state)

    def _close(self) -> None:
        was = self._state
        if self._outer:
            self._state = self._outer.pop()
        self._count_hidden(was_hidden=was.hidden)
        # What follows the outermost group is no part of the document.
        self.whole = not self._outer

    def _count_hidden(self, *, was_hidden: bool) -> None:
        if was_hidden and not self._state.hidden:
            self.hidden += self._unseen
            self._unseen = False

    def _sign(self, sign: str) -> None:
        if sign == "*" and self._state.place != "aside":
            self._state.place = "maybe"
        elif sign in "\r\n":
            self._par(None)
        else:
            self._put(_SIGNS.get(sign, ""))

    def _raw(self, octets: bytes) -> None:
        skipped = min(self._skipping, len(octets))
        self._skipping -= skipped
        self._octets += octets[skipped:]

    def _flush(self) -> None:
        """Decode what has come in; the second byte of a character may be written as a letter."""
        if not self._octets:
            return
        font = self._default_font if self._state.font < 0 else self._state.font
        octets, self._octets = bytes(self._octets), bytearray()
        self._put(octets.decode(self._charsets.get(font, self._charset), "replace"))

    def _put(self, text: str) -> None:
        state = self._state
        if state.place == "body" and state.hidden:
            self._unseen = self._unseen or any(map(str.isalnum, text))
        elif state.place == "body":
            self.tree.put(text, state.note)
        elif state.place == "marker":
            self.tree.put_marker(text)
        elif state.place == "styles" and state.style in self._styles:
            self._styles[state.style].name.append(text)
        elif state.place in ("title", "author"):
            self.fields[state.place] = self.fields.get(state.place, "") + text

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        if state.place == "maybe":
            state.place = "body" if word == "shpinst" else "aside"  # the text in a text box
        elif state.place == "aside":
            return
        elif word in ASIDE:
            state.place = "aside"
        elif word in self._HANDLERS:
            self._HANDLERS[word](self, number)
        elif word in CHARACTERS:
            self._put(CHARACTERS[word])
        elif word in _PLACES:
            state.place = _PLACES[word]
        else:
            self._field_word(word, number)

    def _field_word(self, word: str, number: int | None) -> None:
        state = self._state
        if word == "info":
            state.place = "info"
        elif state.place == "info" and word in ("title", "author"):
            state.place = word
        elif state.place == "info":
            state.place = "created" if word == "creatim" else "aside"
        elif state.place == "created" and word in ("yr", "mo", "dy"):
            self.fields[word[0]] = str(number or 0)

    def _unicode(self, number: int | None) -> None:
        self._skipping = self._state.skip
        if number is not None and -0x8000 <= number <= 0xFFFF:
            self._put(chr(number % 0x10000))  # numbers are signed; pairs are joined in the tree

    def _skip(self, number: int | None) -> None:
        self._state.skip = min(max(number or 0, 0), _MOST_SKIPPED)

    def _document_codepage(self, number: int | None) -> None:
        self._charset = codepage(number or 0) or self._charset

    def _document_font(self, number: int | None) -> None:
        self._default_font = -1 if number is None else number

    def _font(self, number: int | None) -> None:
        self._state.font = -1 if number is None else number

    def _font_charset(self, number: int | None) -> None:
        name = charset_of(number or 0)
        if self._state.place == "fonts" and name is not None:
            self._charsets[self._state.font] = name

    def _font_codepage(self, number: int | None) -> None:
        name = codepage(number or 0)
        if self._state.place == "fonts" and name is not None:
            self._charsets[self._state.font] = name

    def _hide(self, number: int | None) -> None:
        was_hidden = self._state.hidden
        self._state.hidden = number != 0
        self._count_hidden(was_hidden=was_hidden)

    def _plain(self, _number: int | None) -> None:
        self._hide(0)
        self._state.font = -1

    def _style(self, number: int | None) -> None:
        self._state.style = -1 if number is None else number
        if self._state.place == "styles":
            self._styles[self._state.style] = Style()

    def _outline(self, number: int | None) -> None:
        level = 0 if number is None else number + 1
        if self._state.place != "styles":
            self._state.level = level
        elif self._state.style in self._styles:
            self._styles[self._state.style].level = level

    def _pard(self, _number: int | None) -> None:
        self._state.style, self._state.level = -1, 0
        self._state.in_table = self._state.listed = False

    def _in_table(self, number: int | None) -> None:
        self._state.in_table = number != 0

    def _listed(self, number: int | None) -> None:
        self._state.listed = number != 0

    def _line(self, _number: int | None) -> None:
        self._put("\n")

    def _footnote(self, _number: int | None) -> None:
        if self._state.hidden or self._state.note:
            self._state.place = "aside"
        elif self._state.place == "body":
            self._state.note = self.tree.begin_note()

    def _cell(self, _number: int | None) -> None:
        if self._state.place == "body" and not self._state.note:
            self.tree.end_cell()

    def _row(self, _number: int | None) -> None:
        if self._state.place == "body" and not self._state.note:
            self.tree.end_row()

    def _par(self, _number: int | None) -> None:
        state = self._state
        if state.place != "body":
            return
        if state.note or state.in_table:
            self.tree.put("\n", state.note)
            return
        style = self._styles.get(state.style)
        level = state.level or (0 if style is None else style.heading)
        self.tree.end_paragraph(level, listed=state.listed)

    _HANDLERS: ClassVar[dict[str, _Handler]] = {
        "ansicpg": _document_codepage,
        "cell": _cell,
        "column": _par,
        "cpg": _font_codepage,
        "deff": _document_font,
        "deleted": _hide,
        "f": _font,
        "fcharset": _font_charset,
        "footnote": _footnote,
        "intbl": _in_table,
        "itap": _in_table,
        "line": _line,
        "ls": _listed,
        "nestcell": _cell,
        "nestrow": _row,
        "outlinelevel": _outline,
        "page": _par,
        "par": _par,
        "pard": _pard,
        "plain": _plain,
        "row": _row,
        "s": _style,
        "sect": _par,
        "u": _unicode,
        "uc": _skip,
        "v": _hide,
    }
