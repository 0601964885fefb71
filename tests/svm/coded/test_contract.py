"""What CodedSVC accepts and refuses: levels and codes, calibration, accounts, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kmaps import CodedSVC, HomogeneousMap, SplineMap, threads
from kmaps.errors import ConfigError, InputError


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_codes_with_their_levels(digits, form):
    X, y = digits
    levels = np.arange(17) / 16
    codes = (16 * X).astype(np.uint8)
    by_itself = CodedSVC("chi2", 0.1).fit(X, y)
    given = CodedSVC("chi2", 0.1, levels=levels).fit(form(codes), y)
    np.testing.assert_allclose(
        given.decision_function(form(codes)), by_itself.decision_function(X), atol=1e-4
    )
    fitted = CodedSVC(SplineMap(5).fit(X), 0.01, levels=levels).fit(form(codes), y)
    by_itself = CodedSVC(SplineMap(5), 0.01).fit(X, y)
    np.testing.assert_allclose(fitted.objective_, by_itself.objective_, rtol=1e-3)


def test_an_unfinished_machine_says_how_far_it_came(digits):
    message = (
        r"the relative duality gap is still \d\.\de-\d\d after max_iter=3 passes, above "
        r"tol=1e-06, in 4 of 4 binary problems: lower C \(now 10\), or raise max_iter or tol"
    )
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        model = CodedSVC("chi2", 10.0, tol=1e-6, max_iter=3).fit(*digits)
    assert caught[0].filename == __file__
    assert f"{model.duality_gap_.max():.1e}" in str(caught[0].message)
    assert (model.n_iter_ <= 5).all()


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        (np.arange(257), "levels: got 257, but codes of one byte have at most 256 levels"),
        (np.ones((3, 4)), "levels have the shape (3, 4): expected (L,) or (64, L), one row"),
        ([1.0, 0.0], "levels: expected finite numbers in ascending order"),
        ([0.0, np.nan], "levels: expected finite numbers in ascending order"),
        ("many", "levels: expected numbers, (L,) or one row per feature"),
    ],
)
def test_levels_out_of_range(digits, levels, message):
    with pytest.raises(ConfigError) as caught:
        CodedSVC(levels=levels).fit((16 * digits[0]).astype(np.uint8), digits[1])
    assert str(caught.value).startswith(message)


def test_wrong_samples(digits):
    X, y = digits
    codes = (16 * X).astype(np.uint8)
    with pytest.raises(InputError, match="codes: expected uint8 of shape"):
        CodedSVC(levels=np.arange(17)).fit(X, y)
    with pytest.raises(InputError, match="codes go up to 16"):
        CodedSVC(levels=np.arange(16)).fit(codes, y)
    with pytest.raises(ConfigError, match="pass a fitted map"):
        CodedSVC(HomogeneousMap(), levels=np.arange(17)).fit(codes, y)


OUT_OF_MEMORY = [
    ("training.Coder.encode", "the codes of 400 × 64 values, one byte each, need 0.0 GiB, more"),
    ("estimator.solve", "512 weights for each of 2 models at a time, 4 bytes each, need 0.0 GiB"),
]


@pytest.mark.parametrize(("place", "message"), OUT_OF_MEMORY)
def test_out_of_memory_says_how_much_was_needed(digits, place, message, monkeypatch):
    def fails(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(f"kmaps.svm.coded.{place}", fails)
    with threads(2), pytest.raises(MemoryError) as caught:
        CodedSVC("chi2", 0.1).fit(*digits)
    assert str(caught.value).startswith(message)
