"""kmaps info: what is installed, where things are, which datasets can be used."""

import json
from pathlib import Path

import commands
import numpy as np
import pytest

import kmaps
from kmaps.data import available


@pytest.fixture
def info(tmp_path, monkeypatch):
    monkeypatch.setenv("KMAPS_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("KMAPS_NUM_THREADS", "3")

    return lambda *args: commands.kmaps("info", *args).stdout


def test_json_and_text(info, tmp_path):
    state = json.loads(info("--json"))
    assert state["versions"]["kmaps"] == kmaps.__version__
    assert state["versions"]["numpy"] == np.__version__
    assert state["threads"] == 3
    assert state["data_dir"] == str(tmp_path)
    assert Path(state["compiled_dir"]).is_absolute()
    assert list(state["datasets"]) == available()
    assert state["datasets"]["digits"] == "embedded in scikit-learn"
    assert state["datasets"]["mnist"] == f"mnist is not in {tmp_path}: run `kmaps download mnist`"
    lines = dict(line.split("  ", 1) for line in info().splitlines())
    assert lines["datasets in"].strip() == str(tmp_path)
    assert "3 threads used" in lines["processor"]


def test_a_damaged_dataset_is_no_failure(info, tmp_path):
    (tmp_path / "mnist").mkdir()
    status = json.loads(info("--json"))["datasets"]["mnist"]
    assert "damaged" in status
    assert "`kmaps download mnist`" in status
