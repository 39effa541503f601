"""What reviewers write, grouped by theme: notes that share their telling words. Needs the extra `themes`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from quality_lab.answers import Answer
from quality_lab.errors import UsageError
from quality_lab.labels import FIVE
from quality_lab.metrics.asking import Asks, together
from quality_lab.metrics.filters import EVERYTHING, Filters
from quality_lab.metrics.noted_labels import NotedLabel, noted_labels
from quality_lab.metrics.undated import undated_notes

HOW_TO_GET = "pip install 'quality-lab[themes]'"
ALONE = "notes of their own"  # what the row of those is called that share no theme
MOST_NOTES = 2000  # different notes of one label, the newest; every two of them are compared
_FARTHEST = 0.9  # cosine distance, on average, of what is still one theme
_TERMS = 3
_EXAMPLES = 3
_WORD = r"(?u)\b[^\W\d_]\w+\b"  # begins with a letter: amounts and ids are no theme


@dataclass(frozen=True, kw_only=True, slots=True)
class ThemeNote:
    """A note as an example of its theme."""

    call_uid: str
    tool_name: str | None
    note: str
    reviewer: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Theme:
    """Notes beside one label that speak of the same thing."""

    label: str
    theme: str = field(metadata={"help": "the words that tell these notes from the others of the label"})
    calls: int = field(metadata={"help": "calls with such a note"})
    noted_calls: int = field(metadata={"help": "all calls with this label and a note"})
    notes: tuple[str, ...] = field(metadata={"help": "up to three different notes, the newest first"})
    conversations: int
    tools: tuple[str, ...] = field(metadata={"help": "tools that were called, most calls first"})
    last_at: datetime | None = field(metadata={"help": "time of the newest such label"})
    terms: tuple[str, ...] = field(metadata={"compact": False})
    examples: tuple[ThemeNote, ...] = field(
        metadata={"compact": False, "help": "the same notes with their calls"}
    )


def themes(store: Asks, *, filters: Filters = EVERYTHING, top: int | None = None) -> Answer[Theme]:
    """Return the themes of the notes beside each label, by calls, most first; after them, the notes without one.

    Notes are compared by their words alone, offline: TF-IDF without numbers and without English stop words,
    clustered by cosine distance (average linkage). Two notes that share no telling word are of two themes,
    whatever they mean. The same notes give the same themes. The filters say of which tool, source and label.

    Raises:
        UsageError: scikit-learn is not installed; the text says how to get it.
    """
    _sklearn()
    with together(store):
        rows = noted_labels(store, filters=filters)
        notes = undated_notes(store, filters, time="label")
    found: list[Theme] = []
    for label in FIVE:
        of_label = [row for row in rows if row.label == label]
        noted_calls = len({row.call_uid for row in of_label})
        different = list(dict.fromkeys(_plain(row.note) for row in of_label))
        if len(different) > MOST_NOTES:
            notes.append(
                f"too_many: of {len(different)} notes beside {label} the newest {MOST_NOTES} were grouped"
            )
            kept = set(different[:MOST_NOTES])
            of_label = [row for row in of_label if _plain(row.note) in kept]
        found += _themes(label, of_label, noted_calls)
    if not rows:
        notes.append("no label that was asked for has a note")
    found.sort(key=lambda row: (not row.terms, -row.calls, FIVE.index(row.label), row.theme))
    shown = found if top is None else found[:top]
    return Answer(shown, Theme, title="Themes of notes", notes=notes, more=len(found) - len(shown))


def _themes(label: str, rows: Sequence[NotedLabel], noted_calls: int) -> Iterator[Theme]:
    by_note: dict[str, list[NotedLabel]] = defaultdict(list)
    for row in rows:
        by_note[_plain(row.note)].append(row)
    alone: list[NotedLabel] = []
    for terms, notes in _clusters(sorted(by_note)):
        members = [row for note in notes for row in by_note[note]]
        if terms and len({row.call_uid for row in members}) > 1:
            yield _theme(label, terms, members, noted_calls)
        else:
            alone += members
    if alone:
        yield _theme(label, (), alone, noted_calls)


def _theme(label: str, terms: tuple[str, ...], rows: Sequence[NotedLabel], noted_calls: int) -> Theme:
    newest = sorted(
        rows, key=lambda row: (row.created_at is not None, row.created_at, row.call_uid), reverse=True
    )
    different = list({_plain(row.note): row for row in reversed(newest)}.values())[::-1][:_EXAMPLES]
    tools = Counter(row.tool_name for row in {row.call_uid: row for row in newest}.values() if row.tool_name)
    return Theme(
        label=label,
        theme=", ".join(terms) or ALONE,
        calls=len({row.call_uid for row in rows}),
        noted_calls=noted_calls,
        conversations=len({row.conversation_uid for row in rows}),
        tools=tuple(sorted(tools, key=lambda name: (-tools[name], name))),
        last_at=max((row.created_at for row in rows if row.created_at), default=None),
        terms=terms,
        examples=tuple(
            ThemeNote(call_uid=row.call_uid, tool_name=row.tool_name, note=row.note, reviewer=row.reviewer)
            for row in different
        ),
        notes=tuple(row.note for row in different),
    )


def _clusters(notes: Sequence[str]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Yield the clusters of different *notes*, each with the words that tell it from the others; () for none."""
    vectors, cluster = _sklearn()
    try:
        words = vectors(stop_words="english", strip_accents="unicode", sublinear_tf=True, token_pattern=_WORD)
        weights = words.fit_transform(notes).toarray()
    except ValueError:  # none of the notes holds a telling word
        yield (), list(notes)
        return
    telling = weights.any(axis=1)
    silent = [note for note, tells in zip(notes, telling, strict=True) if not tells]
    if silent:
        yield (), silent
    spoken = [note for note, tells in zip(notes, telling, strict=True) if tells]
    weights = weights[telling]
    if len(spoken) == 1:
        members = [0]
    else:
        settings = {"n_clusters": None, "metric": "cosine", "linkage": "average"}
        members = cluster(distance_threshold=_FARTHEST, **settings).fit_predict(weights).tolist()
    names = words.get_feature_names_out()
    places: dict[int, list[int]] = defaultdict(list)
    for place, member in enumerate(members):
        places[member].append(place)
    total = weights.sum(axis=0)
    for inside in places.values():
        own = weights[inside].sum(axis=0)
        others = max(1, len(spoken) - len(inside))
        stand_out = {  # how much more a word weighs in a note of these than in one of the others
            str(names[word]): round(float(own[word] / len(inside) - (total[word] - own[word]) / others), 9)
            for word in own.nonzero()[0]
        }
        ranked = sorted(stand_out, key=lambda word: (-stand_out[word], word))
        yield (
            tuple(word for word in ranked[:_TERMS] if stand_out[word] > 0),
            [spoken[place] for place in inside],
        )


def _plain(note: str) -> str:
    return " ".join(note.casefold().split())


def _sklearn() -> tuple[type, type]:
    """Return what makes vectors of texts, and what clusters them. Raises UsageError where there is neither."""
    try:
        from sklearn.cluster import AgglomerativeClustering  # an optional package
        from sklearn.feature_extraction.text import TfidfVectorizer
    except ImportError:
        raise UsageError(f"themes need scikit-learn: {HOW_TO_GET}") from None
    return TfidfVectorizer, AgglomerativeClustering
