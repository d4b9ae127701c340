"""What somebody wrote in a mail, without what they quoted and signed with.

Works on lines, so that plain mails and mails made from HTML are read by the same rules.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

__all__ = [
    "flowed",
    "without_attribution",
    "without_earlier",
    "without_quotes",
    "without_service",
    "without_signature",
]

_SIGNATURE = 20  # lines; RFC 3676 speaks of few, and more is no signature but the mail itself
_WRAPPED = 3  # lines that a program breaks "On ... wrote:" into
_LINE = 400  # characters; longer lines are prose
_MOST = 500  # lines tried as the beginning of an earlier mail; each costs thousands of steps
_QUOTED = re.compile(r"\s{0,3}>")
_STUFFED = re.compile(r"(>*)(?: )?(.*)", re.DOTALL)
# "On 12 May, Ann wrote:" as mail programs say it, in the commonest languages among their users.
_ATTRIBUTION = re.compile(
    r"""\s*
    (?:On|Am|Le|El|Em|Il|Op|Den|D\.|På|W\ dniu|Dne|Dňa)\b[^\n]{0,400}
    (?:wrote|schrieb|écrit|escribió|escreveu|scritto|schreef|skrev|napisał|napsal|napísal)
    [^\n]{0,80}:\s*
    """,
    re.VERBOSE,
)
_ONE_LINE_ATTRIBUTION = re.compile(
    r"(?=[^\n]*[@\d])[^\n]{3,200}\b(?:wrote|schrieb) ?:\s*|\s*\d{4}年[^\n]{3,200}[:：]\s*"
)
_ORIGINAL = re.compile(
    r"\s*-{2,20}\s{0,3}(?:Original Message|Original Appointment|Ursprüngliche Nachricht|"
    r"Originalnachricht|Message d'origine|Mensaje original|Mensagem original|"
    r"Messaggio originale|Oorspronkelijk bericht)\s{0,3}-{2,20}\s*",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    r"unsubscribe|manage (?:your )?(?:preferences|subscription)|(?:view|open|read).{0,30} browser"
    r"|abmelden|abbestellen|abbestellung|im browser|désabonner|désinscri|votre navigateur"
    r"|darse de baja|cancelar (?:la |tu |su )?suscripci|en (?:tu|su|el) navegador|disiscriv"
    r"|cancellati|cancelar (?:a )?(?:inscrição|assinatura)|uitschrijven|afmelden|in je browser"
    r"|avregistrera|avprenumerera|wypisz|配信停止|退订",
    re.IGNORECASE,
)
_SERVICE_LINE = 200  # characters; a longer paragraph that speaks of browsers is the text
_RULE = re.compile(r"\s*[_\-=*]{5,200}\s*")
_FROM = re.compile(r"\W{0,5}(?:From|Von|De|Da|Van|Från|Fra|Od|发件人|差出人)\s?\*{0,2}[:：].+")
_SUBJECT = re.compile(
    r"\W{0,5}(?:Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Temat|主题|件名)"
    r"\s?\*{0,2}[:：]"
)
_SENT = re.compile(
    r"\W{0,5}(?:Sent|Date|Gesendet|Datum|Envoyé|Date|Enviado(?: el)?|Fecha|Data|Enviada|Inviato|"
    r"Verzonden|Skickat|Sendt|Wysłano|发送时间|送信日時)(?: am| em)?\s?\*{0,2}[:：]"
)
_HEADER_BLOCK = 8  # lines, blank ones included, from the sender to the subject


def flowed(text: str, *, delete_space: bool = False) -> str:
    r"""A body of `format=flowed` with its paragraphs on one line each (RFC 3676, 4).

    Lines are joined only where both are quoted equally deep; the line `-- ` before a signature
    is never joined. `delete_space` is the parameter `DelSp=yes`.

    >>> flowed("One \ntwo\n-- \nAnn")
    'One two\n-- \nAnn'
    """
    lines: list[list[str]] = []
    depth, open_line = 0, False
    for line in text.split("\n"):
        found = _STUFFED.fullmatch(line)
        quotes, words = (found[1], found[2]) if found else ("", line)
        soft = words.endswith(" ") and words != "-- "
        part = words[:-1] if soft and delete_space else words
        if open_line and len(quotes) == depth and words != "-- ":
            lines[-1].append(part)
        else:
            lines.append([f"{quotes} ", part] if quotes else [part])
        depth, open_line = len(quotes), soft
    return "\n".join(map("".join, lines))


def without_quotes(text: str) -> str:
    """A plain reply without the lines of the mail it answers, and without who wrote them."""
    lines = text.split("\n")
    quoted = [bool(_QUOTED.match(line)) for line in lines]
    dropped: set[int] = set()
    for first, last in _attributions(lines):
        if any(quoted[last : last + 3]):
            dropped.update(range(first, last))
    kept = (line for at, line in enumerate(lines) if not quoted[at] and at not in dropped)
    return "\n".join(kept)


def without_attribution(text: str) -> str:
    """`text` without a last line such as "On 12 May, Ann wrote:", whose quotation is gone."""
    lines = text.rstrip().split("\n")
    for first, last in _attributions(lines[-_WRAPPED:]):
        if last == len(lines[-_WRAPPED:]):
            return "\n".join(lines[: len(lines) - (last - first)]).rstrip()
    return text


def without_earlier(text: str) -> str:
    """`text` up to where a mail program put the earlier mail: its header lines, or a rule."""
    lines = text.split("\n")
    senders = (at for at, line in enumerate(lines) if _FROM.match(line[:_LINE]))
    headers = (at for at in itertools.islice(senders, _MOST) if _begins_header(lines, at))
    rules = (at for at, line in enumerate(lines) if _ORIGINAL.fullmatch(line[:_LINE]))
    first = min(next(headers, len(lines)), next(rules, len(lines)))
    if first == len(lines):
        return text
    kept = lines[:first]
    while kept and (not kept[-1].strip() or _RULE.fullmatch(kept[-1])):
        kept.pop()
    return "\n".join(kept)


def without_signature(text: str) -> str:
    """`text` up to its last line `-- ` (RFC 3676, 4.3), where few lines follow it."""
    lines = text.rstrip("\n").split("\n")
    for at in range(len(lines) - 1, max(-1, len(lines) - 2 - _SIGNATURE), -1):
        if lines[at].rstrip() in ("--", "\\--"):
            return "\n".join(lines[:at])
    return text


def without_service(text: str) -> str:
    """`text` without what newsletters put around it: how to unsubscribe, where to see a copy."""
    parts = text.split("\n\n")
    while len(parts) > 1 and _is_service(parts[-1]):
        parts.pop()
    return "\n\n".join(parts[1:] if len(parts) > 1 and _is_service(parts[0]) else parts)


def _is_service(paragraph: str) -> bool:
    return len(paragraph) <= _SERVICE_LINE and _SERVICE.search(paragraph) is not None


def _attributions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the line after the last of each "On ... wrote:"."""
    ends = (at for at, line in enumerate(lines, 1) if line.rstrip().endswith((":", "：")))
    for last in itertools.islice(ends, _MOST):
        if len(lines[last - 1]) > _LINE:
            continue
        count = next((one for one in range(1, _WRAPPED + 1) if _is_wrapped(lines, last, one)), 0)
        if not count and _ONE_LINE_ATTRIBUTION.fullmatch(lines[last - 1]):
            count = 1
        if count:
            yield last - count, last


def _is_wrapped(lines: Sequence[str], last: int, count: int) -> bool:
    part = lines[max(0, last - count) : last]
    return sum(map(len, part)) <= _LINE and _ATTRIBUTION.fullmatch(" ".join(part)) is not None


def _begins_header(lines: Sequence[str], at: int) -> bool:
    """Whether the line of a sender at `at` belongs to the header lines of an earlier mail."""
    following = [line[:_LINE] for line in lines[at + 1 : at + _HEADER_BLOCK]]
    return any(map(_SUBJECT.match, following)) and any(map(_SENT.match, following))
