"""Batches in processes: results as they come, deaths told, the rest of a batch in another one."""

import multiprocessing
import os
import signal
import time
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import pairwise

import cell_workers
import pytest

from kmaps.bench.kinds import KINDS
from kmaps.bench.run import processes
from kmaps.bench.run.processes import Failure, run_batches


def run(*batches, jobs=1):
    return {done.key: done.result for done in run_batches(cell_workers.squares, batches, jobs)}


def test_a_batch_shares_a_process_and_batches_do_not():
    found = run({"a": 2, "b": 101, "c": 3}, {"d": 4})
    assert [found[key][0] for key in "acd"] == [4, 9, 16]
    assert found["b"].error == "ValueError: too large"
    assert found["a"][1] == found["c"][1] != found["d"][1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_after_a_death_the_rest_of_the_batch_starts_in_another_process(jobs):
    found = run({"a": 2, "b": -1, "c": 4, "d": -1, "e": 5}, {"f": 6}, jobs=jobs)
    assert sorted(found) == list("abcdef")
    assert [found[key][0] for key in "acef"] == [4, 16, 25, 36]
    assert len({found[key][1] for key in "acef"}) == 4
    for key in "bd":
        assert isinstance(found[key], Failure)
        assert found[key].error.startswith("the process was ended by SIGKILL")


def test_workers_that_a_method_leaves_are_ended():
    started = time.perf_counter()
    (done,) = run_batches(cell_workers.leave_a_worker, [{"a": 1}], 1)
    assert time.perf_counter() - started < 30
    with pytest.raises(ProcessLookupError):
        os.kill(done.result, 0)


@pytest.mark.parametrize("error", [EOFError, ConnectionRefusedError])
def test_a_server_that_was_killed_is_asked_again(monkeypatch, error):
    """`make soak` kills it."""
    server = multiprocessing.get_context("forkserver").Process
    start, failures = server.start, [error(), error()]

    def start_later(process):
        if failures:
            raise failures.pop()
        return start(process)

    monkeypatch.setattr(server, "start", start_later)
    assert run({"a": 2})["a"][0] == 4
    assert not failures


class Backwards:
    """A clock on the wall that is set back by an hour whenever somebody looks."""

    shown = datetime(2026, 3, 1, tzinfo=UTC)

    def now(self, zone):
        self.shown -= timedelta(hours=1)
        return self.shown


def test_a_clock_that_is_set_back_shortens_nothing(monkeypatch):
    monkeypatch.setattr(processes, "datetime", Backwards())
    done = list(run_batches(cell_workers.squares, [{"a": 1, "b": 2, "c": -1}], 1))
    assert [item.key for item in done] == ["a", "b", "c"]
    assert all(later.started < earlier.started for earlier, later in pairwise(done))
    assert all(0 <= item.seconds < 60 for item in done)


def test_processes_see_where_the_data_are_whenever_that_was_said(monkeypatch):
    for folder in ("here", "there"):
        monkeypatch.setenv("KMAPS_DATA_DIR", folder)
        (done,) = run_batches(cell_workers.data_folder, [{"a": None}], 1)
        assert done.result == folder


def test_kinds_name_modules_that_there_are():
    named = [module for kind in KINDS.values() for module in kind.imports([])]
    assert "kmaps.bench.work.classify" in named
    assert all(map(find_spec, named))


def test_ctrl_c_is_put_off_while_a_process_starts():
    started = []

    def start():
        with processes._uninterrupted():
            signal.raise_signal(signal.SIGINT)
            started.append("a process")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert started


def test_variables_for_processes_that_start_are_taken_back(monkeypatch):
    monkeypatch.setenv("SET_BEFORE", "a")
    monkeypatch.delenv("UNSET_BEFORE", raising=False)
    with processes.starting({"SET_BEFORE": "b", "UNSET_BEFORE": "b"}):
        assert os.environ["SET_BEFORE"] == os.environ["UNSET_BEFORE"] == "b"
    assert os.environ["SET_BEFORE"] == "a"
    assert "UNSET_BEFORE" not in os.environ


def test_processes_are_spawned_where_a_fork_may_not_use_the_system_s_libraries(monkeypatch):
    monkeypatch.setattr(processes.sys, "platform", "darwin")
    assert processes._context([]).get_start_method() == "spawn"


def test_the_end_of_a_process_is_told():
    assert processes._end(0) == "the process ended with exit code 0"
    assert processes._end(-signal.SIGTERM).startswith("the process was ended by SIGTERM")
