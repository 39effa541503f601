"""Liquid templates of HTTP tools: strict about names, bounded in work, and safe for where their text goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Literal, TextIO
from urllib.parse import quote

from liquid import BoundTemplate, Environment, Mode
from liquid.builtin import content, illegal
from liquid.builtin.output import Output, OutputNode
from liquid.builtin.tags import (
    assign_tag,
    capture_tag,
    case_tag,
    comment_tag,
    for_tag,
    if_tag,
    inline_comment_tag,
    unless_tag,
)
from liquid.context import RenderContext
from liquid.exceptions import LiquidError
from liquid.stringify import to_liquid_string
from liquid.undefined import StrictDefaultUndefined, Undefined

Place = Literal["url", "json", "text"]

_RANGE_OUTSIDE_FOR = re.compile(r"\{(?:\{|%-?\s*(?!-?\s*for\b))(?:(?!\}\}|%\}).)*\([^()]*\.\.", re.DOTALL)


class TemplateFault(Exception):
    """A template that does not parse or cannot be filled in; the text says where."""


class _JsonText(str):
    """Text that is JSON already and is not escaped a second time."""

    __slots__ = ()


def _to_json(value: object) -> _JsonText:
    if isinstance(value, Undefined):
        raise TemplateFault(f"{value.name} is not there")
    return _JsonText(json.dumps(value, ensure_ascii=False))


class _TextNode(OutputNode):
    """Plain text; lists and objects are written as JSON."""

    def text(self, value: object) -> str:
        if isinstance(value, (list, dict)):
            return _to_json(value)
        return str(to_liquid_string(value, False))

    def render_to_output(self, context: RenderContext, buffer: TextIO) -> int:
        return buffer.write(self.text(self.expression.evaluate(context)))


class _UrlNode(_TextNode):
    """Percent-encoded, so that no value can add a path, a parameter or a host."""

    def text(self, value: object) -> str:
        return quote(super().text(value), safe="")


class _JsonNode(_TextNode):
    """Escaped as the inside of a JSON string; lists, objects and what the `json` filter wrote as they are."""

    def text(self, value: object) -> str:
        written = super().text(value)
        is_json = isinstance(value, (list, dict, _JsonText))
        return written if is_json else json.dumps(written, ensure_ascii=False)[1:-1]


class _TextOutput(Output):
    node_class = _TextNode


class _UrlOutput(Output):
    node_class = _UrlNode


class _JsonOutput(Output):
    node_class = _JsonNode


_OUTPUTS: dict[Place, type[Output]] = {"url": _UrlOutput, "json": _JsonOutput, "text": _TextOutput}
# Tags that write values by themselves (echo, cycle, …) or load other templates would go around the escaping.
_TAGS = (
    assign_tag.AssignTag,
    capture_tag.CaptureTag,
    case_tag.CaseTag,
    comment_tag.CommentTag,
    for_tag.ForTag,
    for_tag.BreakTag,
    for_tag.ContinueTag,
    if_tag.IfTag,
    inline_comment_tag.InlineCommentTag,
    unless_tag.UnlessTag,
)


class _Environment(Environment):
    block_nesting_limit = 20
    context_depth_limit = 20
    loop_iteration_limit = 1_000
    local_namespace_limit = 200_000  # bytes
    output_stream_limit = 1_048_576  # bytes


@lru_cache(maxsize=3)
def _environment(place: Place) -> Environment:
    environment = _Environment(undefined=StrictDefaultUndefined, tolerance=Mode.STRICT, strict_filters=True)
    environment.tags.clear()
    for tag in (content.Literal, illegal.Illegal, _OUTPUTS[place], *(() if place == "url" else _TAGS)):
        environment.add_tag(tag)
    environment.filters.pop("safe")
    environment.add_filter("json", _to_json)
    if place == "url":
        environment.add_filter("url_encode", str)  # everything is encoded once, when it is written
    return environment


class Template:
    """A parsed template for one place: a URL, a JSON body, or plain text.

    >>> Template("/rates?of={{ asset }}", place="url").fill({"asset": "US&T"})
    '/rates?of=US%26T'

    Raises:
        TemplateFault: it does not parse, has an unknown filter, or makes a range outside of a `for` loop.
    """

    def __init__(self, source: str, *, place: Place) -> None:
        if _RANGE_OUTSIDE_FOR.search(source):
            raise TemplateFault("a range (a..b) may stand in a for loop only")
        try:
            self._template: BoundTemplate = _environment(place).from_string(source)
            asked = self._template.analyze()
        except (LiquidError, RecursionError) as error:
            raise TemplateFault(_first_line(error)) from error
        unknown = sorted(set(asked.filters) - set(_environment(place).filters))
        if unknown:
            raise TemplateFault(f"there is no filter {', '.join(unknown)}")
        self._names = frozenset(asked.globals)

    def names(self) -> set[str]:
        """Return the names of the values that the template asks for."""
        return set(self._names)

    def fill(self, values: Mapping[str, Any]) -> str:
        """Return the template filled in with *values*.

        Raises:
            TemplateFault: it asks for what is not there, or does more work than is allowed.
        """
        try:
            return self._template.render(dict(values))
        except (LiquidError, ArithmeticError, ValueError, RecursionError) as error:
            raise TemplateFault(_first_line(error)) from error


def unknown_names(template: Template, known: Iterable[str]) -> list[str]:
    """Return the names that *template* asks for and nobody gives, sorted."""
    return sorted(template.names().difference(known))


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0] or type(error).__name__
