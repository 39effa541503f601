"""Masking: known shapes and nothing else, equal values equal stand-ins, JSON that stays JSON."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from file_reading import json_texts
from hypothesis import given
from hypothesis import strategies as st

from quality_lab import json_text
from quality_lab.masking import Masker

STAND_IN = re.compile(r"\[([a-z]+)-[a-p]{10}\]")

# Numbers that the payment networks and standards publish for tests, and invented keys.
SHOWN = {
    "4111111111111111": "card",
    "4111 1111 1111 1111": "card",
    "5555-5555-5555-4444": "card",
    "378282246310005": "card",
    "6011111111111117": "card",
    "3530111333300000": "card",
    "2200 0000 0000 0004": "card",
    "DE89 3704 0044 0532 0130 00": "iban",
    "GB82WEST12345698765432": "iban",
    "NO9386011117947": "iban",
    "0x52908400098527886E0F7030069857D2E4169EE7": "wallet",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa": "wallet",
    "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t": "wallet",
    "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq": "wallet",
    "ann.lee+shop@mail.example.com": "email",
    "анна@пример.example.com": "email",
    "+1 555 010 9999": "phone",
    "+1 (555) 010-9999": "phone",
    "555-010-9999": "phone",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.Xk3_8sQ-4w": "secret",
    "sk-proj-Zk3abcdefghij0123456": "secret",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345": "secret",
    "AKIAIOSFODNN7EXAMPLE": "secret",
    "xoxb-1234567890-abcdefghij": "secret",
}
KEPT = [
    "4111111111111112",  # no card: its sum is wrong
    "1234567890123452",  # a right sum, but no card begins so
    "0000000000000000",
    "DE89370400440532013001",
    "XX89370400440532013000",
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
    "2026-06-01T08:00:00Z",
    "2026-06-01 08:00:00",
    "1781000120",
    "1781000120123",
    "3f2a9b7c-0000-4000-8000-123456789012",
    "15,000.00 THB at 32.6 = 489000",
    "1234567.890123456789",
    "-33.8688197, 151.2092955",
    "bearer of bad news",
    "password: wrong format",
    "the token is missing",
    "$.amountMode",
    "tool_call@v2",
    "127.0.0.1:8080",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
]


@pytest.fixture
def masker(tmp_path: Path) -> Masker:
    return Masker(tmp_path)


@pytest.mark.parametrize(("value", "kind"), SHOWN.items())
def test_a_known_shape_is_shown_as_its_stand_in(masker: Masker, value: str, kind: str) -> None:
    shown = masker.text(f"before {value}, after")

    found = re.fullmatch(r"before \[([a-z]+)-[a-p]{10}\], after", shown)
    assert found is not None, shown
    assert found[1] == kind


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_alike_stays(masker: Masker, text: str) -> None:
    assert masker.text(text) == text
    assert masker.text(f"({text})") == f"({text})"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcDEF12-3456789", r"Authorization: Bearer \[secret-.{10}\]"),
        ("password=hunter22; next", r"password=\[secret-.{10}\]; next"),
        ('api_key: "k3y-abcdef"', r'api_key: "\[secret-.{10}\]"'),
        ("https://joe:pa55@example.com/x", r"https://\[secret-.{10}\]@example.com/x"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY----- z", r"\[secret-.{10}\] z"),
        ('{"password": "hunter 2", "x": 1', r'\{"password": "\[secret-.{10}\]", "x": 1'),
        (
            "&quot;cvv&quot;: 123, &quot;n&quot;: 5",
            r"&quot;cvv&quot;: &quot;\[secret-.{10}\]&quot;, &quot;n&quot;: 5",
        ),
        (
            r'"{\"api_key\":\"abc\",\"n\":\"b\"}"',
            r'"\{\\"api_key\\":\\"\[secret-.{10}\]\\",\\"n\\":\\"b\\"\}"',
        ),
        ("IBAN DE89 3704 0044 0532 0130 00 AND MORE", r"IBAN \[iban-.{10}\] AND MORE"),
    ],
)
def test_of_a_secret_with_a_name_only_the_secret_is_masked(masker: Masker, text: str, shown: str) -> None:
    assert re.fullmatch(shown, masker.text(text)), masker.text(text)


def test_one_value_has_one_stand_in_however_it_is_spelt_and_another_has_another(masker: Masker) -> None:
    card = {masker.text(text) for text in ("4111111111111111", "4111 1111 1111 1111", "4111-1111-1111-1111")}
    mail = {masker.text(text) for text in ("Ann@Example.com", "ann@example.com")}
    phone = {masker.text(text) for text in ("+1 555 010 9999", "+15550109999", "0015550109999")}

    assert len(card) == len(mail) == len(phone) == 1
    assert masker.text("5555555555554444") not in card


def test_masking_what_was_masked_changes_nothing(masker: Masker) -> None:
    for value in SHOWN:
        once = masker.text(value)

        assert masker.text(once) == once
        assert masker.json_text(masker.json_text(json.dumps({"password": value}))) == masker.json_text(
            json.dumps({"password": value})
        )


def test_another_process_gives_the_same_stand_in_and_another_home_another(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from quality_lab.masking import Masker\n"
        "print(Masker(Path(sys.argv[1])).text('ann@example.com'))"
    )
    here = Masker(tmp_path).text("ann@example.com")
    there = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout.strip()

    assert there == here
    assert Masker(tmp_path / "other").text("ann@example.com") != here


def test_the_key_is_made_when_first_needed_is_for_its_owner_alone_and_git_leaves_it(
    tmp_path: Path, repository: Path
) -> None:
    masker = Masker(tmp_path)
    masker.text("nothing to mask")
    before = (tmp_path / "data" / ".mask-key").exists()
    masker.text("ann@example.com")
    mode = (tmp_path / "data" / ".mask-key").stat().st_mode

    assert not before
    assert stat.S_IMODE(mode) == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == [".mask-key"]
    assert "data/.mask-key" in (repository / ".gitignore").read_text().splitlines()
    assert "hunter2" not in repr(masker)


def test_many_who_need_the_key_at_once_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        shown = set(pool.map(lambda _: Masker(tmp_path).text("ann@example.com"), range(40)))

    assert len(shown) == 1


def test_in_json_strings_are_masked_and_all_else_is_what_it_was(masker: Masker) -> None:
    text = '{ "card": "4111111111111111", "n": 4111111111111111, "x": [1.50, null, true], "a": "\\u0041" }'

    shown = masker.json_text(text)

    assert re.fullmatch(
        r'\{ "card": "\[card-[a-p]{10}\]", "n": 4111111111111111, "x": \[1\.50, null, true\], "a": "\\u0041" \}',
        shown,
    )


def test_under_a_secret_name_the_whole_value_is_masked_at_any_depth(masker: Masker) -> None:
    document = {
        "password": "hunter2",
        "API-Key": 7,
        "auth": {"access_token": ["a", {"b": "c", "n": None}], "kept": "plain"},
        "token": "",
        "total_tokens": 12,
    }

    shown = json.loads(masker.json_text(json.dumps(document)))

    assert STAND_IN.fullmatch(shown["password"])
    assert STAND_IN.fullmatch(shown["API-Key"])
    assert STAND_IN.fullmatch(shown["auth"]["access_token"][0])
    assert STAND_IN.fullmatch(shown["auth"]["access_token"][1]["b"])
    assert shown["auth"]["access_token"][1]["n"] is None
    assert (shown["auth"]["kept"], shown["token"], shown["total_tokens"]) == ("plain", "", 12)


def test_json_inside_a_string_is_masked_as_json(masker: Masker) -> None:
    text = json.dumps({"body": json.dumps({"cvv": 123, "order": 77})})

    inner = json.loads(json.loads(masker.json_text(text))["body"])

    assert STAND_IN.fullmatch(inner["cvv"])
    assert inner["order"] == 77


def test_names_of_members_are_masked_by_their_shape_and_never_fall_together(masker: Masker) -> None:
    shown = json.loads(masker.json_text('{"ann@example.com": 1, "Ann@example.com": 2}'))

    assert sorted(shown.values()) == [1, 2]
    assert all(STAND_IN.fullmatch(name) for name in shown)


def test_own_names_take_the_place_of_the_known_ones(tmp_path: Path) -> None:
    shown = json.loads(
        Masker(tmp_path, secret_names=["loyalty_id"]).json_text('{"loyaltyId": "x1", "password": "p"}')
    )

    assert STAND_IN.fullmatch(shown["loyaltyId"])
    assert shown["password"] == "p"


@given(json_texts())
def test_masked_json_has_the_shape_of_the_json_that_came(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    masker = Masker(tmp_path_factory.getbasetemp() / "shape")

    shown = masker.json_text(text)

    assert json_text.canonical(json_text.parse(shown)) == json_text.canonical(json_text.parse(text)) or (
        "[" in shown
    )


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(list(SHOWN)) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text(max_size=4) | st.sampled_from(["password", "note", *SHOWN]), inner, max_size=3),
    max_leaves=12,
))  # fmt: skip  # one strategy
def test_structure_and_numbers_survive_and_nothing_known_is_left(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    masker = Masker(tmp_path_factory.getbasetemp() / "structure")

    shown = masker.json_text(json.dumps(value, ensure_ascii=False))

    assert _outline(json.loads(shown)) == _outline(value)
    assert not any(known in shown for known in SHOWN)


def _outline(value: object, *, secret: bool = False) -> object:
    """Return a value with its texts left out, and what lies under a secret name too."""
    if isinstance(value, dict):
        return [_outline(inner, secret=secret or name == "password") for name, inner in value.items()]
    if isinstance(value, list):
        return [_outline(inner, secret=secret) for inner in value]
    if isinstance(value, str) or (secret and isinstance(value, int) and not isinstance(value, bool)):
        return "text"
    return value


def test_a_megabyte_that_almost_matches_costs_a_walk_and_no_more(masker: Masker) -> None:
    nearly = ["1 ", "a@", "eyJaaaaa-", "-----BEGIN PRIVATE KEY-----", "+1 (", "token=", "a://a:", "DE89 "]

    def seconds(size: int) -> float:
        before = time.process_time()
        for one in nearly:
            masker.text(one * (size // len(one)))
        return time.process_time() - before

    assert seconds(400_000) < 8 * seconds(100_000) + 0.5  # a square would be 16 times


def test_a_home_that_cannot_be_written_is_masked_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file in the way")
    masker = Masker(tmp_path)

    assert STAND_IN.fullmatch(masker.text("ann@example.com"))
    assert masker.text("ann@example.com") == masker.text("Ann@example.com")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
