"""The page on clusters: its scripts do what they say, as far as they can without a cluster."""

import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from distributed.cli import dask_scheduler, dask_worker

from kmaps.bench.records.file import read_records

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "clusters.md").read_text()
[SCRIPT] = re.findall(r"```python\n(.*?)```", PAGE, re.S)
[KUBERNETES] = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
[BY_HAND] = re.findall(r"```sh\n(.*?)```", PAGE, re.S)
PARSERS = {"dask-worker": dask_worker.main, "dask-scheduler": dask_scheduler.main}
BIN = Path(sys.executable).parent


@pytest.fixture
def own_interrupt():
    """Puts Ctrl-C back, which dask-jobqueue takes for itself when it is imported."""
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("own_interrupt")
def test_the_job_of_slurm_starts_workers_of_one_thread():
    jobqueue = pytest.importorskip("dask_jobqueue")
    names = {}
    exec(SCRIPT, names)
    options = {"scheduler_options": {"dashboard_address": ":0", "host": "127.0.0.1"}}
    with jobqueue.SLURMCluster(**names["SETTINGS"], **options) as cluster:
        lines = cluster.job_script().splitlines()
    assert {"#SBATCH -p compute", "#SBATCH --cpus-per-task=8", "#SBATCH -t 04:00:00"} <= {*lines}
    start = next(line for line in lines if "dask_worker" in line)
    before = lines[: lines.index(start)]
    assert "export DASK_DISTRIBUTED__WORKER__DAEMON=False" in before
    given = shlex.split(start.split("dask_worker")[1])
    parsed = dask_worker.main.make_context("dask-worker", given).params
    assert (parsed["nthreads"], parsed["n_workers"]) == (1, "8")


def test_the_resource_of_kubernetes_starts_what_dask_has():
    spec = yaml.safe_load(KUBERNETES)["spec"]
    for role in ("worker", "scheduler"):
        [container] = spec[role]["spec"]["containers"]
        program, *given = container["args"]
        if role == "worker":
            given.append("tcp://kmaps-scheduler:8786")
        parsed = PARSERS[program].make_context(program, given).params
        assert role == "scheduler" or (parsed["nthreads"], parsed["nanny"]) == (1, False)
    ports = {port["name"] for port in spec["scheduler"]["spec"]["containers"][0]["ports"]}
    assert {port["targetPort"] for port in spec["scheduler"]["service"]["ports"]} == ports


@pytest.mark.slow
def test_machines_by_hand(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    *servers, command = (shlex.split(line.replace("8786", port)) for line in BY_HAND.splitlines())
    assert [server[1] for server in servers] == ["scheduler", "worker"]
    servers[0] += ["--host", "127.0.0.1", "--dashboard-address", ":0"]
    started = [
        subprocess.Popen([BIN / program, *given], cwd=tmp_path, stderr=subprocess.DEVNULL)
        for program, *given in servers
    ]
    try:
        run = [BIN / command[0], *command[1:], "--only", "linear", "--out", "out"]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        assert {record["status"] for record in read_records(tmp_path / "out")} == {"ok"}
    finally:
        for process in started:
            process.terminate()
            process.wait()
