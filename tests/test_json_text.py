"""JSON text: exact values in, exact text out, whatever the depth and the length."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.json_text import (
    DuplicateKeys,
    JsonTextError,
    canonical,
    compact,
    has_duplicate_keys,
    parse,
    same_value,
)

INTEGERS = st.integers(min_value=-(10**25), max_value=10**25)
FRACTIONS = st.builds(
    lambda sign, whole, part, exponent: f"{sign}{whole}.{part}{exponent}",
    st.sampled_from(["", "-"]),
    st.integers(min_value=0, max_value=10**12),
    st.text("0123456789", min_size=1, max_size=22),
    st.sampled_from(["", "e5", "E-7", "e+2"]),
).map(parse)
STRINGS = st.text(st.characters(codec=None, categories=None), max_size=12)  # lone surrogates and NUL included
VALUES = st.recursive(
    st.none() | st.booleans() | INTEGERS | FRACTIONS | STRINGS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STRINGS, inner, max_size=4),
    max_leaves=12,
)


def as_fractions(value: object) -> object:
    """Return *value* with every number as an exact fraction, by an independent road; booleans stay apart."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return ("scalar", value)
    if isinstance(value, list):
        return [as_fractions(item) for item in value]
    if isinstance(value, dict):
        return {key: as_fractions(item) for key, item in value.items()}
    return Fraction(str(value))


@given(VALUES)
def test_a_value_survives_being_written_and_read_again(value: object) -> None:
    assert as_fractions(parse(compact(value))) == as_fractions(value)
    assert as_fractions(parse(canonical(value))) == as_fractions(value)


@given(VALUES, VALUES)
def test_canonical_texts_are_equal_exactly_where_the_values_are(one: object, other: object) -> None:
    assert (canonical(one) == canonical(other)) == (as_fractions(one) == as_fractions(other))


@given(VALUES)
def test_what_the_standard_library_writes_is_the_same_value(value: object) -> None:
    written = json.dumps(as_text_numbers(value), indent=2)

    assert canonical(parse(written)) == canonical(as_text_numbers(value))


def as_text_numbers(value: object) -> object:
    """Return *value* with its decimals as text, since the standard library cannot write them."""
    if isinstance(value, list):
        return [as_text_numbers(item) for item in value]
    if isinstance(value, dict):
        return {key: as_text_numbers(item) for key, item in value.items()}
    return str(value) if isinstance(value, Decimal) else value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1.0", "1"),
        ("-0.0", "0"),
        ("10e-1", "1"),
        ("1e400", "1e400"),
        ("0.1234567890123456789012", "0.1234567890123456789012"),
        ("1234567890123456789012345", "1234567890123456789012345e0"),
        ("120e3", "120000"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1e-7"),
        ('{"b":1,"a":[2.50,"é"]}', '{"a":[2.5,"é"],"b":1}'),
        ('"\\ud83d\\ude00"', '"😀"'),
        ('"\\ud83d"', '"\\ud83d"'),
        ('"\\u0000"', '"\\u0000"'),
    ],
)
def test_the_canonical_form_is_the_one_worked_out_by_hand(text: str, wanted: str) -> None:
    assert canonical(parse(text)) == wanted


@pytest.mark.parametrize(
    "number", ["1e5", "-0", "1.10", "0.00000001", "1E400", "123456789012345678901234.50", "-0.0"]
)
def test_a_number_keeps_the_text_that_was_written(number: str) -> None:
    assert compact(parse(f'{{"n":{number}}}')) == f'{{"n":{number}}}'


def test_integers_beyond_the_digit_limit_of_python_are_exact() -> None:
    digits = "7" * 20_000

    assert compact(parse(f"[{digits}]")) == f"[{digits}]"
    assert not same_value(digits, digits[:-1] + "8")
    assert same_value("1" + "0" * 5000, "1e5000")


@pytest.mark.parametrize("depth", [400, 2_000, 10_000, 100_000])
def test_depth_is_no_obstacle(depth: int) -> None:
    text = "[" * depth + '{"a":{"b":[1,"x"]}}' + "]" * depth

    assert compact(parse(text)) == text
    assert canonical(parse(text)) == text
    assert not has_duplicate_keys(text)


def test_a_line_of_fifty_megabytes_is_read() -> None:
    long = "x" * 50_000_000

    assert parse(f'{{"a":"{long}"}}')["a"] == long


@pytest.mark.parametrize("nest", [0, 3_000])
@pytest.mark.parametrize(
    "bad",
    [
        "[",
        "[1,]",
        '{"a":1,}',
        "{,}",
        "NaN",
        "[Infinity]",
        "[-Infinity]",
        '{"a"}',
        '"\x01"',
        "01",
        "1 2",
        "[1}",
        "{1:2}",
    ]
    + [
        "'a'",
        "+1",
        "1.",
        ".5",
        '"\\x"',
        '"\\u12"',
        "tru",
        "\ufeff1",
        '{"a":1 "b":2}',
        "1e99999999999999999999",
        '"a',
    ],
)
def test_what_is_not_json_is_refused_at_any_depth(bad: str, nest: int) -> None:
    with pytest.raises(JsonTextError, match=r"wanted JSON|out of reach"):
        parse("[" * nest + bad + "]" * nest)


def test_bytes_that_are_not_utf_8_are_refused_with_the_byte_and_its_place() -> None:
    with pytest.raises(JsonTextError, match="0xff at 2"):
        parse(b'"a\xff"')


def test_duplicate_keys_are_seen_and_kept() -> None:
    value = parse('{"a":1,"b":{"x":1,"x":2}}')

    assert isinstance(value["b"], DuplicateKeys)
    assert value["b"].pairs == [("x", 1), ("x", 2)]
    assert compact(value) == '{"a":1,"b":{"x":1,"x":2}}'
    assert has_duplicate_keys('{"a":1,"b":{"x":1,"x":2}}')
    assert not same_value('{"x":1,"x":2}', '{"x":2}')
    assert not has_duplicate_keys('[{"x":1},{"x":1}]')


@pytest.mark.parametrize(
    ("one", "other"),
    [("1", "true"), ("0", "false"), ("1", '"1"'), ("null", '""'), ("[]", "{}"), ('"é"', '"e\u0301"')],
)
def test_values_of_different_kinds_never_equal(one: str, other: str) -> None:
    assert not same_value(one, other)


@pytest.mark.parametrize("number", [math.nan, math.inf, Decimal("NaN"), Decimal("-Infinity")])
def test_numbers_that_json_cannot_hold_are_not_written(number: float | Decimal) -> None:
    with pytest.raises(JsonTextError, match="not a JSON number"):
        compact([number])
