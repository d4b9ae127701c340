"""Text without characters that a reader cannot see.

Hidden characters carry instructions past the reader's eye, split words that a filter looks for,
and break terminals and databases. What shapes visible text stays: joiners inside emoji and
between Arabic or Indic letters, variation selectors after the characters they vary. Unicode
normalisation is not forced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import ftfy
import regex
from ftfy.badness import is_bad

__all__ = ["Cleaned", "clean"]

_ESCAPE_SEQUENCE = regex.compile(
    r"""\x1b(?:
        \[ [0-?]{0,64} [ -/]{0,16} [@-~]               # CSI: colours, cursor
      | [\]PX^_] [^\x07\x1b\n]{0,4096} (?:\x07|\x1b\\)   # OSC and friends: titles, links
      | [ -/]{1,4} [0-~] | [78=>]                      # character sets, cursor, keypad
    )""",
    regex.VERBOSE,
)
# U+0085 after Ã is half of a twice encoded Å, which ftfy repairs; elsewhere ftfy would make an
# ellipsis of what is a line break.
_LINE_END = regex.compile(r"\r\n|[\r\v\f\u2028\u2029]|(?<!Ã)\x85")
_WIDE_SPACE = regex.compile(r"[\p{Zs}--\ ]+", regex.VERSION1)

_PICTURE = r"\p{Extended_Pictographic}"
_JOINING = (
    r"[\p{Arabic}\p{Syriac}\p{Mandaic}\p{Nko}\p{Mongolian}\p{Devanagari}\p{Bengali}\p{Gurmukhi}"
    r"\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}"
    r"\p{Myanmar}\p{Tibetan}\u064b-\u065f\u0670]"
)
# The three flags that Unicode recommends for interchange (England, Scotland, Wales) are spelled
# with tag characters; those stay whole.
_FLAGS = [
    f"\U0001f3f4{''.join(chr(0xE0000 + ord(one)) for one in name)}\U000e007f"
    for name in ("gbeng", "gbsct", "gbwls")
]
_KEPT = regex.compile(
    rf"""
    (?<={_PICTURE}[\ufe0e\ufe0f]?\p{{Emoji_Modifier}}?)\u200d(?={_PICTURE})
  | (?<={_JOINING})[\u200c\u200d](?={_JOINING})
  | (?<=\p{{InSC=Virama}})\u200d                # half forms and chillus at a word's end
  | (?<={_PICTURE})[\ufe0e\ufe0f]
  | (?<=[0-9\#*])\ufe0f(?=\u20e3)               # keycaps
  | (?<=\p{{Han}})[\ufe00-\ufe0f\U000e0100-\U000e01ef]  # forms of a character used in names
  | (?<=[\p{{Sm}}\p{{Myanmar}}\p{{Phags_Pa}}])\ufe00
    """,
    regex.VERBOSE,
)
_HIDDEN = regex.compile(
    r"""
    [\p{Cc}--[\t\n]] | [\p{Cn}\p{Co}\p{Cs}]
  | [\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]
  | [\U000e0000-\U000e007f\U000e0100-\U000e01ef]
    """,
    regex.VERBOSE | regex.VERSION1,
)
_ORDINARY = b"\t\n" + bytes(range(0x20, 0x7F))
_FOREIGN = re.compile(r"[^\x00-\x7f]+")
_NEAR = 8  # characters; what ftfy goes by is a run of at most six with one beyond ASCII among them
_LINE_ENDS = frozenset("\r\v\f\x85\u2028\u2029")

# Only what repairs double encoding. The defaults also straighten quotes, split ligatures and
# narrow full-width characters, which changes clean French, Spanish, Chinese and Japanese.
_REPAIR = ftfy.TextFixerConfig(
    unescape_html=False,
    remove_terminal_escapes=False,
    remove_control_chars=False,
    uncurl_quotes=False,
    fix_character_width=False,
    fix_latin_ligatures=False,
    fix_line_breaks=False,
    fix_surrogates=False,
    normalization=None,
    explain=False,
)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text that a reader sees in full, and how much was taken out."""

    text: str
    removed: int
    """Hidden characters taken out; an escape sequence counts as one. Mapped line ends and
    spaces do not count."""


def clean(text: str) -> Cleaned:
    r"""`text` without hidden characters, with newlines as line ends and plain spaces.

    Double encoding (`Ã©` for `é`) is repaired. Text without such faults comes back unchanged.
    A tag that was split by hidden characters is whole afterwards, so fencing comes later.

    >>> clean("AT\u200bTN\x07: caf\xc3\xa9\r\n")
    Cleaned(text='ATTN: café\n', removed=2)
    """
    # Most texts hold few kinds of characters that a pass could change, and each pass that has
    # none of its own is spared.
    present = _extraordinary(text)
    if not present:
        return Cleaned(text, 0)
    escapes = 0
    if "\x1b" in present:
        text, escapes = _ESCAPE_SEQUENCE.subn("", text)
    if not present.isdisjoint(_LINE_ENDS):
        text = _LINE_END.sub("\n", text)
    if not text.isascii():
        repaired = "\n".join(_repaired(line) for line in text.split("\n"))
        if repaired != text:
            text, present = repaired, frozenset(repaired)
    visible = _without_hidden(text, present)
    if _WIDE_SPACE.search("".join(present)):
        return Cleaned(_WIDE_SPACE.sub(" ", visible), escapes + len(text) - len(visible))
    return Cleaned(visible, escapes + len(text) - len(visible))


def _extraordinary(text: str) -> frozenset[str]:
    """The characters of `text` beyond printable ASCII, tabs and newlines."""
    # Bytes are sifted many times faster than characters, and no byte of another one is ASCII.
    others = text.encode("utf-8", "surrogatepass").translate(None, _ORDINARY)
    return frozenset(others.decode("utf-8", "surrogatepass"))


def _repaired(line: str) -> str:
    # Repair works line by line anyway, most lines of most texts need none, and it begins with the
    # same question.
    if line.isascii() or not _doubtful(line):
        return line
    return _LINE_END.sub("\n", ftfy.fix_text(line, _REPAIR))


def _doubtful(line: str) -> bool:
    """Whether ftfy would look into a line; asked of the few places that can be the reason."""
    spans = [one.span() for one in _FOREIGN.finditer(line)]
    if 2 * _NEAR * len(spans) >= len(line):
        return bool(is_bad(line))
    return bool(is_bad("\n".join(line[max(0, a - _NEAR) : b + _NEAR] for a, b in spans)))


def _without_hidden(text: str, characters: frozenset[str]) -> str:
    """`text` without the characters that hide; only those among `characters` are searched for."""
    present = _HIDDEN.findall("".join(characters))
    if not present:
        return text
    flags = {
        at + offset
        for flag in _FLAGS
        if flag in text
        for at in (one.start() for one in re.finditer(flag, text))
        for offset in range(len(flag))
    }

    def replacement(found: re.Match[str]) -> str:
        at = found.start()
        return found[0] if at in flags or _KEPT.match(text, at) else ""

    return re.sub(f"[{re.escape(''.join(present))}]", replacement, text)
