"""kmaps table: the table of a records file, on the screen or in a new file."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from commands import kmaps, refused, write_records

from kmaps.bench.records.columns import COLUMNS
from kmaps.bench.report.export import record_table
from kmaps.bench.report.forms import csv_text
from kmaps.bench.report.tables import render
from tests.bench.sample_records import record

CELLS = [record(key=str(i), split=i, accuracy=0.9, train_s=2.0, cpu="a") for i in range(2)]
FILES = {"run/records.jsonl": CELLS}
table = partial(kmaps, "table")
write = partial(write_records, path="run/records.jsonl")
SHOWN = ("accuracy", "time", "convert", "storage")


def rendered(cells, form="text", measures=SHOWN):
    return render(cells, form, measures)


@pytest.mark.parametrize("path", ["run", "run/records.jsonl"])
def test_the_table_goes_to_standard_output_in_any_form(path):
    assert "90.00*" in table(path).stdout
    for form in ("text", "md", "csv", "latex"):
        result = table(path, "--format", form)
        assert (result.stdout, result.stderr) == (rendered(CELLS, form), "")
    assert json.loads(table(path, "--json").stdout)[0]["mean"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("--measure storge", "unknown measure 'storge', did you mean 'storage'? ("),
        ("--format parquet", "--format parquet is for --records; add it, or choose"),
        ("--records", "--records: for --format csv or parquet, without --measure"),
        ("--records --format csv --json", "--records: for --format csv or"),
        ("--together --json", "--together: needs a --format for reading: text"),
        ("--together --records --format csv", "--together: needs a --format"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_one_line(args, message):
    assert message in refused("table", "run", *args.split())


def test_times_of_different_machines_are_warned_of():
    write([CELLS[0], CELLS[1] | {"cpu": "b"}])
    warning = "warning: times are not comparable: records differ in cpu\n"
    assert table("run").stderr == warning
    assert table("run", "--quiet").stderr == ""
    assert table("run", "--measure", "accuracy").stderr == ""


def test_every_record_as_a_line():
    timed = {"key": "0", "common": False, "repeat": 0, "seconds": {"train_s": 3.0}}
    failed = record(key="2", split=2, status="failed", accuracy=None, error="out of memory")
    write([CELLS[0] | {"params": {"order": 2}, "seed": 7}, CELLS[1], failed])
    lines = list(csv.DictReader(io.StringIO(table("run", "--records", "--format", "csv").stdout)))
    assert list(lines[0]) == [*COLUMNS, "repeats"]
    assert [line["status"] for line in lines] == ["ok", "ok", "failed"]
    assert (lines[0]["params"], lines[0]["seed"], lines[0]["accuracy"]) == (
        '{"order": 2}',
        "7",
        "0.9",
    )
    assert (lines[2]["accuracy"], lines[2]["error"]) == ("", "out of memory")
    frame = record_table([CELLS[0] | {"repeats": [timed, timed | {"seconds": {"train_s": 5.0}}]}])
    assert frame[["train_s", "repeats"]].to_dict("records") == [{"train_s": 4.0, "repeats": 2}]


def test_no_text_of_a_csv_is_a_formula():
    write([CELLS[0] | {"dataset": "=1+1", "error": "-1+2"}, CELLS[1] | {"dataset": "=1+1"}])
    every = list(csv.DictReader(io.StringIO(table("run", "--records", "--format", "csv").stdout)))
    means = list(csv.DictReader(io.StringIO(table("run", "--format", "csv").stdout)))
    shown = [every[0]["dataset"], every[0]["error"], means[0]["dataset"]]
    assert shown == ["'=1+1", "'-1+2", "'=1+1"]
    for number in ("-1", "+1", "-.5", "+1e-3"):  # are no formulas
        assert csv_text(number) == number


def test_parquet_has_the_types_whatever_the_values():
    table("run", "--records", "--format", "parquet", "-o", "all.parquet")
    read = pd.read_parquet("all.parquet")
    assert read["accuracy"].tolist() == [0.9, 0.9]
    pd.testing.assert_frame_equal(read, record_table(CELLS))
    kinds = {name: str(kind) for name, kind in read.dtypes.items()}
    assert (kinds["split"], kinds["draw"], kinds["linf"]) == ("Int64", "Int64", "Float64")
    assert (kinds["dirty"], kinds["error"]) == ("boolean", "string")
    sent = table("run", "--records", "--format", "parquet", "-o", "-").stdout_bytes
    assert sent == Path("all.parquet").read_bytes()


def test_differences_to_a_row():
    better = [record("exact", key=f"e{i}", split=i, accuracy=0.95 + i / 100) for i in range(2)]
    write([*CELLS, *better])
    text = table("run", "--intervals", "exact", "--measure", "accuracy").stdout
    [row] = [line for line in text.splitlines() if "homogeneous" in line]
    assert "-5.50 points" in row
    assert "exact" in refused("table", "run", "--intervals", "exat")
    assert "--together" in refused("table", "run", "--intervals", "exact", "--together")
