"""The markup of a Word document, reduced in place to what a reader sees as its text.

Removed: hidden and deleted text, tables of contents, pictures, formatting. Kept: insertions,
fields, text boxes, formulas as words, notes. Source: ECMA-376 part 1, chapter 17.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator

from lxml import etree

from repurpose.sources._document import raised
from repurpose.sources._word_styles import Styles, W, heading_at, is_on

__all__ = ["M", "opening_title", "reduce_to_text", "role_of", "words_of"]

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VAL = f"{W}val"
_DEEPEST_LIST = 4  # counted from 0; mammoth knows five levels
_LIKE_A_ROLE = re.compile("Title|Quote|Contents|Heading.{0,9}")
_DRAWN = (f"{W}drawing", f"{W}pict", f"{W}object")
_WITHOUT_TEXT = tuple(f"{W}{one}" for one in (
    "annotationRef", "bookmarkEnd", "bookmarkStart", "commentRangeEnd", "commentRangeStart",
    "commentReference", "endnoteRef", "footnoteRef", "lastRenderedPageBreak", "permEnd",
    "permStart", "proofErr", "rPr", "rt", "rubyPr", "sdtEndPr", "sdtPr", "sectPr", "softHyphen",
    "tblGrid", "tblPr", "tblPrEx"
))  # fmt: skip
_WRAPPERS = tuple(f"{W}{one}" for one in (
    "bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "ruby", "rubyBase",
    "sdt", "sdtContent", "smartTag"
))  # fmt: skip


def reduce_to_text(root: etree._Element, styles: Styles, notes: frozenset[str]) -> int:
    """Take out of `root` all that is not text to a reader; how many hidden runs held words.

    `notes` are the ids of the notes that exist, as `footnoteReference` or `endnoteReference`
    and the number; references to others go. Paragraphs in a style with a role have that role
    as their style afterwards (see `Styles.role_of`).
    """
    _choose_alternatives(root)
    _lift_text_boxes(root)
    _drop_deletions(root)
    _drop_contents(root)
    hidden = _drop_hidden(root, styles)
    _spell_formulas(root)
    _raise_superscripts(root)
    _drop_broken(root, notes)
    marked = _take_deleted_marks(root)
    etree.strip_elements(root, *_WITHOUT_TEXT, with_tail=False)
    etree.strip_tags(root, *_WRAPPERS)
    for run in list(root.iter(f"{W}r")):
        if run.getparent().tag == f"{W}r":  # words with readings beside them
            _unwrap(run)
    for paragraph in list(root.iter(f"{W}p")):
        paragraph.attrib.clear()
        _reduce_paragraph(paragraph, styles, merged=paragraph in marked)
    return hidden


def role_of(paragraph: etree._Element) -> str:
    """The style of a reduced paragraph, or ""."""
    style = paragraph.find(f"{W}pPr/{W}pStyle")
    return "" if style is None else style.get(_VAL, "")


def opening_title(root: etree._Element) -> str | None:
    """The words of the first paragraph of a reduced document, if it is in the style Title."""
    for paragraph in root.iter(f"{W}p"):
        words = words_of(paragraph).strip()
        if words:
            return words if role_of(paragraph) == "Title" else None
    return None


def words_of(paragraph: etree._Element) -> str:
    """The text of a reduced paragraph, without marks and notes."""
    return "".join(one.text or "" for one in paragraph.iterfind(f"{W}r/{W}t"))


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)


def _unwrap(element: etree._Element) -> None:
    for child in list(element):
        element.addprevious(child)
    _remove(element)


def _choose_alternatives(root: etree._Element) -> None:
    """Of two forms of the same thing keep the one with text; the newer one where both have."""
    for one in reversed(list(root.iter(f"{_MC}AlternateContent"))):
        newer, older = one.find(f"{_MC}Choice"), one.find(f"{_MC}Fallback")
        spoken = newer is not None and next(newer.iter(f"{W}t"), None) is not None
        chosen = newer if spoken or older is None else older
        for child in list(chosen) if chosen is not None else ():
            one.addprevious(child)
        _remove(one)


def _lift_text_boxes(root: etree._Element) -> None:
    """Put the paragraphs of text boxes behind the paragraph that holds the box."""
    for drawn in reversed(list(root.iter(*_DRAWN))):
        host = next(drawn.iterancestors(f"{W}p"), None)
        boxes = drawn.iter(f"{W}txbxContent")
        for paragraph in reversed([child for box in boxes for child in box]):
            if host is not None:
                host.addnext(paragraph)
        _remove(drawn)


def _drop_deletions(root: etree._Element) -> None:
    for one in list(root.iter(f"{W}del", f"{W}moveFrom")):
        parent = one.getparent()
        if parent is not None and parent.tag not in (f"{W}rPr", f"{W}trPr"):
            parent.remove(one)
    for row in list(root.iter(f"{W}tr")):
        if row.find(f"{W}trPr/{W}del") is not None:
            _remove(row)


def _drop_contents(root: etree._Element) -> None:
    """Tables of contents repeat the headings, with page numbers (17.5.2.12)."""
    for holder in list(root.iter(f"{W}sdt")):
        gallery = holder.find(f"{W}sdtPr/{W}docPartObj/{W}docPartGallery")
        if gallery is not None and gallery.get(_VAL) == "Table of Contents":
            _remove(holder)


def _drop_hidden(root: etree._Element, styles: Styles) -> int:
    count = 0
    for row in list(root.iter(f"{W}tr")):
        mark = row.find(f"{W}trPr/{W}hidden")
        if mark is not None and is_on(mark):
            count += _has_words(row)
            _remove(row)
    for run in list(_hidden_runs(root, styles)):
        count += _has_words(run)
        _remove(run)
    return count


def _hidden_runs(root: etree._Element, styles: Styles) -> Iterator[etree._Element]:
    """Runs that are hidden by themselves, by their style or by that of their paragraph."""
    hiding: list[bool] = []
    walk = etree.iterwalk(root, events=("start", "end"), tag=(f"{W}p", f"{W}r"))
    for event, one in walk:
        if one.tag == f"{W}r":
            if event == "start" and _is_hidden(one, styles, by_paragraph=any(hiding[-1:])):
                yield one
                walk.skip_subtree()
        elif event == "start":
            style = one.find(f"{W}pPr/{W}pStyle")
            hiding.append(style is not None and styles.hides(style.get(_VAL, "")))
        else:
            hiding.pop()


def _is_hidden(run: etree._Element, styles: Styles, *, by_paragraph: bool) -> bool:
    properties = run.find(f"{W}rPr")
    if properties is None:
        return by_paragraph
    own = properties.find(f"{W}vanish")
    if own is not None:
        return is_on(own)
    style = properties.find(f"{W}rStyle")
    # Styles toggle this property: hidden by both is visible (17.7.3).
    return by_paragraph != (style is not None and styles.hides(style.get(_VAL, "")))


def _has_words(element: etree._Element) -> bool:
    return any(text.strip() for text in element.itertext(f"{W}t"))


def _spell_formulas(root: etree._Element) -> None:
    for formula in list(root.iter(f"{M}oMath")):
        run = etree.Element(f"{W}r")
        etree.SubElement(run, f"{W}t").text = "".join(formula.itertext(f"{M}t"))
        formula.addprevious(run)
        _remove(formula)
    etree.strip_tags(root, f"{M}oMathPara")


def _raise_superscripts(root: etree._Element) -> None:
    for run in root.iter(f"{W}r"):
        mark = run.find(f"{W}rPr/{W}vertAlign")
        if mark is not None and mark.get(_VAL) == "superscript":
            for text in run.iterchildren(f"{W}t"):
                text.text = raised(text.text or "")


def _drop_broken(root: etree._Element, notes: frozenset[str]) -> None:
    """What makes mammoth raise: references to nothing, numbers that are none."""
    for one in list(root.iter(f"{W}footnoteReference", f"{W}endnoteReference")):
        if f"{etree.QName(one).localname} {one.get(f'{W}id')}" not in notes:
            _remove(one)
    for one in list(root.iter(f"{W}gridSpan")):
        if not re.fullmatch("[0-9]{1,3}", one.get(_VAL, "")):
            _remove(one)
    for one in list(root.iter(f"{W}sym")):
        if not re.fullmatch("[0-9A-Fa-f]{1,6}", one.get(f"{W}char", "")):
            _remove(one)


def _take_deleted_marks(root: etree._Element) -> set[etree._Element]:
    """Paragraphs whose end was deleted, so that the next one continues them (17.13.5.15)."""
    return {one for one in root.iter(f"{W}p") if one.find(f"{W}pPr/{W}rPr/{W}del") is not None}


def _reduce_paragraph(paragraph: etree._Element, styles: Styles, *, merged: bool) -> None:
    if not len(paragraph):
        _remove(paragraph)
        return
    old = paragraph.find(f"{W}pPr")
    new = etree.Element(f"{W}pPr")
    if old is not None:
        _keep_properties(old, new, styles, in_table=paragraph.getparent().tag == f"{W}tc")
        paragraph.remove(old)
    if merged:
        etree.SubElement(etree.SubElement(new, f"{W}rPr"), f"{W}del")
    role = new.find(f"{W}pStyle")
    if role is not None and role.get(_VAL) == "Contents":
        _remove(paragraph)
        return
    if not len(paragraph):
        _remove(paragraph)
        return
    if len(new):
        paragraph.insert(0, new)
    _join_runs(paragraph)


def _keep_properties(
    old: etree._Element, new: etree._Element, styles: Styles, *, in_table: bool
) -> None:
    named = old.find(f"{W}pStyle")
    style = "" if named is None else named.get(_VAL, "")
    level = old.find(f"{W}outlineLvl")
    role = heading_at(level.get(_VAL)) if level is not None else styles.role_of(style)
    if in_table and role != "Contents":
        role = None  # a heading in a cell is a cell's words in bold
    if role or style:
        # A style of one's own may have the id of a role and play another one.
        own = f"own-{style}" if _LIKE_A_ROLE.fullmatch(style) else style
        etree.SubElement(new, f"{W}pStyle").set(_VAL, role or own)
    numbering = old.find(f"{W}numPr")
    if numbering is None:
        numbering = styles.numbering_of(style)
    if numbering is not None and (role is None or role == "Quote"):
        new.append(_shallow(numbering))


def _shallow(numbering: etree._Element) -> etree._Element:
    kept = copy.deepcopy(numbering)
    level = kept.find(f"{W}ilvl")
    if level is not None and not re.fullmatch(f"[0-{_DEEPEST_LIST}]", level.get(_VAL, "")):
        level.set(_VAL, str(_DEEPEST_LIST))
    return kept


def _join_runs(paragraph: etree._Element) -> None:
    """One run for neighbours that hold plain text: Word divides words at every edit."""
    for plain, group in itertools.groupby(list(paragraph), key=_is_plain):
        runs = list(group)
        for run in runs:
            run.attrib.clear()
        if plain:
            words = "".join(text.text or "" for run in runs for text in run)
            for run in runs[1:]:
                paragraph.remove(run)
            del runs[0][1:]
            runs[0][0].text = words


def _is_plain(run: etree._Element) -> bool:
    return run.tag == f"{W}r" and len(run) > 0 and all(one.tag == f"{W}t" for one in run)
