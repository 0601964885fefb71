r"""A homogeneous map as Nyström's approximation on one period of its kernel (hkm Sect. 4.2).

Sampled uniformly over one period, the periodised signature has a circulant kernel matrix: its
eigenvectors are cosines and sines of the harmonics, its eigenvalues over the number of points the
discrete spectrum :math:`\hat\kappa_0, \hat\kappa_1, \hat\kappa_1, \hat\kappa_2, \dots`, but for
aliases of harmonics beyond half that number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmaps.kernels import get_kernel

_COPIES = 40  # the uniform window sums so many copies of the signature on both sides


@dataclass(frozen=True, eq=False)
class OnePeriod:
    """Nyström's approximation of a periodised signature at the points ``lam`` of one period.

    The eigenvalues of the kernel matrix are divided by the number of points and descend; the
    eigenvectors are the columns of ``functions``, of mean square 1.
    """

    lam: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    functions: NDArray[np.float64]


def nystroem_view(kernel: str, window: str, period: float, n_points: int = 200) -> OnePeriod:
    """Return Nyström's approximation of a kernel that a window makes periodic.

    The kernel needs a density for its spectrum: not hellinger. The rectangular window repeats the
    piece inside one period, the uniform one adds up all copies. The period is in λ = log y/x.
    """
    signature = get_kernel(kernel).signature
    lam = (np.arange(n_points) / n_points - 0.5) * period
    if window == "rectangular":
        row = signature(lam)
    else:
        copies = np.arange(-_COPIES, _COPIES + 1) * period
        row = signature(lam[:, None] + copies).sum(axis=1)
    # Entry (i, j) is the signature at lam_i - lam_j, brought back into the period.
    steps = np.arange(n_points)
    matrix = row[(steps[:, None] - steps + n_points // 2) % n_points]
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return OnePeriod(lam, values[::-1] / n_points, vectors[:, ::-1] * np.sqrt(n_points))
