"""The capabilities of maps, stated by each map: a base class with defaults, and protocols.

A caller asks the attributes of `FeatureMap` and, where a method is at stake, the protocols;
`tests/test_capabilities.py` says which map has which capability.
"""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import Tags

from kmaps.errors import InputError
from kmaps.estimators import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from kmaps.maps.version import MAP_VERSION

if TYPE_CHECKING:
    from kmaps.onnx_graph import Graph


class FeatureMap(TransformerMixin, BaseEstimator, ABC):
    """Base of all maps: scikit-learn's transformer, and a map's statements about itself.

    Attributes
    ----------
    source : str
        Paper and equation.
    approximates : str
        The kernel that a map approximates which takes no parameter ``kernel``; "": none.
    code_bits_ : int or None
        Bits of a code when the samples can be stored as codes, one per value (see ``to_codes``).
    table_bytes_ : int
        Size in float32 of what was learnt and encoding needs; 0 for a formula.
    shared_curve_ : bool
        Whether all features have one curve, once the map is fitted.
    """

    source: ClassVar[str] = ""
    approximates: ClassVar[str] = ""
    code_bits_: int | None = None
    table_bytes_: int = 0
    shared_curve_: bool = False
    to_codes: Any  # a method, if the map `has_codes`

    _accepts_sparse: ClassVar[bool] = False  # for scikit-learn, fitted or not
    _preserved: ClassVar[tuple[str, ...]] = ("float64",)  # dtypes of samples that outputs have

    @property
    def learns_from_data(self) -> bool:
        """Whether `fit` needs more of X than its number of columns."""
        return True

    @property
    def has_codes(self) -> bool:
        """Whether the map has ``to_codes``, which gives the codes of samples."""
        return False

    @property
    def takes_sparse_(self) -> bool:
        """Whether the fitted map takes CSR input."""
        return True

    @property
    def _unsigned(self) -> bool:
        """Whether negative values are refused."""
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.positive_only = self._unsigned
        tags.transformer_tags.preserves_dtype = [*self._preserved]
        return tags

    @abstractmethod
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the parameters and learn from X (n, d), real and finite, for `transform`."""

    @abstractmethod
    def transform(self, X: ArrayLike) -> Any:
        """Map every row of X; the result is an ndarray or a CSR matrix."""

    def to_onnx(
        self, path: str | Path | None = None, *, dtype: str = "float32", force: bool = False
    ) -> Any:
        """Return the fitted map as an ONNX model, as `kmaps.to_onnx` does.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the model to.
        dtype : {"float32", "float64", "uint8"}
            The type of the rows that the graph takes.
        force : bool
            Whether an existing file may be replaced.

        Returns
        -------
        onnx.ModelProto
            The graph, with the input ``X`` (n, d) and the output ``transform`` (n, r).
        """
        from kmaps.onnx_graph import export

        return export([self], path, dtype=dtype, force=force)

    def describe_in(self, graph: "Graph") -> None:
        """Write into an ONNX graph which map it is of.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, whose ``facts`` get the map, its kernel and its
            version.
        """
        from kmaps.mercer import kernel_name

        kernel = self.get_params(deep=False).get("kernel", self.approximates)
        graph.facts |= {
            "map": str(self),
            "kernel": kernel_name(kernel),
            "map_version": str(MAP_VERSION),
        }

    def check_parameters(self, X: NDArray) -> None:
        """Refuse what `fit` would refuse on X, by fitting or, where that takes long, without it.

        Third-party maps are checked by this method, kmaps' maps by `kmaps.maps.parameters`.

        Parameters
        ----------
        X : ndarray, shape (n, d)
            Samples.
        """
        self.fit(X)


class DenseMap(ClassNamePrefixFeaturesOutMixin, FeatureMap):
    """A map with ``n_outputs_`` outputs in the dtype of the samples, once it is fitted."""

    takes_sparse_ = False
    n_outputs_: int
    _preserved = ("float64", "float32")

    def _refuse_sparse(self, X: ArrayLike) -> None:
        if issparse(X):
            raise InputError(
                f"{type(self).__name__} takes no sparse input, because its outputs are dense: pass "
                "a dense array (X.toarray())"
            )

    @property
    def _n_features_out(self) -> int:
        return self.n_outputs_


@runtime_checkable
class Tabulated(Protocol):
    """A map with tables: each feature has a curve of its own or all share one.

    Training on codes needs no more of a map; it need not be a `FeatureMap`.
    """

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn from samples (n, d)."""

    def tabulate(self, levels: ArrayLike) -> NDArray:
        """Return the outputs of levels.

        Parameters
        ----------
        levels : array-like, shape (L,) or (d, L)
            The levels of all features, or of each.

        Returns
        -------
        ndarray, shape (1, L, r) or (d, L, r)
            One table for all features, or one for each.
        """


@runtime_checkable
class LocallyTabulated(Tabulated, Protocol):
    """A map with a local form: on each level few B-splines differ from zero."""

    def tabulate_local(self, levels: ArrayLike) -> tuple[NDArray, NDArray, NDArray]:
        """Return the splines that are not zero on levels.

        Parameters
        ----------
        levels : array-like, shape (L,) or (d, L)
            The levels of all features, or of each.

        Returns
        -------
        first : ndarray, shape (1 or d, L)
            The first of the p + 1 splines that are not zero.
        values : ndarray, shape (1 or d, L, p + 1)
            Their values.
        kernel : ndarray, shape (m, m)
            The kernel of all splines: with the values Φ of all of them, Φ·kernel·Φᵀ is the kernel
            of the levels.
        """


@runtime_checkable
class Bounded(Protocol):
    """A map that, when fitted, bounds its own error, by the period that it has (hkm Lemma 3)."""

    period_: float

    def error_bound(self) -> float:
        """Return a bound on the error of the kernel of rows whose values' powers sum to one.

        Returns
        -------
        float
            The bound.
        """


@runtime_checkable
class Regularized(Tabulated, Protocol):
    """A fitted map whose weights w of each feature are to be regularised by wᵀHw, not wᵀw."""

    @property
    def regularizer_(self) -> NDArray:
        """H, shape (r, r), positive definite."""
