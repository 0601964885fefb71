"""Points of runs as data for the plots of the atlas, and as CSV."""

import csv
import io
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import myst

from kmaps.bench.records.measures import MEASURES
from kmaps.bench.report.forms import csv_text, one_line
from kmaps.bench.report.front import COSTS, FrontPoint, front

if TYPE_CHECKING:
    from atlas import Run

Groups = dict[str, dict[str, Any]]


def plot(groups: Groups) -> str:
    """Return the HTML that ``_static/plot.js`` draws from; the points stand in the page."""
    groups = {one_line(name): group for name, group in groups.items()}
    text = json.dumps(groups, ensure_ascii=False).replace("<", "\\u003c")
    return f'<div class="plot"><script type="application/json">{text}</script></div>'


def of_run(run: "Run") -> Groups:
    by_group: dict[str, list[FrontPoint]] = defaultdict(list)
    for point in run.points:
        by_group[point.group].append(point)
    return {name: _group(run.quality, [(run, p) for p in of]) for name, of in by_group.items()}


def of_runs(runs: Iterable["Run"], keep: Callable[[FrontPoint], bool]) -> Groups:
    """Return the points of several runs, those together that were measured on the same rows."""
    by_group: dict[tuple[str, str], list[tuple[Run, FrontPoint]]] = defaultdict(list)
    for run in runs:
        for point in filter(keep, run.points):
            record = point.records[0]
            counts = record["n_train"], record["n_test"]
            sizes = "{:,} to train, {:,} to test".format(*counts) if all(counts) else ""
            words = filter(None, (record["features"], record["setting"], sizes))
            by_group[run.quality, ", ".join(words)].append((run, point))
    # Accuracies before errors of kernels, which fewer readers look for; then the most rows.
    ordered = sorted(
        by_group.items(), key=lambda item: (not MEASURES[item[0][0]].highest, -len(item[1]))
    )
    return {
        f"{name}: {MEASURES[quality].title}": _group(quality, of)
        for (quality, name), of in ordered
        if len(of) > 1
    }


def _group(quality: str, of: list[tuple["Run", FrontPoint]]) -> dict[str, Any]:
    points = [point for _, point in of]
    costs = [name for name in (*COSTS, "dim") if any(name in p.values for p in points)]
    costs = [name for name in costs if name != quality]
    return {
        "quality": [quality, MEASURES[quality].title],
        "costs": {name: COSTS.get(name, MEASURES[name].title) for name in costs},
        "points": [
            data(point, run) | {"front": [c for c in costs if point in front(points, c, quality)]}
            for run, point in of
        ],
    }


def data(point: FrontPoint, run: "Run") -> dict[str, Any]:
    """Return a point with what its records say of how it was measured."""
    record = point.records[0]
    versions = ", ".join(f"{name} {one}" for name, one in (record.get("versions") or {}).items())
    names = {name: getattr(point, name) for name in ("group", "name", "method", "kernel")}
    return {
        "run": myst.slug(run.name),
        **{name: one_line(value) for name, value in names.items()},
        **{name: round(value, 6) for name, value in point.values.items()},
        "n_records": len(point.records),
        "key": record["key"][:12],
        "command": one_line(record.get("command") or f"kmaps run {run.name}"),
        "environment": one_line(
            f"{record['cpu']}; {record['threads']} threads; Python {record['python']}; {versions}; "
            f"commit {(record['commit'] or 'unknown')[:12]}"
        ),
    }


def points_csv(runs: Iterable["Run"], keep: Callable[[FrontPoint], bool] = bool) -> str:
    """Return points of runs as CSV, one line per row of their tables."""
    rows = [data(point, run) for run in runs for point in run.points if keep(point)]
    names = dict.fromkeys(name for row in rows for name in row)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: csv_text(value) if isinstance(value, str) else value for name, value in row.items()}
        for row in rows
    )
    return out.getvalue()


def text(name: str, values: Mapping[str, float]) -> str:
    """Return a value as tables print it; empty where it was not measured."""
    measure = MEASURES[name]
    return measure.format(values[name] / measure.scale) if name in values else ""
