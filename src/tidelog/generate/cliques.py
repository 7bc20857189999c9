"""A symmetric and transitive relation over one clique: the bad case of incremental maintenance.

    write(300, Path("out"))           out/sameTown.csv and out/cliques.rls

Explicit edges connect the constants: a random tree, and some more edges that close cycles in it. All pairs follow, each
of them in as many ways as there are constants. The newcomer hangs on one edge only: without that edge the clique
shrinks by one; without an edge of a cycle it stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from random import Random

from tidelog.errors import UsageError

RULES = "cliques.rls"
PREDICATE = "sameTown"
FEWEST = 4  # constants of which three can make a cycle
MORE_EDGES = 0.5  # edges that close cycles, per constant

Edge = tuple[str, str]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Clique:
    """The explicit edges; among them one on a cycle, and the only one of the newcomer."""

    edges: tuple[Edge, ...]
    redundant: Edge
    bridge: Edge


def clique(constants: int, *, seed: int = 0) -> Clique:
    """The edges of a clique; the same for the same number and seed.

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
    """Other pairs than those of the tree, in no direction twice; fewer than wanted when there are not so many."""
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
    edges = clique(constants, seed=seed).edges
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{PREDICATE}.csv").write_text("".join(f"{x},{y}\n" for x, y in edges), encoding="utf-8")
    text = resources.files("tidelog.generate").joinpath("data", RULES).read_text(encoding="utf-8")
    (out / RULES).write_text(text, encoding="utf-8")
    return len(edges)


def _edge(x: int, y: int) -> Edge:
    return f"c{x}", f"c{y}"
