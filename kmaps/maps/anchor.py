r"""Additive nearest-neighbour feature maps (ANNFM and k-ANNFM).

Each feature has a few anchors. The kernel matrix of the anchors is decomposed,
:math:`K = U\Lambda U^\top`, and anchor n gets the outputs :math:`\phi_n = (\sqrt{\lambda_i}
U_{ni})_{i=1..r}`, whose inner products are K (annfm Sect. 3.3). A value has the outputs of its
nearest anchor, :math:`\psi(x) = \phi_{\mathcal{N}(x)}` (annfm eq. 4), or a weighted sum over its k
nearest anchors (annfm eq. 5): their mean, or, between two, each weighted by how near it is.

On a line the k nearest anchors are neighbours, so the first of them names them all: one code per
value for any k, where the paper stores k.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kmaps._loops.kmeans import cluster
from kmaps.array_api import integers_like, looked_up, namespace
from kmaps.checks import MAX_LEVELS
from kmaps.codes.codebook import Codebook, pad_levels
from kmaps.codes.levels import Columns, value_ranges
from kmaps.errors import ConfigError
from kmaps.kernels import ScalarKernel
from kmaps.maps.base import SteppedMap
from kmaps.maps.grids import PieceGrid, StepGrid
from kmaps.maps.parameters import Anchors, AnchorWeights, check_anchor
from kmaps.matrices import AnyMatrix
from kmaps.mercer import eigensystems
from kmaps.thread_pool import for_blocks

_MOST_CHOICES = 1 << 28  # starts of last clusters, by value and clusters; 4 bytes each


@dataclass(eq=False, repr=False)
class AnchorMap(SteppedMap):
    r"""Give every value the outputs of its nearest anchor, or a mean of its k nearest.

    With equal weights samples become one code per value, and the map is a table (see `to_codes`).

    Use it for the smallest models and the least storage: with one neighbour a value is one code and
    one output.

    See Additive Nearest Neighbor Feature Maps, ICCV 2015, eq. 2-5.

    Parameters
    ----------
    kernel : {"chi2", "intersection", "js", "hellinger"} or callable
        The scalar kernel, by its name or as a function; a function ``k(x, y)`` works elementwise on
        arrays and must be positive semi-definite. The named kernels take non-negative data only.
    n_anchors : int
        N, the number of anchors of a feature, from 2 to 256. `uniform` anchors are :math:`1/(N-1)`
        of the range apart. (The paper's :math:`\{0, 1/N, \dots, 1\}` counts one less.)
        ``anchors="cover"`` does not use it.
    anchors : {"uniform", "kmeans", "cover"}
        How anchors are placed. "uniform": equally spaced over the range of the training values.
        "kmeans": the means of the clusters with the least sum of squares (found exactly, by dynamic
        programming). "cover": the fewest such means that leave no training value further than
        ``epsilon`` from a mean.
    n_neighbors : int
        k, the number of nearest anchors whose outputs are averaged; 1 is ANNFM. With more than one
        and equal weights, zero is no longer mapped to zero.
    energy : float
        The part of the trace, in (0, 1], that the eigenvalues of the eigenvectors reach which the
        map keeps, the fewest that do. Where features differ, r is the largest number that one of
        them needs; the others have zeros in the outputs that they do not need.
    rank : int, optional
        Number of eigenvectors to keep, instead of ``energy``.
    epsilon : float, optional
        Largest distance for ``anchors="cover"``, in units of the data.
    shared : bool or "auto"
        Whether all features have the same anchors, chosen for the values of all features.
        ``"auto"``: for uniform anchors, if all features that vary have the same range.
    weights : {"equal", "distance"}
        How the k nearest anchors are weighted (annfm eq. 5). "equal": 1/k each, the paper's
        example. "distance", for ``n_neighbors=2``: linear interpolation between the anchors a on
        either side,
        :math:`\psi(x) = (1-t)\phi_n + t\phi_{n+1}` at :math:`x = (1-t)a_n + ta_{n+1}`. Zero then
        stays zero where an anchor lies on it, and there are no codes.

    Attributes
    ----------
    anchors_ : ndarray, shape (1 or d, N)
        Ascending; a feature with fewer anchors (it has fewer distinct values) repeats its last.
    table_ : ndarray, shape (1 or d, n_codes, r)
        The outputs of each code c, which stands for the anchors c … c+k-1; with weights by
        distance, the outputs of each anchor.
    code_bits_ : int
        Bits of a code, :math:`\lceil\log_2 (N-k+1)\rceil`; None where there are no codes.

    See Also
    --------
    HomogeneousMap : More exact, with more outputs.
    NystroemMap : The best of all maps of so many outputs on the training values.
    Quantizer : Codes alone.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import AnchorMap
    >>> X = np.array([[0, 1, 2], [4, 3, 0]]) / 4
    >>> feature_map = AnchorMap(kernel="chi2", n_anchors=5, energy=1.0, shared=True).fit(X)
    >>> feature_map.to_codes(X)
    array([[0, 1, 2],
           [4, 3, 0]], dtype=uint8)
    >>> feature_map.code_bits_
    3
    """

    source = "annfm eq. 2-5"

    kernel: str | ScalarKernel = "chi2"
    n_anchors: int = 40
    anchors: Anchors = "uniform"
    n_neighbors: int = 1
    energy: float = 0.99
    rank: int | None = None
    epsilon: float | None = None
    shared: bool | Literal["auto"] = "auto"
    weights: AnchorWeights = "equal"

    @property
    def has_codes(self) -> bool:
        """Whether the curve is a step function, so that the map has `to_codes`."""
        return self.weights == "equal"

    @property
    def _unsigned(self) -> bool:
        return isinstance(self.kernel, str)

    def _fit_curve(self, X: AnyMatrix) -> None:
        check_anchor(self)
        columns = Columns(X)
        uniform = self.anchors == "uniform"
        shared = uniform and columns.one_range() if self.shared == "auto" else bool(self.shared)
        low, high = value_ranges(columns, shared)
        if uniform:
            anchors = np.linspace(low, high, self.n_anchors, axis=1)
        else:
            anchors = self._clustered(columns, shared)
        self.anchors_ = pad_levels(anchors)
        codebook = Codebook(self.anchors_, low, high, self.n_neighbors)
        values, vectors = eigensystems(self.kernel, self.anchors_, codebook.counts, self._ranks)
        at_anchors = vectors * np.sqrt(values)[:, None, :]
        self.low_ = self.high_ = None
        if self.has_codes:
            self._set_steps(codebook, _window_means(at_anchors, codebook))
        else:
            # Lines between the anchors, straight from one's outputs to the next's.
            self._codebook = Codebook(self.anchors_, low, high)
            self.table_ = at_anchors
            self.shared_curve_ = self._codebook.shared
            self.low_ = np.resize(self._codebook.low, self.n_features_in_)
            self.high_ = np.resize(self._codebook.high, self.n_features_in_)

    def _curve(self, x: NDArray, feature: NDArray) -> NDArray:
        if self.has_codes:
            return super()._curve(x, feature)
        row = np.zeros_like(feature) if self.shared_curve_ else feature
        n_anchors = self.anchors_.shape[1]
        first = integers_like(x, row * n_anchors)
        last = first + integers_like(x, self._codebook.counts[row]) - 1
        anchors = self.anchors_.reshape(-1)
        table = self.table_.reshape(-1, self.table_.shape[2])
        xp = namespace(x)
        nearest = first + self._codebook.codes(x, feature)
        before = xp.where(x < looked_up(x, anchors, nearest), nearest - 1, nearest)
        below = xp.maximum(before, first)
        above = xp.minimum(below + 1, last)
        start = looked_up(x, anchors, below)
        width = looked_up(x, anchors, above) - start
        has_width = width > 0
        divisor = xp.where(has_width, width, xp.ones_like(width))
        t = xp.where(has_width, (x - start) / divisor, xp.zeros_like(width))
        t = xp.clip(t, 0.0, 1.0)[..., None]  # outside, the first or last anchor counts
        return (1 - t) * looked_up(x, table, below) + t * looked_up(x, table, above)

    def _grid(self) -> StepGrid | PieceGrid | None:
        if self.has_codes:
            return super()._grid()
        if self.anchors != "uniform":
            return None
        pieces = np.stack([self.table_[:, :-1], np.diff(self.table_, axis=1)], axis=2)
        return PieceGrid(pieces, self._codebook.low, self._codebook.high, exact=True)

    def _corners(self) -> NDArray:
        return self.anchors_

    def _tables(self) -> tuple[NDArray, ...]:
        return super()._tables() if self.has_codes else (self.anchors_, self.table_)

    def _clustered(self, columns: Columns, shared: bool) -> list[NDArray]:
        """Return the cluster means of the features, or of all together."""
        covers = self.anchors == "cover"
        most_anchors = MAX_LEVELS if covers else self.n_anchors
        radius = -1.0 if self.epsilon is None else float(self.epsilon)  # only "cover" has a radius

        def means(j: int, _: int) -> NDArray:
            values, counts = columns.pooled() if shared else columns.distinct(j)
            if len(values) * most_anchors > _MOST_CHOICES:
                raise ConfigError(
                    f"anchors={self.anchors!r}: {len(values)} distinct values are too many to "
                    "cluster exactly; fit on a sample"
                )
            centres, distance = cluster(values, counts.astype(float), most_anchors, radius)
            if covers and distance > radius:
                whose = "" if shared else f" of feature {j}"
                raise ConfigError(
                    f"epsilon={self.epsilon!r}: {most_anchors} anchors do not cover a "
                    f"value{whose}, {distance:.4g} away from the nearest; choose a larger epsilon"
                )
            return centres

        return for_blocks(means, 1 if shared else columns.n_columns, 1, "features clustered")

    def _ranks(self, eigenvalues: NDArray) -> NDArray:
        """Return how many of the descending eigenvalues (f, N) to keep in each row."""
        n_points = eigenvalues.shape[1]
        if self.rank is not None:
            return np.full(len(eigenvalues), min(self.rank, n_points))
        # The sums round: the missing part is then below a trace's last digits.
        rounding = n_points * np.finfo(float).eps
        total = eigenvalues.sum(axis=1, keepdims=True)
        is_enough = np.cumsum(eigenvalues, axis=1) >= (self.energy - rounding) * total
        return 1 + is_enough.argmax(axis=1)


def _window_means(at_anchors: NDArray, codebook: Codebook) -> NDArray:
    """Return the mean outputs of each code's anchors (f, n_codes, r), zero beyond the last code."""
    k = codebook.window
    n_codes = codebook.n_codes.max()
    padded = np.pad(at_anchors, ((0, 0), (0, k), (0, 0)))
    sums = sum(padded[:, first : first + n_codes] for first in range(k))
    is_code = np.arange(n_codes) < codebook.n_codes[:, None]
    n_averaged = np.minimum(codebook.counts, k)[:, None]
    return sums * (is_code / n_averaged)[:, :, None]
