"""The one object users hold: facts, rules, and all that follows from them. It delegates; it decides nothing.

held        the state, the engine, the store
changes     load, apply
what_if     preview, repair
questions   query, facts, export, ...
explanations  explain, why_not, why_removed, why_kept, explain_all
watching    watch
history     versions, at, diff, verify, compact
"""

from __future__ import annotations

from pathlib import Path

from tidelog.knowledge_base.changing import WhatIf
from tidelog.knowledge_base.explanations import Explanations
from tidelog.knowledge_base.reading import Questions
from tidelog.knowledge_base.watching import Watching


class KnowledgeBase(WhatIf, Questions, Explanations, Watching):
    """Facts and rules, and every consequence, kept exactly right while both change.

    >>> import tidelog
    >>> kb = tidelog.open()
    >>> change = kb.apply(
    ...     add="parent(ann, bob) . parent(bob, cid) .",
    ...     add_rules="ancestor(?x, ?y) :- parent(?x, ?y) . ancestor(?x, ?z) :- ancestor(?x, ?y), parent(?y, ?z) .",
    ... )
    >>> sorted(kb.query("ancestor(ann, ?who)"))
    [('bob',), ('cid',)]
    """


def open(
    path: str | Path | None = None,
    *,
    read_only: bool = False,
    strict: bool = False,
    create: bool = True,
    equality: str | None = None,
) -> KnowledgeBase:
    """The knowledge base in a directory, which is made if there is none; without a path, a new one in memory.

    With `create=False` a directory without a knowledge base is an error, so that a mistyped path is noticed.

    `strict` refuses changes that lead to new inconsistencies, which are else only listed (`inconsistencies`).
    `equality="rewriting"` lets one term stand for all that `owl:sameAs` makes equal; else ("off") it is a property like
    any other. A knowledge base keeps what it was made with.

    It shows the newest version of when it was opened; `refresh` moves on. Any number of processes may read while one
    writes: the first change takes the lock, and `close` gives it back.

    >>> import tidelog, tempfile
    >>> path = tempfile.mkdtemp() + "/family.kb"
    >>> with tidelog.open(path) as kb:
    ...     _ = kb.apply(add="parent(ann, bob) .")
    >>> with tidelog.open(path) as kb:
    ...     list(kb.facts("parent"))
    [('ann', 'bob')]
    """
    return KnowledgeBase(path=path, read_only=read_only, strict=strict, create=create, equality=equality)
