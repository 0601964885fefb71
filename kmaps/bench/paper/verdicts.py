"""Verdicts: a claim holds, fails, or is undecided, by the whole of an interval.

A comparison of two rows is an :class:`Estimate`: a value and, for every error probability alpha,
the two-sided interval of that error. It decides a relation when the interval lies on one side of
the bound; whatever the interval leaves open is undecided.

A claim holds when all its comparisons hold. Each may then be judged at the full 5 %, whatever their
number: the claim is an intersection–union test (Berger, Technometrics 24, 1982). It fails when one
of them fails; that one is picked among many, so Holm's correction keeps the chance of a wrong
"fails" among them at 5 %.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

ALPHA = 0.05  # the error probability of intervals and verdicts: 95 % intervals

LEEWAY = 0.5  # points: closer accuracies are about the same, unless a claim says otherwise
Relation = Literal["above", "about", "smaller"]
Bounds = Callable[[float], tuple[float, float]]

DEFAULT_BY: dict[str, float] = {"above": 0.0, "about": LEEWAY, "smaller": 1.0}
"""The bound of a relation that names none: any difference, the leeway, any factor."""

LEVELS: dict[str, float] = {"above": ALPHA, "about": 2 * ALPHA, "smaller": ALPHA}
"""The error probability of the interval that lets a relation hold.

"About" is two one-sided tests of 5 % each, which is the 90 % interval (Schuirmann, J. Pharmacokin.
Biopharm. 15, 1987).
"""

MOST_DRAWS = 1000  # more draws are not feasible
_SMALLEST_ALPHA = 1e-12
_HALVINGS = 40


class Verdict(StrEnum):
    """The verdict of an interval on a relation."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"
    NOT_DECISIVE = "not decisive"  # a row that the sentence excludes would pass too


@dataclass(frozen=True)
class Estimate:
    """A comparison of two rows, with its intervals."""

    value: float  # left - right in points, or right / left; NaN if it may not be published
    bounds: Bounds | None  # the two-sided interval for alpha; None if the records allow none
    method: str  # how the interval was made, in a few words
    note: str = ""  # what the interval leaves out, or why there is none
    on_these: bool = False  # whether it is about these training sets alone
    beyond: Bounds | None = None  # then the interval for others too, if the design has one
    of_draws: Callable[[int], Bounds] | None = None  # of so many draws, or times the test samples


def exact(value: float) -> Estimate:
    """Return the comparison of two numbers without chance: bytes, errors of a fixed map."""
    return Estimate(value, lambda alpha: (value, value), "exact")


def unknown(value: float, reason: str) -> Estimate:
    """Return a comparison about whose error nothing is on record; it is never decided."""
    return Estimate(value, None, "no interval", reason)


def decide(relation: Relation, by: float, low: float, high: float) -> Verdict:
    """Return the verdict of the interval from ``low`` to ``high`` on a relation.

    ``above``: the difference is at least ``by``. ``about``: it lies within ± ``by``.
    ``smaller``: the ratio is at least ``by``. The relation holds when it is true on all of the
    interval, and fails when it is false on all of it.
    """
    if relation == "about":
        inside = -by <= low and high <= by
        outside = high < -by or low > by
    else:
        inside = low >= by
        outside = high < by
    if inside:
        return Verdict.HOLDS
    return Verdict.FAILS if outside else Verdict.UNDECIDED


@dataclass(frozen=True)
class Comparison:
    """Two rows under a claim, and the outcome of their comparison."""

    where: str  # the rows that are compared
    relation: Relation
    by: float | None  # the bound; None: DEFAULT_BY
    estimate: Estimate
    of_computer: bool = False  # whether the computer affects the numbers: times, peaks of memory
    passing: str = ""  # the wrong row that meets the bound too; then nothing is decided

    @property
    def bound(self) -> float:
        """The bound that the difference or the ratio is compared with."""
        return DEFAULT_BY[self.relation] if self.by is None else self.by

    def verdict(self, alpha: float) -> Verdict:
        """Return the verdict of the interval of an error probability, which must be there."""
        if self.estimate.bounds is None:
            raise ValueError("an estimate without an interval has no verdict")
        return decide(self.relation, self.bound, *self.estimate.bounds(alpha))


@dataclass(frozen=True)
class Finding:
    """A comparison under a claim, with its verdict."""

    comparison: Comparison
    p: float  # the least alpha whose interval makes the relation fail; 1 if none does
    adjusted_p: float  # the same after Holm's correction for the other comparisons of the claim
    verdict: Verdict

    @property
    def estimate(self) -> Estimate:
        """The comparison's value and intervals."""
        return self.comparison.estimate

    @property
    def is_left_open_by_holm(self) -> bool:
        """Whether it fails by itself, and Holm's correction leaves it undecided."""
        return self.verdict is Verdict.UNDECIDED and self.p <= ALPHA

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that lets the relation hold, of this comparison alone."""
        return self.estimate.bounds and self.estimate.bounds(LEVELS[self.comparison.relation])

    @property
    def interval_beyond(self) -> tuple[float, float] | None:
        """The same for other training sets too, where that is another one."""
        return self.estimate.beyond and self.estimate.beyond(LEVELS[self.comparison.relation])

    @property
    def is_of_these(self) -> bool:
        """Whether it is decided on these training sets alone."""
        comparison = self.comparison
        beyond = self.interval_beyond
        open_verdicts = (Verdict.UNDECIDED, Verdict.NOT_DECISIVE)
        if self.verdict in open_verdicts or not self.estimate.on_these:
            return False
        return not beyond or (
            decide(comparison.relation, comparison.bound, *beyond) is not self.verdict
        )


@dataclass(frozen=True)
class Judgement:
    """The verdict of a claim, from its comparisons."""

    findings: tuple[Finding, ...]  # in the order in which the comparisons were given

    @property
    def verdict(self) -> Verdict:
        """``holds`` when every comparison does, ``fails`` when one fails, ``not decisive`` when a
        criterion that decides nothing is among the others, else ``undecided``."""
        verdicts = {finding.verdict for finding in self.findings}
        if Verdict.FAILS in verdicts:
            return Verdict.FAILS
        if Verdict.NOT_DECISIVE in verdicts:
            return Verdict.NOT_DECISIVE
        return Verdict.HOLDS if verdicts == {Verdict.HOLDS} else Verdict.UNDECIDED

    @property
    def verdict_of_any_computer(self) -> Verdict | None:
        """The verdict, judged again without times and memory; None when there is nothing else."""
        comparisons = [
            finding.comparison for finding in self.findings if not finding.comparison.of_computer
        ]
        return judge(comparisons).verdict if comparisons else None

    @property
    def counts(self) -> str:
        """How many comparisons hold, fail and are undecided, in words."""
        if not self.findings:
            return "nothing measured"
        verdicts = [finding.verdict for finding in self.findings]
        words = [f"{verdicts.count(Verdict.HOLDS)} of {len(verdicts)} hold"]
        counted = {
            Verdict.FAILS: "fail",
            Verdict.UNDECIDED: "undecided",
            Verdict.NOT_DECISIVE: "not decisive",
        }
        for verdict, word in counted.items():
            n = verdicts.count(verdict)
            if n:
                words.append(f"{n} {word}")
        passing = dict.fromkeys(finding.comparison.passing for finding in self.findings)
        words += [f"{row} would pass too" for row in passing if row]
        n_of_these = sum(finding.is_of_these for finding in self.findings)
        if n_of_these:
            words.append(f"{n_of_these} decided on these training sets alone")
        return ", ".join(words)


def judge(comparisons: Iterable[Comparison]) -> Judgement:
    """Judge the comparisons under one claim, and the claim.

    A comparison holds by the interval of :data:`LEVELS`. It fails by two one-sided tests of 2.5 %,
    corrected by Holm's step-down procedure (Scand. J. Stat. 6, 1979) for the others of its claim.
    One without an interval is not a test, nor is one whose criterion a wrong row passes too.
    """
    comparisons = list(comparisons)
    tests = [number for number, comparison in enumerate(comparisons) if _is_test(comparison)]
    p_values = [_p_of_failing(comparisons[number]) for number in tests]
    adjusted_p_values = _holm(p_values)
    findings = []
    for number, comparison in enumerate(comparisons):
        if number in tests:
            place = tests.index(number)
            findings.append(_finding(comparison, p_values[place], adjusted_p_values[place]))
        else:
            verdict = Verdict.NOT_DECISIVE if comparison.passing else Verdict.UNDECIDED
            findings.append(Finding(comparison, 1.0, 1.0, verdict))
    return Judgement(tuple(findings))


def _is_test(comparison: Comparison) -> bool:
    return comparison.estimate.bounds is not None and not comparison.passing


def _finding(comparison: Comparison, p: float, adjusted_p: float) -> Finding:
    if adjusted_p <= ALPHA:
        return Finding(comparison, p, adjusted_p, Verdict.FAILS)
    holds = comparison.verdict(LEVELS[comparison.relation]) is Verdict.HOLDS
    return Finding(comparison, p, adjusted_p, Verdict.HOLDS if holds else Verdict.UNDECIDED)


def _p_of_failing(comparison: Comparison) -> float:
    """Return the least alpha whose interval makes the relation fail; 1 where none does."""
    if comparison.verdict(_SMALLEST_ALPHA) is Verdict.FAILS:
        return 0.0
    if comparison.verdict(1.0) is not Verdict.FAILS:
        return 1.0
    # Intervals shrink as alpha grows, so from one alpha on the relation fails.
    open_ = _SMALLEST_ALPHA
    failing = 1.0
    for _ in range(_HALVINGS):
        middle = (open_ * failing) ** 0.5
        if comparison.verdict(middle) is Verdict.FAILS:
            failing = middle
        else:
            open_ = middle
    return failing


def _holm(p_values: list[float]) -> list[float]:
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def needed(judgement: Judgement) -> str:
    """Return in words how many draws like the measured ones decide an undecided claim; where all
    combinations of sets are measured, how many times their test samples.

    The estimates are taken to stay as they are. One comparison that fails decides, by Holm's
    correction of the smallest of all; else all of them have to hold.
    """
    open_ = [finding for finding in judgement.findings if finding.verdict is Verdict.UNDECIDED]
    beyond = any(finding.estimate.beyond for finding in open_)
    if judgement.verdict is not Verdict.UNDECIDED or not open_:
        return ""
    numbers = [_draws(finding, ALPHA / len(judgement.findings)) for finding in open_]
    by_failing = [n for finding, n in zip(open_, numbers, strict=True) if n and not _holds(finding)]
    by_holding = [n for n in numbers if n]
    if by_failing or len(by_holding) == len(open_):
        number = min(by_failing) if by_failing else max(by_holding)
        return f"{number} {'times as many test samples' if beyond else 'draws'} would decide"
    without_number = open_[numbers.index(None)].estimate
    if not without_number.of_draws:
        reason = without_number.note or without_number.method
        return f"no number of draws is known: {reason}"
    if beyond:
        return (
            "no feasible number of test samples decides, "
            f"{MOST_DRAWS:,} times as many do not: too near the margin"
        )
    return f"no feasible number of draws decides, {MOST_DRAWS:,} do not: too near the margin"


def _holds(finding: Finding) -> bool:
    value = finding.estimate.value
    comparison = finding.comparison
    return decide(comparison.relation, comparison.bound, value, value) is Verdict.HOLDS


def _draws(finding: Finding, alpha: float) -> int | None:
    """Return the least number of draws whose interval lies on the estimate's side of the bound."""
    comparison = finding.comparison
    of_draws = finding.estimate.of_draws
    wanted = Verdict.FAILS
    level = alpha
    if _holds(finding):
        wanted = Verdict.HOLDS
        level = LEVELS[comparison.relation]

    def decides(n: int) -> bool:
        ends = of_draws(n)(level) if of_draws else (-float("inf"), float("inf"))
        return decide(comparison.relation, comparison.bound, *ends) is wanted

    if not decides(MOST_DRAWS):
        return None
    return bisect_left(range(2, MOST_DRAWS), True, key=decides) + 2
