"""What parameters may be, asked without importing a map: the answer is that of `fit`, no other."""

import numpy as np
import pytest

from kmaps.maps import MAPS
from kmaps.maps.frequencies import STRUCTURES as FREQUENCIES
from kmaps.maps.parameters import CHECKS, STRUCTURES
from kmaps.maps.registry import check_parameters, make_map, parameters_of

X = np.linspace(0, 1, 40, dtype=np.float32).reshape(20, 2)
ODD = [-1, 0, 0.5, 2, float("nan"), True, None, "linf", "no-such-word", [1, 2], {}]
LONG = ("lowdim", "lowdim-joint", "harmonic")  # to fit, when nothing is refused
QUICK = {
    **{name: {"low": 0, "high": 1, "kernel": "rbf"} for name in LONG},
    **{name: {"n_frequencies": 2} for name in ("random-fourier", "generalized-rbf", "radial")},
    "sign-cauchy": {"n_projections": 2},
}
TOGETHER = [
    ("anchor", {"epsilon": 0.1}),
    ("anchor", {"n_anchors": 257}),
    ("anchor", {"anchors": "cover"}),
    ("anchor", {"n_anchors": 3, "n_neighbors": 4}),
    ("exact-table", {"n_levels": 257}),
    ("generalized-rbf", {"additive": "homogeneous"}),
    ("generalized-rbf", {"order": -1}),
    ("harmonic", {"low": 2, "high": 1}),
    ("hermite", {"degree": 101}),
    ("homogeneous", {"kernel": "chi"}),
    ("intersection", {"piece": "constant", "n_bins": 256}),
    ("intersection", {"piece": "constant", "sparse": True}),
    ("intersection", {"sparse": True, "n_bins": 1}),
    ("lowdim", {"kernel": "chi2", "low": 0, "high": 1}),
    ("lowdim", {"kernel": "chi2", "period": 1.0}),
    ("lowdim", {"kernel": "rbf", "low": 2, "high": 1}),
    ("lowdim", {"kernel": "chi2", "error": "absolut"}),
    ("lowdim", {"optimal": True, "norm": "l1"}),
    ("nystroem", {"dim": 3, "n_points": 2}),
]


def refusal(act):
    """Return in which words something is refused."""
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


def test_every_check_has_a_map():
    assert set(CHECKS) <= set(MAPS)
    assert set(FREQUENCIES) == set(STRUCTURES)


@pytest.mark.parametrize(("name", "params"), TOGETHER)
def test_parameters_that_do_not_go_together_are_refused_as_fit_does(name, params):
    assert compare(name, {**QUICK.get(name, {}), **params})


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
