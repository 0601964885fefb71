"""What all maps have in common: what they refuse, sparse input, values outside, names."""

import warnings

import numpy as np
import pytest
from contract import contract
from scipy.sparse import csr_array, csr_matrix, issparse

from kmaps.errors import ConfigError
from kmaps.maps import (
    MAPS,
    AnchorMap,
    ExactMap,
    FourierMap,
    GeneralizedRBFMap,
    HarmonicMap,
    HermiteMap,
    HomogeneousMap,
    IntersectionMap,
    LowDimMap,
    NystroemMap,
    ProductMap,
    RadialMap,
    RandomFourierMap,
    SameSignMap,
    SignCauchyMap,
    SplineMap,
    check_parameters,
)
from tests.oracles.kernels import gauss

SIGNED = [
    *(HomogeneousMap(order=3), SameSignMap(), LowDimMap(), AnchorMap(gauss, 10)),
    *(SplineMap(), SplineMap(7, degree=3, penalty=0), FourierMap(), HermiteMap()),
]
UNSIGNED = [
    *(AnchorMap(), AnchorMap(n_anchors=256, anchors="kmeans"), ExactMap(), NystroemMap()),
    *(IntersectionMap(), IntersectionMap(5, "constant"), IntersectionMap(5, sparse=True)),
]
ENDED = [*UNSIGNED[:2], *UNSIGNED[3:], *SIGNED[-4:]]  # they clamp to the range of `fit`
FITTING = [  # a class for each `fit`, of additive maps one that refuses negative values too
    HomogeneousMap(),
    ExactMap(n_levels=16),
    ProductMap(HomogeneousMap(order=0)),
    RandomFourierMap(n_frequencies=20),
    SignCauchyMap(n_projections=50),
]


@contract(FITTING)
def test_follows_scikit_learn(estimator, check):
    check(estimator)


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


@pytest.mark.parametrize("feature_map", [*SIGNED, *UNSIGNED], ids=str)
def test_table_is_transform_on_the_levels(feature_map):
    values = np.random.default_rng(0).random((60, 3)) * [1, 7, 0.01]
    Z = dense(feature_map.fit_transform(values))
    table = feature_map.tabulate(values.T)
    np.testing.assert_array_equal(table.transpose(1, 0, 2).reshape(60, -1), Z)


def calls(feature_map):
    return [feature_map.transform, *([feature_map.to_codes] if feature_map.has_codes else [])]


@pytest.mark.parametrize("feature_map", [*SIGNED, *UNSIGNED], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_not_finite_is_refused_with_its_place(feature_map, dtype):
    values = np.linspace(0.5, 1, 2100).reshape(700, 3).astype(dtype)
    feature_map.fit(values)
    for bad in (np.nan, np.inf, -np.inf):
        values[600, 2] = bad
        for call in calls(feature_map):
            with pytest.raises(ValueError, match="row 600, column 2"):
                call(values)


@pytest.mark.parametrize("feature_map", [*UNSIGNED, SignCauchyMap(8)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_negative_values_are_refused(feature_map, dtype):
    values = np.linspace(0, 1, 210).reshape(70, 3).astype(dtype)
    values[0] = 0
    feature_map.fit(values)
    values[60, 2] = -1
    name = type(feature_map).__name__
    for refuses in (*calls(feature_map), feature_map.fit):
        for given in (values, csr_matrix(values)):
            with pytest.raises(ValueError, match=f"Negative values in data passed to {name}"):
                refuses(given)


@pytest.mark.parametrize("feature_map", [*SIGNED[:3], *UNSIGNED], ids=str)
@pytest.mark.parametrize("container", [csr_matrix, csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_sparse_in_sparse_out(feature_map, container, dtype):
    values = np.random.default_rng(1).poisson(0.5, (30, 11)).astype(dtype)
    values[0] = 0
    given = container(values)
    given.data[5] = 0  # a stored zero is a zero
    values = given.toarray()
    expected = dense(feature_map.fit(values).transform(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls(feature_map.fit(given)):
            assert isinstance(call(given), container)
    np.testing.assert_array_equal(feature_map.transform(given).toarray(), expected)
    assert expected.dtype == (np.float64 if dtype == np.float64 else np.float32)


@pytest.mark.parametrize("feature_map", ENDED, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_values_outside_are_clamped_counted_and_warned_of_once(feature_map, dtype):
    feature_map.fit([[0.0, 0], [2, 8], [1, 3]])
    name = type(feature_map).__name__
    for call in calls(feature_map):
        message = f"3 of 6 values lie outside the range that {name} was fitted on"
        with pytest.warns(UserWarning, match=message) as seen:
            far = call(np.array([[3, 9], [2, 200], [2, 0]], dtype))
        assert [warning.filename for warning in seen] == [__file__]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            inside = call(np.array([[2, 8], [2, 8], [2, 0]], dtype))
        np.testing.assert_array_equal(dense(far), dense(inside))


@pytest.mark.parametrize(
    ("feature_map", "names"),
    [
        (SplineMap(n_bins=2, degree=1), ["spline0", "spline1", "spline2"]),
        (FourierMap(degree=2), ["cos1", "sin1", "cos2", "sin2"]),
        (HermiteMap(degree=3), ["hermite1", "hermite2", "hermite3"]),
        (HomogeneousMap(), ["root", "cos1", "sin1"]),
        (SameSignMap(order=0), ["positive_root", "negative_root"]),
        (LowDimMap(dim=5), ["root", "cos1", "sin1", "cos2", "sin2"]),
        (LowDimMap("rbf", 4, low=0, high=1, sigma=0.3), ["cos1", "sin1", "cos2", "sin2"]),
    ],
)
def test_outputs_are_named_after_feature_and_function(feature_map, names):
    feature_map.fit([[0.0, 1.0], [1.0, 3.0]])
    assert feature_map.n_outputs_ == len(names)
    expected = [f"{feature}_{name}" for feature in ("red", "blue") for name in names]
    assert list(feature_map.get_feature_names_out(["red", "blue"])) == expected


UNFIT = [
    (HomogeneousMap, "order", [-1, 1.5]),
    (HomogeneousMap, "period", [0.0]),
    (HomogeneousMap, "gamma", [-1]),
    (AnchorMap, "n_anchors", [1, 257, 30.0]),
    (AnchorMap, "n_neighbors", [0, 41]),
    (AnchorMap, "energy", [0, 1.1]),
    (AnchorMap, "rank", [41]),
    (AnchorMap, "shared", ["yes"]),
    (NystroemMap, "dim", [0]),
    (NystroemMap, "n_points", [0]),
    (IntersectionMap, "n_bins", [0]),
    (IntersectionMap, "sparse", ["no"]),
    (IntersectionMap, "upper", [0]),
    (ExactMap, "n_levels", [1, 257]),
    (ExactMap, "tol", [-1, 1]),
    (SplineMap, "n_bins", [0, 2.5]),
    (SplineMap, "degree", [4, -1]),
    (SplineMap, "penalty", [4, "1"]),
    (FourierMap, "degree", [0]),
    (FourierMap, "penalty", [4]),
    (HermiteMap, "degree", [0, 101]),
    (HermiteMap, "penalty", [-1]),
    (HermiteMap, "spread", [0, -1.0, "3"]),
    (LowDimMap, "dim", [0, 2.5]),
    (LowDimMap, "ratio", [1.0, "wide"]),
    (LowDimMap, "error", ["absolut"]),
    (LowDimMap, "norm", ["l2"]),
    (LowDimMap, "pool", [-1]),
    (LowDimMap, "max_error", [0]),
    (LowDimMap, "sigma", [-1]),
    (SignCauchyMap, "n_projections", [0, 1e3]),
    (RandomFourierMap, "n_frequencies", [0, 1e3]),
    (RandomFourierMap, "sigma", [0]),
    (RandomFourierMap, "sigma", [-1.0, "auto"]),
    (GeneralizedRBFMap, "order", [-1]),
    (GeneralizedRBFMap, "n_frequencies", [0]),
    (GeneralizedRBFMap, "sigma", [0.0]),
    (GeneralizedRBFMap, "additive", ["homogeneous"]),
    (RadialMap, "n_frequencies", [0]),
    (RadialMap, "order", [-1]),
    (RadialMap, "sigma", [0.0]),
]
"""A map, its parameter, and values that it cannot have."""


@pytest.mark.parametrize(("map_class", "name", "values"), UNFIT)
def test_unfit_values_are_named(map_class, name, values):
    for value in values:
        with pytest.raises(ConfigError) as caught:
            map_class(**{name: value}).fit([[0.0], [1.0]])
        assert str(caught.value).startswith(f"{name}={value!r}: expected ")


REFUSED = [
    (HomogeneousMap(kernel="chi"), "unknown kernel 'chi', did you mean 'chi2'"),
    (HomogeneousMap(window="uniforn"), "did you mean 'uniform'"),
    (AnchorMap(kernel="chi"), "unknown kernel 'chi', did you mean 'chi2'"),
    (AnchorMap(anchors="kmean"), "did you mean 'kmeans'"),
    (AnchorMap(anchors="cover"), "epsilon=None: expected a positive number, which anchors="),
    (AnchorMap(anchors="cover", epsilon=0.0), "epsilon=0.0: expected a positive number, which"),
    (AnchorMap(epsilon=0.1), "epsilon=0.1: only anchors='cover' takes it"),
    (NystroemMap(kernel="chi"), "did you mean 'chi2'"),
    (NystroemMap(dim=8, n_points=7), "dim=8: expected a whole number from 1 to 7"),
    (
        IntersectionMap(n_bins=256, piece="constant"),
        "n_bins=256: expected a whole number from 1 to 255",
    ),
    (IntersectionMap(piece="linnear"), "did you mean 'linear'"),
    (IntersectionMap(sparse=True, piece="constant"), "sparse=True: only piece='linear'"),
    (IntersectionMap(sparse=True, n_bins=1), "n_bins=1: expected a whole number from 2 to 10000"),
    (IntersectionMap(upper=np.inf), "upper=inf: expected a positive number"),
    (ExactMap(kernel="chi"), "did you mean 'chi2'"),
    (SignCauchyMap(output="one-hot"), "output='one-hot': expected .*, did you mean 'onehot'"),
    (RandomFourierMap(structure="fast-food"), "structure='fast-food': .*, did you mean 'fastfood'"),
    (GeneralizedRBFMap(kernel="exp-chi"), "unknown kernel 'exp-chi'"),
    (RadialMap(profile="laplacian"), "profile='laplacian': .*, did you mean 'laplace'"),
    (RadialMap(kernel="exp-chi2"), "unknown kernel 'exp-chi2', did you mean 'chi2'"),
    (LowDimMap(low=1.0), "low=1.0: a homogeneous kernel depends on the ratio of its inputs"),
    (LowDimMap(period=1.0), "period=1.0: a homogeneous kernel depends on the ratio"),
    (LowDimMap("rbf", low=2.0, high=1.0), "expected numbers, low < high"),
    (LowDimMap(optimal=True, norm="l1"), "optimal=True: .* goes with norm='linf'"),
    (HarmonicMap(low=2.0, high=1.0), "low=2.0, high=1.0: expected numbers, low < high"),
]


@pytest.mark.parametrize(("feature_map", "message"), REFUSED, ids=str)
def test_bad_parameters_are_named(feature_map, message):
    with pytest.raises(ConfigError, match=message) as caught:
        feature_map.fit([[0.0], [1.0]])
    [name] = [name for name in MAPS if MAPS[name] is type(feature_map)]
    params = feature_map.get_params()
    assert refusal(lambda: check_parameters(name, params.pop("kernel", ""), params)) == str(
        caught.value
    )


# What parameters may be, asked without data: the answer is that of `fit`, no other.
X = np.linspace(0, 1, 40, dtype=np.float32).reshape(20, 2)


def refusal(act):
    try:
        act()
    except (ValueError, TypeError) as error:
        return str(error)
    return ""
