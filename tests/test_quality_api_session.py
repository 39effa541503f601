"""What writes: sent again only where nothing can have come of it, to no other place, and never with the token shown."""

from __future__ import annotations

import json
import time

import pytest
from loopback import Loopback, Reply, closed_port
from test_quality_api_fetch import HURRY, TOKEN

from quality_lab.errors import UsageError
from quality_lab.quality_api import ApiError, Session
from quality_lab.quality_api.bodies import LabelBody
from quality_lab.quality_api.reading import ENDPOINTS, everything, overview, page
from quality_lab.quality_api.token import without_token_in_json
from quality_lab.quality_api.writing import GivenLabel, already_given, labels_of_call

pytestmark = pytest.mark.usefixtures("_no_proxy")


@pytest.fixture
def _no_proxy(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def refused(base: str, method: str = "post") -> ApiError:
    """Return the error that a write to *base* ends in."""
    with Session(base, token=TOKEN, patience=HURRY) as session, pytest.raises(ApiError) as raised:
        getattr(session, method)("x", {"label": "other"})
    return raised.value


@pytest.mark.parametrize(("method", "verb"), [("post", "POST"), ("patch", "PATCH")])
def test_a_write_carries_json_and_the_token_below_the_prefix_of_the_base(method, verb):
    with (
        Loopback(Reply(status=201, body=b"{}")) as server,
        Session(f"{server.base}/eu", token=TOKEN) as session,
    ):
        assert getattr(session, method)("x", {"note": "\u00e9\ud800"}) == b"{}"

    (seen,) = server.seen
    assert (seen.method, seen.target) == (verb, "/eu/api/admin/quality/x")
    assert seen.headers["authorization"] == f"Bearer {TOKEN}"
    assert seen.headers["content-type"] == "application/json"


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_post_that_may_have_come_through_is_not_sent_again(status):
    with Loopback(Reply(status=status, headers={"Retry-After": "0"}), Reply(status=201)) as server:
        error = refused(server.base)

    assert len(server.seen) == 1
    assert (error.status, error.untouched) == (status, False)


@pytest.mark.parametrize(
    "reply", [Reply(waits_s=30), Reply(status=201, body=b"{}" * 50, cut_after=3)], ids=["slow", "cut"]
)
def test_a_post_without_a_whole_answer_is_not_sent_again(reply):
    with Loopback(reply) as server:
        error = refused(server.base)

    assert (len(server.seen), error.untouched, error.status) == (1, False, None)


def test_a_post_that_was_turned_away_at_the_door_is_sent_again_after_as_long_as_the_server_says():
    busy = Reply(status=429, headers={"Retry-After": "1"})
    with Loopback(busy, Reply(status=201, body=b"{}")) as server:
        started = time.monotonic()
        with Session(server.base, token=TOKEN, patience=HURRY) as session:
            assert session.post("x", {}) == b"{}"

    assert len(server.seen) == 2
    assert time.monotonic() - started > 0.9


def test_a_post_that_reached_nobody_says_so():
    error = refused(f"http://127.0.0.1:{closed_port()}")

    assert error.untouched
    assert "could not be reached" in str(error)


def test_what_comes_to_the_same_is_sent_again():
    replies = [Reply(status=503), Reply(body=b"{}")]
    with Loopback(*replies) as server, Session(server.base, token=TOKEN, patience=HURRY) as session:
        assert session.patch("x", {}) == b"{}"

    assert [seen.method for seen in server.seen] == ["PATCH", "PATCH"]


@pytest.mark.parametrize("method", ["post", "patch"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_write_follows_no_redirect_even_within_its_origin(method, status):
    with Loopback(Reply(body=b"{}")) as other:
        away = Reply(status=status, headers={"Location": f"{other.base}/x"})
        with Loopback(away, Reply(body=b"{}")) as server:
            error = refused(server.base, method)

    assert (len(server.seen), other.seen) == (1, [])
    assert (error.status, error.passing) == (status, False)
    assert "name the API where it lies" in str(error)


def test_a_token_that_is_sent_back_to_a_write_is_not_shown():
    with Loopback(Reply(status=403, body=f'{{"error":"{TOKEN} may not"}}'.encode(), reason=TOKEN)) as server:
        error = refused(server.base)

    assert "tok-" not in str(error) + error.said + repr(error)
    assert error.said == '{"error":"*** may not"}'


def test_nothing_of_a_session_shows_its_token():
    with Session("http://127.0.0.1:1", token=TOKEN) as session:
        assert TOKEN not in repr(session) + str(session)


@pytest.mark.parametrize("base", ["localhost:1", "ftp://lab.example.com", ""])
def test_a_base_that_is_no_http_url_is_wrong_usage_before_anything_is_asked(base):
    with pytest.raises(UsageError, match="wanted an http or https URL"):
        Session(base, token=TOKEN)


# ---- answers of 200 that are none ----


def came(kind: str, body: bytes) -> ApiError:
    """Return the error that a page of *kind* ends in."""
    server = Loopback(Reply(body=body))
    session = Session(server.base, token=TOKEN, patience=HURRY)
    with server, session, pytest.raises(ApiError) as raised:
        page(session, ENDPOINTS[kind], {})
    return raised.value


HTML = f"<!doctype html><title>Sign in</title>{TOKEN}".encode()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("calls", HTML),
        ("feedback", HTML),
        ("calls", b""),
        ("calls", b"[]"),
        ("calls", b'{"items":[{"id":1},{"i'),
        ("calls", b'{"items":"\xff"}'),
        ("calls", b'{"items":' + b"[" * 50_000),
        ("calls", b'{"items":1,"x":' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
        ("calls", b'{"error":"no tok\\u002dvery-secret-1"}'),
        ("proposals", b'{"items":null}'),
        ("feedback", b"null\n"),
        ("feedback", b'{"id":1}\n{"id":2,"no'),
        ("cases", b'[{"id":1}]\n'),
    ],
)
def test_an_answer_of_another_kind_is_no_answer_and_is_shown_without_the_token(kind, body):
    error = came(kind, body)

    assert error.exit_code == 4
    assert "answered with something else" in str(error)
    assert "tok-" not in str(error)
    assert len(str(error)) < 700


def test_rows_come_as_they_were_written_whatever_stands_in_them():
    rows = ['{"id": 1, "n": 1.10, "toolName": "a"}', '{"id":2,"x":12345678901234567890123}', "{broken", "7"]
    body = "\r\n".join(["\ufeff" + rows[0], "", *rows[1:], ""]).encode()
    with Loopback(Reply(body=body)) as server, Session(server.base, token=TOKEN) as session:
        found = page(session, ENDPOINTS["feedback"], {})

    assert [row.text for row in found] == rows
    assert [row.key for row in found] == [1, 2, "{broken", "7"]
    assert [dict(row.names) for row in found] == [{"toolName": "a"}, {}, {}, {}]


def test_a_row_tells_under_which_filters_it_is_found():
    line = {
        "id": 1,
        "label": "other",
        "source": "rag_reply",
        "error": False,
        "toolName": "a",
        "conversationId": 5,
    }
    with (
        Loopback(Reply(body=json.dumps(line).encode())) as server,
        Session(server.base, token=TOKEN) as session,
    ):
        (row,) = page(session, ENDPOINTS["feedback"], {})

    told = {"label": "other", "source": "rag_reply", "error": "false", "toolName": "a", "conversationId": "5"}
    assert dict(row.names) == told


def test_items_of_a_document_come_one_a_line_with_their_numbers_as_they_were_written():
    body = b'{"items": [\n {"id": 1,\r\n  "n": 1.10},\n {"id": 2, "t": "\\n"}]}'
    with Loopback(Reply(body=body)) as server, Session(server.base, token=TOKEN) as session:
        found = page(session, ENDPOINTS["calls"], {})

    assert [row.text for row in found] == ['{"id": 1,    "n": 1.10}', '{"id": 2, "t": "\\n"}']


def test_a_value_nested_by_the_thousand_costs_nothing_else():
    deep = "[" * 50_000 + "1.10" + "]" * 50_000
    body = f'{{"items": [{{"id":1,"args":{deep}}}, {{"id": 2}}]}}'.encode()
    with Loopback(Reply(body=body)) as server, Session(server.base, token=TOKEN) as session:
        found = page(session, ENDPOINTS["calls"], {})

    assert [row.text for row in found] == [f'{{"id":1,"args":{deep}}}', '{"id":2}']


@pytest.mark.parametrize(
    ("reply", "known"),
    [
        (b'{"totals":{"total":9},"byTool":[{"toolName":"pay"},{"toolName":" "}]}', (9, {"pay"})),
        (b'{"totals":{"total":9},"byTool":[{"toolName":"tok\\u002dvery-secret-1"}]}', (9, {"***"})),
        (b'{"totals":{"total":"many"}}', (None, set())),
        (b"<html>", (None, set())),
        (b"[" * 50_000, (None, set())),
    ],
)
def test_the_summary_tells_how_many_labels_there_are_and_of_which_tools(reply, known):
    with Loopback(Reply(body=reply)) as server, Session(server.base, token=TOKEN) as session:
        assert overview(session) == known


@pytest.mark.parametrize("name", [" quote", "", "\ufeff", "x" * 501, "\ud800", 7.5, None, ["a"]])
def test_a_name_that_no_filter_finds_is_not_asked_for(name):
    line = json.dumps({"id": 1, "toolName": name, "conversationId": -1})
    with Loopback(Reply(body=f"{line}\n".encode())) as server, Session(server.base, token=TOKEN) as session:
        assert dict(page(session, ENDPOINTS["feedback"], {})[0].names) == {}


def test_each_kind_asks_its_endpoint_for_as_much_as_it_gives():
    with Loopback(Reply(body=b'{"items":[]}')) as server, Session(server.base, token=TOKEN) as session:
        for kind in ("calls", "proposals"):
            everything(session, kind)
    with Loopback(Reply(body=b"")) as lines, Session(lines.base, token=TOKEN) as session:
        for kind in ("feedback", "cases"):
            everything(session, kind)

    asked = [seen.target.split("/quality/")[1] for seen in (*server.seen, *lines.seen)]
    assert asked == [
        "tool-calls?limit=1000",
        "tool-call-feedback/improvement-proposals?status=all&limit=200",
        "tool-call-feedback/export.jsonl?limit=1000",
        "tool-call-regression-cases/export.jsonl?status=all&limit=1000",
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ('{"note": "tok-very-secret-1"}', '{"note": "***"}'),
        ('{"note":"tok\\u002dvery\\u002Dsecret-1","n":1.10}', '{"note":"***","n":1.10}'),
        ('{"a\\nb":"tok-very-secret-1 and tok\\u002dvery-secret-1"}', '{"a\\nb":"*** and ***"}'),
        ('{"note":"a\\nb", "n": 1.10}', '{"note":"a\\nb", "n": 1.10}'),
        ("{broken \\ tok-very-secret-1", "{broken \\ ***"),
    ],
)
def test_a_token_in_a_row_is_hidden_however_it_is_spelt_and_other_rows_stay(line, shown):
    assert without_token_in_json(line, TOKEN) == shown


# ---- which label of upstream's is ours already ----

SAID = LabelBody(label="bad_args", note=None)


def given_label(number: int, note: str | None = None, label: str = "bad_args") -> GivenLabel:
    return GivenLabel(id=number, toolCallId=1, label=label, note=note)


@pytest.mark.parametrize(
    ("there", "known", "found"),
    [
        ([], {}, None),
        ([given_label(1)], {}, 1),
        ([given_label(1, note="")], {}, 1),  # upstream keeps a blank note as none
        ([given_label(1, note="x")], {}, None),
        ([given_label(1, label="other")], {}, None),
        ([given_label(1)], {1: "tomas"}, None),  # brought there for somebody else
        ([given_label(1)], {1: "dana"}, 1),
        ([given_label(2, label="other"), given_label(1)], {1: "dana", 2: "dana"}, None),  # a change of mind
        ([given_label(3), given_label(1)], {1: "tomas"}, 3),
    ],
)
def test_a_label_is_there_already_where_nobody_else_is_known_to_have_said_it(there, known, found):
    label = already_given(there, SAID, author="dana", known=known)

    assert (label and label.id) == found


def test_labels_of_another_call_are_not_taken_for_this_one_s():
    body = json.dumps({"items": [{"id": 1, "toolCallId": 2, "label": "other"}]}).encode()
    with Loopback(Reply(body=body)) as server, Session(server.base, token=TOKEN) as session:
        assert labels_of_call(session, "1") == []
