"""Names that an experiment gives its rows: in tables, figures and pages, in no key or record."""

import json
from pathlib import Path

import pytest
import yaml
from spec_text import GOOD, mistakes

from kmaps.bench.figures.costs import draw_front
from kmaps.bench.kinds import KINDS, shown_of
from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.row_names import names_of_rows, read_named, with_names
from kmaps.bench.pages import page_of
from kmaps.bench.records.file import RecordsFile, read_records, write_definition
from kmaps.bench.records.gate import compare
from kmaps.bench.report.document import as_html
from kmaps.bench.report.front import points_of
from kmaps.bench.report.tables import render
from kmaps.bench.run.plan import of_rows, plan
from tests.bench.sample_records import record

NAMES = {"baselines": "LIBSVM & exact", "maps": "ours", "classifiers": "a <rival>"}


def content(**names):
    """Return an experiment, with names in some of its lists."""
    entries = yaml.safe_load(GOOD)
    rival = {"estimator": "sklearn.svm.SVC", "params": {"C": 10}}
    lists = {
        "baselines": [{"baseline": "exact", "C": 1.0}],
        "maps": [{"map": "homogeneous", "order": [1, 2]}, {"map": "homogeneous", "order": 3}],
        "classifiers": [rival],
    }
    for key, name in names.items():
        lists[key][0] |= {"name": name}
    return {**entries, **lists, "claims": [], "presets": {}, "figures": []}


def parsed(entries):
    return spec.parse(yaml.safe_dump(entries, sort_keys=False))


def records_of(experiment):
    """Return records of an experiment as if each cell were measured."""
    made = []
    for number, cell in enumerate(KINDS["classification"].cells(experiment)):
        columns = {name: cell.columns[name] for name in record() if name in cell.columns}
        measured = {"accuracy": 0.5 + number / 100, "storage_bytes": 1000 + number}
        made.append(record(**columns | measured | {"key": str(number)}))
    return made


def labels(text):
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [line.split(" | ")[0].removeprefix("| ") for line in lines]


def test_names_stand_in_tables_with_the_values_in_which_rows_differ():
    experiment = parsed(content(**NAMES))
    text = render(with_names(records_of(experiment), experiment), "md", ["accuracy"])
    rows = {"LIBSVM & exact", "ours, r = 3", "ours, r = 5", "homogeneous, r = 7", "a &lt;rival>"}
    assert set(labels(text)) - {"", "---"} == rows
    for explained in (
        "LIBSVM & exact: exact",
        "ours: homogeneous",
        "a &lt;rival>: sklearn.svm.SVC",
    ):
        assert explained in text


def test_names_change_no_cell_no_key_and_no_verdict_of_the_gate():
    unnamed, named = parsed(content()), parsed(content(**NAMES))
    plans = plan(unnamed), plan(named)
    assert list(plans[0]) == list(plans[1])
    for before, after in zip(plans[0].values(), plans[1].values(), strict=True):
        assert before.columns == after.columns
        assert (before.seed, before.row.label) == (after.seed, after.row.label)
    records = records_of(named)
    judged = shown_of(records).judged
    assert compare(with_names(records, named), records, judged) == compare(records, records, judged)


def test_a_name_added_after_the_run_is_read_from_the_experiment_next_to_the_records(tmp_path):
    """The records stay as they are; pages and figures have the name."""
    folder = tmp_path / "run"
    records = records_of(parsed(content()))
    with RecordsFile(folder) as file:
        for line in records:
            file.append(line)
    before = (folder / "records.jsonl").read_bytes()
    write_definition(folder, content(), None)
    assert read_named(folder) == read_records(folder)
    write_definition(folder, content(**NAMES), None)
    page = as_html(page_of(folder))
    assert "ours, r = 5" in page
    assert "a &lt;rival&gt;" in page
    points = points_of(read_named(folder / "records.jsonl"), ["accuracy", "storage"])
    draw_front(points, tmp_path / "front.svg", "accuracy", ["storage"])
    drawn = (tmp_path / "front.svg").read_text()
    assert "ours, r = 3" in drawn
    assert "a &lt;rival&gt;" in drawn
    assert (folder / "records.jsonl").read_bytes() == before


def test_rows_are_picked_by_their_names():
    planned = plan(parsed(content(**NAMES)))
    assert {cell.row.method for cell in of_rows(planned, ["a <rival>"]).values()} == {
        "sklearn.svm.SVC"
    }


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"maps": 3}, "maps[0].name: should be a valid string, got 3"),
        ({"maps": " "}, "maps[0].name: expected up to 60 printable characters, got ' '"),
        ({"classifiers": "a\nb"}, "classifiers[0].name: expected up to 60 printable"),
        ({"baselines": "x" * 61}, "baselines[0].name: expected up to 60 printable"),
        ({"maps": "a", "classifiers": "a"}, "classifiers[0].name: 'a' names the rows of maps[0]"),
    ],
)
def test_what_is_no_name_is_refused_at_its_place(names, message):
    [line] = mistakes(yaml.safe_dump(content(**names), sort_keys=False))
    assert message in line


def test_the_exact_kernels_of_a_trade_off_have_no_name_of_a_map():
    text = (
        Path(spec.__file__).parents[3] / "experiments" / "genrbf-figure3-tradeoff.yaml"
    ).read_text()
    entries = yaml.safe_load(text)
    entries["maps"][0]["name"] = "ours"
    experiment = parsed({**entries, "claims": []})
    methods = {row["method"] for row in map(json.loads, names_of_rows(experiment))}
    assert methods == {"generalized-rbf"}
