"""The fourth day: a method of one's own, its gate, and what a gate must not let through."""

import json
import os
import re

import numpy as np
import pytest
from commands import ROOT

from tests.days import files

pytestmark = pytest.mark.soak
MAPS = """\
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class PowerPair(TransformerMixin, BaseEstimator):
    def __init__(self, p=0.5):
        self.p = p

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.hstack([X**self.p, X ** (self.p / 2)])
"""
EXPERIMENT = """\
experiment: mine
dataset: {files: {data: train.csv, label_column: digit}, train: 100, test: 800}
splits: 5
kernels: [chi2]
reductions: [ovr]
baselines: [linear]
maps:
  - {map: homogeneous, order: 1}
  - {estimator: my_maps.PowerPair}
C: 1
"""
PAIR = "my_maps.PowerPair"


@pytest.fixture
def author(shell):
    """A shell with the author's table, experiment and module."""
    files.digits(shell.folder)
    (shell.folder / "my_maps.py").write_text(MAPS)
    (shell.folder / "mine.yaml").write_text(EXPERIMENT)
    return shell


def line_of(text: str, name: str) -> str:
    """Return the line of a row in the output of `kmaps check`."""
    return next((line for line in text.splitlines() if name in line), "")


def test_the_gate_never_praises_a_loss(author):
    shell = author
    shell("kmaps run mine.yaml --out base --allow-code --quiet")
    code = shell.folder / "my_maps.py"
    # Half of the outputs are lost.
    code.write_text(MAPS.replace("X**self.p, ", ""))
    shell("kmaps run mine.yaml --out new --allow-code --quiet")
    done = shell("kmaps check new --against base")
    line = line_of(done.stdout, PAIR)
    print(line)
    shell.check(
        "accuracy before and after, with the interval", line.count("%") >= 3 and "interval" in line
    )
    before = float(re.search(r"baseline ([\d.]+)", line)[1])
    after = float(re.search(r"accuracy ([\d.]+)", line)[1])
    shell.check("the accuracy fell", after < before)
    shell.check("so it is not called improved", not line.startswith("improved"))
    shell.check("it is listed as changed", line.startswith("changed"))
    shell("kmaps check new --against base --strict", code=1)
    code.write_text(MAPS.replace("X**self.p, X", "0 * X, 0 * X"))
    shell("kmaps run mine.yaml --out constant --allow-code --quiet")
    shell("kmaps check constant --against base --format md --junit kmaps.xml", code=1)


ENTRY_POINTS = (
    "[kmaps.maps]\nleaving = plug_of_a_day:Map\n\n[kmaps.kinds]\nleaving = plug_of_a_day\n"
)


def test_a_plug_in_that_ends_the_process(author):
    shell = author
    plug_ins = shell.folder / "site"
    metadata = plug_ins / "plug_of_a_day-1.5.dist-info"
    metadata.mkdir(parents=True)
    (plug_ins / "plug_of_a_day.py").write_text("import sys\n\nsys.exit(0)\n")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-of-a-day\nVersion: 1.5\n")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    shell.environment["PYTHONPATH"] += os.pathsep + str(plug_ins)
    shell("kmaps run mine.yaml --out base --allow-code --quiet")
    done = shell("kmaps check base --against base")
    shell.check("an uninvolved plug-in stops nothing", "3 same" in done.stdout)
    listed = shell("kmaps list maps")
    shell.check("the list names its package", "plug-of-a-day 1.5" in listed.stdout)
    records = (shell.folder / "base" / "records.jsonl").read_text()
    (shell.folder / "leaving").mkdir()
    of_plug_in = records.replace('"kind": "classification"', '"kind": "leaving"')
    (shell.folder / "leaving" / "records.jsonl").write_text(of_plug_in)
    done = shell("kmaps check leaving --against leaving", code=5)
    shell.check("a gate that cannot judge says so", "plug-of-a-day" in done.stderr)


def test_the_dry_run_checks_what_the_run_checks(author):
    shell = author
    for change, expected, options, code in (
        ("xgboost_of_a_day.Trees", "not installed", "", 0),
        ("my_maps.PowerPairs", "PowerPair", "--allow-code", 2),
        (f"{PAIR}, params: {{q: 1}}", "'q'", "--allow-code", 2),
    ):
        (shell.folder / "bad.yaml").write_text(EXPERIMENT.replace(PAIR, change))
        done = shell(f"kmaps run bad.yaml --dry-run {options}", code)
        shell.check(f"{change}: {expected}", expected in done.stderr)
    shell("kmaps run mine.yaml --dry-run --allow-code")
    recipe = (ROOT / "docs" / "continuous-integration.md").read_text()
    runs = re.findall(r"kmaps run .*", recipe)
    shell.check("all recipes allow code", runs and all("--allow-code" in line for line in runs))
    (shell.folder / "experiment.yaml").write_text(EXPERIMENT)
    shell("kmaps run experiment.yaml --out baseline --quiet --allow-code")
    shell("kmaps run experiment.yaml --out new --quiet --allow-code")
    shell("kmaps check new --against baseline --format md --junit kmaps.xml")
    for change, form in (
        (("{map: homogeneous, order: 1}", "{map: landmarks}"), "{estimator: kmaps.LandmarkMap}"),
        (("C: 1", "C: [0.1, 1]"), "{grid: [0.1, 1]}"),
    ):
        (shell.folder / "bad.yaml").write_text(EXPERIMENT.replace(*change))
        done = shell("kmaps run bad.yaml --dry-run", code=2)
        shell.check(f"the right form is shown: {form}", form in done.stderr)


def test_exponential_kernels_choose_C(shell):
    files.digits(shell.folder)
    train = "kmaps train train.csv {} --label-column digit --kernel exp-chi2 -m 500"
    done = shell(train.format("m.npz"))
    shell.check("it says that C was chosen", "chosen" in done.stdout and "-C" in done.stderr)
    scores = [float(score) for score in re.findall(r": ([\d.]+) %", done.stdout)]
    score, reason = re.search(r": ([\d.]+) % .*chosen(.*)", done.stdout).groups()
    shell.check("its rule is said where another C has more", reason or float(score) == max(scores))
    shell(train.format("one.npz") + " -C 1")
    chosen, one = (
        json.loads(shell(f"kmaps evaluate {name} test.csv --label-column digit --json -q").stdout)[
            "accuracy"
        ]
        for name in ("m.npz", "one.npz")
    )
    print(chosen, one)
    shell.check("it is better than C = 1", chosen > one)
    done = shell("kmaps train train.csv l.npz --label-column digit --kernel linear", code=2)
    shell.check(
        "the linear model is named", "linear model" in done.stderr or "LiblinearSVC" in done.stderr
    )


def test_faults(author):
    shell = author
    shell("kmaps run mine.yaml --out base --allow-code --quiet")
    (shell.folder / "pipe").mkdir()
    os.mkfifo(shell.folder / "pipe" / "records.jsonl")
    for line in ("report pipe", "check pipe --against base", "check base --against pipe"):
        done = shell(f"timeout 60 kmaps {line}", code=2)
        shell.check("a pipe is refused by name", "pipe/records.jsonl" in done.stderr)
    done = shell("kmaps table base > /dev/full", code=2)
    shell.check("a full disk: what could not be written is named", "standard output" in done.stderr)
    small = "ulimit -f 2; kmaps train train.csv small.npz --label-column digit --quiet"
    done = shell(f"({small}) 2>&1 | cat")
    shell.check("and so is a file", "small.npz" in done.stdout)
    (shell.folder / "long.csv").write_text("a,cls\n1,x\n" + 5000 * "z" + ",y\n")
    done = shell("kmaps train long.csv m.npz --label-column cls", code=2)
    shell.check("a refusal quotes at most 200 characters", done.stderr.count("z") <= 200)
    for name in ("größe.npz", "大小.npz"):
        for variables in ("LC_ALL=POSIX", "LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"):
            line = f"{variables} kmaps train train.csv {name} --label-column digit --force"
            shell(line)
            written = (shell.folder / name).exists()
            shell.check("a file whose name is not ASCII is written", written)
            (shell.folder / name).unlink(missing_ok=True)
    done = shell.python(
        """
        import numpy as np
        from kmaps import CodedSVC, CodedSVR, KernelSVCCV
        from kmaps.models import to_onnx
        X = np.random.default_rng(0).random((60, 3))
        for call in (
            lambda: KernelSVCCV(C=float("inf")).fit(X, np.arange(60) % 2),
            lambda: KernelSVCCV(C=[1, float("inf")]).fit(X, np.arange(60) % 2),
            lambda: to_onnx(CodedSVC().fit(X, np.array(["a", chr(0xD800)])[np.arange(60) % 2])),
        ):
            try:
                call()
                print("nothing is refused")
            except ValueError as error:
                print("ValueError:", str(error).encode("ascii", "replace").decode())
        """
    )
    shell.check("ValueErrors in one line", done.stdout.count("ValueError:") == 3)
    done = shell.python(
        """
        import time
        import numpy as np
        from kmaps import KernelSVCCV
        X = np.random.default_rng(0).random((300_000, 3), np.float32)
        start = time.process_time()
        try:
            KernelSVCCV().fit(X, np.arange(300_000) % 2)
        except (ValueError, MemoryError) as error:
            print(f"refused after {time.process_time() - start:.1f} s: {error}")
        """
    )
    seconds = re.search(r"refused after ([\d.]+) s", done.stdout)
    shell.check("300,000 rows are refused before any work", seconds and float(seconds[1]) < 3)
    np.save(shell.folder / "X.npy", np.random.default_rng(0).random((90, 3)))
    done = shell.python(
        """
        import warnings
        import numpy as np
        from kmaps import CodedRidge, CodedSVR
        X = np.load("X.npy")
        for model in (CodedSVR(), CodedRidge()):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, X[:, 0]).predict(3 * X)
            print(*(str(warning.message) for warning in caught))
        """
    )
    shell.check("regressors warn under their names", "SVC" not in done.stdout)
    shell.check("both warn", done.stdout.count("CodedSVR") and done.stdout.count("CodedRidge"))


def test_compiling_is_said_once(shell, tmp_path):
    files.digits(shell.folder)
    warmed = shell.environment["NUMBA_CACHE_DIR"]
    shell.environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cold")
    shell.compiles = True
    train = "kmaps train train.csv m.npz --label-column digit --force"
    shell.check("the first time it is said once", shell(train).stderr.count("compiling") == 1)
    shell.check("the second time it is not", "compiling" not in shell(train).stderr)
    shell.environment["NUMBA_CACHE_DIR"] = warmed
    shell.compiles = False
    for options in (
        "",
        "-C path",
        "--probability isotonic",
        "--map homogeneous",
        "--multiclass ovo",
    ):
        shell(f"{train} {options}")
