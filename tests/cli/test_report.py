"""kmaps report: a page beside the records, once."""

import json
from pathlib import Path

from commands import kmaps, refused, write_records

from tests.bench.sample_records import record, times

SECONDS = dict.fromkeys(("fit_s", "encode_s", "convert_s", "train_s", "predict_s"), 1.0)
FILES = {"records.jsonl": [record("homogeneous", i, params={"order": 1}) for i in (0, 1)]}


def report(*args):
    kmaps("report", ".", *args)
    return Path("README.md").read_text()


def test_writes_a_page_once():
    assert kmaps("report", ".").stdout == "README.md\n"
    assert "--force" in refused("report", ".")
    page = report("--force")
    assert page.startswith("# trial\n")
    assert "| homogeneous, r = 3 | **90.00** |" in page


def test_has_the_notes_and_the_figures_of_the_folder():
    Path("NOTES.md").write_text("It is so.\n")
    Path("errors.png").write_bytes(b"")
    assert kmaps("report", ".", "-o", "page.md", "--quiet").stdout == ""
    page = Path("page.md").read_text()
    Path("NOTES.md").unlink()
    Path("NOTES.md").symlink_to("/dev/zero")
    assert refused("report", ".").startswith("NOTES.md: is a device or a pipe, expected a file")
    assert "## Findings\n\nIt is so.\n" in page
    assert "![errors.png](errors.png)" in page


def test_claims_and_sections_are_those_of_the_experiment_and_its_kind():
    cells = [
        record("exact", None, experiment="scaling-mnist", kind="scaling", size=n, n_train=n)
        | {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "train_s": n / 1e3}
        | {"train_peak_bytes": 1000 * n, "storage_bytes": n}
        for n in (1000, 2000)
    ]
    write_records(cells)
    page = report()
    assert "Time and memory of the chi2 kernel on MNIST" in page
    assert "## Growth\n\n" in page
    assert "| exact | 2,000 | 90.00 | 2.00 | 0 | n^1.00 | 2.00 | n^1.00 |" in page


def test_times_beside_other_work_are_left_out_of_pages():
    cells = [
        record("homogeneous", split, params={"order": 1}, other_cpus=others, **SECONDS)
        for split, others in ((0, 0.0), (1, 0.7))
    ]
    write_records(cells)
    assert "Times of 1 of 2 cells are left out: other programs ran" in report()
    write_records(cells[1:])
    page = report("--force")
    assert ("Times of this run are left out" in page, "train, s" in page) == (True, False)
    write_records(cells[:1])
    page = report("--force")
    assert "are left out" not in page
    kmaps("report", ".", "-o", "page.html")
    assert "fit + encode + convert + train, s" in Path("page.html").read_text()
    busy = [cells[1] | {"key": key, "C": 1.0} for key in "ab"]
    write_records(busy)
    Path("times.jsonl").write_text(json.dumps(*times(busy[0], 2.0)) + "\n")  # one has repeats
    assert "Times of 1 of 2 cells are left out" in report("--force")


def test_a_page_on_all_runs_comes_with_what_is_kept():
    Path("trial").mkdir()
    Path("records.jsonl").rename("trial/records.jsonl")
    assert "Other runs: [trial](trial/README.md)." in report("--all", "-q")
    assert json.loads(Path("reported.json").read_text())[0]["kind"] == "number"
    assert "--force" in refused("report", "--all", ".")
    Path("empty").mkdir()
    refused("report", "--all", "empty", code=5)
