"""Text and tables to facts and back: one file per format, streaming, exact errors."""

from tidelog.dictionary.batch import Batch
from tidelog.formats.files import (
    Reading,
    blocks_of,
    export_path,
    format_name,
    is_known,
    is_rdf,
    read,
    read_import,
    relation_file,
    write,
    write_table,
    written_aside,
)
from tidelog.formats.objects import from_arrow, from_pandas, from_rdflib, from_rows
from tidelog.formats.refused import Refuse, Refused
from tidelog.formats.source import Span
from tidelog.formats.writers import Block, only_rdf

__all__ = [
    "Batch",
    "Block",
    "Reading",
    "Refuse",
    "Refused",
    "Span",
    "blocks_of",
    "export_path",
    "format_name",
    "from_arrow",
    "from_pandas",
    "from_rdflib",
    "from_rows",
    "is_known",
    "is_rdf",
    "only_rdf",
    "read",
    "read_import",
    "relation_file",
    "write",
    "write_table",
    "written_aside",
]
