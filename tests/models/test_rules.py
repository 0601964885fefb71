"""Rules for C by name, in every class that chooses, and old names of parameters."""

import numpy as np
import pytest

from kmaps import CodedSVC, CodedSVCCV, KernelSVC, KernelSVCCV, LandmarkSVC, load_model
from kmaps.errors import ConfigError
from kmaps.models import along_c, choose_along_path, choose_width, cross_validate
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = RNG.random((120, 3))
Y = X[:, 0] + X[:, 1] > 1
CLASSES = {
    "codes": lambda C: CodedSVCCV(C=C),
    "kernel": lambda C: KernelSVCCV("rbf", C=C, sigma=0.5),
    "landmarks": lambda C: LandmarkSVC("rbf", 20, C=C, sigma=0.5),
}


@pytest.mark.parametrize("C", ["auto", "path", "plateau", [1.0, 10.0]])
@pytest.mark.parametrize("name", CLASSES)
def test_every_class_takes_every_rule_and_lists(tmp_path, name, C):
    model = CLASSES[name](C).fit(X, Y)
    choice = model.choice_ if name == "codes" else model.width_choice_.choices[0]
    assert model.C_ == choice.C
    assert choice.grid[:1] == (1.0,) if isinstance(C, list) else 0.1 in choice.grid
    saved = model.best_estimator_ if name == "codes" else model
    saved.save(tmp_path / "m.npz")
    assert load_model(tmp_path / "m.npz").C == model.C_


@pytest.mark.parametrize("name", CLASSES)
def test_an_unknown_rule_is_refused(name):
    with pytest.raises(ConfigError, match="'plateau'"):
        CLASSES[name]("plato").fit(X, Y)


def test_a_plateau_ends_where_c_no_longer_binds():
    """Classes that are far apart: no coefficient is as large as C from some C on."""
    y = X[:, 0] > 0.5
    apart = X + np.where(y, 3.0, 0.0)[:, None]
    known = {C: KernelSVC("rbf", C).fit(apart, y) for C in (0.1, 1000.0)}
    assert (known[0.1].c_binds(), known[1000.0].c_binds()) == (True, False)
    scores = [KernelSVC("rbf", C).fit(apart, y).decision_function(apart) for C in (1e3, 1e5)]
    np.testing.assert_allclose(*scores, atol=1e-2)
    exact = cross_validate(lambda of: along_c(KernelSVC("rbf"), apart[of], y[of]), "plateau", y)
    rows = code_rows("chi2", lambda: [apart])
    coded = choose_along_path(CodedSVC("chi2"), rows, y, "plateau")
    for choice in (exact, coded):
        assert not choice.is_at_edge or choice.grid[0] == choice.C
        assert choice.grid[-1] < 1e6


OLD_NAMES = {
    "Cs": ({"Cs": [0.1, 1.0]}, {"C": [0.1, 1.0]}),
    "folds": ({"C": [0.1, 1.0], "folds": 4}, {"C": [0.1, 1.0], "cv": 4}),
    "seed": ({"C": [0.1, 1.0], "seed": 5}, None),
}


@pytest.mark.parametrize("name", OLD_NAMES)
def test_old_names_work_with_a_warning(name):
    old, new = OLD_NAMES[name]
    with pytest.warns(DeprecationWarning, match=f"{name} is now") as caught:
        found = CodedSVCCV(**old).fit(X, Y)
    assert __file__ in {warning.filename for warning in caught}
    if new is None:
        rows = code_rows("chi2", lambda: [X])
        expected = choose_along_path(CodedSVC(), rows, Y, [0.1, 1.0], random_state=5)
        assert found.choice_ == expected
    else:
        assert found.choice_ == CodedSVCCV(**new).fit(X, Y).choice_


def test_old_names_of_functions():
    def prepare(chosen):
        return along_c(CodedSVC(), X[chosen], Y[chosen])

    expected = cross_validate(prepare, [0.1, 1.0], Y, cv=4, random_state=2)
    with pytest.warns(DeprecationWarning, match="is now"):
        assert cross_validate(prepare, grid=[0.1, 1.0], y=Y, folds=4, seed=2) == expected
    model = KernelSVC("rbf", sigma=0.5)
    with pytest.warns(DeprecationWarning, match="is now"):
        found = choose_width(model, X, Y, Cs=[1.0], folds=2)
    assert found == choose_width(model, X, Y, [1.0], cv=2)
    with pytest.raises(ConfigError):
        choose_width(model, X, Y, C=[1.0], Cs=[1.0])
