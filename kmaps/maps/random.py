"""Maps made of random projections of the whole sample, not additive over the features."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import Generator, Philox, RandomState
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kmaps._loops import project as loops
from kmaps.array_api import as_numpy, is_foreign, like
from kmaps.checks import refuse_negative, room_for_rows
from kmaps.errors import ColumnNote
from kmaps.estimators import ClassNamePrefixFeaturesOutMixin
from kmaps.maps.capabilities import FeatureMap
from kmaps.maps.parameters import Output, check_sign_cauchy
from kmaps.matrices import AnyMatrix, float_type, largest_column, summed
from kmaps.progress import ProgressReporter
from kmaps.thread_pool import for_blocks
from kmaps.validation import validate_data

_BLOCK_VALUES = 1 << 23  # values of the projection matrix held at once
_WIDEST = 1 << 10  # projections at once
_SUMS = 1 << 16  # projections of samples at a time in one thread
_PART_VALUES = 1 << 16  # values of the matrix that a thread makes at once
_FEWEST_ROWS = 20  # fewer may well be alike
_COMPARED_ROWS = 100
_SAME = 0.98  # of the projections, that have one sign in all of these rows, or more


@dataclass(eq=False, repr=False)
class SignCauchyMap(ClassNamePrefixFeaturesOutMixin, FeatureMap):
    r"""Approximate a function of the chi2 kernel by the signs of Cauchy projections.

    For histograms x and y that sum to one and a vector c of independent standard Cauchy numbers,

    .. math::
        P\big(\mathrm{sign}(c^\top x) = \mathrm{sign}(c^\top y)\big) \approx
        1 - \frac{1}{\pi}\arccos \sum_j \frac{2 x_j y_j}{x_j + y_j}

    (Li et al.). The outputs are the signs along ``n_projections`` such vectors, scaled so that the
    inner product of two samples is the rate at which their signs agree (``output="onehot"``), or
    twice that rate minus one (``output="sign"``).

    Use it for histograms of sum one when storage is limited to one bit per output.

    See Li, Samorodnitsky and Hopcroft, Sign Cauchy Projections and Chi-Square Kernel, NIPS 2013.

    Parameters
    ----------
    n_projections : int
        m ≥ 1, the number of projections.
    output : {"sign", "onehot"}
        The form of the outputs. "sign": m outputs, ±1/√m. "onehot": 2m outputs, (1/√m, 0) for a
        positive sign and (0, 1/√m) for a negative one.
    random_state : int, RandomState or None
        Draws the key of the projections.

    Attributes
    ----------
    key_ : ndarray, shape (2,), uint64
        The key of the counter-based generator (Philox) that makes any block of the projections.

    See Also
    --------
    HomogeneousMap : The chi2 kernel itself, with far fewer outputs.
    GeneralizedRBFMap : Random features with a known error.

    Notes
    -----
    The sign of a projection does not depend on the sum of the row, so the histograms need not be
    normalised. A row of zeros projects to zero, which counts as positive.

    For two histograms that share a part of the same shape, and have nothing else in common,
    the formula is accurate to 0.006 when the shared part is at most half of each, and up to 0.032
    too low when it is nearly all of one and half of the other.

    The signs do not depend on the number of threads or rows, nor on whether the input is dense or
    sparse. The signs of float32 and float64 input can differ where a projection is nearly zero.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> Z = SignCauchyMap(n_projections=20_000, output="onehot").fit_transform(X)
    >>> np.round(Z @ Z.T, 2)  # 3/4 is exact, the formula gives 0.73
    array([[1.  , 0.75, 0.5 ],
           [0.75, 1.  , 0.75],
           [0.5 , 0.75, 1.  ]])
    """

    source = "li, the collision probability of sign Cauchy projections"
    approximates = "chi2"
    learns_from_data = False
    has_codes = True
    _accepts_sparse = True
    _unsigned = True
    _preserved = ("float64", "float32")

    n_projections: int = 1000
    output: Output = "sign"
    random_state: int | RandomState | None = 0

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the parameters and draw the key; of X, non-negative, only the width matters."""
        X = validate_data(self, X, array_api=True, accept_sparse="csr")
        check_sign_cauchy(self)
        refuse_negative(X.data if issparse(X) else X, type(self).__name__)
        words = check_random_state(self.random_state).randint(2**32, size=4, dtype=np.uint32)
        self.key_ = words.view(np.uint64)
        self._n_features_out = self.n_projections * (2 if self.output == "onehot" else 1)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Project every row of X, non-negative, and keep the signs: (n, m) or (n, 2m).

        They are float64 for float64 input and integers beyond 16 bits, else float32. The signs of
        an array of another library that scikit-learn dispatches are found in NumPy.
        """
        X = self._validated(X, array_api=True)
        if is_foreign(X):
            return like(X, self.transform(as_numpy(X)))
        out = room_for_rows(X.shape[0], self._n_features_out, float_type(X))
        unit = out.dtype.type(self.n_projections**-0.5)

        def signs(rows: slice, first: int, last: int, positive: NDArray) -> None:
            out[rows, first:last] = np.where(positive, unit, -unit)

        def onehot(rows: slice, first: int, last: int, positive: NDArray) -> None:
            out[rows, 2 * first : 2 * last : 2] = positive * unit
            out[rows, 2 * first + 1 : 2 * last : 2] = ~positive * unit

        self._project(X, onehot if self.output == "onehot" else signs)
        _warn_of_same(X, out)
        return out

    def to_codes(self, X: ArrayLike) -> NDArray:
        """Return the signs as bits, 1 for a positive one, as `numpy.packbits` does.

        Parameters
        ----------
        X : array-like or sparse matrix, shape (n, d)
            Samples, non-negative.

        Returns
        -------
        ndarray, shape (n, ⌈m/8⌉), uint8
            Eight signs per byte.
        """
        X = self._validated(X)
        codes = np.empty((X.shape[0], -(-self.n_projections // 8)), np.uint8)

        def pack(rows: slice, first: int, last: int, positive: NDArray) -> None:
            codes[rows, first // 8 : -(-last // 8)] = np.packbits(positive, axis=1)

        self._project(X, pack)
        _warn_of_same(X, codes)
        return codes

    def add_to_graph(self, graph: Any, x: Any) -> Any:
        """Add the map to an ONNX graph, which holds the projections themselves.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs (n, m or 2m), in the type of ``x``, of bytes in that of the graph.
        """
        x = graph.floats(x)
        directions = self._directions(0, self.n_projections, self.n_features_in_, x.dtype)
        sums = graph.node("Unsqueeze", graph.node("MatMul", x, directions), [-1])
        positive = graph.node("GreaterOrEqual", sums, 0.0, dtype=bool)
        unit = x.dtype.type(self.n_projections**-0.5)
        if self.output == "onehot":
            of_positive = unit * np.array([1, 0])
            of_negative = unit * np.array([0, 1])
        else:
            of_positive = unit * np.array([1])
            of_negative = unit * np.array([-1])
        outputs = graph.node(
            "Where",
            positive,
            graph.constant(of_positive, x.dtype),
            graph.constant(of_negative, x.dtype),
            dtype=x.dtype,
        )
        return graph.rows(outputs, self._n_features_out)

    def _validated(self, X: ArrayLike, *, array_api: bool = False) -> AnyMatrix:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, array_api=array_api, accept_sparse="csr")
        if not is_foreign(X):
            refuse_negative(X.data if issparse(X) else X, type(self).__name__)
        return summed(X) if issparse(X) else X

    def _project(self, X: AnyMatrix, receive: Callable[[slice, int, int, NDArray], None]) -> None:
        """Call ``receive(rows, first, last, positive)`` for every block, ``first`` in eights."""
        n, d = X.shape
        width = min(max(8, _BLOCK_VALUES // d // 8 * 8), _WIDEST)
        progress = ProgressReporter(None, self.n_projections, what="projections made")
        for first in range(0, self.n_projections, width):
            last = min(first + width, self.n_projections)
            directions = self._directions(first, last, d, float_type(X))

            def project(
                top: int,
                bottom: int,
                first: int = first,
                last: int = last,
                directions: NDArray = directions,
            ) -> None:
                positive = _signs(X, slice(top, bottom), directions)
                receive(slice(top, bottom), first, last, positive)

            progress.counted(for_blocks, width)(project, n, max(1, _SUMS // (last - first)))
            del project, directions  # before the next ones are made

    def _directions(self, first: int, last: int, d: int, dtype: DTypeLike) -> NDArray:
        """Return projections ``first`` … ``last - 1`` as columns: the same, whatever the block.

        A counter of the generator yields four numbers, and each projection starts at a new one.
        """
        counters = -(-d // 4)
        directions = np.empty((d, last - first), dtype)

        def draw(start: int, stop: int) -> None:
            philox = Philox(key=self.key_, counter=(first + start) * counters)
            uniform = Generator(philox).random((stop - start, 4 * counters))[:, :d]
            directions[:, start:stop] = np.tan(np.pi * (uniform - 0.5)).T

        for_blocks(draw, last - first, max(8, _PART_VALUES // d))
        return directions


def _signs(X: AnyMatrix, rows: slice, directions: NDArray) -> NDArray:
    """Return where the projections of some rows of X are not negative."""
    X = csr_array(X[rows].astype(directions.dtype, copy=False))
    positive = np.empty((X.shape[0], directions.shape[1]), np.bool_)
    loops.signs(X.data, X.indices, X.indptr, directions, positive)
    return positive


def _warn_of_same(X: AnyMatrix, signs: NDArray) -> None:
    """Name the column that gives nearly all projections one sign, whatever the others hold."""
    n = len(signs)
    if n < _FEWEST_ROWS:
        return
    places = np.linspace(0, n - 1, min(n, _COMPARED_ROWS)).astype(int)
    compared = signs[places]
    if (compared == compared[0]).all(axis=0).mean() < _SAME:
        return
    rows = X[places]
    if (rows.max(axis=0) != rows.min(axis=0)).sum() == 0:
        return
    warnings.warn(
        ColumnNote(
            "nearly all projections have one sign in all rows, because of {}: leave it out, or "
            "scale it to the size of the others",
            [largest_column(rows)],
        ),
        stacklevel=4,  # scikit-learn wraps `transform`
    )
