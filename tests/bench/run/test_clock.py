"""The clock: times by column, peaks of memory, warnings, threads pinned."""

import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from kmaps.bench.run.clock import Clock, pinned, unmeasured
from kmaps.thread_pool import num_threads

# A quarter of it is more than what glibc may take from memory that earlier tests freed (32 MiB).
SIZE = 160 * 2**20


def least(measured: Callable[[], dict], *columns: str) -> list[int]:
    """Return the least of three measurements: what else the process does only adds to one."""
    found = [measured() for _ in range(3)]
    return [min(one[column] for one in found) for column in columns]


def test_peak_memory_is_what_the_block_needs():
    held = np.ones(SIZE, np.uint8)
    del held  # an earlier peak, which must not count
    kept = np.ones(SIZE // 2, np.uint8)

    def allocating():
        with Clock() as clock:
            np.ones(SIZE, np.uint8)
        assert clock.columns["train_peak_bytes"] is None
        return clock.columns

    def training():
        with Clock() as clock:
            np.ones(SIZE // 4, np.uint8)
            clock.trained()
            np.ones(SIZE, np.uint8)
        return clock.columns

    def reading():
        with Clock() as clock:
            kept.sum()
        return clock.columns

    assert least(allocating, "peak_bytes") == pytest.approx([SIZE], rel=0.1)
    train_peak, peak = least(training, "train_peak_bytes", "peak_bytes")
    assert train_peak == pytest.approx(SIZE // 4, rel=0.1)
    assert 0.9 * SIZE < peak < 1.4 * SIZE  # what training freed may stay with the allocator
    assert least(reading, "peak_bytes") < [SIZE / 8]


def test_times_are_those_of_the_blocks():
    with Clock() as clock:
        with clock.timed("encode_s"):
            time.sleep(0.05)
        result, took = clock.seconds(lambda: time.sleep(0.05) or 7)
    assert 0.05 <= clock.columns["encode_s"] < 1
    assert result == 7
    assert 0.05 <= took < 1
    machine = {"load_before", "load_after", "other_cpus", "stolen_cpus"}
    memory = {"peak_bytes", "train_peak_bytes"}
    assert set(clock.columns) == {"encode_s", *memory, *machine, "warnings"}


def test_the_best_of_some_calls_counts_and_the_last_result_is_returned():
    pauses, calls = [0.3, 0.02, 0.2], []

    def call():
        time.sleep(pauses[len(calls)])
        calls.append(len(calls))
        return calls[-1]

    with Clock() as clock:
        assert clock.best("predict_s", call, 3) == 2
        assert 0.02 <= clock._noted["predict_s"][0] < 0.2
        clock.note(predict_s=10.0)
    # One call of `best` is one value: with another one, the mean is of two.
    assert 5.01 <= clock.columns["predict_s"] < 5.1


@pytest.mark.parametrize("n", [1, 2])
def test_pinned_threads_are_the_same_everywhere(n):
    before = num_threads(), threadpool_info()
    with pinned(n):
        assert num_threads() == n
        assert {library["num_threads"] for library in threadpool_info()} == {n}
    assert (num_threads(), threadpool_info()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="Linux reports all of them")
def test_all_that_a_run_records_is_reported_here():
    assert unmeasured() == []
