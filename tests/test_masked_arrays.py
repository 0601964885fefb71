"""No estimator takes the values below a mask for data."""

import numpy as np
import pytest

import kmaps
from kmaps.errors import InputError

X = np.random.default_rng(0).random((12, 4))
HIDDEN = np.ma.masked_array(X, mask=X < 0.2)
ESTIMATORS = [
    getattr(kmaps, name) for name in kmaps.__all__ if hasattr(getattr(kmaps, name), "fit")
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_masks_are_refused(estimator):
    given = [kmaps.HomogeneousMap()] if estimator is kmaps.ProductMap else []
    with pytest.raises(InputError, match="a masked array, whose masked values would count"):
        estimator(*given).fit(HIDDEN, np.arange(12) % 2)


def test_masks_are_refused_in_prediction_and_labels_and_may_be_empty():
    y = np.arange(12) % 2
    model = kmaps.CodedSVC().fit(np.ma.masked_array(X), y)
    for refused in (lambda: model.predict(HIDDEN), lambda: model.fit(X, np.ma.masked_less(y, 1))):
        with pytest.raises(InputError, match="a masked array"):
            refused()
