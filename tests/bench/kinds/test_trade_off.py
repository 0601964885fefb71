"""Trade-offs: every learner on every draw, in batches of one draw."""

import re

import numpy as np
import pytest
from measured import TOLD, cells_of, measured
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from spec_text import refuses, text_of

from kmaps import KernelSVC, gram
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.kind import SampledKind
from kmaps.bench.records.file import read_records
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.run.measure import measure_cell
from kmaps.bench.run.runner import run
from kmaps.bench.work.trials import LEARNERS, Folds, Trials, tasks_of
from kmaps.maps import GeneralizedRBFMap
from kmaps.models import stratified_order

KIND = KINDS["trade-off"]

TEXT = text_of("trade-off")


FOLD = np.arange(200) % 3  # of samples in the order of the labels
CHOICE = ("cv_C", "cv_accuracy", "cv_se", "cv_s")


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thin")
    return folder, run(spec.parse(TEXT), folder)


def test_measures_every_cell(done):
    folder, outcome = done
    records = read_records(folder)
    assert outcome.measured == len(records) == len(cells_of(TEXT)) == 2 + 6 * 2
    assert [record["error"] for record in records] == [""] * 14
    assert all(record["predict_s"] > 0 and record["accuracy"] > 0.7 for record in records)
    assert run(spec.parse(TEXT), folder).measured == 0


def test_counts_the_frequencies_that_are_left(done):
    kept = {
        (record["learner"]["name"], record["C"], record["draw"]): record["dim"] / 2
        for record in done[1].records
        if record["method"] != "exact"
    }
    for draw in (0, 1):
        assert kept["dense", 10, draw] == 60
        assert kept["strongest", 10, draw] == kept["resampled", 10, draw] == 20
        assert kept["sparse-svm", 1, draw] <= kept["sparse-svm", 10, draw] <= 60


def test_the_table_says_what_its_means_are_over(done):
    [section] = KIND.shown.sections(done[1].records)  # the splits: on published pages
    assert section.parts[0].text == "Mean ± std over the draws."


def test_a_batch_is_one_draw_of_one_map():
    two_maps = TEXT.replace("[60]", "[60, 90]")
    cells = cells_of(two_maps)
    batches = KIND.batches(cells)
    assert [len(batch) for batch in batches] == [1, 1, *[6] * 4]
    assert [cell for batch in batches for cell in batch] == cells
    for batch in batches[2:]:
        assert len({(cell.draw, cell.row.params["n_frequencies"]) for cell in batch}) == 1
    # Two exact kernels need nothing of each other, and neither do kernels of one draw's number.
    kernels = cells_of(TEXT.replace("kernels: [exp-chi2]", "kernels: [exp-chi2, exp-js]"))
    assert [len(batch) for batch in KIND.batches(kernels)] == [1, 1, *[6] * 4]
    cells = cells_of(TEXT)  # some of which are done
    left = cells[1:3] + cells[5:9] + cells[13:]
    batches = KIND.batches(left)
    assert [len(batch) for batch in batches] == [1, 4, 2]
    assert [cell for batch in batches for cell in batch] == left
    assert [{cell.draw for cell in batch} for batch in batches] == [{None}, {0}, {1}]


def test_a_warm_up_leaves_the_draw_of_the_batch_alone(monkeypatch):
    batch = KIND.batches(cells_of(TEXT))[-1]
    seen = []
    fit = GeneralizedRBFMap.fit

    def spy(self, X, y=None):
        seen.append((len(X), self.random_state))
        return fit(self, X, y)

    monkeypatch.setattr(GeneralizedRBFMap, "fit", spy)
    shared = KIND.set_up(batch[0])
    dense, *_, strongest, _ = found = [measure_cell(KIND, cell, shared).columns for cell in batch]
    assert len({columns["encode_s"] for columns in found}) == 1
    assert strongest["train_s"] > dense["train_s"]  # its pilot is the dense machine
    (few, first), *others = seen
    assert few < 70
    # The draw of all samples is made once, by the first cell, its warm-up before it.
    assert (first, others) == (1, [(200, 1)])


@pytest.mark.parametrize(
    ("classes", "quality", "other"),
    [
        ("", "accuracy", "average_precision"),
        ("classes: ['3', '8']\n", "average_precision", "accuracy"),
    ],
)
@pytest.mark.parametrize("number", [0, 2, 4, -1])
def test_measuring_fills_the_columns_of_the_kind(classes, quality, other, number):
    cell = cells_of(TEXT + classes)[number]
    columns = measured(cell).columns
    lacking = {other, *CHOICE} | ({"fit_s"} if number == 0 else {"convert_s"})
    assert set(columns) == {*KIND.shown.fills, *TOLD} - lacking
    assert 0.5 < columns[quality] <= 1
    assert columns["C"] == cell.row.learner["C"]
    assert (columns["n_train"], columns["n_test"]) == (200, 300)


@pytest.mark.parametrize(
    ("name", "classes"), [("exact", "classes: ['3', '8']\n"), ("dense", ""), ("strongest", "")]
)
def test_auto_chooses_c_on_record(name, classes):
    text = re.sub(r"C: \[[^]]*\]", "C: auto", TEXT).replace("train: 200", "train: 90") + classes
    cell = next(cell for cell in cells_of(text) if cell.row.learner["name"] == name)
    assert (cell.columns["C_grid"], cell.columns["C_folds"]) == ("auto", 3)
    columns = KIND.measure(cell, KIND.set_up(cell), UNTIMED).columns
    grid, means = columns["cv_C"], columns["cv_accuracy"]
    assert {0.1, 1.0, 10.0} <= {*grid}
    assert len(grid) == len(means) == len(columns["cv_se"]) >= 5
    assert columns["C"] in grid[1:-1]


def test_a_chosen_c_can_be_given_again():
    """As for times that are measured again: nothing is chosen then, and a given C stays."""
    cells = cells_of(TEXT.replace("name: dense, C: [10]", "name: dense, C: auto"))
    dense, sparse = cells[2:4]
    assert (dense.row.learner["C"], dense.C["grid"]) == ("auto", "auto")
    again = KIND.with_C(dense, 3.0)
    assert (again.row.learner, again.C) == ({"name": "dense", "C": 3.0}, {})
    assert (again.draw, again.kernel, again.seed) == (dense.draw, dense.kernel, dense.seed)
    assert KIND.with_C(sparse, 3.0) is sparse
    columns = measured(again).columns
    assert columns["C"] == 3.0
    assert "cv_s" not in columns


def test_auto_of_a_learner_is_its_machine_on_folds(split):
    """The dense machine of a draw, fold by fold, with its own copies of the encoded rows."""
    trials = Trials(tasks_of(split))
    made = GeneralizedRBFMap(n_frequencies=60, random_state=0)
    found = trials.choose(made, {"name": "dense"}, Folds(3, 5), UNTIMED)
    y = split.y_train
    order = stratified_order(y, 5)
    Z, y, fold = clone(made).fit(split.x_train).transform(split.x_train[order]), y[order], FOLD
    right = 0
    for held_out in range(3):
        train, test = fold != held_out, fold == held_out
        model = LEARNERS["dense"](1.0).fit(Z[train], y[train])
        right += np.sum(model.predict(Z[test]) == y[test])
    assert found.accuracies[found.grid.index(1.0)] == right / 200


def test_c_is_chosen_on_as_many_samples_as_are_named(split):
    text = TEXT.replace("name: dense, C: [10]", "name: dense, C: auto")
    assert "C_samples" not in cells_of(text)[2].columns
    few = cells_of(text.replace("draws: 2", "draws: 2\nsamples: 90"))
    assert few[2].columns["C_samples"] == 90
    assert few[3] == cells_of(text)[3]  # whose C is given
    made = GeneralizedRBFMap(n_frequencies=60, random_state=0)
    learner = {"name": "dense"}
    found = Trials(tasks_of(split)).choose(made, learner, Folds(3, 5, 90), UNTIMED)
    assert all(round(90 * share, 6).is_integer() for share in found.accuracies)


@pytest.fixture(scope="module")
def split():
    return SampledKind.set_up(KIND, cells_of(TEXT)[0])


def test_auto_of_detectors_goes_by_average_precision(split):
    tasks = tasks_of(split, ["3", "8"])
    found = Trials(tasks).choose_exact("exp-chi2", Folds(3, 5))
    strata = np.unique(np.column_stack([y for y, _ in tasks.labels]), axis=0, return_inverse=True)
    order = stratified_order(strata[1].ravel(), 5)
    matrix, fold = gram(split.x_train[order], kernel="exp-chi2"), FOLD
    precisions = []
    for held_out in range(3):
        train, test = fold != held_out, fold == held_out
        for labels, _ in tasks.labels:
            y = labels[order]
            model = KernelSVC("precomputed", C=10.0, solver="libsvm")
            model.fit(matrix[np.ix_(train, train)], y[train])
            values = model.decision_function(matrix[np.ix_(test, train)])
            precisions.append(average_precision_score(y[test], values))
    at = found.grid.index(10.0)
    assert found.accuracies[at] == pytest.approx(np.mean(precisions), abs=1e-3)
    assert found.errors[at] == pytest.approx(np.std(precisions, ddof=1) / 6**0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", keep: [20]", "", "15:5: .*strongest and resampled need keep"),
        ("name: group", "name: groups", "14:12: .*unknown learner 'groups', did you mean 'group'"),
        ("C: [0.3]}", "C: best}", "14:22: .*expected a list of values, or auto, got 'best'"),
        ("C: [0.3]}", "C: [0]}", "14:23: .*greater than 0, got 0"),
        ("figures: [trade-off", "figures: [trade", "17:11: .*'trade-off' or 'sparsity'"),
        ("draws: 2", "draws: 2\nsplits: 3", ".*splits: 3 with draws: 2: .* give draws: 1"),
    ],
)
def test_mistakes_have_their_place(old, new, message):
    refuses(f"experiment.yaml:{message}", TEXT, old, new)
