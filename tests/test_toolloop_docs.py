"""The guide to tools of one's own: what it shows runs as it is written."""

from __future__ import annotations

import asyncio
import doctest
import re

import pytest

import quality_lab.toolloop

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.fixture(scope="module")
def blocks(repository) -> list[tuple[str, str]]:
    """Language and text of every fenced block before the part on catalogues, in order."""
    text = (repository / "docs" / "tools.md").read_text(encoding="utf-8")
    before, found, _ = text.partition("\n## Tools from catalogues\n")
    assert found
    return re.findall(r"^```(\w+)\n(.*?)^```$", before, re.MULTILINE | re.DOTALL)


def test_the_guide_runs_as_it_is_written_and_its_last_block_against_a_server(blocks, httpserver):
    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for language, text in blocks:
        if language == "pycon":
            test = doctest.DocTestParser().get_doctest(text, names, "guide", "docs/tools.md", 0)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            exec(text, names)  # the guide's own code
    answer = {"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]}
    httpserver.expect_request("/v1/chat/completions").respond_with_json(answer)
    asked = asyncio.run(names["ask"](httpserver.url_for("/v1"), "Hello?"))

    assert runner.failures == 0
    assert runner.tries > 25
    assert {language for language, _ in blocks} == {"pycon", "python"}
    assert asked.content == "Hello."


def test_every_public_name_of_the_tool_loop_is_there_and_says_what_it_is():
    aliases = {"Approve", "Effect"}  # of types, which have no words of their own

    for name in quality_lab.toolloop.__all__:
        exported = getattr(quality_lab.toolloop, name)
        assert name in aliases or (exported.__doc__ or "").strip(), name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = quality_lab.toolloop.nothing
