"""The fields of a record that no rule of its map names, so that they can be counted and told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def unmapped(record: Node, tree: Tree) -> Iterator[str]:
    """Yield the path of each field of *record* that no path in *tree* names."""
    yield from _unmapped(record, tree, ())


def _unmapped(node: Node, tree: Tree, above: tuple[str, ...]) -> Iterator[str]:
    if _LEAF in tree:
        return
    for name, below in node.members.items():
        known = tree.get(name) if name != _LEAF else None
        if known is None:
            yield written_path(*above, name)
        else:
            yield from _unmapped(below, known, (*above, name))
    if EACH in tree:
        for below in node.elements:
            yield from _unmapped(below, tree[EACH], (*above, "[]"))
