"""A scheduler that is killed, and a task that takes every worker with it: one line, no hang."""

import json
import os
import subprocess
import sys
import threading
import time

import dask
import numpy as np
import pytest
from distributed import Client
from distributed.utils import get_mp_context
from spec_text import SMALL

from kmaps.bench.kinds import load as spec
from kmaps.bench.records.file import read_records
from kmaps.bench.run import runner
from kmaps.dask import BlockwiseSVC, called
from kmaps.dask.cluster import connected

pytestmark = pytest.mark.slow  # starts processes of Dask
LOST = "^the scheduler of the cluster was lost: start one and try again$"


@pytest.fixture
def scheduler(tmp_path):
    """A scheduler without workers, so that whatever is asked of it waits; and its address."""
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    options = ["--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file)]
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not file.exists() or not file.read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        yield process, json.loads(file.read_text())["address"]
        process.kill()


def fit(client):
    X, y = np.random.default_rng(0).random((20, 3)), np.arange(20) % 2
    BlockwiseSVC(client=client).fit([dask.delayed(X)], [dask.delayed(y)])


@pytest.mark.parametrize("asked", [fit, lambda client: list(called(client, abs, [1, 2]))])
def test_a_killed_scheduler_ends_in_one_line(scheduler, asked):
    process, address = scheduler
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        client = Client(address, timeout=30)
        threading.Timer(1.0, process.kill).start()
        with pytest.raises(ConnectionError, match=LOST):
            asked(client)
        client.close()


def test_a_task_that_takes_every_worker_with_it_is_given_up(tmp_path, monkeypatch):
    def deadly():
        with open(tmp_path / "tried", "a") as file:
            file.write("x")
        time.sleep(0.1)  # the news that the worker runs goes out first
        os._exit(1)

    # As on a busy computer: the block ends while Dask begins to replace the worker.
    process = get_mp_context().Process
    start = process.start
    monkeypatch.setattr(process, "start", lambda self: [time.sleep(1), start(self)])
    monkeypatch.setattr("distributed.nanny.WorkerProcess._init_msg_interval", 1.0)
    told = "^a task was given up because its workers were lost, as when memory runs out: [^\n]+$"
    with pytest.raises(ConnectionError, match=told), connected("local:1") as client:
        client.submit(deadly).result()
    assert len((tmp_path / "tried").read_text()) == 4  # as often as Dask allows, and once more


@pytest.fixture
def worker(scheduler):
    """A worker of one thread, in a process, and the scheduler that it belongs to."""
    process, address = scheduler
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    options = ["--no-nanny", "--no-dashboard", "--death-timeout", "120"]
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as started:
        with Client(address, timeout=60) as client:
            client.wait_for_workers(1, timeout=120)
        yield process, address
        started.kill()


def test_a_run_whose_scheduler_dies_resumes_from_its_records(worker, tmp_path):
    process, address = worker

    def progress(state):
        if state.done:
            process.kill()

    experiment = spec.parse(SMALL + "maps: [{map: homogeneous, order: [1, 2]}]\n")
    soon = dask.config.set({"distributed.comm.timeouts.connect": "5s"})
    with soon, pytest.raises(ConnectionError, match=LOST), connected(address) as client:
        runner.run(experiment, tmp_path / "there", client=client, progress=progress)
    before = read_records(tmp_path / "there")
    assert 0 < len(before) < 8
    runner.run(experiment, tmp_path / "there")
    after = read_records(tmp_path / "there")
    assert [record for record in after if record in before] == before
    whole = runner.run(experiment, tmp_path / "here").records
    right = {record["key"]: record["accuracy"] for record in whole}
    assert len(after) == len(right) == 8
    assert {record["key"]: record["accuracy"] for record in after} == right
