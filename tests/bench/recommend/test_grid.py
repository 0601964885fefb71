"""The machines that are compared, and what is known of them beforehand."""

import numpy as np
import pytest

from kmaps.bench.kinds import KINDS
from kmaps.bench.recommend import grid
from kmaps.bench.recommend.sample import Sample
from kmaps.bench.work.storage import storage
from kmaps.kernels import KERNELS
from kmaps.maps import RandomFourierMap
from kmaps.svm import LiblinearSVC

RNG = np.random.default_rng(0)


def sample(n_classes, n=60):
    return Sample(RNG.random((n, 4)), np.arange(n) % n_classes, n)


def rows(folder, n_classes, **options):
    """Return the method, kernel, frequencies and reduction of each machine."""
    data = sample(n_classes)
    experiment = grid.write_experiment(data, folder, grid.content(data, hold_out=0.3, **options))
    cells = KINDS["classification"].cells(experiment)
    return [(c.row.method, c.kernel, c.row.params.get("n_frequencies"), c.reduction) for c in cells]


def test_every_machine_has_both_reductions_of_few_classes(tmp_path):
    found = rows(tmp_path, 3)
    assert len(found) == len(set(found)) == 22
    assert {row[:3] for row in found if row[3] == "ovo"} == {
        row[:3] for row in found if row[3] == "ovr"
    }


@pytest.mark.parametrize("n_classes", [2, 21])
def test_two_classes_and_many_have_one_reduction(tmp_path, n_classes):
    assert {row[3] for row in rows(tmp_path, n_classes)} == {"ovr"}


def test_exact_machines_alone(tmp_path):
    found = rows(tmp_path, 2, exact_only=True)
    assert found == [("exact-coded", kernel, None, "ovr") for kernel in KERNELS]


def test_what_is_known_to_store_more_is_not_measured(tmp_path):
    least = grid.random_bytes(500, 42, 2)
    assert {row[2] for row in rows(tmp_path, 2, max_bytes=least)} == {None, 500}
    assert {row[2] for row in rows(tmp_path, 2, max_bytes=least - 1)} == {None}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_least_that_random_frequencies_store_is_no_more_than_they_do(n_classes):
    data = sample(n_classes)
    feature_map = RandomFourierMap(n_frequencies=50).fit(data.X)
    encoded = feature_map.transform(data.X.astype(np.float32))
    model = LiblinearSVC().fit(encoded, data.y)
    stored = storage(data.X, feature_map, encoded, model.model_bytes_)["storage_bytes"]
    assert 0.9 * stored < grid.random_bytes(50, len(data.y), n_classes) <= stored
