"""Which addresses of the internet a page from outside may make us ask.

Pure: nothing here resolves a name. What is refused is refused by two rules that cover each other:
the tables below, and what Python's `ipaddress` knows of the same registries, which differs
between its versions.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

__all__ = ["Address", "is_local_name", "is_loopback", "literal_address", "why_refused"]

Address = IPv4Address | IPv6Address

# IANA IPv4 and IPv6 Special-Purpose Address Registries, read 2026-11-30; the first match counts.
_NAMED = tuple(
    (ip_network(network), what)
    for network, what in (
        ("0.0.0.0/8", "an unspecified address"),
        ("10.0.0.0/8", "a private address"),
        ("100.64.0.0/10", "an address behind a provider's NAT"),
        ("127.0.0.0/8", "a loopback address"),
        ("168.63.129.16/32", "the address of a cloud's own service"),  # Azure; formally public
        ("169.254.0.0/16", "a link-local address"),
        ("172.16.0.0/12", "a private address"),
        ("192.0.0.0/24", "a reserved address"),
        ("192.0.2.0/24", "an address for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "a private address"),
        ("198.18.0.0/15", "an address for benchmarks"),
        ("198.51.100.0/24", "an address for documentation"),
        ("203.0.113.0/24", "an address for documentation"),
        ("224.0.0.0/4", "a multicast address"),
        ("240.0.0.0/4", "a reserved address"),
        ("::/128", "an unspecified address"),
        ("::1/128", "a loopback address"),
        ("::/96", "an IPv4 address inside an IPv6 address"),  # deprecated by RFC 4291
        ("::ffff:0:0/96", "an IPv4 address inside an IPv6 address"),
        ("::ffff:0:0:0/96", "an IPv4 address inside an IPv6 address"),  # RFC 2765
        ("64:ff9b::/96", "a NAT64 address"),
        ("64:ff9b:1::/48", "a NAT64 address"),
        ("2001::/32", "a Teredo address"),
        ("2001::/23", "a reserved address"),
        ("2001:db8::/32", "an address for documentation"),
        ("2002::/16", "a 6to4 address"),
        ("3fff::/20", "an address for documentation"),
        ("fc00::/7", "a private address"),
        ("fe80::/10", "a link-local address"),
        ("fec0::/10", "a private address"),
        ("ff00::/8", "a multicast address"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")  # all that IANA has given out for hosts
# What inet_aton and browsers take for a number: WHATWG URL Standard, "IPv4 number parser".
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{0,16}|[0-9]{1,24}")


def why_refused(address: str | Address) -> str | None:
    """What is wrong with asking this address, as a noun; None where it may be asked.

    >>> why_refused("169.254.169.254"), why_refused("93.184.215.14")
    ('a link-local address', None)
    """
    if isinstance(address, str):
        try:
            address = ip_address(address.partition("%")[0])  # a zone names an interface
        except ValueError:
            return "not an address"
    for network, what in _NAMED:
        if address.version == network.version and address in network:
            return what
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return "a reserved address"
    if not address.is_global or address.is_reserved or address.is_multicast:
        return "not a public address"
    return None


def literal_address(host: str) -> Address | None:
    """The address that `host` spells out, in any spelling that a resolver takes; None for a name.

    Besides the usual ones: fewer than four parts, octal and hexadecimal parts, one number.

    >>> literal_address("0x7f.1"), literal_address("2130706433"), literal_address("example.org")
    (IPv4Address('127.0.0.1'), IPv4Address('127.0.0.1'), None)
    """
    bare = host.strip("[]").partition("%")[0].removesuffix(".")
    try:
        return ip_address(bare)
    except ValueError:
        return _odd_ipv4(bare)


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine for sure, and nobody else reaches it there.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0")]
    [True, True, True, False]
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def is_local_name(host: str) -> bool:
    """Whether `host` is a name of this machine by definition (RFC 6761, 6.3)."""
    name = host.lower().rstrip(".")
    return name == "localhost" or name.endswith((".localhost", ".localdomain"))


def _odd_ipv4(text: str) -> IPv4Address | None:
    parts = text.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *leading, last = (_number(part) for part in parts)
    except ValueError:  # an 8 or a 9 behind a leading zero
        return None
    free = 4 - len(leading)  # the last part fills the bytes that are left
    if any(one > 255 for one in leading) or last >= 256**free:
        return None
    high = sum(one << (24 - 8 * place) for place, one in enumerate(leading))
    return IPv4Address(high + last)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") and part != "0" else int(part)
