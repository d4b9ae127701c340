"""The few words of ours in an extracted text, and how questions and definitions look.

Three templates exist, because without them there would be no question and no link: a question
about a heading, "What is X?" for a sentence that defines X, and "Read the full article: ADDRESS".
Each stands in the article's language; in a language without one the heading or the address
stands bare.
"""

from __future__ import annotations

import regex

from repurpose.engines._extract_language import language_named

__all__ = ["about", "defined", "question_of", "read_more"]

# What looks like a name to a pattern and is none; the languages' words do not collide.
_NO_NAME = regex.compile(
    r"""(?ix)
    ^(?:the|this|that|it|he|she|we|you|they|there|here|what|who|which|one|each|another|everyone
    |everything|nobody|nothing|no|not|if|when|while|as|in|on|at|for|to|by|with|of|all|some|most
    |many|such|our|my|your|his|her|its|their|both|part|half|first|second|next|so|but|and|or|now
    |today|yesterday)\b
    | \b(?:that|which|who|and|or|of|in|on|for|to|way|reason|problem|result|thing|point|part
    |answer)$
    """
)


def about(heading: str, language: str) -> str:
    """A question about a heading, or the heading where the language has no template.

    >>> about("Costs", "en")
    'What does the article say about “Costs”?'
    """
    template = language_named(language).about
    if template is None:
        return heading
    if "「" in heading:
        template = template.replace("「", "『").replace("」", "』")
    return template.format(heading)


def read_more(address: str, language: str) -> str:
    """An invitation to the whole article, or the address where the language has no template."""
    template = language_named(language).read_more
    return template.format(address) if template else address


def question_of(heading: str, language: str) -> str | None:
    """A heading that asks without a question mark, with it; None where the heading tells.

    >>> question_of("What was slow", "en"), question_of("How we cut waste", "en")
    ('What was slow?', None)
    """
    known = language_named(language)
    text = heading.rstrip(" .:!。：")
    if known.asks is None or not known.asks.search(text.lower()):
        return None
    question = text + known.question_mark
    return f"¿{question}" if language == "es" and "¿" not in question else question


def defined(sentence: str, language: str) -> tuple[str, str] | None:
    """What a sentence defines, and the question for it; None where it defines nothing.

    A name of several words may be a person's, so whoever asks must know that it is a thing.

    >>> defined("A tool library is a collection of tools.", "en")
    ('A tool library', 'What is a tool library?')
    """
    for pattern, question, lower in language_named(language).definitions:
        found = pattern.search(sentence)
        if found and not _NO_NAME.search(found["x"]):
            name = found["x"].strip()
            return name, question.format(name[:1].lower() + name[1:] if lower else name)
    return None
