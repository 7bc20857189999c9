"""One atom of a body as the engine sees it: constants as ids, and the tables it reads.

A triple whose predicate is a variable is matched predicate by predicate: those the bindings name when the variable is
bound (by a schema atom, usually), else all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.local.relations import WHOLE
from tidelog.kernel.bindings import UNIT, Bindings
from tidelog.kernel.join import Probe, count, probe
from tidelog.kernel.rows import Ints
from tidelog.kernel.table import Table
from tidelog.model.vocabulary import TRIPLE
from tidelog.rules.syntax import Assignment, Condition, Variable, expression_variables

Argument = Variable | int


@dataclass(frozen=True)
class Pattern:
    """A positive or negated atom with its constants as ids, and the facts it reads."""

    predicate: str
    args: tuple[Argument, ...]
    source: LocalFacts
    negated: bool = False
    weights: Ints | None = None  # how many matches each row stands for, in the order of the table's only run

    def table(self) -> Table | None:
        """The table it reads, unless that depends on the bindings."""
        if self.predicate != TRIPLE:
            return self.source.table((self.predicate, WHOLE))
        name = self.args[1]
        return self.source.table((TRIPLE, name)) if isinstance(name, int) else None

    def variables(self) -> frozenset[Variable]:
        return self._variables

    @cached_property
    def _variables(self) -> frozenset[Variable]:
        return frozenset(a for a in self.args if isinstance(a, Variable))

    def parts(self, bindings: Bindings) -> Iterator[tuple[Table, tuple[Argument, ...], Bindings]]:
        """The tables to look in, with the columns of each and the bindings that belong there."""
        if self.predicate != TRIPLE:
            table = self.table()
            yield from [(table, self.args, bindings)] if table else []
            return
        subject, predicate, object_ = self.args
        ends = (subject, object_)
        if isinstance(predicate, int):
            table = self.table()
            yield from [(table, ends, bindings)] if table else []
        elif predicate in bindings.columns:
            for name, part in bindings.split_by(predicate):
                if table := self.source.table((TRIPLE, name)):
                    yield table, ends, part
        else:
            for name, table in self.source.triple_tables.items():
                yield table, ends, bindings.with_column(predicate, name)

    def probes(self, bindings: Bindings) -> Iterator[Probe]:
        return (probe(part, table, args) for table, args, part in self.parts(bindings))

    def count(self, bindings: Bindings) -> int:
        """How many rows matching it for these bindings will look at."""
        if bindings is UNIT and self.is_spread(()) and self.args[0] != self.args[2] and not self._has_constant():
            return self.source.triples
        if bindings is UNIT and not self.is_spread(()):
            return sum(count(table, args) for table, args, _ in self.parts(UNIT))
        return sum(found.total for found in self.probes(bindings))

    def is_spread(self, bound: Collection[object]) -> bool:
        """Whether it is a triple that may have any predicate, given these variables."""
        return self.predicate == TRIPLE and isinstance(self.args[1], Variable) and self.args[1] not in bound

    def _has_constant(self) -> bool:
        return any(isinstance(a, int) for a in self.args)


Step = Pattern | Condition | Assignment


def needs(step: Step) -> frozenset[Variable]:
    """The variables a step mentions."""
    if isinstance(step, Pattern):
        return step.variables()
    mentioned = frozenset(expression_variables(step.expression))
    return mentioned | {step.variable} if isinstance(step, Assignment) else mentioned
