"""Blocks that descend at once, against the conditions of their sub-problems and whole solutions."""

import numpy as np
import pytest

from kmaps import CodedSVC
from kmaps.svm.coded import block as blocks
from kmaps.svm.coded.descent import solve
from kmaps.svm.coded.rounds import ThreadWorkers, count_blocks, solve_in_blocks
from tests.oracles import machines
from tests.svm.coded import problems

COST, N, D = 0.6, 240, 12


@pytest.fixture(scope="module")
def problem():
    return problems.drawn(N, D)


def stated(problem, loss, cost=COST):
    codes, signs, tables, _ = problem
    return problems.stated(codes, signs, tables, loss, np.full(N, cost))


def workers_of(problem, loss, members):
    whole = stated(problem, loss)
    parts = [whole.part(own) for own in members]
    states = [blocks.begin(p.task, p.n_weights, (0, k), None) for k, p in enumerate(parts)]
    return ThreadWorkers(parts, states, map)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("n_passes", [1, 2])
def test_a_block_descends_on_its_part_of_the_bound(problem, loss, n_passes):
    """That is plain descent on its own rows, in which each kernel value counts ``factor`` times."""
    _, signs, _, gram = problem
    members, factor = np.array_split(np.arange(N), 3), 2.5
    workers, task = workers_of(problem, loss, members), stated(problem, loss).task
    begun = workers.states
    workers.run(blocks.descend, 0.0, 0.0, factor, 0.0, 0.0, n_passes)
    for own, start, state in zip(members, begun, workers.states, strict=True):
        random, upper, ridge = (
            machines.XorShift(int(start.random)),
            task.upper[own],
            task.ridge[own],
        )
        kernel = factor * gram[np.ix_(own, own)]
        expected = machines.descend(kernel, signs[own], upper, ridge, random, n_passes)
        # Measured below 3e-6.
        np.testing.assert_allclose(state.proposed, expected, atol=3e-6)
        assert state.random == random.state


def test_added_changes_raise_the_dual_by_all_parts(problem):
    """What makes the aggregation safe, where the factor is the number of blocks."""
    _, signs, _, gram = problem
    members = np.array_split(np.arange(N), 4)
    workers = workers_of(problem, "hinge", members)
    alpha = np.zeros(N)
    kernel = signs[:, None] * gram * signs
    step, constant = 0.0, 0.0
    for _ in range(5):
        change, *_ = workers.run(blocks.descend, step, constant, 4.0, 0.0, 0.0, 1)
        constant, step, before = constant + change, 1.0, alpha.copy()
        bound = 0.0
        for own, state in zip(members, workers.states, strict=True):
            alpha[own] = state.proposed
            own_change = state.proposed - before[own]
            bound += own_change @ (1 - kernel[own] @ before)
            bound -= 4 / 2 * own_change @ kernel[np.ix_(own, own)] @ own_change
        gained = (alpha - before).sum() - (alpha @ kernel @ alpha - before @ kernel @ before) / 2
        assert gained >= bound * (1 - 1e-6)
        assert bound > 0


def test_the_slopes_along_a_step_are_those_of_the_dual(problem):
    _, signs, _, gram = problem
    workers = workers_of(problem, "squared_hinge", np.array_split(np.arange(N), 2))
    change, *_ = workers.run(blocks.descend, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0)
    first, last, evaluations = workers.run(blocks.measure, 0.0, change)
    step = np.concatenate([state.proposed for state in workers.states])
    ridge = 1 / (2 * COST)
    curvature = step @ (signs[:, None] * gram * signs) @ step + ridge * step @ step
    # All members are in the sample. Measured: 1e-6.
    assert evaluations == 2 * np.count_nonzero(step)
    assert first == pytest.approx(step.sum(), rel=3e-6)
    assert last == pytest.approx(step.sum() - curvature, rel=3e-6)


@pytest.mark.parametrize(
    ("loss", "n_blocks"),
    [
        ("squared_hinge", 7),
        pytest.param("squared_hinge", 2, marks=pytest.mark.slow),
        pytest.param("hinge", 2, marks=pytest.mark.slow),
        pytest.param("hinge", 7, marks=pytest.mark.slow),
    ],
)
def test_solution_is_that_of_the_quadratic_programme(problem, loss, n_blocks):
    _, signs, _, gram = problem
    options = {"n_blocks": n_blocks, "n_threads": 1, "max_iter": 5000, "seed": (0, 0)}
    solution = solve_in_blocks(stated(problem, loss), tol=1e-5, **options)
    _, dual = machines.solve_dual(gram, signs, np.full(N, COST), loss)
    assert solution.gap <= 1e-5
    assert -1e-6 < solution.primal / dual - 1 < 1e-5
    assert -1e-5 < solution.dual / dual - 1 < 1e-6
    # The margins, and with them the weights, are those of the variables.
    margins = signs * (gram @ (solution.alpha * signs))
    np.testing.assert_allclose(solution.margins, margins, atol=1e-5)  # measured: 4e-6


@pytest.mark.parametrize("cost", [0.05, COST, 100.0])
def test_logistic_loss_is_solved_as_in_one_block(problem, cost):
    hard = stated(problem, "logistic", cost)
    one = solve(hard, tol=1e-6, max_iter=5000, seed=(0,))
    options = {"n_blocks": 5, "n_threads": 1, "max_iter": 1000, "seed": (0, 0)}
    several = solve_in_blocks(hard, tol=1e-5, **options)
    assert several.gap <= 1e-5
    assert several.primal == pytest.approx(one.primal, rel=1e-5)


def test_all_that_is_left_of_the_tolerance_is_certified(problem):
    """The gap is of the weights that are returned, also when the passes end early."""
    _, signs, _, gram = problem
    options = {"n_blocks": 3, "n_threads": 1, "seed": (0, 0), "tol": 1e-5}
    solution = solve_in_blocks(stated(problem, "hinge"), max_iter=2, **options)
    margins = signs * (gram @ (solution.alpha * signs))
    primal = solution.alpha @ margins / 2 + COST * np.maximum(1 - margins, 0).sum()
    dual = solution.alpha.sum() - solution.alpha @ margins / 2
    assert solution.gap > 1e-3
    # The primal may be that of a multiple.
    assert solution.primal <= primal * (1 + 1e-6)
    assert solution.dual == pytest.approx(dual, rel=1e-5)


def test_several_classes_weights_and_a_warm_start(histograms):
    y = np.arange(240) % 3
    X = histograms[0] + 0.1 * (np.arange(15) % 3 == y[:, None])
    weights = np.arange(240) // 3 % 3
    options = {"C": 5.0, "tol": 1e-5, "class_weight": "balanced"}
    one = CodedSVC("chi2", **options).fit(X, y, weights)
    several = CodedSVC("chi2", **options, n_blocks=4, warm_start=True).fit(X, y, weights)
    np.testing.assert_allclose(several.objective_, one.objective_, rtol=1e-5)
    passes = several.n_iter_.sum()
    again = several.fit(X, y, weights)
    assert again.n_iter_.sum() < passes / 2
    assert (again.duality_gap_ <= 1e-5).all()


def test_more_blocks_than_samples_of_a_class_have_some_with_nothing_to_move(histograms):
    X, y = histograms
    model = CodedSVC("chi2", C=100, n_blocks=50).fit(X[:12], y[:12])
    assert model.n_blocks_.tolist() == [12]
    assert model.duality_gap_[0] <= 1e-4


def test_auto_takes_one_block_where_there_is_little(histograms):
    X, y = histograms
    default, auto = CodedSVC().fit(X, y), CodedSVC(n_blocks="auto").fit(X, y)
    assert auto.n_blocks_.tolist() == [1]
    assert (default.decision_function(X) == auto.decision_function(X)).all()
    ends = [(1 << 24) - 1, 1 << 24, 1 << 32, (1 << 32) + 1, 1 << 35]
    assert [count_blocks(n) for n in ends] == [1, 2, 2, 3, 16]
