"""The statements of the papers in words, and the tests besides experiments that decide them.

``claims.csv`` has the claims with their identifiers and sources; the ``claims`` of experiment files
refer to them. ``criteria.csv`` has what decides each part of a claim, the same on every page: a
relation and its bound, the words that it stands for and the reason for the bound. ``elsewhere.csv``
has, claim by claim, the tests that decide it, or a part of it. ``wrong.csv`` has, for each run that
a part of a claim is judged on, the strongest row that its sentence excludes: where that row passes
too, the criterion decides nothing there.
Comparisons of something that no paper claims have names of words.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from kmaps.bench.paper.verdicts import Verdict, decide
from kmaps.bench.records.columns import declared
from kmaps.errors import InputError

OWN_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
"""The names of comparisons that no paper claims: words, never a letter and a number."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper."""

    id: str  # A letter (A: annfm, C: ldefm, G: genrbf, L: lac, V: hkm) and a number
    text: str  # the sentence
    source: str  # where the papers say it


@dataclass(frozen=True)
class Criterion:
    """The criterion that decides a part of a claim, on every page by the same bound."""

    id: str  # the claim
    part: str  # a word or two; empty where the claim has one part
    relation: Literal["above", "about", "smaller"]
    by: float
    sentence: str  # the words of the claim that it represents
    reason: str  # why the bound is this, given what the paper prints


@dataclass(frozen=True)
class WrongRow:
    """The strongest row that a sentence excludes, on a run that a part of a claim is judged on."""

    id: str  # the claim
    part: str
    run: str
    what: str  # the row in words
    source: str  # the run whose records the number is from; empty where it follows from the words
    left: str  # the row of that run that stands in the place of the claim's
    right_source: str  # the run of the row that it is compared with; empty: the same
    right: str
    measure: str
    value: str  # the difference or the ratio; empty where it is the same for all data

    def passes(self) -> str:
        """Return the row and its number if it meets the criterion; empty where it fails."""
        rule = criterion(self.id, self.part)
        if not self.value:
            return self.what
        value = float(self.value)
        if decide(rule.relation, rule.by, value, value) is Verdict.FAILS:
            return ""
        unit = "×" if rule.relation == "smaller" else "points"
        return f"{self.what} ({self.value} {unit})"


@dataclass(frozen=True)
class Paper:
    """A paper: its short name, the letter of its claims, and its authors and title."""

    name: str
    letter: str
    title: str


@dataclass(frozen=True)
class Elsewhere:
    """The tests besides experiments that decide a claim, or a part of it."""

    id: str  # the claim
    test: str  # file::name of the test that decides it
    note: str  # the part that it decides; empty for the whole claim


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers."""
    return tuple(Paper(**line) for line in declared("paper/papers.csv"))


@cache
def claims() -> dict[str, Claim]:
    """Return the claims by their identifiers."""
    return {line["id"]: Claim(**line) for line in declared("paper/claims.csv")}


@cache
def criteria() -> dict[tuple[str, str], Criterion]:
    """Return the criteria by the claim and its part."""
    lines = (line | {"by": float(line["by"])} for line in declared("paper/criteria.csv"))
    return {(line["id"], line["part"]): Criterion(**line) for line in lines}


def criterion(id: str, part: str) -> Criterion:
    """Return the criterion of a part of a claim; an InputError names the parts that there are."""
    if (id, part) not in criteria():
        parts = ", ".join(repr(other) for name, other in criteria() if name == id)
        raise InputError(f"claim {id} has no part {part!r}: expected part: {parts}")
    return criteria()[id, part]


@cache
def wrong_rows() -> dict[tuple[str, str, str], WrongRow]:
    """Return the wrong rows by the claim, its part, and the run that it is judged on."""
    rows = [WrongRow(**line) for line in declared("paper/wrong.csv")]
    return {(row.id, row.part, row.run): row for row in rows}


@cache
def elsewhere() -> tuple[Elsewhere, ...]:
    """Return the tests besides experiments that decide claims."""
    return tuple(Elsewhere(**line) for line in declared("paper/elsewhere.csv"))
