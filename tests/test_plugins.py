"""Maps and kinds of installed packages, by entry points."""

import json

import pytest
from changed_package import KIND_MEASURE, KIND_SHOW, MAP_CLASS
from commands import kmaps_with

from kmaps.errors import ConfigError
from kmaps.maps import MAPS, HomogeneousMap
from tests.bench.records import published

ENTRY_POINTS = """\
[kmaps.maps]
broken = plug_of_a_test.nowhere:Map
leaving = plug_of_a_test.leaving:Map
homogeneous = plug_of_a_test.maps:PowerMap
no-map = collections:Counter
power = plug_of_a_test.maps:PowerMap

[kmaps.kinds]
broken = plug_of_a_test.nothing
leaving = plug_of_a_test.leaving
lengths = plug_of_a_test.lengths
"""
EXPERIMENT = """\
experiment: long
kind: lengths
kernels: [hellinger]
values: [1]
maps:
  - {map: power, power: [0.5, 1]}
"""


@pytest.fixture
def installed(tmp_path):
    package, told = tmp_path / "plug_of_a_test", tmp_path / "plug_of_a_test-1.5.dist-info"
    package.mkdir()
    told.mkdir()
    (package / "maps.py").write_text(MAP_CLASS)
    (package / "leaving.py").write_text("import sys\n\nsys.exit(0)\n")
    (package / "lengths").mkdir()
    for name, text in {"__init__": "", "measure": KIND_MEASURE, "show": KIND_SHOW}.items():
        here = text.replace("kmaps.bench.kinds.lengths", "plug_of_a_test.lengths")
        (package / "lengths" / f"{name}.py").write_text(here)
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-of-a-test\nVersion: 1.5\n")
    (told / "entry_points.txt").write_text(ENTRY_POINTS)
    return tmp_path


@pytest.mark.slow  # the next test, and tests/test_recipes.py
def test_maps_and_kinds_of_packages_are_listed_and_run(installed):
    (installed / "long.yaml").write_text(EXPERIMENT)
    with kmaps_with(installed, {"PYTHONPATH": str(installed)}) as kmaps:
        listed = json.loads(kmaps("list", "--json").stdout)
        maps = {row["name"]: row for row in listed["maps"]}
        assert maps["power"]["class"] == "PowerMap"
        assert maps["power"]["source"] == "nobody, eq. 1"
        assert maps["power"]["paper"] == "plug-of-a-test 1.5"
        assert maps["homogeneous"]["class"] == "HomogeneousMap"  # what comes with kmaps stays
        told = "'broken' of the package plug-of-a-test 1.5 (kmaps.maps) cannot be used: ModuleNotF"
        assert told in maps["broken"]["paper"]
        assert [row["name"] for row in listed["kinds"]][-3:] == ["broken", "leaving", "lengths"]
        assert "--power FLOAT" in kmaps("encode", "--map", "power", "--help").stdout
        ran = kmaps("run", "long.yaml", "--out", "out", "--quiet")
        assert "power = 0.5" in ran.stdout
        lines = (installed / "out/records.jsonl").read_text().splitlines()
        assert json.loads(lines[0])["versions"]["plug-of-a-test"] == "1.5"
        text = EXPERIMENT.replace("map: power", "map: no-map")
        (installed / "long.yaml").write_text(text)
        refused = kmaps("run", "long.yaml", code=2)
        assert "expected a class on kmaps.maps.FeatureMap, got <class 'coll" in refused.stderr


def test_a_name_of_kmaps_stays_its_own(installed, monkeypatch):
    monkeypatch.syspath_prepend(installed)
    monkeypatch.delitem(vars(MAPS), "_added", raising=False)
    try:
        assert MAPS["homogeneous"] is HomogeneousMap
        assert list(MAPS).count("homogeneous") == 1
        assert len(MAPS) == len(list(MAPS))
        with pytest.raises(ConfigError, match="fix or uninstall it"):
            MAPS["no-map"]
    finally:
        vars(MAPS).pop("_added", None)


@pytest.mark.parametrize("name", ["broken", "leaving"])
def test_what_a_plug_in_raises_is_contained(installed, monkeypatch, name):
    monkeypatch.syspath_prepend(installed)
    monkeypatch.delitem(vars(MAPS), "_added", raising=False)
    try:
        with pytest.raises(ConfigError, match=r"plug-of-a-test 1\.5"):
            MAPS[name]
    finally:
        vars(MAPS).pop("_added", None)


def test_a_gate_that_could_not_judge_says_so(installed):
    """The kind of the records ends the process when it is imported; other runs are judged."""
    text = (published.ROOT / "results" / "quickstart" / "records.jsonl").read_text()
    for name, kind in {"plugged": "leaving", "ours": "classification"}.items():
        (installed / name).mkdir()
        changed = text.replace('"kind": "classification"', f'"kind": "{kind}"')
        (installed / name / "records.jsonl").write_text(changed)
    with kmaps_with(installed, {"PYTHONPATH": str(installed)}) as kmaps:
        undecided = kmaps("check", "plugged", "--against", "plugged", code=5)
        assert "plug-of-a-test 1.5" in undecided.stderr
        assert kmaps("check", "ours", "--against", "ours", code=0).stdout
        kmaps("check", "ours", "--reported", "--against", "ours", code=0)
