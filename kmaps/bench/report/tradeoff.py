"""What trade-offs come to: the points of each learner, averaged over the draws, and their table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

Point = dict[str, float]


def quality(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the measure of a study's records: accuracy, or with classes average precision."""
    return (
        "average_precision"
        if any(r.get("average_precision") is not None for r in records)
        else "accuracy"
    )


def means(records: Iterable[Mapping[str, Any]]) -> dict[str, list[Point]]:
    """Return the points of each learner, averaged over the draws: one a row of the table.

    A point has its quality, accuracy or average precision, in percent and the standard deviation of
    it over the draws, the projections kept and drawn, how many the learner was ``told`` to keep (0:
    it chose), C, and the microseconds of a test sample.
    """
    records = [record for record in records if record["status"] == "ok" and record["learner"]]
    measure = quality(records)
    rows: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        name = record["learner"]["name"]
        name = f"{name} {record['kernel']}" if name == "exact" else name
        rows.setdefault((name, record["label"]), []).append(record)
    points: dict[str, list[Point]] = {}
    for (name, _), group in rows.items():
        values = [100 * record[measure] for record in group]
        points.setdefault(name, []).append(
            {
                "quality": float(np.mean(values)),
                "spread": float(np.std(values, ddof=1)) if len(values) > 1 else 0.0,
                "kept": float(np.mean([record["dim"] / 2 for record in group])),
                "drawn": group[0]["params"].get("n_frequencies", 0),
                "C": group[0]["C"],
                "us": float(np.mean([1e6 * r["predict_s"] / r["n_test"] for r in group])),
                "told": group[0]["learner"].get("keep", 0),
            }
        )
    return points


def tradeoff_table(records: Iterable[Mapping[str, Any]]) -> str:
    """Return a Markdown table of the points: what each learner keeps, costs and attains."""
    records = list(records)
    lines = [
        f"| learner | C | projections | kept | {quality(records).replace('_', ' ')}, % "
        "| µs a test sample |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, group in means(records).items():
        for point in group:
            shown = f"{point['quality']:.2f}"
            drawn = kept = ""
            if not name.startswith("exact"):
                shown += f" ± {point['spread']:.2f}"
                drawn, kept = f"{point['drawn']:,}", f"{point['kept']:,.0f}"
            row = [name, f"{point['C']:g}", drawn, kept, shown, f"{point['us']:.1f}"]
            lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)
