"""The API's client against a real server that refuses, stalls, breaks off, redirects or echoes the token."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from command_line import run
from loopback import Loopback, Reply, closed_port

from quality_lab.errors import UsageError
from quality_lab.quality_api import ApiError, Patience, fetch, fetch_regression_cases, without_token
from quality_lab.quality_api.address import endpoint

TOKEN = "tok-very-secret-1"
HURRY = Patience(connect_s=1.0, read_s=0.3, total_s=5.0, tries=3, first_wait_s=0.01)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def refused(server: Loopback, *, patience: Patience = HURRY) -> ApiError:
    """Return the error that asking *server* ends in."""
    with pytest.raises(ApiError) as raised:
        fetch(f"{server.base}/x", token=TOKEN, patience=patience)
    return raised.value


def test_the_answer_comes_as_it_was_sent():
    body = b'\xef\xbb\xbf{"id": 1}\r\n\xff\n'
    with Loopback(Reply(body=body)) as server:
        came = fetch_regression_cases(server.base + "/eu/", token=TOKEN, status="all", limit=7)

    assert came == body
    assert [seen.target for seen in server.seen] == [
        "/eu/api/admin/quality/tool-call-regression-cases/export.jsonl?status=all&limit=7"
    ]
    assert server.seen[0].headers["authorization"] == f"Bearer {TOKEN}"


def test_a_compressed_answer_is_unpacked():
    packed = gzip.compress(b"{}\n" * 1000)
    with Loopback(Reply(body=packed, headers={"Content-Encoding": "gzip"})) as server:
        assert fetch(server.base, token=TOKEN) == b"{}\n" * 1000


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 422])
def test_a_refusal_that_will_stay_is_not_asked_about_again(status):
    with Loopback(Reply(status=status, body=b'{"error":"no"}')) as server:
        error = refused(server)

    assert len(server.seen) == 1
    assert (error.status, error.passing, error.exit_code) == (status, False, 4)
    assert str(error).endswith(f'\nurl={server.base}/x\nbody={{"error":"no"}}')


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_refusal_that_may_pass_is_asked_about_again_and_the_answer_counts(status):
    with Loopback(Reply(status=status), Reply(status=status), Reply(body=b"yes")) as server:
        assert fetch(server.base, token=TOKEN, patience=HURRY) == b"yes"

    assert len(server.seen) == 3


def test_asking_again_ends_after_three_tries():
    with Loopback(Reply(status=503)) as server:
        refused(server)

    assert len(server.seen) == 3


@pytest.mark.parametrize("as_date", [False, True])
def test_the_server_says_how_long_to_wait(as_date):
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    wait = later if as_date else "1"
    with Loopback(Reply(status=429, headers={"Retry-After": wait}), Reply(body=b"now")) as server:
        started = time.monotonic()
        came = fetch(server.base, token=TOKEN, patience=HURRY)

    assert came == b"now"
    assert time.monotonic() - started > 0.8  # a date has whole seconds, so 2 s are 1 s at least


def test_a_wait_beyond_our_patience_is_not_begun():
    with Loopback(Reply(status=503, headers={"Retry-After": "3600"})) as server:
        started = time.monotonic()
        error = refused(server)

    assert time.monotonic() - started < 1
    assert (len(server.seen), error.wait_s) == (1, 3600)


@pytest.mark.parametrize("wait", ["soon", "-1", "", "\u00b2"])
def test_a_wait_that_says_nothing_is_passed_over(wait):
    with Loopback(Reply(status=429, headers={"Retry-After": wait}), Reply(body=b"now")) as server:
        assert fetch(server.base, token=TOKEN, patience=HURRY) == b"now"


def test_a_server_that_does_not_answer_ends_in_time():
    with Loopback(Reply(waits_s=30)) as server:
        started = time.monotonic()
        error = refused(server, patience=Patience(read_s=0.2, tries=2, first_wait_s=0.01))

    assert time.monotonic() - started < 3
    assert "no answer in time" in str(error)


@pytest.mark.parametrize("drip", [{"body": b"x" * 100}, {"endless_head": True}])
def test_a_server_that_drips_ends_in_time_too(drip):
    with Loopback(Reply(drips_s=0.1, **drip)) as server:
        started = time.monotonic()
        error = refused(server, patience=Patience(read_s=1, total_s=0.6, tries=3, first_wait_s=0.01))

    assert time.monotonic() - started < 3
    assert "when time was up" in str(error)


def test_an_answer_that_is_cut_is_no_answer():
    with Loopback(Reply(body=b'{"id":1}\n{"id":2}\n', cut_after=9)) as server:
        error = refused(server)

    assert len(server.seen) == 3
    assert "no complete answer came" in str(error)


def test_a_cut_answer_that_comes_whole_the_next_time_counts():
    with Loopback(Reply(body=b"whole", cut_after=2), Reply(body=b"whole")) as server:
        assert fetch(server.base, token=TOKEN, patience=HURRY) == b"whole"


def test_a_server_that_is_not_there_is_told():
    url = f"http://127.0.0.1:{closed_port()}/x"

    with pytest.raises(ApiError, match="could not be reached") as raised:
        fetch(url, token=TOKEN, patience=HURRY)

    assert f"url={url}" in str(raised.value)


def test_a_redirect_within_the_origin_keeps_the_token_and_one_to_another_origin_does_not():
    with Loopback(Reply(body=b"there")) as other:
        moved = Reply(status=302, headers={"Location": "/moved"})
        away = Reply(status=307, headers={"Location": f"{other.base}/away"})
        with Loopback(moved, away) as server:
            assert fetch(server.base, token=TOKEN) == b"there"

    assert [seen.headers.get("authorization") for seen in server.seen] == [f"Bearer {TOKEN}"] * 2
    assert [(seen.target, seen.headers.get("authorization")) for seen in other.seen] == [("/away", None)]


@pytest.mark.parametrize("location", ["/again", "ftp://lab.example.com/x"])
def test_a_redirect_without_end_or_out_of_http_is_told_once(location):
    with Loopback(Reply(status=302, headers={"Location": location})) as server:
        error = refused(server)

    assert "redirected" in str(error)
    assert not error.passing


@pytest.mark.parametrize(
    "echo",
    [
        f'{{"error":"token {TOKEN} has expired"}}',
        "x" * 225 + TOKEN,  # where the text is cut
        f"{TOKEN}\n{TOKEN}",
    ],
)
def test_a_token_that_the_server_sends_back_is_not_shown(echo):
    with Loopback(Reply(status=401, body=echo.encode(), reason=f"Bad {TOKEN}")) as server:
        error = refused(server)

    assert "tok-" not in str(error)
    assert str(error).startswith("Quality API export failed: 401 Bad ***\n")


def test_a_token_with_quotes_is_hidden_where_json_escapes_it():
    assert without_token(json.dumps({"said": 'a"b\\c'}), 'a"b\\c') == '{"said": "***"}'


def test_a_token_in_a_case_is_not_shown_in_any_report(tmp_path, monkeypatch):
    case = json.dumps(
        {"recordType": TOKEN, "id": 1, "title": f"of {TOKEN}", "toolName": TOKEN, "status": [TOKEN]}
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("QUALITY_LAB_TOKEN", TOKEN)
    with Loopback(Reply(body=f"{case}\n<html>{TOKEN}\n".encode())) as server:
        ran = run(
            *("regressions", "--api-base", server.base),
            *("--out-json", "r.json", "--out-junit", "r.xml", "--out-md", "r.md"),
        )

    written = [path.read_text("utf-8") for path in sorted(tmp_path.iterdir())]
    assert len(written) == 3
    assert ran.code == 1
    assert TOKEN not in "".join([ran.out, ran.err, *written])
    assert "***" in ran.err


@pytest.mark.parametrize("token", ["kot\nX-Evil: 1", "kot\x00", "k\u00f6t\u20ac", "kot\r\nb"])
def test_a_token_that_no_header_can_carry_is_refused_unshown(token):
    with pytest.raises(UsageError) as raised:
        fetch("http://127.0.0.1:1/", token=token)

    assert token[:3] not in str(raised.value)


def test_a_token_goes_without_the_line_feed_of_its_file_and_with_its_latin_letters():
    with Loopback(Reply()) as server:
        fetch(server.base, token="t\u00f6k\n")

    assert server.seen[0].headers["authorization"] == "Bearer t\u00f6k"


@pytest.mark.parametrize("proxy", ["socks5://me:pw@127.0.0.1:1", "gopher://me:pw@127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_told_without_its_password(monkeypatch, proxy):
    monkeypatch.setenv("all_proxy", proxy)

    with pytest.raises(UsageError, match="names a proxy") as raised:
        fetch("http://127.0.0.1:1/", token=TOKEN)

    assert "pw" not in str(raised.value)


def test_nothing_of_what_can_be_printed_shows_the_token():
    from quality_lab.regressions import parse_arguments

    settings = parse_arguments(["--api-base", "http://lab.example.com", "--token", TOKEN], env={}, folder="/")

    assert TOKEN not in repr(settings)
    assert TOKEN not in str(settings)


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://lab.example.com", "https://lab.example.com/api/admin/quality/x"),
        ("https://lab.example.com//", "https://lab.example.com/api/admin/quality/x"),
        ("HTTPS://LAB.example.com:443/eu/", "https://lab.example.com/eu/api/admin/quality/x"),
        (
            "https://me:pw@lab.example.com/a b?tenant=4#top",
            "https://lab.example.com/a%20b/api/admin/quality/x",
        ),
        ("http:lab.example.com:8080", "http://lab.example.com:8080/api/admin/quality/x"),
    ],
)
def test_a_base_becomes_the_url_of_a_path(base, url):
    assert endpoint(base, "x") == url


@pytest.mark.parametrize("base", ["localhost:1", "ftp://lab.example.com", "file:///etc", "lab", ""])
def test_a_base_that_is_no_http_url_is_wrong_usage(base):
    with pytest.raises(UsageError, match="wanted an http or https URL"):
        endpoint(base, "x")
