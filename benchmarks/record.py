"""What `make bench RECORD=yes` measured, as a document can quote it.

``measured.json`` has, for each group, the measurements with a headline, and the computer, the
software, the date and the load under which they were taken.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.measure import Measurement
from kmaps import num_threads
from kmaps.bench.run.environment import describe

PATH = Path(__file__).with_name("measured.json")


def write(group: str, measurements: Iterable[Measurement], load: float | None) -> None:
    """Replace what the record has of a group by measurements, of which it keeps the headlines.

    ``load`` is the load average when the group began.
    """
    groups = read()
    rows = [
        {
            "headline": measurement.headline,
            "rival": measurement.rival,
            "measure": measurement.measure,
            "ours": measurement.ours,
            "other": measurement.other,
            "ratio": measurement.ratio,
        }
        for measurement in measurements
        if measurement.headline
    ]
    if not rows:
        return
    described = describe()
    groups[group] = {
        "command": f"python -m benchmarks --record {group}",
        "date": datetime.now(UTC).date().isoformat(),
        "load": load,
        "threads": num_threads(),
        **{name: described[name] for name in ("cpu", "cores", "python", "commit", "dirty")},
        "versions": described["versions"],
        "rows": rows,
    }
    PATH.write_text(json.dumps(groups, indent=1, sort_keys=True) + "\n")


def read() -> dict[str, Any]:
    """Return the groups of the record, by name."""
    return json.loads(PATH.read_text()) if PATH.exists() else {}
