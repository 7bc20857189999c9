"""Random histories on disk: every version, reopened, gone back to or compared with another, is what the oracle says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import pytest

import tidelog
from tests.oracle.histories import RandomHistory, State, random_history
from tests.oracle.ways import facts_of
from tidelog import tuning
from tidelog.changes import commit
from tidelog.model.terms import Fact
from tidelog.store.digest import sum_of

HISTORIES = 36


@pytest.fixture(params=["rows", "files", "mixed"])
def kept_in(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Small changes as rows of the catalog, all as files, or some as either and folded all the time."""
    small, commits = {"rows": (10**6, 10**6), "files": (0, 10**6), "mixed": (6, 3)}[request.param]
    monkeypatch.setattr(tuning, "CATALOG_ROWS", small)
    monkeypatch.setattr(tuning, "COMPACTED_COMMITS", commits)
    return str(request.param)


def same(kb: tidelog.KnowledgeBase, state: State) -> bool:
    return (
        facts_of(kb.all_facts()) == state.model
        and facts_of(kb.all_facts("explicit")) == state.facts
        and {rule.key for rule in kb.rules} == {rule.key for rule in state.rules}
    )


def with_effect(history: RandomHistory) -> RandomHistory:
    """The history without the steps that change no explicit fact and no rule: they make no version."""
    changes = list(zip(history.steps, history.states, history.states[1:], strict=False))
    kept = [(step, new) for step, old, new in changes if (old.facts, old.rules) != (new.facts, new.rules)]
    steps, states = tuple(step for step, _ in kept), tuple(state for _, state in kept)
    return replace(history, steps=steps, states=(history.states[0], *states))


def play(path: Path, history: RandomHistory, random: Random) -> list[str]:
    """All steps, each in a process of its own as far as the store can tell; the digests of all versions."""
    start = history.states[0]
    with tidelog.open(path) as kb:
        kb.apply(add=list(start.facts), add_rules=start.rules)
        digests = [kb.digest()]
    for step, state in zip(history.steps, history.states[1:], strict=True):
        with tidelog.open(path) as kb:
            assert kb.digest() == digests[-1]
            change = kb.apply(list(step.add), list(step.remove), step.add_rules, step.remove_rules)
            assert change.version == kb.version == len(digests) + 1
            digests.append(kb.digest())
            assert same(kb, state)
        if random.random() < 0.2:
            with tidelog.open(path) as kb:
                kb.compact()
    return digests


@pytest.mark.parametrize("seed", range(0, HISTORIES, 3))
def test_every_version_can_be_read_again(seed: int, kept_in: str, tmp_path: Path) -> None:
    history = with_effect(random_history(seed + len(kept_in) % 3))
    digests = play(tmp_path / "x.kb", history, Random(seed))
    with tidelog.open(tmp_path / "x.kb") as kb:
        assert [v.digest for v in kb.versions()] == digests
        for version, state in enumerate(history.states, 1):
            past = kb.at(version)
            assert same(past, state)
            assert past.digest() == digests[version - 1]
        assert kb.verify(recompute=True).problems == []


@pytest.mark.parametrize("seed", range(1, HISTORIES, 6))
def test_readers_move_on(seed: int, kept_in: str, tmp_path: Path) -> None:
    """Some ask for terms that nobody has stored, so that they know ids which mean something else on disk."""
    history, random, path = random_history(seed), Random(seed), tmp_path / "x.kb"
    with tidelog.open(path) as kb:
        readers = [tidelog.open(path, read_only=True) for _ in range(3)]
        kb.apply(add=list(history.states[0].facts), add_rules=history.states[0].rules)
        for step, state in zip(history.steps, history.states[1:], strict=True):
            kb.apply(list(step.add), list(step.remove), step.add_rules, step.remove_rules)
            if random.random() < 0.2:
                kb.compact(keep=random.randrange(3))
            for number, reader in enumerate(readers):
                if random.random() < 0.6:
                    assert reader.refresh() == kb.version
                    assert same(reader, state) and reader.digest() == kb.digest()
                if number:
                    assert not list(reader.query(f"[?x, <unheard-of-{random.random()}>, ?y]"))
        for reader in readers:
            reader.close()


@pytest.mark.parametrize("seed", range(0, HISTORIES, 12))
def test_differences_are_those_of_the_sets(seed: int, kept_in: str, tmp_path: Path) -> None:
    history = with_effect(random_history(seed))
    random = Random(seed)
    play(tmp_path / "x.kb", history, random)
    with tidelog.open(tmp_path / "x.kb") as kb:
        for _ in range(12):
            older, newer = random.randrange(len(history.states)), random.randrange(len(history.states))
            before, after = history.states[older].model, history.states[newer].model
            difference = kb.diff(older + 1, newer + 1)
            assert facts_of(difference.added) == after - before
            assert facts_of(difference.removed) == before - after


def test_compaction_forgets_and_says_so(tmp_path: Path) -> None:
    history = with_effect(random_history(7))
    play(tmp_path / "x.kb", history, Random(7))
    with tidelog.open(tmp_path / "x.kb") as kb:
        digest, newest = kb.digest(), kb.version
        kb.compact(keep=2)
        assert [v.version for v in kb.versions()] == [newest - 1, newest]
        assert same(kb.at(newest - 2), history.states[-3])
        with pytest.raises(tidelog.UsageError, match=f"versions {newest - 2} to {newest} can be read"):
            kb.at(newest - 3)
        assert kb.digest() == digest
    with tidelog.open(tmp_path / "x.kb") as kb:
        assert kb.digest() == digest and kb.verify(recompute=True).ok


def files_of(path: Path) -> set[str]:
    return {p.name for p in (path / "runs").iterdir()}


def test_files_stay_as_long_as_a_reader_needs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "CATALOG_ROWS", 0)
    path = tmp_path / "x.kb"
    with tidelog.open(path) as kb:
        kb.apply(add="p(a) . p(b) .")
        reader = tidelog.open(path, read_only=True)
        held = files_of(path)
        kb.apply(add="p(c) . q(a, b) .")
        kb.compact(keep=0)
        assert held <= files_of(path)
        reader.close()
        kb.compact(keep=0)
        assert not held & files_of(path)


def terms_of(facts: Iterable[Fact]) -> list[tuple[str, ...]]:
    return sorted((f.predicate, *f.args) for f in facts)


@pytest.mark.parametrize("seed", range(20))
def test_the_digest_of_columns_is_that_of_facts(seed: int, tmp_path: Path) -> None:
    state = random_history(seed).states[-1]
    with tidelog.open(tmp_path / "x.kb") as kb:
        kb.apply(add=list(state.facts), add_rules=state.rules)
        sums = kb._state.sums
        assert sums is not None
        assert (sums.explicit, sums.facts) == (sum_of(state.facts), sum_of(state.model))
    assert len({sum_of([fact]) for fact in state.model}) == len(terms_of(state.model))


@pytest.mark.parametrize("sizes", list(product((1, 5), repeat=4)), ids=lambda sizes: "-".join(map(str, sizes)))
def test_small_and_large_commits_in_any_order(
    sizes: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each removes a fact of the one before it: rows of the catalog, files, files after rows, none of them folded."""
    monkeypatch.setattr(tuning, "CATALOG_ROWS", 6)
    monkeypatch.setattr(commit, "compact_if_due", lambda *_: None)
    present: set[tuple[str, int]] = set()
    for number, size in enumerate(sizes):
        with tidelog.open(tmp_path / "kb") as kb:
            new = {("p", 10 * number + i) for i in range(size)}
            gone = {row for row in present if row[1] == 10 * (number - 1)}
            present = (present - gone) | new
            kb.apply(add={"p": [row[1:] for row in new]}, remove={"p": [row[1:] for row in gone]})
        with tidelog.open(tmp_path / "kb") as kb:
            assert set(kb.all_facts()) == present
            assert kb.verify(recompute=True).ok
            assert set(kb.diff(number, number + 1).added) == new
