"""XML is read without fetching, expanding or growing."""

from __future__ import annotations

import pytest

from repurpose.sources._xml import parsed_xml


def test_a_document_becomes_its_root_without_comments() -> None:
    root = parsed_xml(b"<?xml version='1.0'?><!-- one --><a><?go now?><b>text</b><!-- two --></a>")
    assert root.tag == "a"
    assert [one.tag for one in root] == ["b"]


def test_utf_16_is_read() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><a>Größe</a>'
    assert parsed_xml(text.encode("utf-16")).text == "Größe"


def test_space_before_the_declaration_does_not_matter() -> None:
    assert parsed_xml(b"\n <?xml version='1.0'?><a/>").tag == "a"


@pytest.mark.parametrize("content", [b"", b"  ", b"<a", b"<a/><b/>", b"<a>&nbsp;</a>", b"\x00\xff"])
def test_what_is_not_well_formed_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not well-formed"):
        parsed_xml(content)


def test_an_entity_bomb_is_refused() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]><a b="&e11;">&e11;</a>'
    with pytest.raises(ValueError, match="entities"):
        parsed_xml(bomb.encode())


def test_a_single_own_entity_is_refused() -> None:
    with pytest.raises(ValueError, match="entities"):
        parsed_xml(b'<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>')


def test_a_file_named_as_entity_is_not_read() -> None:
    with pytest.raises(ValueError, match="entities"):
        parsed_xml(b'<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;</a>')


def test_a_document_type_of_its_own_is_not_fetched() -> None:
    assert parsed_xml(b'<!DOCTYPE a PUBLIC "-//X" "http://192.0.2.1/x.dtd"><a/>').tag == "a"
    with pytest.raises(ValueError, match="entities"):
        parsed_xml(b'<!DOCTYPE a SYSTEM "http://192.0.2.1/x.dtd"><a>&e;</a>')


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        parsed_xml(b"<a>" * 10_000 + b"</a>" * 10_000)


def test_a_mass_of_elements_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(ValueError, match="too many"):
        parsed_xml(b"<a>" + b"<b/>" * 1_000_001 + b"</a>")


def test_the_reason_quotes_nothing_of_the_document() -> None:
    with pytest.raises(ValueError, match=r"^not well-formed XML$"):
        parsed_xml(b"<secret>")
