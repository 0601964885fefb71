"""The recipe of a kind in CONTRIBUTING: one folder, one line, one YAML; nothing else."""

import json
from pathlib import Path

CONTRIBUTING = (Path(__file__).resolve().parent.parent / "CONTRIBUTING.md").read_text()
EXPERIMENT = CONTRIBUTING.split("```yaml\n")[1].split("```")[0]
N_CELLS = 8


def records(folder):
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_a_new_kind_is_run_resumed_gated_shown_and_drawn(changed):
    kmaps, folder = changed
    (folder / "long.yaml").write_text(EXPERIMENT)
    listed = kmaps("run", "long.yaml", "--out", "out", "--dry-run")
    assert listed.stdout.count("to do") == N_CELLS
    assert "length at 0.5 chi2 homogeneous order=1" in listed.stdout
    ran = kmaps("run", "long.yaml", "--out", "out", "--jobs", "2", "--threads", "1")
    assert f"{N_CELLS}/{N_CELLS}" in ran.stderr
    assert "length at 1" in ran.stdout
    out = folder / "out"
    first = records(out)
    assert len(first) == N_CELLS
    assert all(r["threads"] == 1 and r["jobs"] == 2 and r["encode_s"] > 0 for r in first)
    assert all(0 < r["linf"] < 0.3 for r in first)
    assert (out / "lengths.png").stat().st_size > 1000

    # Resumed: a lost record is measured again, the others are left alone.
    lines = (out / "records.jsonl").read_text().splitlines(keepends=True)
    (out / "records.jsonl").write_text("".join(lines[:-1]))
    kmaps("run", "long.yaml", "--out", "out", "--quiet")
    assert records(out)[:-1] == first[:-1]
    assert records(out)[-1]["linf"] == first[-1]["linf"]
    assert "nothing to do" in kmaps("run", "long.yaml", "--out", "out").stderr

    # Gated: against itself, with a number moved, with a record less.
    base = folder / "base.jsonl"
    base.write_text("".join(lines))
    assert f"{N_CELLS} same" in kmaps("check", "out", "--against", base).stdout
    moved = [r | {"linf": 1.01 * r["linf"]} if i == 0 else r for i, r in enumerate(first)]
    (folder / "moved.jsonl").write_text("".join(json.dumps(r) + "\n" for r in moved))
    assert "linf" in kmaps("check", "moved.jsonl", "--against", base, code=1).stdout
    (folder / "fewer.jsonl").write_text("".join(lines[:-1]))
    kmaps("check", "fewer.jsonl", "--against", base, code=1)

    # Shown: as a table, and on a page with its figure and a part of its own.
    assert "homogeneous, r = 3" in kmaps("table", "out").stdout
    kmaps("report", "out")
    page = (out / "README.md").read_text()
    assert f"## Lengths\n\nThere are {N_CELLS} of them." in page
    assert "![lengths.png](lengths.png)" in page

    # Refused: a flag that it cannot honour, a figure whose arrays are gone, a mistake in the file.
    refused = kmaps("run", "long.yaml", "--out", "other", "--skip-bad", code=2)
    assert "the kind lengths has no images to leave out" in refused.stderr
    assert not (folder / "other").exists()
    (out / "lengths.png").unlink()
    (out / "arrays.npz").unlink()
    missing = kmaps("run", "long.yaml", "--out", "out", code=4)
    assert f"the figure lengths needs the arrays of {N_CELLS} of {N_CELLS} cells" in missing.stderr
    assert len(records(out)) == N_CELLS
    (folder / "long.yaml").write_text(EXPERIMENT.replace("values", "valeus"))
    wrong = kmaps("run", "long.yaml", code=2)
    assert "long.yaml:5:1: valeus: unknown key, did you mean 'values'?" in wrong.stderr
