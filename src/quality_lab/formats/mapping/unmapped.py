"""The fields of a record that no rule of its map names, so that they can be counted and told."""

from __future__ import annotations

from collections.abc import Iterable

from quality_lab.formats.mapping.paths import EACH, Node, Step, written_path

_LEAF = ""  # in the tree of paths: a path ends here, and everything below belongs to it
Tree = dict[Step, "Tree"]


def tree_of_paths(paths: Iterable[tuple[Step, ...]]) -> Tree:
    """Return the *paths* as a tree; an index stands for every element, as EACH does."""
    top: Tree = {}
    for steps in paths:
        node = top
        for step in steps:
            node = node.setdefault(EACH if isinstance(step, int) else step, {})
        node[_LEAF] = {}
    return top


def unmapped(record: Node, tree: Tree) -> list[str]:
    """Return the path of each field of *record* that no path in *tree* names."""
    found: list[str] = []
    if _LEAF not in tree:
        _add_unmapped(record, tree, (), found)
    return found


def _add_unmapped(node: Node, tree: Tree, above: tuple[str, ...], found: list[str]) -> None:
    for name in node.pieces:
        known = tree.get(name) if name != _LEAF else None
        if known is None:
            found.append(written_path(*above, name))
        elif _LEAF not in known and (below := node.member(name)) is not None:
            _add_unmapped(below, known, (*above, name), found)
    inside = tree.get(EACH)
    if inside is not None and _LEAF not in inside:
        for below in node.elements:
            _add_unmapped(below, inside, (*above, "[]"), found)
