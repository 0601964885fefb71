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
    make_map,
    parameters_of,
)
from tests.oracles.kernels import gauss, laplace

SIGNED = [
    *(HomogeneousMap(order=2), SameSignMap(), LowDimMap(), AnchorMap(gauss, 10)),
    *(SplineMap(), SplineMap(7, degree=3, penalty=0), FourierMap(), HermiteMap()),
]
UNSIGNED = [
    *(AnchorMap(), AnchorMap(n_anchors=256, anchors="kmeans"), ExactMap(), NystroemMap()),
    *(IntersectionMap(), IntersectionMap(5, "constant"), IntersectionMap(5, sparse=True)),
]
ENDED = [*UNSIGNED[:2], *UNSIGNED[3:], *SIGNED[-4:]]  # they clamp to the range of `fit`


CHECKED = [
    AnchorMap(),
    AnchorMap("js", 30, "kmeans", n_neighbors=2, rank=3),
    AnchorMap("intersection", anchors="cover", epsilon=0.5),
    AnchorMap(gauss, 10, shared=True),
    ExactMap(n_levels=16),
    ExactMap(laplace, 5, tol=1e-3),
    GeneralizedRBFMap(n_frequencies=20),
    GeneralizedRBFMap("exp-js", 2, n_frequencies=5, sigma=1.0, structure="fastfood"),
    GeneralizedRBFMap(n_frequencies=5, additive=IntersectionMap(n_bins=5)),
    HomogeneousMap(),
    HomogeneousMap("js", order=3, window="uniform"),
    HomogeneousMap("intersection", order=0, gamma=0.5),
    HomogeneousMap("hellinger", order=2, period=5.0),
    IntersectionMap(),
    IntersectionMap(5, "constant"),
    IntersectionMap(5, sparse=True),
    IntersectionMap(upper=2.0),
    LowDimMap(),
    LowDimMap("js", dim=4, optimal=False),
    LowDimMap("rbf", dim=3, low=-4.0, high=4.0, sigma=5.0),
    LowDimMap(np.cos, dim=3, period=2 * np.pi),
    NystroemMap(),
    NystroemMap("intersection", 2, 7),
    NystroemMap(gauss, 4, 30),
    FourierMap(),
    FourierMap(degree=1, penalty=0),
    HermiteMap(),
    HermiteMap(degree=6, penalty=2, spread=2.0),
    ProductMap(HomogeneousMap(order=0)),
    RadialMap(n_frequencies=5),
    SignCauchyMap(n_projections=50),
    SignCauchyMap(n_projections=11, output="onehot", random_state=None),
    RandomFourierMap(n_frequencies=20),
    RandomFourierMap(n_frequencies=7, sigma=None, structure="orthogonal"),
    RandomFourierMap(n_frequencies=7, sigma=3.0, structure="fastfood", random_state=None),
    SameSignMap(order=0),
    SplineMap(),
    SplineMap(5, degree=3, penalty=0),
    SplineMap(4, degree=0, penalty=1),
    SplineMap(6, degree=2, penalty=3),
]


@contract(CHECKED)
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
    (HomogeneousMap, "order", [-1, 1.5], "a whole number from 0 to 10000"),
    (HomogeneousMap, "period", [0.0], "a positive number"),
    (HomogeneousMap, "gamma", [-1], "a positive number"),
    (AnchorMap, "n_anchors", [1, 257, 30.0], "a whole number from 2 to 256"),
    (AnchorMap, "n_neighbors", [0, 41], "a whole number from 1 to 40"),
    (AnchorMap, "energy", [0, 1.1], "a number above 0, at most 1"),
    (AnchorMap, "rank", [41], "a whole number from 1 to 40"),
    (AnchorMap, "shared", ["yes"], "True or False, or 'auto'"),
    (NystroemMap, "dim", [0], "a whole number from 1 to 100"),
    (NystroemMap, "n_points", [0], "a whole number from 1 to 10000"),
    (IntersectionMap, "n_bins", [0], "a whole number from 1 to 10000"),
    (IntersectionMap, "sparse", ["no"], "True or False"),
    (IntersectionMap, "upper", [0], "a positive number"),
    (ExactMap, "n_levels", [1, 257], "a whole number from 2 to 256"),
    (ExactMap, "tol", [-1, 1], "a number of at least 0, below 1"),
    (SplineMap, "n_bins", [0, 2.5], "a whole number from 1 to 10000"),
    (SplineMap, "degree", [4, -1], "a whole number from 0 to 3"),
    (SplineMap, "penalty", [4, "1"], "a whole number from 0 to 3"),
    (FourierMap, "degree", [0], "a whole number from 1 to 10000"),
    (FourierMap, "penalty", [4], "a whole number from 0 to 3"),
    (HermiteMap, "degree", [0, 101], "a whole number from 1 to 100"),
    (HermiteMap, "penalty", [-1], "a whole number from 0 to 3"),
    (HermiteMap, "spread", [0, -1.0, "3"], "a positive number, or None for the range"),
    (LowDimMap, "dim", [0, 2.5], "a whole number from 1 to 10000"),
    (LowDimMap, "ratio", [1.0, "wide"], "a number above 1"),
    (LowDimMap, "error", ["absolut"], "'absolute', 'relative' or 'signature', did you mean 'abs"),
    (LowDimMap, "norm", ["l2"], "'linf' or 'l1'"),
    (LowDimMap, "pool", [-1], "a whole number of at least 0"),
    (LowDimMap, "max_error", [0], "a positive number"),
    (LowDimMap, "sigma", [-1], "a positive number"),
    (SignCauchyMap, "n_projections", [0, 1e3], "a whole number of at least 1"),
    (RandomFourierMap, "n_frequencies", [0, 1e3], "a whole number of at least 1"),
    (RandomFourierMap, "sigma", [0], "a positive number, or None to take it from the data"),
    (RandomFourierMap, "sigma", [-1.0, "auto"], "a positive number"),
    (GeneralizedRBFMap, "order", [-1], "a whole number from 0 to 10000"),
    (GeneralizedRBFMap, "n_frequencies", [0], "a whole number of at least 1"),
    (GeneralizedRBFMap, "sigma", [0.0], "a positive number, or None"),
    (GeneralizedRBFMap, "additive", ["homogeneous"], "an additive map"),
    (RadialMap, "n_frequencies", [0], "a whole number of at least 1"),
    (RadialMap, "order", [-1], "a whole number from 0 to 10000"),
    (RadialMap, "sigma", [0.0], "a positive number"),
]
"""A map, its parameter, values that it cannot have, and what is expected."""


@pytest.mark.parametrize(("map_class", "name", "values", "expected"), UNFIT)
def test_unfit_values_are_named(map_class, name, values, expected):
    for value in values:
        with pytest.raises(ConfigError) as caught:
            map_class(**{name: value}).fit([[0.0], [1.0]])
        assert str(caught.value).startswith(f"{name}={value!r}: expected {expected}")


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
ODD = [-1, 0, 0.5, 2, float("nan"), True, None, "linf", "no-such-word", [1, 2], {}]
LONG = ("lowdim", "lowdim-joint", "harmonic")  # to fit, when nothing is refused
QUICK = {
    **{name: {"low": 0, "high": 1, "kernel": "rbf"} for name in LONG},
    **{name: {"n_frequencies": 2} for name in ("random-fourier", "generalized-rbf", "radial")},
    "sign-cauchy": {"n_projections": 2},
}


def refusal(act):
    try:
        act()
    except (ValueError, TypeError) as error:
        return str(error)
    return ""


def compare(name, params):
    own = {key: value for key, value in params.items() if key != "kernel"}
    kernel = params.get("kernel", "chi2")
    told = refusal(lambda: check_parameters(name, kernel, own))
    if told or name not in LONG:
        assert refusal(lambda: make_map(name, kernel, own).fit(X)) == told, (name, params)
    return told


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAPS)
def test_odd_values_are_refused_as_fit_does(name):
    base = QUICK.get(name, {})
    refused = {
        key: [value for value in ODD if compare(name, {**base, key: value})]
        for key in parameters_of(name)
    }
    refused.pop("ratio", None)  # which stationary kernels, of those maps here, do not have
    assert all("no-such-word" in values for values in refused.values())
