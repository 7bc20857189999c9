"""The public names are pinned, and each has a docstring whose example runs."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator

import pytest

import tidelog

NAMES = {
    "Explanation",
    "RuleInstances",
    "WhyKept",
    "WhyNot",
    "WhyRemoved",
    "Version",
    "Watch",
    "Verification",
    "StoreError",
    "LockedError",
    "Difference",
    "Counts",
    "Exported",
    "Status",
    "CorruptionError",
    "AnswerChange",
    "Answers",
    "Inconsistency",
    "rulesets",
    "BlankNode",
    "Change",
    "ConstraintError",
    "FactAnswers",
    "IRI",
    "InputError",
    "KnowledgeBase",
    "LimitError",
    "Literal",
    "Name",
    "ParseError",
    "Prediction",
    "Repair",
    "Repairs",
    "RuleError",
    "Settings",
    "String",
    "TidelogError",
    "UsageError",
    "ontology",
    "open",
}


def test_public_names_are_pinned() -> None:
    assert set(tidelog.__all__) == NAMES
    assert set(dir(tidelog)) == NAMES | {"__version__"}


def documented() -> Iterator[tuple[str, object]]:
    """Every public function and class, and every public method of the knowledge base; errors speak for themselves."""
    for name in sorted(NAMES):
        thing = getattr(tidelog, name)
        if not (inspect.isclass(thing) and issubclass(thing, Exception)):
            yield name, thing
    for name, method in inspect.getmembers(tidelog.KnowledgeBase, inspect.isfunction):
        if not name.startswith("_"):
            yield f"KnowledgeBase.{name}", method


DOCUMENTED = dict(documented())


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_public_thing_has_an_example_that_runs(name: str) -> None:
    tests = doctest.DocTestFinder(recurse=False).find(DOCUMENTED[name], name)
    assert [t for t in tests if t.examples], f"{name} has no example"
    for test in tests:
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_public_thing_says_what_it_is(name: str) -> None:
    assert inspect.getdoc(getattr(tidelog, name))


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        tidelog.no_such_name  # noqa: B018
