"""What a small change looks at does not grow with the knowledge base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tidelog import tuning
from tidelog.algebra.engine import Work
from tidelog.algorithms.registry import ALGORITHMS
from tidelog.algorithms.update import RuleChange, Update
from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.facts import LocalFacts
from tidelog.kernel.lookup import RelationLookup, RowRanges
from tidelog.kernel.rows import Ints
from tidelog.model.terms import Fact, bare
from tidelog.rules.parsing.parser import parse_rules

RULES = tuple(
    parse_rules("""
        up(?x, ?z) :- up(?x, ?y), up(?y, ?z) .
        person(?x) :- works(?x, ?y) .
        person(?y) :- knows(?x, ?y), person(?x) .
        colleague(?x, ?y) :- works(?x, ?c), works(?y, ?c), person(?x) .
    """)
)


def company(count: int) -> list[Fact]:
    """Teams of four, each with a chain of three above it; nothing connects two teams."""
    facts = []
    for team in range(count):
        names = [bare(f"e{team}x{i}") for i in range(4)]
        facts += [Fact("works", (n, bare(f"c{team}"))) for n in names]
        facts += [Fact("knows", (names[0], bare(f"k{team}")))]
        facts += [Fact("up", (bare(f"u{team}x{i}"), bare(f"u{team}x{i + 1}"))) for i in range(3)]
    return facts


class Looked:
    """Counts the rows that joins look at, in blocks and by lookups."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, engine: LocalEngine) -> None:
        self.engine = engine
        self.looked_up = 0
        for kind, verb in ((RowRanges, "window"), (RelationLookup, "first")):
            monkeypatch.setattr(kind, verb, self._counted(getattr(kind, verb)))

    def _counted(self, verb: Callable[..., tuple[Ints, Ints]]) -> Callable[..., tuple[Ints, Ints]]:
        def counted(*args: Any) -> tuple[Ints, Ints]:
            found = verb(*args)
            self.looked_up += len(found[0])
            return found

        return counted

    @property
    def rows(self) -> int:
        return self.looked_up + sum(record.effort.rows for record in self.engine._join_cache.records.values())


def rows_for_one_change(
    teams: int, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, Work, LocalFacts, LocalFacts]:
    engine = LocalEngine()
    looked = Looked(monkeypatch, engine)
    program, E = RuleChange(RULES, RULES), engine.fact_set(company(teams))
    nothing = engine.fact_set(())
    I = ALGORITHMS["rematerialise"](Update(engine, program, E, E, nothing, nothing, Work())).I
    changed = engine.fact_set([Fact("works", (bare("e5x1"), bare("c5"))), Fact("up", (bare("u7x1"), bare("u7x2")))])
    work, before = Work(), looked.rows
    after = ALGORITHMS[algorithm](Update(engine, program, E - changed, I, changed, nothing, work))
    return looked.rows - before, work, I, after.I


@pytest.mark.parametrize("algorithm", ["bf", "dred"])
def test_rows_looked_at(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, few_work, _, _ = rows_for_one_change(200, algorithm, monkeypatch)
    many, many_work, _, _ = rows_for_one_change(1000, algorithm, monkeypatch)
    assert few_work == many_work
    assert 0 < many <= few + 5


def test_large_arrays_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "COPIED_IF_UNREAD", 2_048)
    _, _, before, after = rows_for_one_change(1000, "bf", monkeypatch)
    for relation, table in before.tables.items():
        assert after.tables[relation].runs[0] is table.runs[0]


def test_few_facts_that_were_read_as_tables_are_few_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left of them may be held as tables; the rules are still looked up for all of them at once."""
    monkeypatch.setattr(tuning, "ALWAYS_COPIED", 20)
    engine = LocalEngine()
    facts = company(30)
    everything, fresh, gone = engine.fact_set(facts), engine.fact_set(facts), engine.fact_set(facts[:1])
    assert fresh.tables
    read, left = fresh - gone, everything - gone
    assert read.coded is None
    assert left.coded is not None
    monkeypatch.setattr(engine, "derive", lambda *_: pytest.fail("rule by rule"))
    heads = [engine.derive_pivoted(RULES, everything, pivot, everything, everything, Work()) for pivot in (read, left)]
    assert sorted(heads[0]) == sorted(heads[1])
    assert len(heads[0]) > 100
