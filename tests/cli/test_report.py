"""kmaps report: a page beside the records, once."""

import json

import pytest
from click.testing import CliRunner

from kmaps.cli.main import cli
from tests.bench.sample_records import record

SECONDS = dict.fromkeys(("fit_s", "encode_s", "convert_s", "train_s", "predict_s"), 1.0)


@pytest.fixture
def folder(tmp_path):
    write(tmp_path, [record("homogeneous", i, params={"order": 1}) for i in (0, 1)])
    return tmp_path


def write(folder, cells):
    (folder / "records.jsonl").write_text("".join(json.dumps(cell) + "\n" for cell in cells))


def report(*args):
    return CliRunner().invoke(cli, ["report", *map(str, args)])


def test_writes_a_page_once(folder):
    first = report(folder)
    assert (first.exit_code, first.stdout) == (0, f"{folder / 'README.md'}\n")
    page = (folder / "README.md").read_text()
    assert page.startswith("# trial\n")
    assert "| homogeneous, r = 3 | **90.00** |" in page
    again = report(folder)
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert report(folder, "--force").exit_code == 0


def test_has_the_notes_and_the_figures_of_the_folder(folder):
    (folder / "NOTES.md").write_text("It is so.\n")
    (folder / "errors.png").write_bytes(b"")
    out = folder / "page.md"
    assert report(folder, "-o", out, "--quiet").stdout == ""
    assert "## Findings\n\nIt is so.\n" in out.read_text()
    assert "![errors.png](errors.png)" in out.read_text()


def test_claims_and_sections_are_those_of_the_experiment_and_its_kind(folder):
    cells = [
        record("exact", None, experiment="scaling-mnist", kind="scaling", size=n, n_train=n)
        | {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "train_s": n / 1e3}
        | {"train_peak_bytes": 1000 * n, "storage_bytes": n}
        for n in (1000, 2000)
    ]
    write(folder, cells)
    assert report(folder).exit_code == 0
    page = (folder / "README.md").read_text()
    assert "The price of the chi2 kernel on MNIST" in page
    assert "## Growth\n\n" in page
    assert "| exact | 2,000 | 90.00 | 2.00 | 0 | n^1.00 | 2.00 | n^1.00 |" in page


def test_times_beside_other_work_are_left_out_of_pages(folder):
    cells = [
        record("homogeneous", split, params={"order": 1}, other_cpus=others, **SECONDS)
        for split, others in ((0, 0.0), (1, 0.7))
    ]
    write(folder, cells)
    assert report(folder).exit_code == 0
    page = (folder / "README.md").read_text()
    assert "Times of this run are left out: other programs ran" in page
    assert "accuracy, %" in page
    assert "train, s" not in page
    write(folder, cells[:1])
    assert report(folder, "--force").exit_code == 0
    page = (folder / "README.md").read_text()
    assert "are left out" not in page
    assert "fit + encode + convert + train, s" in page
    assert "| homogeneous, r = 3 | **4.00** |" in page


def test_a_page_on_all_runs_comes_with_what_is_kept(folder):
    results = folder / "results"
    (results / "trial").mkdir(parents=True)
    (folder / "records.jsonl").rename(results / "trial" / "records.jsonl")
    assert report("--all", results, "-q").exit_code == 0
    assert "Other runs: [trial](trial/README.md)." in (results / "README.md").read_text()
    assert json.loads((results / "reported.json").read_text())[0]["kind"] == "number"
    again = report("--all", results)
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    (folder / "empty").mkdir()
    assert report("--all", folder / "empty").exit_code == 5
