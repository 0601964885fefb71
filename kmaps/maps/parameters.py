"""The checks of each map's parameters, whatever the data.

A map checks itself by these functions when it is fitted, and experiment files are checked by them
before any work: nothing is imported here that takes seconds. Each takes a map, or anything that has
a map's parameters as attributes.
"""

from collections.abc import Callable
from typing import Any, Literal, get_args

from kmaps import checks, kernels
from kmaps.errors import ConfigError

# The words that a parameter may be, as the annotation that the map's class has.
Anchors = Literal["uniform", "kmeans", "cover"]
AnchorWeights = Literal["equal", "distance"]
Degree = Literal[0, 1, 2, 3]
Error = Literal["absolute", "relative", "signature"]
Method = Literal["proj", "proj_product", "modulation", "modulation_no_lp"]
"""The four methods of ldefm Table 2."""
Norm = Literal["linf", "l1"]
Output = Literal["sign", "onehot"]
Penalty = Literal[0, 1, 2, 3]
Period = Literal["auto", "optimal", "published"]
"""Periods of `HomogeneousMap` that are not given as a number; None is "published"."""
Piece = Literal["linear", "constant"]
Profile = Literal["laplace", "cauchy", "inverse-multiquadric", "gaussian"]
Structure = Literal["dense", "orthogonal", "fastfood"]
Values = Literal["integers"]
"""The values of `LowDimMap` that need not be listed."""
Window = Literal["rectangular", "uniform"]

MOST_OUTPUTS = 10_000  # per feature: more than anybody needs, and matrices of them fit into memory


def check_homogeneous(params: Any) -> None:
    """Refuse what `HomogeneousMap` and `SameSignMap` cannot have."""
    if not (callable(params.kernel) or params.kernel in kernels.LOG_KERNELS):
        kernels.get_kernel(params.kernel)
    checks.check_whole("order", params.order, 0, MOST_OUTPUTS)
    checks.check_choice("window", params.window, get_args(Window))
    checks.check_positive("gamma", params.gamma)
    if params.period is None:
        return
    words = get_args(Period)
    if not (isinstance(params.period, str) and params.period in words):
        note = f", {', '.join(map(repr, words))} or None"
        checks.check_positive("period", params.period, note=note)


def check_anchor(params: Any) -> None:
    """Refuse what `AnchorMap` cannot have."""
    checks.check_choice("anchors", params.anchors, get_args(Anchors))
    covers = params.anchors == "cover"
    checks.check_whole("n_anchors", params.n_anchors, 2, checks.MAX_LEVELS)
    most_anchors = checks.MAX_LEVELS if covers else int(params.n_anchors)
    checks.check_whole("n_neighbors", params.n_neighbors, 1, most_anchors)
    checks.check_choice("weights", params.weights, get_args(AnchorWeights))
    if params.weights == "distance" and params.n_neighbors != 2:
        raise ConfigError(
            f"weights='distance': interpolates between the anchors on both sides; expected "
            f"n_neighbors=2, got {params.n_neighbors!r}"
        )
    checks.check_whole("rank", params.rank, 1, most_anchors, or_none=True)
    checks.check_number("energy", params.energy, above=0, at_most=1)
    if covers:
        checks.check_positive("epsilon", params.epsilon, note=", which anchors='cover' needs")
    elif params.epsilon is not None:
        raise ConfigError(f"epsilon={params.epsilon!r}: only anchors='cover' takes it")
    if params.shared != "auto":
        checks.check_flag("shared", params.shared, note=", or 'auto'")
    kernels.scalar_kernel(params.kernel)


def check_nystroem(params: Any) -> None:
    """Refuse what `NystroemMap` cannot have."""
    checks.check_whole("n_points", params.n_points, 1, MOST_OUTPUTS)
    checks.check_whole("dim", params.dim, 1, int(params.n_points))
    checks.check_seed("random_state", params.random_state)
    kernels.scalar_kernel(params.kernel)


def check_exact(params: Any) -> None:
    """Refuse what `ExactMap` cannot have."""
    checks.check_whole("n_levels", params.n_levels, 2, checks.MAX_LEVELS)
    checks.check_number("tol", params.tol, at_least=0, below=1)
    kernels.scalar_kernel(params.kernel)


def check_intersection(params: Any) -> None:
    """Refuse what `IntersectionMap` cannot have."""
    checks.check_choice("piece", params.piece, get_args(Piece))
    checks.check_flag("sparse", params.sparse)
    in_codes = params.piece == "constant"
    most = checks.MAX_LEVELS - 1 if in_codes else MOST_OUTPUTS
    checks.check_whole("n_bins", params.n_bins, 2 if params.sparse else 1, most)
    if params.sparse and in_codes:
        raise ConfigError("sparse=True: only piece='linear' has a sparse form")
    checks.check_positive("upper", params.upper, or_none=True)


def check_spline(params: Any) -> None:
    """Refuse what `SplineMap` cannot have."""
    checks.check_whole("n_bins", params.n_bins, 1, MOST_OUTPUTS)
    checks.check_whole("degree", params.degree, 0, 3)
    checks.check_whole("penalty", params.penalty, 0, 3)


def check_fourier(params: Any, most: int = MOST_OUTPUTS) -> None:
    """Refuse what `FourierMap` cannot have, whose degree is at most ``most``."""
    checks.check_whole("degree", params.degree, 1, most)
    checks.check_whole("penalty", params.penalty, 0, 3)
    checks.check_positive("spread", params.spread, ", or None for the range", or_none=True)


def check_hermite(params: Any) -> None:
    """Refuse what `HermiteMap` cannot have: factorials of larger degrees overflow."""
    check_fourier(params, most=100)


def check_sign_cauchy(params: Any) -> None:
    """Refuse what `SignCauchyMap` cannot have."""
    checks.check_whole("n_projections", params.n_projections, 1)
    checks.check_choice("output", params.output, get_args(Output))
    checks.check_seed("random_state", params.random_state)


def check_random_fourier(params: Any) -> None:
    """Refuse what `RandomFourierMap` cannot have."""
    checks.check_choice("structure", params.structure, get_args(Structure))
    _check_frequencies(params)


def _check_frequencies(params: Any) -> None:
    checks.check_whole("n_frequencies", params.n_frequencies, 1)
    checks.check_positive("sigma", params.sigma, ", or None to take it from the data", or_none=True)
    checks.check_seed("random_state", params.random_state)


def check_radial(params: Any) -> None:
    """Refuse what `RadialMap` cannot have."""
    checks.check_choice("profile", params.profile, kernels.PROFILES)
    _check_frequencies(params)
    kernels.get_kernel(params.kernel)
    if params.kernel != "hellinger":
        checks.check_whole("order", params.order, 0, MOST_OUTPUTS)


def check_generalized(params: Any) -> None:
    """Refuse what `GeneralizedRBFMap` cannot have."""
    check_random_fourier(params)
    if params.additive is None:
        kernels.check_kernel(params.kernel, (*kernels.EXP_KERNELS, *kernels.KERNELS))
        if params.kernel.removeprefix("exp-") != "hellinger":
            checks.check_whole("order", params.order, 0, MOST_OUTPUTS)
    elif isinstance(params.additive, str | int | float | list | dict):  # all that files can say
        raise ConfigError(
            f"additive={params.additive!r}: expected an additive map, such as HomogeneousMap()"
        )


def problem_kind(params: Any) -> str:
    """Return the kind of a kernel: "homogeneous", "stationary" or "periodic"."""
    if params.period is not None:
        return "periodic"
    ranged = params.low is not None or params.high is not None
    if callable(params.kernel):
        return "stationary" if ranged else "homogeneous"
    return (
        "homogeneous" if params.kernel in (*kernels.KERNELS, *kernels.LOG_KERNELS) else "stationary"
    )


def check_problem(params: Any, *, on_data: bool = False) -> None:
    """Refuse a kernel and a range of inputs that are unfit or do not go together.

    With ``on_data`` a ratio or an end of the range may be None: data will say it.
    """
    if not callable(params.kernel):
        names = (*kernels.KERNELS, *kernels.STATIONARY, *kernels.LOG_KERNELS)
        kernels.check_kernel(params.kernel, names, "kernels: {}, or a function")
    checks.check_positive("sigma", params.sigma)
    kind = problem_kind(params)
    if kind == "homogeneous" and not (on_data and params.ratio is None):
        note = ", the largest input over the smallest non-zero one"
        checks.check_number("ratio", params.ratio, above=1, note=note)
    checks.check_choice("error", params.error, get_args(Error))
    checks.check_positive("period", params.period, or_none=True)
    checks.check_whole("levels", params.levels, 2, or_none=True)
    if params.values is not None:
        _check_values(params, kind, on_data)
    if kind == "stationary":
        _check_range(params, on_data)
    elif kind == "homogeneous" or params.kernel in kernels.KERNELS:
        _check_without_range(params)


def _check_values(params: Any, kind: str, on_data: bool) -> None:
    if kind != "homogeneous":
        raise ConfigError(
            "values: only a homogeneous kernel takes them; for values at equal distances give "
            "low, high and levels"
        )
    words = get_args(Values)
    if not (isinstance(params.values, str) and params.values in words):
        checks.check_sizes("values", params.values, checks.MAX_LEVELS, " or 'integers'")
    elif not (on_data and params.ratio is None):
        note = ", the largest of the integers from 1 that values='integers' means"
        checks.check_number("ratio", params.ratio, above=1, at_most=checks.MAX_LEVELS, note=note)
        if params.ratio != int(params.ratio):
            raise ConfigError(f"ratio={params.ratio!r}: expected a whole number{note}")


def _check_range(params: Any, on_data: bool) -> None:
    ends = [end for end in (params.low, params.high) if not (on_data and end is None)]
    are_numbers = all(map(checks.is_number, ends))
    ascend = are_numbers and (len(ends) < 2 or params.low < params.high)
    if not ascend:
        raise ConfigError(f"low={params.low!r}, high={params.high!r}: expected numbers, low < high")


def _check_without_range(params: Any) -> None:
    for name in ("low", "high", "period", "levels"):
        if getattr(params, name) is not None:
            raise ConfigError(
                f"{name}={getattr(params, name)!r}: a homogeneous kernel depends on the ratio of "
                f"its inputs, not on their range; leave {name} out"
            )


def check_request(kind: str, params: Any) -> bool:
    """Refuse parameters that programs cannot solve; return whether the shipped table may help."""
    checks.check_whole("dim", params.dim, 1, MOST_OUTPUTS)
    checks.check_choice("norm", params.norm, get_args(Norm))
    if params.pool != "fine":
        checks.check_whole("pool", params.pool, 0)
    checks.check_flag("continuous", params.continuous)
    if params.optimal is not None:
        checks.check_flag(
            "optimal", params.optimal, note=", or None for what the shipped table has"
        )
    searches_all = params.norm == "linf" and params.pool == "fine" and params.continuous
    may_be_optimal = searches_all and kind != "periodic"
    if params.optimal and not may_be_optimal:
        raise ConfigError(
            "optimal=True: the global search minimises the largest error over all frequencies, so "
            "it goes with norm='linf', pool='fine', continuous=True and no period"
        )
    checks.check_positive("max_error", params.max_error, or_none=True)
    return may_be_optimal


def check_lowdim(params: Any) -> None:
    """Refuse what `LowDimMap` cannot have."""
    check_problem(params, on_data=True)
    check_request(problem_kind(params), params)
    check_norm(params.norm, params.values)


def check_norm(norm: str, values: Any) -> None:
    """Refuse the integral of errors that count at some values only."""
    if values is not None and norm == "l1":
        raise ConfigError(
            "norm='l1': the integral of the error is over all values of the range; leave values "
            "out, or use norm='linf'"
        )


def check_joint(params: Any) -> None:
    """Refuse what `HarmonicMap` cannot have."""
    checks.check_whole("dim", params.dim, 1)
    checks.check_positive("sigma", params.sigma)
    if not callable(params.kernel):
        kernels.check_kernel(
            params.kernel, kernels.STATIONARY, "stationary kernels: {}, or a function"
        )
    _check_range(params, on_data=True)


def check_lowdim_joint(params: Any) -> None:
    """Refuse what `MultiLowDimMap` cannot have."""
    check_joint(params)
    checks.check_choice("method", params.method, get_args(Method))
    checks.check_whole("n_grids", params.n_grids, 1)
    checks.check_whole("levels", params.levels, 2, or_none=True)
    checks.check_flag("continuous", params.continuous)
    checks.check_flag("also_box", params.also_box)


CHECKS: dict[str, Callable[[Any], None]] = {  # the check of each map by the map's name
    "homogeneous": check_homogeneous,
    "same-sign": check_homogeneous,
    "lowdim": check_lowdim,
    "lowdim-joint": check_lowdim_joint,
    "harmonic": check_joint,
    "anchor": check_anchor,
    "nystroem": check_nystroem,
    "intersection": check_intersection,
    "exact-table": check_exact,
    "spline": check_spline,
    "fourier": check_fourier,
    "hermite": check_hermite,
    "sign-cauchy": check_sign_cauchy,
    "random-fourier": check_random_fourier,
    "generalized-rbf": check_generalized,
    "radial": check_radial,
}
