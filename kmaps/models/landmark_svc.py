"""Exponential kernels: a linear model on kernel values with landmarks."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from kmaps.checks import check_choice, check_whole, is_number
from kmaps.gram_matrix import squared_distance
from kmaps.matrix_product import product
from kmaps.models.choice import FOLD_TOL, Predict, along_c
from kmaps.models.landmarks import CHOICES, LandmarkMap
from kmaps.models.mapped_rows import MAX_FEATURES, MappedRows
from kmaps.models.mapped_svc import MappedSVC, StoredLinear, check_mapped
from kmaps.svm.model_file import ModelFile, csr_or_dense, matrix_arrays, n_rows
from kmaps.svm.reduction import count_problems, read_curves

_STORED = (  # the parameters in files
    "kernel",
    "n_landmarks",
    "C",
    "sigma",
    "landmarks",
    "loss",
    "multiclass",
    "bias",
    "tol",
    "probability",
)


def check_landmarks(parameters: Any) -> None:
    """Refuse parameters of `LandmarkSVC` out of range, of those that its files hold."""
    check_mapped(parameters)
    check_whole("n_landmarks", parameters.n_landmarks, 1)
    check_choice("landmarks", parameters.landmarks, CHOICES)


def read_landmarks(file: ModelFile) -> StoredLinear:
    """Return the content of a file of `LandmarkSVC`."""
    parameters, sigma = file.checked_parameters(_STORED, check_landmarks), file.fitted.get("sigma")
    if not (is_number(sigma) and sigma > 0) or parameters.sigma not in (None, sigma):
        raise file.damaged(f"sigma is {sigma!r}, expected the width that was trained with")
    classes = file.labels()
    n_features = file.whole("n_features", 1, MAX_FEATURES)
    floats = np.float32, np.float64
    landmarks = file.matrix("landmarks", floats, (None, n_features))
    if n_rows(landmarks) > parameters.n_landmarks:
        raise file.damaged(
            f"landmarks has {n_rows(landmarks)} rows, more than {parameters.n_landmarks}"
        )
    curves = read_curves(file, parameters, classes)
    n_problems = count_problems(len(classes), parameters.multiclass)
    coef = file.array("landmark_coef", np.float64, (n_problems, n_rows(landmarks)))
    intercept = file.array("intercept", np.float64, (n_problems,))
    file.check_all_taken()
    return StoredLinear(
        parameters, classes, curves, n_features, float(sigma), coef, intercept, landmarks=landmarks
    )


@dataclass(eq=False, repr=False)
class LandmarkSVC(MappedSVC):
    r"""SVM with an exponential kernel, approximated by landmarks (Nyström's method).

    The model is linear on the m outputs of :class:`kmaps.LandmarkMap`; written as a function of the
    kernel values it is :math:`f(x) = \sum_j a_j k(x, l_j) + b`, so that a prediction takes the m
    kernel values of x, as with m support vectors. With all samples as landmarks it is the exact
    model, `kmaps.KernelSVC`, with a regularised intercept.

    Use it for histograms whose features interact, and where accuracy counts.

    Parameters
    ----------
    kernel, n_landmarks
        As in :class:`kmaps.LandmarkMap`.
    C : float or "auto", default=1.0
        Weight of the loss; "auto": :func:`kmaps.models.choose_width` chooses it.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        The hinge is the loss of `KernelSVC`, which this approximates.
    multiclass, bias
        As in :class:`kmaps.LiblinearSVC`.
    tol : float, default=1e-3
        The relative duality gap to reach.
    max_iter : int, default=200
        Most passes over all samples, ≥ 1, each with at most ten visits of every sample: ten sums
        over all samples of Newton's method count as one.
    class_weight, probability
        As in :class:`kmaps.LiblinearSVC`.
    warm_start : bool, default=False
        Start from the model of the fit before, on the same samples and at a C that was not larger.
    random_state : int, RandomState or None, default=0
        Draws the landmarks, and the order of the samples.
    verbose : int, default=0
        Not 0: print every two seconds the passes, the largest gap, and about how long it takes.
    sigma : float, None or "auto", default="auto"
        Width of the kernel, > 0. None: σ² is the mean squared distance D² between training rows, or
        1,000 of them. "auto": chosen by cross-validation for this C, or together with C.
    landmarks : {"kmeans", "uniform", "rpcholesky"}, default="kmeans"
        How landmarks are chosen, as in :class:`kmaps.LandmarkMap`.

    Attributes
    ----------
    map_ : LandmarkMap
        The fitted map.
    landmark_coef_ : ndarray of float64, shape (P, m)
        The weights :math:`a_j`.
    map_coef_ : ndarray of float32, shape (P, m)
        The weights of the map's outputs; a model from a file has none.
    duality_gap_ : ndarray, shape (P,)
        The relative duality gaps.
    sigma_, C_, width_choice_, timings_, encoded_bytes_
        As in :class:`kmaps.RandomFeatureSVC`.
    classes_, intercept_, n_iter_, n_features_in_, model_bytes_
        As in :class:`kmaps.LiblinearSVC`; the bytes count landmarks and weights.

    See Also
    --------
    KernelSVC : The exact exponential kernel, for up to some ten thousand samples.
    RandomFeatureSVC : Random frequencies instead of landmarks.
    CodedSVC : Additive kernels, faster.

    Notes
    -----
    Training holds the 4 m bytes of a row's outputs; more than 2²⁸ outputs are in a temporary file
    (in TMPDIR). All binary problems descend on one matrix, each on a thread; where classes overlap,
    training goes on by Newton's method on the primal.

    References
    ----------
    Vempati, Vedaldi, Zisserman and Jawahar, Generalized RBF Feature Maps for Efficient Detection,
    BMVC 2010. Williams and Seeger, Using the Nyström Method to Speed Up Kernel Machines, NIPS 2000.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 3))
    >>> y = np.where(np.abs(X - 0.5).sum(axis=1) < 0.7, "centre", "rim")
    >>> model = LandmarkSVC("exp-js", n_landmarks=50, C="auto").fit(X[:200], y[:200])
    >>> model.score(X[200:], y[200:]) > 0.9, model.width_choice_.fractions[0]
    (True, 1.0)
    """

    kernel: str = "exp-chi2"
    n_landmarks: int = 1000
    C: Any = 1.0
    _: KW_ONLY
    sigma: Any = "auto"
    landmarks: str = "kmeans"

    _stored = _STORED
    _check_stored = staticmethod(check_landmarks)
    _read = staticmethod(read_landmarks)

    def _make_map(self) -> LandmarkMap:
        return LandmarkMap(
            self.kernel, self.n_landmarks, self.landmarks, self.sigma, self.random_state
        )

    def _model_weights(self, fitted_map: LandmarkMap, coef: NDArray[np.float32]) -> NDArray:
        self.map_coef_ = coef
        return coef.astype(np.float64) @ fitted_map.whitening_.T

    def _keep(self, fitted_map: LandmarkMap, weights: NDArray, intercept: NDArray) -> None:
        self.map_, self.sigma_ = fitted_map, fitted_map.sigma_
        self.landmark_coef_, self.intercept_ = weights, intercept.astype(np.float64)
        parts = matrix_arrays("landmarks", self.map_.landmarks_)
        self.model_bytes_ = sum(a.nbytes for a in (weights, self.intercept_, *parts.values()))

    def at_widths(
        self, X: Any, y: NDArray, weights: NDArray, mean: float
    ) -> Callable[[float], Predict]:
        """Return a function that makes the ``predict`` of a width.

        The landmarks are chosen at the mean width, and the distances to them are computed once.

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
            that the model gives.

        Returns
        -------
        callable
            ``at(sigma)`` returns the ``predict`` of :func:`kmaps.models.cross_validate` for a
            width ``sigma`` > 0, as :func:`kmaps.models.along_c` makes it.
        """
        model = clone(self).set_params(sigma=mean, probability=None, verbose=0)
        model.set_params(tol=max(self.tol, FOLD_TOL))
        fitted = model._make_map().fit(X)
        squared = squared_distance(X, fitted.landmarks_, kernel=self.kernel)

        def at(sigma: float) -> Predict:
            narrowed = fitted.with_sigma(sigma)
            rows = MappedRows(narrowed, None, narrowed.of_distances(squared))
            return along_c(model, rows, y, weights=weights)

        return at

    def _scores(self, X: Any) -> NDArray:
        return product(self.map_.kernel_values(X), self.landmark_coef_.T) + self.intercept_

    def add_to_graph(self, graph: Any, x: Any) -> None:
        """Add the outputs of the model to an ONNX graph.

        Parameters
        ----------
        graph : Graph
            The graph, of `kmaps.onnx_graph`, to which nodes and outputs are added.
        x : Tensor
            Rows (n, d) in it.
        """
        values = self.map_.kernel_values_in(graph, x)
        self._add_outputs(graph, graph.affine(values, self.landmark_coef_.T, self.intercept_))

    def _parts(self) -> tuple[dict[str, NDArray], dict[str, Any]]:
        landmarks = matrix_arrays("landmarks", self.map_.landmarks_)
        return {"landmark_coef": self.landmark_coef_, **landmarks}, {}

    def _stored_map(self, stored: StoredLinear) -> LandmarkMap:
        landmarks = csr_or_dense(stored.landmarks, stored.n_features)
        return self._make_map().with_landmarks(landmarks, stored.sigma)
