"""Write upstream-like exports of any size: traces as lines, and labels for a tenth of them.

    python benchmarks/make_lines.py --calls 1000000 --bad 0.001 DIR

gives DIR/traces.jsonl, DIR/traces-clean.jsonl (the same without the bad lines), DIR/feedback.jsonl and, as
the last
line of standard output, how many bad lines there are. A line of traces has about 885 bytes. The same seed
gives the
same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from itertools import product
from pathlib import Path
from typing import TextIO

TOOLS = (
    "compute_exchange_quote",
    "check_exchange_verification",
    "create_exchange_order",
    "fetch_exchange_requisites",
    "verify_exchange_payment",
    "issue_exchange_payout",
    "get_exchange_business_info",
    "offer_booking_link",
)
LABELS = ("good_reply", "wrong_tool", "missing_tool", "bad_args", "other")
START = 1_777_852_800  # 4 May 2026, in epoch seconds
WORDS = "quote rate baht transfer office payment receipt network wallet courier order status morning evening now again"
PAIRS = [" ".join(pair) for pair in product(WORDS.split(), repeat=2)]  # one for each byte there is
TOOL_OF = [
    TOOLS[min(place * place // 8192, len(TOOLS) - 1)] for place in range(256)
]  # the first ones more often
AT_ONCE = 1_000  # lines that are written together


def words(chance: random.Random, pairs: int) -> str:
    """Return *pairs* times two words, drawn anew each time."""
    return " ".join([PAIRS[byte] for byte in chance.randbytes(pairs)])


def call(number: int, chance: random.Random) -> tuple[str, int]:
    """Return the fields of a call that traces and feedback share, and its time."""
    draw = chance.random()
    text = words(chance, 22)
    if draw < 0.02:
        result = f'{{"error":"no rate for network {number % 7}"}}'
    elif draw < 0.06:
        result = f'{{"ok":false,"needsVerification":true,"status":"missing","instructions":"{text}"}}'
    elif draw < 0.08:
        result = "{}"
    else:
        result = (
            f'{{"direction":"USDT->THB","amountFrom":{chance.randrange(50, 20_000)},'
            f'"rate":{30 + chance.randrange(400) / 100},"display":"{text}","note":"{words(chance, 7)}"}}'
        )
    contact = number // 7 + 1 if number % 11 else "null"
    source, tool = "rag_reply" if number % 4 else "llm_reply", TOOL_OF[chance.randrange(256)]
    return (
        f'"conversationId":{number // 5 + 1},"contactId":{contact},"messageId":null,"outboundQueueId":null,'
        f'"source":"{source}","toolName":"{tool}",'
        f'"args":{{"asset":"USDT","amount":{chance.randrange(50, 20_000)},"amountMode":"target_thb",'
        f'"why":"{words(chance, 8)}"}},"result":{result},"error":{"true" if draw > 0.99 else "false"},'
        f'"cycle":{number % 3},"toolCallIndex":{number % 5},"latencyMs":null',
        START + number * 2,
    )


def label(number: int, fields: str, created: int, chance: random.Random) -> str:
    """Return a feedback line on a call, in upstream's flat form."""
    return (
        f'{{"id":{number // 10 + 1},"toolCallId":{number},"adminId":{chance.choice((3, 5, 8))},'
        f'"label":"{chance.choices(LABELS, (60, 12, 6, 18, 4))[0]}","note":"{words(chance, 4)}",'
        f'"feedbackCreatedAt":{created + 3600},{fields},"toolCallCreatedAt":{created}}}'
    )


def bad(number: int, line: str) -> str:
    """Return *line* spoilt in one of seven ways."""
    return (
        line[: len(line) // 2],
        "oops",
        line.replace('"toolName":"', '"toolName":7,"was":"', 1),
        line.replace('"conversationId":', '"conversation":', 1),
        line.replace('"cycle":', '"cycle":"no","was":', 1),
        line.replace('"createdAt":', '"createdAt":"then","was":', 1),
        "[" + line + "]",
    )[number % 7]


def write(every: TextIO, clean: TextIO, feedback: TextIO, *, calls: int, bad_share: float, seed: int) -> int:
    """Write the three files; return how many lines of the first were spoilt."""
    chance = random.Random(seed)
    spoilt = 0
    for first in range(1, calls + 1, AT_ONCE):
        lines, sound, labels = [], [], []
        for number in range(first, min(first + AT_ONCE, calls + 1)):
            fields, created = call(number, chance)
            line = f'{{"id":{number},{fields},"createdAt":{created}}}'
            if number % 10 == 1:
                labels.append(label(number, fields, created, chance))
            if chance.random() < bad_share:
                lines.append(bad(spoilt, line))
                spoilt += 1
            else:
                lines.append(line)
                sound.append(line)
        for file, some in ((every, lines), (clean, sound), (feedback, labels)):
            file.write("".join([line + "\n" for line in some]))
    return spoilt


def make(folder: Path, *, calls: int, bad_share: float = 0.001, seed: int = 1, clean: bool = True) -> int:
    """Write the files into *folder*, unless the very same were written there before; return how many lines are bad.

    Without *clean*, traces-clean.jsonl is left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    asked = {"calls": calls, "bad": bad_share, "seed": seed, "clean": clean}
    asked["generator"] = Path(__file__).read_text("utf-8")
    note = folder / "made.json"
    if note.exists() and (made := json.loads(note.read_text("utf-8")))["asked"] == asked:
        return int(made["spoilt"])
    note.unlink(missing_ok=True)
    with (
        (folder / "traces.jsonl").open("w", encoding="utf-8", newline="\n") as every,
        (folder / "traces-clean.jsonl" if clean else Path(os.devnull)).open(
            "w", encoding="utf-8", newline="\n"
        ) as sound,
        (folder / "feedback.jsonl").open("w", encoding="utf-8", newline="\n") as feedback,
    ):
        spoilt = write(every, sound, feedback, calls=calls, bad_share=bad_share, seed=seed)
    note.write_text(json.dumps({"asked": asked, "spoilt": spoilt}), "utf-8")
    return spoilt


def main() -> None:
    """Write the files that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--bad", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(make(asked.folder, calls=asked.calls, bad_share=asked.bad, seed=asked.seed))


if __name__ == "__main__":
    main()
