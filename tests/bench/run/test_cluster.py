"""Runs on clusters: the records of a local run, each once, whatever becomes of the workers."""

from functools import partial
from types import SimpleNamespace

import cell_workers
import pytest
from distributed import Client, LocalCluster
from test_runner import N_CELLS, TEXT, content, run

import kmaps
from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.run.cluster import MeasuringOnWorker
from kmaps.bench.run.plan import plan
from kmaps.dask.cluster import connected
from kmaps.errors import ConfigError, DataError
from kmaps.maps import MAP_VERSION


@pytest.fixture(scope="module")
def cluster():
    """Two workers of one thread, in this process."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(processes=False, protocol="tcp", **options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with Client(cluster) as client:
        yield client


@pytest.mark.slow
def test_records_are_those_of_a_run_here(client, tmp_path):
    run(tmp_path / "here")
    worker = partial(cell_workers.logged, str(tmp_path), 0)
    first = run(tmp_path / "there", worker, client=client)
    assert (first.measured, first.missing, first.failed) == (N_CELLS, 0, [])
    assert content(tmp_path / "there") == content(tmp_path / "here")
    records = read_records(tmp_path / "there")
    assert {(record["jobs"], record["threads"]) for record in records} == {(2, 1)}
    assert len(list(tmp_path.glob("*.finished"))) == N_CELLS
    again = run(tmp_path / "there", worker, client=client)
    assert again.measured == 0


def test_failures_are_on_record_and_stop_a_run_that_is_to(client, tmp_path):
    outcome = run(tmp_path / "all", cell_workers.broken, client=client)
    assert {record["error"] for record in outcome.failed} == {"ValueError: two lines"}
    assert (outcome.measured, len(outcome.failed)) == (N_CELLS, 2)
    outcome = run(tmp_path / "first", cell_workers.out_of_memory, client=client, fail_fast=True)
    assert len(outcome.failed) == 1
    assert "SIGKILL" in outcome.failed[0]["error"]


def measured_there(**changes):
    """Measure a cell as a worker does."""
    experiment = spec.parse(TEXT)
    cells = plan(experiment)
    kind = KINDS[experiment.kind]
    first = next(iter(cells.values()))
    given = {
        "function": cell_workers.Each(cell_workers.instant),
        "kind": kind,
        "digests": {first.dataset: kind.digest(first)},
        "versions": (kmaps.__version__, MAP_VERSION),
    }
    return MeasuringOnWorker(**given | changes)(dict(list(cells.items())[:1]))


def test_what_a_worker_refuses(monkeypatch):
    machine, [done] = measured_there()
    assert machine["cores"] > 0
    assert done.result.columns["accuracy"] > 0
    with pytest.raises(ConfigError) as error:
        measured_there(versions=("0.0", 1))
    assert "the run started with 0.0 with 1: install the same on all computers" in str(error.value)
    with pytest.raises(DataError) as data_error:
        measured_there(digests={"digits": "other"})
    assert str(data_error.value).startswith("digits: a worker has other data of this name than")
    daemon = SimpleNamespace(daemon=True)
    monkeypatch.setattr("multiprocessing.current_process", lambda: daemon)
    with pytest.raises(ConfigError) as error:
        measured_there()
    assert str(error.value) == (
        "cells are measured in processes, which these workers may not start: start them with "
        "--no-nanny or with DASK_DISTRIBUTED__WORKER__DAEMON=False"
    )


@pytest.mark.slow
def test_cells_of_a_killed_worker_are_measured_again(tmp_path):
    worker = partial(cell_workers.losing_its_worker, str(tmp_path))
    with connected("local:2") as client:
        outcome = run(tmp_path / "out", worker, client=client)
    assert len(list(tmp_path.glob("*.tried"))) == 2
    assert (outcome.measured, outcome.failed) == (N_CELLS, [])
    keys = [record["key"] for record in read_records(tmp_path / "out")]
    assert len(keys) == len(set(keys)) == N_CELLS
    run(tmp_path / "here")
    assert content(tmp_path / "out") == content(tmp_path / "here")
