"""Bags of rows compared: up to the names of blank nodes, and up to how a number is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation

from tidelog.model.terms import DECIMAL, DOUBLE, FLOAT, INTEGER, Term, double_text, is_blank, literal, split_literal

Cell = Term | None
Row = tuple[Cell, ...]


def same(left: Iterable[Row], right: Iterable[Row], *, ordered: bool = False) -> bool:
    """Whether some renaming of blank nodes makes the rows of one those of the other."""
    first, second = (list(map(_by_value, rows)) for rows in (left, right))
    if ordered:
        first, second = ([(Term(f"<{i}>"), *row) for i, row in enumerate(rows)] for rows in (first, second))
    return len(first) == len(second) and _isomorphic(_named(first), _named(second), {}, {})


def _named(rows: Sequence[Row]) -> list[Row]:
    """A blank node that occurs but once needs no name; there may be very many, all alike."""
    occurs = Counter(cell for row in rows for cell in row if cell is not None and is_blank(cell))
    once = dict.fromkeys((node for node, times in occurs.items() if times == 1), Term("[]"))
    return list(_renamed(rows, once))


def _by_value(row: Row) -> Row:
    return tuple(cell if cell is None else number_form(cell) for cell in row)


def number_form(term: Term) -> Term:
    """Numbers of one datatype and one value alike."""
    if term[0] != '"' or term[-1] != ">":
        return term
    text, datatype, _ = split_literal(term)
    with suppress(ValueError, InvalidOperation):
        if datatype == INTEGER:
            return literal(str(int(text)), datatype)
        if datatype == DECIMAL:
            return literal(str(Decimal(text).normalize() + 0), datatype)
        if datatype in (DOUBLE, FLOAT):
            return literal(double_text(float(text)), datatype)
    return term


def _isomorphic(first: Sequence[Row], second: Sequence[Row], there: dict[Term, Term], back: dict[Term, Term]) -> bool:
    """Give blank nodes that look alike the same names, one pair after the other, and go back where that ends."""
    colours, others = _colours(first, there), _colours(second, {b: b for b in back})
    if Counter(colours.values()) != Counter(others.values()):
        return False
    open_ = [node for node in colours if node not in there]
    if not open_:
        return Counter(_renamed(first, there)) == Counter(second)
    node = min(open_, key=lambda n: sum(colours[n] == c for c in others.values()))
    for other, colour in others.items():
        if (
            colour == colours[node]
            and other not in back
            and _isomorphic(first, second, there | {node: other}, back | {other: node})
        ):
            return True
    return False


def _renamed(rows: Iterable[Row], names: dict[Term, Term]) -> Iterable[Row]:
    return (tuple(cell if cell is None else names.get(cell, cell) for cell in row) for row in rows)


def _colours(rows: Sequence[Row], names: dict[Term, Term]) -> dict[Term, int]:
    """For each blank node what tells it from others: the rows it is in, and the colours of those beside it."""
    colours = {cell: hash(names.get(cell)) for row in rows for cell in row if cell is not None and is_blank(cell)}
    for _ in range(min(len(colours), 5)):
        seen: dict[Term, list[int]] = {node: [] for node in colours}
        for row in rows:
            shades = tuple(colours.get(cell, hash(cell)) if cell is not None else 0 for cell in row)
            for i, cell in enumerate(row):
                if cell in seen:
                    seen[cell].append(hash((i, shades)))
        colours = {node: hash((colours[node], *sorted(found))) for node, found in seen.items()}
    return colours
