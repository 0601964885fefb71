"""Convergence of random maps: power laws of records, and their table."""

import numpy as np
import pytest

from kmaps.bench.report.convergence import convergence, convergence_table
from tests.bench.sample_records import record


def drawn(m, power=-0.5, kernel="exp-chi2", **params):
    errors = {"rms": m**power + 0.1, "random_rms": m**power, "additive_rms": 0.1}
    params = {"n_frequencies": m, **params}
    return record("generalized-rbf", params=params, kernel=kernel, dim=2 * m, **errors)


def test_exponents_are_those_of_the_largest_sizes_whatever_the_order():
    records = [drawn(m) for m in (1600, 100, 400, 6400)] + [drawn(50) | {"random_rms": 9.0}]
    records.append(drawn(3) | {"status": "failed", "random_rms": None})
    (row,) = convergence(records)
    assert row.exponent == pytest.approx(-0.5)
    assert row.sizes.tolist() == [50, 100, 400, 1600, 6400]
    np.testing.assert_allclose(row.rms[1:], row.sizes[1:] ** -0.5 + 0.1)
    assert row.additive_rms == 0.1


def test_rows_differ_in_parameters_and_kernels_but_for_the_projections():
    records = [
        drawn(m, kernel=kernel, structure=structure)
        for m in (100, 200)
        for kernel in ("exp-chi2", "exp-js")
        for structure in ("dense", "fastfood")
    ]
    assert [(row.kernel, row.label) for row in convergence(records)] == [
        *(("exp-chi2", "random map, dense"), ("exp-chi2", "random map, Fastfood")),
        *(("exp-js", "random map, dense"), ("exp-js", "random map, Fastfood")),
    ]


def test_table():
    assert convergence_table([drawn(m, -1) for m in (100, 10000)]).splitlines()[2:] == [
        "| exp-chi2 | random map | m^-1.000 | 10,000 | 0.00010 | 0.10000 | 0.10010 |"
    ]
