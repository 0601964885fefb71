"""Trade-offs: every learner on every draw, in batches of one draw."""

import re

import pytest
from measured import TOLD, cells_of, measured
from spec_text import refuses, text_of

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.run.clock import UNTIMED
from kmaps.bench.run.runner import run

KIND = KINDS["trade-off"]

TEXT = text_of("trade-off")


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
