"""Records, lines of times and claims, for tests, with what a test does not set."""

from typing import Any

from kmaps.bench.records.columns import COLUMNS, FORMAT
from kmaps.bench.records.row import Row
from kmaps.bench.records.times import COLUMNS as OF_TIMES

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


def times(record: dict[str, Any], *train_s: float, **columns: Any) -> list[dict[str, Any]]:
    """Return a line of each repeat of a record that took so long to train, and nothing else."""
    parts = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0}
    return [
        dict.fromkeys(OF_TIMES)
        | {
            "key": record["key"],
            "repeat": repeat,
            "common": False,
            "C": record["C"],
            "seconds": parts | {"train_s": seconds},
            "bytes": {},
            "judged": {},
            "busy": "",
            "cpu": "a processor",
            "cores": 2,
            "threads": 1,
            "jobs": 1,
        }
        | columns
        for repeat, seconds in enumerate(train_s)
    ]


def again(record: dict[str, Any], *train_s: float, **columns: Any) -> dict[str, Any]:
    """Return a record with what was timed of it again."""
    return record | {"repeats": times(record, *train_s, **columns)}


def claim(relation: str = "above", **given: Any) -> dict[str, Any]:
    """Return an entry of a claim: the homogeneous map against the exact kernel."""
    return {
        "id": "as-good",
        "text": "as good",
        "left": {"method": "homogeneous"},
        "right": {"method": "exact"},
        "relation": relation,
        "measure": "accuracy",
        "by": None,
    } | given
