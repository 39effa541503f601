"""A report shows stand-ins for secrets and payment data, in all four of its files."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lab_builder import LabBuilder
from notebook_maker import code, notebook, shown, write_template

from quality_lab.masking import Masker
from quality_lab.reports import run
from quality_lab.reports.masked import masked_notebook

CARD, MAIL, WORD = "4111 1111 1111 1111", "ann@example.com", "hunter2"
SAYS = (
    "import quality_lab as ql\nfrom quality_lab import reports\nlab = ql.open(home)\nlab.calls()",
    "lab.call(lab.calls()[0].call_uid)",
    "print(lab.calls()[0].arguments)",
    f"reports.note(calls_in_window=1, lead=['paid with {CARD}'], said={{'by': '{MAIL}'}})",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("masked")
    builder = LabBuilder(home)
    arguments = json.dumps({"card": CARD, "mail": MAIL, "password": WORD, "amount": 15000})
    call = builder.call("pay", arguments=arguments, result=json.dumps({"sent_to": MAIL}))
    builder.label(call, "bad_args", note=f"this is not the card of {MAIL}")
    builder.message("user", f"pay with {CARD} please", position=0)
    builder.store()
    asks = code('home = None  # the lab\ntz = "UTC"  # a zone\nas_of = None  # now', tags=("parameters",))
    write_template(home, "says", asks, *map(code, SAYS))
    return home


def files_of(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.iterdir()}


def test_a_report_shows_stand_ins_and_equal_values_get_equal_ones(home: Path) -> None:
    files = files_of(run(home, "says", now=datetime(2026, 6, 30, tzinfo=UTC)).folder)
    stand_ins = {name: set(re.findall(r"card-[a-p]{10}", text)) for name, text in files.items()}

    # the template's own code names the card; what it showed does not
    (files["report.ipynb"],) = [
        json.dumps([cell.get("outputs") for cell in json.loads(files["report.ipynb"])["cells"]])
    ]
    for name, text in files.items():
        for secret in (CARD, MAIL, WORD):
            assert secret not in text, (name, secret)
    assert len(stand_ins["report.html"]) == 1
    assert stand_ins["report.html"] == stand_ins["report.ipynb"] == stand_ins["summary.md"]
    assert "15000" in files["report.html"]
    json.loads(files["summary.json"])


@pytest.mark.slow
def test_unmasked_shows_what_is_there_and_the_quality_report_masks_by_default(home: Path) -> None:
    now = datetime(2026, 6, 3, tzinfo=UTC)
    plain = files_of(run(home, "says", mask=False, now=now).folder)
    masked = files_of(run(home, "quality", now=now).folder)

    for secret in (CARD, MAIL, WORD):
        assert secret in plain["report.html"], secret
        assert not any(secret in text for text in masked.values()), secret


def test_lines_of_one_text_are_masked_together_and_pictures_stay(tmp_path: Path) -> None:
    made = notebook(
        code(
            "x",
            shown(text_plain=["to ann@exam\n", "x 4111 1111 1111 1111\n", "end"]),
            shown(image_png="4111111111111111"),
            shown(figure={"data": [{"x": ["ann@example.com"], "y": [4111111111111111]}]}),
            {"output_type": "stream", "name": "stdout", "text": ["ann@example.com"]},
        )
    )

    lines, picture, figure, stream = masked_notebook(made, Masker(tmp_path))["cells"][0]["outputs"]

    assert [line[:8] for line in lines["data"]["text/plain"]] == ["to ann@e", "x [card-", "end"]
    assert picture["data"]["image/png"] == "4111111111111111"
    plot = figure["data"]["application/vnd.plotly.v1+json"]["data"][0]
    assert plot["x"][0].startswith("[email-")
    assert plot["y"] == [4111111111111111]
    assert stream["text"][0].startswith("[email-")
