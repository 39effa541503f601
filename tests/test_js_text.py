"""JavaScript's blanks, numbers, order and JSON, by values that its standard and its engines agree on."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality_lab import js_text
from quality_lab.json_text import JsonTextError


@pytest.mark.parametrize("blank", "\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
def test_trim_takes_what_javascript_calls_white_space(blank):
    assert js_text.trim(f"{blank}a{blank}b{blank}") == f"a{blank}b"
    assert js_text.collapse(f"{blank}a{blank}{blank}b{blank}") == "a b"


@pytest.mark.parametrize("kept", "\x00\x1c\x1d\x1e\x1f\x85\u180e\u200b\u200d\u2060")
def test_trim_leaves_what_only_python_or_nobody_calls_white_space(kept):
    assert js_text.trim(f"{kept}a{kept}") == f"{kept}a{kept}"
    assert js_text.collapse(f"a{kept}{kept}") == f"a{kept}{kept}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((text, 0.0) for text in ("", " ", "\ufeff", "0", "-0", "0x0", ".0", "0e9")),
        *(("1e2", 100), ("5.", 5), (".5", 0.5), ("+7", 7), ("-7", -7), ("\u00a07\n", 7), ("007", 7)),
        *(("0x1F", 31), ("0X1f", 31), ("0b11", 3), ("0o17", 15), ("1e400", math.inf), ("-1e400", -math.inf)),
        *(("Infinity", math.inf), ("+Infinity", math.inf), ("-Infinity", -math.inf)),
        ("0x" + "f" * 300, math.inf),
        ("9007199254740993", 9007199254740992),
    ],
)
def test_a_text_is_the_number_that_javascript_reads(text, value):
    assert js_text.number(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("1_0", "1,000", "12abc", "+0x1", "-0x1", "0x", "0b2", "1e", "e1", ".", "+", "--1", "\u0663"),
        *("infinity", "inf", "nan", "NaN", "+-Infinity", "--Infinity", "\x857", "1 2", "1n", "0x1.8", "true"),
    ],
)
def test_a_text_that_is_no_number_is_nan(text):
    assert math.isnan(js_text.number(text))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (100.0, "100"),
            (0.1, "0.1"),
            (123456.789, "123456.789"),
        ),
        *((1e20, "100000000000000000000"), (1e21, "1e+21"), (1.5e21, "1.5e+21"), (123e20, "1.23e+22")),
        *((1e-6, "0.000001"), (1e-7, "1e-7"), (1.25e-7, "1.25e-7"), (5e-324, "5e-324")),
        *((1.7976931348623157e308, "1.7976931348623157e+308"), (2**53, "9007199254740992")),
        *((2**53 + 1, "9007199254740992"), (2**60, "1152921504606847000"), (10**21, "1e+21")),
        *((10**400, "Infinity"), (-(10**400), "-Infinity"), (math.nan, "NaN")),
    ],
)
def test_a_number_prints_as_javascript_prints_it(value, text):
    assert js_text.number_text(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_is_printed_reads_back_as_the_same_double(value):
    assert js_text.number(js_text.number_text(value)) == value


@pytest.mark.parametrize("value", [1, 0, -7, 1.0, -0.0, 1e21, 2**53 + 1, 10**300])
def test_integers(value):
    assert js_text.is_integer(value)


@pytest.mark.parametrize("value", [True, False, None, "1", 1.5, math.inf, math.nan, 10**400, [], {}])
def test_what_is_no_integer(value):
    assert not js_text.is_integer(value)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('{"b":1,"2":1,"10":1,"1":{"9":0,"a":0,"0":0}}', '{"1":{"0":0,"9":0,"a":0},"2":1,"10":1,"b":1}'),
        (
            '{"01":1,"-1":1,"1.5":1,"4294967295":1,"4294967294":1}',
            '{"4294967294":1,"01":1,"-1":1,"1.5":1,"4294967295":1}',
        ),
        ('{"a":1,"b":2,"a":3}', '{"a":3,"b":2}'),
        ('{"__proto__":{"x":1},"constructor":null}', '{"__proto__":{"x":1},"constructor":null}'),
        ("[1.0,2.50,1e21,1e-7,-0,1e400,3.0000000000000000001]", "[1,2.5,1e+21,1e-7,0,null,3]"),
        (
            '" \\u0041\\/\\b\\f\\n\\r\\t\\u0001\\u007f\\u2028\\ud800 "',
            '" A/\\b\\f\\n\\r\\t\\u0001\x7f\u2028\\ud800 "',
        ),
        ("[ ]\t\r\n", "[]"),
        ('"\\ud83d\\ude00"', '"\U0001f600"'),
    ],
)
def test_json_is_read_and_printed_as_javascript_does_it(text, printed):
    assert js_text.compact(js_text.parse(text)) == printed


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "NaN",
            "Infinity",
            "-Infinity",
            "[1,]",
            '{"a":1,}',
            "01",
            "1.",
            ".5",
            "+1",
            "'a'",
            "{a:1}",
            '"\t"',
        ),
        *('"\\x41"', "\ufeff1", "\u00a01", "1 1", "[1] x", '"a', "tru", "// 1", '"\\u12"', "[" * 5000),
    ],
)
def test_what_javascript_does_not_read_is_no_json(text):
    with pytest.raises(JsonTextError):
        js_text.parse(text)


def test_deep_values_are_read_as_shallow_ones_are():
    depth = 20_000
    text = "[" * depth + '{"2":1.50,"1":12345678901234567890,"n":1e400}' + "]" * depth

    assert js_text.compact(js_text.parse(text)) == (
        "[" * depth + '{"1":12345678901234567000,"2":1.5,"n":null}' + "]" * depth
    )


def test_text_is_measured_cut_and_ordered_by_utf_16_units():
    assert js_text.length("a\U0001f6b2b") == 4
    assert js_text.cut("a\U0001f6b2b", 2) == "a\ud83d"
    assert js_text.well_formed(js_text.cut("a\U0001f6b2b", 2)) == "a\ufffd"
    assert sorted(["\uff5e", "\U0001f527", "b", "B", "10", "9", "\u00e4"], key=js_text.sort_key) == [
        *("10", "9", "B", "b", "\u00e4", "\U0001f527", "\uff5e")
    ]
