"""Aggregate rules as users write them, with several heads and with aggregates inside of expressions.

    d(?z), r(?x, #sum(?y) * 2) :- s(?x, ?y, ?z) .

This is three rules. The facts of the auxiliary predicate `<urn:tidelog:aggregate:…>` are the groups and their sums:

    d(?z) :- s(?x, ?y, ?z) .
    <urn:tidelog:aggregate:…>(?x, #sum(?y)) :- s(?x, ?y, ?z) .
    r(?x, ?_1 * 2) :- <urn:tidelog:aggregate:…>(?x, ?_1) .

The values of the other arguments, and of the other variables in the expression, define the groups. The name of the
auxiliary predicate is a digest of the rule, so equal rules have equal names and a rule can be removed by its text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from tidelog.model.terms import AGGREGATE_RULE
from tidelog.rules.analysis.normalise import AGGREGATE_VALUE, RawAggregate, RawAtom, RawLiteral, replace_in_expression
from tidelog.rules.syntax import Atom, Call, Expression, Rule, Variable, expression_variables

MakeRule = Callable[[Sequence[RawAtom], Sequence[RawLiteral]], Rule]


def aggregate_rules(
    heads: Sequence[RawAtom], body: Sequence[RawLiteral], fresh: Iterator[Variable], make: MakeRule
) -> list[Rule]:
    """The rules of a rule as written. `make` makes one rule; `fresh` gives new variables."""
    aggregating = [head for head in heads if any(isinstance(a, RawAggregate) for a in head.args)]
    plain = [head for head in heads if head not in aggregating]
    rules = [make(plain, body)] if plain or not heads else []
    for head in aggregating:
        rules += _one_head(head, body, fresh, make)
    return rules


def _one_head(head: RawAtom, body: Sequence[RawLiteral], fresh: Iterator[Variable], make: MakeRule) -> list[Rule]:
    aggregates = [a for a in head.args if isinstance(a, RawAggregate)]
    found = aggregates[0]
    if len(aggregates) > 1 or found.within is None:
        return [make([head], body)]
    written = [a for a in head.args if not isinstance(a, RawAggregate)]
    read = [next(fresh) if isinstance(a, Call) else a for a in written]
    value = next(fresh)
    within = replace_in_expression(found.within, {AGGREGATE_VALUE: value})
    more = [v for v in dict.fromkeys(expression_variables(within)) if v != value and v not in read]
    groups = make([RawAtom("", (*written, *more, replace(found, within=None)))], body)
    rest: Iterator[Expression] = iter(read)
    args = tuple(within if isinstance(a, RawAggregate) else next(rest) for a in head.args)
    result = make([RawAtom(head.predicate, args)], [RawAtom("", (*read, *more, value))])
    digest = blake2b(f"{groups.key}{result.key}".encode(), digest_size=6).hexdigest()
    name = f"{AGGREGATE_RULE}{digest}"
    (auxiliary,) = groups.heads
    return [
        replace(groups, heads=(Atom(name, auxiliary.args),)),
        replace(result, body=tuple(Atom(name, b.args) if b in result.atoms else b for b in result.body)),
    ]
