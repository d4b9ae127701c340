"""From lines of captions to what is said, and by whom where the captions tell.

Speakers are named by a voice span (WebVTT), or before what they say: `Ann:`, `[Ann]`, `>> Ann:`;
`>>` alone, and dashes where two speak in one caption, tell that somebody else begins. A name
stands until the next one, as the Podcasting 2.0 rules for transcripts have it. Descriptions of
sounds are dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from repurpose.core.source import Source
from repurpose.errors import SourceError
from repurpose.sources._cues import Cue, CueFile, Line, unrolled
from repurpose.sources._turns import Said, speaker_named, transcript
from repurpose.sources.base import Raw, decode, hidden_warning, one_line, require_words, shown
from repurpose.text.cleaning import Cleaned, clean

__all__ = ["caption_source", "require_few_marks", "said_in", "without_sounds"]

_MARKS = ("\n", "<v", ">>", "&gt;", "[", "(")
_MOST_MARKS = 300_000  # nearly all of them line ends: fifty hours of speech
_PAUSE = 1.0  # seconds; after one, somebody else may speak though the sentence is open
_NOTES = re.compile(r"[\u2669-\u266c\U0001f3b5\U0001f3b6]")  # ♩♪♫♬🎵🎶
_CHEVRONS = re.compile(r"^>{2,3}\s{0,9}|(?<=[.?!…\"”\])])\s>{2,3}\s")
_DASH = re.compile(r"[-–—]\s{0,9}(?=[^\s\-–—])")
_ENDED = re.compile(r"(?:[.?!…。！？؟।:;\"”’»)\]]|--|[-–—])$")
_NAME = regex.compile(
    r"""
    (?: \p{Lu}[\p{L}\p{M}\p{Nd}.'’&_-]{0,24}+                     # cased: every word, but
        (?: [ ] (?: [\p{Lu}\p{Nd}][\p{L}\p{M}\p{Nd}.'’&_-]{0,24}+
                  | (?:d[aeiou]|d[eo][nrls]|della|v[ao]n|l[ae]|al|el|bin|ibn|y|and|of|the)\b
                ) ){0,4}+
      | \p{Lo}[\p{Lo}\p{M}\p{Nd}・·ー]{0,11}+                      # uncased
        (?: [ ] \p{Lo}[\p{Lo}\p{M}\p{Nd}]{0,15}+ ){0,2}+
    )
    (?: [ ]? \( [^()\[\]:]{1,30} \) )?+                           # (host)
    """,
    regex.VERBOSE,
)
_BEFORE_COLON = regex.compile(rf"({_NAME.pattern})[ ]?(?::(?=\s|$)|：)\s*+", regex.VERBOSE)
_IN_BRACKETS = regex.compile(rf"\[({_NAME.pattern})\]\s*+(:?)\s*+", regex.VERBOSE)
_BRACKETS = re.compile(r"\[([^\[\]]{1,60})\]")
_ROUND = re.compile(r"\(([^()]{1,60})\)")
_WORD = re.compile(r"[^\W\d_]+")
# What stands before a colon in speech and is nobody's name.
_NO_NAMES = frozenset({
    "bonus", "chapter", "conclusion", "disclaimer", "episode", "example", "fact", "hint",
    "lesson", "note", "part", "ps", "remember", "reminder", "result", "rule", "spoiler", "step",
    "subtitle", "subtitles", "tip", "title", "update", "warning", "achtung", "beispiel",
    "hinweis", "kapitel", "exemple", "remarque", "ejemplo", "nota", "exemplo",
    "esempio", "voorbeeld"
})  # fmt: skip
_SOUNDS = frozenset({
    # English
    "applause", "applauding", "background", "beep", "beeping", "beeps", "bell", "blank_audio",
    "bleep", "buzzing", "chatter", "cheering", "cheers", "chuckle", "chuckles", "chuckling",
    "clapping", "cough", "coughing", "coughs", "crosstalk", "garble", "garbled", "gasp",
    "gasps", "inaudible", "indistinct", "instrumental", "laugh", "laughing", "laughs",
    "laughter", "music", "noise", "overlapping", "pause", "ringing", "sigh", "sighing",
    "sighs", "silence", "singing", "sniffs", "speaking", "static", "unintelligible", "whispering",
    # German, French, Spanish, Portuguese, Italian, Dutch
    "applaus", "beifall", "gelächter", "lachen", "lacht", "musik", "stille", "unverständlich",
    "applaudissements", "musique", "rires", "rire", "aplausos", "música", "risas",
    "risa", "silencio", "risos", "inaudível", "applausi", "musica", "risate",
    "gelach", "muziek",
    # Russian, Arabic, Hindi, Japanese, Chinese, Korean
    "музыка", "аплодисменты", "смех", "موسيقى", "تصفيق", "ضحك", "संगीत", "तालियाँ", "हँसी",
    "音楽", "拍手", "笑い", "笑", "笑い声", "音乐", "音樂", "掌声", "掌聲", "笑声", "笑聲",
    "음악", "박수", "웃음"
})  # fmt: skip
_MOST_WORDS = 4  # in a description of a sound


def caption_source(raw: Raw, kind: str, read: Callable[[str], CueFile]) -> Source:
    """A source of the cues that `read` finds in `raw`.

    Raises:
        SourceError: `corrupt` where there is no cue; `no-text`, `empty`, `binary`, `too-large`
            or `unreadable`.
    """
    decoded, warnings = decode(raw)
    cleaned = clean(decoded)
    require_few_marks(cleaned.text, raw)
    if "-->" not in require_words(cleaned.text, raw):
        raise SourceError(
            "corrupt",
            f"{shown(raw.origin)}: no captions with times in it; save a plain text as .txt",
        )
    found = read(cleaned.text)
    hidden = Cleaned("", cleaned.removed + found.hidden)
    return transcript(
        raw,
        kind,
        said_in(unrolled(found.cues)),
        title=one_line(found.fields.get("title")),
        declared=found.fields.get("language"),
        hidden=hidden.removed,
        warnings=(*warnings, *_untimed(found.untimed), *hidden_warning(decoded, hidden)),
    )


def require_few_marks(text: str, raw: Raw) -> None:
    """Refuse a text whose lines and marks would take more than some seconds to read.

    Raises:
        SourceError: `too-large`.
    """
    if sum(map(text.count, _MARKS)) > _MOST_MARKS:
        raise SourceError("too-large", f"{shown(raw.origin)}: too many captions; split the file")


def _untimed(count: int) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"the times of {count} {'caption' if count == 1 else 'captions'} cannot be read",)


def said_in(cues: Sequence[Cue]) -> Iterator[Said]:
    """What is said in `cues`, each line apart, with its speaker and the times of its cue."""
    reader = _Reader(_often_named(cues))
    for cue in cues:
        yield from reader.read(cue)


def without_sounds(line: str, names: frozenset[str] = frozenset()) -> str:
    """`line` without descriptions of sounds and signs of music; "" where it holds nothing else.

    A line in square brackets is such a description, unless it is one of `names`.

    >>> without_sounds("[MUSIC] Welcome (laughs) to the show"), without_sounds("♪ [Applause] ♪")
    ('Welcome to the show', '')
    """
    if line.isascii() and "[" not in line and "(" not in line:
        return line
    if "[" in line:
        line = _BRACKETS.sub(lambda one: "" if _is_sound(one[1], _MOST_WORDS) else one[0], line)
    if "(" in line:
        line = _ROUND.sub(lambda one: "" if _is_sound(one[1], 1) else one[0], line)
    if not line.isascii():
        line = _NOTES.sub("", line)
    line = " ".join(line.split())
    alone = _BRACKETS.fullmatch(line) or _ROUND.fullmatch(line)
    if alone is None or alone[1] in names:
        return line
    return "" if line[0] == "[" or alone[1].isupper() else line


def _is_sound(words: str, most: int) -> bool:
    found = _WORD.findall(words.lower())
    return 0 < len(found) <= most and not _SOUNDS.isdisjoint(found)


def _often_named(cues: Iterable[Cue]) -> frozenset[str]:
    """Names that stand before at least two lines."""
    counts: Counter[str] = Counter()
    for cue in cues:
        for line in cue.lines:
            text = _CHEVRONS.sub("", line.text, count=1) if ">" in line.text else line.text
            found = _named_in(text)
            # Capitals alone in brackets tell of a sound.
            if found is not None and (found.end() < len(text) or not found[1].isupper()):
                counts[found[1]] += 1
    return frozenset(name for name, count in counts.items() if count > 1)


def _named_in(text: str) -> regex.Match[str] | None:
    """What looks like a name before what is said."""
    if text.startswith("["):
        return _IN_BRACKETS.match(text)
    return _BEFORE_COLON.match(text) if ":" in text or "：" in text else None


@dataclass(slots=True)
class _Reader:
    """Who speaks, from one line to the next."""

    often: frozenset[str]
    speaker: str | None = None
    open: bool = False
    """Whether the sentence said last goes on."""
    fresh: bool = False
    """Whether somebody else has begun, who has not yet said a word."""
    end: float | None = None
    """When the last cue ended."""

    def read(self, cue: Cue) -> Iterator[Said]:
        if self.end is not None and cue.start is not None and cue.start - self.end >= _PAUSE:
            self.open = False
        self.end = cue.end
        dashed = sum(_DASH.match(line.text) is not None for line in cue.lines) > 1
        for at, line in enumerate(cue.lines):
            for one in self._words(line, dashed=dashed, more=at + 1 < len(cue.lines)):
                if text := without_sounds(one):
                    yield Said(text, cue.start, cue.end, self.speaker, self.fresh)
                    self.open, self.fresh = _ENDED.search(text) is None, False
            if line.ends:
                self.speaker = None

    def _words(self, line: Line, *, dashed: bool, more: bool) -> Iterator[str]:
        """The words of a line, apart where another speaks, who is then the speaker."""
        text = without_sounds(line.text, self.often)
        if line.voice is not None:
            self.speaker = line.voice
            yield text
            return
        dash = _DASH.match(text) if dashed else None
        if dash is not None:
            text = text[dash.end() :]
            self._another(None)
        if ">" not in text:
            yield from self._named(text, more=more)
            return
        at = 0
        for mark in _CHEVRONS.finditer(text):
            yield from self._named(text[at : mark.start()], more=True)
            self._another(None)
            at = mark.end()
        yield from self._named(text[at:], more=more)

    def _named(self, text: str, *, more: bool) -> Iterator[str]:
        found = self._name(text, more=more)
        if found is not None:
            self._another(speaker_named(found[1]))
            text = text[found.end() :]
        if text:
            yield text

    def _another(self, speaker: str | None) -> None:
        self.speaker, self.open, self.fresh = speaker, False, True

    def _name(self, text: str, *, more: bool) -> regex.Match[str] | None:
        """The name before what is said; `more` if words may follow on another line.

        A colon stands in ordinary sentences, too. So a name stands before several lines of the
        file, or where nobody's sentence is open; in scripts without capitals the latter counts
        only if the file names others.
        """
        found = _named_in(text)
        if found is None or not (more or found.end() < len(text)):
            return None
        name = found[1]
        if _is_sound(name, _MOST_WORDS) or name.split()[0].lower() in _NO_NAMES:
            return None
        likely = name[0].isupper() or bool(self.often)
        known = name in self.often or (likely and not self.open)
        if text[0] != "[" or found[2]:
            return found if known else None
        # Editors put words in brackets as well; capitals alone tell of sounds.
        return found if known and (name in self.often or not name.isupper()) else None
