"""Rules in the syntax of other engines, as far as the workloads need it: positive bodies and comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidelog.rules.syntax import Atom, Call, Condition, Literal, Rule, Variable

Spell = Callable[[object], str]


def nemo_rules(rules: Iterable[Rule]) -> str:
    """Nemo's own syntax, which has no triple atoms: `triple(?x, <…type>, <…Person>) :- … .`"""
    return "".join(f"{_parts(r.heads, str)} :- {_parts(r.body, str)} .\n" for r in rules)


def clingo_rules(rules: Iterable[Rule]) -> str:
    """Answer set programming: one head per rule, upper-case variables, quoted terms."""
    return "".join(f"{_part(h, _clingo)} :- {_parts(r.body, _clingo)}.\n" for r in rules for h in r.heads)


def clingo_fact(predicate: str, terms: Iterable[str]) -> str:
    return f"{predicate}({','.join(map(_clingo, terms))}).\n"


def _parts(literals: Iterable[Literal], spell: Spell) -> str:
    return ", ".join(_part(literal, spell) for literal in literals)


def _part(literal: Literal, spell: Spell) -> str:
    match literal:
        case Atom(predicate, args):
            return f"{predicate}({', '.join(map(spell, args))})"
        case Condition(Call(operator, (left, right))):
            return f"{spell(left)} {operator} {spell(right)}"
    raise ValueError(f"no workload has such a literal: {literal}")


def _clingo(argument: object) -> str:
    if isinstance(argument, Variable):
        return f"V{argument.name}"
    text = str(argument).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
