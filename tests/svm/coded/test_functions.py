"""The functions of single features: what they sum to, and how much each varies."""

import numpy as np
import pytest
from scipy import sparse

from kmaps import AnchorMap, CodedSVC, CodedSVR, SplineMap
from kmaps.svm import code_rows

RNG = np.random.default_rng(0)
X = np.where(RNG.random((120, 5)) < 0.3, 0, RNG.random((120, 5)))
Y = np.digitize(X[:, 0] - X[:, 1] + RNG.normal(0, 0.2, 120), [-0.1, 0.1])

MODELS = {
    "kernel": CodedSVC("chi2", 10.0),
    "pairs": CodedSVC("intersection", 10.0, multiclass="ovo", form="two-level"),
    "full": CodedSVC("js", form="full", bias=0.0),
    "log-odds": CodedSVC(SplineMap(6), calibrate=True, n_levels=97),
    "cells": CodedSVC(AnchorMap(n_anchors=7, anchors="kmeans")),
    "regression": CodedSVR("intersection", 10.0),
}


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_sums_of_functions(name):
    model = MODELS[name].fit(X, Y)
    functions = [model.function(j) for j in range(5)]
    for j, function in enumerate(functions):
        assert function.name == f"x{j}"
        assert (np.diff(function.levels) > 0).all()
        assert function.values.shape == (len(function.levels), len(model.baseline_))
    nearest = [np.abs(X[:, [j]] - f.levels).argmin(axis=1) for j, f in enumerate(functions)]
    terms = [f.values[k] for f, k in zip(functions, nearest, strict=True)]
    found, expected = model.baseline_ + np.sum(terms, axis=0), model.model_.scores(X)
    # Measured: 2e-6 of log-odds, whose slopes multiply the rounding of float32.
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=6e-6)
    if name != "cells":  # the importance is that of the levels that training chose
        spread = np.sqrt((np.std(terms, axis=1) ** 2).mean(axis=1))
        np.testing.assert_allclose(model.importance_, spread, atol=1e-6)
    assert model.importance_[:2].min() > model.importance_[2:].max()


@pytest.mark.parametrize("block_codes", [50, 1 << 22])
def test_importance_counts_weights_and_members_of_listed_rows(monkeypatch, block_codes):
    monkeypatch.setattr("kmaps.svm.coded.model._BLOCK_CODES", block_codes)
    weights = RNG.integers(0, 3, 120).astype(float)
    model = CodedSVR("chi2", 10.0)
    repeated = np.repeat(np.arange(120), weights.astype(int))
    X = np.where(RNG.random((120, 5)) < 0.7, 0, RNG.random((120, 5)))
    importance = model.fit(X[repeated], X[repeated, 0]).importance_
    listed = model.fit(sparse.csr_array(X), X[:, 0], weights).importance_
    np.testing.assert_allclose(listed, importance, atol=1e-3)
    rows = code_rows("chi2", lambda: iter([X])).take(repeated)
    np.testing.assert_allclose(model.fit(rows, X[repeated, 0]).importance_, importance, atol=1e-3)
