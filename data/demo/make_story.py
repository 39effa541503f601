"""Write the demo story: four weeks of an invented exchange and booking assistant, as its exports show them.

    python data/demo/make_story.py                                 the tracked files beside this script
    python data/demo/make_story.py --seed 7 --shuffle-names DIR    another month, tools under neutral names
    python data/demo/make_story.py --seed 7 --no-plot DIR          the same people in a month without a plot

Needs nothing but Python. The same seed gives the same bytes everywhere. DIR gets `exports/` and `journal/`,
which are to be loaded, and `truth.json`, which is not: it says what is true in them, counted while they were
written.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from story.cases import cases
from story.concierge import CHAT_TOOLS, Concierge
from story.frame import EXCHANGE_TOOLS
from story.frozen import frozen_cases
from story.journal import ChatReviews
from story.plot import Story
from story.records import feedback_record, proposals, trace_record
from story.reviews import Reviews
from story.truth import Truth
from story.words import NAMES, REVIEWERS

TRACKED_SEED = 2605
BIRDS = [
    "kestrel",
    "heron",
    "plover",
    "wagtail",
    "siskin",
    "curlew",
    "dunnock",
    "merlin",
    "osprey",
    "bittern",
    "pipit",
    "knot",
    "godwit",
    "linnet",
    "martin",
    "ouzel",
    "whinchat",
]
FIRST_EXPORT_ENDS, SECOND_EXPORT_BEGINS = (
    13,
    11,
)  # days from the start: the second export repeats two of the first


class Names:
    """The names under which the tools appear: their own, or neutral ones that the seed deals out."""

    def __init__(self, seed: int, *, shuffle: bool) -> None:
        own = EXCHANGE_TOOLS + CHAT_TOOLS
        neutral = [f"tool_{bird}" for bird in BIRDS]
        random.Random(f"{seed}:names").shuffle(neutral)
        self.shown = dict(zip(own, neutral if shuffle else own, strict=True))
        self._any = re.compile("|".join(sorted(own, key=len, reverse=True)))

    def line(self, record: Any, *, indent: int | None = None) -> str:
        """Return *record* as JSON text in which every tool's name is the one to be shown."""
        separators = (",", ":") if indent is None else None
        text = json.dumps(record, ensure_ascii=False, separators=separators, indent=indent)
        return self._any.sub(lambda found: self.shown[found.group()], text)


class Folder:
    """Writes the files of the story below *root*, always in the same bytes."""

    def __init__(self, root: Path, names: Names, truth: Truth) -> None:
        self.root, self.names, self.truth = root, names, truth

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def lines(self, path: str, lines: list[str], broken: Sequence[tuple[int, str, str]] = ()) -> None:
        """Write *lines* with the *broken* ones (position, text, what is wrong) put between them."""
        written = list(lines)
        for position, text, why in broken:
            written.insert(position, text)
            self.truth.broken(path, position + 1, why)
        self.write(path, "\n".join(written) + "\n")


def cut(line: str) -> str:
    """Return a line as a writer leaves it that was stopped in the middle."""
    return line[: len(line) * 3 // 5]


def without(line: str, key: str) -> str:
    """Return the JSON object in *line* without one of its keys."""
    record = json.loads(line)
    del record[key]
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def write_story(root: Path, seed: int, *, plot: bool, shuffle_names: bool) -> dict[str, Any]:
    """Write all files of one story below *root* and return what is true in them."""
    story, concierge = Story(seed, plot=plot), Concierge(seed, plot=plot)
    reviews, chat_reviews = Reviews(story), ChatReviews(seed, concierge.chats)
    names, truth = Names(seed, shuffle=shuffle_names), Truth(seed, plot=plot)
    folder = Folder(root, names, truth)
    write_exchange(folder, story)
    write_reviews(folder, reviews)
    write_chat(folder, concierge, chat_reviews)
    write_people(folder)
    folder.write("truth.json", names.line(truth.document(), indent=1) + "\n")
    return json.loads(names.line(truth.document()))


def write_exchange(folder: Folder, story: Story) -> None:
    """Write the trace list as it was saved twice: first as one document, then as lines; both newest first."""
    ends, begins = story.day(FIRST_EXPORT_ENDS), story.day(SECOND_EXPORT_BEGINS)
    newest_first = sorted(story.calls, key=lambda call: (-call.at, -call.id))
    items = []
    for call in newest_first:
        if call.at < ends:
            items.append(trace_record(call))
            folder.truth.trace(call)
    folder.write("exports/tool-calls-first-weeks.json", folder.names.line({"items": items}) + "\n")
    lines = []
    for call in newest_first:
        if call.at >= begins:
            lines.append(folder.names.line(trace_record(call)))
            folder.truth.trace(call)
    folder.lines(
        "exports/tool-calls-last-weeks.jsonl",
        lines,
        [
            (40, cut(lines[40]), "cut in the middle"),
            (97, without(lines[97], "toolName"), "toolName is missing"),
        ],
    )


def write_reviews(folder: Folder, reviews: Reviews) -> None:
    """Write the feedback export, the regression cases and the tracked proposals, newest first."""
    lines = []
    for label in sorted(reviews.labels, key=lambda label: (-label.at, -label.id)):
        lines.append(folder.names.line(feedback_record(label)))
        folder.truth.label(label)
    wrong = json.loads(lines[33])
    wrong |= {"id": wrong["id"] + 9_000, "label": 7}
    folder.lines(
        "exports/tool-call-feedback.jsonl",
        lines,
        [
            (21, without(lines[21], "conversationId"), "conversationId is missing"),
            (34, folder.names.line(wrong), "label is a number"),
        ],
    )
    lines = []
    for case in cases(reviews):
        lines.append(folder.names.line(case))
        folder.truth.status("cases", case)
    folder.lines("exports/tool-call-regression-cases.jsonl", lines)
    tracked = proposals(reviews)
    for proposal in tracked:
        folder.truth.status("proposals", proposal)
    folder.write("exports/improvement-proposals.json", folder.names.line({"items": tracked}, indent=1) + "\n")


def write_chat(folder: Folder, concierge: Concierge, reviews: ChatReviews) -> None:
    """Write the chat logs, oldest first, and what people made of them: labels and cases, as a journal."""
    lines = []
    for chat in concierge.chats:
        record = concierge.record(chat)
        lines.append(folder.names.line(record))
        folder.truth.chat(chat, [json.dumps(tool, sort_keys=True) for tool in record["tools"]])
    folder.lines("exports/web-chat.jsonl", lines, [(44, cut(lines[44]), "cut in the middle")])
    lines = []
    for line in reviews.lines:
        lines.append(folder.names.line(line))
        folder.truth.journal_line(line)
    folder.lines("journal/labels.jsonl", lines)
    lines = []
    for line in frozen_cases(folder.truth.seed, concierge, reviews.lines):
        lines.append(folder.names.line(line))
        folder.truth.status("frozen_cases", line["record"])
    folder.lines("journal/cases.jsonl", lines)


def write_people(folder: Folder) -> None:
    """Write what the reviewers are called, by the id that each of the two systems has for them."""
    ids = [(str(number), NAMES[number]) for number in REVIEWERS]
    ids += [(f'"{address}"', NAMES[number]) for number, address in REVIEWERS.items()]
    folder.write("people.toml", "[people]\n" + "".join(f'{key} = "{name}"\n' for key, name in ids))


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Write the demo story: four weeks of exports, and what is true in them."
    )
    parser.add_argument(
        "dir",
        nargs="?",
        type=Path,
        metavar="DIR",
        default=Path(__file__).parent,
        help="where to write (default: beside this script)",
    )
    parser.add_argument(
        "--seed", type=int, default=TRACKED_SEED, help=f"another month (default {TRACKED_SEED})"
    )
    parser.add_argument("--shuffle-names", action="store_true", help="call the tools by neutral names")
    parser.add_argument("--no-plot", action="store_true", help="the same people in a month without a plot")
    asked = parser.parse_args()
    truth = write_story(asked.dir, asked.seed, plot=not asked.no_plot, shuffle_names=asked.shuffle_names)
    print(
        f"{truth['exchange']['calls']} calls, {truth['labels']['rows']} labels and "
        f"{truth['chat']['conversations']} chats written to {asked.dir}"
    )


if __name__ == "__main__":
    main()
