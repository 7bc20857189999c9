"""Asking why: proofs of facts, what is missing for others, and what changes took away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidelog.changes.choose import choose_engine
from tidelog.explain.bulk import RuleInstances
from tidelog.explain.proof_search import MOST
from tidelog.explain.questions import explain, explain_all, why_kept, why_not, why_removed
from tidelog.explain.render import Explanation
from tidelog.explain.why_not import NEAREST, WhyNot
from tidelog.explain.why_results import WhyKept, WhyRemoved
from tidelog.knowledge_base.session import Session
from tidelog.knowledge_base.snapshot import Snapshot

if TYPE_CHECKING:
    from tidelog.changes.spark_backend import SparkBackend


class Explanations(Session):
    """Why things are as they are. Proofs are searched for when asked; nothing is recorded for them."""

    def explain(
        self, fact: object, all_proofs: int | None = None, *, most: int = MOST, helpers: bool = False
    ) -> Explanation:
        """A proof of least height, down to explicit facts; or, lowest first, at most `all_proofs` of all there are.

        `fact` is a text such as `parent(ann, bob)`, `[ann, rdf:type, ub:Person]` or `ex:ann a ub:Person`, or a row of
        `change.added`. A fact that does not hold is an error; see `why_not`. At most `most` facts are looked at for a
        lowest proof. `helpers` shows also facts of the helper relations that rule sets and ontologies use.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(
        ...     add="parent(ann, bob) . parent(bob, cid) .",
        ...     add_rules="ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .",
        ... )
        >>> print(kb.explain("ancestor(ann, cid)").tree())
        ancestor(ann, cid)  rule 2
        ├─ ancestor(ann, bob)  rule 1
        │  └─ parent(ann, bob)  explicit
        └─ parent(bob, cid)  explicit
        <BLANKLINE>
        rule 1: ancestor(?x, ?y) :- parent(?x, ?y) .
        rule 2: ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .
        """
        now = self._now()
        return explain(now.engine, now.state, fact, all_proofs, most, helpers)

    def why_not(self, fact: object, limit: int | None = NEAREST) -> WhyNot:
        """Why a fact does not hold: how far each rule with that head gets, what is missing, and the nearest bindings.

        The rules that miss the fewest facts come first; `limit` rules are shown, None shows all.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="hot(a) . old(b) .", add_rules="alert(?x) :- hot(?x), old(?x) .")
        >>> print(kb.why_not("alert(a)").tree())
        alert(a) does not hold: it is not explicit, and no rule derives it
        rule 1: alert(?x) :- hot(?x), old(?x) .
          matches  hot(a)
          missing  old(a)
        """
        now = self._now()
        return why_not(now.engine, now.state, fact, limit)

    def why_removed(self, fact: object, version: int | None = None) -> WhyRemoved:
        """The proof that a fact had before a version (the newest, unless told) took it away, and what of it is gone.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) .", add_rules="q(?x) :- p(?x) ."), kb.apply(remove="p(a) .")
        >>> print(kb.why_removed("q(a)").tree())
        q(a) was removed by version 2; before, it had this proof:
        q(a)  rule 1  <- gone with it
        └─ p(a)  explicit  <- no longer explicit
        <BLANKLINE>
        rule 1: q(?x) :- p(?x) .
        """
        now = self._now()
        return why_removed(self._on_disk(), now.engine, now.state, fact, version)

    def why_kept(self, fact: object, version: int | None = None) -> WhyKept:
        """The proof that a fact has in a version (the newest, unless told), and the steps to it that the version took.

        >>> import tidelog, tempfile
        >>> kb = tidelog.open(tempfile.mkdtemp() + "/x.kb")
        >>> _ = kb.apply(add="p(a) . r(a) .", add_rules="q(?x) :- p(?x) . q(?x) :- r(?x) ."), kb.apply(remove="p(a) .")
        >>> kb.why_kept("q(a)").lost_supports()
        ['rule 1: p(a)  <- p(a) is gone']
        """
        now = self._now()
        return why_kept(self._on_disk(), now.engine, now.state, fact, version)

    def explain_all(
        self,
        pattern: str,
        *,
        depth: int = 1,
        deep: bool = False,
        engine: str = "auto",
        spark: Any = None,
        master: str | None = None,
    ) -> Any:
        """One table of the rule instances that derive the facts of a pattern; with `deep`, of everything below too.

        `depth` is how many steps down; each instance is there once. The table (`RuleInstances`) has `to_arrow`,
        `to_pandas`, `to_rows`. `engine="spark"` joins over shards: in the session that is active, or one on `master`.
        With `spark`, a session, the joins run there and a DataFrame comes back, which can be read until the knowledge
        base is closed; with `engine="local"` besides, the joins run here and Spark gets the table.

        >>> import tidelog
        >>> kb = tidelog.open()
        >>> _ = kb.apply(add="hot(a) . hot(b) . old(a) .", add_rules="alert(?x) :- hot(?x), old(?x) .")
        >>> kb.explain_all("alert(?x)").to_rows()
        [('alert(a)', 'rule', 1, None, ['hot(a)', 'old(a)'])]
        """
        asked = "spark" if spark is not None and engine == "auto" else engine
        chosen = choose_engine(asked, 0, self._settings.memory_budget, master)
        if chosen.engine == "local":
            now = self._now()
            table = explain_all(now.engine, now.state, pattern, depth, deep)
        else:
            with self._alone():  # work on Spark is done one after the other
                now = self._now()
                with self._readers_apart(now):
                    bulk = self._on_spark(now.engine, master, spark)
                    table = _explain_all_on_spark(bulk, now, pattern, depth, deep)
        return table if spark is None else table.to_spark(spark)


def _explain_all_on_spark(bulk: SparkBackend, now: Snapshot, pattern: str, depth: int, deep: bool) -> RuleInstances:
    from tidelog.engines.spark.dataframes import instances

    shards = instances.Shards(*bulk.sharded(now.state), bulk.terms, bulk.keep)
    return instances.explain_all(shards, now.engine, now.state, pattern, depth, deep)
