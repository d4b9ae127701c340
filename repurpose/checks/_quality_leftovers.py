"""What a model left in its answer that is not meant for readers.

What stands in the source in the same words is no leftover: there are articles about chat
templates, and about newsletters with a `{{name}}` in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from repurpose.checks._quality_reading import Defect, Passage, sentences_of, words_of
from repurpose.text.boundary import forged_spans

__all__ = ["chat_tokens", "dangling_references", "echoes", "link_only", "placeholders"]

_TOKEN = re.compile(
    r"\|(?:im_start|im_end|im_sep|endoftext|eot_id|eom_id|end|system|user|assistant"
    r"|(?:start|end)_header_id|(?:begin|end)_of_text|fim_[a-z]{1,9})\|"
    r"|<(?:unk|pad|mask|eos|bos|0x[0-9A-F]{2})>|\[(?:UNK|PAD|SEP|CLS|MASK|BOS|EOS)\]"
    r"|^#{2,4} ?(?:Instruction|Response|Assistant|Human|System)s?:"
    r"|[▁ĠĊ](?=[^\W_])",
    re.MULTILINE,
)
"""Halves and kinds of tokens that the fence around a prompt need not know."""

_PLACEHOLDER = re.compile(
    r"\{\{[#/^]?\s?[^\W\d_][\w .|-]{0,60}+\}\}|\*\|[A-Z_:]{1,40}+\|\*|%[A-Z_]{3,30}+%"
    r"|\b[Ll]orem ipsum\b"
    r"|\[(?P<inside>[^\W\d_][^\[\]\n]{1,48}+)\](?![(\[])"
)
_NAMED = (
    "address app author brand brand_name city company company_name customer date email event"
    " first_name firstname headline hashtag hashtags image insert last_name link name number"
    " organisation organization phone photo product product_name recipient sender service"
    " title url website"
    " adresse ansprechpartner betreff datum firma firmenname kunde nachname ort produkt"
    " unternehmen vorname webseite"
    " correo empresa enlace fecha nombre producto"
    " entreprise lien nom prénom produit société"
    " data empresa_nome nome produto"
)
_PLACEHOLDER_NAMES = frozenset(name.replace("_", " ") for name in _NAMED.split())
_PLACEHOLDER_STARTS = frozenset(
    {"add", "enter", "insert", "paste", "put", "your", "here", "dein", "deine", "euer", "füge",
     "ihr", "ihre", "ihren", "hier", "insertar", "inserte", "inserta", "inserir", "insérer",
     "insérez", "inserisci", "votre", "tu", "su", "seu", "sua"}
)  # fmt: skip
_PLACEHOLDER_ENDS = frozenset({"here", "hier", "aquí", "ici", "einfügen", "einsetzen", "eintragen"})

_REFERENCE = re.compile(
    r"\[[^\[\]\n]{1,200}+\]\[[^\[\]\n]{0,100}+\]|(?P<image>!\[)|(?<![\])])\[\^?[1-9]\d{0,2}\](?![(:])"
)

_LINK = re.compile(r"[<(]?(?:[a-z][a-z0-9+.-]{1,20}+://|www\.)", re.IGNORECASE)

_LOOKED_UP = 50
"""So many of a passage are looked for in the source; a passage with more is an odd one anyway."""
_GRAM = 4
_ECHO_WORDS, _ECHO_ANYWHERE = 7, 12
"""A run of the task's words this long is an echo where it fills half of a passage; anywhere."""
_SHORT_ECHO = 4
"""Words from which a passage that is one whole sentence of the task is an echo."""
_EXAMPLE = re.compile(r"(?<![^\s(])\"[^\"\n]{1,200}+\"|“[^”\n]{1,200}+”|`[^`\n]{1,200}+`")
"""Wordings that a task quotes, as examples or because they are wanted."""


def chat_tokens(passage: Passage, source: str) -> Iterator[Defect]:
    """Control tokens of chat templates, whole or half, and the tags of our own prompts."""
    text = passage.text
    if not (passage.odd or "###" in text or "&lt;" in text):
        return
    found = [text[start:end] for start, end in forged_spans(text)]
    found += [match.group() for match in _TOKEN.finditer(text)]
    if any(token not in source for token in list(dict.fromkeys(found))[:_LOOKED_UP]):
        message = "holds a control token of the model's chat template"
        yield Defect(passage.path, message, unusable=True)


def placeholders(passage: Passage, source: str) -> Iterator[Defect]:
    """Places that somebody was to fill: `[link]`, `{{name}}`, filler text."""
    if not (passage.odd or "orem ipsum" in passage.text):
        return
    for match in islice(_PLACEHOLDER.finditer(passage.text), _LOOKED_UP):
        inside = match["inside"]
        if (inside is None or _is_placeholder(inside)) and match.group() not in source:
            message = "holds a placeholder that nobody filled"
            yield Defect(passage.path, message, unusable=True)
            return


def link_only(passage: Passage) -> Iterator[Defect]:
    """A link where a text was asked for; small models invent them."""
    if all(map(_LINK.match, passage.body.split())):
        yield Defect(passage.path, "is a link and nothing else", unusable=True)


def dangling_references(passage: Passage) -> Iterator[Defect]:
    """Markdown that points to a target outside the text: `[text][ref]`, `[1]`, `![`."""
    if not passage.odd:
        return
    for match in _REFERENCE.finditer(passage.text):
        if match["image"]:
            yield Defect(passage.path, "holds the Markdown of an image", unusable=False)
            return
        if not _is_listed(match.group(), passage.text):
            message = "holds a Markdown reference whose target is missing"
            yield Defect(passage.path, message, unusable=False)
            return


def echoes(passage: Passage, instructions: str, source: str) -> Iterator[Defect]:
    """Wording of our own task in place of an answer to it."""
    words = _without_marker(passage.words)
    runs, sentences = _instructed(instructions)
    if len(words) >= _SHORT_ECHO and words in sentences:
        echoed: tuple[str, ...] = words
    elif runs.isdisjoint(zip(*(words[at::_GRAM] for at in range(_GRAM)), strict=False)):
        # A run of seven words holds a run of four that begins at a multiple of four.
        return
    else:
        echoed = _longest_run(words, runs)
        least = _ECHO_ANYWHERE if 2 * len(echoed) < len(words) else _ECHO_WORDS
        if len(echoed) < least:
            return
    if f" {' '.join(echoed)} " not in _worded(source):
        yield Defect(passage.path, "repeats the task in place of doing it", unusable=True)


def _without_marker(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a passage without the number that small models put before each."""
    return words[1:] if words and words[0].isdigit() else words


@lru_cache(maxsize=1)  # for the further passages of the same answer
def _worded(source: str) -> str:
    """The words of the source, each with a space on both sides."""
    return f" {' '.join(words_of(source))} "


@lru_cache(maxsize=32)  # a run has one task for each format
def _instructed(
    instructions: str,
) -> tuple[frozenset[tuple[str, ...]], frozenset[tuple[str, ...]]]:
    """The four-word runs of the task, and its sentences; wordings that it quotes left out."""
    task = _EXAMPLE.sub("\n", instructions)
    sentences = [each.words for each in sentences_of(task.replace('"', "\n"))]
    runs = frozenset(
        words[at : at + _GRAM] for words in sentences for at in range(len(words) - _GRAM + 1)
    )
    return runs, frozenset(sentences)


def _longest_run(words: tuple[str, ...], runs: frozenset[tuple[str, ...]]) -> tuple[str, ...]:
    """The longest stretch of `words` all of whose four-word runs are in `runs`."""
    longest = (0, 0)
    start = 0
    for at in range(len(words) - _GRAM + 2):
        if words[at : at + _GRAM] in runs and at + _GRAM <= len(words):
            continue
        if at > start and at - start > longest[1] - longest[0]:
            longest = (start, at)
        start = at + 1
    return words[longest[0] : longest[1] + _GRAM - 1] if longest[1] else ()


def _is_placeholder(inside: str) -> bool:
    """Whether brackets around these words ask somebody to fill them."""
    words = inside.lower().split()
    if len(words) > 1 and (words[0] in _PLACEHOLDER_STARTS or words[-1] in _PLACEHOLDER_ENDS):
        return True
    return " ".join(words) in _PLACEHOLDER_NAMES or (
        len(words) <= 3 and inside[:1].isupper() and words[-1] in _PLACEHOLDER_NAMES
    )


def _is_listed(reference: str, text: str) -> bool:
    """Whether a line of `text` begins with the reference: a list of sources, for example."""
    return reference.startswith("[") and (text.startswith(reference) or f"\n{reference}" in text)
