"""The choice of a width, with C: as by hand, at the right place of the grid, in every model."""

from itertools import pairwise

import numpy as np
import pytest

from kmaps import KernelSVC, LandmarkSVC, RandomFeatureSVC
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import mean_squared_distance
from kmaps.models import choose_width, stratified_order, widths
from kmaps.models.choice import decide, splits
from kmaps.models.mapped_rows import MappedRows
from kmaps.svm.learner import taken
from tests.samples import in_blocks

RNG = np.random.default_rng(0)
X = RNG.random((120, 3)).astype(np.float32)
Y = (np.floor(3 * X[:, 0]) + np.floor(2 * X[:, 1])).astype(int) % 2
WEIGHTS = RNG.integers(1, 3, 120).astype(float)
MODELS = {
    "exact": KernelSVC("exp-chi2", tol=1e-4),
    "landmarks": LandmarkSVC("exp-chi2", 40, tol=1e-2),
    "frequencies": RandomFeatureSVC(
        "exp-chi2", 150, sigma=None
    ),  # so many that the rows are narrowed
}


def made(name, **parameters):
    return type(MODELS[name])(**MODELS[name].get_params() | parameters)


def settled(curve):
    """Extend the grid of divisors by a curve over their exponents; return the choice and all."""
    scores, values = {}, widths._DIVISORS.first
    while values:
        scores |= {t: np.arange(1000) < curve(np.log2(t)) for t in values}
        values = decide(scores, "auto", widths._DIVISORS).following
    return decide(scores, "auto", widths._DIVISORS).chosen, sorted(scores)


@pytest.mark.parametrize(
    ("best", "least", "most"), [(1, 1, 8), (2, 1, 8), (4, 1, 32), (7, 1, 512), (0, 0.25, 8)]
)
def test_the_grid_grows_until_the_best_is_inside(best, least, most):
    chosen, grid = settled(lambda k: 900 - 10 * abs(k - best))
    assert (chosen, grid[0], grid[-1]) == (2**best, least, most)
    assert all(after == 2 * before for before, after in pairwise(grid))


@pytest.mark.parametrize("name", MODELS)
def test_the_choice_is_that_of_models_trained_by_hand(name):
    """One after the other, each fold with its own kernel matrix."""
    found = choose_width(made(name, sigma="auto"), X, Y, [1.0, 30.0], sample_weight=WEIGHTS)
    mean = mean_squared_distance(X, kernel="chi2")
    order = stratified_order(Y, 0)
    rows, labels, weights = X[order], Y[order], WEIGHTS[order]
    for fraction, choice, accuracy in zip(
        found.fractions, found.choices, found.accuracies, strict=True
    ):
        for C, said in zip(choice.grid, choice.accuracies, strict=True):
            right = []
            for train, test in splits(labels, 3):
                model = made(name, sigma=(mean * fraction) ** 0.5, C=C)
                samples = rows
                if name == "landmarks":  # which are those of all rows, at the mean width
                    wide = made(name, sigma=mean**0.5)._make_map().fit(rows)
                    outputs = wide.with_sigma(model.sigma).transform(rows)
                    samples = MappedRows(wide.with_sigma(model.sigma), None, outputs)
                model.fit(taken(samples, train), labels[train], weights[train])
                right.extend(model.predict(taken(samples, test)) == labels[test])
            assert said == pytest.approx(np.mean(right), abs=0.021)  # two samples of 120
        assert accuracy == max(choice.accuracies)
    best = found.fractions[np.argmax(found.accuracies)]
    assert found.sigma == pytest.approx((mean * best) ** 0.5)
    assert len(found.fractions) >= 4


def test_what_is_refused():
    with pytest.raises(ConfigError) as caught:
        choose_width(KernelSVC("chi2", sigma="auto"), X, Y)
    assert str(caught.value) == (
        "sigma='auto': kernel 'chi2' has no width, exp-chi2, exp-intersection, exp-js, "
        "exp-hellinger, rbf have one"
    )
    with pytest.raises(ConfigError, match=r"sigma='auto': kmaps\.KernelSVCCV chooses the width"):
        made("exact", sigma="auto").fit(X, Y)
    with pytest.raises(ConfigError, match="C='all': expected values of C, or a rule"):
        choose_width(made("landmarks"), X, Y, "all")
    with pytest.raises(ConfigError, match="sigma=-1: expected a positive number"):
        choose_width(made("landmarks", sigma=-1), X, Y)
    with pytest.raises(InputError, match="2 samples cannot be cut into cv=3 folds"):
        made("landmarks", sigma="auto").fit(X[:2], [0, 1])
    model = made("frequencies", sigma="auto")
    rows = made("frequencies").prepare_rows(in_blocks(X))
    for call in (lambda: model.fit(rows, Y), lambda: model.prepare_rows(in_blocks(X))):
        with pytest.raises(ConfigError, match=r"sigma='auto', C=1\.0: not for samples "):
            call()
