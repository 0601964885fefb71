r"""A kernel and the inputs it is wanted for, as the user names them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kmaps.errors import ConfigError
from kmaps.kernels import STATIONARY, Kernel
from kmaps.maps.lowdim.target import Target, line_target
from kmaps.maps.parameters import check_problem, problem_kind
from kmaps.maps.signatures import homogeneous_kernel


@dataclass(frozen=True)
class Problem:
    r"""A kernel of one variable, the range of its inputs, and which error counts.

    Parameters
    ----------
    kernel, ratio, error, low, high, period, sigma, levels
    As of `LowDimMap`; the ends of a stationary kernel's range and a homogeneous one's ratio are
    given.

    Examples
    --------
    >>> Problem("chi2", ratio=255.0).kind
    'homogeneous'
    >>> Problem("rbf", low=0.0, high=1.0).kind
    'stationary'
    """

    kernel: str | Callable
    ratio: float | None = 255.0
    error: str = "absolute"
    low: float | None = None
    high: float | None = None
    period: float | None = None
    sigma: float = 1.0
    levels: int | None = None

    @property
    def kind(self) -> str:
        """The kernel's kind: "homogeneous", "stationary" or "periodic"."""
        return problem_kind(self)

    @property
    def signature(self) -> Callable:
        """The kernel's signature, elementwise."""
        if isinstance(self.kernel, Kernel):
            return self.kernel.signature
        if callable(self.kernel):
            return self.kernel
        if self.kind == "homogeneous":
            return homogeneous_kernel(self.kernel).signature
        return STATIONARY[self.kernel](self.sigma)

    def check(self) -> "Problem":
        """Refuse parameters that are out of range or do not go together.

        Raises
        ------
        ConfigError
        """
        check_problem(self)
        return self

    def target(self, dim: int) -> Target:
        """Return what is to be approximated, for maps of up to ``dim`` outputs."""
        length, decay = self._length(), 0.5 if self.kind == "homogeneous" else 0.0
        target = line_target(
            self.signature, length, self.error, decay=decay, dim=dim, levels=self.levels
        )
        if self.period is not None:
            self._check_period(self.period)
        return target

    def _length(self) -> float:
        """Return where the signature ends."""
        if self.period is not None:
            return self.period / 2
        if self.kind == "homogeneous":
            assert self.ratio is not None  # as `check` has seen
            return float(np.log(self.ratio))
        assert self.low is not None
        assert self.high is not None
        return self.high - self.low

    def _check_period(self, period: float) -> None:
        lam = np.linspace(0, period, 101)
        here, later = self.signature(lam), self.signature(lam + period)
        if np.abs(here - later).max() > 1e-6 * np.abs(here).max():
            raise ConfigError(
                f"period={self.period!r}: the signature does not repeat after it; leave period out "
                "and give low and high"
            )
