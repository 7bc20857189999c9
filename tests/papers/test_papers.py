"""The papers' own examples, on every algorithm and engine, with the sets and numbers that the papers print."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.oracle.ways import changed, facts_of
from tests.papers.case import Case, cases
from tests.papers.sets import SEEN, sets_of
from tests.project.documents import ROOT
from tests.reference.engine import ReferenceEngine
from tidelog.algebra.engine import Work
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.errors import TidelogError
from tidelog.knowledge_base import KnowledgeBase
from tidelog.model.terms import Fact

CASES = cases()
Result = tuple[frozenset[Fact], frozenset[Fact], frozenset[Fact], Work]  # all, added, removed


def on_knowledge_base(case: Case, algorithm: str) -> Result:
    text = case.sections.get
    with KnowledgeBase() as kb:
        kb.apply(add=text("facts"), add_rules=text("rules"))
        change = kb.apply(text("add"), text("remove"), text("add rules"), text("remove rules"), algorithm)
        return facts_of(kb.all_facts()), facts_of(change.added), facts_of(change.removed), change.work


def on_reference(case: Case, algorithm: str) -> Result:
    engine = ReferenceEngine()
    update = changed(engine, case.before, case.after)
    outcome = ALGORITHMS[algorithm](update)
    return frozenset(outcome.I), frozenset(outcome.added), frozenset(outcome.removed), update.work


WAYS = [on_knowledge_base, on_reference]
Way = Callable[[Case, str], Result]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_comes_and_goes(case: Case, algorithm: str, way: Way) -> None:
    if algorithm in case.refused:
        with pytest.raises(TidelogError):
            way(case, algorithm)
        return
    everything, added, removed, work = way(case, algorithm)
    before = case.before.model
    assert added == case.facts("gained") | (case.facts("add") - before)
    assert removed == case.facts("lost") | (case.facts("remove") - case.facts("kept"))
    assert everything == (before - removed) | added
    assert case.facts("kept") <= before & everything
    assert case.counters(algorithm).items() <= {**work.counters, "rounds": work.rounds}.items()


TOLD = [(case, algorithm, name) for case in CASES for algorithm, name in case.told]


def test_cases_name_algorithms_that_exist() -> None:
    assert {algorithm for _, algorithm, _ in TOLD}.union(*(case.refused for case in CASES)) <= ALGORITHMS.keys()


@pytest.mark.parametrize(("case", "algorithm", "name"), [told for told in TOLD if told[2] != "counters"], ids=str)
def test_the_sets_of_an_algorithm(case: Case, algorithm: str, name: str) -> None:
    found = sets_of(algorithm, case.before, case.after)
    expected = case.facts(f"{algorithm} {name}")
    if name == "untouched":
        assert expected <= case.before.model
        assert not expected & found[SEEN[algorithm]]
    else:
        assert found[name] == expected


def test_the_page_for_users_names_every_algorithm_and_counter() -> None:
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    works = [on_reference(case, a)[3] for case in CASES for a in ALGORITHMS if a not in case.refused]
    assert {a for a in ALGORITHMS if f'`"{a}"`' not in page} == set()
    assert {name for work in works for name in work.counters if f"`{name}`" not in page} == set()
