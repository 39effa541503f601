"""Which network addresses are out in the public, and why the others are not."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_PUBLIC_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_REFUSED_V6 = {
    IPv6Network("2001::/32"): "a Teredo tunnel",
    IPv6Network("2001:db8::/32"): "for documentation only",
    IPv6Network("2002::/16"): "a 6to4 tunnel",
    IPv6Network("3fff::/20"): "for documentation only",
}
# What `is_global` lets through, or did in some release of Python.
_REFUSED_V4 = {
    IPv4Network("0.0.0.0/8"): "this network",
    IPv4Network("100.64.0.0/10"): "a carrier's shared network",
    IPv4Network("168.63.129.16/32"): "a cloud's own service",
    IPv4Network("192.0.0.0/24"): "reserved",
    IPv4Network("192.88.99.0/24"): "a 6to4 relay",
    IPv4Network("224.0.0.0/4"): "multicast",
    IPv4Network("240.0.0.0/4"): "reserved",
}
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def why_not_public(address: str) -> str | None:
    """Return why *address* is not out in the public, or None when it is.

    An IPv4 address inside an IPv6 one (mapped, NAT64, ISATAP) is judged by what it leads to; Teredo and 6to4
    are refused.

    >>> why_not_public("93.184.215.14")
    >>> why_not_public("::ffff:127.0.0.1"), why_not_public("169.254.169.254")
    ('loopback', 'link-local')
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return "no address"
    return _why_v4(parsed) if isinstance(parsed, IPv4Address) else _why_v6(parsed)


def _why_v4(address: IPv4Address) -> str | None:
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link-local"
    for network, reason in _REFUSED_V4.items():
        if address in network:
            return reason
    return None if address.is_global else "private"


def _why_v6(address: IPv6Address) -> str | None:
    if address.is_loopback:
        return "loopback"
    if address.ipv4_mapped is not None:
        return _why_v4(address.ipv4_mapped)
    if address in _NAT64:
        return _why_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
    if address.is_link_local:
        return "link-local"
    if address.is_multicast:
        return "multicast"
    if address not in _PUBLIC_V6:
        return "private"
    for network, reason in _REFUSED_V6.items():
        if address in network:
            return reason
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        return _why_v4(IPv4Address(int(address) & 0xFFFF_FFFF))
    return None if address.is_global else "private"
