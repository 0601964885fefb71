"""A map against a kernel on a range of values, of ratios or of differences."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kmaps.bench.work.errors import Range, SquareErrors, approximate
from kmaps.bench.work.spans import SpanErrors, over_differences, over_ratios, parse_range
from kmaps.bench.work.timing import Timing
from kmaps.errors import ConfigError
from kmaps.kernels import STATIONARY, Kernel
from kmaps.maps.signatures import homogeneous_kernel


def compare(
    feature_map: Any, kernel: str | Kernel, options: Mapping[str, Any], timing: Timing
) -> SquareErrors | SpanErrors:
    """Fit a map and compare its inner products with a kernel.

    Parameters
    ----------
    feature_map : transformer
        Unfitted.
    kernel : str or Kernel
        Additive, or over differences stationary.
    options : mapping
        ``range``, as :func:`parse_range` reads it, and ``relative``; of values also ``fit_range``
        and ``integers``; of differences ``inputs`` and ``sigma``.
    timing : Timing
        Notes ``fit_s``, the seconds that fitting the map takes.

    Raises
    ------
    ConfigError
        When a relative error is infinite, because the kernel is zero where the map is not.
    """
    found = _compared(feature_map, kernel, options, timing)
    if not np.isfinite(found.linf):
        pair = ", ".join(f"{value:g}" for value in found.worst)
        raise ConfigError(
            f"relative: the kernel is zero at ({pair}), where the map is not: its relative error "
            "is infinite; choose a range without such pairs, or relative: false"
        )
    return found


def _compared(
    feature_map: Any, kernel: str | Kernel, options: Mapping[str, Any], timing: Timing
) -> SquareErrors | SpanErrors:
    relative = options["relative"]
    span = parse_range(options["range"], options.get("integers", False))
    if isinstance(span, Range):
        text = options["fit_range"]
        learned = Range.parse(text, options["integers"]).values() if text else None
        return approximate(
            feature_map,
            kernel,
            span.values(),
            fit_values=learned,
            relative=relative,
            timing=timing,
        )
    if span.of == "ratios":
        homogeneous = homogeneous_kernel(kernel)
        return over_ratios(feature_map, homogeneous, span, relative=relative, timing=timing)
    assert isinstance(kernel, str)
    return over_differences(
        feature_map,
        STATIONARY[kernel](options["sigma"]),
        span,
        inputs=options["inputs"],
        relative=relative,
        timing=timing,
    )
