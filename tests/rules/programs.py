"""Random rules, facts and programs in the normal form that the parser gives."""

from __future__ import annotations

from hypothesis import strategies as st

from tidelog.model import terms
from tidelog.model.terms import XSD, Fact, Term
from tidelog.rules.expressions import AGGREGATES
from tidelog.rules.syntax import (
    Aggregate,
    Assignment,
    Atom,
    Call,
    Condition,
    Export,
    Expression,
    Import,
    Literal,
    Negation,
    Rule,
    RuleFile,
    Variable,
)

PREFIXES = {"ex": "http://example.org/", "": "http://example.org/ns#"}

_characters = st.characters(exclude_categories=["Cs"])
_texts = st.text(_characters, max_size=8)
_names = st.sampled_from(
    [
        "ann",
        "full-professor",
        "été",
        "a--b",
        "a-",
        "true",
        "_",
        "1st",
        "",
        "x%20y",
        "f",
        "contains",
        "SUM",
    ]
)
_iris = st.one_of(
    _names,
    st.builds("http://example.org/{}".format, _names),
    st.builds("http://example.org/ns#{}".format, _names),
    st.sampled_from(["http://www.w3.org/2002/07/owl#Thing", "a{b", "?q=1,2", "urn:a:b", "=1,2"]),
)
_literals = st.one_of(
    st.builds(terms.string, _texts),
    st.builds(terms.literal, _texts, language=st.sampled_from(["de", "en-gb"])),
    st.builds(
        terms.literal,
        _texts,
        st.sampled_from([f"{XSD}date", f"{XSD}integer", f"{XSD}double", "http://example.org/t", "t"]),
    ),
    st.builds(terms.integer, st.integers()),
    st.builds(terms.double, st.floats()),
    st.builds(terms.boolean, st.booleans()),
)
constants: st.SearchStrategy[Term] = st.one_of(
    st.builds(terms.iri, _iris),
    _literals,
    st.builds(lambda label: Term(f"_:{label}"), st.sampled_from(["b0", "a.b", "x-1", "1", "a:b"])),
)
_predicates = st.one_of(_iris, st.just("triple"))

_bound = st.sampled_from([Variable(n) for n in ("x", "y", "z", "_1", "_2", "_7")])
_free = st.sampled_from([Variable(n) for n in ("u", "v", "w")])


def _calls(inside: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    binary = st.builds(
        Call, st.sampled_from(["+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">="]), st.tuples(inside, inside)
    )
    unary = st.builds(Call, st.sampled_from(["STR", "ABS", "INVERTSIGN", "NOT", "ISIRI"]), st.tuples(inside))
    many = st.builds(
        Call, st.sampled_from(["CONCAT", "SUM", "AND"]), st.lists(inside, min_size=1, max_size=3).map(tuple)
    )
    return st.one_of(binary, unary, many)


_expressions: st.SearchStrategy[Expression] = st.recursive(st.one_of(_bound, constants), _calls, max_leaves=8)
_arguments = st.lists(st.one_of(_bound, constants), min_size=1, max_size=4).map(tuple)
_atoms = st.builds(Atom, _predicates, _arguments)
_conditions = st.one_of(
    st.builds(Call, st.sampled_from(["!=", "<", "<=", ">", ">="]), st.tuples(_expressions, _expressions)),
    st.builds(Call, st.sampled_from(["NOT", "ISIRI"]), st.tuples(_expressions)),
    # An equation is a condition only where neither side is a variable that it could bind.
    st.builds(Call, st.just("="), st.tuples(st.builds(Call, st.just("STR"), st.tuples(_bound)), constants)),
).map(Condition)


@st.composite
def _bodies(draw: st.DrawFn) -> tuple[Literal, ...]:
    """A body whose first atom binds all the variables that others use."""
    first: Literal = Atom("q", tuple(Variable(n) for n in ("x", "y", "z", "_1", "_2", "_7")))
    rest: list[Literal] = draw(st.lists(st.one_of(_atoms, st.builds(Negation, _atoms), _conditions), max_size=4))
    assigned = draw(st.lists(_free, unique=True, max_size=3))
    rest += (Assignment(v, draw(_expressions)) for v in assigned)
    return (first, *draw(st.permutations(rest)))


_aggregates = st.builds(
    Aggregate, st.sampled_from(list(AGGREGATES)), st.lists(_bound, min_size=1, max_size=2).map(tuple)
)
_heads = st.one_of(
    st.lists(_atoms, max_size=2).map(tuple),
    st.builds(lambda p, a, args: (Atom(p, (*args, a)),), _predicates, _aggregates, _arguments),
)
rules: st.SearchStrategy[Rule] = st.builds(
    Rule,
    _heads,
    _bodies(),
    bound=st.one_of(st.none(), st.integers(1, 10**6)),
    cartesian=st.booleans(),
    name=st.one_of(st.none(), _texts),
)
facts: st.SearchStrategy[Fact] = st.builds(Fact, _predicates, st.lists(constants, min_size=1, max_size=4).map(tuple))

_values = st.one_of(_texts, st.integers(), st.booleans(), st.lists(_texts, min_size=1, max_size=3).map(tuple))
_parameters = st.dictionaries(st.sampled_from(["resource", "format", "limit"]), _values)
programs: st.SearchStrategy[RuleFile] = st.builds(
    RuleFile,
    st.lists(rules, max_size=3),
    st.lists(facts, max_size=3),
    st.lists(st.builds(Import, _iris, st.just("csv"), _parameters), max_size=2),
    st.lists(st.builds(Export, _iris, st.just("csv"), _parameters), max_size=2),
    st.just(PREFIXES),
)
