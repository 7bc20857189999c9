"""What a process that runs tasks keeps from one to the next: caches, and nothing that a result could depend on."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tidelog.engines.local.engine import LocalEngine
from tidelog.engines.local.fact_set import LocalFacts
from tidelog.engines.spark.job import Entry, Job, Window
from tidelog.engines.spark.plan import ALL, Plan, Step
from tidelog.engines.spark.reader import Reader
from tidelog.engines.spark.specs import part_of
from tidelog.engines.spark.terms import Opened
from tidelog.rules.syntax import Atom, Negation, Rule
from tidelog.settings import Settings

_MOST_SITES = 4  # engines that a process serves
_MOST_PLANS = 10_000
_MOST_WINDOWS = 64  # sets of rules
_SITES: dict[str, Site] = {}


class Site:
    """A process, for one engine."""

    def __init__(self, dictionary: Opened, shards: int, memory: int) -> None:
        self.dictionary = dictionary
        self.settings = Settings(memory_budget=memory, threads=1)
        self.engine = self._new_engine()
        self.reader = Reader(dictionary, shards)
        self._plans: dict[int, Plan] = {}
        self._windows: dict[bytes, list[Rule]] = {}

    def _new_engine(self) -> LocalEngine:
        engine = LocalEngine(self.settings, self.dictionary)
        engine.searches_by_codes = False  # the next window may be another process's, that has none
        return engine

    def plan(self, number: int, pickled: Mapping[int, bytes]) -> Plan:
        """Read once, so that what the local engine remembers of its rules is found again."""
        if number not in self._plans:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[number] = pickle.loads(pickled[number])
        return self._plans[number]

    def rules(self, window: Window) -> list[Rule]:
        if window.rules not in self._windows:
            if len(self._windows) >= _MOST_WINDOWS:
                self._windows.clear()
            self._windows[window.rules] = pickle.loads(window.rules)
        return self._windows[window.rules]

    def sources(self, step: Step, entry: Entry, bindings: LocalFacts | None, shard: int) -> list[LocalFacts]:
        """What each atom of a step reads at a shard."""
        found = []
        atoms = [b if isinstance(b, Atom) else b.atom for b in step.rule.body if isinstance(b, Atom | Negation)]
        for atom, read in zip(atoms, step.reads, strict=True):
            if read.source is None:
                assert bindings is not None
                found.append(bindings)
                continue
            node, part = entry.sources[read.source], part_of(atom, self.dictionary.encode)
            if read.key == ALL:
                found.append(self.reader.whole(node, part))
            else:
                found.append(self.reader.facts(node, read.key, part._replace(value=None), shard))
        return found

    def take_created(self) -> Sequence[str]:
        """The terms that were made here and that no dictionary has; they are forgotten, and what they touched."""
        created = self.dictionary.created()
        if created:
            self.dictionary.forget()
            self.engine = self._new_engine()
        return created


@lru_cache(maxsize=4)
def load(path: str) -> Job:
    """A job file, read once by all stages that run here."""
    job = pickle.loads(Path(path).read_bytes())
    assert isinstance(job, Job)
    return job


def site_of(job: Job) -> Site:
    """The caches for a job's engine, turned to the sets that the job reads."""
    dictionary = job.shipped.open()
    dictionary.know(job.constants)
    site = _SITES.get(job.engine)
    if site is None:
        while len(_SITES) >= _MOST_SITES:
            _SITES.pop(next(iter(_SITES)))
        site = _SITES[job.engine] = Site(dictionary, job.shards, job.memory)
    if site.reader.nodes is not job.nodes:
        site.reader.turn(job.nodes, job.alive)
    return site


def close(engine: str) -> None:
    """Forget an engine."""
    _SITES.pop(engine, None)
