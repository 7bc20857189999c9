"""The deliberate faults in rules, algebra, kernel and engines: what is planted where, and why it could happen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """In `module` (a path below the package) the text `old`, which occurs once, becomes `new`."""

    name: str
    why: str
    module: str
    old: str
    new: str


FAULTS = (
    Fault(
        "dropped pivot",
        "semi-naive tries only the first atom as the one that matches a new fact",
        "algebra/extended.py",
        "for i, atom in enumerate(rule.atoms)",
        "for i, atom in enumerate(rule.atoms[:1])",
    ),
    Fault(
        "pivot twice",
        "an instance with two new facts is considered once for each of them",
        "algebra/extended.py",
        "(*[before] * i, pivot,",
        "(*[behind] * i, pivot,",
    ),
    Fault(
        "stale delta",
        "what was new in the last round is not among what is known in the next",
        "algebra/fixpoint.py",
        "known, new = everything, derived - everything",
        "known, new = known, derived - everything",
    ),
    Fault(
        "missing deduplication",
        "equal rows stay in a run",
        "kernel/rows.py",
        "return rows if keep.all() else rows[:, keep]",
        "return rows",
    ),
    Fault(
        "later words ignored",
        "rows wider than a word count as equal when their first words are",
        "kernel/rows.py",
        "keep[1:] |= word[1:] != word[:-1]",
        "keep[1:] |= False",
    ),
    Fault(
        "off by one in a wide search",
        "binary search among rows wider than a word ends after an equal row",
        "kernel/rows.py",
        'value < keys if side == "left" else value <= keys',
        "value <= keys",
    ),
    Fault(
        "order of the probes lost",
        "keys are sorted before a search but the answers are not put back",
        "kernel/rows.py",
        "starts[order], ends[order] = ",
        "starts[:], ends[:] = ",
    ),
    Fault(
        "wrong column order",
        "another order of a run is packed like the natural one",
        "kernel/run.py",
        "[self.layout.unpack(natural, c) for c in order]",
        "[self.layout.unpack(natural, c) for c in self.natural]",
    ),
    Fault(
        "off by one in a range",
        "the upper end of a range is its last row, not the place after it",
        "kernel/rows.py",
        'return _search(rows, low, "left"), _search(rows, high, "right")',
        'return _search(rows, low, "left"), _search(rows, high, "right") - 1',
    ),
    Fault(
        "id too large for the layout",
        "a term newer than a tightly packed run is looked up in it by its lower bits",
        "kernel/run.py",
        "return found if absent is None else found & ~absent",
        "return found",
    ),
    Fault(
        "forgotten tombstone",
        "removed rows are back when a table is made flat",
        "kernel/table.py",
        "return run if self.dead is None else run.keep(~self.dead.contains_run(run))",
        "return run",
    ),
    Fault(
        "revived row stays dead",
        "a row that was removed and added again is not live",
        "kernel/table.py",
        "dead = dead.minus(Table((added.keep(revived),)))",
        "dead = dead",
    ),
    Fault(
        "older tombstones lost",
        "a second removal forgets the first",
        "kernel/table.py",
        "dead = Table((gone,)) if self.dead is None else self.dead.plus(Table((gone,)))",
        "dead = Table((gone,))",
    ),
    Fault(
        "stale overlay",
        "rows that are there already are added once more, as another run",
        "kernel/table.py",
        "added = added.keep(~self.contains_run(added))",
        "added = added",
    ),
    Fault(
        "run lost in a merge",
        "when runs are merged only the newest survives",
        "kernel/table.py",
        "return (*runs[:start], merge(runs[start:]))",
        "return (*runs[:start], runs[-1])",
    ),
    Fault(
        "join sees removed rows",
        "matches are not checked against the tombstones",
        "kernel/join.py",
        "which, rows = which[alive], rows[:, alive]",
        "which, rows = which[:], rows[:, :]",
    ),
    Fault(
        "repeated variable not checked",
        "`p(?x, ?x)` matches every row of p",
        "kernel/join.py",
        "if before != position:",
        "if False:",
    ),
    Fault(
        "last match of a block lost",
        "a block of a cut join ends one match early",
        "kernel/join.py",
        "yield self._gather_between(reach, ends, start, min(start + size, int(ends[-1])))",
        "yield self._gather_between(reach, ends, start, min(start + size - 1, int(ends[-1])))",
    ),
    Fault(
        "block of the wrong bindings",
        "the second block of a cut join is put beside the bindings of the first",
        "kernel/join.py",
        "which += offset",
        "which += 0",
    ),
    Fault(
        "existential negation by count",
        "`~p(?e, ?e)` is false as soon as p has any row",
        "kernel/join.py",
        "if self.table.dead is None and not _repeats(self._free_args()):",
        "if self.table.dead is None:",
    ),
    Fault(
        "weights forgotten",
        "rows folded into one count as one match",
        "kernel/bindings.py",
        "return Bindings({k: c[first] for k, c in self.columns.items()}, len(first), weight)",
        "return Bindings({k: c[first] for k, c in self.columns.items()}, len(first))",
    ),
    Fault(
        "negation too early",
        "a negated atom is looked at before its variables are bound",
        "engines/local/plan.py",
        "return all(v in bound for v in step.variables() & elsewhere)",
        "return True",
    ),
    Fault(
        "negation by part",
        "with a variable predicate only the last relation looked at counts",
        "engines/local/solve.py",
        "matched[found.bindings.columns[rowid][mask]] = True",
        "matched[found.bindings.columns[rowid]] = mask",
    ),
    Fault(
        "aggregate over repeated tuples",
        "tuples that occur in two blocks are counted twice",
        "engines/local/heads.py",
        "return {v: c[first] for v, c in zip(variables, together, strict=True)}",
        "return dict(zip(variables, together, strict=True))",
    ),
    Fault(
        "value overlooked",
        "a rule is skipped because the constant of its pivot is looked for in the wrong column",
        "engines/local/fact_set.py",
        "for column, arg in enumerate((subject, object_))",
        "for column, arg in enumerate((object_, subject))",
    ),
    Fault(
        "constants of one rule for all",
        "rules of one shape run as one, with the constants of the first",
        "engines/local/families.py",
        "self._table(tuple(group))",
        "self._table(tuple(group)[:1])",
    ),
    Fault(
        "window one short",
        "the last candidate of a window is looked at by nobody",
        "kernel/join.py",
        "last = reach.counts if stop is None else np.clip(stop - before, 0, reach.counts)",
        "last = reach.counts if stop is None else np.clip(stop - 1 - before, 0, reach.counts)",
    ),
    Fault(
        "window of few one short",
        "the same where few facts are looked up",
        "kernel/lookup.py",
        "last = counts if stop is None else np.minimum(np.maximum(stop - before, 0), counts)",
        "last = counts if stop is None else np.minimum(np.maximum(stop - 1 - before, 0), counts)",
    ),
    Fault(
        "lookup of what is gone",
        "rows that were taken from a set are still found in its tables",
        "kernel/lookup.py",
        "gone = is_among(self.dead, rows)",
        "gone = is_among(self.dead[:0], rows)",
    ),
    Fault(
        "row met twice",
        "a fact that was added to a set which had it already is looked up twice",
        "kernel/lookup.py",
        "added = self.plus[~self._kept(self.plus)] if len(self.plus) else self.plus",
        "added = self.plus",
    ),
    Fault(
        "proved by a dead fact",
        "a rule of more atoms is matched without the atoms that it binds completely",
        "engines/local/small_joins.py",
        "return self if found.all() else self.take(found.nonzero()[0])",
        "return self",
    ),
    Fault(
        "wrong side of the pivot",
        "atoms before the pivot read what those behind it read, so an instance is found twice",
        "engines/local/few.py",
        "[before if i < shape.position else behind for i in range(len(shape.body))]",
        "[behind for i in range(len(shape.body))]",
    ),
    Fault(
        "stale static join",
        "a join of complete relations is kept although one of them has changed",
        "engines/local/static.py",
        "if known is None or any(a() is not b() for a, b in zip(known.tables, tables, strict=True)):",
        "if known is None:",
    ),
    Fault(
        "static join without weights",
        "each row of a kept join counts as one match",
        "engines/local/static.py",
        "return replace(pattern, weights=rows.weight[order])",
        "return pattern",
    ),
    Fault(
        "bindings joined twice",
        "bindings that went on with another atom go on with the first one too",
        "engines/local/solve.py",
        "bindings = bindings.take(~fewer)",
        "bindings = bindings.take(fewer | ~fewer)",
    ),
    Fault(
        "first atom forgotten",
        "bindings that go on with another atom never meet the first one",
        "engines/local/solve.py",
        "yield from self._extend(other, bindings.take(fewer), [s for s in steps if s is not other])",
        "yield from self._extend(other, bindings.take(fewer), [s for s in rest if s is not other])",
    ),
    Fault(
        "only what the data name",
        "what classes say of values without a name is forgotten",
        "owl/bodies.py",
        "[*self._some(expression, x, fresh), *self._known(expression, x)]",
        "self._some(expression, x, fresh)",
    ),
    Fault(
        "allValuesFrom the wrong way round",
        "a restriction to all values is ordered like one to some value",
        "owl/known.py",
        "self._wider if kind is Some else self._narrower",
        "self._wider",
    ),
    Fault(
        "a union without rules",
        "the predicate of a union among many is used and never defined",
        "owl/bodies.py",
        "self.defined |= dict.fromkeys",
        "dict.fromkeys",
    ),
    Fault(
        "literals made the same",
        "a property with at most one value makes its literals equal",
        "owl/heads.py",
        "resources = () if individuals else (_literal(y, False), _literal(z, False))",
        "resources = ()",
    ),
    Fault(
        "windows by company",
        "which rules a rule is united with, and so where its windows are, depends on the guards",
        "engines/local/engine.py",
        "united_as_ever(others, left, lambda",
        "united_as_ever(others, others, lambda",
    ),
)
