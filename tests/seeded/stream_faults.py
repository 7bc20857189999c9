"""The deliberate faults in continuous queries."""

from __future__ import annotations

from tests.seeded.faults import Fault

STREAM_FAULTS = (
    Fault(
        "touched answers are new answers",
        "an answer that another match gave before is given again",
        "streams/datalog_watch.py",
        "Groups(engine, (rule,), step.before, step.after, step.minus, step.plus)",
        "Groups(engine, (rule,), engine.fact_set(()), step.after, step.minus, step.plus)",
    ),
    Fault(
        "a watch forgets negation",
        "a query with a fact that went is not looked at if nothing came",
        "streams/datalog_watch.py",
        "step.before, step.after, step.minus, step.plus)",
        "step.before, step.after, step.plus, step.plus)",
    ),
    Fault(
        "a watch of old facts only",
        "a query is not looked at if one of its relations was empty before",
        "streams/datalog_watch.py",
        "step.before.may_match(atom) or step.after.may_match(atom)",
        "step.before.may_match(atom)",
    ),
    Fault(
        "a clique that changed",
        "answers are not compared under all names if equalities were lost",
        "streams/datalog_watch.py",
        "or step.plus.of_predicate(SAME) or step.minus.of_predicate(SAME)",
        "or step.plus.of_predicate(SAME)",
    ),
    Fault(
        "answers under one name",
        "answers are given for representatives only",
        "streams/datalog_watch.py",
        "return representatives.expand(added, places), representatives.expand(removed, places)",
        "return added, removed",
    ),
    Fault(
        "distinct by bag",
        "a row of SELECT DISTINCT comes again when a second solution gives it",
        "streams/sparql_watch.py",
        "if self.is_distinct:",
        "if not self.variables:",
    ),
    Fault(
        "an unbound variable joins",
        "a row with an unbound variable is taken for one with a value",
        "streams/sparql_watch.py",
        "if v in certain]",
        "]",
    ),
    Fault(
        "stale answers",
        "a query that is asked again compares with the answers before the last change",
        "streams/sparql_watch.py",
        "self._last = step.after, after",
        "self._last = step.after, before",
    ),
    Fault(
        "asked again if something came",
        "a query is not asked again when triples only went",
        "streams/sparql_watch.py",
        "for f in (step.plus, step.minus))",
        "for f in (step.plus,))",
    ),
    Fault(
        "a version twice",
        "a reader that resumes gets the version it had last",
        "streams/versions.py",
        "in store.commits_between(since, upto):",
        "in store.commits_between(max(since - 1, 0), upto):",
    ),
    Fault(
        "terms of another dictionary",
        "a watch goes on from facts whose ids mean other terms now",
        "streams/versions.py",
        "if I.dictionary is not facts.dictionary:",
        "if I.dictionary is None:",
    ),
    Fault(
        "nested versions overtake",
        "of several versions that wait for the watches, the newest is given first",
        "streams/watches.py",
        "self._steps.popleft()",
        "self._steps.pop()",
    ),
    Fault(
        "one error ends all",
        "watches after a callback that fails do not get the version",
        "streams/watches.py",
        "            errors.append(error)\n",
        "            raise\n",
    ),
)
