"""VLFeat's homogeneous kernel map, its C code, as a third-party method.

The package cyvlfeat 0.2 has VLFeat's C source and builds it; the map is not among what it shows to
Python, but in the library that it builds, so it is called there. Later versions of the package
have no source in them.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator, TransformerMixin

from kmaps.errors import ConfigError, InputError
from kmaps.maps import HomogeneousMap

_KERNELS = {"intersection": 0, "chi2": 1, "js": 2}  # VlHomogeneousKernelType
_WINDOWS = {"uniform": 0, "rectangular": 1}  # VlHomogeneousKernelMapWindowType
_TOO_LARGE = 256.0  # VLFeat's table ends here: it silently gives zeros for larger values


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _expand(evaluate: Any, state: int, values: NDArray, out: NDArray) -> None:
    """Let ``evaluate(state, address, stride, x)`` write the outputs of each value into its row.

    The type of a pointer to a function is part of the compiled code, so that nothing is cached.
    """
    start = out.ctypes.data
    step = out.strides[0]
    for i in range(values.size):
        evaluate(state, start + i * step, 1, values[i])


@cache
def _library() -> ctypes.CDLL:
    module = find_spec("cysift")
    if module is None or module.origin is None:
        raise ConfigError(
            "VLFeat is not installed; `pip install cython setuptools wheel`, then `pip install "
            "--no-build-isolation --no-deps cyvlfeat==0.2`, which compiles it (for x86-64)"
        )
    library = ctypes.CDLL(module.origin)
    size = ctypes.c_size_t
    double = ctypes.c_double
    number = ctypes.c_int
    library.vl_homogeneouskernelmap_new.argtypes = [number, double, size, double, number]
    library.vl_homogeneouskernelmap_new.restype = size
    library.vl_homogeneouskernelmap_delete.argtypes = [size]
    library.vl_homogeneouskernelmap_delete.restype = None
    library.vl_homogeneouskernelmap_evaluate_f.argtypes = [size, size, size, double]
    library.vl_homogeneouskernelmap_evaluate_f.restype = None
    return library


@dataclass(eq=False, repr=False)
class VLFeatMap(TransformerMixin, BaseEstimator):
    """Approximate a homogeneous kernel by VLFeat's code: 2n+1 outputs per feature, n = ``order``.

    The defaults are as in VLFeat's ``vl_homkermap``; ``period``, Λ in units of log x, is VLFeat's
    choice unless it is given. A ConfigError says that VLFeat does not have a parameter, or
    is not installed. VLFeat's function is called once per value, of sparse rows once per stored
    one, from a compiled loop: Vedaldi and Fulkerson, VLFeat: An Open and Portable Library of
    Computer Vision Algorithms, 2008; ``vl/homkermap.c`` of version 0.9.18.
    """

    kernel: str = "chi2"
    order: int = 1
    gamma: float = 1.0
    window: str = "rectangular"
    period: float | None = None

    def __post_init__(self) -> None:
        _library()  # here, because a run makes all its estimators before the first cell

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing depends on the data."""
        if self.kernel not in _KERNELS:
            raise ConfigError(f"kernel={self.kernel!r}: VLFeat has only {', '.join(_KERNELS)}")
        HomogeneousMap(**self.get_params()).fit(np.ones((1, 1)))
        return self

    def transform(self, X: Any) -> Any:
        """Return the outputs of each feature side by side, (n, m * (2 * order + 1)), float32, of
        CSR rows CSR; an InputError refuses values of 256 or more, which VLFeat maps to zeros."""
        r = 2 * self.order + 1
        if not issparse(X):
            rows = np.ascontiguousarray(X, dtype=np.float32)
            return self._outputs(rows.ravel()).reshape(len(rows), rows.shape[1] * r)
        rows = csr_matrix(X, dtype=np.float32)
        places = (r * rows.indices[:, None] + np.arange(r, dtype=rows.indices.dtype)).ravel()
        shape = (rows.shape[0], rows.shape[1] * r)
        starts = r * rows.indptr.astype(np.int64)  # more outputs than an int32 counts
        return csr_matrix((self._outputs(rows.data).ravel(), places, starts), shape=shape)

    def _outputs(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        largest = np.abs(values).max(initial=0)
        if not largest < _TOO_LARGE:
            raise InputError(
                f"VLFeat's map: the largest value is {largest:g}; the map takes values below "
                f"{_TOO_LARGE:g}, and gives zeros for others: scale the samples (normalize: l1)"
            )
        library = _library()
        kernel = _KERNELS[self.kernel]
        window = _WINDOWS[self.window]
        period = -1.0 if self.period is None else self.period
        make_state = library.vl_homogeneouskernelmap_new
        state = make_state(kernel, self.gamma, self.order, period, window)
        outputs = np.empty((values.size, 2 * self.order + 1), dtype=np.float32)
        try:
            _expand(library.vl_homogeneouskernelmap_evaluate_f, state, values, outputs)
        finally:
            library.vl_homogeneouskernelmap_delete(state)
        return outputs
