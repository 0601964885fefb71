"""Studies: checked, run, resumed, drawn."""

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from kmaps.bench.kinds import load as spec
from kmaps.bench.kinds.study import run_study, study_cells
from kmaps.bench.records.file import read_records
from kmaps.bench.work.toy import fit_toy, toy_points
from kmaps.cli.main import cli
from kmaps.errors import ConfigError
from kmaps.maps import HomogeneousMap, SplineMap

APPROXIMATION = """\
experiment: near
kind: approximation
kernels: [chi2, intersection]
ranges: ["0:1", "0:0.1"]
fit_range: "0:1"
maps:
  - {map: homogeneous, order: [1, 2]}
  - {map: spline, n_bins: 4}
figures: [sections, errors, surfaces]
"""
TOY = """\
experiment: disc
kind: toy
side: 12
maps:
  - {map: spline, degree: [1, 3]}
  - {map: fourier}
"""


def test_approximation_records_and_figures(tmp_path):
    study = spec.parse(APPROXIMATION)
    outcome = run_study(study, tmp_path)
    assert outcome.measured == len(outcome.records) == 2 * 2 * 3
    by_name = {(r["dataset"], r["kernel"], r["label"]): r for r in read_records(tmp_path)}
    wide = by_name["x, y in 0:1", "chi2", "homogeneous order=2"]
    narrow = by_name["x, y in 0:0.1", "chi2", "homogeneous order=2"]
    assert narrow["linf"] == pytest.approx(wide["linf"] / 10, rel=1e-6)  # homogeneity
    assert (wide["dim"], wide["worst"][1]) == (5, 1.0)
    # Fitted on [0, 1], four bins say little about [0, 0.1].
    spline = by_name["x, y in 0:0.1", "intersection", "spline n_bins=4"]
    assert spline["rms"] > by_name["x, y in 0:1", "intersection", "spline n_bins=4"]["rms"] / 10
    for name in study.figures:
        with Image.open(tmp_path / f"{name}.png") as image:
            assert len(image.convert("RGB").getcolors(1 << 24)) > 20


def test_same_again_does_nothing_and_draws_what_is_missing(tmp_path):
    study = spec.parse(APPROXIMATION)
    run_study(study, tmp_path)
    written = (tmp_path / "records.jsonl").read_bytes()
    (tmp_path / "errors.png").unlink()
    assert run_study(study, tmp_path).measured == 0
    assert (tmp_path / "errors.png").exists()
    assert (tmp_path / "records.jsonl").read_bytes() == written


def test_another_option_is_another_cell():
    keys = {cell.key for cell in study_cells(spec.parse(APPROXIMATION))}
    relative = {cell.key for cell in study_cells(spec.parse(APPROXIMATION + "relative: true\n"))}
    assert len(keys) == 12
    assert not keys & relative


def test_a_map_that_fails_is_recorded(tmp_path):
    text = APPROXIMATION.replace('"0:1"', '"-1:1"').replace("spline, n_bins: 4", "anchor")
    outcome = run_study(spec.parse(text), tmp_path)
    assert {record["method"] for record in outcome.failed} == {"anchor"}
    assert "egative" in outcome.failed[0]["error"]


def test_toy(tmp_path):
    outcome = run_study(spec.parse(TOY), tmp_path)
    accuracy = {record["label"]: record["accuracy"] for record in outcome.records}
    assert set(accuracy) == {"spline degree=1", "spline degree=3", "fourier"}
    assert min(accuracy.values()) > 0.95
    assert (tmp_path / "functions.png").exists()


def test_learned_function_is_a_parabola():
    fit = fit_toy(SplineMap(n_bins=8, degree=3), side=30, radius=0.75, C=10.0)
    centred = -(fit.x**2) - np.mean(-(fit.x**2))
    assert np.corrcoef(fit.function, centred)[0, 1] > 0.97
    assert fit.function.mean() == pytest.approx(0, abs=1e-9)
    # One column of 8 + 3 spline functions for each coordinate, and accuracy far above the majority.
    assert fit.dim == 22
    assert fit.accuracy > toy_points(30, 0.75)[1].mean() + 0.4


def test_toy_function_is_of_the_first_coordinate():
    class FirstOnly(HomogeneousMap):
        def transform(self, X):
            Z = super().transform(X)
            Z[:, Z.shape[1] // 2 :] = 0
            return Z

    fit = fit_toy(FirstOnly(order=2), side=12, radius=0.75, C=1.0)
    assert np.ptp(fit.function) > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("kind: approximation", "kind: aproximation"), "2:7: kind: unknown kind 'aproximation', "),
        (("chi2, inter", "exp-chi2, inter"), "unknown kernel 'exp-chi2'"),
        (('"0:0.1"', '"1:0"'), "expected LOW:HIGH with LOW < HIGH"),
        (("order:", "ordr:"), "7:24: maps[0].ordr: unknown key, did you mean 'order'?"),
        (("sections,", "section,"), "figures[0]"),
        (("ranges:", "rnges:"), "unknown key, did you mean 'ranges'?"),
    ],
)
def test_mistakes_are_told_with_their_place(change, message):
    with pytest.raises(ConfigError) as refused:
        spec.parse(APPROXIMATION.replace(*change))
    assert message in str(refused.value)


def test_command_line(tmp_path):
    (tmp_path / "near.yaml").write_text(APPROXIMATION)
    run = ["run", str(tmp_path / "near.yaml"), "--out", str(tmp_path / "out")]
    listed = CliRunner().invoke(cli, [*run, "--dry-run"])
    assert "to do   x, y in 0:1 chi2 homogeneous order=1" in listed.stdout
    assert not (tmp_path / "out").exists()
    shown = CliRunner().invoke(cli, run)
    assert shown.exit_code == 0, shown.output
    assert "x, y in 0:1: largest error" in shown.stdout
    assert "nothing to do: all 12 cells" in CliRunner().invoke(cli, run).stderr


SPANS = """\
experiment: spans
kind: approximation
kernels: [rbf]
ranges: ["differences 0:2", "differences 0:2:9"]
sigma: 0.5
maps:
  - {map: random-fourier, n_frequencies: [4, 4000]}
  - {map: lowdim, dim: 5}
figures: [signatures, gaps]
"""


def test_maps_have_the_kernels_width_and_levels(tmp_path):
    study = spec.parse(SPANS)
    outcome = run_study(study, tmp_path)
    linf = {(r["dataset"], r["label"]): r["linf"] for r in outcome.records}
    everywhere, levels = "differences 0:2", "differences 0:2 (9 levels)"
    # Of another width, thousands of frequencies would be far off.
    assert linf[everywhere, "random-fourier n_frequencies=4000"] < 0.05
    assert linf[everywhere, "random-fourier n_frequencies=4"] > 0.1
    # Made for nine values, the map is better there than one made for all.
    assert linf[levels, "lowdim dim=5"] < 0.95 * linf[everywhere, "lowdim dim=5"]
    for name in study.figures:
        with Image.open(tmp_path / f"{name}.png") as image:
            assert len(image.convert("RGB").getcolors(1 << 24)) > 20
    wider = {cell.key for cell in study_cells(spec.parse(SPANS.replace("0.5", "0.6")))}
    assert not wider & {record["key"] for record in outcome.records}


def test_ratios_stand_beside_pairs(tmp_path):
    text = APPROXIMATION.replace('"0:0.1"', '"ratios 1:100"').replace("surfaces", "gaps")
    text = text.replace("  - {map: spline, n_bins: 4}\n", "")
    outcome = run_study(spec.parse(text), tmp_path)
    assert {r["dataset"] for r in outcome.records} == {"x, y in 0:1", "ratios 1:100"}
    assert (tmp_path / "gaps.png").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[rbf]", "[chi2]"), "range 'differences 0:2' is one of stationary kernels"),
        (('"differences 0:2"', '"ratios 1:2"'), "range 'ratios 1:2' is one of homogeneous kernels"),
        (('"differences 0:2"', '"differences 1:2"'), "4:10: ranges[0]: range 'differences 1:2'"),
        (("dim: 5", "dim: 0"), "8:24: maps[1].dim: dim=0: expected a whole number of at least 1"),
    ],
)
def test_mistakes_in_spans(change, message):
    with pytest.raises(ConfigError) as refused:
        spec.parse(SPANS.replace(*change))
    assert message in str(refused.value)


def test_checking_a_file_solves_no_program(monkeypatch):
    monkeypatch.setattr("kmaps.maps.lowdim.transformer.solve", None)
    assert spec.parse(SPANS).maps[1] == {"map": "lowdim", "dim": 5}
