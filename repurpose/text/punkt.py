"""NLTK's Punkt as a segmenter, with tables of the user's own or none; imported only when chosen.

A model is four tables: abbreviations, collocations, sentence starters and the contexts a word was
seen in. They are read as text or JSON. Pickled models are never read, since loading one runs code.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nltk.data
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from repurpose.errors import UsageError
from repurpose.text._abbreviations import vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

    from repurpose.text.counting import Span
    from repurpose.text.sentences import Segmenter

__all__ = ["punkt_segmenter", "read_punkt", "save_punkt"]

_FORMAT = "punkt-1"
_TABLES = ("abbrev_types.txt", "collocations.tab", "sent_starters.txt", "ortho_context.tab")
_LANGUAGES = {
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "fi": "finnish",
    "fr": "french",
    "it": "italian",
    "ml": "malayalam",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ru": "russian",
    "sl": "slovene",
    "sv": "swedish",
    "tr": "turkish",
}
"""The names of the `punkt_tab` tables, by language code."""


def punkt_segmenter(path: str | None = None) -> Segmenter:
    """A segmenter that runs Punkt: with the model at `path`, else with what the user has.

    Without a path it takes the `punkt_tab` tables of the language where NLTK finds them, and
    else an untrained Punkt with our abbreviations. It never downloads. A model at `path` serves
    every language.

    Raises UsageError where `path` holds no model.
    """
    if path is not None:
        own = PunktSentenceTokenizer(read_punkt(Path(path)))
        return lambda text, _language: _spans(own, text)
    return lambda text, language: _spans(_tokenizer(language), text)


def save_punkt(parameters: PunktParameters, path: Path) -> None:
    """Write a trained model as one JSON file that `read_punkt` reads back equal.

    `parameters` is what `nltk.tokenize.punkt.PunktTrainer.get_params` gives. The same model
    always gives the same bytes.
    """
    model = {
        "format": _FORMAT,
        "abbreviations": sorted(parameters.abbrev_types),
        "collocations": sorted(map(list, parameters.collocations)),
        "starters": sorted(parameters.sent_starters),
        "contexts": dict(sorted(parameters.ortho_context.items())),
    }
    path.write_text(json.dumps(model, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read_punkt(path: Path) -> PunktParameters:
    """The model at `path`: a folder in `punkt_tab` format, or a file written by `save_punkt`.

    Raises UsageError where it is missing or is not such a model.
    """
    try:
        if path.is_dir():
            return _from_tables(lambda name: (path / name).read_text(encoding="utf-8"))
        return _from_json(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"no Punkt model at {path}",
            hint="Name a folder with abbrev_types.txt, collocations.tab, sent_starters.txt and "
            "ortho_context.tab, or a JSON file written by repurpose.text.punkt.save_punkt.",
        ) from error


def _from_tables(read: Callable[[str], str]) -> PunktParameters:
    """The model whose four tables `read` gives by their file names."""
    abbreviations, collocations, starters, contexts = (
        [line for line in read(name).splitlines() if line] for name in _TABLES
    )
    counted = [line.rsplit("\t", 1) for line in contexts]
    return _parameters(
        abbreviations=abbreviations,
        collocations=[line.split("\t") for line in collocations],
        starters=starters,
        contexts={word: int(context) for word, context in counted},
    )


def _from_json(path: Path) -> PunktParameters:
    text = path.read_text(encoding="utf-8")
    # A file of the user's own, not an answer of a model: the layer below schema reads it itself.
    model = json.loads(text)  # noqa: TID251
    if model["format"] != _FORMAT:
        raise ValueError("another format")
    return _parameters(
        abbreviations=model["abbreviations"],
        collocations=model["collocations"],
        starters=model["starters"],
        contexts=model["contexts"],
    )


def _parameters(
    *,
    abbreviations: list[Any],
    collocations: list[Any],
    starters: list[Any],
    contexts: dict[Any, Any],
) -> PunktParameters:
    """The four tables as NLTK wants them; TypeError or ValueError where they are none."""
    words = [*abbreviations, *starters, *(word for pair in collocations for word in pair)]
    numbers = list(contexts.values())
    if not all(isinstance(word, str) for word in [*words, *contexts]):
        raise TypeError("a word that is no text")
    if not all(type(number) is int for number in numbers):
        raise TypeError("a context that is no number")
    parameters = PunktParameters()
    parameters.abbrev_types = set(abbreviations)
    parameters.collocations = {(first, second) for first, second in collocations}
    parameters.sent_starters = set(starters)
    parameters.ortho_context = defaultdict(int, contexts)
    return parameters


@cache
def _tokenizer(language: str) -> PunktSentenceTokenizer:
    """Punkt for a language: the user's tables, or none but our abbreviations."""
    name = _LANGUAGES.get(language)
    if name:
        try:
            folder = nltk.data.find(f"tokenizers/punkt_tab/{name}/")
            return PunktSentenceTokenizer(_from_tables(partial(_read_table, folder)))
        except (LookupError, OSError, ValueError, TypeError):
            pass  # not installed, or not readable: the untrained one is always there
    words = vocabulary(language)
    parameters = PunktParameters()
    # Only these: without tables Punkt never ends a sentence after an abbreviation, and the layer
    # above knows better when one may.
    parameters.abbrev_types = set(words.titles | words.never)
    return PunktSentenceTokenizer(parameters)


def _read_table(folder: nltk.data.PathPointer, name: str) -> str:
    """One table from where NLTK keeps it, a folder or a zip archive."""
    with folder.join(name).open(encoding="utf-8") as table:
        return str(table.read())


def _spans(tokenizer: PunktSentenceTokenizer, text: str) -> list[Span]:
    return list(tokenizer.span_tokenize(text))
