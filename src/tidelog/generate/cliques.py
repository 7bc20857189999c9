"""A symmetric and transitive relation over one clique: the worst case of incremental maintenance.

    write(300, Path("out"))           out/sameTown.csv and out/cliques.rls

The explicit edges are a random tree over the constants and more edges that close cycles. The rules derive every pair,
each with as many derivations as there are constants. One constant has a single explicit edge, the bridge. Without the
bridge the clique loses that constant; without an edge of a cycle the clique stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from tidelog.errors import UsageError
from tidelog.generate import write_tables

RULES = "cliques.rls"
PREDICATE = "sameTown"
FEWEST = 4  # constants: three for a cycle, and one at the bridge
MORE_EDGES = 0.5  # per constant: edges that close cycles

Edge = tuple[str, str]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Clique:
    """The explicit edges: all, one of a cycle, and the bridge (the only edge of its constant)."""

    edges: tuple[Edge, ...]
    redundant: Edge
    bridge: Edge


def clique(constants: int, *, seed: int = 0) -> Clique:
    """The edges of a clique; the same number and seed give the same edges.

    >>> clique(4).bridge
    ('c3', 'c0')
    """
    if constants < FEWEST:
        raise UsageError(f"the number of constants must be at least {FEWEST}, not {constants}")
    random = Random(f"{seed} clique {constants}")
    settled = constants - 1
    tree = [(i, random.randrange(i)) for i in range(1, settled)]
    more = _closing_cycles(tree, settled, int(MORE_EDGES * constants), random)
    bridge = (settled, random.randrange(settled))
    edges = [_edge(*pair) for pair in (*tree, *more, bridge)]
    return Clique(tuple(edges), _edge(*more[0]), _edge(*bridge))


def _closing_cycles(tree: list[Pair], vertices: int, wanted: int, random: Random) -> list[Pair]:
    """`wanted` distinct pairs that are not in the tree, or all of them if there are fewer."""
    known = {frozenset(pair) for pair in tree}
    end = min(len(tree) + wanted, vertices * (vertices - 1) // 2)
    more: list[Pair] = []
    while len(known) < end:
        x, y = random.sample(range(vertices), 2)
        if frozenset((x, y)) not in known:
            known.add(frozenset((x, y)))
            more.append((x, y))
    return more


def write(constants: int, out: Path, *, seed: int = 0) -> int:
    """Write the edges as CSV and the rules into the directory `out`; return the number of input facts."""
    return write_tables(out, RULES, {PREDICATE: clique(constants, seed=seed).edges})


def _edge(x: int, y: int) -> Edge:
    return f"c{x}", f"c{y}"
