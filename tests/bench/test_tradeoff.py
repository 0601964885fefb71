"""Trade-off studies: what a trial measures, what is left of a map, what is drawn."""

from typing import get_args

import pytest
from PIL import Image

from kmaps.bench import spec
from kmaps.bench.records import read_records
from kmaps.bench.report import report
from kmaps.bench.study import run_study, study_cells
from kmaps.bench.study_spec import TradeOffLearner
from kmaps.bench.tradeoff import LEARNERS
from kmaps.bench.tradeoff_plots import means
from kmaps.errors import ConfigError

STUDY = """\
experiment: thin
kind: trade-off
dataset: {name: digits, train: 200, test: 300}
features: {name: intensity, normalize: l1}
kernels: [exp-chi2]
exact:
  - {kernel: chi2, C: [1]}
draws: 2
maps:
  - {map: generalized-rbf, n_frequencies: [60]}
learners:
  - {name: dense, C: [10]}
  - {name: sparse-svm, C: [1, 10]}
  - {name: group, C: [0.3]}
  - {name: strongest, C: [10], keep: [20]}
figures: [trade-off, sparsity]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thin")
    return folder, run_study(spec.parse(STUDY), folder)


def test_measures_every_cell(run):
    records = read_records(run[0])
    assert len(records) == len(study_cells(spec.parse(STUDY))) == 1 + 5 * 2
    assert {record["status"] for record in records} == {"ok"}
    assert all(record["predict_s"] > 0 and record["accuracy"] > 0.7 for record in records)
    assert run_study(spec.parse(STUDY), run[0]).measured == 0


def test_counts_the_projections_that_are_left(run):
    points = means(read_records(run[0]))
    assert list(points) == ["exact chi2", "dense", "sparse-svm", "group", "strongest"]
    [dense], [strongest] = points["dense"], points["strongest"]
    assert (dense["kept"], strongest["kept"], dense["drawn"]) == (60, 20, 60)
    assert all(point["kept"] <= 60 for point in points["sparse-svm"])
    assert points["sparse-svm"][0]["C"] == 1


def test_draws_and_reports(run):
    for name in ("trade-off", "sparsity"):
        with Image.open(run[0] / f"{name}.png") as image:
            assert min(image.size) > 400
    page = report(read_records(run[0]))
    assert "strongest generalized-rbf n_frequencies=60 C=10.0 keep=20" in page


def test_learners_are_those_of_the_file():
    names = get_args(TradeOffLearner.model_fields["name"].annotation)
    assert set(names) == set(LEARNERS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", keep: [20]", "", "strongest needs keep"),
        ("name: group", "name: groups", r"14:5: "),
        ("C: [1]}", "C: [0]}", "greater than 0"),
        ("figures: [trade-off", "figures: [trade", "trade-off"),
    ],
)
def test_mistakes_have_their_place(old, new, message):
    assert old in STUDY
    with pytest.raises(ConfigError, match=r"experiment.yaml:\d+:\d+: "):
        spec.parse(STUDY.replace(old, new))
