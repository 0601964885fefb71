"""Records for tests, with what a test does not set."""

from typing import Any

from kmaps.bench.records.columns import COLUMNS, FORMAT
from kmaps.bench.records.row import Row

SOLVERS = {"exact": "libsvm", "exact-coded": "coded"}


def record(method: str = "homogeneous", split: int | None = 0, **columns: Any) -> dict[str, Any]:
    """Return a whole record, of a classification unless ``kind`` says otherwise."""
    row = Row(method, solver=SOLVERS.get(method, "liblinear")).columns
    made = {
        **dict.fromkeys(COLUMNS),
        "format": FORMAT,
        "kind": "classification",
        "status": "ok",
        "experiment": "trial",
        "setting": "",
        "dataset": "digits",
        "protocol": {"train": 900, "test": 897},
        "features": "intensity",
        "feature_params": {},
        "normalize": "none",
        "reduction": "ovo",
        "kernel": "" if method == "linear" else "chi2",
        **row,
        "settings": {},
        "options": {},
        "versions": {},
        "split": split,
        "accuracy": 0.9,
        "other_cpus": 0.0,
        "warnings": [],
        "error": "",
        "traceback": "",
    } | columns
    if made["key"] is None:
        made["key"] = " ".join(str(made[name]) for name in ("kernel", "split", "draw", *row))
    return made
