"""Verdicts: a claim holds, fails, or is undecided, by the whole of an interval.

A comparison of two rows is an :class:`Estimate`: a value and, for every error probability alpha,
the two-sided interval of that error. It decides a relation when the interval lies on one side of
the bound; whatever the interval leaves open is undecided. The comparisons under one claim are
judged together, with Holm's correction, so that the chance of any wrong verdict among them is at
most 5 %.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

ALPHA = 0.05
"""The error probability of intervals and verdicts: 95 % intervals."""

LEEWAY = 0.5
"""Points within which accuracies are about the same, unless a claim says otherwise."""

Relation = Literal["above", "about", "smaller"]
Bounds = Callable[[float], tuple[float, float]]

DEFAULT_BY: dict[str, float] = {"above": 0.0, "about": LEEWAY, "smaller": 1.0}
"""The bound of a relation that names none: any difference, the leeway, any factor."""

_SMALLEST_ALPHA = 1e-12
_HALVINGS = 40


class Verdict(StrEnum):
    """What an interval says about a relation."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Estimate:
    """A comparison of two rows, with its intervals."""

    value: float  # left - right in points, or right / left; NaN where it may not be published
    bounds: Bounds | None  # of alpha, the two-sided interval; None where the records allow none
    method: str  # how the interval was made, in a few words
    note: str = ""  # what the interval does not know, or why there is none


def exact(value: float) -> Estimate:
    """Return the comparison of two numbers without chance: bytes, errors of a fixed map."""
    return Estimate(value, lambda alpha: (value, value), "exact")


def unknown(value: float, reason: str) -> Estimate:
    """Return a comparison about whose error nothing is on record; it is never decided."""
    return Estimate(value, None, "no interval", reason)


def decide(relation: Relation, by: float, low: float, high: float) -> Verdict:
    """Return what the interval from ``low`` to ``high`` says about a relation.

    ``above``: the difference is at least ``by``. ``about``: it lies within ± ``by``, an
    equivalence test by the inclusion of the interval (Schuirmann, J. Pharmacokin. Biopharm. 15,
    1987; with the 95 % interval both one-sided tests are at 2.5 %). ``smaller``: the ratio is
    at least ``by``. The relation holds when it is true on all of the interval, and fails when
    it is false on all of it.
    """
    if relation == "about":
        inside, outside = -by <= low and high <= by, high < -by or low > by
    else:
        inside, outside = low >= by, high < by
    if inside:
        return Verdict.HOLDS
    return Verdict.FAILS if outside else Verdict.UNDECIDED


@dataclass(frozen=True)
class Comparison:
    """Two rows under a claim, and what it says of them."""

    where: str  # the rows that are compared
    relation: Relation
    by: float | None  # the bound; None: DEFAULT_BY
    estimate: Estimate
    of_computer: bool = False  # whether the numbers depend on it: times, peaks of memory

    @property
    def bound(self) -> float:
        """What the difference or the ratio is held against."""
        return DEFAULT_BY[self.relation] if self.by is None else self.by

    def verdict(self, alpha: float) -> Verdict:
        """Return what the interval of an error probability says; it has to be there."""
        if self.estimate.bounds is None:
            raise ValueError("an estimate without an interval has no verdict")
        return decide(self.relation, self.bound, *self.estimate.bounds(alpha))


@dataclass(frozen=True)
class Finding:
    """One comparison under a claim, judged."""

    comparison: Comparison
    p: float  # the least alpha whose interval decides the relation, either way
    adjusted_p: float  # the same after Holm's correction for the other comparisons of the claim
    verdict: Verdict

    @property
    def estimate(self) -> Estimate:
        """How the comparison came out."""
        return self.comparison.estimate

    @property
    def is_left_open_by_holm(self) -> bool:
        """Whether its own interval decides it, and Holm's correction leaves it undecided."""
        return self.verdict is Verdict.UNDECIDED and self.p <= ALPHA

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of this comparison alone."""
        return self.estimate.bounds and self.estimate.bounds(ALPHA)


@dataclass(frozen=True)
class Judgement:
    """What becomes of a claim."""

    findings: tuple[Finding, ...]  # in the order in which the comparisons were given

    @property
    def verdict(self) -> Verdict:
        """``holds`` when every comparison does, ``fails`` when one fails, else ``undecided``."""
        verdicts = {finding.verdict for finding in self.findings}
        if Verdict.FAILS in verdicts:
            return Verdict.FAILS
        return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.UNDECIDED

    @property
    def verdict_of_any_computer(self) -> Verdict | None:
        """The verdict, judged again without times and memory; None when there is nothing else."""
        kept = [found.comparison for found in self.findings if not found.comparison.of_computer]
        return judge(kept).verdict if kept else None

    @property
    def counts(self) -> str:
        """How many comparisons hold, fail and are undecided, in words."""
        if not self.findings:
            return "nothing measured"
        verdicts = [finding.verdict for finding in self.findings]
        hold, fail, open_ = (verdicts.count(verdict) for verdict in Verdict)
        words = [f"{hold} of {len(verdicts)} hold"]
        words += [f"{fail} fail"] if fail else []
        words += [f"{open_} undecided"] if open_ else []
        return ", ".join(words)


def judge(comparisons: Iterable[Comparison]) -> Judgement:
    """Judge the comparisons under one claim, and the claim.

    Each comparison is decided either way by two one-sided tests of 2.5 %, corrected by Holm's
    step-down procedure (Scand. J. Stat. 6, 1979). One without an interval is not a test.
    """
    given = list(comparisons)
    decided = [_first_decision(comparison) for comparison in given]
    adjusted = _holm([p for _, p in decided if p is not None])
    findings = []
    for comparison, (verdict, p) in zip(given, decided, strict=True):
        corrected = 1.0 if p is None else adjusted.pop(0)
        kept = verdict if corrected <= ALPHA else Verdict.UNDECIDED
        findings.append(Finding(comparison, 1.0 if p is None else p, corrected, kept))
    return Judgement(tuple(findings))


def _first_decision(comparison: Comparison) -> tuple[Verdict, float | None]:
    """Return which way the relation is decided, and the least alpha that decides it."""
    if comparison.estimate.bounds is None:
        return Verdict.UNDECIDED, None
    if (sure := comparison.verdict(_SMALLEST_ALPHA)) is not Verdict.UNDECIDED:
        return sure, 0.0
    # Intervals shrink as alpha grows, so there is one place where the relation becomes decided.
    undecided, decided = _SMALLEST_ALPHA, 1.0
    for _ in range(_HALVINGS):
        middle = (undecided * decided) ** 0.5
        if comparison.verdict(middle) is Verdict.UNDECIDED:
            undecided = middle
        else:
            decided = middle
    return comparison.verdict(decided), decided


def _holm(p_values: list[float]) -> list[float]:
    """Return p-values adjusted by Holm's procedure, in the order given."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted
