"""Features of any magnitude: the same machine, or a refusal; never scores of nothing."""

import numpy as np
import pytest

from kmaps import CodedRidge, CodedSVC, CodedSVR
from kmaps.errors import InputError
from kmaps.maps import AnchorMap, ExactMap, IntersectionMap, NystroemMap, SplineMap

RNG = np.random.default_rng(0)
X = RNG.random((60, 3))
Y = X[:, 0] > X[:, 1]
KERNELS = ("chi2", "intersection", "js", "hellinger")


def machine(kernel, magnitude=1.0):
    """Return a machine of features so many times as large, which has the scores of any other."""
    bias = magnitude**0.5  # a kernel k + bias²
    model = CodedSVC(kernel, C=10.0 / magnitude, bias=bias, n_levels=64, tol=1e-6)
    return model.fit(X * magnitude, Y)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("magnitude", [1e-28, 1e-10, 1e10, 1e28])
def test_scores_do_not_depend_on_the_unit_of_the_features(kernel, magnitude):
    scaled, plain = machine(kernel, magnitude), machine(kernel)
    assert scaled.duality_gap_ <= 1e-6
    expected = plain.decision_function(X)
    # Two descents that stop at a gap of 1e-6: measured 5.4e-5.
    np.testing.assert_allclose(scaled.decision_function(X * magnitude), expected, atol=1.6e-4)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("magnitude", [1e-300, 1e-60, 1e-40, 1e37, 1e60, 1e100, 1e300])
def test_what_single_precision_cannot_hold_is_refused(kernel, magnitude):
    with pytest.raises(InputError, match=r"1e-30 to 1e\+30"):
        CodedSVC(kernel, n_levels=64).fit(X * magnitude, Y)


@pytest.mark.parametrize("model", [CodedRidge(), CodedSVR()], ids=str)
@pytest.mark.parametrize("magnitude", [1e-44, 1e40, 1e200, 1e308])
def test_targets_that_single_precision_cannot_hold_are_refused(model, magnitude):
    y = X[:, 0] - X[:, 1]
    with pytest.raises(InputError, match=r"^y is up to .* 1e-30 to 1e\+30"):
        model.fit(X, y * magnitude)


@pytest.mark.parametrize("kind", [IntersectionMap, SplineMap, AnchorMap, ExactMap, NystroemMap])
def test_maps_refuse_what_their_tables_cannot_hold(kind):
    told = rf"^{kind.__name__} learns tables from the data .* the largest is 1e\+60: divide the"
    with pytest.raises(InputError, match=told):
        kind().fit(X * 1e60)
    at_most = kind().fit_transform(X * 1e36)
    assert np.isfinite(at_most).all()
