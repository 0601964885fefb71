"""The code of a user's method is on record: no run goes on with other code."""

import hashlib

import pytest
from commands import kmaps_in
from spec_text import POWERS

from kmaps.bench.records.file import read_records

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
