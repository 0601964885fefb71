"""Rows side by side: what each gains and costs, one line a row, all measures beside each other."""

from collections.abc import Sequence
from typing import Any

from kmaps.bench.records.columns import Record
from kmaps.bench.records.measures import MEASURES, accuracy_of
from kmaps.bench.records.summary import summarize
from kmaps.bench.report.forms import markdown_table

COSTS = {
    "time": "training, s",
    "predict": "test, s",
    "memory": "memory, MB",
    "storage": "stored, MB",
}
"""The measures beside the accuracy, with their headings."""


def side_by_side(records: Sequence[Record]) -> str:
    """Return a Markdown table of the rows of a classification, the most accurate first.

    Accuracies are means over the splits with their standard deviation; times are medians of what
    was timed again, else means; rows that failed on every split are left out.

    Parameters
    ----------
    records : sequence of dict

    Examples
    --------
    >>> from kmaps.bench.records.row import Row
    >>> from kmaps.bench.records.summary import SETTING
    >>> cell = dict.fromkeys(SETTING, "") | {"kernel": "", "draw": None, "status": "ok"}
    >>> cell |= {"accuracy": 0.9, "predict_s": 1, "fit_s": 0, "encode_s": 0, "convert_s": 0}
    >>> cell |= {"train_s": 2, "peak_bytes": 3e6, "storage_bytes": 4e6, "storage_form": "codes"}
    >>> cell |= {"protocol": {}} | Row("sklearn.svm.SVC", solver="own").columns
    >>> print(side_by_side([cell | {"split": i} for i in range(2)]))
    | row | accuracy, % | training, s | test, s | memory, MB | stored, MB |
    | --- | ---: | ---: | ---: | ---: | ---: |
    | SVC | 90.00 ± 0.00 | 2.00 | 1.00 | 3.00 | 4.00 |
    """
    quality = accuracy_of(records)
    lines: dict[tuple, dict[str, Any]] = {}
    for line in summarize(records, [quality, *COSTS]):
        name = line["reduction"], line["kernel"], line["label"]
        lines.setdefault(name, {})[line["measure"]] = line
    several = len({reduction for reduction, _, _ in lines}) > 1
    measured = {name: of_row for name, of_row in lines.items() if of_row[quality]["n"]}
    ordered = sorted(measured.items(), key=lambda pair: -pair[1][quality]["mean"])
    rows = []
    for (reduction, kernel, label), of_row in ordered:
        words = [reduction if several else "", kernel, label]
        costs = [_text(of_row[name]) for name in COSTS]
        rows.append([" ".join(filter(None, words)), _text(of_row[quality], spread=True), *costs])
    head = ["row", f"{MEASURES[quality].title}", *COSTS.values()]
    return markdown_table(head, rows)


def _text(line: dict[str, Any], *, spread: bool = False) -> str:
    if not line["n"]:
        return "–"
    measure = MEASURES[line["measure"]]
    text = measure.format(line["median"] if line["repeats"] else line["mean"])
    return f"{text} ± {measure.format(line['std'])}" if spread and line["n"] > 1 else text
