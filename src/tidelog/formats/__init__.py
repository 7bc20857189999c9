"""Text and tables to facts and back: one file per format, streaming, exact errors."""

from tidelog.dictionary.batch import Batch
from tidelog.formats.delta_tables import (
    DeltaFile,
    DeltaReading,
    DeltaTarget,
    check_delta,
    commit_delta,
    is_delta,
    table_name,
    write_delta,
    write_delta_file,
)
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
from tidelog.formats.folders import read_folder
from tidelog.formats.objects import from_arrow, from_pandas, from_rdflib, from_rows, from_spark, marked_columns
from tidelog.formats.refused import Refuse, Refused
from tidelog.formats.source import Span
from tidelog.formats.tables import as_relation, table_kind
from tidelog.formats.writers import Block, only_rdf

__all__ = [
    "Batch",
    "Block",
    "DeltaFile",
    "DeltaReading",
    "DeltaTarget",
    "Reading",
    "Refuse",
    "Refused",
    "Span",
    "as_relation",
    "blocks_of",
    "check_delta",
    "commit_delta",
    "export_path",
    "format_name",
    "from_arrow",
    "from_pandas",
    "from_rdflib",
    "from_rows",
    "from_spark",
    "is_delta",
    "is_known",
    "is_rdf",
    "marked_columns",
    "only_rdf",
    "read",
    "read_folder",
    "read_import",
    "relation_file",
    "table_kind",
    "table_name",
    "write",
    "write_delta",
    "write_delta_file",
    "write_table",
    "written_aside",
]
