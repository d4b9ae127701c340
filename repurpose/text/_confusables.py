"""What characters look like: each one reduced to a symbol of a small alphabet.

The *skeleton* of a text has the same length as the text and one symbol for each character, so an
offset in one is an offset in the other. Spellings that a reader takes for the same word have
skeletons that one pattern finds. A symbol is an ASCII letter where a character passes for that
letter only, a Latin-1 character where it passes for several letters or is a sign or digit,
else one of the constants below.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

__all__ = [
    "ANGLE",
    "CLOSERS",
    "DEFUSED_CLOSE",
    "DEFUSED_OPEN",
    "HIDDEN",
    "JOINER",
    "LINE",
    "OPENERS",
    "SLASH",
    "SOLID",
    "SQUARE",
    "any_of",
    "letters",
    "none_of",
    "plain_letter",
    "skeleton_of",
]

HIDDEN = "\0"
"""Format, control, mark, filler, private and unassigned characters: read as nothing."""
LINE = "\n"
"""White space that is also a control character: read as a space or as nothing."""
JOINER = "_"
SLASH = "/"
ANGLE = "<"
"""A bracket that reads as the one of a tag, whatever its width."""
SQUARE = "["
OPENERS = ANGLE + "«" + SQUARE + "{"
"""Opening brackets; the second symbol is for guillemets and other scripts' angle brackets."""
CLOSERS = ">»]}"
DEFUSED_OPEN = "\u2039"
DEFUSED_CLOSE = "\u203a"

_OTHER_LETTER = "X"
_SIGN = "."
_LATIN = "abcdefghijklmnopqrstuvwxyz"

# What passes for a Latin letter once it is decomposed and case-folded: the confusables of Unicode
# Technical Standard 39 (version 15), and what generators of "fancy text" use: small capitals,
# turned letters, hooks and strokes, currency signs, syllabics, radicals. Capitals that look like
# one letter and fold to the look of another (Greek mu, sigma, lambda) stand under both.
_LOOKALIKES: Mapping[str, str] = {
    "a": "ɑαаᎪᗅ⍺ꓮ𐊠𖽀ᴀɐɒᗩᎯᏗꋫꍏⱥ₳λʌᴧд△▲∆∀∧δ卂ա",
    "b": "ƅвβьᏏᏴᑲᖯᗷꓐꞵ𐊂𐊡𐌁ʙɓƀ฿",
    "c": "ϲϹсᏟᴄⲥꓚ𐊢𐌂𐐽𐔜𑣩𑣲🝌ƈȼɕꞓɔᑕᑢፈ匚¢©₵ꉓҁϛ⊂σ",
    "d": "ԁᎠᏧᑯᗞᗪꓒꓓᴅđɖɗƌðꟈ∂д",
    "e": "εеҽᎬ℮⋿ⴹꓰꬲ𐊆𑢦𑢮ᴇɛɜɘəǝɇєэξ∈∑€£乇ᗴᏋꍟꗋσեէ",
    "f": "ϝքᖴꓝꞙꬵ𐊇𐊥𐔥𑣂𝈓ꜰƒғ₣",
    "h": "ηнһհᎻᏂᕼⲏꓧ𐋏ʜħɦɥђћ",
    "i": "ıɩɪ˛ͺιіӏ۱Ꭵᛁ⍳ⲓⵏꓲꙇ𐊊𐌉𐌠𑣃𖼨ɨᴉ¡工丨ꀤł\u05d5\u0627\u0661",
    "k": "κкᏦᛕⲕꓗ𐔘ᴋƙʞқҝ₭ⱪ",
    "l": "ɩιіӏᏞᒪᛁⲓⳑⵏꓡꓲ𐊊𐌉𐌠𐑃𐔦𑢣𑣒𖼖𖼨𝈪۱ʟɫɬƚłⱡʅȴᏝ꒒ㄥ乚丨∟λ₤\u05d5\u05df\u0627\u0661",
    "m": "μмϻᎷᗰᛖⲙꓟ𐊰𐌑ᴍɱ₥ꎭ爪ɯʍ𑣣𑜀տ",
    "n": "νηпиոռⲛꓠ𐔓ɴƞɲɳŋղրת∩₦ภ几",
    "o": "οσоօ۵०০੦૦ଠ୦௦౦೦ഠ൦๐໐ဝ၀ჿዐᴏᴑⲟⵔ〇ꓳꬽ𐊒𐊫𐐬𐓪𐔖𑓐𑣕𑣈𑣗𑣠øɵθδɔ"
    "ᎧᏫꂦ口囗ㄖㅇᄋᆼ○●◯◦⚪⚫⭕🔴🔵∅☉⊙°ϲϹ\u05e1\u0647\u0665\u06c1",
    "p": "ρрᏢᑭ⍴ⲣꓑ𐊕ᴘƥþ℗₱",
    "r": "ʀгᎡᏒᖇᴦⲅꓣꭇꭈꮁ𐒴𖼵𝈖ɹɾɽɍʁяཞ尺ꋪ®րռ",
    "s": "ƽѕտᏕᏚꓢꜱ𐊖𐑈𑣁𖼺ʂȿ§ꌗ丂ᔕ₴∫ʃσϲϹ",
    "t": "τтᎢ⊤⟙ⲧꓔ𐊗𐊱𐌕𑣜𖼊🝨ᴛʇŧƭʈȶⱦ₮†七丅ㄒ꓄Ꮦե",
    "u": "υʋսሀᑌᴜ∪⋃ꓴꞟꭎꭒ𐓶𑣘𖽂циʉʊᏌᏬꀎ凵ㄩμүуոա",
    "v": "νѵ۷Ꮩᐯᴠ∨⋁ⴸꓦꛟ𐔝𑜆𑣀𖼈𝈍ʌυ√",
    "w": "ɯѡԝաᎳᏔᴡꓪ𑜊𑜎𑜏𑣦𑣯ʍωшщ₩山",
    "x": "×χхᕁᕽ᙭᙮ᚷ╳⤫⤬⨯ⲭⵝꓫꭓ𐊐𐊴𐌗𐌢𐔧𑣬",
    "y": "ɣʏυγϒуүᎩᎽᶌỿⲩꓬꭚ𐊲𑣄𑣜𖽃ʎƴɏ¥чұ",
}
# ASCII that people swap for letters ("s0urce", "mater1al"). Being no letters, these may also
# stand where a sign stands.
_ASCII_LOOKALIKES: Mapping[str, str] = {
    "a": "4@",
    "e": "3",
    "i": "1|!",
    "l": "1|!",
    "o": "0",
    "s": "5$",
    "t": "7+",
}
# A capital I is a small l to the eye, a V is a U in inscriptions, and a turned n is a u.
_TWINS: Mapping[str, str] = {"i": "l", "l": "i", "u": "vn", "v": "u"}

_SIGNS: Mapping[str, str] = {
    " ": " ",
    LINE: "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029",
    "<": "<\u02c2\u1438\u16b2\u22d6\U0001d236",
    "«": "«≪⋘≺⪡⫷⟨〈《⟪❬❮❰⦑⧼⪻⊰",
    "[": "[〔【〖〘〚⟦⟬⁅⦋⦍⦏⦗",
    "{": "{❴⦃\U0001d114",
    ">": ">\u02c3\u1433\u22d7\U0001d237\U00016f3f",
    "»": "»≫⋙≻⪢⫸⟩〉》⟫❭❯❱⦒⧽⪼⊱〕】〗〙〛⟧⟭⁆⦌⦎⦐⦘❵⦄",
    "]": "]",
    "}": "}",
    DEFUSED_OPEN: DEFUSED_OPEN,
    DEFUSED_CLOSE: DEFUSED_CLOSE,
    SLASH: "/\\⁁⁄∕∖╱╲⟋⟍⧵⧸⧹⼂⼃〳ノ㇓㇔丿丶᜵Ⳇ\U0001d20f\U0001d23a\U0001d23b",
    JOINER: "_-¯‾ˍˉ▁▂─━−⎯⎽⁃ー",
    "|": "|∣￨│┃❘ǀ⏐⏽",
    ":": ":꞉∶ː։׃᛬",
}
# Letters and signs by category that show nothing: fillers, the blank Braille cell, the Arabic
# stretching stroke, the stand-in of an embedded object.
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800\u0640\ufffc"

# In Latin-1, since patterns over such symbols compile and run several times faster.
_SPARE = [sign for sign in map(chr, range(0x80, 0x100)) if sign not in _SIGNS]

_BY_CATEGORY = {"L": _OTHER_LETTER, "Z": " ", "Pc": JOINER, "Pd": JOINER}


def _lookalikes() -> dict[str, set[str]]:
    """From a character to every Latin letter that it may pass for."""
    found: dict[str, set[str]] = {}
    for wanted, characters in _LOOKALIKES.items():
        for character in characters:
            found.setdefault(character, set()).add(wanted)
    # Letters in discs, in boxes and of flags, which Unicode does not decompose.
    for first in (0x1F150, 0x1F170, 0x1F1E6):
        found.update({chr(first + place): {wanted} for place, wanted in enumerate(_LATIN)})
    return found


def _fold(character: str) -> str:
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())


class _Alphabet(dict[int, str]):
    """The symbol of each code point, for `str.translate`.

    Filled on demand: a text uses a few hundred of the million code points.
    """

    def __init__(self) -> None:
        super().__init__()
        self.passes_for: dict[str, set[str]] = {character: {character} for character in _LATIN}
        """From a symbol to the letters that it may be read as."""
        self._letters = {*_LATIN, _OTHER_LETTER}
        made: dict[tuple[frozenset[str], bool], str] = {}
        for character, reads in _lookalikes().items():
            solid = unicodedata.category(character)[0] == "L"
            symbol = made.setdefault((frozenset(reads), solid), _SPARE[len(made)])
            if solid and len(reads) == 1:
                symbol = min(reads)
            self.passes_for.setdefault(symbol, set()).update(reads)
            self[ord(character)] = symbol
            if solid:
                self._letters.add(symbol)
        for symbol, characters in _SIGNS.items():
            self.update(dict.fromkeys(map(ord, characters), symbol))
        self.update(dict.fromkeys(map(ord, _FILLERS), HIDDEN))
        for wanted, characters in _ASCII_LOOKALIKES.items():
            for character in characters:
                self[ord(character)] = character
                self.passes_for.setdefault(character, set()).add(wanted)
        for character in _LATIN:
            self[ord(character)] = self[ord(character.upper())] = character
        self.solid = "".join(sorted(self._letters))

    def __missing__(self, code: int) -> str:
        symbol = self[code] = self._work_out(chr(code))
        return symbol

    def _work_out(self, character: str) -> str:
        category = unicodedata.category(character)
        if category[0] in "CM":
            return HIDDEN
        folded = _fold(character)
        if folded not in ("", character):
            return self._combine(self[ord(part)] for part in folded)
        return _BY_CATEGORY.get(category, _BY_CATEGORY.get(category[0], _SIGN))

    def _combine(self, symbols: Iterable[str]) -> str:
        """The symbol of a character that stands for several: its only letter or its first sign."""
        parts = [symbol for symbol in symbols if symbol != HIDDEN]
        letters = [symbol for symbol in parts if symbol in self._letters]
        if len(letters) > 1:
            return _OTHER_LETTER
        return (letters or parts or [HIDDEN])[0]


_ALPHABET = _Alphabet()
_SPARSE = 20  # at most one foreign character in so many

SOLID = _ALPHABET.solid
"""Every symbol that stands for a letter, as opposed to a sign or digit that passes for one."""


def skeleton_of(text: str) -> str:
    """`text` with each character replaced by what it looks like; exactly as long as `text`.

    >>> skeleton_of("\uff1c\u2215Sourc\u0435\ufe65")
    '</source>'
    """
    octets = text.encode("ascii", "replace")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    if foreign > len(text) // _SPARSE:
        return text.translate(_ALPHABET)
    # Python translates ASCII many times faster than other text, so a few foreign characters are
    # put in afterwards.
    base = octets.decode("ascii").translate(_ALPHABET)
    if not foreign:
        return base
    pieces: list[str] = []
    done, at = 0, octets.find(b"?")  # which stands for each of them, and is found fastest
    while at >= 0:
        if text[at] != "?":
            pieces += (base[done:at], text[at].translate(_ALPHABET))
            done = at + 1
        at = octets.find(b"?", at + 1)
    return "".join([*pieces, base[done:]])


def any_of(symbols: str) -> str:
    """A pattern for one of `symbols`."""
    return f"[{_inside_brackets(symbols)}]"


def none_of(symbols: str) -> str:
    """A pattern for one symbol that is none of `symbols`."""
    return f"[^{_inside_brackets(symbols)}]"


def letters(wanted: str) -> str:
    """A pattern for one symbol that a reader could take for any letter of `wanted`."""
    alike = set(wanted).union(*(_TWINS.get(one, "") for one in wanted))
    return any_of("".join(s for s, reads in _ALPHABET.passes_for.items() if reads & alike))


def plain_letter(wanted: str) -> str:
    """A pattern for `wanted`, with no digit, sign or twin in its place: `<5>` is not `<s>`."""
    found = (s for s, reads in _ALPHABET.passes_for.items() if wanted in reads and s in SOLID)
    return any_of("".join(found))


def _inside_brackets(symbols: str) -> str:
    return "".join(f"\\{symbol}" if symbol in "\\]^-[" else symbol for symbol in symbols)
