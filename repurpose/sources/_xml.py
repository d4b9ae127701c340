"""XML from strangers: nothing is fetched, nothing is expanded, nothing grows without bound."""

from __future__ import annotations

from lxml import etree

__all__ = ["TooManyNodesError", "parsed_xml"]

_MOST_NODES = 1_000_000  # elements and attributes; the parser spends about 250 bytes on each


class TooManyNodesError(ValueError):
    """A document of more elements and attributes than fit into moderate memory."""


def parsed_xml(content: bytes) -> etree._Element:
    """The root element of the XML document in `content`, without comments and instructions.

    A document type may be named, but brings no entities. Nothing outside the document is read.
    Elements stand at most 256 deep, which is where libxml2 stops.

    Raises:
        ValueError: it is no well-formed XML, or breaks these rules; the text is a short reason.
    """
    elements = content.count(b"<") - content.count(b"</")
    if elements + content.count(b"=") > _MOST_NODES:
        raise TooManyNodesError("too many elements")
    # A parser of its own for each document: parsers keep what they saw, and are not shared
    # between threads.
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        attribute_defaults=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(content.lstrip(), parser)
    except (etree.XMLSyntaxError, ValueError) as fault:
        raise ValueError(_reason(fault)) from None
    document_type = root.getroottree().docinfo.internalDTD
    if document_type is not None:
        if next(document_type.iterentities(), None) is not None:
            raise ValueError("declares entities of its own")
        if next(root.iter(etree.Entity), None) is not None:
            raise ValueError("uses entities that it does not declare")
    return root


def _reason(fault: Exception) -> str:
    """The kind of fault; libxml2's own words quote the document."""
    text = str(fault).lower()
    if "depth" in text:
        return "elements nested too deeply"
    if "entity reference loop" in text or "amplification" in text:
        return "declares entities of its own"
    return "not well-formed XML"
