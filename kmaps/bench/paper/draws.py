"""How many draws would decide what is undecided, from the parts of each interval's variance."""

from bisect import bisect_left

from kmaps.bench.paper.verdicts import ALPHA, LEVELS, Finding, Judgement, Verdict, decide

MOST = 1000  # draws beyond which a number of them is not feasible


def needed(judgement: Judgement) -> str:
    """Return in words how many draws like those measured decide an undecided claim.

    The estimates are taken to stay as they are. One comparison that fails decides, by Holm's
    correction of the smallest of all; else all of them have to hold.
    """
    open_ = [found for found in judgement.findings if found.verdict is Verdict.UNDECIDED]
    if judgement.verdict is not Verdict.UNDECIDED or not open_:
        return ""
    numbers = [_draws(found, ALPHA / len(judgement.findings)) for found in open_]
    by_failing = [n for found, n in zip(open_, numbers, strict=True) if n and not _holds(found)]
    by_holding = [n for n in numbers if n]
    if by_failing or len(by_holding) == len(open_):
        return f"{min(by_failing) if by_failing else max(by_holding)} draws would decide"
    stuck = open_[numbers.index(None)].estimate
    if stuck.of_draws:
        return f"no feasible number of draws decides, {MOST:,} do not: too near the margin"
    if stuck.beyond:
        return "no number of draws decides: all combinations of the sets are measured"
    return f"no number of draws is known: {stuck.note or stuck.method}"


def _holds(found: Finding) -> bool:
    value, comparison = found.estimate.value, found.comparison
    return decide(comparison.relation, comparison.bound, value, value) is Verdict.HOLDS


def _draws(found: Finding, alpha: float) -> int | None:
    """Return the least number of draws whose interval lies on the estimate's side of the bound."""
    comparison, of_draws = found.comparison, found.estimate.of_draws
    wanted, level = Verdict.FAILS, alpha
    if _holds(found):
        wanted, level = Verdict.HOLDS, LEVELS[comparison.relation]

    def decides(n: int) -> bool:
        ends = of_draws(n)(level) if of_draws else (-float("inf"), float("inf"))
        return decide(comparison.relation, comparison.bound, *ends) is wanted

    return bisect_left(range(2, MOST), True, key=decides) + 2 if decides(MOST) else None
