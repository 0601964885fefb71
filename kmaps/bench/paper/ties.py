"""Which rows of a table are not decided to be worse than its best one."""

from collections.abc import Mapping, Sequence

from kmaps.bench.paper.claims import estimate
from kmaps.bench.paper.verdicts import ALPHA
from kmaps.bench.records.arrays import Correct
from kmaps.bench.records.columns import Record
from kmaps.bench.records.lines import side_by_side
from kmaps.bench.records.measures import MEASURES
from kmaps.bench.report.tables import Tied


def ties(correct: Mapping[str, Correct]) -> Tied:
    """Return a function that says whether the difference of two rows in a measure is undecided.

    Parameters
    ----------
    correct : mapping
        Which test samples records got right, by their keys, where that is on record.

    Returns
    -------
    callable
        Takes the records of two rows and the name of a measure. Its answer is True where the 95 %
        interval of their difference, or of their ratio, contains equality, and False where there is
        no interval.
    """

    def tied(row: Sequence[Record], best: Sequence[Record], measure: str) -> bool:
        is_fraction = MEASURES[measure].unit == "fraction"
        row_cells = {(record["split"], record["draw"]): record for record in row}
        best_cells = {(record["split"], record["draw"]): record for record in best}
        relation = "above" if is_fraction else "smaller"
        difference = estimate(side_by_side(row_cells, best_cells), relation, measure, correct)
        if difference is None or difference.bounds is None:
            return False
        low, high = difference.bounds(ALPHA)
        equality = 0.0 if is_fraction else 1.0
        return low <= equality <= high

    return tied
