r"""Products of maps: the map of a product of kernels (hkm eq. 13; ldefm Sect. 6.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from kmaps.array_api import namespace
from kmaps.checks import check_whole, present
from kmaps.errors import ConfigError, InputError
from kmaps.maps.capabilities import DenseMap, FeatureMap
from kmaps.validation import validate_data

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph, Tensor


@dataclass(eq=False, repr=False)
class ProductMap(DenseMap):
    r"""Map the product of scalar kernels, one for each column, by the product of their maps.

    .. math::
        K(x, y) = \prod_l k_l(x_l, y_l) \approx \Big\langle\bigotimes_l \psi_l(x_l),
        \bigotimes_l \psi_l(y_l)\Big\rangle

    Its outputs are all products of one output of each map, where the last column's output varies
    fastest. `fit` makes only the maps of the single columns and gives the number of products,
    `n_outputs_`, before any array of that size is built.

    Use it for few inputs that count together, such as position and angle.

    See Vedaldi and Zisserman, Efficient Additive Kernels via Explicit Feature Maps, TPAMI 2012, eq.
    13; Chum, Low Dimensional Explicit Feature Maps, ICCV 2015, Sect. 6.2.

    Parameters
    ----------
    maps : map or sequence of maps
        Unfitted maps, one for each column, or a single map for every column.
    max_outputs : int
        Most outputs; more are refused.

    See Also
    --------
    MultiLowDimMap : Fewer outputs for stationary kernels of two or three inputs.
    RandomFourierMap : The rbf kernel of many inputs.

    Examples
    --------
    A chi2 kernel of the first column times an rbf kernel of the second:

    >>> from kmaps import HomogeneousMap, LowDimMap, ProductMap
    >>> made = ProductMap([HomogeneousMap("chi2", order=3), LowDimMap("rbf", dim=5)])
    >>> made.fit([[0.2, 0.0], [0.5, 1.0]]).n_outputs_
    35
    """

    source = "hkm eq. 13"

    maps: FeatureMap | Sequence[FeatureMap]
    max_outputs: int = 10_000

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Fit the map of each column, and count the outputs of their product."""
        check_whole("max_outputs", self.max_outputs, 1)
        self._refuse_sparse(X)
        X = validate_data(self, X, array_api=True, dtype=[np.float64, np.float32])
        maps = [self.maps] * X.shape[1] if isinstance(self.maps, FeatureMap) else list(self.maps)
        if len(maps) != X.shape[1]:
            raise InputError(
                f"X has {X.shape[1]} columns for {len(maps)} maps: give one map per column, or a "
                "single map for all columns"
            )
        self.maps_ = [clone(column_map).fit(X[:, [i]]) for i, column_map in enumerate(maps)]
        # Mapping one row gives the number of outputs: maps name this attribute differently.
        self._n_outputs = [
            _encoded(column_map, X[:1, [i]]).shape[1] for i, column_map in enumerate(self.maps_)
        ]
        self.n_outputs_ = prod(self._n_outputs)
        if self.n_outputs_ > self.max_outputs:
            factors = " × ".join(map(str, self._n_outputs[:4]))
            if len(self._n_outputs) > 4:
                factors += " × …"
            raise ConfigError(
                f"a product of {factors} outputs has {self.n_outputs_:,}, more than "
                f"max_outputs={self.max_outputs}; use smaller maps or fewer columns"
            )
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Map rows to ``(n, n_outputs_)``, in the dtype of X."""
        check_is_fitted(self)
        self._refuse_sparse(X)
        X = validate_data(self, X, reset=False, array_api=True, dtype=[np.float64, np.float32])
        xp = namespace(X)
        products = xp.ones_like(X[:, :1])
        for i, column_map in enumerate(self.maps_):
            encoded = _encoded(column_map, X[:, i : i + 1])
            pairs = products[:, :, None] * encoded[:, None, :]
            products = xp.reshape(pairs, (X.shape[0], -1))
        return products

    def add_to_graph(self, graph: "Graph", x: "Tensor") -> "Tensor":
        """Add the map to an ONNX graph: the graphs of the columns' maps, multiplied.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs ``(n, n_outputs_)`` in the type of ``x``, of bytes in that of the graph.
        """
        from kmaps.onnx_graph import add_step

        x = graph.floats(x)
        width = 1
        products = graph.constant(np.ones((1, 1)), x.dtype)
        for i, (column_map, n_outputs) in enumerate(zip(self.maps_, self._n_outputs, strict=True)):
            column = graph.node("Gather", x, [i], axis=1)
            encoded = present(add_step(column_map, graph, column), "the outputs of a map")
            pairs = graph.node(
                "Mul", graph.node("Unsqueeze", products, [2]), graph.node("Unsqueeze", encoded, [1])
            )
            width *= n_outputs
            products = graph.rows(pairs, width)
        self.describe_in(graph)
        return products


def _encoded(fitted: FeatureMap, column: NDArray) -> NDArray:
    encoded = fitted.transform(column)
    return encoded.toarray() if issparse(encoded) else encoded
