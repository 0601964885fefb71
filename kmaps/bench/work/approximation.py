"""A map against a kernel on a range of values, of ratios or of differences."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmaps.bench.records.row import Row, is_third_party
from kmaps.bench.run.clock import Timing
from kmaps.bench.work import errors, third_party
from kmaps.errors import ConfigError
from kmaps.kernels import LOG_KERNELS, STATIONARY, Kernel
from kmaps.maps import homogeneous_kernel, log_kernel, make_map


def made_for(row: Row, kernel: str, options: Mapping[str, Any]) -> tuple[Any, str | Kernel]:
    """Return the map of a row, unfitted, and the kernel that it is compared with: one of
    :data:`kmaps.kernels.LOG_KERNELS` where its signature is what counts. A third-party transformer
    with a parameter ``kernel`` gets the kernel's name."""
    compared = log_kernel(kernel, options["sigma"]) if kernel in LOG_KERNELS else kernel
    if is_third_party(row.method):
        transformer = third_party.make(row.method, row.all_params, kernel=kernel)
        return third_party.ThirdPartyMap(transformer), compared
    shared = {name: options[name] for name in ("sigma", "levels") if options.get(name) is not None}
    return make_map(row.method, compared, row.all_params, **shared), compared


def outputs(
    feature_map: Any, options: Mapping[str, Any], points: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Fit a map on a range of values; return some of the values, and the outputs of each."""
    feature_map.fit(_learned(options)[:, None])
    values = errors.Range.parse(options["range"], options["integers"]).values(points)
    return values, errors.encode(feature_map, values[:, None])


def _learned(options: Mapping[str, Any]) -> NDArray[np.float64]:
    interval = options["fit_range"] or options["range"]
    return errors.Range.parse(interval, options["integers"]).values()


def compare(
    feature_map: Any, kernel: str | Kernel, options: Mapping[str, Any], timing: Timing
) -> errors.SquareErrors | errors.SpanErrors:
    """Fit a map and compare its inner products with a kernel, additive or, over differences,
    stationary.

    ``options`` are a cell's options. A ConfigError says that a relative error is infinite.
    """
    span = errors.parse_range(options["range"], options.get("integers", False))
    span_errors: errors.SquareErrors | errors.SpanErrors
    settings = {"relative": options["relative"], "timing": timing}
    if isinstance(span, errors.Range):
        span_errors = errors.approximate(
            feature_map, kernel, span.values(), fit_values=_learned(options), **settings
        )
    elif span.variable == "ratios":
        span_errors = errors.over_ratios(feature_map, homogeneous_kernel(kernel), span, **settings)
    else:
        signature = STATIONARY[str(kernel)](options["sigma"])
        n = options["inputs"]
        span_errors = errors.over_differences(feature_map, signature, span, inputs=n, **settings)
    if not np.isfinite(span_errors.linf):
        pair = ", ".join(f"{value:g}" for value in span_errors.worst)
        raise ConfigError(
            f"relative: the kernel is zero at ({pair}), where the map is not: its relative error "
            "is infinite; choose a range without such pairs, or relative: false"
        )
    return span_errors
