"""Twenty articles with an abstract, read from vignettes of R packages as Debian ships them.

Most appeared in the Journal of Statistical Software. They are not part of this repository; each
comes from a Debian package (12, "bookworm"), and this fetches and unpacks them all into FOLDER:

    mkdir FOLDER && cd FOLDER
    apt-get download r-cran-{clue,coin,colorspace,flexmix,formula,kernlab,lme4,multcomp,party}
    apt-get download r-cran-{partykit,pscl,rcppeigen,sandwich,seriation,sets,sp,spacetime}
    apt-get download r-cran-{strucchange,systemfit,tsp}
    for package in *.deb; do dpkg-deb --extract $package .; done

The twenty were chosen before any summary was made: of 28 packages known for their vignettes, the
first twenty by name that have one in LaTeX with an abstract of 40 words or more and a body of
1,500 or more; of each its longest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ARTICLES", "Article", "read_article"]

VIGNETTES = "usr/lib/R/site-library"
"""Where Debian's packages of R unpack to."""
ARTICLES = (
    "clue/doc/clue.Rnw",
    "coin/doc/Implementation.Rnw",
    "colorspace/doc/hcl-colors.Rnw",
    "flexmix/doc/mixture-regressions.Rnw",
    "Formula/doc/Formula.Rnw",
    "kernlab/doc/kernlab.Rnw",
    "lme4/doc/lmer.Rnw",
    "multcomp/doc/generalsiminf.Rnw",
    "party/doc/party.Rnw",
    "partykit/doc/mob.Rnw",
    "pscl/doc/countreg.Rnw",
    "RcppEigen/doc/RcppEigen-Introduction.Rnw",
    "sandwich/doc/sandwich-CL.Rnw",
    "seriation/doc/seriation.Rnw",
    "sets/doc/sets.Rnw",
    "sp/doc/over.Rnw",
    "spacetime/doc/jss816.Rnw",
    "strucchange/doc/strucchange-intro.Rnw",
    "systemfit/doc/systemfit.Rnw",
    "TSP/doc/TSP.Rnw",
)
"""Below `VIGNETTES`."""

_LEFT_OUT = (
    "figure|table|tabular|equation|align|eqnarray|displaymath|verbatim|Verbatim|Sinput|Soutput"
    "|Schunk|Scode|CodeChunk|CodeInput|CodeOutput|Code|lstlisting|thebibliography|algorithm|center"
    "|array|smallverbatim|gather|multline|minipage|Example|Sinput"
)
_ENVIRONMENT = re.compile(rf"\\begin\{{({_LEFT_OUT})\*?\}}.*?\\end\{{\1\*?\}}", re.DOTALL)
_CHUNK = re.compile(r"^<<.*?>>=.*?^@[^\n]*$", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_DISPLAYED = re.compile(r"\\\[.*?\\\]|\$\$.*?\$\$", re.DOTALL)
_MATH = re.compile(r"(?<!\\)\$([^$]{0,300})\$")
_HEADING = re.compile(r"\\((?:sub){0,2})section\*?(?:\[[^\]]*\])?\{((?:[^{}]|\{[^{}]*\})*)\}")
_CITED = re.compile(
    r"[~ ]*\((?:see[~ ]|e\.g\.,?[~ ])?\\cite\w*(?:\[[^\]]*\])*\{[^}]*\}\)"
    r"|[~ ]*\\cite\w*(?:\[[^\]]*\])*\{[^}]*\}"
)
_SILENT = re.compile(
    r"\\(?:label|ref|eqref|pageref|index|footnote|bibliography\w*|begin|end|vspace|hspace|input"
    r"|includegraphics|setkeys|SweaveOpts|section\*?|Sexpr|caption|setlength|newpage|noindent"
    r"|clearpage|appendix|maketitle|item)\*?(?:\[[^\]]*\])?(?:\{(?:[^{}]|\{[^{}]*\})*\})*"
)
_COMMAND = re.compile(r"\\[A-Za-z]+\*?\s?(?:\[[^\]]*\])?")
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class Article:
    """An article without its abstract, and the abstract."""

    name: str
    title: str
    body: str
    """Markdown: headings and paragraphs."""
    abstract: str


def read_article(path: Path) -> Article | None:
    """The article in a LaTeX vignette; None where it has no abstract."""
    source = path.read_text("utf-8", "replace")
    source = _COMMENT.sub("", _CHUNK.sub("", source))
    abstract = _argument(source, r"\Abstract{") or _environment(source, "abstract")
    if abstract is None:
        return None
    begin = source.find(r"\section")
    title = _argument(source, r"\title{") or _argument(source, r"\Plaintitle{") or ""
    return Article(path.stem, _prose(title), _prose(source[begin:]), _prose(abstract))


def _argument(source: str, opening: str) -> str | None:
    """What stands between the braces of a command."""
    start = source.find(opening)
    if start < 0:
        return None
    depth, at = 1, start + len(opening)
    begin = at
    while depth and at < len(source):
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        at += 1
    return source[begin : at - 1]


def _environment(source: str, name: str) -> str | None:
    found = re.search(rf"\\begin\{{{name}\}}(.*?)\\end\{{{name}\}}", source, re.DOTALL)
    return None if found is None else found[1]


def _prose(latex: str) -> str:
    """LaTeX as Markdown, without code, figures, formulas on lines of their own and citations."""
    text = _ENVIRONMENT.sub("\n\n", latex.partition(r"\end{document}")[0])
    text = _DISPLAYED.sub(" ", text)
    text = _HEADING.sub(lambda one: f"\n\n{'#' * (2 + len(one[1]) // 3)} {one[2]}\n\n", text)
    text = _SILENT.sub(
        lambda one: "\n\n" if one[0].startswith(r"\item") else "", _CITED.sub("", text)
    )
    text = _MATH.sub(lambda one: one[1] if len(one[1]) < 20 else "", text)
    text = _BRACE.sub("", _COMMAND.sub("", text))
    text = text.replace("\\\\", " ").replace("~", " ").replace("``", '"').replace("''", '"')
    text = text.replace("\\", "").replace("---", "—").replace("--", "–").replace("`", "'")
    paragraphs = (" ".join(part.split()) for part in re.split(r"\n\s*\n", text))
    return "\n\n".join(part for part in paragraphs if part)
