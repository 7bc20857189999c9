"""Random ontologies: the compiled rules give the same about the data as rules that read the ontology as data."""

from __future__ import annotations

import pytest

from tests.owl.cases import Case, Closure, by_owlrl, by_rule_set, compiled, together
from tests.owl.random_ontologies import RandomOntology


def case(seed: int) -> Case:
    made = RandomOntology(seed)
    return Case(f"seed {seed}", {"ontology": made.schema(), "data": made.data()})


def check(seed: int, closure: Closure) -> None:
    made = case(seed)
    rules, found, clashes = compiled(made.graph("ontology"), made.graph("data"))
    text = f"seed {seed}\n{made.fields['ontology']}\n{made.fields['data']}\n{rules}"
    assert found == closure.of(seed), text
    assert bool(clashes) == bool(closure.contradictions), text


# The last ones need what classes say of unnamed values.
@pytest.mark.parametrize("seed", [*range(12), 63, 103, 133, 141])
def test_same_as_owlrl(seed: int) -> None:
    check(seed, by_owlrl(together({seed: case(seed)})))


@pytest.mark.usefixtures("long_tier")
def test_same_as_the_rule_set() -> None:
    for seed in range(100, 200):
        check(seed, by_rule_set(together({seed: case(seed)})))
