"""The rows of a map: one for each combination of its parameters and kernels."""

from kmaps.bench.spec.map_rows import map_rows


def test_rows_of_a_map():
    entry = {"map": "homogeneous", "order": [1, 2], "window": "uniform"}
    rows = list(map_rows(entry, ["chi2", "js"]))
    assert rows == [(k, {"order": n, "window": "uniform"}) for n in (1, 2) for k in ("chi2", "js")]
    own = {"map": "homogeneous", "kernel": "js", "order": 1}
    assert list(map_rows(own, ["chi2"])) == [("js", {"order": 1})]
