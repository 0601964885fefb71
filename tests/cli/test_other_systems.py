"""Systems, folders and installations that lack something: one line each, or None in records."""

import errno
import os
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from kmaps.bench.records.file import RecordsFile
from kmaps.bench.run import clock as clocks
from kmaps.bench.run import doctor
from kmaps.bench.work.third_party import third_party_storage
from kmaps.data import cache
from kmaps.errors import ConfigError, InputError


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_one_line(number, tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    said = f"gives no locks ({os.strerror(number)}): choose a folder on another"
    with pytest.raises(ConfigError) as caught, RecordsFile(tmp_path / "new" / "out"):
        pass
    path = tmp_path / "new" / "out" / "records.jsonl"
    assert str(caught.value) == f"{path}: its file system {said}"
    assert not path.parent.parent.exists()
    with pytest.raises(ConfigError) as caught, cache.lock(tmp_path, "digits", list):
        pass
    assert str(caught.value).endswith(said)


def test_the_file_of_a_lock_that_the_dead_left_holds_nobody_up(tmp_path):
    (tmp_path / ".records.jsonl.lock").write_text("4194304\n")
    cache.work_folder(tmp_path, "digits").mkdir(parents=True)
    (cache.work_folder(tmp_path, "digits") / "lock").write_text("4194304\n")
    for path in tmp_path.rglob("*lock"):
        os.utime(path, (0, 0))
    with RecordsFile(tmp_path), cache.lock(tmp_path, "digits", lambda: pytest.fail("waited")):
        pass


def test_what_cannot_be_pickled_once_it_is_trained_is_one_line():
    fitted = SimpleNamespace(lock=threading.Lock())
    with pytest.raises(InputError, match=r"^cannot be pickled, .*_thread.lock.*; keep lambdas, "):
        third_party_storage(np.ones((2, 2), np.float32), fitted)


def test_what_a_system_does_not_measure_is_none(monkeypatch):
    def opened(path, *given, **how):
        raise FileNotFoundError(2, "No such file or directory", path)

    monkeypatch.setattr(clocks, "open", opened, raising=False)
    monkeypatch.setattr(clocks.psutil, "cpu_times", lambda: SimpleNamespace(user=1.0, idle=2.0))
    monkeypatch.setattr(clocks, "_affinity", lambda: None)
    with clocks.held(1), clocks.Clock() as clock:
        clock.trained()
    columns = ("peak_bytes", "train_peak_bytes", "stolen_cpus")
    assert [clock.columns[name] for name in columns] == [None] * 3
    [finding] = doctor._measures()
    assert finding.found == (
        "this system does not report peaks of memory, time that the host takes away, which "
        "processors a process runs on"
    )
    assert "– in tables" in finding.remedy
