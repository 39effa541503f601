"""JSON on the wire: what is read, what is refused, how values are spelt."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quality_lab.toolloop.wire import NotOneJsonValue, one_value, to_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(values)
@example({"s": "1e-07", "n": 1e-07, "lone": "a\ud83d"})
@example([-1.5e-06, 1e-05, 5e-324, 1.7976931348623157e308, -0.0])
def test_what_is_written_reads_back_as_the_same_value_and_can_be_encoded(value):
    text = to_json(value)

    text.encode("utf-8")
    assert one_value(text) == value
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-07, "1e-7"),
        (-1.25e-09, "-1.25e-9"),
        (1e-06, "0.000001"),
        (-1.5e-06, "-0.0000015"),
        (1e-05, "0.00001"),
        (1.234e-05, "0.00001234"),
        (0.0001, "0.0001"),
        (1e21, "1e+21"),
        (1e100, "1e+100"),
        (1e-100, "1e-100"),
        (5e-324, "5e-324"),
        (0.1, "0.1"),
        (12345678901234567890123, "12345678901234567890123"),
        ("1e-07", '"1e-07"'),
        ("ผู้ 🚲 \u2028", '"ผู้ 🚲 \u2028"'),
        ("a\ud83d", '"a\\ud83d"'),
        ("\x00\x1f", '"\\u0000\\u001f"'),
        ({"b": [1, None], "a": True}, '{"b":[1,null],"a":true}'),
    ],
)
def test_values_are_spelt_as_the_rest_of_the_world_spells_them(value, text):
    assert to_json(value) == text


@given(st.floats(min_value=1e-7, max_value=1e-4, exclude_max=True))
def test_small_numbers_are_written_with_the_digits_that_make_them_and_no_others(number):
    text = to_json(number)

    assert float(text) == number
    assert len(text.replace("0.", "", 1).lstrip("0").split("e")[0].replace(".", "")) <= 17


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1}, b"x", object(), {"a": [math.nan]}])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises((TypeError, ValueError)):
        to_json(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "Expecting value at character 1 of 0"),
        ("{'a': 1}", "Expecting property name enclosed in double quotes at character 2 of 8"),
        ('{"a": 1} {"b": 2}', "Extra data at character 10 of 17"),
        ('{"a": undefined}', "Expecting value at character 7 of 16"),
        ("NaN", "NaN is no JSON number"),
        ("[-Infinity]", "-Infinity is no JSON number"),
        ("1e400", "the number 1e400 is too large to be held"),
        ('{"a": {"b": 1, "c": 2, "b": 3}}', "the key 'b' stands twice in one object"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "Exceeds the limit"),
    ],
)
def test_text_that_is_not_one_certain_value_is_refused_with_its_reason(text, said):
    with pytest.raises(NotOneJsonValue, match="^" + said.replace("(", r"\(")):
        one_value(text)


def strictly(text: str) -> Any:
    """Return what the standard library makes of *text*, without the words that JSON does not know."""

    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


@given(st.text(alphabet='{}[]",:1eE+-.0 anulltrfs\\"', max_size=12))
def test_text_is_read_as_the_standard_library_reads_it_or_refused(text):
    try:
        expected = strictly(text)
    except ValueError:
        expected = NotOneJsonValue

    try:
        came = one_value(text)
    except NotOneJsonValue as refused:
        came = NotOneJsonValue
        uncertain = "twice" in str(refused) or "too large" in str(refused)

    assert came == expected or (came is NotOneJsonValue and uncertain)
