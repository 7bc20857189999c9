"""What can be known of a query before it is asked, kept with its text: the algebra, and patterns with variables numbered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from weakref import ref

from tidelog.dictionary import Dictionary
from tidelog.model.vocabulary import OWL, RDF, RDFS, XSD
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import (
    Ask,
    BasicPattern,
    Construct,
    Describe,
    Pattern,
    Project,
    Query,
    Select,
)
from tidelog.sparql.lookups import Places
from tidelog.sparql.needed import mentions
from tidelog.sparql.overlay import Overlay
