"""Recognises what an RDF file holds by its first bytes, because ontologies are published under wrong endings."""

from __future__ import annotations

import re
from pathlib import Path

from tidelog.errors import InputError
from tidelog.formats.source import opened

_SAMPLE = 1 << 16
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|#[^\n]*\n)*")
_XML_BLANK = re.compile(rb"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*", re.DOTALL)
_FORMATS = (
    ("rdfxml", re.compile(rb"<\?xml\s|<!(?:--|DOCTYPE)|<[\w.-]+(?::[\w.-]+)?\s+[\w:.-]+\s*=")),
    ("jsonld", re.compile(rb"\{\s*[\"}]|\[\s*\{")),
    ("turtle", re.compile(rb"@(?:prefix|base)\s|(?i:prefix|base)\s[^(]*<|<[^<>\"\s]*>\s|_:|\[|[\w.-]*:[\w.-]+\s")),
)
_OTHERS = (
    (re.compile(rb"(?:Prefix|Ontology)\s*\("), "OWL in functional syntax"),
    (re.compile(rb"(?:Prefix|Ontology):\s"), "OWL in Manchester syntax"),
    (re.compile(rb"format-version:|\[Term\]"), "an ontology in OBO format"),
)
_OTHER_XML = (
    (re.compile(rb"<Ontology\s(?![^>]*\srdf:)"), "OWL/XML"),
    (re.compile(rb"<(?i:html)[\s>]"), "a web page"),
)


def rdf_format(path: Path, named: str) -> str:
    """The RDF format of a file: turtle, rdfxml or jsonld if its content looks like that, else the format `named`.

    Ontology languages that are not read are refused with their name.
    """
    if not path.is_file():
        return named
    with opened(path) as stream:
        sample = stream.read(_SAMPLE)
    start = sample[_end(_BLANK, sample, 0) :]
    for pattern, language in _OTHERS:
        if pattern.match(start):
            raise _unreadable(path, language)
    found = next((name for name, pattern in _FORMATS if pattern.match(start)), named)
    if found == "rdfxml":
        root = start[_end(_XML_BLANK, start, 0) :]
        for pattern, language in _OTHER_XML:
            if pattern.match(root):
                raise _unreadable(path, language)
    stays = (found, named) == ("turtle", "trig") or (named == "jsonld" and start[:1] == b"[")
    return named if stays else found


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return match.end() if match else start


def _unreadable(path: Path, language: str) -> InputError:
    return InputError(f"{path}: this is {language}, which is not read; convert it to RDF/XML or Turtle")
