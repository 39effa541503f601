"""HTTP tools over real sockets: what they send, what they take, and where they refuse to go."""

from __future__ import annotations

import asyncio
import base64
import json
import multiprocessing
import socket
import ssl
import subprocess
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from quality_lab.errors import InputError, OutputError, UsageError
from quality_lab.toolbox.endpoint_guard import Endpoint
from quality_lab.toolbox.files import file_lock
from quality_lab.toolbox.guarded_http import (
    EndpointFailed,
    EndpointRefused,
    Network,
    fetch,
    system_addresses,
)
from quality_lab.toolbox.http_catalogue import (
    add_http_tool,
    parse_http_catalogue,
    read_http_catalogue,
)
from quality_lab.toolbox.http_checks import spec_problems
from quality_lab.toolbox.http_spec import HttpParam, HttpToolSpec, read_spec, slug_from_title
from quality_lab.toolbox.http_tools import http_tool
from quality_lab.toolloop import ScriptedModel, ToolContext, ToolError, run_loop
from quality_lab.toolloop import call as tool_call

HOST = "api.example.com"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for the invented host, made for this run."""
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={HOST}"]
        + ["-addext", f"subjectAltName=DNS:{HOST}", "-keyout", str(path), "-out", str(path) + ".crt"],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return path


@dataclass
class Server:
    """A TLS server on a loopback address that keeps every request and answers each the same way."""

    address: str
    port: int
    requests: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    def head(self, name: str) -> str | None:
        lines = self.requests[-1].split(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        headers = {key.lower(): value for key, value in (line.split(": ", 1) for line in lines)}
        return headers.get(name.lower())

    @property
    def line(self) -> str:
        return self.requests[-1].split(b"\r\n")[0].decode()

    @property
    def body(self) -> str:
        return self.requests[-1].split(b"\r\n\r\n", 1)[1].decode()


@contextmanager
def serving(
    certificate: Path,
    answer: Callable[[ssl.SSLSocket], None],
    *,
    address: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server((address, port))
    server = Server(address=address, port=listener.getsockname()[1])
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    server.requests.append(whole_request(connection))
                    answer(connection)
            except OSError:
                continue  # the client hung up, as some tests want it to

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=5)


def whole_request(connection: ssl.SSLSocket) -> bytes:
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65_536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
    )
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def says(body: str | bytes, *, status: str = "200 OK", headers: str = "") -> Callable[[ssl.SSLSocket], None]:
    content = body.encode() if isinstance(body, str) else body

    def answer(connection: ssl.SSLSocket) -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(content)}\r\n{headers}\r\n"
        connection.sendall(head.encode() + content)

    return answer


def resolver(*answers: list[str]) -> Callable[[str, int], Any]:
    """A resolver that gives each of *answers* once, the last one for ever, and counts."""
    left = list(answers)

    async def resolve(host: str, port: int) -> list[str]:
        return left.pop(0) if len(left) > 1 else left[0]

    return resolve


@pytest.fixture
def network(certificate: Path) -> Network:
    """The guard as it is, but for one loopback address that stands for a public host."""
    return Network(
        resolve=resolver(["127.0.0.1"]),
        allowed=frozenset({"127.0.0.1"}),
        ssl_context=ssl.create_default_context(cafile=str(certificate) + ".crt"),
        open_s=2,
        read_s=1,
        total_s=2,
    )


def spec(server: Server | None = None, **stated: Any) -> HttpToolSpec:
    raw = {
        "title": "Rate",
        "endpoint_url": f"{server.url}/rate" if server else "https://x.example.com/",
        **stated,
    }
    read, problems = read_spec(raw, taken=[])
    assert problems == []
    assert read is not None
    return read


def param(name: str, kind: str = "string", **stated: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "description": name, **stated}


def call(
    tool_spec: HttpToolSpec, network: Network, environ: dict[str, str] | None = None, **args: Any
) -> Any:
    tool = http_tool(tool_spec, environ=environ or {}, network=network)
    assert tool.problems(args) == []
    return asyncio.run(tool.execute(args, ToolContext()))


# ---- what is sent and taken -----------------------------------------------------------------------------


def test_a_get_fills_its_url_and_hands_the_raw_body_to_the_model(certificate, network):
    with serving(certificate, says('{"rate": 32.60}')) as server:
        asked = spec(
            server,
            endpoint_url=f"{server.url}/rates/{{{{ asset }}}}?day={{{{ day }}}}",
            param=[param("asset", required=True), param("day")],
        )
        result = call(asked, network, asset="US/D &?#", day="1 June")
        call(asked, network, asset="EUR")

    assert result == '{"rate": 32.60}'
    assert server.requests[0].startswith(b"GET /rates/US%2FD%20%26%3F%23?day=1%20June HTTP/1.1\r\n")
    assert server.line == "GET /rates/EUR?day= HTTP/1.1"
    assert server.head("Host") == f"{HOST}:{server.port}"
    assert server.body == ""


def test_a_post_sends_its_arguments_as_json_or_what_its_template_makes_of_them(certificate, network):
    with serving(certificate, says("ok")) as server:
        plain = spec(server, http_method="POST", param=[param("q"), param("n", "integer")])
        call(plain, network, q='a"b', n=3)
        plain_body, plain_type = server.body, server.head("Content-Type")
        shaped = replace(plain, request_template='{"ask": "{{ q }}", "most": {{ n | default: 5 }}}')
        call(shaped, network, q='x", "admin": "yes')

    assert (json.loads(plain_body), plain_type) == ({"q": 'a"b', "n": 3}, "application/json")
    assert json.loads(server.body) == {"ask": 'x", "admin": "yes', "most": 5}
    assert server.line == "POST /rate HTTP/1.1"


def test_a_body_that_is_no_json_is_sent_as_plain_text(certificate, network):
    with serving(certificate, says("ok")) as server:
        asked = spec(server, http_method="POST", request_template="find {{ q }}", param=[param("q")])
        call(asked, network, q="ü")

    assert (server.body, server.head("Content-Type")) == ("find ü", "text/plain; charset=utf-8")


def test_a_response_template_sees_parsed_json_or_the_raw_text(certificate, network):
    template = "{% if r.rate %}1 = {{ response.rate }}{% else %}none{% endif %}"
    with serving(certificate, says('{"rate": 32.6, "more": [1]}')) as server:
        shaped = call(spec(server, response_template="1 = {{ response.rate }}, {{ r.more }}"), network)
        with pytest.raises(ToolError, match="the answer is not what was expected"):
            call(spec(server, response_template="{{ r.price }}"), network)
    with serving(certificate, says("plain NaN")) as server:
        raw = call(spec(server, response_template="got {{ r }}"), network)
    with serving(certificate, says('{"rate": null}')) as server:
        empty = call(spec(server, response_template=template), network)

    assert (shaped, raw, empty) == ("1 = 32.6, [1]", "got plain NaN", "none")


def test_the_charset_of_the_answer_is_kept(certificate, network):
    latin = says("Zürich".encode("latin-1"), headers="Content-Type: text/plain; charset=latin-1\r\n")
    told = []
    with serving(certificate, latin) as server:
        told.append(call(spec(server), network))
    for charset in ("klingon", "undefined", "rot13", "idna"):
        with serving(
            certificate, says("Zürich", headers=f"Content-Type: text/plain; charset={charset}\r\n")
        ) as server:
            told.append(call(spec(server), network))

    assert told == ["Zürich"] * 5


@pytest.mark.parametrize(
    ("stated", "secret", "header", "value"),
    [
        ({"auth_type": "bearer"}, "s3cr/et-1", "Authorization", "Bearer s3cr/et-1"),
        (
            {"auth_type": "basic"},
            "me:pa ss",
            "Authorization",
            "Basic " + base64.b64encode(b"me:pa ss").decode(),
        ),
        ({"auth_type": "api_key", "auth_header": "X-Api-Key"}, "k-99&x", "X-Api-Key", "k-99&x"),
    ],
)
def test_the_secret_comes_from_the_environment_and_an_echo_of_it_is_hidden(
    certificate, network, stated, secret, header, value
):
    password = secret.partition(":")[2] or secret
    echo = json.dumps({"you": value, "slashed": password.replace("/", "\\/"), "html": "k-99&amp;x"})
    with serving(certificate, says(echo.replace("\\\\/", "\\/"))) as server:
        asked = spec(server, auth_env="RATE_TOKEN", **stated)
        raw = call(asked, network, {"RATE_TOKEN": secret})
        sent = server.head(header)
        shaped = call(
            replace(asked, response_template="{{ r.you }} {{ r.slashed }}"), network, {"RATE_TOKEN": secret}
        )

    assert sent == value
    assert secret not in raw
    assert password not in raw + shaped
    assert base64.b64encode(secret.encode()).decode() not in raw + shaped
    assert "s3cr\\/et" not in raw
    assert "•••" in raw
    assert secret not in repr(http_tool(asked, environ={"RATE_TOKEN": secret}, network=network))


@pytest.mark.parametrize(
    ("environ", "auth_type", "words"),
    [
        ({}, "bearer", "RATE_TOKEN is not set"),
        ({"RATE_TOKEN": "a\r\nX-Evil: 1"}, "bearer", "holds no usable secret"),
        ({"RATE_TOKEN": "nocolon"}, "basic", "must hold user:password"),
    ],
)
def test_without_a_usable_secret_nothing_is_sent_and_the_variable_is_named(
    certificate, network, environ, auth_type, words
):
    with serving(certificate, says("ok")) as server:
        asked = spec(server, auth_type=auth_type, auth_env="RATE_TOKEN")
        with pytest.raises(ToolError, match=words) as told:
            call(asked, network, environ)

    assert server.requests == []
    assert "nocolon" not in str(told.value)


def test_the_tool_has_the_catalogue_s_schema_and_effect_and_ends_before_the_loop_gives_it_up():
    asked = spec(
        description="Tells a rate. Call it for rates.",
        effect="read",
        http_method="POST",
        param=[param("asset", required=True), param("n", "integer")],
    )
    tool = http_tool(asked, environ={})

    assert (tool.name, tool.effect, tool.description) == (
        "custom_rate",
        "read",
        "Tells a rate. Call it for rates.",
    )
    assert tool.schema == {
        "type": "object",
        "properties": {
            "asset": {"type": "string", "description": "asset"},
            "n": {"type": "integer", "description": "n"},
        },
        "additionalProperties": False,
        "required": ["asset"],
    }
    assert tool.timeout_s is not None
    assert tool.timeout_s > Network().total_s
    assert http_tool(spec(), environ={}).effect == "irreversible"


# ---- where it refuses to go -----------------------------------------------------------------------------


def test_a_name_that_leads_to_private_space_is_refused_before_anything_is_sent(certificate, network):
    with serving(certificate, says("secret")) as server:
        for address in [
            "127.0.0.1",
            "10.0.0.5",
            "169.254.169.254",
            "::1",
            "::ffff:127.0.0.1",
            "fd00::1",
            "100.64.0.1",
        ]:
            inside = replace(network, allowed=frozenset(), resolve=resolver([address]))
            with pytest.raises(EndpointRefused, match="leads to an address that is not public"):
                call(spec(server), inside)

    assert server.requests == []


def test_one_private_address_among_public_ones_is_enough_to_refuse(certificate, network):
    mixed = replace(network, resolve=resolver(["127.0.0.1", "10.0.0.1"]))
    with serving(certificate, says("secret")) as server, pytest.raises(EndpointRefused):
        call(spec(server), mixed)

    assert server.requests == []


def test_a_name_that_is_rebound_between_check_and_connect_leads_to_the_checked_address(certificate, network):
    rebinding = replace(network, resolve=resolver(["127.0.0.1"], ["127.0.0.2"]))
    with (
        serving(certificate, says("checked")) as public,
        serving(certificate, says("inside"), address="127.0.0.2", port=public.port) as inside,
    ):
        first = call(spec(public), rebinding)
        with pytest.raises(EndpointRefused):
            call(spec(public), rebinding)

    assert first == "checked"
    assert (len(public.requests), len(inside.requests)) == (1, 0)


def test_the_system_s_own_resolver_is_guarded_too(network):
    real = Network(total_s=5)
    with pytest.raises(InputError, match="disallowed hostname"):
        call(spec(endpoint_url="https://localhost/"), real)

    async def localhost(host: str, port: int) -> list[str]:
        return await system_addresses("localhost", port)

    with pytest.raises(EndpointRefused, match="loopback"):
        call(spec(), replace(real, resolve=localhost))


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0177.0.0.1",
        "017700000001",
        "0x7f000001",
        "0x7f.0.0.1",
        "127.1",
        "127.0.1",
        "0",
        "::1",
        "::ffff:127.0.0.1",
        "::ffff:7f00:1",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "①②⑦.0.0.1",
        "user@127.0.0.1",
    ],
)
def test_even_without_the_guard_of_saving_no_spelling_of_loopback_is_reached(certificate, network, host):
    """The system's own resolver knows most of these spellings; the address is what is judged."""
    real = replace(network, resolve=system_addresses, allowed=frozenset())
    with serving(certificate, says("secret")) as server:
        endpoint = Endpoint("https", host, server.port, "/")
        with pytest.raises((EndpointRefused, EndpointFailed)) as refused:
            asyncio.run(fetch(real, "GET", endpoint, headers={}, content=None))

    assert server.requests == []
    if host[0].isdigit() and host.isascii():
        assert refused.type is EndpointRefused


def test_a_failing_endpoint_is_told_to_the_model_and_no_trace_holds_the_secret(certificate, network):
    environ = {"RATE_TOKEN": "tok-123456"}
    with serving(certificate, says("tok-123456", status="503 Busy")) as server:
        failing = http_tool(
            spec(server, effect="read", auth_type="bearer", auth_env="RATE_TOKEN"),
            environ=environ,
            network=network,
        )
        model = ScriptedModel(tool_call("custom_rate"), "sorry")
        result = asyncio.run(run_loop(model, [{"role": "user", "content": "rate?"}], tools=[failing]))

    assert result.calls[0].result == {"error": f"{HOST} answered with status 503"}
    assert result.calls[0].is_error
    assert result.content == "sorry"
    assert "tok-123456" not in repr(result) + json.dumps(model.requests[-1].messages)
    assert server.head("Authorization") == "Bearer tok-123456"


def test_the_next_address_is_tried_where_one_does_not_answer(certificate, network):
    two = replace(
        network, resolve=resolver(["127.0.0.9", "127.0.0.1"]), allowed=frozenset({"127.0.0.9", "127.0.0.1"})
    )
    with serving(certificate, says("second")) as server:
        assert call(spec(server), two) == "second"


def test_a_certificate_for_another_name_is_not_accepted(certificate, network):
    with serving(certificate, says("ok")) as server:
        other = spec(endpoint_url=f"https://other.example.com:{server.port}/")
        with pytest.raises(EndpointFailed, match=r"other\.example\.com could not be reached"):
            call(other, network)

    assert server.requests == []


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Moved", "308 Moved"])
def test_a_redirect_is_not_followed(certificate, network, status):
    with serving(certificate, says("inside")) as inside:
        away = says("", status=status, headers=f"Location: https://{HOST}:{inside.port}/\r\n")
        with serving(certificate, away) as server, pytest.raises(EndpointFailed, match="redirect"):
            call(spec(server), network)

    assert (len(server.requests), len(inside.requests)) == (1, 0)


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "429 Slow down"])
def test_a_status_outside_of_200_to_299_is_told_without_the_body(certificate, network, status):
    failed = pytest.raises(EndpointFailed, match=f"answered with status {status[:3]}$")
    with serving(certificate, says("stack trace", status=status)) as server, failed:
        call(spec(server), network)


def megabytes(number: int, *, announced: bool) -> Callable[[ssl.SSLSocket], None]:
    def answer(connection: ssl.SSLSocket) -> None:
        length = f"Content-Length: {number << 20}\r\n" if announced else "Connection: close\r\n"
        connection.sendall(f"HTTP/1.1 200 OK\r\n{length}\r\n".encode())
        for _ in range(number << 4):
            connection.sendall(b"x" * 65_536)

    return answer


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_of_two_megabytes_is_refused_and_one_of_one_is_taken(certificate, network, announced):
    with serving(certificate, megabytes(1, announced=announced)) as server:
        taken = call(spec(server), network)
    refused = pytest.raises(EndpointFailed, match="larger than 1048576 bytes")
    with serving(certificate, megabytes(2, announced=announced)) as server, refused:
        call(spec(server), network)

    assert len(taken) == 1_048_576


def drip(connection: ssl.SSLSocket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    for _ in range(100):
        connection.sendall(b"x")
        time.sleep(0.1)


def silence(connection: ssl.SSLSocket) -> None:
    connection.settimeout(5)
    connection.recv(1)


def slow_head(connection: ssl.SSLSocket) -> None:
    for letter in b"HTTP/1.1 200 OK\r\nX-Slow: 1111111111111111111111111111111111":
        connection.sendall(bytes([letter]))
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(drip, "within 1.5 seconds"), (slow_head, "within 1.5 seconds"), (silence, "took too long")],
)
def test_a_slow_answer_ends_at_its_deadline_however_it_drips(certificate, network, answer, words):
    with serving(certificate, answer) as server:
        began = time.monotonic()
        with pytest.raises(EndpointFailed, match=words):
            call(spec(server), replace(network, read_s=0.7, total_s=1.5))
        took = time.monotonic() - began

    assert took < 2.5


def cut(connection: ssl.SSLSocket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")


@pytest.mark.parametrize(
    "answer", [cut, lambda connection: None, lambda connection: connection.sendall(b"hello\r\n\r\n")]
)
def test_an_answer_that_is_cut_or_no_http_is_a_failure(certificate, network, answer):
    with (
        serving(certificate, answer) as server,
        pytest.raises(EndpointFailed, match="could not be reached or cut"),
    ):
        call(spec(server), network)


def test_a_closed_port_and_an_unknown_name_are_failures(network):
    async def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(EndpointFailed, match="could not be reached"):
        call(spec(endpoint_url=f"https://{HOST}:1/"), network)
    with pytest.raises(EndpointFailed, match="could not be reached"):
        call(spec(), replace(network, resolve=unknown))
    with pytest.raises(EndpointFailed, match="could not be reached"):
        call(spec(), replace(network, resolve=resolver([])))


def test_a_coding_that_was_not_asked_for_is_not_unpacked(certificate, network):
    bomb = says(b"\x1f\x8b" + b"x" * 100, headers="Content-Encoding: gzip\r\n")
    with (
        serving(certificate, bomb) as server,
        pytest.raises(EndpointFailed, match="coding that was not asked for"),
    ):
        call(spec(server), network)

    assert server.head("Accept-Encoding") == "identity"


@pytest.mark.parametrize("step", ["..", ".", "../..", "..\\admin", "%2e%2e", "x/../../admin"])
def test_an_argument_cannot_climb_out_of_the_endpoint_s_path(certificate, network, step):
    with serving(certificate, says("ok")) as server:
        asked = spec(server, endpoint_url=f"{server.url}/users/{{{{ who }}}}/cards", param=[param("who")])
        with pytest.raises(EndpointRefused, match="out of the endpoint's path"):
            call(asked, network, who=step)

    assert server.requests == []


def test_arguments_that_make_an_endless_url_are_refused(network):
    asked = spec(endpoint_url="https://x.example.com/{{ q }}", param=[param("q")])

    with pytest.raises(ToolError, match="more than 8000 characters"):
        call(asked, network, q="x" * 9_000)


def test_proxies_of_the_environment_are_not_used(certificate, network, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with serving(certificate, says("direct")) as server:
        assert call(spec(server), network) == "direct"


# ---- the catalogue --------------------------------------------------------------------------------------

TOML = """
[[tool]]
title = "Track a parcel"
description = "Tells where a parcel is. Call it when the customer asks for it."
endpoint_url = "https://api.example.com/parcels/{{ number }}"
auth_type = "api_key"
auth_env = "PARCEL_KEY"
auth_header = "X-Key"
effect = "read"
response_template = "{{ r.place }}"

[[tool.param]]
name = "number"
type = "string"
description = "Number on the receipt"
required = true

[[tool]]
slug = "ping"
title = "Ping"
endpoint_url = "https://api.example.com/ping"
enabled = false
"""


def test_a_catalogue_is_read_from_toml_and_the_same_from_json(tmp_path: Path):
    (tmp_path / "a.toml").write_text(TOML)
    (tmp_path / "a.json").write_text(json.dumps(tomllib.loads(TOML)))

    from_toml = read_http_catalogue(tmp_path / "a.toml")

    assert [(entry.name, entry.problems) for entry in from_toml] == [
        ("custom_track_a_parcel", ()),
        ("ping", ()),
    ]
    assert from_toml[0].spec == HttpToolSpec(
        slug="custom_track_a_parcel",
        title="Track a parcel",
        description="Tells where a parcel is. Call it when the customer asks for it.",
        endpoint_url="https://api.example.com/parcels/{{ number }}",
        auth_type="api_key",
        auth_env="PARCEL_KEY",
        auth_header="X-Key",
        effect="read",
        response_template="{{ r.place }}",
        param=(HttpParam(name="number", type="string", description="Number on the receipt", required=True),),
    )
    assert (from_toml[1].spec.enabled, from_toml[1].spec.effect) == (False, "irreversible")
    assert read_http_catalogue(tmp_path / "a.json") == from_toml


BASE = {"title": "T", "endpoint_url": "https://x.example.com/"}


@pytest.mark.parametrize(
    ("stated", "rules"),
    [
        ({"token": "abc"}, ["unknown_key"]),
        ({"param": [{**param("a"), "default": 1}]}, ["unknown_key"]),
        ({"title": ""}, ["schema"]),
        ({"title": 5}, ["schema"]),
        ({"http_method": "PUT"}, ["schema"]),
        ({"effect": "delete"}, ["schema"]),
        ({"enabled": "yes"}, ["schema"]),
        ({"param": [{"name": "a", "type": "string"}]}, ["schema"]),
        ({"param": [param("a", "date")]}, ["schema"]),
        ({"param": [param("a-b")]}, ["schema"]),
        ({"http_method": "POST", "param": [param("a"), param("a")]}, ["schema"]),
        ({"slug": "not a slug"}, ["slug"]),
        ({"slug": "x" * 65}, ["slug"]),
        ({"auth_type": "bearer"}, ["auth"]),
        ({"auth_env": "X"}, ["auth"]),
        ({"auth_type": "bearer", "auth_env": "X", "auth_header": "Y"}, ["auth"]),
        ({"auth_type": "api_key", "auth_env": "X", "auth_header": "Host"}, ["auth"]),
        ({"endpoint_url": "http://x.example.com/"}, ["https"]),
        ({"endpoint_url": "https://x.example.com/{{ a }}"}, ["unknown_name"]),
        ({"endpoint_url": "https://x.example.com/{{ a | nope }}", "param": [param("a")]}, ["endpoint_url"]),
        ({"param": [param("a")]}, ["unused_param"]),
        ({"request_template": "{}"}, ["request_template"]),
        (
            {"http_method": "POST", "request_template": '{"a": {{ a }}}', "param": [param("a")]},
            ["request_template"],
        ),
        (
            {"http_method": "POST", "request_template": '{"n": {{ n }}}', "param": [param("n", "number")]},
            ["request_template"],
        ),
        ({"http_method": "POST", "request_template": "{% if %}"}, ["request_template"]),
        ({"response_template": "{{ answer }}"}, ["unknown_name"]),
        ({"response_template": "{{ r"}, ["response_template"]),
    ],
)
def test_a_tool_is_checked_by_rule(stated, rules):
    (entry,) = parse_http_catalogue({"tool": [{**BASE, **stated}]}, where="here")

    assert [problem.rule for problem in entry.problems] == rules


@pytest.mark.parametrize(
    "stated",
    [
        {"http_method": "POST", "request_template": '{"a": "{{ a }}"}', "param": [param("a")]},
        {
            "http_method": "POST",
            "request_template": '{"a": {{ a | json }}}',
            "param": [param("a", required=True)],
        },
        {
            "http_method": "POST",
            "request_template": '{"n": {{ n | default: 0 }}, "l": {{ l }}}',
            "param": [param("n", "number"), param("l", "array", required=True)],
        },
        {"http_method": "POST", "param": [param("a", "object")]},
    ],
)
def test_a_tool_whose_body_is_json_for_all_it_can_be_given_is_fine(stated):
    assert spec_problems(spec(**stated)) == []


@pytest.mark.parametrize(
    ("document", "words"),
    [([], "no list"), ({"tool": {}}, "no list"), ({"tool": [], "version": 1}, "version beside")],
)
def test_what_is_no_catalogue_is_refused_whole(document, words):
    with pytest.raises(InputError, match=words):
        parse_http_catalogue(document, where="here")


def test_a_file_that_is_neither_toml_nor_json_is_named(tmp_path: Path):
    (tmp_path / "a.toml").write_text("[[tool")
    (tmp_path / "a.json").write_text("oops")

    with pytest.raises(InputError, match=r"a\.toml cannot be read as TOML"):
        read_http_catalogue(tmp_path / "a.toml")
    with pytest.raises(InputError, match=r"a\.json cannot be read as JSON"):
        read_http_catalogue(tmp_path / "a.json")
    with pytest.raises(InputError, match=r"b\.json cannot be read"):
        read_http_catalogue(tmp_path / "b.json")


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Track a parcel!", "custom_track_a_parcel"),
        ("Größe & Maß", "custom_groe_ma"),
        ("Курс", "custom_tool"),
        ("x" * 100, "custom_" + "x" * 57),
        ("a" * 56 + " b", "custom_" + "a" * 56),
    ],
)
def test_a_slug_is_made_of_the_title_s_ascii_words(title, slug):
    assert slug_from_title(title) == slug
    assert len(slug) <= 64


def test_a_slug_that_is_taken_gets_six_more_letters_the_same_every_time():
    entries = [{**BASE, "title": "x" * 80, "endpoint_url": f"https://x.example.com/{n}"} for n in range(3)]

    names = [entry.name for entry in parse_http_catalogue({"tool": entries}, where="here")]
    again = [entry.name for entry in parse_http_catalogue({"tool": entries}, where="here")]

    assert names == again
    assert len(set(names)) == 3
    assert names[0] == "custom_" + "x" * 57
    assert all(name.startswith("custom_" + "x" * 50 + "_") and len(name) == 64 for name in names[1:])


def test_the_seventh_tool_of_the_same_title_and_endpoint_is_asked_for_a_slug_of_its_own():
    entries = parse_http_catalogue({"tool": [BASE] * 7}, where="here")

    assert len({entry.name for entry in entries[:6]}) == 6
    assert [entry.problems for entry in entries[:6]] == [()] * 6
    assert [problem.rule for problem in entries[6].problems] == ["unique_slug"]


def test_the_same_written_slug_twice_and_a_sixteenth_tool_are_problems():
    doubled = parse_http_catalogue({"tool": [{**BASE, "slug": "a"}, {**BASE, "slug": "a"}]}, where="here")
    many = parse_http_catalogue({"tool": [{**BASE, "slug": f"t{n}"} for n in range(17)]}, where="here")

    assert [[problem.rule for problem in entry.problems] for entry in doubled] == [[], ["unique_slug"]]
    assert [entry.name for entry in many if entry.problems] == ["t15", "t16"]
    assert many[15].problems[0].rule == "too_many"


@pytest.mark.parametrize("name", ["tools.toml", "tools.json"])
def test_an_added_tool_is_read_back_as_it_was_given_and_the_rest_of_the_file_stays(tmp_path: Path, name):
    path = tmp_path / name
    if name.endswith("toml"):
        path.write_text("# ours, do not touch\n" + TOML.rstrip())
    else:
        path.write_text(json.dumps(tomllib.loads(TOML)))
    hostile = {
        "title": 'Quotes " and \\ and ☃ and \x7f',
        "description": "two\nlines\tand '''three''' \"\"\"",
        "endpoint_url": "https://api.example.com/x",
        "http_method": "POST",
        "request_template": '{"a": "{{ a }}"}',
        "enabled": False,
        "param": [param("a", required=True), param("b")],
    }
    with pytest.raises(UsageError, match="unused_param"):
        add_http_tool(path, hostile)
    hostile["param"] = [param("a", required=True)]

    added = add_http_tool(path, hostile)

    entries = read_http_catalogue(path)
    assert [entry.name for entry in entries] == ["custom_track_a_parcel", "ping", "custom_quotes_and_and_and"]
    assert entries[2].spec == added
    assert (added.title, added.description) == (hostile["title"], hostile["description"])
    assert added.param[0].required is True
    if name.endswith("toml"):
        assert path.read_text().startswith("# ours, do not touch\n")


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"endpoint_url": "https://localhost/"}, "disallowed_hostname"),
        ({"slug": "ping"}, "unique_slug"),
        ({"nope": 1}, "unknown_key"),
    ],
)
def test_a_tool_with_a_problem_is_not_saved(tmp_path: Path, stated, words):
    path = tmp_path / "tools.toml"
    path.write_text(TOML)

    with pytest.raises(UsageError, match=words):
        add_http_tool(path, {**BASE, **stated})
    assert path.read_text() == TOML


def _add_many(path: Path, who: str, together: Any, told: Any) -> None:
    saved = 0
    for _ in range(12):
        together.wait(timeout=60)
        try:
            add_http_tool(path, {**BASE, "title": f"Same title {who}"[:10]})
            saved += 1
        except UsageError:
            continue
    told.put((who, saved))


@pytest.mark.parametrize("name", ["tools.toml", "tools.json"])
def test_two_writers_at_once_never_go_over_fifteen_nor_take_the_same_slug(tmp_path: Path, name):
    path = tmp_path / name
    for number in range(11):
        add_http_tool(path, {**BASE, "title": f"Tool {number}"})
    spawn = multiprocessing.get_context("spawn")
    together, told = spawn.Barrier(2), spawn.Queue()
    writers = [spawn.Process(target=_add_many, args=(path, who, together, told)) for who in "ab"]
    for writer in writers:
        writer.start()
    saved = dict(told.get(timeout=60) for _ in writers)
    for writer in writers:
        writer.join(timeout=60)

    entries = read_http_catalogue(path)
    assert saved["a"] + saved["b"] == 4
    assert len(entries) == 15
    assert len({entry.name for entry in entries}) == 15
    assert all(not entry.problems for entry in entries)


def test_a_writer_waits_a_bounded_time_and_then_says_so(tmp_path: Path):
    path = tmp_path / "tools.toml"

    given_up = pytest.raises(OutputError, match="another process has been writing")
    with file_lock(path), given_up, file_lock(path, wait_s=0.1):
        pass
