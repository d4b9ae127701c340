"""What control words and numbers of RTF mean (Rich Text Format 1.9.1)."""

from __future__ import annotations

import codecs

__all__ = ["ASIDE", "CHARACTERS", "charset_of", "codepage"]

CHARACTERS = {
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "emspace": " ",
    "enspace": " ",
    "qmspace": " ",
    "bullet": "•",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "zwj": "\u200d",
    "zwnj": "\u200c",
}
"""Control words that stand for a character."""

ASIDE = frozenset({
    "annotation", "atnauthor", "atnid", "atnref", "atrfend", "atrfstart", "background", "bkmkend",
    "bkmkstart", "colortbl", "company", "datafield", "do", "doccomm", "falt", "filetbl", "fldinst",
    "fontemb", "footer", "footerf", "footerl", "footerr", "formfield", "ftncn", "ftnsep",
    "ftnsepc", "aftncn", "aftnsep", "aftnsepc", "generator", "header", "headerf", "headerl",
    "headerr", "keywords", "latentstyles", "listlevel", "listoverridetable", "listtable",
    "nonesttables", "nonshppict", "objalias", "objclass", "objdata", "objname", "objsect", "panose",
    "pict", "private", "revtbl", "rsidtbl", "rxe", "shprslt", "sn", "subject", "sv", "tc",
    "themedata", "txe", "ud", "userprops", "xe", "xform", "xmlnstbl"
})  # fmt: skip
"""Groups that hold no text of the document, or hold it a second time."""

_CHARSETS = {
    77: "mac_roman", 78: "shift_jis", 79: "big5", 80: "euc_kr", 81: "mac_arabic", 83: "mac_greek",
    85: "gb2312", 86: "mac_romanian", 87: "mac_cyrillic", 88: "cp874", 89: "mac_latin2",
    128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850"
}  # fmt: skip
_SYMBOLS = 2  # a set of pictures; its characters are in no code page


def charset_of(number: int) -> str | None:
    r"""The character set that `\fcharsetN` names; None where it is that of the document."""
    return "cp1252" if number == _SYMBOLS else _CHARSETS.get(number)


def codepage(number: int) -> str | None:
    r"""The code page of `\ansicpgN` or `\cpgN` as Python names it, or None."""
    name = {10000: "mac_roman", 65001: "utf-8", 936: "gb18030"}.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
