"""Row blocks on threads: all of them, once, in order, on as many threads as asked for."""

import threading
from threading import Event

import pytest

from kmaps import threads
from kmaps.errors import ConfigError
from kmaps.thread_pool import ahead, for_blocks, for_parts, num_threads, processors


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("n_rows", "block"), [(0, 4), (1, 4), (4, 4), (9, 4), (10, 1)])
def test_blocks_cover_all_rows_in_order(n, n_rows, block):
    with threads(n):
        parts = for_blocks(lambda start, stop: list(range(start, stop)), n_rows, block)
    assert [row for part in parts for row in part] == list(range(n_rows))
    assert all(len(part) <= block for part in parts)


def test_threads_run_at_the_same_time():
    meet = threading.Barrier(2, timeout=10)
    with threads(2):
        for_blocks(lambda start, stop: meet.wait(), 2, 1)


def test_an_error_in_a_block_is_raised():
    with threads(2), pytest.raises(ZeroDivisionError):
        for_blocks(lambda start, stop: 1 // start, 4, 1)


def test_parts_of_a_long_row_and_of_many_rows():
    seen = for_parts(lambda rows, columns: (columns.start, columns.stop), (1, 5), 2)
    assert seen == [(0, 2), (2, 4), (4, 5)]
    seen = for_parts(lambda rows, columns: (rows.start, rows.stop), (5, 3), 6)
    assert seen == [(0, 2), (2, 4), (4, 5)]


def test_where_the_number_comes_from(monkeypatch):
    monkeypatch.setenv("KMAPS_NUM_THREADS", "3")
    assert num_threads() == 3
    with threads(2), threads(1):
        assert num_threads() == 1
    assert num_threads() == 3
    monkeypatch.delenv("KMAPS_NUM_THREADS")
    for text in ("1", "1,4"):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert num_threads() == 1
    for text in ("", "0", "many", "1000"):  # which are others' affair
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert num_threads() == processors()
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert num_threads() == processors()


@pytest.mark.parametrize("text", ["abc", "0", "-1", "1.5"])
def test_bad_numbers_are_refused(monkeypatch, text):
    monkeypatch.setenv("KMAPS_NUM_THREADS", text)
    with pytest.raises(ConfigError, match=r"NUM_THREADS=\S+ expected a whole number of at least 1"):
        num_threads()
    with pytest.raises(ConfigError, match="n=0: expected a whole number of at least 1"), threads(0):
        pass


def test_items_are_made_ahead():
    made = [Event() for _ in range(3)]

    def items():
        for k, event in enumerate(made):
            event.set()
            yield k, num_threads()

    with threads(7):
        coming = ahead(items())
        assert next(coming) == (0, 7)
        assert made[1].wait(60)
        assert not made[2].is_set()
        assert list(coming) == [(1, 7), (2, 7)]
    with pytest.raises(ZeroDivisionError):
        list(ahead(1 / k for k in (1, 0)))
