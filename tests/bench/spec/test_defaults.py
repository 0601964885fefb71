"""Defaults may change: published experiments plan what they planned, others say what they use."""

import inspect
import json
from contextlib import contextmanager
from dataclasses import replace

import pytest
import yaml
from measured import cells_of

import kmaps
from kmaps import maps
from kmaps.bench.kinds import shown_of
from kmaps.bench.kinds.classification.measure import Classification, LearnerSettings, Tuning
from kmaps.bench.kinds.load import described, load, load_whole, parse
from kmaps.bench.kinds.scaling.measure import Scaling
from kmaps.bench.paper.entries import packaged
from kmaps.bench.records import defaults, gate
from kmaps.bench.records.file import read_records
from kmaps.bench.run.plan import plan
from kmaps.features import FEATURES
from kmaps.maps import registry
from tests.bench.records import published

CHANGED = {
    ("map", "anchor", "weights"): "distance",
    ("map", "fourier", "spread"): 2.0,
    ("map", "hermite", "spread"): 2.0,
    ("map", "homogeneous", "period"): "optimal",
    ("map", "lowdim", "values"): "integers",
    ("map", "lowdim-joint", "also_box"): True,
    ("map", "lowdim-joint", "n_grids"): 2,
    ("map", "same-sign", "period"): "optimal",
    ("estimator", "RandomFeatureSVC", "sigma"): "auto",
    ("features", "dense-sift-bow", "enlarge"): 2,
    ("features", "hog-pyramid", "cells"): (4, 8),
    ("features", "phow", "enlarge"): 2,
    ("learner", "", "max_iter"): 7,
    ("learner", "", "level_ranges"): "own",
    ("estimator", "CodedSVC", "level_ranges"): "own",
    ("estimator", "CodedSVCCV", "level_ranges"): "own",
    ("C", "", "chosen_on"): "first-split",
}
"""Another default for each parameter of the table."""

TABLES = {
    "map": defaults.OF_MAPS,
    "estimator": defaults.OF_ESTIMATORS,
    "features": defaults.OF_FEATURES,
    "learner": {"": defaults.OF_LEARNER},
    "C": {"": defaults.OF_C},
}


def published_default(what, owner, name):
    return TABLES[what][owner][name].value


@contextmanager
def changed(*keys):
    """Let parameters have the defaults of CHANGED while a test runs."""
    with pytest.MonkeyPatch.context() as patch:
        of_maps = {}
        for what, owner, name in keys:
            value = CHANGED[what, owner, name]
            if what == "map":
                of_maps.setdefault(owner, {})[name] = value
            elif what == "estimator":
                signature = inspect.signature(getattr(kmaps, owner))
                parameters = [
                    one.replace(default=value) if one.name == name else one
                    for one in signature.parameters.values()
                ]
                other = signature.replace(parameters=parameters)
                patch.setattr(getattr(kmaps, owner), "__signature__", other, raising=False)
            elif what == "features":
                init = FEATURES[owner].__init__
                names = list(inspect.signature(init).parameters)[1:]
                values = dict(zip(names, init.__defaults__, strict=True)) | {name: value}
                patch.setattr(init, "__defaults__", tuple(values.values()))
            else:
                model = {"learner": LearnerSettings, "C": Tuning}[what]
                patch.setattr(model.model_fields[name], "default", value)
        original = registry.parameters_of

        def parameters_of(name):
            return {**original(name), **of_maps.get(name, {})}

        patch.setattr(registry, "parameters_of", parameters_of)
        patch.setattr(maps, "parameters_of", parameters_of, raising=False)
        try:
            rebuild()
            yield
        finally:
            patch.undo()
            rebuild()


def rebuild():
    """Let models of keys take the defaults that their fields have now."""
    for model in (LearnerSettings, Tuning, Classification, Scaling):
        model.model_rebuild(force=True)


def test_another_default_is_tried_for_each_parameter_of_the_table():
    in_table = {
        (what, owner, name)
        for what, owners in TABLES.items()
        for owner, parameters in owners.items()
        for name in parameters
    }
    assert CHANGED.keys() == in_table


def test_the_table_has_no_parameter_that_does_not_exist():
    for name, table in defaults.OF_MAPS.items():
        assert table.keys() <= maps.parameters_of(name).keys()
    for name, table in defaults.OF_ESTIMATORS.items():
        assert table.keys() <= inspect.signature(getattr(kmaps, name)).parameters.keys()
    for name, table in defaults.OF_FEATURES.items():
        assert table.keys() <= inspect.signature(FEATURES[name]).parameters.keys()
    assert defaults.OF_LEARNER.keys() <= LearnerSettings.model_fields.keys()
    assert defaults.OF_C.keys() <= Tuning.model_fields.keys()


def test_every_published_experiment_has_the_published_defaults():
    for name, path in packaged().items():
        if (published.ROOT / "results" / name).is_dir():
            assert yaml.safe_load(path.read_text("utf-8"))["defaults"] == defaults.EDITION, name


def test_changed_defaults_move_no_published_cell():
    """With all defaults of the table changed at once, keys, labels and seeds are as recorded."""
    described.cache_clear()
    runs = [(name, None, records) for name, records in published.records().items()]
    for name in packaged():
        folder = published.ROOT / "results" / "small" / name
        if folder.is_dir():
            runs.append((name, "small", read_records(folder)))
    with changed(*CHANGED):
        for name, preset, records in runs:
            planned = plan(load(name, preset))
            assert {record["key"] for record in records} == planned.keys(), name
            for record in records:
                cell = planned[record["key"]]
                columns = json.loads(json.dumps(cell.columns))
                assert {column: record[column] for column in columns} == columns, name
                assert record["seed"] in (None, cell.seed), name
    described.cache_clear()


TEXT = """\
experiment: x
dataset: {name: digits, train: 90, test: 90}
kernels: [chi2]
reductions: [ovr]
C: 1
"""

ENTRIES = {
    "map": "maps: [{map: OWNER}]",
    "estimator": "classifiers: [{estimator: kmaps.OWNER, params: {n_frequencies: 5}}]",
    "features": "features: {name: OWNER}\nbaselines: [linear]",
}
PINNED = "\ndefaults: 1"
OF_ROWS = [key for key in CHANGED if key[0] in ENTRIES]
MADE_ELSEWHERE = ("lowdim-joint",)  # maps of stationary kernels, which no classification has
REQUIRED = {"anchor": {"n_neighbors": 2}, "lowdim-joint": {"dim": 5}}


def cell_of(what, owner, more="", **named):
    """Return the cell of a row of a map, an estimator or features, with the named parameters."""
    content = yaml.safe_load(TEXT + ENTRIES[what].replace("OWNER", owner))
    if what == "map":
        content["maps"][0] |= REQUIRED.get(owner, {}) | named
    elif what == "estimator":
        content["classifiers"][0]["params"] |= named
    else:
        content["features"] |= named
    if owner in MADE_ELSEWHERE:
        content = {
            "experiment": "x",
            "kind": "approximation",
            "kernels": ["rbf"],
            "ranges": ["differences 0:1:9"],
            "maps": content["maps"],
        }
    return cells_of(yaml.safe_dump(content) + more)[0]


def said(what, cell):
    return cell.features if what == "features" else cell.row.label


def used(what, cell, name):
    return getattr(cell.feature, name) if what == "features" else cell.row.all_params[name]


@pytest.mark.parametrize("key", OF_ROWS, ids=".".join)
def test_a_row_says_a_default_that_is_not_the_published_one(key):
    what, owner, name = key
    now, value = cell_of(what, owner, PINNED), CHANGED[key]
    text = f" {name}={list(value) if isinstance(value, tuple) else value}"
    assert f" {name}=" not in said(what, now)
    with changed(key):
        then = cell_of(what, owner)
        pinned = cell_of(what, owner, PINNED)
        assert pinned.key("") == now.key("")
        assert used(what, pinned, name) == published_default(*key)
    assert text in said(what, then)
    assert used(what, then, name) in (value, list(value) if isinstance(value, tuple) else value)
    assert then.key("") != now.key("")
    assert then.seed != now.seed
    assert (said(what, pinned), pinned.seed) == (said(what, now), now.seed)


@pytest.mark.parametrize("key", OF_ROWS, ids=".".join)
def test_a_named_published_default_is_the_same_row(key):
    """For resuming, which goes by keys, and for the gate."""
    what, owner, name = key
    silent = cell_of(what, owner, PINNED)
    named = cell_of(what, owner, **{name: published_default(*key)})
    other = cell_of(what, owner, **{name: CHANGED[key]})
    assert said(what, named) != said(what, silent)
    assert named.key("") == silent.key("") != other.key("")
    assert named.row.identity == silent.row.identity
    assert verdicts(named, silent) == ["same"]
    with pytest.raises(kmaps.errors.NothingMeasured):
        verdicts(other, silent)


def verdicts(cell, baseline):
    """Return the gate's verdicts on two cells with the same measurements."""
    columns = read_records(published.ROOT / "results" / "quickstart")[0]
    if cell.kind == "approximation":
        columns = read_records(published.ROOT / "results" / "ldefm-rbf3d")[0]
    records = [json.loads(json.dumps(columns | one.columns)) for one in (cell, baseline)]
    judged = gate.compare(records[:1], records[1:], shown_of(records).judged)
    return [verdict.verdict for verdict in judged]


def test_settings_that_came_later_are_the_same_whether_recorded_or_not():
    columns = read_records(published.ROOT / "results" / "quickstart")[0]
    named = columns | {"settings": {**columns["settings"], "max_iter": None}}
    other = columns | {"settings": {**columns["settings"], "max_iter": 7}}
    judged = shown_of([columns]).judged
    assert [one.verdict for one in gate.compare([named], [columns], judged)] == ["same"]
    assert [one.verdict for one in gate.compare([other], [columns], judged)] == ["not measured"]


@pytest.mark.parametrize("given", ["", "\nlearner: {}", "\nlearner: {loss: hinge}"])
def test_settings_have_todays_default_unless_pinned(given):
    text = TEXT + "baselines: [linear]" + given
    now = cells_of(text)[0]
    with changed(("learner", "", "max_iter")):
        Classification.model_fields["learner"].default = LearnerSettings()
        try:
            rebuild()
            then, pinned = cells_of(text)[0], cells_of(text + "\ndefaults: 1")[0]
        finally:
            Classification.model_fields["learner"].default = LearnerSettings(max_iter=None)
    rebuild()
    assert "max_iter" not in now.settings
    assert then.settings["max_iter"] == 7
    assert then.key("") != now.key("") == pinned.key("")


def test_the_choice_of_c_has_todays_default_unless_pinned():
    text = TEXT.replace("C: 1", "C: auto").replace(
        "name: digits, train: 90, test: 90",
        "name: daimler, train: [ped1, ped2, ped3], choose: 2, test: [ped4, ped5]",
    )
    text += "baselines: [linear]"
    with changed(("C", "", "chosen_on")):
        then, pinned = (cells_of(text + more)[0] for more in ("", "\ndefaults: 1"))
    assert then.C["chosen_on"] == "first-split"
    assert "chosen_on" not in pinned.C


def test_an_alias_is_its_value():
    text = TEXT + "maps: [{map: homogeneous, period: [published, 6.0]}]\ndefaults: 1"
    null = text.replace("published", "null")
    labels = [cell.row.label for cell in cells_of(null)]
    content = yaml.safe_load(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kmaps.bench.spec.rows._trial", lambda *row: "")
        cells = cells_of(yaml.safe_dump(content))
    assert [cell.row.label for cell in cells] == labels
    assert [cell.key("") for cell in cells] == [cell.key("") for cell in cells_of(null)]


def test_a_searched_parameter_is_not_named():
    text = TEXT + (
        "classifiers: [{estimator: kmaps.RandomFeatureSVC, params: {n_frequencies: 5}, "
        "search: {sigma: auto}}]"
    )
    with changed(("estimator", "RandomFeatureSVC", "sigma")):
        assert cells_of(text)[0].row.params == {"n_frequencies": 5}


def test_the_definition_next_to_records_is_pinned(tmp_path):
    """What is kept next to records plans the same cells when a default has changed since."""
    path = tmp_path / "x.yaml"
    path.write_text(TEXT + "maps: [{map: homogeneous}]")
    with changed(("map", "homogeneous", "period")):
        loaded = load_whole(path)
    kept = yaml.safe_dump(loaded.content)
    assert loaded.content["defaults"] == 1
    assert plan(parse(kept)).keys() == plan(loaded.experiment).keys()


def test_another_edition_is_refused():
    with pytest.raises(kmaps.errors.ConfigError, match="defaults"):
        parse(TEXT + "baselines: [linear]\ndefaults: 2")


def test_seeds_and_labels_are_of_what_is_named():
    named = cell_of("map", "homogeneous", period=None)
    assert named.row.label == "homogeneous period=None"
    assert replace(named, row=cell_of("map", "homogeneous").row).seed != named.seed


def test_a_kept_experiment_has_the_settings_of_its_run(tmp_path):
    """Next to its records it is pinned, and resumes the same cells."""
    path = tmp_path / "x.yaml"
    path.write_text(TEXT + "maps: [{map: spline, solver: coded}]")
    loaded = load_whole(path)
    kept = tmp_path / "kept.yaml"
    kept.write_text(yaml.safe_dump(loaded.content))
    again = load_whole(kept)
    assert plan(again.experiment).keys() == plan(loaded.experiment).keys()
    assert again.content == loaded.content
