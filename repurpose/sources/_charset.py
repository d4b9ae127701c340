"""From bytes to text: which character set a file is written in.

The order matters: a byte order mark, strict UTF-8, UTF-16 by where its zero bytes stand, then
the share of control characters that tells text from anything else, and only then a guess among
older character sets. A guess must decode without error; it wins by how likely its text is in a
language of that set and by how few letters are foreign to that language.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

import regex
from charset_normalizer import from_bytes

from repurpose.text.detection import scores_of

__all__ = ["Decoding", "NotTextError", "UnknownCharsetError", "decoded"]

_SAMPLE = 200_000  # bytes; beyond that a guess gets slower, not better
_PROSE = 4_000  # characters of the lines that hold the letters in question
_CONTROL_SHARE = 0.02  # more than that, and it is no text
_CONTROLS_IGNORED = 2  # in files of a few bytes one stray control is more than the share
_SURE = 0.35  # below that the general detector is asked
_FEW = 64  # bytes; in fewer the general detector finds UTF-16 everywhere
_POSSIBLE = 0.1  # below that its answer, or none
_RARER = 0.99  # for each row of the table: what is rarer needs better evidence
_DAMAGE = 4  # valid UTF-8 letters for each broken byte, to call it damaged and not foreign
_COLOUR = re.compile(rb"\x1b\[[0-?]{0,16}[@-~]")
_CONTROL_BYTES = bytes({*range(0x20), 0x7F} - set(b"\t\n\v\f\r"))
_CONTROL_TEXT = re.compile("[\x00-\x08\x0e-\x1f\x7f]")

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins the same way
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What pages call these sets, and what browsers read instead (WHATWG Encoding Standard).
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "tis-620": "cp874",
}
# A page that could be read as far as its declaration is in none of these.
_NEVER_DECLARED = ("utf-7", "utf-16", "utf-32")
_TYPOGRAPHY = "\u00a0„“”‚‘’«»‹›–—…·•°§©®™€£¥¢¿¡№"
# What words do not do: a capital after a small letter, two scripts in one.
_ODD = regex.compile(
    r"(?<=\p{Ll})(?![A-Z])\p{Lu}"
    r"|(?<=[A-Za-z])[\p{Greek}\p{Cyrillic}\p{Hebrew}\p{Arabic}\p{Thai}]"
)
# Every legal pair of bytes is some character of these sets, so legality proves nothing there;
# the commonest characters do, which make up a tenth of any text.
_COMMON = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "zh": regex.compile("[的一是在不了有和人这中大为上个我以要他时来用们到就這為個時來們，。]"),
    "ko": regex.compile("[이다는의에을를가하고도지로은한사기서]"),
}
_COMMON_SHARE = 0.08
_KANA_AND_HAN = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_HANGUL = "\u3000-\u303f\uac00-\ud7a3\uff00-\uffef"
_CYRILLIC = "А-яЁё"
_CENTRAL = "áéíóúýčďěňřšťůžĺľŕôäąćęłńśźżőűöüăâîșțşţđ"
_BALTIC = "āčēģīķļņšūžąčęėįšųūžõäöüšž"
_WESTERN = "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿœßðþ"
# Set, the languages it is used for, and the letters these write beyond ASCII, the commonest sets
# first: cp1252 stands before cp1250, which reads ñ as ń, and EUC-JP before GB18030.
_SETS: tuple[tuple[str, str, str], ...] = (
    ("cp1252", "en de fr es pt it nl sv da no nn fi is ca gl eu ga af lb oc", _WESTERN),
    ("cp1250", "pl cs sk hu ro hr sl sh bs sq", _CENTRAL),
    ("iso8859_2", "pl cs sk hu ro hr sl sh bs sq", _CENTRAL),
    ("cp1254", "tr az", "çğıöşüâîûİ"),
    ("cp1257", "lt lv et", _BALTIC),
    ("cp1251", "ru uk bg sr mk be", f"{_CYRILLIC}ЂЃѓђЄЅІЇЈЉЊЋЌЎЏҐєѕіїјљњћќўџґ"),
    ("koi8_u", "ru uk", f"{_CYRILLIC}ЄІЇҐєіїґ"),
    ("cp866", "ru", _CYRILLIC),
    ("cp1253", "el", "Ά-ώ"),
    ("iso8859_7", "el", "Ά-ώ"),
    ("cp1255", "he yi", "\u05b0-\u05f4"),
    ("cp1256", "ar fa ur arz", "\u0600-\u06ff"),
    ("iso8859_6", "ar arz", "\u0600-\u06ff"),
    ("cp874", "th", "\u0e00-\u0e5b"),
    ("euc_jp", "ja", _KANA_AND_HAN),
    ("cp932", "ja", _KANA_AND_HAN),
    ("gb18030", "zh wuu", _KANA_AND_HAN),
    ("big5", "zh yue", _KANA_AND_HAN),
    ("cp949", "ko", _HANGUL),
    ("mac_roman", "en de fr es pt it nl sv da no fi", _WESTERN),
    ("cp850", "en de fr es pt it nl sv da no fi", _WESTERN),
)


class NotTextError(ValueError):
    """The bytes are no text at all."""


class UnknownCharsetError(ValueError):
    """The bytes may be text, in a character set that nothing here can tell."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decoded bytes, and what a user should know about how."""

    text: str
    charset: str
    warnings: tuple[str, ...] = ()


def decoded(content: bytes, declared: str | None = None) -> Decoding:
    """`content` as text, in the character set it is most likely written in.

    `declared` is what a page says about itself; it counts after marks and strict UTF-8.

    Raises:
        NotTextError: too many control characters or a stray zero byte.
        UnknownCharsetError: no set fits.
    """
    for mark, charset in _MARKS:
        if content.startswith(mark):
            return _checked(_lenient(content[len(mark) :], charset))
    if b"\x1b$B" in content or b"\x1b$@" in content:  # ISO-2022-JP is seven-bit
        japanese = _strict(content, "iso2022_jp")
        if japanese is not None:
            return _checked(Decoding(japanese, "iso2022_jp"))
    utf16 = _utf16(content)
    if utf16 is not None:
        return _checked(utf16)
    plain = _strict(content, "utf-8")
    if plain is not None:
        return _checked(Decoding(plain, "utf-8"))
    if b"\0" in content or _control_share_exceeded(content):
        raise NotTextError
    return _legacy(content, declared)


def _legacy(content: bytes, declared: str | None) -> Decoding:
    named = _declared(content, declared) or _damaged_utf8(content)
    if named is not None:
        return named
    charset = _guess(content[:_SAMPLE])
    if charset is None:
        raise UnknownCharsetError
    return _checked(_lenient(content, charset))


def _strict(content: bytes, charset: str) -> str | None:
    try:
        return content.decode(charset)
    except UnicodeDecodeError:
        return None


def _lenient(content: bytes, charset: str) -> Decoding:
    text = _strict(content, charset)
    if text is not None:
        return Decoding(text, charset)
    text = content.decode(charset, "replace")
    count = text.count("\ufffd")
    return Decoding(text, charset, (f"{count} damaged characters were replaced by \ufffd",))


def _declared(content: bytes, declared: str | None) -> Decoding | None:
    if not declared:
        return None
    try:
        name = codecs.lookup(declared).name
        if name.startswith(_NEVER_DECLARED) or not _is_text(name):
            return None
        charset = _READ_AS.get(name, name)
        text = _strict(content, charset)
    except (LookupError, ValueError):  # ValueError: a name with a zero byte
        return None
    return None if text is None else Decoding(text, charset)


def _is_text(name: str) -> bool:
    return bool(getattr(codecs.lookup(name), "_is_text_encoding", True))  # hex and zlib are not


def _damaged_utf8(content: bytes) -> Decoding | None:
    """UTF-8 with a few broken bytes, or None where another set is likelier."""
    text = content.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    letters = sum(1 for char in text if char > "\x7f") - broken
    return _lenient(content, "utf-8") if letters >= _DAMAGE * broken else None


def _utf16(content: bytes) -> Decoding | None:
    """UTF-16 without a mark: most characters of most scripts in use have one zero byte."""
    head = content[:_SAMPLE]
    pairs = len(head) // 2
    if pairs < 2 or len(content) % 2:
        return None
    even, odd = head[0::2].count(0) / pairs, head[1::2].count(0) / pairs
    for share, other, charset in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if share > 0.3 and other < 0.05:  # spaces and line ends alone reach a fifth
            text = _strict(content, charset)
            return None if text is None else Decoding(text, charset)
    return None


def _control_share_exceeded(content: bytes) -> bool:
    plain = _COLOUR.sub(b"", content) if b"\x1b[" in content else content
    controls = len(plain) - len(plain.translate(None, _CONTROL_BYTES))
    return controls > max(_CONTROLS_IGNORED, _CONTROL_SHARE * len(plain))


def _checked(decoding: Decoding) -> Decoding:
    # In text that is valid as it stands, single zero bytes are dirt; many are another format.
    if _control_share_exceeded(decoding.text.encode("utf-8", "surrogatepass")):
        raise NotTextError
    return decoding


def _guess(sample: bytes) -> str | None:
    best, charset = 0.0, None
    for row, (name, languages, letters) in enumerate(_SETS):
        text = _sampled(sample, name)
        if text is None:
            continue
        likelihood = _likelihood(text, languages.split(), letters) * _RARER**row
        if likelihood > best:
            best, charset = likelihood, name
    if best >= _SURE:
        return charset
    general = from_bytes(sample).best() if len(sample) >= _FEW else None
    if general is not None:
        return general.encoding
    if best >= _POSSIBLE:
        return charset
    return "cp1252" if len(sample) < _FEW and _sampled(sample, "cp1252") else None


def _sampled(sample: bytes, charset: str) -> str | None:
    try:
        # A sample may end within a character, which is no fault of its set.
        return codecs.getincrementaldecoder(charset)().decode(sample, final=False)
    except UnicodeDecodeError:
        return None


def _likelihood(text: str, languages: list[str], letters: str) -> float:
    lines = "\n".join(line for line in text.splitlines() if not line.isascii())
    foreign = [char for char in lines if char > "\x7f"]
    if not foreign:
        return 0.0
    expected = re.compile(f"[{letters}{letters.upper()}{_TYPOGRAPHY}]")
    known = len(expected.findall("".join(foreign))) - len(_ODD.findall(lines))
    share = max(0, known) / len(foreign)
    if languages[0] in _COMMON:
        common = len(_COMMON[languages[0]].findall(lines)) / len(foreign)
        share *= min(1.0, common / _COMMON_SHARE)
    scores = scores_of(lines[:_PROSE])
    # Squared: one letter in ten that no word of the language has speaks against the set.
    return share**2 * max((scores.get(one, 0.0) for one in languages), default=0.0)
