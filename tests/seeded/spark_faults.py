"""The deliberate faults in the Spark engine and in the pipeline."""

from __future__ import annotations

from tests.seeded.faults import Fault

SPARK_FAULTS = (
    Fault(
        "groups in parts",
        "each shard makes a group of an aggregate of its own matches",
        "engines/spark/sharded/plan.py",
        "return self.rule.aggregate is None or alone or self.partitioned_by in self._keys()",
        "return True",
    ),
    Fault(
        "negation elsewhere",
        "a negated atom is looked for at a shard that is not the home of its facts",
        "engines/spark/sharded/plan.py",
        "return entry.argument(self.partitioned_by) if self.partitioned_by in shared else None",
        "return 0",
    ),
    Fault(
        "everybody does it",
        "what only one shard may do is done by all, and its matches are counted by each",
        "engines/spark/sharded/tasks.py",
        "if step.alone and self.shard:",
        "if step.alone and not step:",
    ),
    Fault(
        "the last tally wins",
        "counts of one fact from several shards are not added up",
        "engines/spark/sharded/tasks.py",
        "tally = LocalTally.sum(worker.dictionary, tallies)",
        "tally = LocalTally.sum(worker.dictionary, tallies[-1:])",
    ),
    Fault(
        "old heads thrown away",
        "heads that are in the set `right` are not told",
        "engines/spark/sharded/tasks.py",
        'yield "stale", facts & right',
        'yield "stale", facts & right & facts - facts',
    ),
    Fault(
        "a term of one task",
        "a value that a task computed is used before the driver has given it an id",
        "engines/spark/sharded/tasks.py",
        "        if created:\n            self.sent = []",
        "        if created:\n            created = []",
    ),
    Fault(
        "heads at one home only",
        "heads are sent to the home of their first argument, even where they are wanted by another",
        "engines/spark/sharded/tasks.py",
        'self.sent += to_shards(f"h{result}.{key}", kept, key, self.job.shards)',
        'self.sent += to_shards(f"h{result}.{key}", kept, 0, self.job.shards)',
    ),
    Fault(
        "no rows, no match",
        "a rule is left out where its negated atom has no facts",
        "engines/spark/sharded/engine.py",
        "if any(isinstance(b, Atom) and not node.rows(part) for b, node, part in read):",
        "if any(not node.rows(part) for b, node, part in read):",
    ),
    Fault(
        "disjoint for no reason",
        "what the driver derived counts as not derived by the job",
        "engines/spark/sharded/engine.py",
        "rest_apart = driver.hold(rest - within(driver.reader, fresh, rest))",
        "rest_apart = driver.hold(rest)",
    ),
    Fault(
        "what the driver did is lost",
        "of rules that run here and rules that run in a job only the second give facts",
        "engines/spark/sharded/engine.py",
        'return self._facts(operate(self.driver, "|", facts_of(self.driver, found, 0), heads))',
        "return self._facts(facts_of(self.driver, found, 0))",
    ),
    Fault(
        "a union is disjoint",
        "a union counts as having nothing in common with what was added to it",
        "engines/spark/sharded/nodes.py",
        '        if op == "-":\n            self.disjoint_with',
        '        if op != "&":\n            self.disjoint_with',
    ),
    Fault(
        "one copy for all",
        "a copy of some relations by another argument counts as one of all relations",
        "engines/spark/sharded/nodes.py",
        "return {r for r in able if not any(c.has(r) for c in copies)}",
        "return set() if copies else set(able)",
    ),
    Fault(
        "sums of differences",
        "a chain of set operations is made one without a look at which they are",
        "engines/spark/sharded/facts.py",
        "while isinstance(base, SetOperation) and base.op == node.op and not isinstance(base.right, SetOperation):",
        "while isinstance(base, SetOperation) and not isinstance(base.right, SetOperation):",
    ),
    Fault(
        "every copy is read",
        "a shard reads facts that are there for the sake of another argument",
        "engines/spark/sharded/worker_cache.py",
        "if copy.key == key and path is not None:",
        "if path is not None:",
    ),
    Fault(
        "known terms numbered again",
        "a term of the dictionary gets a second id",
        "engines/spark/ingest/assign_ids.py",
        "is_new = np.flatnonzero(known < 0)",
        "is_new = np.flatnonzero(known < 1)",
    ),
    Fault(
        "all buckets begin at zero",
        "new terms of different buckets get the same ids",
        "engines/spark/ingest/assign_ids.py",
        "return np.where(ids < 0, ~ids, ids + first)",
        "return np.where(ids < 0, ~ids, ids)",
    ),
    Fault(
        "duplicates at home",
        "a fact that came in two splits is in its shard twice",
        "engines/spark/ingest/assign_ids.py",
        "np.concatenate(parts, axis=1)).distinct()",
        "np.sort(np.concatenate(parts, axis=1)))",
    ),
    Fault(
        "the first bad line of any task",
        "which of several bad lines is named depends on who was faster",
        "engines/spark/ingest/assign_ids.py",
        "min(arrived.failed, key=lambda f: f[0])",
        "max(arrived.failed, key=lambda f: f[0])",
    ),
)
