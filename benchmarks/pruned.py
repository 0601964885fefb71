"""The test of exact exp-chi2 against that of its random map, pruned or resampled.

On edge pyramids of the Daimler pedestrians where they have been downloaded, else on the digits of
scikit-learn. The names say which accuracy each has, in percent.
"""

from typing import Any

from sklearn.datasets import load_digits

from benchmarks.measure import Pair
from kmaps import GeneralizedRBFMap, GroupLassoSVC, KernelSVC, LiblinearSVC, prune, resample
from kmaps.bench.work.samples import load_split
from kmaps.errors import DataError
from kmaps.features import make_feature

_DRAWN = 4000
_KEPT = 500


def pairs() -> list[Pair]:
    x_train, y_train, x_test, y_test = _samples()
    exact = KernelSVC("exp-chi2", 10.0, solver="libsvm", multiclass="ovr").fit(x_train, y_train)
    feature_map = GeneralizedRBFMap("chi2", n_frequencies=_DRAWN).fit(x_train)
    group = GroupLassoSVC(3.0, tol=1e-2).fit(feature_map.transform(x_train), y_train)
    few = resample(feature_map, x_train, y_train, _KEPT)
    dense = LiblinearSVC(10.0, loss="hinge", tol=0.1).fit(few.transform(x_train), y_train)

    def accuracy(model: Any, rows: Any) -> str:
        return f"{100 * model.score(rows, y_test):.1f} %"

    return [
        Pair(
            f"{name} to {len(own.frequency_indices_)}: {accuracy(model, own.transform(x_test))}",
            lambda own=own, model=model: model.predict(own.transform(x_test)),
            f"exact exp-chi2: {accuracy(exact, x_test)}",
            lambda: exact.predict(x_test),
            runs=3,
        )
        for name, (own, model) in (("prune", prune(feature_map, group)), ("resample", (few, dense)))
    ]


def _samples() -> tuple:
    try:
        protocol = {"train": 2000, "test": 4000}
        split = load_split("daimler", protocol, 0, make_feature("phog"), "l1")
        return split.x_train, split.y_train, split.x_test, split.y_test
    except DataError:
        X, y = load_digits(return_X_y=True)
        return X[:900], y[:900], X[900:], y[900:]
