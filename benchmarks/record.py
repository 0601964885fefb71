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
_UNITS = {"s": (1.0, "s"), "bytes": (1e6, "MB")}


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


def table(groups: dict[str, Any]) -> str:
    """Return the headlines as a table of Markdown, with a sentence on where they come from."""
    lines = ["| task | kmaps | instead of | takes | gain |", "| --- | ---: | --- | ---: | ---: |"]
    for _, group in sorted(groups.items()):
        for row in group["rows"]:
            size, unit = _UNITS[row["measure"]]
            gain = f"{row['ratio']:.0f}" if row["ratio"] >= 10 else f"{row['ratio']:.1f}"
            lines.append(
                f"| {row['headline']} | {_digits(row['ours'] / size)} {unit} | {row['rival']} "
                f"| {_digits(row['other'] / size)} {unit} | {gain} × |"
            )
    processors = sorted({group["cpu"].partition(" (")[0] for group in groups.values()})
    dates = sorted({group["date"] for group in groups.values()})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    lines += ["", f"Measured by `make bench` on {' and '.join(processors)}, {days}."]
    return "\n".join(lines)


def _digits(amount: float) -> str:
    """Return an amount with three significant digits."""
    return f"{amount:,.0f}" if amount >= 100 else f"{amount:.3g}"
