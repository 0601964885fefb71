"""The checks of each map's parameters, whatever the data.

A map checks itself by these functions when it is fitted, and experiment files are checked by them
before any work: nothing is imported here that takes seconds. Each takes a map, or anything that has
a map's parameters as attributes: `check_anchor` refuses what `AnchorMap` cannot have, and so on.
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
Piece = Literal["linear", "constant"]
Profile = Literal["laplace", "cauchy", "inverse-multiquadric", "gaussian"]
Structure = Literal["dense", "orthogonal", "fastfood"]
Window = Literal["rectangular", "uniform"]

MOST_OUTPUTS = 10_000  # per feature: more than anybody needs, and matrices of them fit into memory
OPTIMAL = "optimal"  # the period of `HomogeneousMap` that suits the range of the data best


def check_homogeneous(given: Any) -> None:
    if not (callable(given.kernel) or given.kernel in kernels.LOG_KERNELS):
        kernels.get_kernel(given.kernel)
    checks.check_whole("order", given.order, 0, MOST_OUTPUTS)
    checks.check_choice("window", given.window, get_args(Window))
    checks.check_positive("gamma", given.gamma)
    if given.period is not None and given.period != OPTIMAL:
        checks.check_positive("period", given.period, note=f", or {OPTIMAL!r}")


def check_anchor(given: Any) -> None:
    checks.check_choice("anchors", given.anchors, get_args(Anchors))
    covers = given.anchors == "cover"
    checks.check_whole("n_anchors", given.n_anchors, 2, checks.MAX_LEVELS)
    most = checks.MAX_LEVELS if covers else int(given.n_anchors)
    checks.check_whole("n_neighbors", given.n_neighbors, 1, most)
    checks.check_choice("weights", given.weights, get_args(AnchorWeights))
    if given.weights == "distance" and given.n_neighbors != 2:
        raise ConfigError(
            f"weights='distance': interpolates between the anchors on both sides; expected "
            f"n_neighbors=2, got {given.n_neighbors!r}"
        )
    checks.check_whole("rank", given.rank, 1, most, or_none=True)
    checks.check_number("energy", given.energy, above=0, at_most=1)
    if covers:
        checks.check_positive("epsilon", given.epsilon, note=", which anchors='cover' needs")
    elif given.epsilon is not None:
        raise ConfigError(f"epsilon={given.epsilon!r}: only anchors='cover' takes it")
    if given.shared != "auto":
        checks.check_flag("shared", given.shared, note=", or 'auto'")
    kernels.scalar_kernel(given.kernel)


def check_nystroem(given: Any) -> None:
    checks.check_whole("n_points", given.n_points, 1, MOST_OUTPUTS)
    checks.check_whole("dim", given.dim, 1, int(given.n_points))
    checks.check_seed("random_state", given.random_state)
    kernels.scalar_kernel(given.kernel)


def check_exact(given: Any) -> None:
    checks.check_whole("n_levels", given.n_levels, 2, checks.MAX_LEVELS)
    checks.check_number("tol", given.tol, at_least=0, below=1)
    kernels.scalar_kernel(given.kernel)


def check_intersection(given: Any) -> None:
    checks.check_choice("piece", given.piece, get_args(Piece))
    checks.check_flag("sparse", given.sparse)
    in_codes = given.piece == "constant"
    most = checks.MAX_LEVELS - 1 if in_codes else MOST_OUTPUTS
    checks.check_whole("n_bins", given.n_bins, 2 if given.sparse else 1, most)
    if given.sparse and in_codes:
        raise ConfigError("sparse=True: only piece='linear' has a sparse form")
    checks.check_positive("upper", given.upper, or_none=True)


def check_spline(given: Any) -> None:
    checks.check_whole("n_bins", given.n_bins, 1, MOST_OUTPUTS)
    checks.check_whole("degree", given.degree, 0, 3)
    checks.check_whole("penalty", given.penalty, 0, 3)


def check_fourier(given: Any, most: int = MOST_OUTPUTS) -> None:
    checks.check_whole("degree", given.degree, 1, most)
    checks.check_whole("penalty", given.penalty, 0, 3)
    checks.check_positive("spread", given.spread, ", or None for the range", or_none=True)


def check_hermite(given: Any) -> None:
    check_fourier(given, most=100)


def check_sign_cauchy(given: Any) -> None:
    checks.check_whole("n_projections", given.n_projections, 1)
    checks.check_choice("output", given.output, get_args(Output))
    checks.check_seed("random_state", given.random_state)


def check_random_fourier(given: Any) -> None:
    checks.check_choice("structure", given.structure, get_args(Structure))
    _check_frequencies(given)


def _check_frequencies(given: Any) -> None:
    checks.check_whole("n_frequencies", given.n_frequencies, 1)
    checks.check_positive("sigma", given.sigma, ", or None to take it from the data", or_none=True)
    checks.check_seed("random_state", given.random_state)


def check_radial(given: Any) -> None:
    checks.check_choice("profile", given.profile, kernels.PROFILES)
    _check_frequencies(given)
    kernels.get_kernel(given.kernel)
    if given.kernel != "hellinger":
        checks.check_whole("order", given.order, 0, MOST_OUTPUTS)


def check_generalized(given: Any) -> None:
    check_random_fourier(given)
    if given.additive is None:
        kernels.check_kernel(given.kernel, (*kernels.EXP_KERNELS, *kernels.KERNELS))
        if given.kernel.removeprefix("exp-") != "hellinger":
            checks.check_whole("order", given.order, 0, MOST_OUTPUTS)
    elif isinstance(given.additive, str | int | float | list | dict):  # all that files can say
        raise ConfigError(
            f"additive={given.additive!r}: expected an additive map, such as HomogeneousMap()"
        )


def problem_kind(given: Any) -> str:
    """Return the kind of a kernel: "homogeneous", "stationary" or "periodic"."""
    if given.period is not None:
        return "periodic"
    ranged = given.low is not None or given.high is not None
    if callable(given.kernel):
        return "stationary" if ranged else "homogeneous"
    return (
        "homogeneous" if given.kernel in (*kernels.KERNELS, *kernels.LOG_KERNELS) else "stationary"
    )


def check_problem(given: Any, *, on_data: bool = False) -> None:
    """Refuse a kernel and a range of inputs that are unfit or do not go together.

    With ``on_data`` a ratio or an end of the range may be None: data will say it.
    """
    if not callable(given.kernel):
        known = (*kernels.KERNELS, *kernels.STATIONARY, *kernels.LOG_KERNELS)
        kernels.check_kernel(given.kernel, known, "kernels: {}, or a function")
    checks.check_positive("sigma", given.sigma)
    kind = problem_kind(given)
    if kind == "homogeneous" and not (on_data and given.ratio is None):
        note = ", the largest input over the smallest non-zero one"
        checks.check_number("ratio", given.ratio, above=1, note=note)
    checks.check_choice("error", given.error, get_args(Error))
    checks.check_positive("period", given.period, or_none=True)
    checks.check_whole("levels", given.levels, 2, or_none=True)
    if kind == "stationary":
        _check_range(given, on_data)
    elif kind == "homogeneous" or given.kernel in kernels.KERNELS:
        _check_without_range(given)


def _check_range(given: Any, on_data: bool) -> None:
    ends = [end for end in (given.low, given.high) if not (on_data and end is None)]
    if not (all(map(checks.is_number, ends)) and (len(ends) < 2 or given.low < given.high)):
        raise ConfigError(f"low={given.low!r}, high={given.high!r}: expected numbers, low < high")


def _check_without_range(given: Any) -> None:
    for name in ("low", "high", "period", "levels"):
        if getattr(given, name) is not None:
            raise ConfigError(
                f"{name}={getattr(given, name)!r}: a homogeneous kernel depends on the ratio of "
                f"its inputs, not on their range; leave {name} out"
            )


def check_request(kind: str, given: Any) -> bool:
    """Refuse parameters that programs cannot solve; return whether the shipped table may help."""
    checks.check_whole("dim", given.dim, 1, MOST_OUTPUTS)
    checks.check_choice("norm", given.norm, get_args(Norm))
    if given.pool != "fine":
        checks.check_whole("pool", given.pool, 0)
    checks.check_flag("continuous", given.continuous)
    if given.optimal is not None:
        checks.check_flag("optimal", given.optimal, note=", or None for what the shipped table has")
    of_programs = given.norm == "linf" and given.pool == "fine" and given.continuous
    plain = of_programs and kind != "periodic"
    if given.optimal and not plain:
        raise ConfigError(
            "optimal=True: the global search minimises the largest error over all frequencies, so "
            "it goes with norm='linf', pool='fine', continuous=True and no period"
        )
    checks.check_positive("max_error", given.max_error, or_none=True)
    return plain


def check_lowdim(given: Any) -> None:
    check_problem(given, on_data=True)
    check_request(problem_kind(given), given)


def check_joint(given: Any) -> None:
    checks.check_whole("dim", given.dim, 1)
    checks.check_positive("sigma", given.sigma)
    if not callable(given.kernel):
        kernels.check_kernel(
            given.kernel, kernels.STATIONARY, "stationary kernels: {}, or a function"
        )
    _check_range(given, on_data=True)


def check_lowdim_joint(given: Any) -> None:
    check_joint(given)
    checks.check_choice("method", given.method, get_args(Method))
    checks.check_whole("n_grids", given.n_grids, 1)
    checks.check_whole("levels", given.levels, 2, or_none=True)
    checks.check_flag("continuous", given.continuous)


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
