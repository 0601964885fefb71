"""How far probabilities are from how often they are right, by the ways to learn them.

The expected calibration error (in thousandths) of `CodedSVC` and of scikit-learn's
`CalibratedClassifierCV` around it, on halves of the digits; the mean of three random halves.
scikit-learn has temperatures from version 1.8 on.
"""

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits

from benchmarks.measure import Pair, Quantity
from kmaps import CodedSVC
from kmaps.models.evaluation import calibration

_ERROR = Quantity(lambda function: function(), 1e3, "/ 1000", "less", warm_up=False)


def pairs() -> list[Pair]:
    return [
        Pair(
            way,
            lambda way=way: _error(CodedSVC("chi2", probability=way)),
            "CalibratedClassifierCV",
            lambda way=way: _error(CalibratedClassifierCV(CodedSVC("chi2"), method=way, cv=5)),
            runs=1,
            quantity=_ERROR,
        )
        for way in ("temperature", "isotonic", "sigmoid")
    ]


def _error(model: CodedSVC | CalibratedClassifierCV) -> float:
    X, y = load_digits(return_X_y=True)
    X, half, errors = X.astype(np.float32), len(y) // 2, []
    for draw in range(3):
        order = np.random.default_rng(draw).permutation(len(y))
        train, test = order[:half], order[half:]
        probabilities = model.fit(X[train], y[train]).predict_proba(X[test])
        errors.append(calibration(y[test], probabilities).error)
    return float(np.mean(errors))
