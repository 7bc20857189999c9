"""Rule sets: ρdf, RDFS and OWL 2 RL. The rules are data, in `*.dl` in this directory; the functions put them together.

>>> import tidelog
>>> kb = tidelog.open()
>>> change = kb.apply(
...     add="[dog, rdfs:subClassOf, animal] . [rex, rdf:type, dog] .", add_rules=tidelog.rulesets.RHODF
... )
>>> len(change.added), len(kb.query("[rex, rdf:type, animal]"))
(3, 1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from tidelog.errors import UsageError
from tidelog.model.terms import RDF, TRIPLE, iri
from tidelog.rules.parsing.parser import parse_rules
from tidelog.rules.syntax import Atom, Rule

__all__ = ["NAMES", "OWL2RL", "RDFS", "RHODF", "RuleSet", "get", "owl2rl", "rdfs", "rdfs_volz", "rhodf"]


@dataclass(frozen=True)
class RuleSet:
    """Rules with a name; give it as `add_rules` or `remove_rules`. `str()` is its text.

    >>> from tidelog import rulesets
    >>> print(rulesets.RHODF.rules[0])
    #[name("rdfs5")] [?a, rdfs:subPropertyOf, ?c] :- [?a, rdfs:subPropertyOf, ?b], [?b, rdfs:subPropertyOf, ?c] .
    """

    name: str
    rules: tuple[Rule, ...]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __str__(self) -> str:
        return "\n".join(map(str, self.rules))


def rhodf() -> RuleSet:
    """ρdf: sub-classes, sub-properties, domains and ranges (DynamiTE's Table 1).

    >>> from tidelog import rulesets
    >>> len(rulesets.rhodf())
    6
    """
    return _together("rhodf", "rhodf")


def rdfs(*, axiomatic: bool = False, datatypes: bool = False, members: int = 0) -> RuleSet:
    """RDFS entailment.

    `axiomatic` adds the axiomatic triples, for `members` of the properties rdf:_1, rdf:_2, … even if the data do not
    use them; `datatypes` recognises datatypes (rdfD1, rdfs1, literals with equal values, ill-typed literals).

    >>> from tidelog import rulesets
    >>> kb_rules = rulesets.rdfs(axiomatic=True, members=2)
    """
    named = _together("rdfs", "rdfs", *["rdfs-axioms"] * (axiomatic or members > 0), *["rdfs-datatypes"] * datatypes)
    return RuleSet("rdfs", (*named.rules, *map(_membership, range(1, members + 1))))


def rdfs_volz() -> RuleSet:
    """The 13 rules of Volz, Staab and Motik's Figure 1, as printed.

    >>> from tidelog import rulesets
    >>> len(rulesets.rdfs_volz())
    13
    """
    return _together("rdfs-volz", "rdfs-volz")


def owl2rl(
    *, reflexive: bool = False, datatypes: bool = True, literals: bool = False, complete: bool = False
) -> RuleSet:
    """OWL 2 RL: every rule of Tables 4 to 9. `complete` turns all options on.

    `reflexive` adds `x owl:sameAs x` for every term (eq-ref); `datatypes` is Table 8, with the type of literals where
    an axiom asks for it, and `literals` derives that for all datatypes, and which literals differ, for all pairs.

    >>> from tidelog import rulesets
    >>> everything = rulesets.owl2rl(complete=True)
    """
    if complete:
        reflexive = datatypes = literals = True
    return _together(
        "owl2rl",
        "owl2rl",
        "owl2rl-reflexive" if reflexive else "owl2rl-irreflexive",
        *["owl2rl-datatypes"] * (datatypes or literals),
        *["owl2rl-literals"] * literals,
    )


def _together(name: str, *files: str) -> RuleSet:
    return RuleSet(name, tuple(rule for file in files for rule in _read(file)))


@cache
def _read(file: str) -> tuple[Rule, ...]:
    text = resources.files("tidelog.rulesets").joinpath(f"{file}.dl").read_text(encoding="utf-8")
    return tuple(parse_rules(text, f"{file}.dl"))


def _membership(number: int) -> Rule:
    """The axiom that rdf:_n is a container membership property."""
    (predicate,) = {atom.predicate for rule in _read("rdfs-axioms") for atom in rule.atoms if atom.predicate != TRIPLE}
    return Rule((Atom(predicate, (iri(f"{RDF}_{number}"),)),), (), name="rdf-axioms")


_MAKERS: Mapping[str, Callable[..., RuleSet]] = {
    "rhodf": rhodf,
    "rdfs": rdfs,
    "rdfs-volz": rdfs_volz,
    "owl2rl": owl2rl,
}
NAMES = tuple(_MAKERS)


def get(name: str, **options: bool | int) -> RuleSet:
    """A rule set by name, with the options of the function of that name.

    >>> from tidelog import rulesets
    >>> rulesets.get("owl2rl", reflexive=True).name
    'owl2rl'
    """
    if name not in _MAKERS:
        raise UsageError(f"unknown rule set {name!r}; choose one of: {', '.join(NAMES)}")
    try:
        return _MAKERS[name](**options)
    except TypeError:
        raise UsageError(f"the rule set {name} has no option {', '.join(options)}") from None


RHODF = rhodf()
RDFS = rdfs()
OWL2RL = owl2rl()
