r"""The exact map on a few levels.

On L levels the scalar kernel is an L × L matrix :math:`K = U\Lambda U^\top`, and the rows of
:math:`U\Lambda^{1/2}` are outputs whose inner products are the kernel, with nothing approximated
but the values between levels. Smooth kernels have few eigenvalues above the rounding: on 256
equally spaced levels chi2 has 20, js 17, hellinger one; intersection has 255.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.codes.levels import Columns, choose_codebook
from kmaps.kernels import ScalarKernel, scalar_kernel
from kmaps.maps.base import SteppedMap
from kmaps.maps.parameters import check_exact
from kmaps.matrices import AnyMatrix
from kmaps.mercer import eigensystems

_ROUNDING = 1e-14  # part of the largest eigenvalue that has no digits of smaller kernels


@dataclass(eq=False, repr=False)
class ExactMap(SteppedMap):
    r"""Map each of up to 256 levels per feature so that inner products are the kernel exactly.

    The levels are the distinct training values of all features together if there are at most
    ``n_levels``, else the distinct values of each feature; a feature with more distinct values has
    ``n_levels`` equally spaced levels. Other values go to the nearest level.

    Use it for features with few distinct values, and where the kernel must not be approximated. It
    has many outputs, so that `CodedSVC` trains on them sooner than LIBLINEAR.

    See Wu, A Fast Dual Method for HIK SVM Learning, ECCV 2010, which trains on such tables without
    factorising them.

    Parameters
    ----------
    kernel : {"chi2", "intersection", "js", "hellinger"} or callable
        The scalar kernel, by its name or as a function, as in `AnchorMap`.
    n_levels : int
        L, the most levels of a feature, from 2 to 256.
    tol : float
        Eigenvalues up to this part of the largest are taken for rounding. A larger ``tol`` makes r
        smaller, and the inner products err by up to the trace of the omitted part.

    Attributes
    ----------
    levels_ : ndarray, shape (1 or d, L)
        Ascending; a feature with fewer levels repeats its last.
    table_, code_bits_
        As in `AnchorMap`; r is the largest rank of a feature.

    See Also
    --------
    CodedSVC : With a kernel's name, the same model without any outputs.
    NystroemMap : The leading few outputs, for values that are not levels.

    Examples
    --------
    >>> from kmaps import ExactMap
    >>> Z = ExactMap(kernel="chi2").fit_transform([[0, 1], [1, 1], [1, 3]])
    >>> (Z @ Z.T).round(6)
    array([[1. , 1. , 1.5],
           [1. , 2. , 2.5],
           [1.5, 2.5, 4. ]])
    """

    source = "kernel matrix on levels, factorised"

    kernel: str | ScalarKernel = "chi2"
    n_levels: int = 256
    tol: float = 1e-14

    @property
    def _unsigned(self) -> bool:
        return isinstance(self.kernel, str)

    def _fit_curve(self, X: AnyMatrix) -> None:
        check_exact(self)
        codebook = choose_codebook(Columns(X), self.n_levels)
        self.levels_ = codebook.levels
        values, vectors = eigensystems(self.kernel, self.levels_, codebook.counts, self._ranks)
        self._warn_of_lost(values)
        self._set_steps(codebook, np.multiply(vectors, np.sqrt(values)[:, None], out=vectors))

    def _ranks(self, eigenvalues: NDArray) -> NDArray:
        return (eigenvalues > self.tol * eigenvalues[:, :1]).sum(axis=1)

    def _warn_of_lost(self, eigenvalues: NDArray) -> None:
        """Say that levels next to a far larger one have no outputs."""
        k = scalar_kernel(self.kernel)
        diagonals = np.asarray(k(self.levels_, self.levels_), float)
        lost = (diagonals > 0) & (diagonals <= _ROUNDING * eigenvalues[:, :1])
        if not lost.any():
            return
        largest = np.abs(self.levels_).max()
        warnings.warn(
            f"levels up to {np.abs(self.levels_[lost]).max():.3g} become the same, next to the "
            f"level {largest:.3g}: is it a fill value? Replace it, or leave its row or column out",
            stacklevel=4,
        )
