"""Reads what users give as facts or rules, and returns parsed batches and rules.

text                      parent(ann, bob) .  or rules
a path or a glob          "family.ttl", "data/*.nt.gz", "program.rls" (with its imports), "rules.n3", "rules.ruleml"
rows by relation          {"parent": [("ann", "bob")]}, a pandas or Spark DataFrame, an Arrow or Delta table, a Path
one such table alone      if its columns are subject, predicate and object
a directory               the parts of one file, a Delta table, or several relations
an rdflib Graph           its triples
rules                     text, a path, a Rule
a list                    of any of these
"""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import cast

from tidelog import formats
from tidelog.dictionary.batch import Batch
from tidelog.errors import InputError, UsageError
from tidelog.formats import ReadingOptions
from tidelog.languages import LANGUAGES
from tidelog.model.addresses import data_address, scheme_of, text_path
from tidelog.model.terms import TRIPLE, Fact, Term
from tidelog.rules.analysis.lint import likely_variables
from tidelog.rules.analysis.safety import check_program
from tidelog.rules.parsing.parser import parse_program
from tidelog.rules.syntax import Rule, RuleFile

PROGRAM_SUFFIXES = (".rls", ".dl", *LANGUAGES)

_MOST_FILES = 1000  # whose prefixes are read
_MOST_NOTES = 6  # about prefixes
_COMPRESSION = 10  # how many times larger RDF text is than its gzip

Prefixes = Mapping[str, str]
NONE: Prefixes = MappingProxyType({})

BY_NAME = ReadingOptions()  # the name of a file gives its format and its relation

# A source of facts: a file (`formats.FactFile`), a DataFrame, a URL, or parsed rows.
Batches = Iterable[Batch]


@dataclass
class Input:
    """Facts and rules. Programs are parsed already; `batches` are read later."""

    facts: list[Fact] = field(default_factory=list)
    batches: list[Batches] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)  # of texts and programs; they replace older ones
    file_prefixes: list[tuple[Path, Prefixes]] = field(default_factory=list)  # of RDF files; older ones stay
    notes: list[str] = field(default_factory=list)  # sentences about what is probably not meant
    columns: dict[str, list[str]] = field(default_factory=dict)  # relation -> names of its columns

    def add_program(self, program: RuleFile, folder: Path) -> None:
        """Add the facts, rules and imports of a program; paths are relative to its folder."""
        check_program(program)
        self.notes += map(str, islice(likely_variables(program), _MOST_NOTES))
        self.facts += program.facts
        self.rules += program.rules
        self.prefixes |= program.prefixes
        self.batches += [formats.read_import(i, folder) for i in program.imports]

    def skipping_bad_lines(self, on_bad_line: formats.OnBadLine | None) -> Input:
        """The same input, but `on_bad_line` is called for each bad line, which is skipped. None: the first raises."""
        if on_bad_line is None:
            return self
        skipping = [b.skipping_bad_lines(on_bad_line) if isinstance(b, formats.FactFile) else b for b in self.batches]
        return replace(self, batches=skipping)

    @property
    def remote(self) -> str:
        """The address of a part that only Spark can read; '' if there is none."""
        return next((source.url for source in self.batches if isinstance(source, formats.RemoteSource)), "")

    def nbytes(self) -> int:
        """About how many bytes the files have. Data in memory is not counted."""
        files = (source for source in self.batches if isinstance(source, formats.FactFile))
        return sum(f.size * (_COMPRESSION if f.path.suffix == ".gz" else 1) for f in files if f.path.exists())

    def add_path(self, path: Path, how: ReadingOptions = BY_NAME) -> None:
        relation = how.relation
        if path.suffix not in PROGRAM_SUFFIXES or path.is_dir() or how.format is not None:
            found = formats.read_path(path, how)
            self.batches += found
            for file in found:
                if isinstance(file, formats.FactFile):
                    self._add_file(file)
        elif relation is None:
            self.add_program(read_program(path), path.parent)
        else:
            raise UsageError(f"{path} is a program, whose facts say what they are; leave out relation={relation!r}")

    def add_rows(self, relation: str, rows: object) -> None:
        """Add the rows of one relation: a path, a table, or an iterable of tuples."""
        if relation.startswith("("):
            raise UsageError(f"{relation!r} cannot be the name of a relation: names in brackets are tidelog's own")
        if isinstance(rows, Path):
            self.add_path(rows, ReadingOptions(relation))
            return
        self.batches.append(_batches(relation, rows))
        if formats.table_kind(rows):
            self.add_columns(relation, formats.column_names_of(rows))

    def _add_file(self, file: formats.FactFile) -> None:
        """Add what is known about a file before its facts are read."""
        if len(self.notes) < _MOST_NOTES:
            self.notes += file.notes()
        if file.options.predicate not in self.columns:
            self.add_columns(file.options.predicate, file.columns())
        if len(self.file_prefixes) < _MOST_FILES and (prefixes := file.prefixes()):
            self.file_prefixes.append((file.path, prefixes))

    def add_columns(self, relation: str, names: Iterable[object]) -> None:
        """Add the names of the columns of a relation, if they are different words."""
        words = [name for name in names if isinstance(name, str) and name]
        if words and relation != TRIPLE and len(set(words)) == len(list(names)):
            self.columns[relation] = words

    def merged_columns(self, before: Mapping[str, list[str]]) -> tuple[Mapping[str, list[str]], list[str]]:
        """The names of all columns after this input is added, and notes about those that are new but do not count."""
        if not self.columns:
            return before, []
        notes = [
            f"{relation}: its columns stay {', '.join(before[relation])}; this data calls them {', '.join(names)}"
            for relation, names in self.columns.items()
            if before.get(relation, names) != names
        ]
        return {**self.columns, **before}, notes

    def merged_prefixes(self, before: Prefixes) -> tuple[Prefixes, list[str]]:
        """All prefixes after this input is added to those `before`, and notes about those that files do not get."""
        merged, notes = {**before, **self.prefixes}, []
        for path, prefixes in self.file_prefixes:
            for prefix, iri in prefixes.items():
                if (known := merged.setdefault(prefix, iri)) != iri:
                    notes.append(f"{path}: the prefix {prefix}: stays <{known}>; this file has <{iri}>")
        if len(notes) > _MOST_NOTES:
            notes[_MOST_NOTES - 1 :] = [f"{len(notes) - _MOST_NOTES + 1:,} more prefixes stay as they are"]
        return merged, notes

    def add_source(self, source: object, how: ReadingOptions = BY_NAME) -> bool:
        """Add a table, a graph, a URL or a path; return whether the source is one. Raises if it cannot be read."""
        if isinstance(source, Input):
            self.facts += source.facts
            self.batches += source.batches
            self.rules += source.rules
            self.prefixes |= source.prefixes
            self.file_prefixes += source.file_prefixes
            self.notes += source.notes
            self.columns |= source.columns
        elif formats.table_kind(source):
            self.add_rows(*formats.as_relation(source, how.relation))
        elif isinstance(source, str | Path):
            self._add_address(source, how)
        elif _is_graph(source):
            self.batches.append([formats.from_rdflib(source)])
        else:
            return False
        return True

    def _add_address(self, source: str | Path, how: ReadingOptions) -> None:
        address = data_address(source)
        if isinstance(address, str):
            if address.endswith(PROGRAM_SUFFIXES):
                text_path(address)  # raises
            self.batches.append(formats.RemoteSource(address, how.relation))
        else:
            for path in expand_paths([address]):
                self.add_path(path, how)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file."""
    path = text_path(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 text: {error}") from None


def read_program(path: Path, parameters: Mapping[str, Term] | None = None) -> RuleFile:
    """The program in a file. The file name gives the language; our own rule language is the default.

    `parameters` are values for its `@parameter` declarations.
    """
    text, parse = read_text(path), LANGUAGES.get(path.suffix)
    return parse(text, str(path)) if parse else parse_program(text, str(path), parameters)


def expand_paths(patterns: Iterable[str | Path]) -> Iterator[Path]:
    """The files of paths and glob patterns. A pattern without a match is an error."""
    for path in map(text_path, patterns):
        if path.exists() or not glob.has_magic(str(path)):
            yield path
            continue
        matches = sorted(glob.glob(str(path), recursive=True))
        if not matches:
            raise InputError(f"{path}: no file matches this pattern")
        yield from map(Path, matches)


def read_files(sources: Iterable[object], how: ReadingOptions = BY_NAME) -> Input:
    """Reads data files, programs, directories, rdflib graphs and tables."""
    result = Input()
    for source in sources:
        if not result.add_source(source, how):
            raise UsageError(f"cannot load {type(source).__name__}; give a path, a glob, an rdflib Graph or a table")
    return result


def _is_graph(source: object) -> bool:
    """Whether it is an rdflib graph. Test for a table first: a Spark Connect DataFrame has every attribute."""
    return hasattr(source, "triples") and hasattr(source, "namespaces")


def read_relation(relation: str, rows: object, prefixes: Prefixes = NONE) -> Input:
    """All facts of one relation: rows, a table, a path, or text."""
    if isinstance(rows, Path) or (isinstance(rows, str) and _looks_like_path(rows)):
        result = read_files([rows], ReadingOptions(None if relation == TRIPLE else relation))
    elif isinstance(rows, str):
        result = read_facts(rows, prefixes)
    else:
        result = read_facts({relation: rows})
    if result.rules:
        raise UsageError(f"{rows} holds rules; the rows of {relation} are expected here")
    return result


def read_facts(source: object, prefixes: Prefixes = NONE) -> Input:
    """Facts in any of the forms above; rules are refused. A text may use `prefixes`; a file has its own."""
    result = Input()
    _add_facts(result, source, prefixes)
    return result


def _add_facts(result: Input, source: object, prefixes: Prefixes) -> None:
    if source is None:
        return
    if isinstance(source, str) and not _looks_like_path(source):
        result.add_program(parse_program(source, only="facts", prefixes=prefixes), Path())
    elif isinstance(source, Mapping):
        for name, rows in source.items():
            result.add_rows(str(name), rows)
    elif isinstance(source, Fact):
        result.facts.append(source)
    elif isinstance(source, Sequence) and not isinstance(source, str) and all(isinstance(f, Fact) for f in source):
        result.facts += source
    elif isinstance(source, list):
        for part in source:
            _add_facts(result, part, prefixes)
    elif not result.add_source(source):
        raise UsageError(
            f"cannot read facts from {type(source).__name__}; give text, a path, an rdflib Graph, "
            'or a dict such as {"parent": [("ann", "bob")]}'
        )
    elif result.rules:
        raise UsageError(f"{source} holds rules; facts are expected here (give rules as add_rules or remove_rules)")


def _looks_like_path(text: str) -> bool:
    """Whether a text has no spaces and brackets, and is a URL or ends like a known file. Facts end with a dot."""
    return not any(c.isspace() or c in "([\"'" for c in text) and (
        text.endswith(PROGRAM_SUFFIXES) or formats.is_known(Path(text)) or bool(scheme_of(text))
    )


def _batches(name: str, rows: object) -> Batches:
    """The source of the rows of one relation."""
    kind = formats.table_kind(rows)
    if kind is not None:
        return _table(kind, name, rows)
    if isinstance(rows, formats.DeltaReading):
        return rows
    if isinstance(rows, Iterable) and not isinstance(rows, str):
        return [formats.from_rows(name, rows)]
    raise UsageError(
        f"the rows of {name} must be an iterable of tuples, a DataFrame, an Arrow or Delta table, or a Path, "
        f"not {type(rows).__name__}"
    )


def _table(kind: str, name: str, rows: object) -> Batches:
    if kind == "pyspark":
        return formats.FrameSource(name, cast(formats.SparkFrame, rows))
    if kind == "deltalake":
        return formats.DeltaReading(rows, name)
    return [formats.from_pandas(name, rows) if kind == "pandas" else formats.from_arrow(name, rows)]


def read_rules(source: object, prefixes: Prefixes = NONE) -> Input:
    """Rules as text, a path, `Rule` objects, or a list of these; facts are refused. A text may use `prefixes`."""
    result = Input()
    _add_rules(result, source, prefixes)
    return result


def _add_rules(result: Input, source: object, prefixes: Prefixes) -> None:
    if source is None:
        return
    if isinstance(source, Rule):
        result.rules.append(source)
    elif isinstance(source, Path) or (isinstance(source, str) and _looks_like_path(source)):
        result.add_program(_rules_only(text_path(source)), Path())
    elif isinstance(source, str):
        result.add_program(parse_program(source, only="rules", prefixes=prefixes), Path())
    elif isinstance(source, Iterable):
        for part in source:
            _add_rules(result, part, prefixes)
    else:
        raise UsageError(f"cannot read rules from {type(source).__name__}; give text, a path or Rule objects")


def _rules_only(path: Path) -> RuleFile:
    if formats.is_known(path) and path.suffix not in LANGUAGES:
        raise UsageError(f"{path} holds no rules; if it is an ontology, compile it: tidelog.ontology({str(path)!r})")
    if path.suffix not in LANGUAGES:
        return parse_program(read_text(path), str(path), only="rules")
    program = read_program(path)
    if program.facts:
        raise UsageError(f"{path} holds facts; rules are expected here (load the file, or give its facts as add)")
    return program
