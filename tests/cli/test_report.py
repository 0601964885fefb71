"""kmaps report: a page beside the records, once."""

import json
from pathlib import Path

from commands import kmaps, refused

from tests.bench.sample_records import record

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


def test_a_page_on_all_runs_comes_with_what_is_kept():
    Path("trial").mkdir()
    Path("records.jsonl").rename("trial/records.jsonl")
    assert "Other runs: [trial](trial/README.md)." in report("--all", "-q")
    assert json.loads(Path("reported.json").read_text())[0]["kind"] == "number"
    assert "--force" in refused("report", "--all", ".")
    Path("empty").mkdir()
    refused("report", "--all", "empty", code=5)
