"""``kmaps run --all``: several experiments, each compared with what is published."""

import json
import shutil
from functools import partial
from pathlib import Path

from commands import kmaps, refused, write_records

from kmaps.bench.records.file import read_records
from kmaps.bench.run import plan
from kmaps.bench.run.plan import published_folder

TOY = "lac-figure3-toy"


VOC = "genrbf-voc2007-tradeoff"
run = partial(kmaps, "run", "--all")


def test_a_run_is_compared_and_goes_on_where_it_was(tmp_path):
    done = run(TOY, VOC, "--preset", "small")
    assert done.stdout == f"{TOY + '-small':36} 6 same\n"  # the other one has no such preset
    assert done.stderr.splitlines()[0].startswith(f"1/1  {TOY}-small, 6 cells to do, 0.")
    records = tmp_path / "runs" / f"{TOY}-small" / "records.jsonl"
    before = records.read_bytes()
    again = run(TOY, "--preset", "small")
    assert again.stdout == done.stdout
    assert again.stderr.splitlines()[0] == f"1/1  {TOY}-small, nothing to do"
    assert records.read_bytes() == before
    assert not (tmp_path / "runs" / "README.md").exists()  # the page speaks of whole experiments


def test_what_is_worse_than_published_fails(tmp_path, monkeypatch):
    published = published_folder("ldefm-table1")
    shutil.copytree(published, tmp_path / "runs" / "ldefm-table1")
    lines = (published / "records.jsonl").read_text().splitlines()
    better = [one | {"linf": one["linf"] / 2} for one in map(json.loads, lines)]
    write_records(better, "published/records.jsonl")
    monkeypatch.setattr(plan, "published_folder", lambda name, preset: Path("published"))
    done = run("ldefm-table1", "--quiet", code=1)
    assert done.stdout == f"{'ldefm-table1':36} {len(better)} worse\n"
    assert done.stderr == "error: worse than published: ldefm-table1\n"


def test_pages_of_whole_experiments(tmp_path):
    n_published = len(read_records(published_folder("ldefm-table1")))
    shutil.copytree(published_folder("ldefm-table1"), tmp_path / "runs" / "ldefm-table1")
    (tmp_path / "runs" / "ldefm-table1" / "README.md").unlink()
    lines = run("ldefm-table1", VOC).stdout.splitlines()
    assert lines[0] == f"{'ldefm-table1':36} {n_published} same"
    assert lines[1].startswith(f"{VOC:36} left out: ")
    assert lines[2:] == ["runs/README.md", "runs/reported.json"]
    assert "ldefm-table1" in (tmp_path / "runs" / "ldefm-table1" / "README.md").read_text()


def test_nothing_that_could_be_run():
    message = "--preset small: none of these experiments has this preset"
    assert refused("run", "--all", VOC, "--preset", "small") == message
    assert "error: nothing could be run;" in run(VOC, "--quiet", code=5).stderr
    refused("run", "--all", "ldefm-tabel1")


def test_what_is_to_do_in_the_order_of_its_time(tmp_path):
    shutil.copytree(published_folder("ldefm-table1"), tmp_path / "runs" / "ldefm-table1")
    done = run(VOC, "hkm-daimler", "quickstart", "ldefm-table1", "--dry-run")
    told = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert [name for name, _ in told] == ["ldefm-table1", "quickstart", "hkm-daimler", VOC]
    assert told[0][1] == "nothing to do"
    assert told[1][1].startswith("30 cells to do, 0.")
    assert told[3][1] == "123 cells to do, 123 of unknown time"
    assert "249 cells to do" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}
