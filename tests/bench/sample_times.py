"""Lines of times for tests, with what a test does not set."""

from typing import Any

from kmaps.bench.records.times import COLUMNS


def times(record: dict[str, Any], *train_s: float, **columns: Any) -> list[dict[str, Any]]:
    """Return a line of each repeat of a record that took so long to train, and nothing else."""
    parts = {"fit_s": 0.0, "encode_s": 0.0, "convert_s": 0.0}
    return [
        dict.fromkeys(COLUMNS)
        | {
            "key": record["key"],
            "repeat": repeat,
            "common": False,
            "C": record["C"],
            "seconds": parts | {"train_s": seconds},
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
