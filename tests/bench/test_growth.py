"""Scaling experiments: which cells there are, and the power laws fitted to their records."""

import numpy as np
import pytest

from kmaps.bench.kinds import grid
from kmaps.bench.kinds import load as spec
from kmaps.bench.report.growth import growth, growth_table
from kmaps.bench.report.page import report
from kmaps.errors import ConfigError

TEXT = """\
experiment: growth
kind: scaling
dataset: {name: mnist, official: true}
sizes: [200, 100, 400]
limits: {exact: 200}
kernels: [chi2]
reductions: [ovr]
baselines: [exact, exact-coded]
maps:
  - {map: homogeneous, order: 1, solver: [liblinear, coded]}
C: 0.1
"""


def record(label: str, n: int, **columns) -> dict:
    times = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0, "train_s": 1.0}
    setting = {"experiment": "growth", "dataset": "mnist", "features": "intensity", "split": 0}
    setting |= {"normalize": "none", "reduction": "ovr", "params": {}, "status": "ok"}
    identity = {"method": label, "label": f"{label} n={n}", "kernel": "chi2", "n_train": n}
    protocol = {"protocol": {"official": True, "train": n}}
    if label == "exact":
        protocol["learner"] = {"solver": "libsvm"}
    sizes = {"accuracy": 0.9, "storage_bytes": n, "train_peak_bytes": 1000 * n}
    return setting | identity | protocol | times | sizes | columns


def test_each_row_at_each_size_up_to_its_limit():
    cells = grid.cells(spec.parse(TEXT))
    assert [cell.label for cell in cells if cell.protocol["train"] == 400] == [
        "exact-coded n=400",
        "homogeneous order=1 n=400",
        "homogeneous order=1 solver=coded n=400",
    ]
    assert [cell.protocol["train"] for cell in cells] == [100] * 4 + [200] * 4 + [400] * 3
    assert len({cell.key("d") for cell in cells}) == len(cells)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("exact: 200", "exat: 200", "5:16: limits.exat: unknown method 'exat', did you mean"),
        ("exact: 200", "exact: 0", "5:17: limits.exact: should be greater than 0, got 0"),
        ("[200, 100, 400]", "[200]", "4:8: sizes: List should have at least 2 items"),
        ("official: true", "train: 9, test: 9", "1:1: a scaling experiment needs dataset: off"),
        ("official: true", "official: true, train: 9", "1:1: a scaling experiment needs"),
        ("sizes:", "size:", "4:1: size: unknown key, did you mean 'sizes'?"),
    ],
)
def test_mistakes(old, new, expected):
    with pytest.raises(ConfigError) as caught:
        spec.parse(TEXT.replace(old, new), "e.yaml")
    assert f"e.yaml:{expected}" in str(caught.value)


def test_exponents_are_those_of_the_largest_sizes():
    sizes = [100, 1000, 2000, 4000, 8000]
    # What is the same for every size hides the growth of the smallest one.
    records = [record("exact", n, train_s=5.0 if n == 100 else 3e-6 * n**1.8) for n in sizes]
    records += [record("exact-coded", n) for n in sizes[:1]]
    records += [record("linear", n, status="failed") for n in sizes]
    rows = growth(reversed(records), "time")
    assert [row.name for row in rows] == ["exact-coded, chi2", "exact, chi2 (LIBSVM)"]
    assert rows[1].exponent == pytest.approx(1.8)
    assert rows[1].at(16000) == pytest.approx(3e-6 * 16000**1.8)
    np.testing.assert_array_equal(rows[1].sizes, sizes)
    assert np.isnan(rows[0].exponent)


def test_the_page_has_the_growth_and_a_row_for_each_size(tmp_path):
    records = [record("exact", n, train_s=n / 1e3, accuracy=n / 1e4) for n in (1000, 2000, 4000)]
    line = "| exact, chi2 (LIBSVM) | 4,000 | 40.00 | 4.00 | n^1.00 | 4.00 | n^1.00 |"
    assert line in growth_table(records)
    page = report(records)
    assert line in page
    assert "| exact n=2000 | 20.00 |" in page
    assert "## Growth" not in report([r | {"protocol": {"official": True}} for r in records])


def test_the_figure_is_drawn(tmp_path):
    from kmaps.bench.figures.growth import draw_growth

    records = [record("exact", n, train_s=n / 1e3) for n in (1000, 2000)]
    records += [record("exact-coded", n) for n in (1000, 2000, 4000)]
    draw_growth(records, tmp_path / "scaling.png")
    assert (tmp_path / "scaling.png").read_bytes().startswith(b"\x89PNG")
