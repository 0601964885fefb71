"""Studies of random maps: the parts of their error, how they fall, what is drawn of them."""

import numpy as np
import pytest
from PIL import Image

from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.study import run_study
from kmaps.bench.records.file import read_records
from kmaps.bench.report.convergence import convergence, convergence_table
from kmaps.bench.report.page import report
from kmaps.bench.work.random_errors import random_errors
from kmaps.errors import ConfigError
from kmaps.maps import GeneralizedRBFMap, HomogeneousMap

STUDY = """\
experiment: random
kind: random-features
dataset: {name: digits, train: 60, test: 50}
features: {name: intensity, normalize: l1}
kernels: [exp-chi2, exp-intersection]
draws: 12
maps:
  - {map: generalized-rbf, order: [1, 3], structure: dense, n_frequencies: [64, 256, 1024]}
  - {map: generalized-rbf, order: 2, structure: orthogonal, n_frequencies: [320, 640, 1280]}
  - {map: generalized-rbf, order: 2, structure: fastfood, n_frequencies: [512, 1024, 2048]}
  - {map: random-fourier, sigma: null, n_frequencies: [64, 256, 1024]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("random")
    return folder, run_study(spec.parse(STUDY), folder)


def test_random_part_falls_as_one_over_the_root_of_m(run):
    rows = convergence(read_records(run[0]))
    assert len(rows) == 2 * 4 + 1
    assert {row.kernel for row in rows} == {"exp-chi2", "exp-intersection", "rbf"}
    for row in rows:
        assert row.exponent == pytest.approx(-0.5, abs=0.05)


def test_additive_part_stays_and_falls_with_the_order(run):
    additive = {(row.kernel, row.label): row.additive_rms for row in convergence(run[1].records)}
    for kernel in ("exp-chi2", "exp-intersection"):
        first, third = (
            additive[kernel, f"generalized-rbf order={n} structure=dense"] for n in (1, 3)
        )
        assert first > 1.5 * third > 0
    assert additive["rbf", "random-fourier sigma=None"] == 0


def test_parts_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 20, 6))
    found = random_errors(GeneralizedRBFMap("chi2", 1, 50, sigma=0.8), "exp-chi2", x, y, draws=2)
    exact = np.exp(-((y[:, None] - x) ** 2 / (y[:, None] + x)).sum(-1) / (2 * 0.8**2))
    Psi_x, Psi_y = (HomogeneousMap().fit_transform(part) for part in (x, y))
    limit = np.exp(-((Psi_y[:, None] - Psi_x) ** 2).sum(-1) / (2 * 0.8**2))
    products = []
    for seed in range(2):
        encoder = GeneralizedRBFMap("chi2", 1, 50, sigma=0.8, random_state=seed).fit(x)
        products.append(encoder.transform(y) @ encoder.transform(x).T)
    products = np.array(products)
    for name, errors in (
        ("rms", products - exact),
        ("random_rms", products - limit),
        ("additive_rms", limit - exact),
    ):
        assert getattr(found, name) == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-4)
    assert found.linf == pytest.approx(np.abs(products - exact).max(), rel=1e-4)
    assert found.dim == 100


def test_a_kernel_that_is_none_of_distances_is_refused():
    with pytest.raises(ConfigError, match="kernel 'chi2': expected rbf or an exp- kernel"):
        random_errors(GeneralizedRBFMap(), "chi2", np.eye(3), np.eye(3), draws=1)


def test_same_again_does_nothing_and_draws_what_is_missing(run):
    folder, first = run
    written = (folder / "records.jsonl").read_bytes()
    assert first.measured == 27
    (folder / "convergence.png").unlink()
    assert run_study(spec.parse(STUDY), folder).measured == 0
    assert (folder / "records.jsonl").read_bytes() == written
    with Image.open(folder / "convergence.png") as image:
        assert len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_page_has_the_exponents(run):
    records = read_records(run[0])
    page = report(records)
    assert "## Convergence" in page
    assert convergence_table(records) in page
    assert "| rbf | random-fourier sigma=None | m^-0." in page


def test_maps_that_draw_nothing_are_refused():
    with pytest.raises(ConfigError, match="map HomogeneousMap: draws no projections"):
        random_errors(HomogeneousMap(), "exp-chi2", np.eye(3), np.eye(3), draws=1)
