"""The low-dimensional map on the additive engine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from kmaps.array_api import like, namespace
from kmaps.errors import InputError
from kmaps.maps.base import AdditiveMap
from kmaps.maps.grids import LogGrid, PieceGrid, cubic_pieces, wave_grid
from kmaps.maps.lowdim.solve import solve
from kmaps.maps.lowdim.target import Problem
from kmaps.maps.parameters import Error, Norm, Values, check_lowdim
from kmaps.matrices import AnyMatrix, ratio_of_sizes


@dataclass(eq=False, repr=False)
class LowDimMap(AdditiveMap):
    r"""Approximate a kernel on a given range by as few outputs per feature as possible.

    The signature is approximated by :math:`\hat k(\lambda) = \sum_\omega \alpha_\omega
    \cos\omega\lambda` with few frequencies, chosen together with their weights so that the largest
    error of the kernel is least. A frequency gives the two outputs :math:`\sqrt{\alpha}
    \cos\omega t` and :math:`\sqrt{\alpha}\sin\omega t`, frequency 0 the one :math:`\sqrt\alpha`:
    with :math:`t = \log x`, and all outputs times :math:`\sqrt x`, for a homogeneous kernel; with
    :math:`t = x` for a stationary one.

    Use it for the fewest outputs when the range of the values is known, for example of bytes.

    See Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, eq. 2-18. The optimum and its
    certificate are not in the paper.

    Parameters
    ----------
    kernel : str or callable
        A homogeneous kernel ("chi2", "intersection", "js", "hellinger"), a stationary one of each
        feature ("rbf", "laplace", "cosine"), or a signature. A signature is an even function of
        arrays, positive at 0: of λ = log y/x, or of λ = y - x when ``low`` and ``high`` or
        ``period`` are given.
    dim : int
        Outputs per feature, at most; an odd number uses the constant.
    ratio : float or None
        Ratio of the largest to the smallest non-zero input, > 1, up to which the map of a
        homogeneous kernel is accurate. None takes it from the data.
    error : {"absolute", "relative", "signature"}
        Which error counts, the kernel's, the kernel's relative one, or the signature's.
    norm : {"linf", "l1"}
        Whether the largest error counts or the integral of its size.
    pool : "fine" or int
        Frequencies that the linear programs choose from, a fine grid or, for j ≥ 0, Ω_j, the
        multiples of π/(2^j M) with M the length of the interval.
    continuous : bool
        Whether the frequencies may then leave the pool.
    optimal : bool, optional
        Whether to search the best map on the range, or for the ``values``. True: it comes from the
        shipped table or a global search (at most 7 outputs), which warns where its proof ends
        before one per cent. False: from linear programs. None: from the table where it has the map,
        else from linear programs.
    max_error : float, optional
        Largest error allowed, for as many outputs as that takes, whatever ``dim`` is.
    low, high : float, optional
        The ends of the range of a stationary kernel's inputs; values outside are clamped to it.
        None takes the range of the data, for a named kernel.
    period : float, optional
        Period of a stationary kernel, whose harmonics are used; the range does not matter then.
    sigma : float
        Width of "rbf", :math:`e^{-\lambda^2/2\sigma^2}`, "laplace",
        :math:`e^{-|\lambda|/\sigma}`, and "cosine", :math:`\cos(\lambda/\sigma)`.
    levels : int, optional
        Number of equally spaced values from low to high that the inputs of a stationary kernel
        take; only their errors count.
    values : "integers" or array-like of float, optional
        The values that the inputs of a homogeneous kernel take; only errors of their pairs count:
        the integers from 1 to ``ratio``, or at most 256 numbers, such as the levels of a codebook,
        whose ratio is then theirs. Zero needs no mention. None is for all values in the range.

    Attributes
    ----------
    frequencies_, weights_ : ndarray, shape (m,)
        ω, ascending, and α.
    error_ : float
        The largest error (or its integral) on the range, between the points of the programs too,
        or on pairs of ``values``.
        For ``error="absolute"`` and a homogeneous kernel it holds for inputs up to 1; inputs up
        to b have b times the error.
    lower_bound_ : float
        No map with as many outputs has a smaller error; 0 when only programs were solved.
    solved_by_ : {"table", "search", "lp"}
        The origin of the map.
    ratio_ : float or None
        The ratio in use, for a homogeneous kernel.

    See Also
    --------
    HomogeneousMap : Accurate at every scale, with nothing to solve.
    lp_signature : The linear program behind it.
    optimal_signature : The best map, with a proof.
    MultiLowDimMap : Kernels of two and three inputs.

    Notes
    -----
    For a homogeneous kernel, zero maps to zero and negative values use the signed extension,
    ``sign(x)·Ψ(|x|)``; beyond the ratio the absolute error is at most
    :math:`e^{-\lambda/2}(\mathcal{K}(\lambda) + \sum\alpha)`. float32 input is encoded with an
    error of at most 1e-5 of √x, or of 1e-6 for a stationary kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import LowDimMap, gram
    >>> X = np.arange(256.0)[:, None]
    >>> Z = LowDimMap(kernel="chi2", dim=5, ratio=255.0).fit_transform(X)
    >>> Z.shape
    (256, 5)
    >>> float(np.abs(Z @ Z.T - gram(X, kernel="chi2")).max().round(3))
    0.163
    """

    source = "ldefm eq. 2-18; the optimum: this package"

    kernel: str | Callable = "chi2"
    dim: int = 5
    ratio: float | None = 255.0
    error: Error = "absolute"
    norm: Norm = "linf"
    pool: Literal["fine"] | int = "fine"
    continuous: bool = True
    optimal: bool | None = None
    max_error: float | None = None
    low: float | None = None
    high: float | None = None
    period: float | None = None
    sigma: float = 1.0
    levels: int | None = None
    values: Values | Sequence[float] | None = None

    @property
    def learns_from_data(self) -> bool:
        """Whether ratio or range come from the data."""
        kind = self._problem(self.ratio, self.low, self.high).kind
        if kind == "homogeneous":
            is_listed = self.values is not None and not isinstance(self.values, str)
            return self.ratio is None and not is_listed
        return kind == "stationary" and (self.low is None or self.high is None)

    def _problem(self, ratio: float | None, low: float | None, high: float | None) -> Problem:
        return Problem(
            self.kernel,
            ratio,
            self.error,
            low,
            high,
            self.period,
            self.sigma,
            self.levels,
            self.values,
        )

    def _problem_on(self, X: AnyMatrix) -> Problem:
        """Return the problem, with the ratio or the range of the data where none is given."""
        problem = self._problem(self.ratio, self.low, self.high)
        if not self.learns_from_data:
            return problem.check().with_ratio_of_values()
        if problem.kind == "homogeneous":
            ratio = ratio_of_sizes(X)
            if ratio is None:
                raise InputError(
                    f"ratio=None: all values except zero have one size (n_samples="
                    f"{X.shape[0]}), so the data have no ratio; give one"
                )
            return self._problem(ratio, None, None).check()
        values = np.asarray(X.data if issparse(X) else X, float)
        values = np.r_[values.ravel(), np.zeros(int(issparse(X)))]
        if values.max() == values.min():
            raise InputError(
                f"all values are {values[0]:g} (n_samples={X.shape[0]}), so the data have no "
                "range; give low and high"
            )
        low = float(values.min()) if self.low is None else self.low
        high = float(values.max()) if self.high is None else self.high
        return self._problem(None, low, high).check()

    def _fit_curve(self, X: AnyMatrix) -> None:
        check_lowdim(self)
        problem = self._problem_on(X)
        solution = solve(problem, self)
        self.frequencies_, self.weights_ = solution.cosines.ascending()
        self.error_ = solution.error
        self.lower_bound_ = solution.lower_bound
        self.solved_by_ = solution.source
        self._kind = problem.kind
        self.ratio_ = problem.ratio if self._kind == "homogeneous" else None
        self.low_ = None
        self.high_ = None
        if self._kind == "stationary" and problem.low is not None and problem.high is not None:
            self.low_ = np.full(X.shape[1], float(problem.low))
            self.high_ = np.full(X.shape[1], float(problem.high))

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        if self._kind != "homogeneous":
            return self._waves(x)
        xp = namespace(x)
        # A zero has the sign 0, which makes its outputs, and here their slopes, zero.
        magnitude = xp.where(x == 0, xp.ones_like(x), xp.abs(x))
        return (xp.sign(x) * xp.sqrt(magnitude))[..., None] * self._waves(xp.log(magnitude))

    def _waves(self, t: NDArray) -> NDArray:
        xp = namespace(t)
        outputs = []
        frequencies = like(t, self.frequencies_)
        amplitudes = like(t, np.sqrt(self.weights_))
        for j, omega in enumerate(self.frequencies_):
            if omega == 0:
                outputs.append(xp.ones_like(t) * amplitudes[j])
            else:
                phase = frequencies[j] * t
                outputs += [amplitudes[j] * xp.cos(phase), amplitudes[j] * xp.sin(phase)]
        return xp.stack(outputs, axis=-1)

    def _grid(self) -> LogGrid | PieceGrid | None:
        if self._kind == "homogeneous":
            return wave_grid(self._curve, self.frequencies_, np.sqrt(self.weights_))
        if self.low_ is None or self.high_ is None:
            return None  # no range to tabulate
        low = self.low_[:1]
        high = self.high_[:1]
        pieces = cubic_pieces(lambda position: self._waves(low + position * (high - low)))
        return None if pieces is None else PieceGrid(pieces[None], low, high)

    def _output_names(self) -> list[str]:
        names = []
        for j, omega in enumerate(self.frequencies_, start=int(self.frequencies_[0] > 0)):
            names += ["root"] if omega == 0 else [f"cos{j}", f"sin{j}"]
        return names
