"""Trade-off studies: what a trial measures, what is left of a map, what is drawn."""

from typing import get_args

import numpy as np
import pytest
from PIL import Image

from kmaps import GeneralizedRBFMap, KernelSVC
from kmaps.bench.figures import tradeoff as tradeoff_plots
from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.study import run_study, study_cells
from kmaps.bench.kinds.study_spec import TradeOffLearner
from kmaps.bench.records.claims import check_claim
from kmaps.bench.records.file import read_records
from kmaps.bench.report.page import report
from kmaps.bench.report.tradeoff import means
from kmaps.bench.work.trials import CHOOSERS, LEARNERS, Trials, load_samples
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
  - {name: resampled, C: [10], keep: [20]}
figures: [trade-off, sparsity]
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thin")
    return folder, run_study(spec.parse(STUDY), folder)


def test_measures_every_cell(run):
    records = read_records(run[0])
    assert len(records) == len(study_cells(spec.parse(STUDY))) == 1 + 6 * 2
    assert {record["status"] for record in records} == {"ok"}
    assert all(record["predict_s"] > 0 and record["accuracy"] > 0.7 for record in records)
    assert run_study(spec.parse(STUDY), run[0]).measured == 0


def test_counts_the_projections_that_are_left(run):
    points = means(read_records(run[0]))
    assert list(points) == ["exact chi2", "dense", "sparse-svm", "group", "strongest", "resampled"]
    [dense], [strongest], [resampled] = (
        points[name] for name in ("dense", "strongest", "resampled")
    )
    assert (dense["kept"], strongest["kept"], resampled["kept"]) == (60, 20, 20)
    assert dense["drawn"] == resampled["drawn"] == 60
    assert all(point["kept"] <= 60 for point in points["sparse-svm"])
    assert points["sparse-svm"][0]["C"] == 1


def point(drawn, C, told=0):
    return {"drawn": drawn, "C": C, "told": told}


@pytest.mark.parametrize(
    ("points", "lines"),
    [
        ([(9, 1), (3, 1)], {"": [(3, 1), (9, 1)]}),  # over the projections drawn
        (
            [(3, 2), (9, 1), (3, 1), (9, 2)],
            {", C = 1": [(3, 1), (9, 1)], ", C = 2": [(3, 2), (9, 2)]},
        ),
        ([(3, 4), (3, 1), (3, 2)], {", m = 3": [(3, 1), (3, 2), (3, 4)]}),  # over C
        ([(9, 1, 5), (3, 1, 2), (9, 1, 2)], {" of 9": [(9, 1, 2), (9, 1, 5)]}),  # over those kept
    ],
)
def test_lines_go_over_what_was_varied(points, lines):
    joined = tradeoff_plots._lines([point(*values) for values in points])
    assert dict(joined) == {what: [point(*values) for values in own] for what, own in lines.items()}


def test_draws_and_reports(run):
    for name in ("trade-off", "sparsity"):
        with Image.open(run[0] / f"{name}.png") as image:
            assert min(image.size) > 400
    page = report(read_records(run[0]))
    assert "strongest generalized-rbf n_frequencies=60 C=10.0 keep=20" in page


def test_the_report_has_the_points(run):
    page = report(read_records(run[0]))
    (line,) = [line for line in page.splitlines() if line.startswith("| strongest |")]
    assert line.startswith("| strongest | 10 | 60 | 20 |")
    assert page.count("| sparse-svm | ") == 2


def test_the_exact_kernel_stands_beside_every_draw(run):
    records = read_records(run[0])
    (finding,) = check_claim(
        {
            "left": {"learner": "dense"},
            "right": {"learner": "exact", "kernel": "chi2", "C": 1},
            "relation": "above",
            "measure": "accuracy",
        },
        records,
    )
    exact, *draws = [
        record["accuracy"] for record in records if record["learner"]["name"] in ("exact", "dense")
    ]
    assert len(draws) == 2
    assert finding.value == pytest.approx(100 * (sum(draws) / 2 - exact))


def test_a_pilot_is_shared_but_changes_nothing():
    study = spec.parse(STUDY)
    data, x = study.dataset, study.features
    samples = load_samples(data.name, data.protocol, x.name, x.normalize, x.parameters)
    encoder = GeneralizedRBFMap(n_frequencies=60, random_state=1)
    strongest = {"name": "strongest", "C": 10.0, "keep": 20}
    alone = Trials(samples).learner(encoder, strongest)
    trials = Trials(samples)
    trials.learner(encoder, {"name": "dense", "C": 10.0})
    assert trials.learner(encoder, strongest)["accuracy"] == alone["accuracy"]
    other = trials.learner(GeneralizedRBFMap(n_frequencies=61, random_state=1), strongest)
    assert other["encode_s"] != alone["encode_s"]


def test_detectors_of_classes_have_average_precision():
    study = spec.parse(STUDY.replace("draws: 2", "classes: ['3', '8']\ndraws: 1"))
    data, x = study.dataset, study.features
    samples = load_samples(
        data.name, data.protocol, x.name, x.normalize, x.parameters, study.classes
    )
    measured = Trials(samples).exact("exp-chi2", 10.0)
    x_train, x_test = samples.x_train, samples.x_test
    expected = []
    for (_, truth), (y, _) in zip(samples.tasks, samples.tasks, strict=True):
        scores = KernelSVC("exp-chi2", C=10.0).fit(x_train, y).decision_function(x_test)
        ranked = truth[np.argsort(-scores)]
        precision = np.cumsum(ranked) / np.arange(1, len(ranked) + 1)
        expected.append(precision[ranked == 1].mean())
    assert 0 < sum(samples.tasks[0][0]) < 0.2 * len(x_train)
    assert measured["average_precision"] == pytest.approx(np.mean(expected))
    assert "accuracy" not in measured
    with pytest.raises(ConfigError, match="no '33'"):
        load_samples(data.name, data.protocol, x.name, x.normalize, x.parameters, ["33"])


def test_learners_are_those_of_the_file():
    names = get_args(TradeOffLearner.model_fields["name"].annotation)
    assert set(names) == {*LEARNERS, *CHOOSERS}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", keep: [20]", "", "strongest and resampled need keep"),
        ("name: group", "name: groups", r"14:5: "),
        ("C: [1]}", "C: [0]}", "greater than 0"),
        ("figures: [trade-off", "figures: [trade", "trade-off"),
    ],
)
def test_mistakes_have_their_place(old, new, message):
    assert old in STUDY
    with pytest.raises(ConfigError, match=r"experiment.yaml:\d+:\d+: "):
        spec.parse(STUDY.replace(old, new))
