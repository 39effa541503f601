"""The endpoint guard: what a URL may look like, and which addresses are out in the public."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.toolbox.addresses import why_not_public
from quality_lab.toolbox.endpoint_guard import climbs, endpoint_problems, split_endpoint
from quality_lab.toolbox.liquid_templates import Template, TemplateFault


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com",
        "https://api.example.com/rates",
        "https://api.example.com:8443/rates/{{ asset }}?of={{ amount | default: 1 }}",
        "https://api.example.com?q={{ q }}",
        "HTTPS://API.Example.COM/x",
        "https://xn--e1afmkfd.example.com/",
        "https://1password.example.com/",
        "https://api.example.com//double//slash",
    ],
)
def test_an_https_endpoint_with_a_written_out_public_host_may_be_saved(url):
    assert endpoint_problems(url) == []


@pytest.mark.parametrize(
    ("url", "rules"),
    [
        ("", ["valid_url"]),
        ("api.example.com/x", ["valid_url"]),
        ("https:/api.example.com/", ["valid_url"]),
        ("https://api.example.com:99999/", ["valid_url"]),
        ("https://api.example.com:0/", ["valid_url"]),
        ("https://api.example.com:8o/", ["valid_url"]),
        ("https://api.example.com/a b", ["valid_url"]),
        ("https://api.example.com/\n", ["valid_url"]),
        ("https://api.example.com/#part", ["valid_url"]),
        ("https://api.example.com/{id}", ["valid_url"]),
        ("http://api.example.com/", ["https"]),
        ("ftp://api.example.com/", ["https"]),
        ("https://", ["hostname"]),
        ("https:///x", ["hostname"]),
        ("https://a..example.com/", ["hostname"]),
        ("https://api.example.com./", ["hostname"]),
        ("https://-a.example.com/", ["hostname"]),
        ("https://a_b.example.com/", ["hostname"]),
        ("https://%6c%6fcalhost/", ["hostname"]),
        (f"https://{'a' * 64}.example.com/", ["hostname"]),
        (f"https://{'a.' * 130}com/", ["hostname"]),
        ("https://own.example.com/x", ["own_host"]),
        ("https://OWN.example.com./x", ["own_host"]),
        ("https://localhost/", ["disallowed_hostname"]),
        ("https://localhost./", ["disallowed_hostname"]),
        ("https://LocalHost:8443/", ["disallowed_hostname"]),
        ("https://app.localhost/", ["disallowed_hostname"]),
        ("https://printer.local/", ["disallowed_hostname"]),
        ("https://printer.local./", ["disallowed_hostname"]),
        ("https://metadata.google.internal/", ["disallowed_hostname"]),
        ("https://intranet/", ["disallowed_hostname"]),
        ("https://93.184.215.14/", ["ip_address"]),
        ("https://127.0.0.1/", ["ip_address"]),
        ("https://127.0.0.1./", ["ip_address"]),
        ("https://2130706433/", ["ip_address"]),
        ("https://0x7f000001/", ["ip_address"]),
        ("https://0X7F.1/", ["ip_address"]),
        ("https://0177.0.0.1/", ["ip_address"]),
        ("https://127.1/", ["ip_address"]),
        ("https://127.0.1/", ["ip_address"]),
        ("https://0/", ["ip_address"]),
        ("https://0x/", ["ip_address"]),
        ("https://[::1]/", ["ip_address"]),
        ("https://[::ffff:127.0.0.1]:443/", ["ip_address"]),
        ("https://[fe80::1%25eth0]/", ["ip_address"]),
        ("https://exämple.com/", ["non_ascii"]),
        ("https://ｅxample.com/", ["non_ascii"]),
        ("https://example。com/", ["non_ascii"]),
        ("https://①②⑦.0.0.1/", ["non_ascii"]),
        ("https://user@api.example.com/", ["userinfo"]),
        ("https://user:secret@api.example.com/", ["valid_url", "userinfo"]),
        ("https://api.example.com@127.0.0.1/", ["userinfo", "ip_address"]),
        ("https://api.example.com\\@127.0.0.1/", ["valid_url", "userinfo", "ip_address"]),
        ("https://api.example.com#@127.0.0.1/", ["valid_url", "userinfo", "ip_address"]),
        ("https://{{ host }}/", ["template_in_host"]),
        ("https://{{ tenant }}.example.com/", ["template_in_host"]),
        ("https://api.example.com{{ path }}", ["template_in_host"]),
        ("https://api.example.com:{{ port }}/", ["template_in_host"]),
        ("https://{{ x | default: '/' }}.example.com/", ["template_in_host"]),
        ("{{ scheme }}://api.example.com/", ["template_in_host"]),
        ("https{{ s }}://api.example.com/", ["template_in_host"]),
        ("https://{% if a %}127.0.0.1{% endif %}/", ["template_in_url"]),
        ("https://api.example.com{% assign x = 1 %}/", ["template_in_url"]),
        ("https://api.example.com/{% raw %}x{% endraw %}", ["template_in_url"]),
        ("https://api.example.com/{{ a }}{{ b", ["template_in_url"]),
        ("https://api.example.com/{# c #}", ["template_in_url"]),
    ],
)
def test_an_endpoint_is_refused_by_the_rules_it_breaks(url, rules):
    problems = endpoint_problems(url, own_hosts=["own.example.com"])

    assert [problem.rule for problem in problems] == rules


def test_a_password_in_a_refused_url_is_not_repeated():
    problems = endpoint_problems("http://user:hunter2@localhost/")

    assert len(problems) == 4
    assert all("hunter2" not in problem.message for problem in problems)


SPELLINGS = st.integers(0, 2**32 - 1).flatmap(
    lambda number: st.sampled_from(
        [
            str(IPv4Address(number)),
            str(number),
            hex(number),
            f"0{number:o}",
            ".".join(hex(part) for part in IPv4Address(number).packed),
            ".".join(f"0{part:o}" for part in IPv4Address(number).packed),
            f"{number >> 24}.{number & 0xFFFFFF}",
            f"{number >> 24}.{number >> 16 & 0xFF}.{number & 0xFFFF}",
            f"{IPv4Address(number)}.",
            f"[::ffff:{IPv4Address(number)}]",
        ]
    )
)


@given(SPELLINGS, st.sampled_from(["", ":443", ":8443"]), st.sampled_from(["", "/", "/x?y={{ z }}"]))
def test_no_spelling_of_an_ip_address_is_a_host(host, port, path):
    assert [problem.rule for problem in endpoint_problems(f"https://{host}{port}{path}")] == ["ip_address"]


@given(st.text(max_size=40))
def test_what_the_guard_lets_through_python_s_own_parser_reads_as_the_same_host(text):
    for url in (f"https://{text}", f"https://api.example.com{text}", f"https://{text}.example.com/"):
        if not endpoint_problems(url):
            endpoint, parsed = split_endpoint(url), urlsplit(url)
            assert endpoint is not None
            assert (endpoint.host.lower(), endpoint.port) == (parsed.hostname, parsed.port)
            assert (parsed.scheme, parsed.username, parsed.password) == ("https", None, None)


VALUE = st.one_of(st.text(), st.integers(), st.booleans(), st.lists(st.text(), max_size=3), st.none())


@given(VALUE, VALUE)
def test_no_value_adds_a_step_a_parameter_or_a_host_to_a_url(step, word):
    url = Template("https://api.example.com/a/{{ step }}/b?q={{ word }}&z=1", place="url").fill(
        {"step": step, "word": word}
    )

    parsed = urlsplit(url)
    assert parsed.netloc == "api.example.com"
    assert parsed.path.split("/")[:2] == ["", "a"]
    assert len(parsed.path.split("/")) == 4
    assert [name for name, _ in parse_qsl(parsed.query, keep_blank_values=True)] == ["q", "z"]
    assert parsed.fragment == ""
    if isinstance(word, str):
        assert unquote(parsed.query.split("&")[0].removeprefix("q="), errors="surrogatepass") == word


@pytest.mark.parametrize(
    "target", ["/a/../b", "/a/%2e%2e/b", "/a/..%2Fb", "/a/%252e%252e/b", "/.", "/a/..\\b"]
)
def test_a_path_that_climbs_is_seen_however_it_is_written(target):
    assert climbs(target)


@pytest.mark.parametrize("target", ["/a..b/c", "/...", "/a?x=../..", "/%2e%2e%2e"])
def test_dots_that_climb_nowhere_are_fine(target):
    assert not climbs(target)


# ---- addresses ------------------------------------------------------------------------------------------

# From the special-purpose registries of IANA and the ranges of large clouds' own services.
NOT_PUBLIC_V4 = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "168.63.129.16/32",
]
NOT_PUBLIC_V6 = [
    "::/128",
    "::1/128",
    "100::/64",
    "2001::/32",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    "5f00::/16",
    "64:ff9b:1::/48",
    "fc00::/7",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
]


def inside(networks):
    return st.sampled_from(networks).flatmap(
        lambda network: st.integers(int(network[0]), int(network[-1])).map(type(network[0]))
    )


V4_INSIDE = inside([IPv4Network(network) for network in NOT_PUBLIC_V4])


def embedded(address: IPv4Address) -> list[IPv6Address]:
    number = int(address)
    return [
        IPv6Address(0xFFFF << 32 | number),  # mapped
        IPv6Address(number),  # compatible
        IPv6Address(int(IPv6Address("64:ff9b::")) | number),  # NAT64
        IPv6Address(int(IPv6Address("2002::")) | number << 80),  # 6to4
        IPv6Address(int(IPv6Address("2a00:1450::")) | 0x5EFE << 32 | number),  # ISATAP
        IPv6Address(int(IPv6Address("2001::")) | number ^ 0xFFFF_FFFF),  # Teredo
    ]


@given(V4_INSIDE)
def test_no_address_of_a_special_range_is_public_nor_any_ipv6_address_that_leads_to_it(address):
    assert why_not_public(str(address))
    assert [str(form) for form in embedded(address) if not why_not_public(str(form))] == []


@given(inside([IPv6Network(network) for network in NOT_PUBLIC_V6]))
def test_no_ipv6_address_of_a_special_range_is_public(address):
    assert why_not_public(str(address))


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1", "223.255.255.255"],
)
def test_a_public_address_is_public_also_in_its_mapped_and_nat64_form(address):
    assert why_not_public(address) is None
    assert why_not_public(f"::ffff:{address}") is None
    assert why_not_public(f"64:ff9b::{address}") is None


@pytest.mark.parametrize("address", ["2a00:1450:4001:830::200e", "2606:4700:4700::1111"])
def test_a_public_ipv6_address_is_public(address):
    assert why_not_public(address) is None


@pytest.mark.parametrize("address", ["", "localhost", "127.1", "fe80::1%eth0", "1.2.3.4/32", "0x7f000001"])
def test_what_is_no_plain_address_is_not_public(address):
    assert why_not_public(address)


# ---- templates ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "values", "filled"),
    [
        ('{"q": "{{ q }}"}', {"q": 'a"b\\\n'}, '{"q": "a\\"b\\\\\\n"}'),
        ('{"q": {{ q | json }}}', {"q": 'a"b'}, '{"q": "a\\"b"}'),
        ('{"n": {{ n }}, "b": {{ b }}}', {"n": 0.1, "b": True}, '{"n": 0.1, "b": true}'),
        (
            '{"l": {{ l }}, "o": {{ o }}}',
            {"l": [1, "x"], "o": {"k": None}},
            '{"l": [1, "x"], "o": {"k": null}}',
        ),
        ('{"q": "{{ q | upcase }}"}', {"q": 'a"b'}, '{"q": "A\\"B"}'),
        ('{"q": "{{ q }}"}', {"q": None}, '{"q": ""}'),
        ('[{% for x in l %}"{{ x }}",{% endfor %}0]', {"l": ["a", '"']}, '["a","\\"",0]'),
    ],
)
def test_a_json_template_escapes_what_it_writes(source, values, filled):
    assert Template(source, place="json").fill(values) == filled


@pytest.mark.parametrize(
    ("source", "values", "words"),
    [
        ("{{ city }}", {}, "'city' is undefined"),
        ("{{ r.price }}", {"r": {}}, "r.price is undefined"),
        ("{{ r.__class__ }}", {"r": "x"}, "undefined"),
        ("{% for i in (1..2000) %}{% endfor %}", {}, "loop iteration limit"),
        ("{% for i in (1..n) %}{% endfor %}", {"n": 10**12}, "loop iteration limit"),
        ("{% for i in (1..999) %}{{ r }}{% endfor %}", {"r": "x" * 10_000}, "output stream limit"),
        (
            "{% for i in (1..60) %}{% assign x = x | append: x %}{% endfor %}",
            {"x": "ab"},
            "local namespace limit",
        ),
        ("{{ 1 | divided_by: 0 }}", {}, "divide by 0"),
    ],
)
def test_a_template_is_strict_about_names_and_bounded_in_work(source, values, words):
    template = Template(source, place="text")

    with pytest.raises(TemplateFault, match=words):
        template.fill(values)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("{{ (1..999999999) | join }}", "text"),
        ("{% assign x = (1..n) %}", "text"),
        ("{% include 'x' %}", "text"),
        ("{% render 'x' %}", "text"),
        ("{% echo q %}", "json"),
        ("{% cycle q, q %}", "json"),
        ("{{ q | safe }}", "json"),
        ("{% if a %}x{% endif %}", "url"),
        ("{{ a", "text"),
        ("{{ a | nofilter }}", "text"),
        ("{% if a %}" * 40 + "{% endif %}" * 40, "text"),
    ],
)
def test_a_template_that_could_go_around_the_rules_does_not_parse(source, place):
    with pytest.raises(TemplateFault):
        Template(source, place=place)
