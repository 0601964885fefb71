"""The records file: what is written is read, one writer at a time, half a line is no harm."""

import errno
import json
import multiprocessing
import os
import re

import pytest
import yaml

from kmaps.bench.paper.reported import STORED, read_stored
from kmaps.bench.records.appended import MOST_BYTES
from kmaps.bench.records.arrays import read_correct
from kmaps.bench.records.columns import COLUMNS, LATER
from kmaps.bench.records.file import (
    DEFINITION,
    RecordsFile,
    definition_file,
    read_records,
    records_path,
    write_definition,
)
from kmaps.bench.records.gate import EXACT, Judged, compare
from kmaps.bench.records.summary import summarize
from kmaps.bench.records.times import TimesFile, read_times
from kmaps.bench.report.export import record_table
from kmaps.bench.report.tables import render
from kmaps.errors import ConfigError, InputError
from tests.bench import sample_records


def record(key: str, **columns) -> dict:
    return sample_records.record(key=key, **columns)


def text_of(*records) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in records)


def less(name: str) -> dict:
    return {key: value for key, value in record("b").items() if key != name}


def write(folder, *records):
    with RecordsFile(folder) as file:
        for each in records:
            file.append(each)


def test_what_is_appended_is_read_in_the_order_of_the_columns(tmp_path):
    write(tmp_path, record("a", accuracy=0.1 + 0.2), record("b"))
    write(tmp_path / "records.jsonl", record("c"))
    assert [r["key"] for r in read_records(tmp_path)] == ["a", "b", "c"]
    first = read_records(tmp_path / "records.jsonl")[0]
    assert list(first) == list(COLUMNS)
    assert first["accuracy"] == 0.1 + 0.2


def test_the_latest_record_of_a_key_counts(tmp_path):
    write(tmp_path, record("a", status="failed"), record("b"), record("a"))
    assert [(r["key"], r["status"]) for r in read_records(tmp_path)] == [("a", "ok"), ("b", "ok")]


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_a_half_written_last_line_is_ignored_and_cut(tmp_path, cut):
    write(tmp_path, record("a"), record("b"))
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[: -1 - cut])
    assert [r["key"] for r in read_records(tmp_path)] == ["a"]
    write(tmp_path, record("b"))
    assert path.read_bytes() == whole


def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path):
    write(tmp_path, record("a"), record("b"))
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(read_records(tmp_path)) == 2
    write(tmp_path, record("c"))
    assert path.read_bytes().startswith(whole)
    assert len(read_records(tmp_path)) == 3


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        *((line, "is not a record") for line in ("{", "[]", "3", '{"status": "ok"}', "")),
        # Deeper than Python reads, and than it writes again.
        *(("[" * n + "]" * n, "is not a record") for n in (51, 900, 100_000)),
        ({"params": json.loads("[" * 51 + "]" * 51)}, "is not a record"),
        ({"train_s": 10**400}, "train_s is 1000"),
        ({"C_grid": ["x"]}, "C_grid is ['x'], expected a list of finite numbers, text or null"),
        ({"command": ["x"]}, "command is ['x'], expected text or null"),
        ({"warnings": "x"}, "warnings is 'x', expected a list of texts or null"),
        (text_of(less("seed")), "has missing or unknown columns: seed"),
        # None that older records of the format lack.
        (text_of(less("train_bytes")), "has missing or unknown columns: train_bytes"),
        ({"acuracy": 1}, "has missing or unknown columns: acuracy"),
        ({"\ncode": 1}, r"has missing or unknown columns: '\ncode'"),
        ({"more": []}, "more is [], expected a mapping"),
        ({"more": {"accuracy": 1}}, "'accuracy' in more: expected the name of no other column"),
        ({"more": {"a b": 1}}, "'a b' in more"),
        ({"more": {"zeros": NAN}}, "zeros is nan, expected a finite number, text or null"),
        ({"more": {"zeros": [1]}}, "zeros is [1]"),
        ({"accuracy": NAN}, "accuracy is nan, expected a number from 0 to 1"),
        ({"accuracy": 2.0}, "accuracy is 2.0, expected a number from 0 to 1"),
        ({"accuracy": "0.9"}, "accuracy is '0.9', expected a number from 0 to 1"),
        ({"linf": INF}, "linf is inf, expected a finite number, up to 1e100, or null"),
        ({"train_s": True}, "train_s is True, expected a finite number"),
        ({"rms": 1e308}, "rms is 1e+308, expected a finite number, up to 1e100"),
        ({"size": 1.5}, "size is 1.5, expected a whole number or null"),
        ({"params": "order=1"}, "params is 'order=1', expected a mapping"),
        ({"kernel": None}, "kernel is None, expected text"),
        ({"status": "fine"}, "status is 'fine', expected ok or failed"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, line, expected):
    path = tmp_path / "records.jsonl"
    bad = line if isinstance(line, str) else text_of(record("b") | line)
    content = f"{text_of(record('a'))}{bad.strip()}\n{text_of(record('c'))}"
    path.write_text(content)
    message = rf"records\.jsonl:2: {re.escape(expected)}"
    with pytest.raises(InputError, match=message):
        read_records(path)
    with pytest.raises(InputError, match=message), RecordsFile(path):
        pass
    assert path.read_text() == content


def test_the_experiment_of_a_run_is_kept_with_the_way_to_its_files(tmp_path):
    for name in ("one", "other"):
        write_definition(tmp_path / "runs" / "new", {"experiment": name}, tmp_path)
        kept = yaml.safe_load((tmp_path / "runs" / "new" / DEFINITION).read_text())
        assert kept == {"experiment": name, "base": "../.."}


def test_what_lacks_a_column_is_not_written(tmp_path):
    with RecordsFile(tmp_path) as file, pytest.raises(InputError, match="columns: seed"):
        file.append(less("seed"))
    assert all(column.meaning for column in COLUMNS.values())


def test_a_kind_has_columns_of_its_own(tmp_path):
    zeros = [record(str(i), split=i, zeros=i / 4, note="few") for i in (1, 2)]
    write(tmp_path, *zeros)
    records = read_records(tmp_path)
    assert list(records[0]) == [*COLUMNS, "note", "zeros"]
    [line] = summarize(records, ["zeros"])
    assert (line["mean"], line["n"]) == (0.375, 2)
    assert "zeros" in render(records, "md", ["zeros"])
    table = record_table(records)
    assert table["zeros"].tolist() == [0.25, 0.5]
    fewer = [one | {"zeros": 0.2} for one in records]
    verdicts = compare(fewer, records, [Judged("zeros", EXACT, highest=True)])
    assert [cell.verdict for cell in verdicts] == ["worse"]
    with pytest.raises(ConfigError, match="unknown measure 'note'"):
        summarize(records, ["note"])


def test_older_records_lack_the_later_columns_and_have_null_there(tmp_path):
    older = {name: value for name, value in record("a").items() if name not in LATER}
    (tmp_path / "records.jsonl").write_text(text_of(older))
    (read,) = read_records(tmp_path)
    assert list(read) == list(COLUMNS)
    assert {read[name] for name in LATER} == {None}


def test_nothing_is_left_of_a_run_without_records(tmp_path):
    with pytest.raises(OSError, match="no data"), RecordsFile(tmp_path / "new" / "one"):
        raise OSError("no data")
    assert not (tmp_path / "new").exists()
    (tmp_path / "notes.txt").write_text("mine")
    with RecordsFile(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_two_runs_on_one_file_are_refused(tmp_path):
    with RecordsFile(tmp_path):
        with pytest.raises(ConfigError, match="another run writes it now"), RecordsFile(tmp_path):
            pass
        assert (tmp_path / "records.jsonl").read_bytes() == b""  # reading is free
    write(tmp_path, record("a"))


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_is_deleted_or_replaced_meanwhile_is_an_error(tmp_path, replaced):
    def lose():
        (tmp_path / "records.jsonl").unlink()
        if replaced:
            (tmp_path / "records.jsonl").touch()

    def append_twice(file):
        file.append(record("a"))
        lose()
        file.append(record("b"))
        raise AssertionError("the loss was not noticed")

    told = r"records\.jsonl: was deleted or replaced while the run wrote it"
    file = RecordsFile(tmp_path).__enter__()
    with pytest.raises(InputError, match=told):
        append_twice(file)
    file.__exit__(InputError, None, None)
    (tmp_path / "records.jsonl").unlink(missing_ok=True)
    file = RecordsFile(tmp_path).__enter__()
    file.append(record("a"))
    lose()
    with pytest.raises(InputError, match=told):
        file.__exit__(None, None, None)


def _hold(folder, ready):
    with RecordsFile(folder):
        ready.set()
        multiprocessing.Event().wait(60)


def test_the_lock_goes_with_the_process_that_held_it(tmp_path):
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    holder = context.Process(target=_hold, args=(tmp_path, ready))
    holder.start()
    assert ready.wait(30)
    with pytest.raises(ConfigError), RecordsFile(tmp_path):
        pass
    holder.kill()
    holder.join()
    write(tmp_path, record("a"))


def test_a_folder_or_a_file(tmp_path):
    assert records_path(tmp_path) == tmp_path / "records.jsonl"
    assert records_path(tmp_path / "v1.2") == tmp_path / "v1.2" / "records.jsonl"
    assert records_path(tmp_path / "old.jsonl") == tmp_path / "old.jsonl"


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("/dev/zero"), os.mkfifo])
def test_devices_and_pipes_are_not_read(tmp_path, make):
    for file in (RecordsFile(tmp_path), TimesFile(tmp_path)):
        make(file.path)
        with pytest.raises(InputError, match="a device or a pipe"), file:
            pass
    make(tmp_path / STORED)
    for reading in (read_stored, read_records):
        with pytest.raises(InputError, match="a device or a pipe"):
            reading(tmp_path)


def test_what_is_larger_than_any_run_is_not_read(tmp_path):
    for name, read in (
        ("records.jsonl", read_records),
        ("records.jsonl", lambda folder: RecordsFile(folder).__enter__()),
        ("times.jsonl", read_times),
        (STORED, read_stored),
    ):
        with open(tmp_path / name, "wb") as file:
            file.truncate(MOST_BYTES + 1)  # takes no place on the disk
        with pytest.raises(InputError, match="1,073,741,825 bytes, at most"):
            read(tmp_path)


def test_a_full_disk_names_the_records(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as failed, RecordsFile(tmp_path) as file:
        file.append(record("a"))
    assert failed.value.filename == str(tmp_path / "records.jsonl")


@pytest.mark.parametrize("name", ["records.jsonl", "times.jsonl", "correct.npz", "experiment.yaml"])
def test_a_pipe_with_the_name_of_a_file_of_a_run_is_refused(tmp_path, name):
    """It would wait for ever: for whoever reads the run, or its experiment."""
    write(tmp_path, record("a"))
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)

    def read():
        read_correct(tmp_path, read_records(tmp_path))
        definition_file(tmp_path)

    with pytest.raises(InputError, match=f"{name}: is a device or a pipe"):
        read()
