"""The code of a user's method is on record: no run goes on with other code."""

import hashlib
import sys

import pytest
from commands import kmaps_in
from spec_text import POWERS

from kmaps.bench.kinds.load import load
from kmaps.bench.records.file import read_records
from kmaps.bench.run.measure import importing
from kmaps.bench.run.plan import published_folder
from kmaps.bench.run.runner import run
from kmaps.errors import ConfigError

TEXT = """\
experiment: mine
dataset: {name: digits, train: 100, test: 50}
splits: SPLITS
reductions: [ovr]
baselines: [linear]
maps: [{estimator: PACKAGE.Powers}]
C: 1
"""
RUN = ("run", "mine.yaml", "--out", "out", "--allow-code", "--quiet")


@pytest.mark.parametrize("package", ["powers_of_a_test", "folder_of_a_test"])
def test_a_run_does_not_go_on_with_other_code(tmp_path, package):
    code = tmp_path / f"{package}.py"
    if package.startswith("folder"):
        (tmp_path / package).mkdir()
        code = tmp_path / package / "inner.py"
        (tmp_path / package / "__init__.py").write_text("from .inner import Powers\n")
    code.write_text(POWERS)
    text = TEXT.replace("PACKAGE", package)
    (tmp_path / "mine.yaml").write_text(text.replace("SPLITS", "1"))
    kmaps = kmaps_in(tmp_path)
    kmaps(*RUN)
    records = {record["method"]: record for record in read_records(tmp_path / "out")}
    parts = [path.read_bytes() for path in sorted(code.parent.rglob("*.py"))]
    expected = hashlib.sha256(b"".join(parts)).hexdigest()
    assert records["linear"]["code"] is None
    assert records[f"{package}.Powers"]["code"] == expected
    (tmp_path / "mine.yaml").write_text(text.replace("SPLITS", "2"))
    before = (tmp_path / "out/records.jsonl").read_bytes()
    code.write_text(POWERS.replace("0.5", "0.25"))
    told = (
        f"error: the code of {package} has changed since split 0 ovr {package}.Powers was measured "
        "(cells with the old code: 1): choose another folder for the new code, or restore the "
        "old code\n"
    )
    again = ("run", "--again", "out", "--allow-code", "--quiet")
    for command in (RUN, (*RUN, "--retry-failed"), again):
        refused = kmaps(*command, code=2)
        assert refused.stderr == told
    assert (tmp_path / "out/records.jsonl").read_bytes() == before
    kmaps(*RUN[:3], "other", *RUN[4:])
    code.write_text(POWERS)
    kmaps(*RUN)
    assert {record["code"] for record in read_records(tmp_path / "out")} == {None, expected}


def test_nobody_s_code_is_imported_without_leave(tmp_path):
    (tmp_path / "powers_of_a_test.py").write_text(
        f"{POWERS}\nopen({str(tmp_path / 'imported')!r}, 'w')"
    )
    text = TEXT.replace("PACKAGE", "powers_of_a_test").replace("SPLITS", "1")
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError):
        run(load(tmp_path / "mine.yaml"), tmp_path / "out")
    assert not (tmp_path / "imported").exists()


def test_modules_of_a_folder_are_found_after_the_installed_ones(tmp_path):
    before = list(sys.path)
    with importing(None):
        assert sys.path == before
    with importing(tmp_path):
        assert sys.path == [*before, str(tmp_path)]
    assert sys.path == before


def test_the_published_records_of_a_preset_have_a_folder_of_their_own():
    folder = published_folder("quickstart")
    assert (folder.name, folder.parent.name) == ("quickstart", "results")
    assert published_folder("quickstart", "small") == folder.parent / "small" / "quickstart"
