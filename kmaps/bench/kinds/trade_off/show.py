"""Trade-offs: judged columns, measures, figures and sections."""

from collections.abc import Sequence

from kmaps.bench.kinds.shown import CHOICE, SIZES, TIMES, Figure, Shown
from kmaps.bench.records.columns import Record
from kmaps.bench.records.gate import FRACTION, KEPT, Judged
from kmaps.bench.report.document import Section, Text
from kmaps.bench.report.tradeoff import tradeoff_table


class TradeOffShown(Shown):
    """Trade-offs: judged columns, measures, figures and sections."""

    fills = (*CHOICE, *SIZES, *TIMES, "accuracy", "average_precision", "dim", "model_bytes")
    judged = (
        Judged("accuracy", FRACTION, highest=True),
        Judged("average_precision", FRACTION, highest=True),
        Judged("dim", KEPT),
    )
    known_figures = {
        "trade-off": Figure("kmaps.bench.figures.learned.draw_trade_off"),
        "sparsity": Figure("kmaps.bench.figures.learned.draw_sparsity"),
    }

    def measures(self, records: Sequence[Record]) -> tuple[str, ...]:
        """Return the default columns of tables."""
        quality = "ap" if any("classes" in record["options"] for record in records) else "accuracy"
        return (quality, "dim")

    def sections(self, records: Sequence[Record]) -> list[Section]:
        """Return the sections of a page that only this kind has."""
        several = len({record["split"] for record in records}) > 1
        over = "splits, each with a draw of its own" if several else "draws"
        text = Text(f"Mean ± std over the {over}.")
        return [Section("Trade-off", [text, tradeoff_table(records)])]


SHOWN = TradeOffShown()
