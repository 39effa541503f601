"""Pairing one to one: as many pairs as there can be, and among those the ones that cost least."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the ones in *mask*, lowest first.

    >>> list(bits(0b10110))
    [1, 2, 4]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class Matching:
    """Rows paired with columns one to one. A row that is added may move those before it, never drop one."""

    def __init__(self) -> None:
        self.masks: list[int] = []  # the columns that each row could have
        self.column_of: list[int] = []
        self.row_of: dict[int, int] = {}
        self._taken = 0

    def add(self, mask: int) -> bool:
        """Pair one more row, which could have the columns in *mask*; return False, and nothing changes, if
        there is no way.
        """
        row = len(self.masks)
        self.masks.append(mask)
        self.column_of.append(-1)
        if self._augment(row):
            return True
        self.masks.pop()
        self.column_of.pop()
        return False

    def _augment(self, row: int) -> bool:
        came_from: dict[int, int] = {}  # column: the row that reached it
        reached, waiting = 0, [row]
        while waiting:
            at = waiting.pop()
            new = self.masks[at] & ~reached
            free = new & ~self._taken
            if free:
                column = (free & -free).bit_length() - 1
                came_from[column] = at
                self._taken |= 1 << column
                while True:  # back along the path, each row takes the column by which it was left
                    owner = came_from[column]
                    before = self.column_of[owner]
                    self.column_of[owner], self.row_of[column] = column, owner
                    if owner == row:
                        return True
                    column = before
            reached |= new
            for column in bits(new):
                came_from[column] = at
                waiting.append(self.row_of[column])
        return False


def largest(masks: Sequence[int]) -> list[int]:
    """Return the column of each row in a pairing with as many pairs as there can be; -1 where it has none."""
    pairs, columns = Matching(), [-1] * len(masks)
    rows = [row for row, mask in enumerate(masks) if pairs.add(mask)]
    for at, row in enumerate(rows):
        columns[row] = pairs.column_of[at]
    return columns


def cheapest(costs: Sequence[Sequence[int]]) -> list[int]:
    """Return the column of each row in the pairing of least cost; there are no fewer columns than rows.

    The Hungarian method: prices on rows and columns, and pairs only where a price is met. It starts from the
    cheapest column of each row, so that little is left to do where rows do not compete.

    >>> cheapest([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
    [1, 0, 2]
    """
    if not costs:
        return []
    width = len(costs[0])
    row_price = [min(row) for row in costs]
    column_price = [0] * width
    column_of = largest(
        [
            sum([1 << at for at, cost in enumerate(row) if cost == least])
            for row, least in zip(costs, row_price, strict=True)
        ]
    )
    row_of = [-1] * width
    for row, column in enumerate(column_of):
        if column >= 0:
            row_of[column] = row
    for start, column in enumerate(column_of):
        if column < 0:
            _pay(start, costs, row_price, column_price, row_of)
    for column, row in enumerate(row_of):
        if row >= 0:
            column_of[row] = column
    return column_of


def _pay(
    start: int,
    costs: Sequence[Sequence[int]],
    row_price: list[int],
    column_price: list[int],
    row_of: list[int],
) -> None:
    """Pair the row *start* along the path whose prices rise least."""
    width = len(row_of)
    slack = [cost - row_price[start] - price for cost, price in zip(costs[start], column_price, strict=True)]
    reached_by = [start] * width
    open_columns = list(range(width))
    closed: list[int] = []
    rows = [start]
    while True:
        step = min(slack[column] for column in open_columns)
        if step:
            for row in rows:
                row_price[row] += step
            for column in closed:
                column_price[column] -= step
            for column in open_columns:
                slack[column] -= step
        ready = [column for column in open_columns if not slack[column]]
        free = next((column for column in ready if row_of[column] < 0), -1)
        if free >= 0:
            break
        open_columns = [column for column in open_columns if slack[column]]
        closed += ready
        for column in ready:
            row = row_of[column]
            rows.append(row)
            cost, price = costs[row], row_price[row]
            for other in open_columns:
                rest = cost[other] - price - column_price[other]
                if rest < slack[other]:
                    slack[other], reached_by[other] = rest, row
    column = free
    while True:
        row = reached_by[column]
        before = row_of.index(row) if row != start else -1
        row_of[column] = row
        if before < 0:
            return
        row_of[before] = -1
        column = before
