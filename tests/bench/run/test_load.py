"""The load of the machine: other work and stolen time are seen, our own work is not."""

from copy import copy
from types import SimpleNamespace

import pytest

from kmaps.bench.run import clock as clocks
from kmaps.bench.run.clock import Load, Watch, look


@pytest.fixture
def machine(monkeypatch):
    """Return a function that lets time pass: seconds of all, of others, of ourselves, stolen."""
    clock = {"now": 100.0, "own": 7.0}
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest")
    counted = SimpleNamespace(**dict.fromkeys(names, 900.0))

    def passes(seconds, others=0.0, own=0.0, stolen=0.0, idle=0.0):
        clock["now"] += seconds
        clock["own"] += own
        counted.user += own + others / 2
        counted.nice += others / 4
        counted.system += others / 4
        counted.steal += stolen
        counted.idle += idle
        counted.iowait += idle

    monkeypatch.setattr(clocks.psutil, "cpu_times", lambda: copy(counted))
    monkeypatch.setattr(clocks, "perf_counter", lambda: clock["now"])
    monkeypatch.setattr(clocks, "process_time", lambda: clock["own"])
    monkeypatch.setattr(clocks, "sleep", passes)
    return passes


def test_our_own_work_is_not_that_of_others(machine):
    watch = Watch()
    machine(4.0, own=4.0, idle=4.0)
    assert (watch.read().others, watch.read().steal) == (0.0, 0.0)
    machine(4.0, own=4.0, others=2.0, stolen=1.0)
    assert watch.read().others == pytest.approx(2.0 / 8)
    assert watch.read().steal == pytest.approx(1.0 / 8)


def test_a_system_that_does_not_tell(machine, monkeypatch):
    monkeypatch.setattr(clocks.psutil, "cpu_times", lambda: SimpleNamespace(user=1.0, idle=2.0))
    found = look()
    assert (found.others, found.steal) == (0.0, None)  # macOS, Windows

    def refuse():
        raise PermissionError

    monkeypatch.setattr(clocks.psutil, "cpu_times", refuse)
    found = look()
    assert (found.others, found.steal, found.is_known) == (None, None, False)
    assert Load(None, None, None).reason == ""


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (Load(0.4, 0.02, 0.0, 2), ""),
        (Load(1.5, 0.1, 0.1, 2), ""),
        (Load(1.6, 0.0, 0.0, 2), "the load average is 1.60"),
        (Load(1.6, 0.0, 0.0, 4), ""),
        (Load(0.0, 0.5, 0.0, 2), "0.50 processors are busy with other work"),
        (Load(0.0, None, 0.2, 2), "the host takes 0.20 processors away"),
    ],
)
def test_what_is_idle(found, reason):
    assert found.reason == reason
