"""The algorithms by name."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.algorithms.backward_forward import backward_forward
from tidelog.algorithms.budgeted import budgeted
from tidelog.algorithms.counting import counting, counting_with_bf
from tidelog.algorithms.declarative_dred import declarative_dred
from tidelog.algorithms.dred import dred
from tidelog.algorithms.dred_with_fallback import dred_with_bf, dred_with_rematerialise
from tidelog.algorithms.fp_update import fp_update
from tidelog.algorithms.recursive_counting import recursive_counting
from tidelog.algorithms.semi_naive import rematerialise
from tidelog.algorithms.update import Algorithm

ALGORITHMS: Mapping[str, Algorithm] = {
    "bf": backward_forward,
    "budgeted": budgeted,
    "counting": counting,
    "counting+bf": counting_with_bf,
    "declarative": declarative_dred,
    "dred": dred,
    "dred+bf": dred_with_bf,
    "dred+rematerialise": dred_with_rematerialise,
    "fp": fp_update,
    "recursive-counting": recursive_counting,
    "rematerialise": rematerialise,
}
