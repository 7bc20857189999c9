"""A test case as text: a program, its files, and what must come out.

# the title: what this shows
program
    p(?x) :- q(?x, _) .
    @import q :- csv{resource="q.csv"} .
file q.csv                  (compressed if the name ends in .gz)
    ann,1
expect p                    (rows of terms: names, numbers, true and false are short, others as in N-Triples)
    ann
export p.csv                (the lines of a written file, in any order)
    ann
differs why we do not do as Nemo does
nemo p                      (what Nemo gives where it differs)
    bob
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass, field
from pathlib import Path

from tidelog.model.terms import Term, boolean, double, integer, iri, to_value

Row = tuple[Term, ...]

FOLDER = Path(__file__).parent / "cases"
PROGRAM = "program.rls"

_TERM = re.compile(r'"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)?|<[^>]*>|\S+')
_NAME = re.compile(r"[A-Za-z]\w*")
_BOOLEANS = {"true": True, "false": False}


@dataclass
class Case:
    title: str = ""
    program: str = ""
    files: dict[str, str] = field(default_factory=dict)
    expect: dict[str, set[Row]] = field(default_factory=dict)
    export: dict[str, list[str]] = field(default_factory=dict)
    differs: str = ""
    nemo: dict[str, set[Row]] = field(default_factory=dict)

    def unpack(self, folder: Path) -> Path:
        """Write the program and its files; the path of the program."""
        for name, text in self.files.items():
            data = text.encode()
            (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        (folder / PROGRAM).write_text(self.program)
        return folder / PROGRAM


def read_lines(path: Path) -> list[str]:
    """The lines of an exported file, in order."""
    data = path.read_bytes()
    return sorted((gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines())


def cases() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def read_case(name: str) -> Case:
    case = Case()
    for header, lines in _sections((FOLDER / f"{name}.txt").read_text()):
        _fill(case, header, lines)
    return case


def _sections(text: str) -> list[tuple[str, list[str]]]:
    """Headers at the margin, each with its indented lines."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("    "):
            found[-1][1].append(line[4:])
        elif line:
            found.append((line, []))
        elif found and found[-1][1]:
            found[-1][1].append("")
    return [(header, "\n".join(lines).rstrip().splitlines()) for header, lines in found]


def _fill(case: Case, header: str, lines: list[str]) -> None:
    kind, _, rest = header.partition(" ")
    if kind == "#":
        case.title = f"{case.title}\n{rest}".strip()
    elif kind == "program":
        case.program = _text(lines)
    elif kind == "file":
        case.files[rest] = _text(lines)
    elif kind == "export":
        case.export[rest] = sorted(lines)
    elif kind == "differs":
        case.differs = rest
    else:
        {"expect": case.expect, "nemo": case.nemo}[kind][rest] = {_row(line) for line in lines}


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def write_case(name: str, case: Case) -> None:
    parts = [*(f"# {line}" for line in case.title.splitlines())]
    parts += _section("program", case.program.splitlines())
    for file, text in case.files.items():
        parts += _section(f"file {file}", text.splitlines())
    for predicate, rows in case.expect.items():
        parts += _section(f"expect {predicate}", _lines(rows))
    for file, lines in case.export.items():
        parts += _section(f"export {file}", lines)
    if case.differs:
        parts += ["", f"differs {case.differs}"]
    for predicate, rows in case.nemo.items():
        parts += _section(f"nemo {predicate}", _lines(rows))
    (FOLDER / f"{name}.txt").write_text("\n".join(parts) + "\n")


def _section(header: str, lines: list[str]) -> list[str]:
    return ["", header, *(f"    {line}".rstrip() for line in lines)]


def _lines(rows: set[Row]) -> list[str]:
    return sorted(" ".join(map(short_term, row)) for row in rows)


def _row(line: str) -> Row:
    return tuple(long_term(m[0]) for m in _TERM.finditer(line))


def long_term(text: str) -> Term:
    if text[0] in '"<_':
        return Term(text)
    if text in _BOOLEANS:
        return boolean(_BOOLEANS[text])
    if _NAME.fullmatch(text):
        return iri(text)
    return integer(int(text)) if re.fullmatch(r"-?[0-9]+", text) else double(float(text))


def short_term(term: Term) -> str:
    value = to_value(term)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    name = term[1:-1]
    return name if term[0] == "<" and _NAME.fullmatch(name) and name not in _BOOLEANS else term
