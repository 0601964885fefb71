"""Approximations: judged columns, measures, figures and sections."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.kinds.shown import Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import EXACT, NUMERICAL, Judged


class ApproximationShown(Shown):
    """The largest and the root mean square error of each map, and the pair with the largest."""

    fills = ("linf", "rms", "l1", "error_bound", "period", "worst", "dim", "fit_s")
    judged = (Judged("linf", NUMERICAL), Judged("rms", NUMERICAL), Judged("dim", EXACT))

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return the errors and the outputs; mean errors, bounds and periods where they matter."""
        for_l1 = any("norm" in record["params"] for record in records)
        bounded = all(record["error_bound"] is not None for record in records)
        own = ("bound", "period") if bounded else ()
        return ("linf", "rms", *(("l1",) if for_l1 else ()), *own, "dim")

    def known_figures(self) -> dict[str, Figure]:
        """Return the figures of kernels, maps and errors."""
        from kmaps.bench.figures import (
            decay,
            errors,
            gaps,
            kernels,
            outputs,
            periods,
            quadrants,
            sections,
            signatures,
            spectra,
            surfaces,
        )

        alone = {
            "decay": decay,
            "outputs": outputs,
            "periods": periods,
            "kernels": kernels,
            "spectra": spectra,
        }
        drawn = {
            "errors": errors,
            "sections": sections,
            "surfaces": surfaces,
            "signatures": signatures,
            "gaps": gaps,
            "quadrants": quadrants,
        }
        return {
            **{name: Figure(of.draw, needs_arrays=True) for name, of in drawn.items()},
            **{name: Figure(of.draw) for name, of in alone.items()},
        }

    def figures(self, experiment: Any) -> dict[str, Figure]:
        """Return the figures that the experiment names."""
        known = self.known_figures()
        return {name: known[name] for name in experiment.figures}


SHOWN = ApproximationShown()
