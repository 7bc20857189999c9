"""Rule instances as Arrow columns of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.dictionary import Dictionary
from tidelog.explain.explained_version import HeadRule
from tidelog.kernel.join import Bindings
from tidelog.kernel.rows import Ints
from tidelog.model.terms import TRIPLE, Term
from tidelog.rules.printer import format_predicate, format_term
from tidelog.rules.syntax import Atom, Variable

_BLOCK = 1 << 17  # rows of one chunk; keeps the 32-bit offsets of a text column in range
_NAME = r"^<([\pL_][\pL\pN_-]*)>$"
_NOT_NAMES = ("<true>", "<false>", "<_>")


@dataclass(frozen=True)
class InstanceShape:
    """What all rows of one rule and head, or of one explicit predicate, have in common. It can be pickled."""

    kind: str
    head: Atom
    body: tuple[Atom, ...] = ()
    number: int | None = None
    name: str | None = None

    @classmethod
    def of(cls, head_rule: HeadRule) -> InstanceShape:
        rule = head_rule.rule
        kind = "axiom" if not rule.body else "rule" if rule.aggregate is None else "aggregate"
        return cls(kind, head_rule.head, rule.atoms, head_rule.numbered.number, rule.name)


@dataclass(frozen=True)
class InstanceTable:
    """Instances of one rule and head, or explicit facts of one predicate."""

    shape: InstanceShape
    bindings: Bindings

    @property
    def length(self) -> int:
        return self.bindings.length


@lru_cache(maxsize=1)
def schema() -> pa.Schema:
    fields = [("fact", pa.string()), ("kind", pa.string()), ("rule", pa.int32()), ("name", pa.string())]
    return pa.schema([*fields, ("body", pa.list_(pa.string()))])


def table_of(dictionary: Dictionary, parts: Iterable[InstanceTable]) -> pa.Table:
    """The rows of these parts as one table."""
    found = list(blocks(dictionary, parts))
    return pa.concat_tables(found) if found else schema().empty_table()


def blocks(dictionary: Dictionary, parts: Iterable[InstanceTable]) -> Iterator[pa.Table]:
    """Yield the rows of these parts in chunks. No chunk is empty: Spark takes an empty one for the end."""
    for part in parts:
        for start, stop in pairwise([*range(0, part.length, _BLOCK), part.length]):
            yield _block(dictionary, part, start, stop)


def _block(dictionary: Dictionary, part: InstanceTable, start: int, stop: int) -> pa.Table:
    count = stop - start
    texts = _AtomTexts(dictionary, {v: c[start:stop] for v, c in part.bindings.columns.items()}, count)
    shape = part.shape
    columns = [
        texts.atom(shape.head),
        pa.repeat(pa.scalar(shape.kind, pa.string()), count),
        pa.repeat(pa.scalar(shape.number, pa.int32()), count),
        pa.repeat(pa.scalar(shape.name, pa.string()), count),
        _lists([texts.atom(atom) for atom in shape.body], count),
    ]
    return pa.table(columns, schema=schema())


def _lists(columns: list[pa.Array], count: int) -> pa.ListArray:
    """The columns side by side, as one column of lists."""
    width = len(columns)
    offsets = pa.array(np.arange(count + 1, dtype=np.int32) * width)
    if not width:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    together = pa.concat_arrays(columns)
    if width > 1:
        together = together.take(pa.array(np.arange(width * count).reshape(width, count).T.ravel()))
    return pa.ListArray.from_arrays(offsets, together)


class _AtomTexts:
    """The texts of atoms under the given bindings."""

    def __init__(self, dictionary: Dictionary, columns: dict[object, Ints], count: int) -> None:
        self.dictionary, self.columns, self.count = dictionary, columns, count
        self._made: dict[object, pa.Array] = {}

    def atom(self, atom: Atom) -> pa.Array:
        args = [self._arg(a) for a in atom.args]
        is_triple = atom.predicate == TRIPLE and len(args) == 3
        start, end = ("[", "]") if is_triple else (f"{format_predicate(atom.predicate)}(", ")")
        if not args:
            return pa.repeat(pa.scalar(start + end, pa.string()), self.count)
        first, *rest = args
        pieces = [pa.scalar(start), first, *(p for arg in rest for p in (pa.scalar(", "), arg)), pa.scalar(end)]
        joined = pc.binary_join_element_wise(*pieces, "")
        return joined if isinstance(joined, pa.Array) else pa.repeat(joined, self.count)

    def _arg(self, arg: object) -> pa.Array | pa.StringScalar:
        if not isinstance(arg, Variable):
            return _readable(pa.array([str(arg)]))[0]
        if arg not in self._made:
            self._made[arg] = self._column(self.columns[arg])
        return self._made[arg]

    def _column(self, ids: Ints) -> pa.Array:
        distinct, inverse = np.unique(ids, return_inverse=True)
        return _readable(self.dictionary.decode_array(distinct)).take(pa.array(inverse))


def _readable(terms: pa.Array) -> pa.Array:
    """Terms in rule syntax: names and numbers bare, IRIs in brackets."""
    texts = terms.cast(pa.string())
    is_iri = pc.and_(pc.starts_with(texts, "<"), pc.match_substring(texts, ":"))
    if pc.all(is_iri).as_py():
        return texts
    others = pc.invert(is_iri)
    return pc.replace_with_mask(texts, others, _bare(texts.filter(others)))


def _bare(texts: pa.Array) -> pa.Array:
    """Rule syntax for terms that are not IRIs: names, literals and blank nodes."""
    view = pc.replace_substring_regex(texts, _NAME, r"\1")
    texts = pc.if_else(pc.is_in(texts, pa.array(_NOT_NAMES)), texts, view)
    typed = pc.and_(pc.starts_with(texts, '"'), pc.ends_with(texts, ">"))
    plain = pa.array([format_term(Term(t)) for t in texts.filter(typed).to_pylist()], pa.string())
    return pc.replace_with_mask(texts, typed, plain)
