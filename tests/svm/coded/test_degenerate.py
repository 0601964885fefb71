"""Plain data on which the dual bends in no direction: a model is trained, or it warns."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from kmaps.errors import ConfigError
from kmaps.svm.coded.classifier import CodedSVC

_LOSSES = "hinge", "squared_hinge", "logistic"
_FORMS = "auto", "low-rank", "full", "two-level"


@st.composite
def _rows(draw):
    """Draw rows of few features, few values and few distinct rows, and a class of few of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.sampled_from([8, 40])), draw(st.integers(1, 4))
    values = draw(st.sampled_from([(0.0,), (255.0,), (0.0, 1.0), (0.0, 1.0, 2.0)]))
    distinct = rng.choice(values, (draw(st.integers(1, 4)), d))
    y = np.arange(n) % 2 if draw(st.booleans()) else (np.arange(n) == 0).astype(int)
    return distinct[rng.integers(len(distinct), size=n)], y


def _assert_trained(model, X, y):
    """Fit ``model``: it reaches its gap, or warns that it does not, or refuses a form."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            model.fit(X, y)
        except ConfigError:  # few levels have no such form
            if model.form != "two-level":
                raise
            return
    assert np.isfinite(model.predict(X)).all()
    warned = any(issubclass(warning.category, ConvergenceWarning) for warning in seen)
    assert warned or (model.duality_gap_ <= model.tol).all()


@settings(max_examples=60)
@given(
    rows=_rows(),
    loss=st.sampled_from(_LOSSES),
    penalty=st.sampled_from(["l2", "l1"]),
    form=st.sampled_from(_FORMS),
    n_blocks=st.integers(1, 3),
    bias=st.sampled_from([0.0, 1.0]),
)
def test_a_classifier_of_degenerate_data_is_trained(rows, loss, penalty, form, n_blocks, bias):
    if penalty == "l1":
        loss, form, n_blocks = ("hinge" if loss == "logistic" else loss), "low-rank", 1
    kernel = "intersection" if form == "two-level" else "chi2"
    choice = {"loss": loss, "penalty": penalty, "form": form, "n_blocks": n_blocks, "bias": bias}
    _assert_trained(CodedSVC(kernel, max_iter=100, **choice), *rows)


@pytest.mark.parametrize("n_blocks", [1, 2, 8])
@pytest.mark.parametrize("bias", [0, 1])
@pytest.mark.parametrize("part", [2, 4])  # of the rows are in a class: steps differ if few are
def test_constant_features_reach_their_gap(n_blocks, bias, part):
    model = CodedSVC("chi2", n_blocks=n_blocks, bias=bias, max_iter=300)
    model.fit(np.full((40, 3), 255.0), np.arange(40) % part == 0)
    assert model.duality_gap_.max() <= model.tol
