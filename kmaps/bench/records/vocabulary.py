"""The papers' words for methods, their parameters, solvers and learners."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Wording = str | Mapping[Any, str] | Callable[[Any], str]
"""How a value is written: a text around ``{}``, a text for each value, or a function."""


@dataclass(frozen=True)
class Words:
    """How a method is written.

    Parameters
    ----------
    name : str
    shown : mapping
        The wording of the parameters that always show, in their order.
    others : mapping
        The wording of those that show where rows differ in them; what is left out is written as
        ``name = value``.
    variants : mapping
        Parameters that change the name, in the order in which they do: the wording of the name,
        with ``{}`` for the name so far, by value. A value that is not there leaves it.
    """

    name: str
    shown: Mapping[str, Wording] = field(default_factory=dict)
    others: Mapping[str, Wording] = field(default_factory=dict)
    variants: Mapping[str, Mapping[Any, str] | Callable[[Any], str]] = field(default_factory=dict)


def _outputs(order: int) -> str:
    return f"r = {2 * order + 1}"


def _period(period: float | str | None) -> str:
    if period is None:
        return "published period"
    return f"{period} period" if isinstance(period, str) else f"Λ = {plain(period)}"


def _neighbors(n_neighbors: int) -> str:
    return "{}" if n_neighbors == 1 else f"{n_neighbors}-{{}}"


def _pool(pool: Any) -> str:
    return f"{pool} pool" if isinstance(pool, str) else f"pool Ω{'₀₁₂₃₄₅₆₇₈₉'[pool]}"


def _ratio(ratio: float | None) -> str:
    return "ratio of the data" if ratio is None else f"ratio {plain(ratio)}"


_STRUCTURES = {"dense": "dense", "orthogonal": "orthogonal", "fastfood": "Fastfood"}
_WIDTH = {None: "σ of the data"}

VOCABULARY: dict[str, Words] = {
    "linear": Words("linear"),
    "exact": Words("exact"),
    "exact-coded": Words("exact on codes"),
    "homogeneous": Words(
        "homogeneous",
        {"order": _outputs},
        {"window": "{} window", "period": _period, "gamma": "γ = {}"},
    ),
    "same-sign": Words(
        "same-sign homogeneous",
        {"order": lambda order: f"r = {2 * (2 * order + 1)}"},
        {"window": "{} window", "period": _period, "gamma": "γ = {}"},
    ),
    "anchor": Words(
        "ANNFM",
        {"n_anchors": "N = {}"},
        {"shared": {True: "shared range", False: "a range per feature"}, "epsilon": "ε = {}"},
        {
            "n_neighbors": _neighbors,
            "anchors": {"kmeans": "{} k-means", "cover": "{} cover"},
        },
    ),
    "nystroem": Words("addKPCA", {"dim": "r = {}"}, {"n_points": "{} points"}),
    "intersection": Words(
        "Maji–Berg",
        {"n_bins": "N = {}"},
        {"piece": "piecewise {}"},
        {"sparse": {True: "sparse {}"}},
    ),
    "exact-table": Words("exact table", {"n_levels": "L = {}"}),
    "lowdim": Words(
        "low-dimensional",
        {"dim": "D = {}"},
        {
            "ratio": _ratio,
            "error": "{} error",
            "pool": _pool,
            "continuous": {True: "continuous", False: "discrete"},
            "norm": {"linf": "L∞ norm", "l1": "L1 norm"},
            "max_error": "error ≤ {}",
            "period": "period {}",
        },
        {"optimal": {False: "LP", True: "optimal"}},
    ),
    "lowdim-joint": Words(
        "joint low-dimensional",
        {"dim": "D = {}"},
        {"continuous": {True: "continuous", False: "discrete"}},
        {
            "method": {
                "proj": "Proj",
                "proj_product": "Proj ⊗",
                "modulation": "⊗",
                "modulation_no_lp": "⊗ no LP",
            }
        },
    ),
    "harmonic": Words("harmonics", {"dim": "D = {}"}),
    "spline": Words("spline", {"degree": "p = {}", "penalty": "s = {}", "n_bins": "{} bins"}),
    "fourier": Words("Fourier", {"degree": "degree {}", "penalty": "s = {}"}),
    "hermite": Words("Hermite", {"degree": "degree {}", "penalty": "s = {}"}),
    "sign-cauchy": Words("sign-Cauchy", {"n_projections": "m = {}"}, {"output": "{} output"}),
    "random-fourier": Words(
        "random Fourier", {"n_frequencies": "m = {}"}, {"structure": _STRUCTURES, "sigma": _WIDTH}
    ),
    "generalized-rbf": Words(
        "random map",
        {"n_frequencies": "m = {}"},
        {"order": _outputs, "structure": _STRUCTURES, "sigma": _WIDTH},
    ),
    "radial": Words(
        "random map", {"profile": "{}", "n_frequencies": "m = {}"}, {"order": _outputs}
    ),
}
"""The words for each method. One that is not here goes by its name, with all its parameters;
an estimator of others has those in which its rows differ."""

LEARNERS: dict[str, str] = {
    "sparse-svm": "sparse SVM",
    "sparse-lr": "sparse LR",
    "group-hinge": "group, hinge",
}
"""The words for learners of trade-offs; one that is not here goes by its name."""

SOLVERS: dict[str, str] = {
    "coded": "on codes",
    "liblinear": "LIBLINEAR",
    "libsvm": "LIBSVM",
    "own": "by itself",
}
"""The words for who solves a classification."""


def words_of(method: str) -> Words:
    """Return the words for a method; an estimator of others goes by the name of its class.

    Examples
    --------
    >>> words_of("exact-coded").name, words_of("sklearn.svm.SVC").name
    ('exact on codes', 'SVC')
    """
    return VOCABULARY.get(method, Words(method.rpartition(".")[2]))


def plain(value: Any) -> str:
    """Write a value: numbers with separators of thousands, without zeros at the end.

    Examples
    --------
    >>> plain(10000), plain(0.5), plain(10.0), plain(True), plain("fine")
    ('10,000', '0.5', '10', 'yes', 'fine')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,g}" if isinstance(value, float) else str(value)


def worded(name: str, value: Any, wording: Wording | None) -> str:
    """Write a parameter.

    Examples
    --------
    >>> worded("n_anchors", 1000, "N = {}"), worded("n_levels", 64, None)
    ('N = 1,000', 'n levels = 64')
    """
    if isinstance(wording, str):
        return wording.format(plain(value))
    if callable(wording):
        return wording(value)
    if wording is not None and value in wording:
        return wording[value]
    return f"{name.replace('_', ' ')} = {plain(value)}"
