"""Counts the source tree, and what one call goes through: `python -m tests.project.figures [REVISION ...]`.

Without a revision it counts the working tree. The journeys are `kb.apply(remove=...)` on disk, `kb.load(...)` on Spark,
in this process, and `kb.sparql(...)`; each counts its calls, files, packages, and calls from one package to another.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.project.documents import ROOT

MANY_PARAMETERS = 8


def modules(source: Path) -> dict[str, ast.Module]:
    """The parsed modules below a folder, by path."""
    paths = sorted(source.rglob("*.py"))
    return {str(p.relative_to(source)): ast.parse(p.read_text(encoding="utf-8")) for p in paths}


def repeated_class_names(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """The public class names that several modules define, with these modules."""
    names: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names[node.name].append(path)
    return {name: paths for name, paths in sorted(names.items()) if len(paths) > 1}


def functions_of_many_parameters(trees: dict[str, ast.Module]) -> list[str]:
    """The functions with eight or more parameters, not counting self and cls."""
    return [
        f"{path}: {node.name} ({count})"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (count := len(list(_parameters(node)))) >= MANY_PARAMETERS
    ]


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    a = node.args
    for parameter in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
        if parameter is not None and parameter.arg not in ("self", "cls"):
            yield parameter.arg


def top_level_modules(source: Path) -> list[str]:
    """The modules that are in no package below `tidelog`."""
    return sorted(p.name for p in (source / "tidelog").glob("*.py") if p.name != "__init__.py")


JOURNEYS = """
import json, os, sys, tempfile
import tidelog

folder = tempfile.mkdtemp()
data = os.path.join(folder, "edges.csv")
with open(data, "w") as out:
    out.write("a,b\\nb,c\\nc,d\\na,c\\n")
RULES = "reach(?x, ?y) :- edges(?x, ?y) . reach(?x, ?z) :- reach(?x, ?y), edges(?y, ?z) ."
kb = tidelog.open(os.path.join(folder, "journey.kb"))
kb.apply(add={"edges": [("a", "b"), ("b", "c"), ("c", "d"), ("a", "c")]}, add_rules=RULES)
kb.apply(add="[a, knows, b] .")
asked = tidelog.open()
asked.apply(add="[a, knows, b] . [b, knows, c] .")
spark = tidelog.open(os.path.join(folder, "spark.kb"))
spark.apply(add_rules=RULES)
HOME = os.path.dirname(tidelog.__file__)


def room(path):
    parts = os.path.relpath(path, HOME).split(os.sep)
    return parts[0] if len(parts) == 1 else ".".join(parts[:2]) if parts[0] == "engines" else parts[0]


def journey(act):
    calls, functions, files, rooms, crossing = 0, set(), set(), set(), 0

    def count(frame, event, _):
        nonlocal calls, crossing
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(HOME):
            calls += 1
            functions.add((path, frame.f_code.co_firstlineno))
            files.add(path)
            rooms.add(room(path))
            back = frame.f_back
            if back and back.f_code.co_filename.startswith(HOME) and room(back.f_code.co_filename) != room(path):
                crossing += 1

    sys.setprofile(count)
    try:
        act()
    finally:
        sys.setprofile(None)
    return [calls, len(functions), len(files), len(rooms), crossing]


made = {
    "apply": journey(lambda: kb.apply(remove="edges(b, c) .")),
    "sparql": journey(lambda: list(asked.sparql("SELECT ?x { ?x <knows> ?y . ?y <knows> ?z }"))),
    "load on Spark": journey(lambda: spark.load(data, engine="spark")),
}
print(json.dumps(made))
"""


def journeys(source: Path) -> dict[str, list[int]]:
    """Calls, functions, files, packages and crossings of the three journeys with the code below `source`."""
    import json

    environment = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", JOURNEYS], env=environment, capture_output=True, text=True, check=True, timeout=300
    )
    made: dict[str, list[int]] = json.loads(done.stdout.splitlines()[-1])
    return made


def report(source: Path) -> None:
    trees = modules(source)
    print(f"files {len(trees)}")
    print(f"lines {sum(len((source / path).read_text(encoding='utf-8').splitlines()) for path in trees)}")
    print(f"top-level modules {len(top_level_modules(source))}: {', '.join(top_level_modules(source))}")
    many = functions_of_many_parameters(trees)
    print(f"functions with {MANY_PARAMETERS} or more parameters {len(many)}: {'; '.join(many)}")
    repeated = repeated_class_names(trees)
    print(f"public class names defined more than once {len(repeated)}: {', '.join(repeated)}")
    for name, numbers in journeys(source).items():
        print("{}: {} calls, {} functions, {} files, {} packages, {} calls between packages".format(name, *numbers))


def main(revisions: list[str]) -> None:
    if not revisions:
        report(ROOT / "src")
    for revision in revisions:
        with tempfile.TemporaryDirectory() as folder:
            packed = subprocess.run(
                ["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True
            ).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)
            print(f"== {revision}")
            report(Path(folder) / "src")


if __name__ == "__main__":
    main(sys.argv[1:])
