"""The same conversation in Anthropic's words and in OpenAI's."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from quality_lab.errors import InputError
from quality_lab.toolloop import AnthropicStyle, ModelError, Tool, ToolError, run_loop
from quality_lab.toolloop.anthropic import (
    anthropic_definitions,
    anthropic_reply,
    from_anthropic,
    to_anthropic,
)


def calls(*wanted: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in wanted
    ]


CHAT = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Change 200 USDT"},
    {
        "role": "assistant",
        "content": "A moment.",
        "tool_calls": calls(("c1", "quote", '{"amount":200}'), ("c2", "hours", "{}")),
    },
    {"role": "tool", "content": '{"thb":6520}', "tool_call_id": "c1"},
    {"role": "tool", "content": '{"error":"closed"}', "tool_call_id": "c2"},
    {"role": "user", "content": "Thanks"},
]
ANTHROPIC = [
    {"role": "user", "content": [{"type": "text", "text": "Change 200 USDT"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "A moment."},
            {"type": "tool_use", "id": "c1", "name": "quote", "input": {"amount": 200}},
            {"type": "tool_use", "id": "c2", "name": "hours", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": '{"thb":6520}'},
            {"type": "tool_result", "tool_use_id": "c2", "content": '{"error":"closed"}', "is_error": True},
            {"type": "text", "text": "Thanks"},
        ],
    },
]


def test_a_conversation_goes_over_with_failures_marked_and_turns_alternating():
    assert to_anthropic(CHAT) == ("You help.", ANTHROPIC)


def test_and_it_comes_back_as_it_was():
    assert from_anthropic("You help.", ANTHROPIC) == CHAT


@pytest.mark.parametrize(
    ("content", "is_error"),
    [
        ('{"error":"x"}', True),
        ('{"error": ""}', True),
        ('{"error":"x","code":5}', False),
        ('{"error":{"code":5}}', False),
        ('{"ok":false}', False),
        ('"error"', False),
    ],
)
def test_an_answer_is_an_error_where_it_is_nothing_but_one(content, is_error):
    _, messages = to_anthropic([{"role": "tool", "content": content, "tool_call_id": "c1"}])

    assert messages[0]["content"][0].get("is_error", False) is is_error


def test_a_failure_in_plain_words_comes_back_as_an_error():
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "no such order", "is_error": True}

    messages = from_anthropic(None, [{"role": "user", "content": [block]}])

    assert messages == [{"role": "tool", "content": '{"error":"no such order"}', "tool_call_id": "c1"}]


def test_ids_that_repeat_or_cannot_be_sent_are_numbered_anew_and_answers_follow_them():
    wanted = calls(("same", "a", "{}"), ("same", "b", "{}"), ("odd:id", "c", "{}"))
    answers = [{"role": "tool", "content": text, "tool_call_id": key} for key, text in
               (("same", "1"), ("same", "2"), ("odd:id", "3"))]  # fmt: skip

    _, messages = to_anthropic([{"role": "assistant", "content": None, "tool_calls": wanted}, *answers])
    asked = [(block["name"], block["id"]) for block in messages[0]["content"]]
    told = {block["tool_use_id"]: block["content"] for block in messages[1]["content"]}

    assert [name for name, _ in asked] == ["a", "b", "c"]
    assert len({call_id for _, call_id in asked}) == 3
    assert [told[call_id] for _, call_id in asked] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1', {"invalid_json": '{"a": 1'}),
        ("[1]", {"not_an_object": [1]}),
        ("", {}),
        ('{"a":1}', {"a": 1}),
    ],
)
def test_arguments_go_over_as_an_object_whatever_they_were(arguments, sent):
    _, messages = to_anthropic(
        [{"role": "assistant", "content": None, "tool_calls": calls(("c", "t", arguments))}]
    )

    assert messages[0]["content"][0]["input"] == sent


def test_pictures_go_over_and_come_back():
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
    ]

    system, messages = to_anthropic([{"role": "user", "content": parts}])

    assert messages[0]["content"][1:] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
    ]
    assert from_anthropic(system, messages) == [{"role": "user", "content": parts}]


def test_a_part_without_a_form_over_there_is_refused():
    with pytest.raises(InputError, match="message 0 has a part of type 'input_audio'"):
        to_anthropic([{"role": "user", "content": [{"type": "input_audio"}]}])


def test_definitions_go_over():
    function = {"name": "quote", "description": "Quotes.", "parameters": {"type": "object", "properties": {}}}

    assert anthropic_definitions([{"type": "function", "function": function}]) == [
        {"name": "quote", "description": "Quotes.", "input_schema": {"type": "object", "properties": {}}}
    ]


def test_a_reply_is_read_with_its_calls_its_reason_and_all_tokens_it_read():
    reply = anthropic_reply(
        {
            "id": "msg_1",
            "model": "m-a",
            "stop_reason": "tool_use",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "A moment."},
                {"type": "tool_use", "id": "c1", "name": "quote", "input": {"amount": 200}},
            ],
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 9},
        }
    )

    assert (reply.content, reply.finish_reason, reply.model) == ("A moment.", "tool_calls", "m-a")
    assert (reply.calls[0].tool_name, reply.calls[0].arguments_text) == ("quote", '{"amount":200}')
    assert (reply.input_tokens, reply.output_tokens) == (105, 9)


def test_the_loop_runs_on_a_model_that_speaks_anthropics_words():
    bodies: list[dict[str, Any]] = []

    async def send(body: dict[str, Any]) -> dict[str, Any]:
        bodies.append(json.loads(json.dumps(body)))
        if len(bodies) == 1:
            use = {"type": "tool_use", "id": "c1", "name": "quote", "input": {"amount": 1}}
            return {"content": [use], "stop_reason": "tool_use"}
        return {"content": [{"type": "text", "text": "It is closed."}], "stop_reason": "end_turn"}

    def closed(args: Any, context: Any) -> None:
        raise ToolError("closed")

    tool = Tool(name="quote", description="Quotes.", execute=closed, effect="read", inline=True)
    result = asyncio.run(run_loop(AnthropicStyle("m-a", send=send), CHAT[:2], [tool]))

    assert result.content == "It is closed."
    assert bodies[0]["system"] == "You help."
    assert bodies[0]["tools"] == [tool.anthropic_definition()]
    assert bodies[1]["messages"][-1]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": '{"error":"closed"}', "is_error": True}
    ]


def test_an_answer_that_is_none_is_a_failure_of_the_model():
    async def send(body: dict[str, Any]) -> dict[str, Any]:
        return {"type": "error", "error": {"type": "overloaded_error"}}

    with pytest.raises(ModelError, match="overloaded_error") as caught:
        asyncio.run(run_loop(AnthropicStyle("m-a", send=send), CHAT[:2]))

    assert caught.value.kind == "malformed"


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
arguments = st.dictionaries(texts, st.integers() | texts | st.booleans(), max_size=3)


@st.composite
def conversations(draw: Any) -> list[dict[str, Any]]:
    """A conversation in the canonical form: compact arguments, each call answered in order."""
    messages = [{"role": "system", "content": draw(texts)}] if draw(st.booleans()) else []
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(texts)})
        for _ in range(draw(st.integers(0, 2))):
            wanted = []
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                text = json.dumps(draw(arguments), ensure_ascii=False, separators=(",", ":"))
                wanted.append((f"c{number}", draw(st.sampled_from(["quote", "hours"])), text))
            messages.append(
                {"role": "assistant", "content": draw(st.none() | texts), "tool_calls": calls(*wanted)}
            )
            for call_id, _, _ in wanted:
                messages.append({"role": "tool", "content": draw(texts), "tool_call_id": call_id})
        messages.append({"role": "assistant", "content": draw(texts)})
    return messages


@settings(max_examples=150, deadline=None)
@given(conversations())
def test_any_conversation_survives_the_way_over_and_back(messages):
    assert from_anthropic(*to_anthropic(messages)) == messages
