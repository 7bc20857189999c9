"""Lints: what is allowed in a program but is probably a mistake.

unknown relation     a body reads a relation that has no fact, no import and no rule
constant             `X` in a rule, where the variable `?X` is probably meant
never fires          a rule that has no match whatever the data are
unused relation      no rule reads it and nothing exports it, in a program with exports
duplicate            two rules are the same up to the names of their variables
singleton variable   it occurs once in its rule
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from tidelog.errors import Location, did_you_mean
from tidelog.model.terms import TRIPLE, Term, is_helper, plain
from tidelog.rules.expressions import holds
from tidelog.rules.printer import as_written, format_predicate, literal_as_written, variables_of
from tidelog.rules.syntax import Atom, Condition, Negation, Rule, RuleFile, Variable, all_atoms, expression_variables

_LIKE_A_VARIABLE = re.compile(r"[A-Z][0-9]*'?|[A-Z]\w{0,2}")
_SINGLE_LETTER = re.compile(r"[A-Z][0-9]*")


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A probable mistake. `kind` is the name of the lint, `rule` the rule it is about."""

    kind: str
    message: str
    location: Location | None = None
    rule: Rule | None = None

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        shown = f"\n    rule: {as_written(self.rule)}" if self.rule else ""
        return f"{place}{self.message}{shown}"


def lint(program: RuleFile, known: Collection[str] = ()) -> list[LintFinding]:
    """The probable mistakes of a program. `known` are relations that have facts outside of it.

    >>> from tidelog.rules.parsing.parser import parse_program
    >>> for finding in lint(parse_program("parent(ann, bob) . child(?y) :- parnet(?x, ?y) .")):
    ...     print(finding.kind, finding.message, sep=": ")
    unknown relation: no fact, import or rule gives `parnet`; did you mean parent?
    singleton variable: ?x occurs only once; write `_` for a value that does not matter
    """
    given = {f.predicate for f in program.facts} | {i.predicate for i in program.imports} | set(known)
    found = [
        *_unknown_relations(program, given),
        *likely_variables(program),
        *_never_firing(program, given),
        *_unused_relations(program),
        *_duplicates(program),
        *(finding for rule in program.rules for finding in _singletons(rule)),
    ]
    return sorted(found, key=lambda f: (f.location.file, f.location.line) if f.location else ("", 0))


def _finding(kind: str, message: str, rule: Rule) -> LintFinding:
    return LintFinding(kind, message, replace(rule.location, text="") if rule.location else None, rule)


def _shown(predicate: str) -> str:
    return f"`{format_predicate(predicate)}`"


def _unknown_relations(program: RuleFile, given: Collection[str]) -> Iterator[LintFinding]:
    """Relations without any source. A program of rules alone may get its facts elsewhere."""
    defined = {head.predicate for rule in program.rules for head in rule.heads} | set(given)
    seen: set[str] = set()
    for rule in program.rules:
        for atom in all_atoms(rule)[len(rule.heads) :]:
            if atom.predicate in defined or atom.predicate in seen or is_helper(atom.predicate):
                continue
            seen.add(atom.predicate)
            similar = did_you_mean(atom.predicate, sorted(defined))
            if similar or given:
                yield _finding(
                    "unknown relation", f"no fact, import or rule gives {_shown(atom.predicate)}{similar}", rule
                )


def likely_variables(program: RuleFile) -> Iterator[LintFinding]:
    """Constants such as `X` in rules. A constant that occurs in a fact is meant."""
    if not any(_LIKE_A_VARIABLE.fullmatch(plain(a)) for r in program.rules for t in all_atoms(r) for a in _names(t)):
        return
    meant = {a for f in program.facts for a in f.args}
    for rule in program.rules:
        uses = Counter(a for atom in all_atoms(rule) for a in _names(atom))
        for term, count in uses.items():
            name = plain(term)
            is_likely = _SINGLE_LETTER.fullmatch(name) or (count > 1 and _LIKE_A_VARIABLE.fullmatch(name))
            if is_likely and term not in meant:
                yield _finding("constant", f"`{name}` is a constant here; a variable is written ?{name}", rule)


def _names(atom: Atom) -> Iterator[Term]:
    return (a for a in atom.args if isinstance(a, str) and a[0] == "<" and ":" not in a)


def _never_firing(program: RuleFile, given: Collection[str]) -> Iterator[LintFinding]:
    yield from (f for rule in program.rules for f in _contradictions(rule))
    heads = {head.predicate for rule in program.rules for head in rule.heads}
    if not given:  # facts may come from elsewhere
        return
    filled, waiting = set(given) | {TRIPLE}, list(program.rules)
    while ready := [r for r in waiting if all(a.predicate in filled for a in r.atoms)]:
        filled |= {head.predicate for rule in ready for head in rule.heads}
        waiting = [r for r in waiting if r not in ready]
    for rule in waiting:
        empty = [a.predicate for a in rule.atoms if a.predicate not in filled]
        if set(empty) <= heads and rule.heads:  # other relations are reported as unknown
            yield _finding(
                "never fires", f"this rule can never fire: {_shown(empty[0])} has no facts to start from", rule
            )


def _contradictions(rule: Rule) -> Iterator[LintFinding]:
    for literal in rule.body:
        if isinstance(literal, Condition) and not any(expression_variables(literal.expression)):
            if not holds(literal.expression, {}):
                text = literal_as_written(literal, rule)
                yield _finding("never fires", f"this rule can never fire: `{text}` does not hold", rule)
        elif isinstance(literal, Negation) and literal.atom in rule.atoms:
            text = literal_as_written(literal.atom, rule)
            yield _finding("never fires", f"this rule can never fire: it needs `{text}` and `~{text}`", rule)


def _unused_relations(program: RuleFile) -> Iterator[LintFinding]:
    exported = {export.predicate for export in program.exports}
    if not exported:
        return
    read = {a.predicate for r in program.rules for a in all_atoms(r)[len(r.heads) :]} | exported
    places: Mapping[str, Location] = {p: place for (p, _), (_, place) in reversed(program.first_facts.items())}
    for rule in program.rules:
        for head in rule.heads:
            if head.predicate not in read:
                read.add(head.predicate)
                yield _finding(
                    "unused relation", f"no rule reads {_shown(head.predicate)} and nothing exports it", rule
                )
    for predicate in dict.fromkeys([*(i.predicate for i in program.imports), *places]):
        if predicate not in read:
            place = next((i.location for i in program.imports if i.predicate == predicate), places.get(predicate))
            message = f"no rule reads {_shown(predicate)} and nothing exports it"
            yield LintFinding("unused relation", message, replace(place, text="") if place else None)


def _duplicates(program: RuleFile) -> Iterator[LintFinding]:
    first: dict[str, Rule] = {}
    for rule in program.rules:
        other = first.setdefault(rule.key, rule)
        if other is not rule:
            where = f" at {other.location}" if other.location else ""
            yield _finding("duplicate", f"this rule is the same as the rule{where}", rule)


def _singletons(rule: Rule) -> Iterator[LintFinding]:
    if rule.written:  # other parts of the same rule may use its variables
        return
    uses = Counter(v for literal in (*rule.heads, *rule.body) for v in variables_of(literal))
    for variable, count in uses.items():
        if count == 1 and isinstance(variable, Variable) and not variable.name.startswith("_"):
            advice = "write `_` for a value that does not matter"
            yield _finding("singleton variable", f"{variable} occurs only once; {advice}", rule)
