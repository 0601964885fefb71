"""Exponential kernels: a linear model on the outputs of a random map."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.sparse import csr_matrix
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from kmaps.checks import check_whole, is_number
from kmaps.errors import InputError
from kmaps.maps import MAP_VERSION, GeneralizedRBFMap, RandomFourierMap
from kmaps.maps.frequencies import FREQUENCY_VERSION
from kmaps.maps.parameters import Structure, check_generalized, check_random_fourier
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.matrix_product import product
from kmaps.models.choice import FOLD_TOL, Predict, along_c
from kmaps.models.mapped_rows import MAX_FEATURES, MappedRows, map_rows
from kmaps.models.mapped_svc import MappedSVC, StoredLinear, check_mapped
from kmaps.svm.model_file import ModelFile
from kmaps.svm.reduction import count_problems, read_curves

MAX_ORDER = 100  # the largest order of the inner homogeneous map
_VERSIONS = {"frequency_version": FREQUENCY_VERSION, "map_version": MAP_VERSION}
_STORED = (  # the parameters in files
    "kernel",
    "n_frequencies",
    "C",
    "order",
    "sigma",
    "structure",
    "loss",
    "multiclass",
    "bias",
    "tol",
    "probability",
)


def check_random_features(parameters: Any) -> None:
    """Refuse parameters of `RandomFeatureSVC` out of range, of those that its files hold."""
    check_mapped(parameters)
    check_whole("n_frequencies", parameters.n_frequencies, 1)
    check_whole("order", parameters.order, 0, MAX_ORDER)


def read_random_features(file: ModelFile) -> StoredLinear:
    """Return the content of a file of `RandomFeatureSVC`."""
    _check_versions(file)
    parameters = file.checked_parameters(_STORED, check_random_features)
    classes = file.labels()
    curves = read_curves(file, parameters, classes)
    n_problems = count_problems(len(classes), parameters.multiclass)
    coef = file.array("coef", np.float32, (n_problems, 2 * parameters.n_frequencies))
    intercept = file.array("intercept", coef.dtype, (n_problems,))
    file.check_all_taken()
    n_features = file.whole("n_features", 1, MAX_FEATURES)
    key, sigma = file.text("key"), file.fitted.get("sigma")
    if not (key.isascii() and key.isdigit() and len(key) <= 20):
        raise file.damaged(f"key is {key!r}, expected a whole number")
    if not is_number(sigma) or parameters.sigma not in (None, sigma):
        raise file.damaged(f"sigma is {sigma!r}, expected the width that was trained with")
    with file.checking():
        of_map = SimpleNamespace(**vars(parameters) | {"sigma": sigma, "random_state": 0})
        check = check_random_fourier if parameters.kernel == "rbf" else check_generalized
        of_map.additive = None
        check(of_map)
        check_whole("key", int(key), 0, 2**64 - 1)
    return StoredLinear(
        parameters, classes, curves, n_features, float(sigma), coef, intercept, key=int(key)
    )


def _check_versions(file: ModelFile) -> None:
    """Refuse a model whose frequencies or map this version of kmaps makes otherwise."""
    for name, known in _VERSIONS.items():
        if file.fitted.get(name) != known:
            raise InputError(
                f"{file.path}: was trained with {name.replace('_', ' ')} {file.fitted.get(name)}, "
                f"but this kmaps has {known} and makes other frequencies; train it again, or use "
                "the kmaps that wrote it"
            )


@dataclass(eq=False, repr=False)
class RandomFeatureSVC(MappedSVC):
    r"""SVM with an exponential kernel, approximated by random Fourier features.

    The kernel is :math:`e^{-D^2(x, y) / 2\sigma^2}` with the metric D of chi2, intersection, js,
    hellinger or, for rbf, the Euclidean one (genrbf eq. 12). A random map
    (:class:`kmaps.GeneralizedRBFMap`, for rbf :class:`kmaps.RandomFourierMap`) turns it into the
    inner product of 2m outputs, on which a linear model is trained. `kmaps.KernelSVC` is the exact
    model; the map's error falls as :math:`1/\sqrt m`.

    Use it for histograms whose features interact, and more samples than an exact model can take;
    with ``structure="fastfood"`` it is more accurate on Daimler and MNIST than landmarks that take
    as long to predict.
    The exponential form of a user's scalar kernel is
    ``GeneralizedRBFMap(additive=ExactMap(kernel))`` with `LiblinearSVC` in a pipeline.

    Parameters
    ----------
    kernel : str, default="exp-chi2"
        "exp-chi2", "exp-intersection", "exp-js", "exp-hellinger" or "rbf".
    n_frequencies : int, default=1000
        m ≥ 1, the number of frequencies. Training and prediction take time and memory in
        proportion to it.
    C, loss, multiclass, bias, tol, max_iter, class_weight, probability, warm_start
        As in :class:`kmaps.LandmarkSVC`.
    random_state : int, RandomState or None, default=0
        Draws the key of the frequencies, and the order of the samples.
    verbose : int, default=0
        As in :class:`kmaps.LandmarkSVC`.
    order : int, default=1
        Order of the inner homogeneous map, from 0 to 100: the accuracy of the metric.
        exp-hellinger and rbf are exact and do not use it.
    sigma : float, None or "auto", default="auto"
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between training rows, or
        1,000 of them. "auto": :func:`kmaps.models.choose_width` chooses it for this C, or together
        with ``C="auto"``. Samples in blocks need a number or None.
    structure : {"dense", "orthogonal", "fastfood"}, default="dense"
        How frequencies are drawn, as in :class:`kmaps.RandomFourierMap`; fastfood is the fastest
        for many features.

    Attributes
    ----------
    map_ : GeneralizedRBFMap or RandomFourierMap
        The fitted map. It holds the key of its frequencies, not the frequencies.
    sigma_, C_ : float
        The width in use, and the C in use where one of them was "auto".
    width_choice_ : WidthChoice
        The tried widths and values of C, where one was "auto".
    duality_gap_ : ndarray, shape (P,)
        The relative duality gaps; a model from a file has none, nor the next two and ``n_iter_``.
    timings_ : dict
        Seconds: ``encode_s`` (fitting the map and encoding) and ``train_s``.
    encoded_bytes_ : int
        Bytes of the encoded training set.
    map_coef_, intercept_ : ndarray of float32, shapes (P, 2m) and (P,)
        The weights of the map's outputs; there is no ``coef_``, which would be of features.
    classes_, n_iter_, n_features_in_, model_bytes_
        As in :class:`kmaps.LiblinearSVC`.

    See Also
    --------
    CodedSVC : Additive kernels, exact and faster.
    KernelSVC : The exact exponential kernel, for up to some ten thousand samples.
    GeneralizedRBFMap : The map alone.

    Notes
    -----
    Training descends on the dual (Yu et al., KDD 2010), and goes on by Newton's method on the
    primal where that is sooner there, as with classes that overlap. It holds the 8 m bytes of a
    row's outputs; more than 2²⁸ outputs are in a temporary file (in TMPDIR), from which 2²² are
    read at a time.

    References
    ----------
    Vempati, Vedaldi, Zisserman and Jawahar, Generalized RBF Feature Maps for Efficient Detection,
    BMVC 2010.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 3))
    >>> y = np.where(np.abs(X - 0.5).sum(axis=1) < 0.7, "centre", "rim")
    >>> model = RandomFeatureSVC("exp-js", n_frequencies=500, C=100.0).fit(X[:150], y[:150])
    >>> print(f"{model.score(X[150:], y[150:]):.2f}")
    0.90
    """

    kernel: str = "exp-chi2"
    n_frequencies: int = 1000
    C: Any = 1.0
    _: KW_ONLY
    order: int = 1
    sigma: Any = "auto"
    structure: Structure = "dense"

    _stored = _STORED
    _check_stored = staticmethod(check_random_features)
    _read = staticmethod(read_random_features)

    def at_widths(
        self, X: Any, y: NDArray, weights: NDArray, mean: float
    ) -> Callable[[float], Predict]:
        """Return a function that makes the ``predict`` of a width.

        The map is fitted anew at each width, on all samples.

        Parameters
        ----------
        X : ndarray or CSR, shape (n, d)
            The samples, float32 or float64.
        y : ndarray, shape (n,)
            Their labels.
        weights : ndarray of float64, shape (n,)
            Their weights in training.
        mean : float
            The width whose square is the mean squared distance between training rows, or the width
            that the model gives; it is not used here.

        Returns
        -------
        callable
            ``at(sigma)`` returns the ``predict`` of :func:`kmaps.models.cross_validate` for a
            width ``sigma`` > 0, as :func:`kmaps.models.along_c` makes it.
        """

        def at(sigma: float) -> Predict:
            model = clone(self).set_params(sigma=sigma, probability=None, verbose=0)
            model.set_params(tol=max(self.tol, FOLD_TOL))
            rows = _narrow(map_rows(model._make_map(), X, lambda: [X]))
            return along_c(model, rows, y, weights=weights)

        return at

    def _make_map(self) -> RandomFeatures:
        settings = self.n_frequencies, self.sigma, self.structure, self.random_state
        if self.kernel == "rbf":
            return RandomFourierMap(*settings)
        return GeneralizedRBFMap(self.kernel, self.order, *settings)

    def _keep(self, fitted_map: RandomFeatures, weights: NDArray, intercept: NDArray) -> None:
        self.map_, self.sigma_ = fitted_map, fitted_map.sigma_
        self.map_coef_, self.intercept_ = weights, intercept
        self.model_bytes_ = weights.nbytes + intercept.nbytes

    def _scores(self, X: Any) -> NDArray:
        return product(self.map_.transform(X), self.map_coef_.T) + self.intercept_

    def add_to_graph(self, graph: Any, x: Any) -> None:
        """Add the outputs of the model to an ONNX graph.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, to which nodes and outputs are added.
        x : Tensor
            Rows (n, d) in it.
        """
        outputs = self.map_.add_to_graph(graph, x)
        self._add_outputs(graph, graph.affine(outputs, self.map_coef_.T, self.intercept_))

    def _parts(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        return {"coef": self.map_coef_}, {
            "key": str(self.map_.key_),  # a text: not every reader of JSON keeps 64 bits
            "frequency_version": self.map_.frequency_version_,
            "map_version": MAP_VERSION,
        }

    def _stored_map(self, stored: StoredLinear) -> RandomFeatures:
        unfitted = self._make_map().set_params(sigma=stored.sigma, random_state=0)
        width = csr_matrix((1, stored.n_features), dtype=np.float32)
        return unfitted.fit(width).with_key(stored.key)


def _narrow(rows: MappedRows) -> MappedRows:
    """Return n rows of many outputs as n outputs with the same inner products (Rᵀ of QR)."""
    n, fitted = len(rows), rows.map
    if not isinstance(rows.outputs, np.ndarray) or fitted.n_outputs_ < 2 * n:
        return rows
    with threadpool_limits(1, user_api="blas"):  # the same bits on any number of threads
        (root,) = qr(rows.outputs.T, mode="r", overwrite_a=True, check_finite=False)
    fitted_values = {
        "n_features_in_": fitted.n_features_in_,
        "sigma_": fitted.sigma_,
        "n_outputs_": n,
    }
    return MappedRows(SimpleNamespace(**fitted_values), None, np.ascontiguousarray(root[:n].T))
