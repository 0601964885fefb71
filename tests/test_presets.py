"""The small presets of the experiments, run anew, against the baselines that are committed."""

from pathlib import Path

import pytest
from commands import kmaps_in

from kmaps.bench.kinds.load import described, load
from kmaps.bench.paper.entries import packaged
from kmaps.bench.records.file import read_records
from kmaps.bench.run.measure import check_estimators
from kmaps.bench.run.plan import plan
from kmaps.errors import ConfigError

BASELINES = Path(__file__).resolve().parent.parent / "results" / "small"
PRESETS = [name for name in packaged() if "small" in described(name).presets]


def test_every_preset_has_a_baseline_that_is_complete():
    assert sorted(path.name for path in BASELINES.iterdir()) == PRESETS
    for name in PRESETS:
        records = read_records(BASELINES / name)
        assert {record["key"] for record in records} == plan(load(name, "small")).keys()
        assert {record["status"] for record in records} == {"ok"}


def test_every_kind_with_a_published_run_has_a_preset_or_the_quickstart():
    published = {path.parent.name for path in BASELINES.parent.glob("*/records.jsonl")}
    kinds = {described(name).kind for name in published}
    assert kinds <= {described(name).kind for name in [*PRESETS, "quickstart"]}


@pytest.mark.slow  # beside tests/cli/test_reproduce.py, which runs the quickest of them
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_what_its_baseline_has(name, request, monkeypatch, tmp_path):
    experiment = load(name, "small")
    try:
        check_estimators(plan(experiment).values(), experiment)
    except ConfigError as error:
        if "install" not in str(error):  # others' software that is not there
            raise
        pytest.skip(str(error))
    if getattr(described(name), "dataset", None):
        monkeypatch.setenv("KMAPS_DATA_DIR", str(request.getfixturevalue("data_dir")))
    kmaps = kmaps_in(tmp_path)
    kmaps("run", name, "--preset", "small", "--quiet")
    kmaps("check", f"runs/{name}-small", "--against", BASELINES / name)
