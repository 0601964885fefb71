"""``kmaps reproduce``: several experiments, each compared with what is published."""

import json
import shutil

import pytest
from click.testing import CliRunner

from kmaps.bench.records.file import read_records
from kmaps.bench.run import plan
from kmaps.bench.run.plan import published_folder
from kmaps.cli.main import cli

TOY = "lac-figure3-toy"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(cli, ["reproduce", *words])


def test_a_run_is_compared_and_goes_on_where_it_was(run, tmp_path):
    done = run(TOY, "genrbf-voc2007-tradeoff", "--preset", "small")
    assert done.exit_code == 0
    assert done.stdout == f"{TOY + '-small':36} 6 same\n"  # the other one has no such preset
    assert done.stderr.splitlines()[0].startswith(f"1/1  {TOY}-small, 6 cells to do, 0.")
    records = tmp_path / "runs" / f"{TOY}-small" / "records.jsonl"
    before = records.read_bytes()
    again = run(TOY, "--preset", "small")
    assert (again.exit_code, again.stdout) == (0, done.stdout)
    assert again.stderr.splitlines()[0] == f"1/1  {TOY}-small, nothing to do"
    assert records.read_bytes() == before
    assert not (tmp_path / "runs" / "README.md").exists()  # the page speaks of whole experiments


def test_what_is_worse_than_published_fails(run, tmp_path, monkeypatch):
    published = published_folder("ldefm-table1")
    shutil.copytree(published, tmp_path / "runs" / "ldefm-table1")
    lines = (published / "records.jsonl").read_text().splitlines()
    better = [one | {"linf": one["linf"] / 2} for one in map(json.loads, lines)]
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in better))
    monkeypatch.setattr(plan, "published_folder", lambda name, preset: folder)
    done = run("ldefm-table1", "--quiet")
    assert done.stdout == f"{'ldefm-table1':36} {len(better)} worse\n"
    assert done.stderr == "error: worse than published: ldefm-table1\n"
    assert done.exit_code == 1


def test_pages_of_whole_experiments(run, tmp_path):
    n_published = len(read_records(published_folder("ldefm-table1")))
    shutil.copytree(published_folder("ldefm-table1"), tmp_path / "runs" / "ldefm-table1")
    (tmp_path / "runs" / "ldefm-table1" / "README.md").unlink()
    done = run("ldefm-table1", "genrbf-voc2007-tradeoff")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"{'ldefm-table1':36} {n_published} same"
    assert lines[1].startswith(f"{'genrbf-voc2007-tradeoff':36} left out: ")
    assert lines[2:] == ["runs/README.md", "runs/reported.json"]
    assert "ldefm-table1" in (tmp_path / "runs" / "ldefm-table1" / "README.md").read_text()


def test_nothing_that_could_be_run(run):
    done = run("genrbf-voc2007-tradeoff", "--preset", "small")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "error: --preset small: none of these experiments has it\n"
    done = run("genrbf-voc2007-tradeoff", "--quiet")
    assert done.exit_code == 5
    assert done.stderr.startswith("error: nothing could be run;")
    assert run("ldefm-tabel1").exit_code == 2


def test_what_is_to_do_in_the_order_of_its_time(run, tmp_path):
    shutil.copytree(published_folder("ldefm-table1"), tmp_path / "runs" / "ldefm-table1")
    done = run("genrbf-voc2007-tradeoff", "hkm-daimler", "quickstart", "ldefm-table1", "--dry-run")
    told = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    assert [name for name, _ in told] == [
        *("ldefm-table1", "quickstart", "hkm-daimler", "genrbf-voc2007-tradeoff"),
    ]
    assert told[0][1] == "nothing to do"
    assert told[1][1].startswith("30 cells to do, 0.")
    assert told[3][1] == "123 cells to do, 123 of unknown time"
    assert "249 cells to do" in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}
