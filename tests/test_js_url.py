"""What JavaScript takes for a URL, by the rules of the WHATWG standard."""

from __future__ import annotations

import pytest

from quality_lab.js_url import parse_url


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("http://lab.example.com", "http://lab.example.com/"),
        ("HTTP://LAB.Example.COM:80//", "http://lab.example.com//"),
        ("https://lab.example.com:8443/x/", "https://lab.example.com:8443/x/"),
        ("http:lab.example.com", "http://lab.example.com/"),
        ("http:/lab.example.com", "http://lab.example.com/"),
        ("http:\\\\lab.example.com\\x", "http://lab.example.com/x"),
        ("  http://lab.exa\nmple.com\t ", "http://lab.example.com/"),
        ("http://me:pw@lab.example.com/x?q=1#h", "http://lab.example.com/x"),
        ("http://a@b@lab.example.com", "http://lab.example.com/"),
        ("http://lab.example.com/a/../b/./c/%2e%2E/d", "http://lab.example.com/b/d"),
        ("http://lab.example.com/a b/\u00e9", "http://lab.example.com/a%20b/%C3%A9"),
        ("http://[::1]:3000", "http://[::1]:3000/"),
        ("http://[0:0:0:0:0:0:0:1]", "http://[::1]/"),
        ("http://127.1", "http://127.0.0.1/"),
        ("http://1.2.3.0x", "http://1.2.3.0/"),
        ("http://0x7f000001", "http://127.0.0.1/"),
        ("http://b\u00fccher.example.com", "http://xn--bcher-kva.example.com/"),
        ("http://\U0001f4a9.example.com", "http://xn--ls8h.example.com/"),
        ("http://%6cab.example.com", "http://lab.example.com/"),
        ("ftp://lab.example.com/", "ftp://lab.example.com/"),
        ("localhost:1", "localhost:1"),
        ("lab.example.com:80", "lab.example.com:80"),
        ("mailto:a@example.com", "mailto:a@example.com"),
        ("file:///etc/x", "file:///etc/x"),
    ],
)
def test_a_url_is_read(text, shown):
    url = parse_url(text)

    assert url is not None
    assert url.shown == shown


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "nope",
            "lab.example.com",
            "/path",
            "//lab.example.com",
            "1http://x",
            ":",
            "http://",
            "http:///",
        ),
        *("http://[::1", "http://[1:2]", "http://[::1%25a]", "http://lab.example.com:99999", "http://lab:8a"),
        *("http://a b", "http://a%2fb", "http://a|b", "http://a^b", "http://256.1.1.1", "http://1.2.3.4.5"),
        *("http://@", "http://:80", "http://xn--a", "file://lab:80/x", "http://lab:\u0663"),
    ],
)
def test_what_is_no_url_is_none(text):
    assert parse_url(text) is None


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("http://lab.example.com/x", False),
        ("http://me@lab.example.com", True),
        ("http://me:pw@lab.example.com", True),
        ("http://lab.example.com/?", True),
        ("http://lab.example.com/#h", True),
        ("http:me:pw@lab.example.com", True),
    ],
)
def test_what_may_be_a_secret_is_known(text, secret):
    url = parse_url(text)

    assert url is not None
    assert url.secret is secret
    assert "pw" not in repr(url)
