"""Training on codes against LIBLINEAR on features and LIBSVM on Gram matrices.

The histograms are like those of the Daimler pedestrians: dense, and 23 % of them inside the margin.
LIBLINEAR stops at its own tolerance, ours at a gap of 0.1 %: its objective is 0.07 % above ours.
The digits are MNIST's where they have been downloaded; else those of scikit-learn, enlarged to
28 × 28, shifted and with noise: four fifths of them zero.

Ratios are of one thread each; those of exp-chi2, and what has only a limit, of all threads.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from liblinear import liblinear
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from benchmarks.measure import MEMORY, PROCESS, Limit, Pair
from kmaps import CodedSVC, HomogeneousMap, KernelSVC, LiblinearSVC, threads
from kmaps.data import load_dataset
from kmaps.errors import DataError

_ROWS = 19_600
_FEW = 1000  # rows that the package's own conversion, a loop in Python, gets
_MANY = 16_000

# Bytes from 0 to 255 instead of values up to 1: the kernel is 255 times as large.
_MNIST_IN_BYTES = """
from kmaps import CodedSVC
from kmaps.data import load_dataset
data = load_dataset("mnist")
train = data.groups == "train"
X, y = data.images[train].reshape(-1, 784), data.y[train]
del data
CodedSVC("chi2", 0.1 / 255, bias=255**0.5).fit(X, y)
"""


def pairs() -> list[Pair | Limit]:
    return _against_liblinear() + _against_libsvm() + _exponential()


def _against_liblinear() -> list[Pair | Limit]:
    X, y = histograms(_ROWS)
    feature_map = HomogeneousMap().fit(X)
    return [
        Pair(
            "map to features, convert, train",
            _alone(lambda: _coded(HomogeneousMap(), X, y, tol=1e-3)),
            "the same by LiblinearSVC",
            _alone(lambda: _linear(feature_map.transform(X), y)),
            at_least=6,
            runs=3,
            headline="chi2 map and linear SVM, 19,600 histograms of 1,404 bins",
            rival="LIBLINEAR on the map",
        ),
        Pair(
            "memory it takes beside the input",
            _coded_histograms,
            "the same by LiblinearSVC",
            _linear_histograms,
            at_least=30,
            runs=1,
            quantity=MEMORY,
            headline="memory for that, beside the rows",
            rival="LIBLINEAR on the map",
        ),
        Pair(
            f"the same, {_FEW} rows",
            _alone(lambda: _coded(HomogeneousMap(), X[:_FEW], y[:_FEW])),
            "LIBLINEAR's own package",
            _alone(lambda: _packaged(feature_map.transform(X[:_FEW]), y[:_FEW])),
            at_least=10,
            runs=3,
        ),
    ]


def _against_libsvm() -> list[Pair | Limit]:
    is_mnist, digits, labels, new = _digits()
    most = 10_000
    coded = _alone(lambda: _coded("chi2", digits[:most], labels[:most], 0.1))()
    exact = _alone(lambda: _exact(digits[:most], labels[:most]))()
    trained = [
        Pair(
            f"exact chi2 on {n} digits",
            _alone(lambda n=n: _coded("chi2", digits[:n], labels[:n], 0.1)),
            "Gram matrix and LIBSVM",
            _alone(lambda n=n: _exact(digits[:n], labels[:n])),
            at_least=at_least,
            runs=1,
            headline=f"exact chi2 SVM, {n:,} images of 784 pixels" if n == most else "",
            rival="Gram matrix and LIBSVM",
        )
        for n, at_least in ((2000, None), (5000, None), (most, 5))
    ]
    scored = Pair(
        f"score {len(new)} digits",
        _alone(lambda: coded.decision_function(new)),
        f"LIBSVM's model of {most}",
        _alone(lambda: exact.decision_function(new)),
        at_least=50,
        runs=3,
        headline=f"its scores of {len(new):,} images",
        rival="LIBSVM's model",
    )
    whole = Limit(
        f"exact chi2 on {len(digits)} digits",
        lambda: _coded("chi2", digits, labels, 0.1),
        at_most=45_000,
    )
    memory = Limit("all memory of that, from bytes", _MNIST_IN_BYTES, 400, PROCESS)
    return [*trained, scored, whole, *([memory] if is_mnist else [])]


def _exponential() -> list[Pair | Limit]:
    """Return the pairs of the exact exponential kernel, all of the same steps and tolerance."""
    digits, labels = some_digits(_MANY)
    return [
        Pair(
            f"exact exp-chi2 on {_MANY} digits",
            lambda: _exponential_model("smo", digits, labels),
            "the same by LIBSVM",
            lambda: _exponential_model("libsvm", digits, labels),
            at_least=5,
            runs=1,
            headline=f"exact exp-chi2 SVM, {_MANY:,} images of 784 pixels",
            rival="Gram matrix and LIBSVM",
        ),
        Pair(
            "memory it takes beside the input",
            partial(_compiled_exponential, "smo"),
            "the same by LIBSVM",
            partial(_compiled_exponential, "libsvm"),
            at_least=3,
            runs=1,
            quantity=MEMORY,
        ),
        Pair(
            f"exact rbf on {_MANY // 4} digits",
            _alone(lambda: _rbf(digits[::4], labels[::4])),
            "scikit-learn's SVC",
            _alone(lambda: SVC(C=10.0, gamma=1 / 98).fit(digits[::4], labels[::4])),
            at_least=3,
            runs=1,
        ),
    ]


def histograms(n: int, n_blocks: int = 156, n_bins: int = 9, seed: int = 0):
    """Return histograms of two classes, each block of bins with the same sum."""
    shapes, rng = np.random.default_rng(8), np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    d = n_blocks * n_bins
    shape, lean = 0.8 * np.exp(shapes.normal(0, 0.5, d)), np.exp(shapes.normal(0, 0.05, d))
    of_rows = np.where(y[:, None] == 1, shape * lean, shape / lean).astype(np.float32)
    X = rng.standard_gamma(of_rows, dtype=np.float32).reshape(n, n_blocks, n_bins)
    X /= (X.sum(axis=2, keepdims=True) + 1e-3) * n_blocks
    return X.reshape(n, d), y


def some_digits(n: int):
    """Return n digits with labels, MNIST's where they have been downloaded."""
    _, digits, labels, _ = _digits()
    return digits[:n], labels[:n]


def _digits():
    """Return whether they are MNIST's, 60,000 digits with labels, and 10,000 more without."""
    try:
        data = load_dataset("mnist")
    except DataError:
        digits, labels = _enlarged_digits(70_000)
        return False, digits[:60_000], labels[:60_000], digits[60_000:]
    pixels = data.images.reshape(len(data.y), -1) / np.float32(255)
    train = data.groups == "train"
    return True, pixels[train], data.y[train], pixels[~train]


def _enlarged_digits(n: int):
    """Return n images of digits, 784 grey values in [0, 1], and which digits they are."""
    rng = np.random.default_rng(0)
    small, y = load_digits(return_X_y=True)
    chosen = rng.integers(0, len(y), n)
    images = np.zeros((n, 28, 28), np.uint8)
    for i, (down, right) in enumerate(rng.integers(0, 5, (n, 2))):
        large = np.kron(small[chosen[i]].reshape(8, 8) * (255 / 16), np.ones((3, 3)))
        noise = (large > 60) * rng.uniform(0.6, 1, large.shape)
        images[i, down : down + 24, right : right + 24] = large * noise
    return images.reshape(n, -1) / np.float32(255), y[chosen]


def _coded_histograms():
    """Return the training on codes, with everything it needs compiled."""
    X, y = histograms(_ROWS)
    _coded(HomogeneousMap(), X[:_FEW], y[:_FEW])
    return _alone(lambda: _coded(HomogeneousMap(), X, y))


def _linear_histograms():
    X, y = histograms(_ROWS)
    feature_map = HomogeneousMap().fit(X)
    _linear(feature_map.transform(X[:_FEW]), y[:_FEW])
    return _alone(lambda: _linear(feature_map.transform(X), y))


def _compiled_exponential(solver: str) -> Callable[[], KernelSVC]:
    """Return the training, with everything it needs compiled."""
    digits, labels = some_digits(_MANY)
    _exponential_model(solver, digits[:_FEW], labels[:_FEW])
    return lambda: _exponential_model(solver, digits, labels)


def _alone(function):
    def run():
        with threads(1):
            return function()

    return run


def _coded(feature_map, X, y, C=1.0, tol=1e-4):
    return CodedSVC(feature_map, C, tol=tol).fit(X, y)


def _linear(E, y):
    return LiblinearSVC(C=1.0, loss="hinge", tol=0.1).fit(E, y)


def _packaged(E, y):
    task = liblinear.problem(y, E, 1.0)
    return liblinear.liblinear.train(task, liblinear.parameter("-s 3 -c 1 -B 1 -q"))


def _exact(X, y):
    return KernelSVC("chi2", 0.1, solver="libsvm", multiclass="ovr").fit(X, y)


def _exponential_model(solver, X, y):
    return KernelSVC("exp-chi2", 10.0, solver=solver).fit(X, y)


def _rbf(X, y):
    return KernelSVC("rbf", 10.0, sigma=7.0).fit(X, y)
