"""Arrays of other libraries: maps give what they give of NumPy's, on their device; models refuse.

`array_api_strict` has nothing but the standard.
"""

import os
import re
import sys
import warnings

import numpy as np
import pytest
from commands import ROOT, python
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone

import kmaps
from kmaps.array_api import as_numpy, namespace
from kmaps.errors import InputError
from kmaps.maps import MAPS, RandomFeatures
from tests.oracles.kernels import gauss

X = np.random.default_rng(0).random((40, 3)) * [1.0, 5.0, 0.1]
X[3:9, 1] = 0
y = (X[:, 0] > 0.5).astype(int) + (X[:, 1] > 2.5)

SMOOTH = [
    kmaps.HomogeneousMap(order=3),
    kmaps.HomogeneousMap("js", order=1, gamma=0.5),
    kmaps.SameSignMap(),
    kmaps.LowDimMap(),
    kmaps.LowDimMap("rbf", dim=3, low=0.0, high=5.0, sigma=5.0),
    *(kmaps.NystroemMap(kernel, 4, 20) for kernel in ("chi2", "js", "intersection", "hellinger")),
    kmaps.FourierMap(penalty=2),
    kmaps.HermiteMap(degree=6, penalty=2),
    kmaps.IntersectionMap(7),
    kmaps.SplineMap(5, degree=3, penalty=2),
    kmaps.AnchorMap(n_neighbors=2, weights="distance"),
    kmaps.AnchorMap(n_anchors=9, anchors="kmeans", n_neighbors=2, weights="distance"),
    kmaps.MultiLowDimMap(dim=2, sigma=5.0, levels=4),
    kmaps.HarmonicMap(dim=5),
    *(kmaps.RandomFourierMap(20, 3.0, kind) for kind in ("dense", "orthogonal", "fastfood")),
    kmaps.GeneralizedRBFMap(n_frequencies=20),
    kmaps.RadialMap(n_frequencies=20),
    kmaps.ProductMap([kmaps.HomogeneousMap(), kmaps.IntersectionMap(3), kmaps.FourierMap(1)]),
    *(kmaps.LandmarkMap(f"exp-{kernel}", 5) for kernel in ("chi2", "js")),
    kmaps.LandmarkMap("rbf", 5),
]
TABLES = [
    kmaps.AnchorMap(),
    kmaps.AnchorMap(gauss, n_anchors=10, shared=True),
    kmaps.AnchorMap("js", n_anchors=12, anchors="kmeans", n_neighbors=3),
    kmaps.ExactMap(n_levels=16),
    kmaps.IntersectionMap(5, "constant"),
    kmaps.SplineMap(4, degree=0, penalty=1),
    kmaps.NystroemMap(gauss, 3, 10),
]
OTHERS = [
    kmaps.IntersectionMap(5, sparse=True),
    kmaps.SplineMap(4, degree=2, penalty=0),
    *(kmaps.SignCauchyMap(20, output) for output in ("sign", "onehot")),
]
LISTED = {type(feature_map) for feature_map in (*SMOOTH, *TABLES, *OTHERS)}
SMOOTH += [new_map() for new_map in MAPS.values() if new_map not in LISTED]
REFUSING = [
    kmaps.Quantizer(),
    kmaps.CodedSVC(),
    kmaps.CodedSVC(probability="sigmoid"),
    kmaps.CodedSVR(),
    kmaps.CodedRidge(),
    kmaps.CodedSVCCV(),
    kmaps.LiblinearSVC(),
    kmaps.GroupLassoSVC(),
    kmaps.KernelSVC(),
    kmaps.LandmarkSVC(n_landmarks=5, sigma=1.0),
    kmaps.RandomFeatureSVC(n_frequencies=30, sigma=None),
]


@pytest.fixture
def dispatching(monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which scikit-learn asks for
    try:
        with config_context(array_api_dispatch=True):
            yield
    except ImportError as error:
        pytest.skip(str(error))


@pytest.fixture
def library(dispatching):
    return pytest.importorskip("array_api_strict")


def foreign(library, array):
    """Return an array in another library, on a device that is not its first."""
    return library.asarray(np.array(array), device=library.Device("device1"))


def assert_alike(found, given):
    assert namespace(found) is namespace(given)
    assert (found.dtype, found.device) == (given.dtype, given.device)


def fitted(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(X, y)


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


@pytest.mark.parametrize("feature_map", [*SMOOTH, *TABLES, *OTHERS], ids=str)
def test_maps_give_what_they_give_of_numpy(feature_map, library):
    feature_map = fitted(feature_map)
    for dtype in (np.float32, np.float64):
        assert_given_as_of_numpy(feature_map, dtype, library)


def assert_given_as_of_numpy(feature_map, dtype, library):
    inside = np.clip(X, 1.001 * X.min(axis=0), 0.999 * X.max(axis=0))
    values = np.where(X == 0, 0, inside).astype(dtype)
    expected = dense(feature_map.transform(values.astype(np.float64)))
    given = foreign(library, values)
    found = feature_map.transform(given)
    assert_alike(found, given)
    long = isinstance(feature_map, (RandomFeatures, kmaps.LandmarkMap))  # sums, 3e-6 measured
    single = dtype == np.float32 or isinstance(feature_map, kmaps.LandmarkMap)  # NumPy's are
    tolerance = ((1e-5 if long else 1e-6) if single else 1e-12) * abs(expected).max()
    np.testing.assert_allclose(as_numpy(found), expected, rtol=0, atol=tolerance)


def test_integers_and_half_precision_become_the_floats_that_hold_them(library):
    feature_map = kmaps.HomogeneousMap().fit(X)
    for name, wanted in {"int16": "float32", "int64": "float64", "uint8": "float32"}.items():
        given = foreign(library, np.arange(6).reshape(2, 3).astype(name))
        assert feature_map.transform(given).dtype == getattr(library, wanted)


def test_fit_of_a_map_takes_them_as_numpys(library):
    outputs = clone(SMOOTH[0]).fit(foreign(library, X)).transform(X)
    assert type(outputs) is np.ndarray
    np.testing.assert_array_equal(outputs, fitted(SMOOTH[0]).transform(X))


def test_bad_values_are_refused_as_numpys(library):
    feature_map = fitted(kmaps.HomogeneousMap())
    bad = X.copy()
    bad[7, 2] = np.nan
    for wrong, message in (
        (foreign(library, bad), r"the first at row 7, column 2"),
        (foreign(library, X[:, :2]), "X has 2 features, but .* is expecting 3"),
        (foreign(library, X[0]), "Expected 2D array, got 1D array"),
        (foreign(library, X.astype(complex)), "expected real numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            feature_map.transform(wrong)


def test_negative_values_are_refused(library):
    for feature_map in (kmaps.AnchorMap(), kmaps.NystroemMap(), kmaps.SignCauchyMap()):
        with pytest.raises(InputError, match="Negative values in data passed to"):
            feature_map.fit(X).transform(foreign(library, -X))


@pytest.mark.parametrize(
    "feature_map", [*TABLES, kmaps.FourierMap(), kmaps.MultiLowDimMap(dim=2, sigma=5.0, levels=4)]
)
def test_values_outside_the_range_are_counted_in_one_warning(feature_map, library):
    feature_map = fitted(feature_map)
    wide = X * 1.5
    with pytest.warns(UserWarning, match="lie outside the range") as expected:
        Z = feature_map.transform(wide)
    with pytest.warns(UserWarning, match="lie outside the range") as found:
        given = feature_map.transform(foreign(library, wide))
    assert [str(one.message) for one in found] == [str(one.message) for one in expected]
    assert found[0].filename == expected[0].filename == __file__
    np.testing.assert_allclose(as_numpy(given), Z, rtol=0, atol=1e-12 * abs(Z).max())


@pytest.mark.parametrize("estimator", REFUSING, ids=str)
def test_models_refuse_them(estimator, library):
    rows, classes = foreign(library, X), foreign(library, y)
    model = fitted(estimator)
    methods = [
        getattr(model, name)
        for name in ("transform", "predict", "decision_function", "predict_proba")
        if hasattr(model, name)
    ]
    assert methods
    for method in methods:
        with pytest.raises(InputError, match=f"{type(model).__name__} takes arrays of NumPy"):
            method(rows)
    arguments_of_fit = [(rows, classes), (rows, y)]
    if not isinstance(model, kmaps.Quantizer):  # which does not look at y
        arguments_of_fit.append((X, classes))
    for arguments in arguments_of_fit:
        with pytest.raises(InputError, match=f"{type(model).__name__} takes arrays of NumPy"):
            clone(estimator).fit(*arguments)


def test_codes_of_a_map_are_numpys(library):
    feature_map = fitted(kmaps.ExactMap(n_levels=16))
    with pytest.raises(InputError, match="ExactMap takes arrays of NumPy"):
        feature_map.to_codes(foreign(library, X))


def test_values_too_large_for_the_frequencies_are_refused(library):
    feature_map = kmaps.RandomFourierMap(5, 1e-30).fit(X)
    with pytest.raises(InputError, match="too large for sigma"):
        feature_map.transform(foreign(library, (X * 1e30).astype(np.float32)))


def test_without_dispatch_they_are_what_scikit_learn_takes_them_for():
    library = pytest.importorskip("array_api_strict")
    found = kmaps.HomogeneousMap().fit(X).transform(library.asarray(X))
    np.testing.assert_array_equal(found, kmaps.HomogeneousMap().fit_transform(X))


NUMPY_ALONE = """
import sys
import numpy as np
import kmaps

X = np.random.default_rng(0).random((20, 2))
kmaps.CodedSVC().fit(kmaps.HomogeneousMap().fit_transform(X) ** 2, X[:, 0] > 0.5)
print({"torch", "cupy", "array_api_compat", "array_api_strict"} & sys.modules.keys())
"""


def test_numpys_arrays_import_no_other_library():
    assert python("-c", NUMPY_ALONE) == "set()\n"


def test_the_example_of_the_page_runs(tmp_path):
    section = (ROOT / "docs" / "python.md").read_text().split("## Arrays of other libraries")[1]
    [example] = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[:1]
    path = os.pathsep.join([str(ROOT), *sys.path])
    python("-c", example, folder=tmp_path, PYTHONPATH=path)
