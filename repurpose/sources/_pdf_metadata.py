"""What a PDF file says of itself, without what programs write there by themselves."""

from __future__ import annotations

import re
from pathlib import PurePath

from repurpose.sources.base import iso_date, one_line

__all__ = ["declared_date", "declared_name", "declared_title"]

# ISO 32000-1, 7.9.4: D:YYYYMMDDHHmmSS and a zone; month and day may be missing, and then the file
# names no day.
_DATE = re.compile(r"(?:D:)?(\d{4})(\d\d)(\d\d)")
_FILE_NAME = re.compile(
    r"\.(?:pdf|docx?|dotx?|pptx?|xlsx?|odt|rtf|txt|html?|exe|indd|qxd|pmd|p65|fm|tex|dvi|e?ps|ai|"
    r"tmp|tiff?|jpe?g|png|wpd|pages|md|cdr|pub|vsd)\s*$",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"(?:microsoft (?:word|powerpoint|excel|office|publisher)|openoffice|libreoffice|word|acrobat|"
    r"adobe \w{1,20}|quarkxpress|pagemaker)\b.{0,3} - .*|powerpoint[- ]pr[äe]sentation|"
    r"pr[ée]sentation powerpoint|powerpoint presentation|(?:new )?(?:microsoft )?word document",
    re.IGNORECASE | re.DOTALL,
)
_NOTHING = re.compile(
    r"\(?(?:untitled|no title|notitle|unknown|anonymous|none|null|title|titel|document|dokument|"
    r"print|binder|slide|scan|unbenannt|ohne titel|sans titre|sin t[íi]tulo|senza titolo|blank|"
    r"unspecified|user|admin|administrator|owner|default|author|about:blank|p[aá]gina|page)\)?"
    r"[\s_-]{0,3}\d{0,9}",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\S*[_\\/]\S*|\S*\d{5,}\S*")  # one word of an identifier: final_v2, 20240131
_LONGEST = 300


def declared_title(value: str | None, origin: str) -> str | None:
    """The title, unless it is a file's name, a program's, or a word for no title.

    >>> declared_title("AMT General Handbook", "a.pdf"), declared_title("Binder1.pdf", "a.pdf")
    ('AMT General Handbook', None)
    """
    title = one_line(value)
    if title is None or len(title) > _LONGEST or not any(map(str.isalpha, title)):
        return None
    if " " not in title and title.casefold() == PurePath(origin).stem.casefold():
        return None
    patterns = (_PROGRAM, _NOTHING, _TOKEN)
    if _FILE_NAME.search(title) or any(one.fullmatch(title) for one in patterns):
        return None
    return title


def declared_name(value: str | None) -> str | None:
    """The author, unless the file names nobody."""
    name = one_line(value)
    if name is None or len(name) > _LONGEST or not any(map(str.isalpha, name)):
        return None
    return None if _NOTHING.fullmatch(name) else name


def declared_date(value: str | None) -> str | None:
    """The day on which the file was made, as an ISO 8601 date.

    >>> declared_date("D:20200806095125Z"), declared_date("D:2020"), declared_date("D:20201399")
    ('2020-08-06', None, None)
    """
    found = _DATE.match(value.strip()) if value else None
    return iso_date("-".join(found.groups())) if found else None
