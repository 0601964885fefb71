"""Random Fourier features: a Gaussian kernel as cosines and sines of random frequencies."""

import copy
import warnings
from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted
from threadpoolctl import ThreadpoolController

from kmaps._loops import fourier as loops
from kmaps.array_api import is_foreign, namespace
from kmaps.checks import check_whole, room_for_rows
from kmaps.errors import ConfigError, InputError
from kmaps.gram_matrix import mean_squared_distance, width_of
from kmaps.maps import frequencies as drawn
from kmaps.maps.base import AdditiveMap
from kmaps.maps.capabilities import FeatureMap
from kmaps.maps.parameters import Structure, check_random_fourier
from kmaps.matrices import float_type
from kmaps.thread_pool import for_blocks
from kmaps.validation import validate_data

_BLOCK_VALUES = 1 << 22  # turns, or encoded values, of the rows that a thread takes at once
_FEWEST_ROWS = 32  # with fewer rows, starting a matrix product takes too long
_LEAST_BITS = 4  # of the fraction of a turn


class RandomFeatures(FeatureMap):
    """Base of the maps made of cosines and sines of random frequencies.

    A subclass takes the parameters ``n_frequencies``, ``sigma``, ``structure`` and
    ``random_state``, and writes `_fit_embedding`, `_embed` and `_mean_distance`. ``additive_`` is
    the fitted additive map inside, if any; ``profile`` the radial profile of the kernel.
    """

    additive_: AdditiveMap | None = None
    profile: str = "gaussian"
    n_frequencies: int
    sigma: float | None
    structure: str
    random_state: int | RandomState | None

    _accepts_sparse = True
    _preserved = ("float64", "float32")
    _check_parameters = check_random_fourier

    @abstractmethod
    def _fit_embedding(self, X: Any) -> int:
        """Prepare `_embed` and return how many values it gives for a row."""

    @abstractmethod
    def _embed(self, rows: Any) -> Any:
        """Return the rows that the frequencies multiply, dense or CSR."""

    @abstractmethod
    def _mean_distance(self, X: Any) -> float:
        """Return the mean squared distance between rows of X."""

    @property
    def learns_from_data(self) -> bool:
        """Whether `fit` needs more of X than its number of columns."""
        return self.sigma is None

    @property
    def n_outputs_(self) -> int:
        """Number of outputs of a row, once fitted."""
        return 2 * len(self.frequency_indices_)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the parameters, take sigma from the data unless it is given, and draw the key."""
        X = validate_data(self, X, array_api=True, accept_sparse="csr")
        self._check_parameters()
        self._n_embedded = self._fit_embedding(X)
        self.sigma_ = float(width_of(self._mean_distance(X)) if self.sigma is None else self.sigma)
        pair = check_random_state(self.random_state).randint(2**32, size=2, dtype=np.uint32)
        self.key_ = int(pair.view(np.uint64)[0])
        self.frequency_version_ = drawn.FREQUENCY_VERSION
        self._lineages = np.arange(self.n_frequencies)[:, None]
        self._n_drawn = self.n_frequencies
        self._draw()
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Return the cosine and the sine of every row along each frequency, pair by pair: (n, 2k).

        They are float64 for float64 input and integers beyond 16 bits, else float32. Values are
        refused whose products with the frequencies overflow. An array of another library that
        scikit-learn dispatches is transformed there, in its dtype.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, array_api=True, accept_sparse="csr")
        if is_foreign(X):
            return self._transform_foreign(X)
        dtype = float_type(X)
        out = room_for_rows(X.shape[0], self.n_outputs_, dtype)
        unit = dtype(self.n_frequencies**-0.5)
        coarse = False
        for first, last, project in self._frequencies.blocks(dtype):
            columns = slice(2 * first, 2 * last)

            def fill(
                top: int, bottom: int, project: drawn.Projector = project, columns: slice = columns
            ) -> tuple[bool, bool]:
                turns = project(self._embed(X[top:bottom]))
                # Before the loop, since a fraction may take a turn's place.
                is_coarse = _is_coarse(turns)
                return loops.cos_sin(turns, unit, out[top:bottom, columns]), is_coarse

            rows = _BLOCK_VALUES // max(last - first, self._n_embedded)
            # One thread of BLAS for each of ours: more threads slow each other down.
            with _pools().limit(limits=1, user_api="blas"):
                filled = for_blocks(fill, X.shape[0], max(_FEWEST_ROWS, rows))
            if any(overflow for overflow, _ in filled):
                raise drawn.too_large(self.sigma_)
            coarse |= any(is_coarse for _, is_coarse in filled)
        if coarse:
            warnings.warn(
                f"most rows are so far from zero for sigma={self.sigma_:.3g} that {dtype.__name__} "
                "has no digits of their phases: subtract from each column its smallest value, or "
                "leave constant columns out",
                stacklevel=3,  # scikit-learn wraps `transform`
            )
        return out

    def _transform_foreign(self, X: Any) -> Any:
        xp = namespace(X)
        embedded = self._embed(X)
        waves = []
        dtype = np.float32 if X.dtype == xp.float32 else np.float64
        for _, _, project in self._frequencies.blocks(dtype):
            turns = project(embedded)
            angles = 2 * np.pi * (turns - xp.round(turns))
            waves.append(xp.stack([xp.cos(angles), xp.sin(angles)], axis=-1))
        out = xp.reshape(xp.concat(waves, axis=1), (X.shape[0], -1)) * self.n_frequencies**-0.5
        if not bool(xp.all(xp.isfinite(out))):
            raise drawn.too_large(self.sigma_)
        return out

    def add_to_graph(self, graph: Any, x: Any) -> Any:
        """Add the map to an ONNX graph, which holds the frequencies themselves.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`.
        x : Tensor
            Rows (n, d) in it.

        Returns
        -------
        Tensor
            The outputs (n, 2k), in the type of ``x``, of bytes in that of the graph.
        """
        x = graph.floats(x) if self.additive_ is None else self.additive_.add_to_graph(graph, x)
        self.describe_in(graph)
        dtype = x.dtype.type
        unit = np.eye(self._n_embedded, dtype=dtype)
        blocks = [project(unit) for _, _, project in self._frequencies.blocks(dtype)]
        turns = graph.node("MatMul", x, np.hstack(blocks))
        turns = graph.node("Sub", turns, graph.node("Round", turns))
        # The cosine is the sine a quarter turn later: some runtimes have no cosine in float64.
        pairs = graph.node("Add", graph.node("Unsqueeze", turns, [-1]), np.array([0.25, 0.0]))
        waves = graph.node("Sin", graph.node("Mul", pairs, 2 * np.pi))
        return graph.rows(graph.node("Mul", waves, self.n_frequencies**-0.5), self.n_outputs_)

    def keep(self, frequencies: ArrayLike) -> Self:
        """Return a copy that has only some of the frequencies.

        Its outputs are the same columns that this map gives for them, to the last digits of sums,
        and the others cost nothing. Fitted again, the copy has all frequencies.

        Parameters
        ----------
        frequencies : array-like
            Their positions among the frequencies of this map, or a mask of its frequencies.

        Returns
        -------
        RandomFeatures
            The copy, fitted.

        Examples
        --------
        >>> feature_map = RandomFourierMap(n_frequencies=100).fit([[0.0, 1.0]])
        >>> feature_map.keep([7, 30]).transform([[0.0, 1.0]]).shape
        (1, 4)
        """
        check_is_fitted(self)
        positions = np.asarray(frequencies)
        is_kept = np.zeros(len(self.frequency_indices_), bool)
        if positions.size:
            try:
                is_kept[positions] = True
            except IndexError as error:
                raise InputError(f"frequencies: {error}") from None
        if not is_kept.any():
            raise InputError("frequencies: got none, expected at least one")
        return self._with(self._lineages[is_kept], self._n_drawn)

    def with_key(self, key: int) -> Self:
        """Return a copy with the frequencies that belong to another key.

        A model that holds the key of a map makes the same map again, whatever drew the key.

        Parameters
        ----------
        key : int
            The key, from 0 to 2⁶⁴ - 1.

        Returns
        -------
        RandomFeatures
            The copy, fitted.
        """
        check_is_fitted(self)
        check_whole("key", key, 0, 2**64 - 1)
        other = copy.copy(self)
        other.key_ = int(key)
        other._draw()
        return other

    def draw_near(self, n_frequencies: int) -> Self:
        r"""Return a copy with ``n_frequencies`` more, drawn near each of those there are, in turn.

        One near :math:`\omega` is :math:`0.9\,\omega + \sqrt{0.19}\,\omega'` with a new
        :math:`\omega' \sim N(0, I/\sigma^2)`, so that it has that distribution too. The structure
        has to be "dense".

        Parameters
        ----------
        n_frequencies : int
            How many more, at least 1.

        Returns
        -------
        RandomFeatures
            The copy, fitted.
        """
        check_is_fitted(self)
        check_whole("n_frequencies", n_frequencies, 1)
        if self.structure != "dense":
            raise ConfigError(
                f"structure={self.structure!r}: frequencies near others can be drawn for "
                "structure='dense' alone"
            )
        n_old = len(self._lineages)
        parents = np.resize(np.arange(n_old), n_frequencies)
        indices = self._n_drawn + np.arange(n_frequencies)
        old = np.column_stack([self._lineages, np.full(n_old, -1)])  # they have no descendant here
        new = np.column_stack([self._lineages[parents], indices])
        return self._with(np.concatenate([old, new]), self._n_drawn + n_frequencies)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Return ``cos<j>`` and ``sin<j>`` for each frequency j kept, as an object array."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        names = [f"{wave}{j}" for j in self.frequency_indices_ for wave in ("cos", "sin")]
        return np.array(names, object)

    def _with(self, lineages: NDArray, n_drawn: int) -> Self:
        """Return a copy with the frequencies of some lineages."""
        other = copy.copy(self)
        other._lineages = lineages
        other._n_drawn = n_drawn
        other._draw()
        return other

    def _draw(self) -> None:
        self.frequency_indices_ = self._lineages.max(axis=1)
        self._frequencies = self._make_frequencies()

    def _make_frequencies(self) -> drawn.Frequencies:
        if self._lineages.shape[1] > 1:
            return drawn.DescendedFrequencies(
                self.key_, self._lineages, self._n_embedded, self.sigma_
            )
        structure = drawn.STRUCTURES[self.structure]
        return structure(self.key_, self.frequency_indices_, self._n_embedded, self.sigma_)

    def __getstate__(self) -> dict[str, Any]:
        # The arrays that follow from the key are not stored.
        state = super().__getstate__()
        drawn_again = ("_frequencies", "frequency_indices_")
        return {name: value for name, value in state.items() if name not in drawn_again}

    def __setstate__(self, state: dict[str, Any]) -> None:
        version = state.get("frequency_version_", drawn.FREQUENCY_VERSION)
        if version != drawn.FREQUENCY_VERSION:
            raise InputError(
                f"{type(self).__name__} has frequencies of version {version}, this kmaps makes "
                f"version {drawn.FREQUENCY_VERSION}: fit it again, or use the kmaps that wrote it"
            )
        super().__setstate__(state)
        if "_lineages" in state:
            self._draw()


@dataclass(eq=False, repr=False)
class RandomFourierMap(RandomFeatures):
    r"""Approximate the Gaussian kernel by 2m cosines and sines.

    .. math::
        e^{-\|x - y\|^2 / 2\sigma^2} = E\,\cos(\omega^\top(x - y)) \approx \frac1m \sum_{j=1}^m
        \left(\cos\omega_j^\top x\,\cos\omega_j^\top y + \sin\omega_j^\top x\,\sin\omega_j^\top y
        \right), \qquad \omega_j \sim N(0, I/\sigma^2)

    (genrbf eq. 8-10). With independent frequencies the standard deviation of an entry of
    value k is :math:`(1-k^2)/\sqrt{2m}`.

    Use it for the Gaussian kernel on features that are no histograms.

    See Rahimi and Recht, Random Features for Large-Scale Kernel Machines, NIPS 2007; Le, Sarlós and
    Smola, Fastfood, ICML 2013; Yu et al., Orthogonal Random Features, NIPS 2016.

    Parameters
    ----------
    n_frequencies : int
        m ≥ 1, the number of frequencies; there are twice as many outputs.
    sigma : float or None
        Width of the kernel, > 0. None: σ² is the mean squared distance between the rows of a
        sample, as in `kmaps.gram`.
    structure : {"dense", "orthogonal", "fastfood"}
        How frequencies are drawn. "dense": independently. "orthogonal": orthogonal ones in groups
        of d, with less error at the same cost (Yu et al.). "fastfood": products of Hadamard
        matrices, m·log d operations per row instead of m·d (Le et al.).
    random_state : int, RandomState or None
        Draws the key of the frequencies.

    Attributes
    ----------
    sigma_ : float
        The width used.
    key_ : int
        The key of the counter-based generator (Philox) that makes the frequencies when needed.
    frequency_version_ : int
        Version of the frequencies of a key; a pickled map of another version is refused.
    frequency_indices_ : ndarray (k,), int64
        The numbers of the frequencies: all m, or the kept ones; from m on for `draw_near`.

    See Also
    --------
    GeneralizedRBFMap : The exponential kernels of histograms.
    RandomFeatureSVC : Map and learner in one estimator, with files.
    resample : Fewer frequencies that suit the labels.
    HarmonicMap : No chance involved, for up to three inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from kmaps import RandomFourierMap, gram
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]])
    >>> Z = RandomFourierMap(n_frequencies=10_000).fit_transform(X)
    >>> bool(np.abs(Z @ Z.T - gram(X, kernel="rbf", sigma=1.0)).max() < 0.02)
    True
    """

    source = "genrbf eq. 8-10"
    approximates = "rbf"

    n_frequencies: int = 1000
    sigma: float | None = 1.0
    structure: Structure = "dense"
    random_state: int | RandomState | None = 0

    def _fit_embedding(self, X: Any) -> int:
        return X.shape[1]

    def _embed(self, rows: Any) -> Any:
        return rows

    def _mean_distance(self, X: Any) -> float:
        return mean_squared_distance(X, kernel="rbf")


def _is_coarse(turns: NDArray) -> bool:
    """Return whether most turns are so many that hardly any digits of their fractions are there.

    A row far from all others may have such turns: it is like no other row in any case.
    """
    rows = turns[:: max(1, len(turns) // _FEWEST_ROWS)]
    most = 2.0 ** (np.finfo(turns.dtype).nmant - _LEAST_BITS)
    return bool(np.median(np.abs(rows)) > most)


@cache
def _pools() -> ThreadpoolController:
    # Finding the libraries takes milliseconds.
    return ThreadpoolController()
