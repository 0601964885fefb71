"""kmaps table: the table of a records file, on the screen or in a new file."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from kmaps.bench.report.tables import render
from kmaps.cli.main import cli
from tests.bench.sample_records import record

CELLS = [record(key=str(i), split=i, accuracy=0.9, train_s=2.0, cpu="a") for i in range(2)]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run").mkdir()
    write(CELLS)


SHOWN = ("accuracy", "time", "convert", "storage")


def rendered(cells, form="text", measures=SHOWN):
    return render(cells, form, measures)


def write(cells):
    Path("run/records.jsonl").write_text("".join(json.dumps(cell) + "\n" for cell in cells))


def table(*args, code=0):
    result = CliRunner().invoke(cli, ["table", *args])
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


@pytest.mark.parametrize("path", ["run", "run/records.jsonl"])
def test_the_table_goes_to_standard_output(path):
    result = table(path)
    assert result.stdout == rendered(CELLS)
    assert "90.00*" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("form", ["text", "md", "csv", "latex"])
def test_formats(form):
    assert table("run", "--format", form).stdout == rendered(CELLS, form)


def test_json():
    assert json.loads(table("run", "--json").stdout)[0]["mean"] == pytest.approx(0.9)


def test_measures():
    assert table("run", "--measure", "train").stdout == rendered(CELLS, measures=["train"])
    several = table("run", "--measure", "train", "--measure", "accuracy", "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(several.stdout)))
    assert {line["measure"] for line in lines} == {"accuracy", "train"}
    every = table("run", "--measure", "all", "--format", "csv").stdout
    assert len(every.splitlines()) > 10


def test_the_measures_of_the_help_are_those_there_are():
    from kmaps.bench.records.measures import MEASURES

    listed = "".join(table("--help").output.partition("--measure NAME")[2].split())
    assert listed.startswith("".join(f"{name}," for name in MEASURES))


def test_the_kind_says_what_is_shown_unasked():
    write([cell | {"protocol": {"train_per_class": 3, "test_per_class": 2}} for cell in CELLS])
    assert "accuracy per class, %" in table("run").stdout
    toy = {"kind": "toy", "setting": "disc in a square", "dataset": "", "reduction": "", "dim": 9}
    write([cell | toy for cell in CELLS[:1]])
    titles = [line for line in table("run").stdout.splitlines() if line.startswith("disc")]
    assert [title.split(": ")[1].split(";")[0] for title in titles] == [
        "accuracy, %",
        "encoded columns",
    ]


def test_mixed_and_unknown_kinds_are_one_line():
    write([CELLS[0], CELLS[1] | {"kind": "toy"}])
    mixed = table("run", code=2).stderr
    assert "records of several kinds (classification, toy)" in mixed
    write([cell | {"kind": "tasting"} for cell in CELLS])
    unknown = table("run", code=2).stderr
    assert "'tasting', which this version of kmaps does not know" in unknown
    assert mixed.count("\n") == unknown.count("\n") == 1


def test_an_unknown_measure_is_one_line():
    result = table("run", "--measure", "storge", code=2)
    assert result.stderr.startswith("error: unknown measure 'storge', did you mean 'storage'? (")
    assert result.stderr.count("\n") == 1


def test_out_writes_a_new_file_and_nothing_else():
    assert table("run", "--format", "md", "-o", "table.md").output == ""
    assert Path("table.md").read_text() == rendered(CELLS, "md")
    result = table("run", "-o", "table.md", code=2)
    assert result.stderr == (
        "error: table.md: exists already; choose another name, or pass --force\n"
    )
    assert Path("table.md").read_text() == rendered(CELLS, "md")
    table("run", "-o", "table.md", "--force")
    assert Path("table.md").read_text() == rendered(CELLS)
    assert sorted(os.listdir()) == ["run", "table.md"]


def test_out_is_not_made_when_there_is_no_table():
    assert table("elsewhere", "-o", "table.md", code=5).stderr == (
        "error: elsewhere/records.jsonl: no records there; `kmaps run` writes them\n"
    )
    assert os.listdir() == ["run"]


def test_times_of_different_machines_are_warned_of():
    write([CELLS[0], CELLS[1] | {"cpu": "b"}])
    warning = "warning: times do not compare: records differ in cpu\n"
    assert table("run").stderr == warning
    assert table("run", "--quiet").stderr == ""
    assert table("run", "--measure", "accuracy").stderr == ""
