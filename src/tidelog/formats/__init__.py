"""Text and tables to facts and back: one file per format, streaming, exact errors."""

from tidelog.dictionary.batch import Batch
from tidelog.formats.files import blocks_of, export_path, is_known, read, read_import, write
from tidelog.formats.objects import from_arrow, from_pandas, from_rdflib, from_rows

__all__ = [
    "Batch",
    "blocks_of",
    "export_path",
    "from_arrow",
    "from_pandas",
    "from_rdflib",
    "from_rows",
    "is_known",
    "read",
    "read_import",
    "write",
]
