"""Where X sees a link in a text, by the published rules of twitter-text 3.

A link is an address with `http://` or `https://`, or a bare host whose last part is a top-level
domain, with the path and query that follow it. The rules were written down by twitter-text
(its README and conformance files); the code is ours. One pass over the text, whatever it holds.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import regex

__all__ = ["link_spans", "top_level_domains"]

_INVALID = "\ufffe\ufeff\uffff"
_MARKS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # directional marks: not part of a host
_SPACES = "\t-\r \x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_PUNCTUATION = r"!'#%&()*+,\\/:;<=>?@\[\]\^{|}~$"
_ACCENTED = (
    "\xc0-\xd6\xd8-\xf6\xf8-\xff\u0100-\u024f\u0253\u0254\u0256\u0257\u0259\u025b\u0263\u0268"
    "\u026f\u0272\u0289\u028b\u02bb\u0300-\u036f\u1e00-\u1eff"
)
_CYRILLIC = "\u0400-\u04ff"
_PATH = rf"A-Za-z0-9{_CYRILLIC}{_ACCENTED}!*';:=+,.$/%#\[\]\-\u2013_~@|&"

_BREAKS = _PUNCTUATION + _SPACES + _INVALID + _MARKS
_HOST_RUN = re.compile(rf"[^{_BREAKS}]+")
_HOST_BREAK = regex.compile(rf"(?r)[{_BREAKS}]")
_IN_LABEL = rf"[^{_BREAKS}.\-_]"
_INNER_STOP = re.compile(rf"\.(?<={_IN_LABEL}\.)(?={_IN_LABEL})")  # few words hold what hosts do
_HOST_START = re.compile(rf"(?<![A-Za-z0-9@＠$#＃{_INVALID}])[^\-_.]")
_SCHEME = re.compile(rf"(?ai)(?<![a-z0-9@＠$#＃{_INVALID}])https?://\Z")
_TOP_LEVEL = re.compile(r"(?ai)xn--[-0-9a-z]++|[0-9a-z]++")
_GOES_ON = re.compile(r"[-+@0-9A-Za-z]")
_ASCII_LABEL = re.compile(rf"[-A-Za-z0-9{_ACCENTED}]++")
_ASCII_END = re.compile(rf"[-A-Za-z0-9{_ACCENTED}]*+\Z")
_LABEL_END = re.compile("[.\u3002\uff0e\uff61]")  # the full stops of RFC 3490
_PORT = re.compile(r":[0-9]+")
_PATH_RUN = re.compile(
    rf"/(?:[{_PATH}]++|\((?:[{_PATH}]++\)|[{_PATH}]*+\([{_PATH}]++\)[{_PATH}]*+\)))*+"
)
_QUERY_RUN = re.compile(r"\?[A-Za-z0-9!?*'@();:&=+$/%#\[\]\-_.,~|]*+")
_SHORT_LINK = re.compile(r"(?ai)(https?://t\.co/([a-z0-9]++))")

_NOT_AT_PATH_END = "!*';:,.$%[]\u2013~@|&"
_NOT_AT_QUERY_END = "!?*'@();:+$%[].,~|"
_MAX_URL = 4096  # twitter-text: longer ones are text
_MAX_SLUG = 40  # twitter-text: longer t.co slugs are text
_MAX_LABEL = 63  # RFC 1035, counted in the encoded form
_MAX_SCHEME = len("https://") + 1  # one more, for the character before it

Span = tuple[int, int]


class _Match(NamedTuple):
    """A host found in a run of host characters: labels `first` to `last`, then its TLD."""

    start: int
    first: int
    last: int
    end: int


class _Run:
    """A run of host characters, split at its full stops."""

    __slots__ = ("far", "labels", "text", "tld_end")

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.labels: list[Span] = []
        for label in text[start:end].split("."):
            self.labels.append((start, start + len(label)))
            start += len(label) + 1
        self.tld_end = [_tld_end(text, *label) for label in self.labels]
        """For each label: where a top-level domain that begins it ends, or 0."""
        self.far = self._far()
        """For each label that can stand inside a host: the last label before a TLD, or -1."""

    def _far(self) -> list[int]:
        far = [-1] * (len(self.labels) + 1)
        for index in range(len(self.labels) - 1, -1, -1):
            label = self.text[slice(*self.labels[index])]
            if not label or label[0] in "-_" or label[-1] in "-_":
                continue
            far[index] = far[index + 1]
            if far[index] < 0 and "_" not in label and self._tld_after(index):
                far[index] = index
        return far

    def _tld_after(self, index: int) -> int:
        return self.tld_end[index + 1] if index + 1 < len(self.labels) else 0

    def host_at(self, index: int, low: int) -> _Match | None:
        """The longest host that begins in label `index`, not before `low`."""
        end = self.labels[index][1]
        found = _HOST_START.search(self.text, low, end)
        if not found or self.text[end - 1] in "-_":
            return None
        start = found.start()
        last = self.far[index + 1]
        if last < 0:
            if not self._tld_after(index):
                return None
            last = index
            # A domain name holds no underscore, so the match begins after it.
            start = max(start, self.text.rfind("_", start, end) + 1)
        return _Match(start, index, last, self.tld_end[last + 1])

    def ascii_hosts(self, match: _Match) -> list[Span]:
        """The hosts in ASCII or accented Latin letters inside a host without a scheme."""
        far = [-1] * (match.last + 2)
        for index in range(match.last, match.first, -1):
            if _ASCII_LABEL.fullmatch(self.text, *self.labels[index]):
                later = far[index + 1]
                far[index] = index if later < 0 and self.tld_end[index + 1] else later
        hosts: list[Span] = []
        low, index = match.start, match.first
        while index <= match.last:
            end = self.labels[index][1]
            begin = _ascii_tail(self.text, max(low, self.labels[index][0]), end)
            last = far[index + 1]
            if last < 0 and self.tld_end[index + 1]:
                last = index
            if begin == end or last < 0:
                index += 1
                continue
            hosts.append((begin, self.tld_end[last + 1]))
            low, index = self.tld_end[last + 1], last + 1
        return hosts


def link_spans(text: str) -> list[Span]:
    """The links of `text` as X finds them: offsets in text order, without overlap.

    Not part of it: e-mail addresses, hosts right after `@`, `#` or `$`, addresses of other
    schemes, IP addresses, and hosts with a label of more than 63 characters.

    >>> link_spans("See example.com/a(b)c, not a@example.com")
    [(4, 21)]
    """
    spans: list[Span] = []
    if "." not in text:
        return spans
    done = run_end = 0
    for stop in _INNER_STOP.finditer(text):
        if stop.start() < run_end:
            continue
        before = _HOST_BREAK.search(text, run_end, stop.start())
        run = _HOST_RUN.match(text, before.end() if before else run_end)
        if run is None:  # pragma: no cover - a stop stands in a run
            continue
        run_end = run.end()
        if run_end > done:
            done = _links_in_run(text, run.span(), done, spans)
    return spans


def _links_in_run(text: str, span: Span, done: int, spans: list[Span]) -> int:
    """Add the links that begin in this run; return the offset up to which text is used up."""
    run = _Run(text, *span)
    index = 0
    while index + 1 < len(run.labels):
        start, end = run.labels[index]
        low = max(start, done + 1) if done else start
        if low == 0 < end - 1 and _HOST_START.match(text, 1):
            low = 1  # the first character of a text may be the one that has to stand before a host
        match = run.host_at(index, low) if low < end else None
        if match is None:
            index += 1
            continue
        scheme = _scheme_before(text, match.start, done) if match.start == span[0] else 0
        done = _add_links(run, match, scheme, spans)
        index = match.last + 1
    return done


def _add_links(run: _Run, match: _Match, scheme: int, spans: list[Span]) -> int:
    """Add what counts of one match; return where the whole match ends."""
    text, start = run.text, match.start
    path, end = _tail(text, match.end)
    if not _is_valid(text[start : match.end], (scheme or len("https://")) + end - start):
        return end
    if scheme:
        if link_end := _short_link_end(text, start - scheme, end):
            spans.append((start - scheme, link_end))
        return end
    if start and text[start - 1] in "-_./":
        return end
    hosts = run.ascii_hosts(match)
    if hosts and path:
        hosts[-1] = (hosts[-1][0], end)
    spans.extend(hosts)
    return end


def _scheme_before(text: str, start: int, done: int) -> int:
    """The length of `http://` or `https://` right before `start`, or 0."""
    found = _SCHEME.search(text, max(0, start - _MAX_SCHEME), start)
    if not found or (done and found.start() <= done):
        return 0
    return start - found.start()


def _tail(text: str, start: int) -> tuple[bool, int]:
    """Whether a path follows a host, and where port, path and query end."""
    end = start
    if port := _PORT.match(text, end):
        end = port.end()
    path = _PATH_RUN.match(text, end)
    if path:
        end += len(path.group().rstrip(_NOT_AT_PATH_END))
    query = _QUERY_RUN.match(text, end)
    if query:
        end += len(query.group().rstrip(_NOT_AT_QUERY_END))
    return path is not None, end


def _short_link_end(text: str, start: int, end: int) -> int:
    """Where the link ends, for t.co without what follows its slug; 0 if its slug is too long."""
    short = _SHORT_LINK.match(text, start, end)
    if not short:
        return end
    if len(short.group(2)) > _MAX_SLUG:
        return 0
    query = _QUERY_RUN.match(text, short.end(), end)
    return short.end() + (len(query.group().rstrip(_NOT_AT_QUERY_END)) if query else 0)


def _is_valid(host: str, length: int) -> bool:
    """Whether a host can be encoded (RFC 3490) and its address is no longer than X allows."""
    growth = 0
    for label in _LABEL_END.split(host):
        if not 0 < len(label) <= _MAX_LABEL:
            return False
        if label.isascii():
            continue
        encoded = len("xn--") + len(label.encode("punycode"))
        if encoded > _MAX_LABEL or label[:4].lower() == "xn--":
            return False
        growth += encoded - len(label)
    return length + growth <= _MAX_URL


def _ascii_tail(text: str, start: int, end: int) -> int:
    """Where the trailing ASCII or accented Latin letters of a label begin."""
    low = max(start, end - _MAX_LABEL - 1)  # a longer label is refused anyway
    found = _ASCII_END.search(text, low, end)
    return found.start() if found else end


def _tld_end(text: str, start: int, end: int) -> int:
    """Where the top-level domain at the beginning of a label ends, or 0.

    It may be followed by letters of another script, as in Japanese text without spaces, but
    not by an ASCII letter or digit, `-`, `+` or `@`.
    """
    known = top_level_domains()
    found = _TOP_LEVEL.match(text, start)
    ascii_end = found.end() if found else start
    for stop in range(min(start + _longest_other_script(), end), ascii_end, -1):
        if text[start:stop].lower() in known and not _GOES_ON.match(text, stop):
            return stop
    if found is None:
        return 0
    tld = found.group().lower()
    if tld.startswith("xn--"):
        return ascii_end
    return ascii_end if tld in known and not _GOES_ON.match(text, ascii_end) else 0


@cache
def top_level_domains() -> frozenset[str]:
    """Every top-level domain in lower case, in the letters of its own script.

    From the snapshot of the Public Suffix List that the tldextract package ships; nothing is
    downloaded.
    """
    # The file is read without importing tldextract: the import would load requests and urllib3
    # and take 0.2 seconds.
    package = find_spec("tldextract")
    if package is None or package.origin is None:  # pragma: no cover - a declared dependency
        raise ModuleNotFoundError("tldextract is not installed", name="tldextract")
    snapshot = Path(package.origin).with_name(".tld_set_snapshot").read_text(encoding="utf-8")
    public, _, _ = snapshot.partition("===BEGIN PRIVATE DOMAINS===")
    return frozenset(
        line.split()[0].rpartition(".")[2].lower()
        for line in public.splitlines()
        if line.strip() and not line.startswith("//")
    )


@cache
def _longest_other_script() -> int:
    return max(len(tld) for tld in top_level_domains() if not tld.isascii())
