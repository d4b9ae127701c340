"""The XML of feeds and sitemaps: read strictly where it is right, and as far as it goes elsewhere.

Half of the feeds that readers know break some rule of XML; none of the rules of safety bends.
"""

from __future__ import annotations

import re
from html.entities import html5
from urllib.parse import urljoin

from lxml import etree

from repurpose.errors import SourceError
from repurpose.sources._xml import parsed_xml
from repurpose.sources.base import MAX_BYTES, Raw, decode, shown, web_address

__all__ = ["absolute", "feed_root", "local_name", "namespace_of", "words_of"]

_NOT_WELL_FORMED = "not well-formed XML"
_DECLARED = re.compile(rb"""\A\s{0,99}<\?xml[^>]{0,80}?encoding=["']([\w.:-]{1,40})""")
_DECLARATION = re.compile(r"\A\s{0,99}(?:<\?xml[^>]{0,200}\?>)?\s{0,99}")
_DOCUMENT_TYPE = re.compile(r"\A(<!--.{0,2000}?-->\s{0,99})?<!DOCTYPE[^<>\[]{0,500}>", re.DOTALL)
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)(\w{1,32};)?")
# What prefixes mean to everybody, for feeds that do not declare them.
_PREFIXES = {
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "news": "http://www.google.com/schemas/sitemap-news/0.9",
    "podcast": "https://podcastindex.org/namespace/1.0",
}
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def feed_root(raw: Raw, *names: str) -> tuple[etree._Element, tuple[str, ...]]:
    """The root element of the feed or sitemap in `raw`, and a warning where it is damaged.

    Named entities of HTML are read as their characters, though no feed declares them.

    Raises:
        SourceError: `empty`, `too-large`, `corrupt` or `binary`; also where the root element is
            none of `names`, or where the document declares entities.
    """
    where = shown(raw.origin)
    if len(raw.content) > MAX_BYTES:
        raise SourceError(
            "too-large", f"{where}: larger than {MAX_BYTES // 1_000_000} MB; ask for fewer entries"
        )
    if not raw.content.strip():
        raise SourceError("empty", f"{where}: empty; there is nothing to work on")
    warnings: tuple[str, ...] = ()
    try:
        root = parsed_xml(raw.content)
    except ValueError as fault:
        if str(fault) != _NOT_WELL_FORMED:
            raise _corrupt(where, str(fault)) from None
        root, warnings = _recovered(raw), ("the XML is damaged; some of it may be missing",)
    if local_name(root) not in names:
        raise _corrupt(where, f"begins with <{local_name(root)[:40]}>, which is no feed or sitemap")
    return root, warnings


def local_name(element: etree._Element) -> str:
    """The name of `element` without its namespace; "" for what is no element."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def namespace_of(element: etree._Element) -> str:
    """The namespace of `element`, or ""."""
    return str(element.tag).rpartition("}")[0].removeprefix("{")


def words_of(element: etree._Element | None) -> str | None:
    """The text in `element`, stripped; None where there is none."""
    return None if element is None else "".join(element.itertext()).strip() or None


def absolute(address: object, base: str | None) -> str | None:
    """`address` as an absolute http or https address, seen from `base`; else None."""
    if not isinstance(address, str) or not address.strip():
        return None
    try:
        return web_address(urljoin(base or "", address.strip()))
    except ValueError:  # a broken IPv6 host
        return None


def _recovered(raw: Raw) -> etree._Element:
    where = shown(raw.origin)
    declared = _DECLARED.match(raw.content[:500])
    text, _ = decode(raw, declared[1].decode("ascii", "replace") if declared else None)
    text = _DOCUMENT_TYPE.sub("", _DECLARATION.sub("", text.lstrip("\ufeff")))
    if text.startswith("<!DOCTYPE"):
        raise _corrupt(where, "declares more than a feed may")
    text = _ENTITY.sub(_character, _CONTROLS.sub("", text))
    parser = etree.XMLParser(
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        encoding="utf-8",
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
        if root is None:
            raise _corrupt(where, _NOT_WELL_FORMED)
        for element in root.iter("*"):
            _declare(element)
        # What comes out of here is well-formed, whatever went in.
        return parsed_xml(etree.tostring(root))
    except (etree.XMLSyntaxError, ValueError):
        raise _corrupt(where, _NOT_WELL_FORMED) from None


def _declare(element: etree._Element) -> None:
    """Give `element` a proper name where a prefix stands in it that nobody declared."""
    prefix, colon, name = str(element.tag).rpartition(":")
    if colon and "}" not in name:
        space = _PREFIXES.get(prefix)
        element.tag = f"{{{space}}}{name}" if space else f"{prefix}-{name}".replace(":", "-")
    for key in [key for key in element.attrib if ":" in key.rpartition("}")[2]]:
        del element.attrib[key]


def _character(found: re.Match[str]) -> str:
    """What an ampersand that XML does not know stands for."""
    name = found[1] or ""
    known = html5.get(name)
    if known is None:
        return f"&amp;{name}"
    return known.replace("&", "&amp;").replace("<", "&lt;")


def _corrupt(where: str, reason: str) -> SourceError:
    return SourceError("corrupt", f"{where}: {reason}; get the file again, or load its pages")
