"""From bytes to raw units: every packing, encoding and layout, and what is broken costs only itself."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard
from file_reading import json_texts
from hypothesis import given
from hypothesis import strategies as st

from quality_lab.errors import InputError
from quality_lab.formats import splitting, units
from quality_lab.formats.splitting import Piece, members, values
from quality_lab.formats.streams import Stream
from quality_lab.formats.units import RawUnit, layout_of, raw_units
from quality_lab.json_text import canonical, parse
from quality_lab.records import ReadNotes

TWO = b'{"a":1}\n{"b":"\xc3\xa9"}\n'


def raws(path: Path, notes: ReadNotes | None = None) -> list[RawUnit]:
    """Return the raw units of a file."""
    with Stream(path, shown=str(path)) as stream:
        return list(raw_units(stream, notes or ReadNotes()))


def texts(folder: Path, content: bytes) -> list[tuple[int, bytes, str | None]]:
    """Return line, text and problem of each raw unit of a file with this content."""
    path = folder / "file"
    path.write_bytes(content)
    return [(raw.line, raw.text, raw.problem) for raw in raws(path)]


# -- packing and encoding


@pytest.mark.parametrize(
    "content",
    [
        TWO,
        b"\xef\xbb\xbf" + TWO,
        gzip.compress(TWO, mtime=0),
        gzip.compress(TWO[:8], mtime=0) + gzip.compress(TWO[8:], mtime=0) + b"\0" * 512,
        zstandard.compress(TWO),
        zstandard.compress(TWO[:8]) + zstandard.compress(TWO[8:]),
        gzip.compress(b"\xef\xbb\xbf" + TWO, mtime=0),
        TWO.decode().encode("utf-16"),
        TWO.decode().encode("utf-16-le"),
        TWO.decode().encode("utf-16-be"),
        b"\xfe\xff" + TWO.decode().encode("utf-16-be"),
        TWO.decode().encode("utf-32"),
        TWO.replace(b"\n", b"\r\n"),
        TWO.replace(b"\n", b"\r"),
        TWO[:-1],
    ],
)
def test_packing_encoding_and_ends_of_lines_make_no_difference(tmp_path: Path, content: bytes) -> None:
    assert texts(tmp_path, content) == [(1, b'{"a":1}', None), (2, b'{"b":"\xc3\xa9"}', None)]


@pytest.mark.parametrize("name", ["export.jsonl.gz", "export.zst", "export"])
def test_the_name_of_a_file_says_nothing(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(TWO)

    assert [raw.text for raw in raws(path)] == TWO.splitlines()


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_of_a_cut_archive_the_lines_before_the_cut_are_read_and_the_tail_is_marked(
    tmp_path: Path, pack: Any
) -> None:
    whole = b"".join(
        b'{"n":%d,"x":"%s"}\n' % (number, os.urandom(300).hex().encode()) for number in range(1_000)
    )
    packed = pack(whole)
    path = tmp_path / "cut"
    path.write_bytes(packed[: len(packed) * 3 // 5])
    notes = ReadNotes()

    found = raws(path, notes)

    good = [raw for raw in found if raw.problem is None]
    assert 300 < len(good) < 1_000
    assert [raw.text for raw in good] == whole.splitlines()[: len(good)]
    assert [raw.problem for raw in found[len(good) :]] == ["the compressed file ends too early"]
    assert whole.splitlines()[len(good)].startswith(found[-1].text)
    assert notes.truncated_input


def test_a_cut_archive_of_a_document_ends_with_a_marked_tail(tmp_path: Path) -> None:
    path = tmp_path / "cut"
    document = json.dumps({"items": [{"n": n, "x": os.urandom(300).hex()} for n in range(1_000)]}).encode()
    path.write_bytes(gzip.compress(document)[:-20_000])
    notes = ReadNotes()

    found = raws(path, notes)

    assert 900 < len(found) < 1_000
    assert [raw.problem for raw in found] == [None] * (len(found) - 1) + [
        "the compressed file ends too early"
    ]
    assert notes.truncated_input


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor(write_checksum=True).compress])
def test_a_damaged_archive_is_marked_where_it_breaks(tmp_path: Path, pack: Any) -> None:
    packed = bytearray(pack(b"".join(b'{"n":"%s"}\n' % os.urandom(300).hex().encode() for _ in range(2_000))))
    packed[-8_000:-7_990] = b"\xff" * 10
    path = tmp_path / "damaged"
    path.write_bytes(bytes(packed))

    found = raws(path)

    assert found[-1].problem is not None
    assert found[-1].problem.startswith("the compressed file is damaged here: ")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_in_an_archive_is_read_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any
) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(pack(b'{"a":1}\n' + b'{"x":"' + b"0" * (100 << 20) + b'"}\n{"b":2}\n'))
    monkeypatch.setattr(units, "MAX_BYTES", 8 << 20)
    tracemalloc.start()

    found = raws(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert path.stat().st_size < 1 << 20
    assert [(raw.line, raw.text[:7], raw.problem) for raw in found] == [
        (1, b'{"a":1}', None),
        (2, b'{"x":"0', "longer than 8 MiB; this is its beginning"),
        (3, b'{"b":2}', None),
    ]
    assert len(found[1].text) == splitting.KEPT_OF_OVERLONG
    assert peak < 64 << 20


def test_a_file_that_is_not_there_or_not_readable_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing.jsonl: cannot be read: No such file"):
        Stream(tmp_path / "nothing.jsonl", shown="nothing.jsonl")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        Stream(tmp_path, shown="folder")
    with pytest.raises(InputError, match="cannot be read"):
        Stream(Path("a\0b"), shown="odd")


def test_other_archives_are_named(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK\x03\x04rest")

    with pytest.raises(InputError, match="wanted JSON text .*, got a zip archive"):
        raws(path)


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), zstandard.compress(b"")]
)
def test_an_empty_file_has_no_units(tmp_path: Path, content: bytes) -> None:
    assert texts(tmp_path, content) == []


# -- lines


def test_bytes_that_are_not_utf_8_cost_only_their_line(tmp_path: Path) -> None:
    found = texts(tmp_path, b'{"a":1}\n{"b":"\xff\xe9"}\n{"c":"\xc3\xa9"}\n')

    assert found == [
        (1, b'{"a":1}', None),
        (2, b'{"b":"\xff\xe9"}', "wanted UTF-8, got the byte 0xff at 6"),
        (3, b'{"c":"\xc3\xa9"}', None),
    ]
    assert units.as_shown(found[1][1]) == '{"b":"\\xff\\xe9"}'


def test_utf_16_that_is_cut_or_torn_costs_only_its_line(tmp_path: Path) -> None:
    torn = '{"a":1}\n{"b":"'.encode("utf-16-le") + b"\x00\xd8" + '"}\n{"c":3}\n'.encode("utf-16-le") + b"\x7b"

    found = texts(tmp_path, b"\xff\xfe" + torn)

    assert [text for _, text, _ in found] == [b'{"a":1}', b'{"b":"\\x00\\xd8"}', b'{"c":3}', b"\\x7b"]


def test_blank_lines_and_lone_returns_keep_the_count_of_lines(tmp_path: Path) -> None:
    found = texts(tmp_path, b'{"a":1}\n\n  \n{"b":2}\r{"c":3}\r\n{"d":\r4}\nx\ry\n')

    assert [(line, text) for line, text, _ in found] == [
        (1, b'{"a":1}'), (2, b""), (3, b"  "), (4, b'{"b":2}'), (5, b'{"c":3}'), (6, b'{"d":\r4}'),
        (7, b"x"), (8, b"y"),
    ]  # fmt: skip


@given(
    st.lists(st.binary(max_size=30).map(lambda one: one.replace(b"\n", b"").replace(b"\r", b"")), min_size=1)
)
def test_lines_are_those_that_stand_between_line_feeds(
    tmp_path_factory: pytest.TempPathFactory, some: list[bytes]
) -> None:
    content = b'{"first":0}\n' + b"\n".join(some) + b"\n"

    found = texts(tmp_path_factory.mktemp("any"), content)

    assert [text for _, text, _ in found] == [b'{"first":0}', *some]
    assert [line for line, _, _ in found] == list(range(1, len(some) + 2))


def test_a_line_across_many_pieces_is_one_line(tmp_path: Path) -> None:
    long = b'{"x":"' + b"y" * 3_000_000 + b'"}'

    found = texts(tmp_path, b'{"a":1}\n' + long + b'\n{"b":2}\n')

    assert [(line, len(text), problem) for line, text, problem in found] == [
        (1, 7, None), (2, len(long), None), (3, 7, None)
    ]  # fmt: skip


@pytest.mark.parametrize(("depth", "problem"), [(500, None), (501, "nested more than 500 levels deep")])
def test_the_limit_of_depth_is_exact(tmp_path: Path, depth: int, problem: str | None) -> None:
    deep = b'{"x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"

    as_line = texts(tmp_path, deep + b'\n{"brackets":"' + b"[" * 2_000 + b'"}\n')
    as_element = texts(tmp_path, b"[\n" + deep + b"]")

    assert [found[2] for found in as_line] == [problem, None]
    assert [found[2] for found in as_element] == [problem]


def test_a_depth_of_ten_thousand_and_a_line_of_fifty_megabytes_are_no_crash(tmp_path: Path) -> None:
    long = b'{"x":"' + b"y" * 50_000_000 + b'"}'

    found = texts(tmp_path, b'{"a":1}\n{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}\n" + long + b"\n")

    assert [(line, problem) for line, _, problem in found] == [
        (1, None), (2, "nested more than 500 levels deep"), (3, None)
    ]  # fmt: skip
    assert found[2][1] == long


# -- documents


@pytest.mark.parametrize(
    ("content", "layout"),
    [
        (b"", "lines"),
        (b"oops", "lines"),
        (b'{"a":1}', "lines"),
        (b'{"a":1}\n{"a":2}', "lines"),
        (b'{"a":1,\n{"a":2}\n{"a":3}\n', "lines"),
        (b'{"a":\n{"a":2}\n', "lines"),
        (b"not json\n{\n}", "lines"),
        (b"[1]\n[2]\n", "lines"),
        (b'{\n "a": 1\n}', "document"),
        (b'{"a": 1,\n "b": 2}{"a": 1,\n "b": 2}', "document"),
        (b'{"results": [\n{"a":1},\n{"b":2}\n]}', "document"),
        (b'[{"a":1}]', "document"),
        (b'[\n{"a":1},\n{"b":2}\n]', "document"),
        (b'{"items":[]}', "document"),
        (b'  {"ok" : true, "items" : [\n{"a":1}\n]}', "document"),
        (b'{"id":1,"items":[1]}\n{"id":2,"items":[1]}', "lines"),
    ],
)
def test_the_layout_is_told_from_the_beginning(content: bytes, layout: str) -> None:
    assert layout_of(content) == layout


def test_a_long_document_that_begins_like_a_line_is_a_document() -> None:
    document = json.dumps({"spans": [{"id": number, "text": "x" * 50} for number in range(2_000)]}, indent=1)

    assert layout_of(document.encode()[: units.HEAD]) == "document"


@given(
    st.lists(json_texts(), max_size=6), st.integers(min_value=1, max_value=40), st.booleans(), st.booleans()
)
def test_a_list_in_pieces_of_any_size_gives_its_elements(
    elements: list[str], size: int, wrapped: bool, spread: bool
) -> None:
    text = "[" + (" ,\n" if spread else ",").join(elements) + "]"
    document = (f'{{"items":{text}}}' if wrapped else text).encode()

    found = list(values(document[at : at + size] for at in range(0, len(document), size)))

    assert [piece.text.decode() for piece in found] == [element.strip() for element in elements]
    assert [piece.problem for piece in found] == [None] * len(elements)
    assert [canonical(parse(piece.text)) for piece in found] == [canonical(one) for one in parse(text)]


@given(st.lists(json_texts().filter(lambda text: text.startswith("{")), max_size=5), st.integers(1, 40))
def test_documents_behind_each_other_are_told_apart(objects: list[str], size: int) -> None:
    content = "".join(objects).encode()

    found = list(values(content[at : at + size] for at in range(0, len(content), size)))

    assert [piece.text.decode() for piece in found] == objects


@given(json_texts().filter(lambda text: text.startswith("{")))
def test_members_are_all_that_stand_in_an_object(text: str) -> None:
    pairs: list[Any] = json.loads(text, object_pairs_hook=lambda found: found)

    found = members(text.encode())

    assert [json.loads(key) for key, _ in found] == [key for key, _ in pairs]
    assert [json.loads(value, object_pairs_hook=lambda one: one) for _, value in found] == [
        one for _, one in pairs
    ]


@given(json_texts().filter(lambda text: text.startswith("{")), st.data())
def test_whatever_is_cut_off_is_said(text: str, data: st.DataObject) -> None:
    document = f'[{{"first":1}},{text}]'.encode()
    cut = data.draw(st.integers(min_value=len('[{"first":1}'), max_value=len(document) - 1))

    found = list(values([document[:cut]]))

    assert found[0] == Piece(b'{"first":1}')
    assert found[-1].problem is not None
    assert found[-1].problem.startswith("the file ends")


@pytest.mark.parametrize(
    ("content", "pieces"),
    [
        (
            b"[1}2",
            [(b"1", None), (b"}", "wanted ',' or ']' between the elements of a list, got '}'"), (b"2", None)],
        ),
        (b'[{"a":1}{"b":2}]', [(b'{"a":1}{"b":2}', None)]),
        (b'[1,2,]\noops ]\n{"a":2}', [(b"1", None), (b"2", None), (b"oops ]", None), (b'{"a":2}', None)]),
        (
            b'{"items":[1],"x":[2],3}',
            [(b"1", None), (b"3", "wanted a member of the object around the items")],
        ),
        (b'{"items":[1]', [(b"1", None), (b"", "the file ends before the object around its list does")]),
        (b'["a,]\\"b"]', [(b'"a,]\\"b"', None)]),
    ],
)
def test_broken_documents_lose_nothing(content: bytes, pieces: list[tuple[bytes, str | None]]) -> None:
    assert [tuple(piece) for piece in values([content])] == pieces


def test_an_element_that_is_too_long_costs_only_itself_and_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MAX_BYTES", 1 << 20)
    part = b"0" * (1 << 16)
    long = [b'[1,{"x":"', *[part] * 2_000, b'","y":[2]},3]']
    tracemalloc.start()

    found = list(values(long))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [piece.text[:6] for piece in found] == [b"1", b'{"x":"', b"3"]
    assert [piece.problem for piece in found] == [None, "longer than 1 MiB; this is its beginning", None]
    assert peak < 16 << 20


def test_a_list_of_many_elements_needs_the_memory_of_one() -> None:
    element = b'{"x":"' + b"0" * 10_000 + b'"},'
    tracemalloc.start()

    count = sum(
        1 for _ in values(part for number in range(3_001) for part in ([b"["] if not number else [element]))
    )
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert count == 3_001  # and the word that the list has no end
    assert peak < 4 << 20


def test_what_stands_beside_the_items_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    path.write_bytes(b'{"items":[{"a":1}],"total":1,"page":{"next":null}}')
    notes = ReadNotes()

    assert [raw.text for raw in raws(path, notes)] == [b'{"a":1}']
    assert notes.unknown_fields == {"total": 1, "page": 1}
