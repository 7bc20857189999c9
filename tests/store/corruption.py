"""Damages a store in random ways and asks it everything: each answer must be right or refused with a typed error.

`python -m tests.store.corruption FOLDER SUBJECT FIRST LAST` prints a report as JSON for the seeds from first to last.
Seeds run many to a fork; one that ends its process (a signal, a hang) is reported, and the rest go on in another.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.store.bench import Report, warm
from tests.store.damage import damage
from tests.store.forks import Say, in_fork
from tests.store.subject import Subject
from tests.store.subjects import SUBJECTS

BATCH = 50  # seeds to a fork
CHANGING = 5  # one of so many seeds goes on with changes

Answers = dict[str, list[Any]]  # name of the question -> "answered" and the answer, or "refused" and why


class Trial:
    """A store to damage again and again, and what it must answer."""

    def __init__(self, subject: Subject, work: Path) -> None:
        self._subject, self._work = subject, work
        self._sound, self._earlier = work / "sound" / "x.kb", work / "earlier"
        self.store = work / "store" / "x.kb"
        warm(subject, work / "warm")
        for folder in (self._sound, self._earlier / "x.kb"):
            folder.parent.mkdir()
        ended = in_fork(lambda say: self._prepare(say))
        assert ended.whole, ended.error
        self._right: Answers = ended.said[-1]

    def _prepare(self, say: Say) -> None:
        self._subject.exemplar(self._sound, lambda: shutil.copytree(self._sound, self._earlier / "x.kb"))
        self._reset()
        answers = self._answers(change=True)
        refused = [f"{name}: {answer[1]}" for name, answer in answers.items() if answer[0] == "refused"]
        assert not refused, refused
        say(answers)

    def _reset(self) -> None:
        shutil.rmtree(self.store.parent, ignore_errors=True)
        shutil.copytree(self._sound.parent, self.store.parent)

    def _answers(self, *, change: bool) -> Answers:
        """To all questions, and after changes again, if those are to be made and not refused."""
        questions, changes = self._subject.questions, self._subject.changes if change else {}
        answers = self._asked({**questions, **changes})
        if change and all(name in answers and answers[name][0] == "answered" for name in changes):
            answers |= {f"{name}, again": answer for name, answer in self._asked(questions).items()}
        return answers

    def _asked(self, questions: Mapping[str, Callable[[Any], Any]]) -> Answers:
        """Each answer, right or wrong, or refusal; one refusal does not end the questions."""
        try:
            session = self._subject.open(self.store)
        except self._subject.refusal as refusal:
            return {"open": ["refused", str(refusal)]}
        answers: Answers = {}
        for name, ask in questions.items():
            try:
                answers[name] = ["answered", json.loads(json.dumps(ask(session)))]
            except self._subject.refusal as refusal:
                answers[name] = ["refused", str(refusal)]
        self._subject.close(session)
        return answers

    def run(self, seeds: range, report: Report) -> None:
        left = list(seeds)
        while left:
            ended = in_fork(lambda say, batch=left[:BATCH]: self._batch(batch, say))  # type: ignore[misc]
            done = len(ended.said) // 2
            for what, problem in zip(ended.said[::2], ended.said[1::2], strict=False):
                report.refused += problem == "refused"
                report.problems += [f"{what}: {problem}"] if problem not in ("", "refused") else []
            if not ended.whole:
                report.problems.append(f"{ended.said[-1]}: {ended.error or f'ended by signal {ended.signal}'}")
                done += 1
            report.points += done
            left = left[done:]

    def _batch(self, seeds: list[int], say: Say) -> None:
        for seed in seeds:
            self._reset()
            say(f"seed {seed}: {damage(seed, self.store, self._earlier)}")
            answers = self._answers(change=seed % CHANGING == 0)
            wrong = [f"{n} gave {a[1]}" for n, a in answers.items() if a[0] == "answered" and a != self._right[n]]
            refused = any(answer[0] == "refused" for answer in answers.values())
            say("; ".join(wrong) or ("refused" if refused else ""))


def main(folder: str, name: str, first: str, last: str) -> None:
    report = Report()
    Trial(SUBJECTS[name](), Path(folder)).run(range(int(first), int(last)), report)
    print(json.dumps(vars(report)))


if __name__ == "__main__":
    main(*sys.argv[1:])
