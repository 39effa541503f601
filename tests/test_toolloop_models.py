"""Models on a server: what goes over the wire, what comes back, and every way in which it can go wrong."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from werkzeug import Request, Response

from quality_lab.errors import UsageError
from quality_lab.toolloop import LoopResult, ModelError, OpenAICompatible, Tool, approve_all, run_loop

ASK = [{"role": "user", "content": "200 USDT, please"}]
PATH = "/v1/chat/completions"
JSON = "application/json"


def answer(content: Any = None, *, calls: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls is not None:
        message["tool_calls"] = calls
    return {
        "id": "r-1",
        "object": "chat.completion",
        "model": "m-as-served",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14},
        **more,
    }


def wants(name: str, arguments: Any = "{}", call_id: Any = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def quote(**promises: Any) -> Tool:
    said = {"execute": lambda args, context: {"thb": 6520}, "effect": "read", "inline": True, **promises}
    return Tool(name="quote", description="Quotes.", **said)


def ask(url: str, *tools: Tool, messages: Any = ASK, options: Any = None, **settings: Any) -> LoopResult:
    async def scene() -> LoopResult:
        settings.setdefault("max_retries", 0)
        async with OpenAICompatible("m-1", base_url=url, **settings) as model:
            return await run_loop(model, messages, tools, options=options, approve=approve_all)

    return asyncio.run(scene())


def failure(url: str, *tools: Tool, **settings: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        ask(url, *tools, **settings)
    return caught.value


@contextmanager
def raw_server(behave: Callable[[socket.socket, int], None]) -> Iterator[str]:
    """Yield the base URL of a server that does *behave* with each connection once it has read the request."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(20)

    def serve() -> None:
        number = 0
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            connection.settimeout(20)
            number += 1
            threading.Thread(target=one, args=(connection, number), daemon=True).start()

    def one(connection: socket.socket, number: int) -> None:
        with connection:
            read = b""
            while b"\r\n\r\n" not in read:
                read += connection.recv(65536)
            head, _, body = read.partition(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line
            )
            while len(body) < length:
                body += connection.recv(65536)
            try:
                behave(connection, number)
            except OSError:
                return  # the client went away first

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        server.close()


def whole(body: dict[str, Any]) -> bytes:
    text = json.dumps(body).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
    return head.encode() + text


# -- over the wire ---------------------------------------------------------------------------------------


def test_a_conversation_with_parallel_calls_over_the_wire(httpserver):
    calls = [
        wants("quote", '{"amount":200}', "c1"),
        wants("ghost", "{}", "c2"),
        wants("quote", '{"amount":1}', "c3"),
    ]
    httpserver.expect_ordered_request(PATH, method="POST").respond_with_json(answer("A moment.", calls=calls))
    httpserver.expect_ordered_request(PATH, method="POST").respond_with_json(answer("6520 baht."))
    tool = quote(execute=lambda args, context: {"thb": args["amount"] * 2})

    result = ask(httpserver.url_for("/v1"), tool, options={"temperature": 0})
    first, second = (request.get_json() for request, _ in httpserver.log)

    assert result.content == "6520 baht."
    assert first == {
        "model": "m-1",
        "temperature": 0,
        "messages": ASK,
        "tools": [tool.openai_definition()],
    }
    assert second["messages"] == [
        *ASK,
        {"role": "assistant", "content": "A moment.", "tool_calls": calls},
        {"role": "tool", "content": '{"thb":400}', "tool_call_id": "c1"},
        {"role": "tool", "content": '{"error":"unknown tool: ghost"}', "tool_call_id": "c2"},
        {"role": "tool", "content": '{"thb":2}', "tool_call_id": "c3"},
    ]
    assert (result.input_tokens, result.output_tokens) == (22, 6)
    assert (result.turns[0].reply.model, result.turns[0].reply.attempts) == ("m-as-served", 1)


def test_without_tools_the_request_has_no_tools_key(httpserver):
    httpserver.expect_request(PATH).respond_with_json(answer("hello"))

    ask(httpserver.url_for("/v1"))

    assert "tools" not in httpserver.log[0][0].get_json()


def test_null_text_beside_calls_goes_out_as_empty_text_and_stays_null_in_the_record(httpserver):
    httpserver.expect_ordered_request(PATH).respond_with_json(answer(None, calls=[wants("quote")]))
    httpserver.expect_ordered_request(PATH).respond_with_json(answer("done"))

    result = ask(httpserver.url_for("/v1"), quote())

    assert httpserver.log[1][0].get_json()["messages"][1]["content"] == ""
    assert result.messages[1]["content"] is None


@pytest.mark.parametrize(
    ("arguments", "on_the_wire", "state"),
    [
        ('{"a": 1', '{"invalid_json":"{\\"a\\": 1"}', "invalid_json"),
        ("[1]", '{"not_an_object":[1]}', "json_string"),
        ("", "{}", "absent"),
        (None, "{}", "absent"),
        ({"a": 1}, '{"a":1}', "json_string"),
        ('{ "a": 1.50 }', '{ "a": 1.50 }', "json_string"),
    ],
)
def test_arguments_that_are_no_object_go_back_to_the_server_as_one(httpserver, arguments, on_the_wire, state):
    httpserver.expect_ordered_request(PATH).respond_with_json(answer(calls=[wants("quote", arguments)]))
    httpserver.expect_ordered_request(PATH).respond_with_json(answer("done"))

    result = ask(httpserver.url_for("/v1"), quote(parameters={"type": "object"}))
    sent = httpserver.log[1][0].get_json()["messages"][1]["tool_calls"][0]["function"]["arguments"]

    assert (sent, result.calls[0].arguments_state) == (on_the_wire, state)


def test_a_lone_surrogate_and_non_ascii_text_survive_the_wire(httpserver):
    httpserver.expect_request(PATH).respond_with_json(answer("ผู้ 🚲"))

    result = ask(httpserver.url_for("/v1"), messages=[{"role": "user", "content": "a\ud83d ü"}])

    assert result.content == "ผู้ 🚲"
    assert httpserver.log[0][0].get_json()["messages"][0]["content"] == "a\ud83d ü"


@pytest.mark.parametrize(
    ("message", "content", "calls"),
    [
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", 0),
        ({"content": None, "refusal": "No."}, None, 0),
        ({}, None, 0),
        ({"content": "x", "tool_calls": None}, "x", 0),
        ({"content": "x", "tool_calls": []}, "x", 0),
        ({"content": 5}, None, 0),
        ({"tool_calls": [{}]}, None, 1),
        ({"tool_calls": ["quote"]}, None, 1),
        ({"tool_calls": [{"id": 5, "function": {"name": None}}]}, None, 1),
    ],
)
def test_odd_messages_are_read_for_what_they_hold(httpserver, message, content, calls):
    body = answer()
    body["choices"][0]["message"] = {"role": "assistant", **message}
    httpserver.expect_ordered_request(PATH).respond_with_json(body)
    httpserver.expect_ordered_request(PATH).respond_with_json(answer("done"))

    result = ask(httpserver.url_for("/v1"), quote())

    assert result.turns[0].reply.content == content
    assert [each.error_kind for each in result.calls] == ["unknown_tool"] * calls


# -- answers that are none -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kind_of_body", "said"),
    [
        ("<html>Gateway</html>", "text/html", "answered 200 with text that is no JSON: <html>Gateway</html>"),
        ("", "text/plain", "answered 200 with text that is no JSON"),
        ('{"error": {"message": "model overloaded"}}', JSON, "answered 200 with an error: model overloaded"),
        ('{"error": "model overloaded"}', JSON, "answered 200 with an error: model overloaded"),
        ('{"choices": []}', JSON, "answered 200 without any choice"),
        ('{"choices": null}', JSON, "answered 200 without any choice"),
        ('{"choices": "none"}', JSON, "answered 200 without any choice"),
        ('{"choices": [{"text": "old"}]}', JSON, "answered 200 with a choice that holds no message"),
        ("[]", JSON, "answered 200 with list in place of an object"),
        ("null", JSON, "answered 200 with NoneType in place of an object"),
        ('{"choices": [', JSON, 'answered 200 with text that is no JSON: {"choices": ['),
        ("", JSON, "answered 200 with text that is no JSON"),
        ("[" * 100_000, JSON, "answered 200 with text that is no JSON"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_becomes_a_clear_error_with_the_run_on_it(
    httpserver, body, kind_of_body, said
):
    httpserver.expect_ordered_request(PATH).respond_with_json(answer(calls=[wants("quote")]))
    httpserver.expect_ordered_request(PATH).respond_with_data(body, content_type=kind_of_body)

    error = failure(httpserver.url_for("/v1"), quote())

    assert said in str(error)
    assert error.kind == "malformed"
    assert [each.result for each in error.result.calls] == [{"thb": 6520}]


@pytest.fixture(params=["aiohttp", "httpx"])
def transport(request, monkeypatch) -> str:
    """Both roads to a server: the fast one, and the one that is taken where aiohttp is not installed."""
    if request.param == "httpx":

        class Missing(httpx2.AsyncClient):
            def __init__(self, **settings: Any) -> None:
                raise RuntimeError("install the aiohttp extra")

        monkeypatch.setattr("openai.DefaultAioHttpClient", Missing)
    return request.param


def test_a_conversation_is_the_same_by_either_road(httpserver, transport):
    httpserver.expect_ordered_request(PATH).respond_with_json(answer(calls=[wants("quote")]))
    httpserver.expect_ordered_request(PATH).respond_with_json(answer("6520 baht."))

    result = ask(httpserver.url_for("/v1"), quote())

    assert (result.content, result.calls[0].result) == ("6520 baht.", {"thb": 6520})


def test_a_connection_cut_in_the_middle_of_the_answer_is_a_connection_failure(transport):
    def cut(connection: socket.socket, number: int) -> None:
        connection.sendall(whole(answer("hello"))[:-20])

    with raw_server(cut) as url:
        error = failure(url)

    assert (error.kind, error.result.calls) == ("connection", [])
    assert "broke the connection" in str(error)


def test_a_connection_closed_without_an_answer_is_tried_again(transport):
    def second_time(connection: socket.socket, number: int) -> None:
        if number > 1:
            connection.sendall(whole(answer("hello")))

    with raw_server(second_time) as url:
        result = ask(url, max_retries=1)

    assert (result.content, result.turns[0].reply.attempts) == ("hello", 2)


def test_a_connection_that_is_always_closed_is_called_that_and_not_a_time_out(transport):
    with raw_server(lambda connection, number: None) as url:
        error = failure(url)

    assert error.kind == "connection"
    assert "broke the connection" in str(error)


def test_a_server_that_is_not_there_is_named(transport):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    error = failure(f"http://127.0.0.1:{port}/v1")

    assert error.kind == "connection"
    assert f"m-1 at http://127.0.0.1:{port}/v1 could not be reached" in str(error)


# -- refusals and retries --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "at_least"), [({"Retry-After": "1"}, 1.0), ({"retry-after-ms": "300"}, 0.3)]
)
def test_a_rate_limit_is_waited_for_as_long_as_the_server_says(httpserver, header, at_least):
    httpserver.expect_ordered_request(PATH).respond_with_json(
        {"error": {"message": "slow down"}}, status=429, headers=header
    )
    httpserver.expect_ordered_request(PATH).respond_with_json(answer("hello"))

    begun = time.perf_counter()
    result = ask(httpserver.url_for("/v1"), max_retries=1)

    assert at_least <= time.perf_counter() - begun < at_least + 5
    assert (result.content, result.turns[0].reply.attempts) == ("hello", 2)


def test_a_rate_limit_that_asks_for_more_than_two_minutes_ends_the_attempt(httpserver):
    httpserver.expect_request(PATH).respond_with_json(
        {"error": {"message": "come back tomorrow"}}, status=429, headers={"Retry-After": "86400"}
    )

    error = failure(httpserver.url_for("/v1"), max_retries=3)

    assert (error.status, error.attempts) == (429, 1)
    assert str(error).endswith("refused with 429: come back tomorrow")


def test_retries_are_bounded_and_counted(httpserver):
    httpserver.expect_request(PATH).respond_with_data("busy", status=503, headers={"retry-after-ms": "1"})

    error = failure(httpserver.url_for("/v1"), max_retries=2)

    assert (len(httpserver.log), error.attempts, error.status, error.kind) == (3, 3, 503, "status")
    assert str(error).endswith("refused with 503: busy (tried 3 times)")


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_a_refusal_is_not_tried_again(httpserver, status):
    httpserver.expect_request(PATH).respond_with_json({"error": {"message": "no"}}, status=status)

    error = failure(httpserver.url_for("/v1"), max_retries=2)

    assert (len(httpserver.log), error.status) == (1, status)


def test_a_silent_server_is_given_up_after_the_time_out(transport):
    with raw_server(lambda connection, number: time.sleep(3)) as url:
        begun = time.perf_counter()
        error = failure(url, timeout_s=0.3)

    assert error.kind == "timeout"
    assert "was silent for 0.3 s" in str(error)
    assert time.perf_counter() - begun < 2.5


def test_a_server_that_drips_is_given_up_at_the_deadline():
    def drip(connection: socket.socket, number: int) -> None:
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
        )
        for _ in range(30):
            connection.sendall(b" ")
            time.sleep(0.1)

    with raw_server(drip) as url:
        begun = time.perf_counter()
        error = failure(url, timeout_s=1.0, deadline_s=0.5)

    assert "gave no answer within 0.5 s" in str(error)
    assert time.perf_counter() - begun < 2


def test_a_run_that_is_cancelled_while_the_model_is_silent_ends_at_once(httpserver):
    let_go = threading.Event()
    answered = threading.Event()

    def late(request: Request) -> Response:
        let_go.wait(10)
        answered.set()
        return Response("{}")

    httpserver.expect_request(PATH).respond_with_handler(late)

    async def scene() -> float:
        async with OpenAICompatible("m-1", base_url=httpserver.url_for("/v1")) as model:
            task = asyncio.create_task(run_loop(model, ASK))
            await asyncio.sleep(0.2)
            begun = time.perf_counter()
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled()
            return time.perf_counter() - begun

    took = asyncio.run(scene())
    let_go.set()
    answered.wait(10)

    assert took < 1


# -- secrets and lives -----------------------------------------------------------------------------------


def test_the_key_is_sent_and_shown_nowhere(httpserver):
    httpserver.expect_request(PATH).respond_with_data("busy", status=400)
    url = httpserver.url_for("/v1")

    error = failure(url, api_key="sk-secret")
    model = OpenAICompatible("m-1", base_url=url + "?token=secret", api_key="sk-secret")

    assert httpserver.log[-1][0].headers["Authorization"] == "Bearer sk-secret"
    assert "secret" not in str(error) + repr(error) + repr(model)


def test_a_server_hears_the_headers_it_needs_and_nothing_of_this_machine(httpserver, monkeypatch):
    httpserver.expect_request(PATH).respond_with_json(answer("hello"))
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody-else")

    ask(httpserver.url_for("/v1"), headers={"X-Team": "quality"})
    sent = {name.lower() for name, _ in httpserver.log[-1][0].headers}

    assert sent == {
        "host",
        "accept",
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "user-agent",
        "x-stainless-read-timeout",
        "x-stainless-retry-count",
        "x-team",
    }


def test_a_base_url_with_a_password_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        OpenAICompatible("m-1", base_url="https://user:pass-secret@models.example.com/v1")

    assert "secret" not in str(caught.value)


def test_one_model_serves_one_event_loop_after_another(httpserver):
    httpserver.expect_request(PATH).respond_with_json(answer("hello"))
    model = OpenAICompatible("m-1", base_url=httpserver.url_for("/v1"))

    async def scene() -> str | None:
        result = await run_loop(model, ASK)
        await model.aclose()
        return result.content

    assert [asyncio.run(scene()) for _ in range(2)] == ["hello", "hello"]


def test_attempts_of_conversations_side_by_side_are_counted_apart(httpserver):
    seen: dict[str, int] = {}

    def stumble(request: Request) -> Response:
        who = request.get_json()["messages"][0]["content"]
        seen[who] = seen.get(who, 0) + 1
        if who == "stumbles" and seen[who] < 3:
            return Response("busy", 503, {"retry-after-ms": "1"})
        return Response(json.dumps(answer("hello")), content_type="application/json")

    httpserver.expect_request(PATH).respond_with_handler(stumble)

    async def scene() -> list[int]:
        async with OpenAICompatible("m-1", base_url=httpserver.url_for("/v1")) as model:
            whos = ["stumbles", *[f"walks {n}" for n in range(8)]]
            runs = await asyncio.gather(
                *[run_loop(model, [{"role": "user", "content": who}]) for who in whos]
            )
            return [result.turns[0].reply.attempts for result in runs]

    assert asyncio.run(scene()) == [3] + [1] * 8


# -- a real model ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(
    "QUALITY_LAB_MODEL_URL" not in os.environ,
    reason="no small model here: see benchmarks/README.md, and set QUALITY_LAB_MODEL_URL to its base URL",
)
def test_a_small_model_on_this_machine_answers_and_its_calls_are_carried_out_or_told_back():
    url, name = os.environ["QUALITY_LAB_MODEL_URL"], os.environ.get("QUALITY_LAB_MODEL", "small")

    plain = ask(url, messages=[{"role": "user", "content": "Say hello."}], options={"max_tokens": 16})
    forced = ask(
        url,
        quote(
            parameters={
                "type": "object",
                "properties": {"amount": {"type": "number"}},
                "required": ["amount"],
            }
        ),
        messages=[{"role": "user", "content": "Quote 200 USDT. Use the tool."}],
        options={"model": name, "max_tokens": 64, "tool_choice": "required"},
    )

    assert plain.content
    assert forced.calls or forced.content
    assert all(each.status in ("ok", "error") for each in forced.calls)
