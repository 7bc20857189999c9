"""How the rule language reads the built-ins of `tidelog.rules.expressions`: operators, conditions, checks of calls.

In a body a name followed by `(` is a call only if it is a condition (`CONTAINS`, `isString` …) or if an operator
follows (`STRLEN(?x) > 3`); so `year` or `sum` can be predicates.
"""

from __future__ import annotations

from difflib import get_close_matches

from tidelog.rules.expressions import FUNCTIONS

ORDER_COMPARISONS = frozenset({"<", "<=", ">", ">="})
COMPARISONS = ORDER_COMPARISONS | {"=", "!="}
PRECEDENCE = {**dict.fromkeys(COMPARISONS, 1), "+": 2, "-": 2, "*": 3, "/": 3}
NEGATE = "INVERTSIGN"

# Nemo's names for the operators; a call of one is the operator.
SPELLED_OUT = {
    "EQUALITY": "=",
    "UNEQUALITY": "!=",
    "NUMGREATER": ">",
    "NUMGREATEREQ": ">=",
    "NUMLESS": "<",
    "NUMLESSEQ": "<=",
    "SUBTRACTION": "-",
    "DIVISION": "/",
}

# The functions that are true or false and so may stand alone in a body.
CONDITIONS = frozenset({"AND", "OR", "NOT", "CONTAINS", "STRSTARTS", "STRENDS", "REGEX", "SAMETERM"}) | {
    name for name in FUNCTIONS if name.startswith("IS") or SPELLED_OUT.get(name) in COMPARISONS
}

# Applied again to their own result these give nothing new, so a cycle through them ends.
SETTLING = frozenset({"CANONICAL", "DATATYPE", "IRI"})


def call_problem(function: str, count: int) -> str | None:
    """What is wrong with calling a function or operator with that many arguments, if anything."""
    if function not in FUNCTIONS and function not in PRECEDENCE:
        return f"unknown function `{function}`{_similar(function)}"
    least, most = (2, 2) if function in PRECEDENCE else FUNCTIONS[function]
    if count >= least and (most is None or count <= most):
        return None
    wanted = str(least) if most == least else f"at least {least}" if most is None else f"{least} to {most}"
    return f"`{function}` takes {wanted} argument{'' if wanted == '1' else 's'}, not {count}"


def _similar(function: str) -> str:
    close = get_close_matches(function, FUNCTIONS, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""
