"""Rows of others in an experiment: from its file to records, tables, claims and the gate."""

import json
import shutil

import pytest
from commands import kmaps_in
from spec_text import POWERS, mistakes, text_of

from kmaps.bench.records.columns import cell_name

MODULE = f"""\
import numpy as np


{POWERS.replace("Powers", "Roots")}

class Breaks:
    def fit(self, X, y):
        if len(X) > 100:
            raise RuntimeError("too much")

    def predict(self, X):
        return np.zeros(len(X))
"""
EXPERIMENT = text_of("third-party-rows")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with an experiment in another one, and a module beside it."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "beside").mkdir()
    (folder / "beside/mine.yaml").write_text(EXPERIMENT)
    (folder / "beside/own_methods.py").write_text(MODULE)
    return folder


@pytest.fixture(scope="module")
def kmaps(folder):
    return kmaps_in(folder)


@pytest.mark.slow  # README's own method runs in tests/test_readme.py
def test_rows_of_others_run_and_are_shown_judged_and_gated(kmaps, folder):
    ran = kmaps("run", "beside/mine.yaml", "--out", "out", "--allow-code", code=3)
    assert ran.stderr.startswith(
        f"rows of this experiment import code: kmaps (installed), own_methods "
        f"({folder / 'beside'}), sklearn (installed)\n"
    )
    assert "1 of 7 cells failed" in ran.stderr
    assert "own_methods.Breaks (RuntimeError: too much)" in ran.stderr
    assert "GaussianNB: sklearn.naive_bayes.GaussianNB" in ran.stdout
    lines = (folder / "out/records.jsonl").read_text().splitlines()
    records = {cell_name(record): record for record in map(json.loads, lines)}
    nb = records["split 0 ovr sklearn.naive_bayes.GaussianNB"]
    assert (nb["C"], nb["cv_C"], nb["solver"], nb["kernel"]) == (None, [], "own", "")
    assert nb["train_s"] > 0 < nb["predict_s"]
    assert nb["fit_s"] == nb["encode_s"] == nb["convert_s"] == 0
    assert nb["storage_form"].endswith(" + pickled model")
    roots = records["split 0 ovr own_methods.Roots power=1"]
    assert roots["C"] in (0.1, 1)
    assert roots["storage_form"].endswith(" + pickled map")
    assert "scikit-learn" in nb["versions"]
    spline = records["split 0 ovr kmaps.maps.SplineMap solver=coded"]
    assert spline["accuracy"] > 0.85 < roots["accuracy"]

    refused = kmaps("run", "--again", "out", "--even-if-busy", "--quiet", code=2)
    assert "own_methods: this run would execute its code in " in refused.stderr
    timed = kmaps("run", "--again", "out", "--even-if-busy", "--repeats", 1, "--allow-code")
    assert f"own_methods ({folder / 'beside'})" in timed.stderr
    kmaps("report", "out", "--quiet")
    assert "Roots, power = 1" in (folder / "out/README.md").read_text()
    # A pickle of another size is no change for the worse, more rows are one.
    ok = [record for record in records.values() if record["status"] == "ok"]
    for name, change in {
        "same": {"model_bytes": nb["model_bytes"] + 1},
        "worse": {"train_bytes": nb["train_bytes"] + 1},
    }.items():
        changed = [r | change if r is nb else r for r in ok]
        (folder / name).mkdir()
        shutil.copy(folder / "out/correct.npz", folder / name)
        text = "".join(json.dumps(record) + "\n" for record in changed)
        (folder / name / "records.jsonl").write_text(text)
    kmaps("check", "same", "--against", "out")
    worse = kmaps("check", "worse", "--against", "out", code=1)
    assert "sklearn.naive_bayes.GaussianNB" in worse.stdout


def test_what_cannot_be_made_is_told_before_anything_runs(kmaps, folder):
    name = "beside/wrong.yaml"
    text = EXPERIMENT.replace("own_methods.Breaks", "own_methods.Brakes")
    text = text.replace("sklearn.svm.SVC}\n", "sklearn.svm.SVC, params: {gama: 1}}\n", 1)
    (folder / name).write_text(text)
    refused = kmaps("run", name, "--out", "other", "--allow-code", "--quiet", code=2)
    assert refused.stderr.splitlines() == [
        "error: beside/wrong.yaml:10:17: classifiers[0].estimator: estimator sklearn.svm.SVC: "
        "unknown parameter 'gama', did you mean 'gamma'?",
        "beside/wrong.yaml:12:17: classifiers[2].estimator: estimator own_methods.Brakes: "
        "own_methods has no 'Brakes', did you mean 'Breaks'?",
    ]
    # A dry run refuses the same.
    listed = kmaps("run", name, "--out", "other", "--allow-code", "--quiet", "--dry-run", code=2)
    assert listed.stderr == refused.stderr
    # What is only listed runs none of it that is not allowed.
    (folder / "beside/own_methods.py").write_text("raise SystemExit(70)")
    listed = kmaps("run", "beside/mine.yaml", "--dry-run")
    assert "own_methods.Roots" in listed.stdout
    assert f"own_methods ({folder / 'beside'}, needs --allow-code)" in listed.stderr
    refused = kmaps("run", name, "--out", "other", "--allow-code", code=2)
    assert "estimator own_methods.Roots: the process ended with exit code 70" in refused.stderr


TRAP = """\
experiment: trap
base: base
dataset: {name: digits, train: 20, test: 10}
reductions: [ovr]
classifiers: [{estimator: NAME, params: {args: touch PWNED, shell: true}}]
C: 1
"""


@pytest.mark.parametrize(
    ("estimator", "flags", "told"),
    [
        (
            "subprocess.check_output",
            "",
            "subprocess is not among the packages that any experiment imports (interpret, kmaps, "
            "lightgbm, sklearn): if it is installed, allow it with --allow subprocess",
        ),
        (
            "subprocess.check_output",
            "--allow subprocess --allow-code",
            "expected a class with the method fit, got function",
        ),
        ("subprocess.Popen", "--allow subprocess", "expected a class with the method fit, got the"),
        (
            "trap_of_a_test.Model",
            "--allow trap_of_a_test",
            "trap_of_a_test: this run would execute its code in {base}: read it first, then allow "
            "it with --allow-code",
        ),
        # A package that is not installed is not taken from the folder.
        ("lightgbm.trap.Model", "", "there is no module 'lightgbm"),
    ],
)
def test_nothing_runs_that_nobody_allowed(tmp_path, estimator, flags, told):
    (tmp_path / "trap.yaml").write_text(TRAP.replace("NAME", estimator))
    (tmp_path / "base/lightgbm").mkdir(parents=True)
    for name in ("trap_of_a_test", "lightgbm/__init__", "lightgbm/trap", "subprocess"):
        trap = f"open({str(tmp_path / 'PWNED')!r}, 'w')"
        (tmp_path / "base" / f"{name}.py").write_text(trap)
    run = ["run", "trap.yaml", "--out", "out", "--quiet", *flags.split()]
    [line] = kmaps_in(tmp_path)(*run, code=2).stderr.splitlines()
    place = f"trap.yaml:5:27: classifiers[0].estimator: estimator {estimator}: "
    assert line.startswith(f"error: {place}{told.format(base=tmp_path / 'base')}")
    assert {path.name for path in tmp_path.iterdir()} <= {"trap.yaml", "base", "out"}


BAD = """\
experiment: bad
dataset: {name: digits, train: 20, test: 10}
reductions: [ovr]
maps:
  - {estimator: PCA}
  - {estimator: a.b, parms: {}}
  - {estimator: a.b, map: homogeneous}
  - {estimator: a.b, params: {when: 2020-01-01}}
classifiers:
  - {estimater: a.b}
  - {estimator: a.b, params: {a b: 1}}
  - {estimator: a.b, params: {memory: cache}}
C: 1
"""


def test_mistakes_have_their_places():
    assert mistakes(BAD) == [
        "e.yaml:5:17: maps[0].estimator: expected package.module.Class, got 'PCA'",
        "e.yaml:6:22: maps[1].parms: unknown key, did you mean 'params'?",
        "e.yaml:7:22: maps[2].map: unknown key (known: estimator, params, search, name)",
        "e.yaml:8:30: maps[3].params: expected texts, finite numbers, true, false, null, and lists "
        "and mappings of these",
        "e.yaml:10:5: classifiers[0]: missing key 'estimator'",
        "e.yaml:10:6: classifiers[0].estimater: unknown key, did you mean 'estimator'?",
        "e.yaml:11:30: classifiers[1].params: expected names of parameters, got 'a b'",
        "e.yaml:12:30: classifiers[2].params: memory: names a folder of pickles, which can hold "
        "any code; leave it out",
    ]


ABSENT = """\
experiment: absent
dataset: {name: digits, train: 20, test: 10}
reductions: [ovr]
classifiers: [{estimator: no_such_package.Trees}]
C: 1
"""


def test_a_package_that_is_not_installed_is_not_called_installed(kmaps, folder):
    (folder / "absent.yaml").write_text(ABSENT)
    listed = kmaps("run", "absent.yaml", "--dry-run")
    assert "no_such_package (not installed, needs --allow no_such_package)" in listed.stderr
    refused = kmaps("run", "absent.yaml", "--dry-run", "--allow", "no_such_package", code=2)
    assert "there is no module 'no_such_package'" in refused.stderr
