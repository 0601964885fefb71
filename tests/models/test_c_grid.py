"""Which values of C are compared and chosen: inside, at flat edges, at the bounds, with ties."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kmaps import CodedSVC, CodedSVR
from kmaps.models import choose_along_path, cross_validate
from kmaps.models.choice import POWERS_OF_C, along_c, decide
from kmaps.models.regression import train_regression
from kmaps.svm import code_samples

START = POWERS_OF_C.first

N = 1000


def right(n_right):
    """Return which of a thousand samples are right: the first ones, as of nested machines."""
    return np.arange(N) < n_right


def extension(scores):
    return decide(scores, "auto").following


def choose(scores, rule):
    return decide(scores, rule).chosen


def settled(n_right):
    """Extend the grid by a curve of right samples over the exponent of √10, until it is settled."""
    rounds, values, scores = [], START, {}
    while values:
        scores |= {C: right(n_right(round(2 * np.log10(C)))) for C in values}
        values = extension(scores)
        rounds.append(values)
    return scores, choose(scores, "auto"), rounds


@pytest.mark.parametrize(("best", "C"), [(-1, 0.316228), (0, 1.0), (1, 3.16228)])
def test_a_best_value_inside_is_chosen_at_once(best, C):
    """Also next to the edge: one worse value beyond it is enough."""
    assert START == (0.1, 0.316228, 1.0, 3.16228, 10.0)
    scores, chosen, rounds = settled(lambda k: 900 - 10 * abs(k - best))
    assert (chosen, rounds, tuple(scores)) == (C, [()], START)


@pytest.mark.parametrize(
    ("best", "C", "n_values"),
    [
        (2, 10.0, 7),
        (3, 31.6228, 7),
        (4, 100.0, 9),  # at the edge of the first extension
        (-2, 0.1, 7),
        (-3, 0.0316228, 7),
        (-4, 0.01, 9),
        (11, 316228.0, 15),
        (-11, 3.16228e-06, 15),
    ],
)
def test_the_grid_grows_on_the_side_of_the_best_until_it_is_inside(best, C, n_values):
    scores, chosen, rounds = settled(lambda k: 900 - 10 * abs(k - best))
    assert (chosen, len(scores)) == (C, n_values)
    assert all(len(values) == 2 for values in rounds[:-1])
    assert all(values == tuple(sorted(values)) for values in rounds)
    side = max if best > 0 else min
    assert {side(values) == side(scores) for values in rounds[-2:-1]} == {True}


@pytest.mark.parametrize(("sign", "bound"), [(1, 1e6), (-1, 1e-6)])
def test_a_curve_that_rises_for_ever_ends_at_a_bound(sign, bound):
    scores, chosen, _ = settled(lambda k: 500 + 10 * sign * k)
    assert chosen == bound
    assert len(scores) == 12 + 1 + 2
    assert chosen in (min(scores), max(scores))


@pytest.mark.parametrize(("sign", "C"), [(1, 10.0), (-1, 0.1)])
def test_a_flat_edge_ends_the_search_a_decade_inside(sign, C):
    """The curve rises to the edge of the start; the decade beyond it gains a sample."""

    def n_right(k):
        return 880 + 10 * min(sign * k, 2) + (sign * k > 3)

    scores, chosen, rounds = settled(n_right)
    assert (chosen, len(scores), len(rounds)) == (C, 7, 2)


def test_one_sample_is_within_a_standard_error_and_two_are_not():
    """Of nested machines: a gain of 1 against an error of 1, a gain of 2 against one of 1.4."""
    for gained, more in ((1, ()), (2, (31.6228, 100.0))):
        assert extension({C: right(900 + gained * (C == 10)) for C in START}) == more


def test_samples_that_change_sides_widen_the_error():
    """A gain of four samples, four against none or 24 against 20."""
    inner, edge = right(900), right(900)
    edge[900:904] = True
    scores = dict.fromkeys(START, inner) | {10.0: edge}
    assert extension(scores) == (31.6228, 100.0)
    turned = edge.copy()
    turned[:20], turned[904:924] = False, True
    scores[10.0] = turned
    assert turned.sum() == edge.sum()
    assert extension(scores) == ()
    assert choose(scores, "auto") == 1.0


def test_scores_of_folds_are_compared_as_they_are():
    """Average precisions of three folds, all better by the same: not flat."""
    scores = {C: np.array([0.5, 0.9, 0.7]) for C in START}
    assert extension(scores | {10.0: np.array([0.51, 0.91, 0.71])}) == (31.6228, 100.0)
    assert extension(scores | {10.0: np.array([0.53, 0.9, 0.69])}) == ()


def test_ties_go_to_the_smaller_value():
    scores, chosen, rounds = settled(lambda k: 1000)  # both edges are flat
    assert (chosen, rounds, len(scores)) == (1.0, [()], 5)
    assert choose({C: right(900 + (C >= 1)) for C in START}, "auto") == 1.0
    # Against the outermost value too: the best one is then inside.
    assert extension({C: right(900 + 50 * (C > 3)) for C in START}) == ()
    assert choose({C: right(900 + 50 * (C > 3)) for C in START}, "auto") == 3.16228


def test_of_a_list_the_best_is_chosen_wherever_it_is():
    scores = {C: right(900 + (C == 30)) for C in (1.0, 3.0, 10.0, 30.0)}
    assert choose(scores, None) == 30.0
    assert choose({C: right(900) for C in (1.0, 3.0)}, None) == 1.0


def test_a_path_has_fallen_when_a_decade_is_worse_than_the_best():
    """700 of 1000, then so many fewer; the standard error of k nested losses is the root of k."""

    def fallen(*counts):
        return decide({10.0**k: right(n) for k, n in enumerate(counts)}, "path").has_fallen

    assert not fallen(700)
    assert not fallen(700, 600)
    assert fallen(700, 600, 600)
    assert not fallen(700, 600, 699)  # one of them by one standard error only
    assert fallen(700, 698, 698)
    assert not fallen(500, 600, 700)
    assert not fallen(700, 600, 600, 699)  # it has come back
    assert fallen(700, 600, 699, 600, 600)
    assert not fallen(700, 700, 700)


def on_a_plateau(n_right, unbound=np.inf):
    """Extend the grid by the rule "plateau" until it is settled; return the choice and the grid."""
    values, scores = START, {}
    while values:
        scores |= {C: right(n_right(round(2 * np.log10(C)))) for C in values}
        decision = decide(scores, "plateau", unbound=unbound)
        values = decision.following
    return decision.chosen, sorted(scores)


def test_a_plateau_is_followed_for_two_decades():
    """The rise that "auto" misses: flat from 1 on, better from 100 on."""

    def n_right(k):
        return 700 + 50 * min(k, 0) + 80 * (k >= 4)

    assert settled(n_right)[1] == 1.0
    assert on_a_plateau(n_right) == (100.0, [*START, *POWERS_OF_C.values(range(3, 9))])
    flat = on_a_plateau(lambda k: 700 + 50 * min(k, 0))
    assert flat == (1.0, [*START, *POWERS_OF_C.values((3, 4))])


def test_a_top_that_falls_is_no_plateau():
    chosen, grid = on_a_plateau(lambda k: 900 - 10 * abs(k))
    assert (chosen, grid) == (1.0, list(START))


def test_nothing_is_gained_where_C_no_longer_binds():
    """The same model at every C from 10 on: the best value is inside, and is no edge."""
    chosen, grid = on_a_plateau(lambda k: 700 + 10 * min(k, 2), unbound=10.0)
    assert (chosen, grid[-1]) == (10.0, 100.0)
    assert chosen < max(grid)


def test_below_a_plateau_is_as_auto():
    def n_right(k):
        return 900 - 10 * abs(k + 4)

    scores, chosen, _ = settled(n_right)
    assert on_a_plateau(n_right) == (chosen, sorted(scores))


@pytest.mark.parametrize("coded", [True, False])
def test_a_value_whose_models_missed_tol_is_marked_and_not_chosen_in_silence(coded):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 9, (200, 4)) / 8, rng.integers(0, 2, 200)
    model = CodedSVC("chi2", max_iter=1, tol=1e-3)
    rows = code_samples("chi2", X)

    def chosen_value():
        if coded:
            return choose_along_path(model, rows, y, [1e-6, 1e6], cv=2)
        return cross_validate(
            lambda chosen: along_c(model, rows.take(chosen), y[chosen]), [1e6], y, cv=2
        )

    with pytest.warns(ConvergenceWarning) as caught:
        choice = chosen_value()
    assert 1e6 in choice.missed
    told = [str(warning.message) for warning in caught if "was chosen" in str(warning.message)]
    assert len(told) == (choice.C in choice.missed)
    assert all("\n" not in message for message in told)


def test_a_regression_says_which_values_missed_tol():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 4)), rng.random(200)
    source = SimpleNamespace(blocks=lambda: [X], sample=lambda: X, labels=lambda: y)
    with pytest.warns(ConvergenceWarning):
        facts = train_regression(CodedSVR(max_iter=1, tol=1e-3), source, [1e-6, 1e6], folds=2)
    missed = [compared["C"] for compared in facts["cv"] if compared.get("missed_tol")]
    assert missed == [1e6]
