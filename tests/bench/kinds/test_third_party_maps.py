"""Third-party maps as rows of approximations."""

import numpy as np
import pytest
from measured import cells_of, measured
from sklearn.kernel_approximation import AdditiveChi2Sampler

SAMPLER = "{estimator: sklearn.kernel_approximation.AdditiveChi2Sampler, params: {sample_steps: 2}}"
TEXT = """\
experiment: theirs
kind: approximation
kernels: [chi2, js]
ranges: ["0:1"]
maps:
  - ENTRY
  - {map: homogeneous, order: 2}
"""


def test_errors_are_those_of_their_outputs():
    cell = cells_of(TEXT.replace("ENTRY", SAMPLER))[0]
    found = measured(cell).columns
    x = np.linspace(0, 1, 256)[:, None]
    outputs = AdditiveChi2Sampler(sample_steps=2).fit_transform(x)
    error = outputs @ outputs.T - 2 * x * x.T / np.maximum(x + x.T, 1e-300)
    assert (cell.row.method, found["dim"]) == (
        "sklearn.kernel_approximation.AdditiveChi2Sampler",
        3,
    )
    assert found["linf"] == pytest.approx(np.abs(error).max(), rel=1e-9)
    assert found["rms"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-9)


def test_they_are_given_the_kernel():
    cells = cells_of(TEXT.replace("ENTRY", "{estimator: kmaps.HomogeneousMap, params: {order: 2}}"))
    theirs = [measured(cell).columns["linf"] for cell in cells[:2]]
    assert theirs == [measured(cell).columns["linf"] for cell in cells[2:]]
    assert theirs[0] != theirs[1]
