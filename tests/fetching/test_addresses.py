"""Which addresses may be asked."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repurpose.fetching.addresses import is_local_name, literal_address, why_refused

REFUSED = {
    "loopback": "127.0.0.1",
    "the rest of loopback": "127.255.255.254",
    "loopback, 6": "::1",
    "private, ten": "10.0.0.5",
    "private, 172": "172.31.255.255",
    "private, 192": "192.168.1.1",
    "unique local": "fd00:ec2::254",
    "site-local": "fec0::1",
    "link-local, metadata of clouds": "169.254.169.254",
    "link-local, 6": "fe80::1",
    "link-local with a zone": "fe80::1%eth0",
    "carrier-grade NAT": "100.64.0.1",
    "the end of carrier-grade NAT": "100.127.255.255",
    "a cloud's metadata behind NAT": "100.100.100.200",
    "a cloud's wire server": "168.63.129.16",
    "unspecified": "0.0.0.0",
    "this network": "0.1.2.3",
    "unspecified, 6": "::",
    "broadcast": "255.255.255.255",
    "reserved": "240.0.0.1",
    "multicast": "224.0.0.251",
    "multicast, 6": "ff02::1",
    "global multicast, 6": "ff0e::1",
    "IPv4-mapped loopback": "::ffff:127.0.0.1",
    "IPv4-mapped private, hexadecimal": "::ffff:a00:1",
    "IPv4-mapped and public": "::ffff:93.184.215.14",
    "IPv4-compatible": "::127.0.0.1",
    "IPv4-translated": "::ffff:0:7f00:1",
    "NAT64 of loopback": "64:ff9b::7f00:1",
    "NAT64 of a public address": "64:ff9b::5db8:d70e",
    "local-use NAT64": "64:ff9b:1::a00:1",
    "6to4 of a private address": "2002:a00:1::",
    "6to4 of a public address": "2002:5db8:d70e::1",
    "6to4 relay": "192.88.99.1",
    "Teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "documentation 1": "192.0.2.1",
    "documentation 2": "198.51.100.7",
    "documentation 3": "203.0.113.9",
    "documentation, 6": "2001:db8::1",
    "new documentation, 6": "3fff::1",
    "benchmarks": "198.18.0.1",
    "protocol assignments": "192.0.0.8",
    "discard only": "100::1",
    "segment routing": "5f00::1",
    "ORCHID": "2001:20::1",
    "no address": "localhost",
    "nothing": "",
}

ODD = {
    "0x7f000001": "127.0.0.1",
    "0X7F.1": "127.0.0.1",
    "2130706433": "127.0.0.1",
    "017700000001": "127.0.0.1",
    "0177.0.0.1": "127.0.0.1",
    "127.1": "127.0.0.1",
    "127.0.1": "127.0.0.1",
    "127.0.0.1.": "127.0.0.1",
    "0": "0.0.0.0",
    "0x": "0.0.0.0",
    "0xa9fea9fe": "169.254.169.254",
    "169.16689662": "169.254.169.254",
    "10.0x000005": "10.0.0.5",
    "[::1]": "::1",
    "::1%lo": "::1",
    "0:0:0:0:0:ffff:7f00:1": "::ffff:127.0.0.1",
}


@pytest.mark.parametrize("address", REFUSED.values(), ids=REFUSED.keys())
def test_an_address_that_is_no_public_host_is_refused(address: str) -> None:
    assert why_refused(address)


@pytest.mark.parametrize(
    "address", ["93.184.215.14", "1.1.1.1", "100.63.255.255", "172.32.0.1", "2606:4700::1111"]
)
def test_a_public_address_may_be_asked(address: str) -> None:
    assert why_refused(address) is None


@pytest.mark.parametrize(("spelling", "meant"), ODD.items())
def test_odd_spellings_are_read_as_a_resolver_reads_them(spelling: str, meant: str) -> None:
    assert literal_address(spelling) == ip_address(meant)


@pytest.mark.parametrize("name", ["example.org", "1.2.3.4.5", "256.1.1.1", "0x1g", "08.1", "", "a"])
def test_a_name_is_no_address(name: str) -> None:
    assert literal_address(name) is None


@pytest.mark.parametrize(
    "name", ["localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain"]
)
def test_names_of_this_machine_are_known(name: str) -> None:
    assert is_local_name(name)
    assert not is_local_name("localhost.example.org")


@given(st.ip_addresses(v=4))
def test_what_python_calls_private_is_never_asked(address: IPv4Address) -> None:
    if address.is_private or not address.is_global:
        assert why_refused(address)


@given(st.ip_addresses(v=6))
def test_only_global_unicast_is_asked(address: IPv6Address) -> None:
    if why_refused(address) is None:
        assert address.exploded[0] in "23"


@given(st.text(alphabet="0123456789abcdefx.:[]%", max_size=24))
def test_no_spelling_breaks_the_reader(text: str) -> None:
    literal_address(text)
    why_refused(text)
