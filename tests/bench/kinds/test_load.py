"""Experiment files: what is accepted, and that every mistake is told with its place."""

import pytest

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.paper.entries import claim_entries, packaged
from kmaps.bench.run.plan import importable
from kmaps.errors import ConfigError
from tests.bench.spec_text import GOOD, mistakes, replaced
from tests.loops import failures


def test_values_of_c_are_numbers_in_their_order():
    assert spec.parse(GOOD).C.grid == [0.01, 1.0, 10.0]  # 1e-2 is a number
    assert spec.parse(GOOD[: GOOD.index("C:")] + "C: 0.5\n").C.grid == [0.5]


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("splits: 2", "splitz: 2", "5:1: splitz: unknown key, did you mean 'splits'?"),
        ("splits: 2", "splits: 0", "5:9: splits: should be greater than 0, got 0"),
        ("splits: 2", "splits: 10001", "5:9: splits: should be less than or equal to 10000"),
        ("splits: 2", "splits: true", "5:9: splits: should be a valid integer, got True"),
        ("[chi2, js]", "chi2", "6:10: kernels: should be a valid list, got 'chi2'"),
        ("[chi2, js]", "[js, js]", "6:10: kernels: 'js' is listed twice"),
        ("[ovo, ovr]", "[ovo, ova]", "7:19: reductions[1]: should be 'ovo' or 'ovr', got 'ova'"),
        ("bias: 1}", "bias: -1}", "13:30: learner.bias: should be greater than or equal to 0, got"),
        ("bias: 1}", "penalty: l1}", "13:10: learner: penalty l1 needs loss squared_hinge or"),
        ("[1, 1e-2, 10]", "best", "15:9: C.grid: expected a list of values, auto or plateau, got"),
        ("1e-2", "-1e-2", "15:13: C.grid[1]: should be greater than 0, got -0.01"),
        ("1e-2", ".nan", "15:13: C.grid[1]: should be a finite number, got nan"),
        ("folds: 3", "folds: 1", "16:10: C.folds: should be greater than or equal to 2, got 1"),
        ("samples: 100", "samples: 2", "15:3: C: samples must be at least folds (3), got 2"),
        ("small", "../up", "1:13: experiment: expected letters, digits, '-', '_' and '.', got"),
        ("[chi2, js]", "[chi, js]", "6:11: kernels[0]: unknown kernel 'chi', did you mean 'chi2'?"),
        ("name: digits", "name: digts", "3:17: dataset.name: unknown dataset 'digts', did you"),
        ("name: intensity", "name: intensty", "4:18: features.name: unknown features 'intensty',"),
        ("normalize: l1", "normalize: gamma=0", "4:40: features.normalize: unknown normalisation"),
        ("name: intensity", "cells: [3], name: intensity", "4:12: features.cells: unknown key"),
        ("name: intensity", "name: hog-pyramid, cells: [3, 3]", "4:38: features.cells:"),
        ("name: intensity", "name: phow, patches: [40], longest: 30", "4:48: features.longest:"),
        ("- {map: homogeneous", "- {map: homogenous", "10:11: maps[0].map: unknown map"),
        ("order: [1, 2]", "ordr: [1, 2]", "10:24: maps[0].ordr: unknown key, did you mean"),
        ("order: [1, 2]", "order: [1, -2]", "10:35: maps[0].order[1]: "),
        ("order: 3", "order: []", "12:12: maps[1].order: expected at least one value"),
        ("order: 3", "window: rectangle", "12:13: maps[1].window: "),
    ],
)
def test_one_mistake_in_its_place(old, new, mistake):
    found = mistakes(replaced(old, new))
    assert any(line.startswith(f"e.yaml:{mistake}") for line in found)


@pytest.mark.parametrize("amount", ["0", "1.5", "true", "[]", "[1]", "many"])
def test_an_amount_is_a_count_a_part_or_groups(amount):
    (found,) = mistakes(replaced("train: 200, test: 100", f"train: {amount}, test: 100"))
    assert "dataset.train: expected a count, a part of all between 0 and 1, or a list of" in found


def test_keys_given_twice():
    found = mistakes(GOOD + "splits: 3\n")
    assert found == ["e.yaml:18:1: splits: is given twice, first in line 5"]
    nested = replaced("{loss: hinge, bias: 1}", "{loss: hinge, loss: logistic}")
    assert mistakes(nested) == ["e.yaml:13:24: loss: is given twice, first in line 13"]
    for presets in ("presets: a\npresets: {a: {C: 1}}\n", "presets: {a: b, a: {C: 1}}\n"):
        assert any("is given twice" in line for line in mistakes(GOOD + presets))


def test_exact_and_maps_need_kernels_and_something_has_to_run():
    found = mistakes(replaced("kernels: [chi2, js]\n", ""))
    assert "e.yaml:1:1: the baseline 'exact' needs kernels" in found
    assert any("maps[0]: needs kernels" in line for line in found)

    text = GOOD[: GOOD.index("baselines")] + "C: 1\n"
    assert mistakes(text) == ["e.yaml:1:1: nothing to run: name baselines, maps or classifiers"]
    found = mistakes(replaced("[chi2, js]", "[exp-chi2]"))
    assert any(line.startswith("e.yaml:10:5: maps[0]: ") and "exp-chi2" in line for line in found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "e.yaml:1:1: expected a mapping (key: value), got nothing"),
        ("- 1\n- 2\n", "e.yaml:1:1: expected a mapping (key: value), got a list"),
        ("hello\n", "e.yaml:1:1: expected a mapping (key: value), got 'hello'"),
        ("a: 1\n---\nb: 2\n", "e.yaml:2:1: but found another document"),
        ("a: \x07\n", "e.yaml: not YAML: unacceptable character #x0007: control characters"),
        ("? [a]\n: 1\n", "e.yaml:1:3: found unhashable key"),
    ],
)
def test_what_is_not_an_experiment_at_all(text, expected):
    found = mistakes(text)
    assert len(found) == 1
    assert found[0].startswith(expected)


def check_packaged(name):
    experiment = spec.load(name)
    assert experiment.experiment == name
    read = claim_entries([name])[name]  # without the models
    assert read == [claim.model_dump() for claim in experiment.claims]
    cells = KINDS[experiment.kind].cells(experiment)
    assert importable(cells, experiment, (), False) is None  # no row needs a flag


def test_every_packaged_experiment_is_sound_and_named_as_its_file():
    assert failures(check_packaged, packaged()) == []


PRESETS = """\
presets:
  small:
    dataset: {name: digits, train: 30, test: 20}
    C: 2
"""


def test_a_preset_takes_the_place_of_keys_and_says_so_in_the_name():
    claim = "{id: A9, left: {method: linear}, right: {method: exact}}"
    text = GOOD + f"claims: [{claim}]\n" + PRESETS
    whole, small = spec.parse(text), spec.parse(text, preset="small")
    assert whole == spec.parse(text.removesuffix(PRESETS)).model_copy(
        update={"presets": whole.presets}
    )
    assert (len(whole.claims), small.claims) == (1, [])  # the preset may lack their rows
    assert small.experiment == f"{whole.experiment}-small"
    assert (small.dataset.train, small.C) != (whole.dataset.train, whole.C)
    assert (small.dataset.train, small.maps) == (30, whole.maps)


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "e.yaml").write_bytes(b"about: \xff\xfe")
    with pytest.raises(ConfigError, match=r"e.yaml: is not a text file in UTF-8"):
        spec.load(tmp_path / "e.yaml")
