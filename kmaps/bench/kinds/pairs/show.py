"""Pairs: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import SIZES, Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged
from kmaps.bench.report.document import Section
from kmaps.bench.report.laws import falls_table


class PairsShown(Shown):
    """Pairs: judged columns, measures and sections."""

    fills = (
        "linf",
        "rms",
        "bias",
        "deviation",
        "dim",
        "train_bytes",
        "storage_form",
        "paper_train_bytes",
        "table_bytes",
        *SIZES,
    )
    judged = (
        *(Judged(name, NUMERICAL) for name in ("linf", "rms", "bias", "deviation")),
        *(Judged(name, EXACT) for name in ("dim", "train_bytes")),
    )
    measured = ("bias", "deviation", "rms", "linf", "storage-train")
    known_figures = {
        "falls": Figure("kmaps.bench.figures.laws.draw_falls"),
        "stored": Figure("kmaps.bench.figures.laws.draw_stored"),
    }

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the section on falling errors where some are measured, else the one on storage."""
        varied = [entry.get(key) for entry in experiment.maps for key in ("n_anchors", "columns")]
        falls = any(isinstance(values, list) and len(values) > 1 for values in varied)
        name = "falls" if falls else "stored"
        return {name: self.known_figures[name]}

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the sections of a page that only this kind has."""
        table = falls_table(records)
        return [Section("How the errors fall", [table])] if table.rows else []


SHOWN = PairsShown()
