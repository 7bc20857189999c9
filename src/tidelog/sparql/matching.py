"""CONTAINS, STRSTARTS, STRENDS and REGEX of many plain strings at once, without making Python strings of them."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.kernel.rows import Ints, Mask
from tidelog.model.terms import Term
from tidelog.rules.syntax import Variable
from tidelog.sparql.algebra import Call, Expression
from tidelog.sparql.overlay import Overlay
from tidelog.sparql.regular import translated
from tidelog.sparql.term_functions import plain_text

_TESTS: dict[str, Callable[[pa.Array, str], pa.Array]] = {
    "CONTAINS": pc.match_substring,
    "STRSTARTS": pc.starts_with,
    "STRENDS": pc.ends_with,
    "REGEX": pc.match_substring_regex,
}


def tested(expression: Expression) -> tuple[Variable, bool, str, str] | None:
    """(variable, whether its text is meant, the test, what to look for) of a test of a variable against constants."""
    match expression:
        case Call(name, (subject, str() as wanted, *rest)) if name in _TESTS and all(isinstance(r, str) for r in rest):
            constants = [plain_text(Term(c)) for c in (wanted, *rest) if isinstance(c, str)]
        case _:
            return None
    if any(c is None for c in constants):
        return None
    text, flags = constants[0], constants[1] if len(constants) > 1 else ""
    asked = translated(str(text), str(flags)) if name == "REGEX" else text
    match subject:
        case Variable():
            return None if asked is None else (subject, False, name, asked)
        case Call("STR", (Variable() as variable,)):
            return None if asked is None else (variable, True, name, asked)
        case _:
            return None


def test(overlay: Overlay, ids: Ints, any_term: bool, name: str, asked: str) -> Mask | None:
    """Which terms pass a test; None if some are not as simple as that."""
    texts = _plain(overlay.decode_array(ids), any_term)
    if texts is None:
        return None
    found: Mask = _TESTS[name](texts, asked).to_numpy(zero_copy_only=False)
    return found


def _plain(terms: pa.Array, any_term: bool) -> pa.Array | None:
    """The texts of strings without language and escapes, or also of IRIs; None if there is another term."""
    texts = terms.cast(pa.large_string())
    simple = pc.and_(pc.starts_with(texts, '"'), pc.ends_with(texts, '"'))
    if any_term:
        simple = pc.or_(simple, pc.starts_with(texts, "<"))
    if terms.null_count or not pc.all(simple).as_py() or pc.any(pc.match_substring(texts, "\\")).as_py():
        return None
    return pc.utf8_slice_codeunits(texts, 1, -1)
