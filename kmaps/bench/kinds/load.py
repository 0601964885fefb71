"""Experiment files: read, checked as a whole before any work, every mistake with its place.

A mistake reads ``experiment.yaml:14:7: maps[2].ordr: unknown key, did you mean 'order'?`` and all
mistakes are reported at once: pydantic and the maps find them, YAML nodes have their places.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, get_args

import yaml
from pydantic import ValidationError

from kmaps.bench.kinds import KINDS
from kmaps.bench.kinds.kind import Kind
from kmaps.bench.paper.entries import packaged
from kmaps.bench.records.lines import Lines, compared, lines_of
from kmaps.bench.spec import positions
from kmaps.bench.spec.defaults import completed
from kmaps.bench.spec.fields import TAGS, Experiment, Model
from kmaps.bench.spec.rows import (
    estimator_places,
    feature_mistakes,
    map_mistakes,
    name_mistakes,
)
from kmaps.data.yaml_text import read_text, write_yaml
from kmaps.errors import ConfigError, Mistakes, one_line, suggest

_USUAL = "classification"  # the kind of a file that names none


class Loaded(NamedTuple):
    """An experiment that was checked, and its keys but ``presets``, applied, and ``base``."""

    experiment: Experiment
    content: dict[str, Any]


def load(
    name_or_path: str | Path, preset: str | None = None, changes: Sequence[str] = ()
) -> Experiment:
    """Read and check an experiment: a file, or the name of one that comes with kmaps.

    With ``preset`` the keys under that name in ``presets`` replace the experiment's keys, its
    claims are left out, and its name becomes NAME-PRESET. ``changes``, such as ``["splits=2"]``,
    then change single keys. A ConfigError lists every mistake, one per line, in order of places.
    """
    return load_whole(name_or_path, preset, changes).experiment


def load_whole(
    name_or_path: str | Path, preset: str | None = None, changes: Sequence[str] = ()
) -> Loaded:
    """Read and check an experiment as :func:`load` does, and return its keys too."""
    path = Path(name_or_path)
    if path.suffix in (".yaml", ".yml"):
        return _checked(_text_of(path), str(path), preset, changes)
    experiments = packaged()
    if str(name_or_path) not in experiments:
        hint = suggest(str(name_or_path), experiments)
        raise ConfigError(
            f"no experiment '{name_or_path}'{hint} (`kmaps list` shows them; "
            "a file's name ends in .yaml)"
        )
    path = experiments[str(name_or_path)]
    loaded = _checked(_text_of(path), str(path), preset, changes)
    loaded.experiment._folder = None  # it names no files next to it
    return loaded


def _text_of(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not a text file in UTF-8") from None


def parse(text: str, source: str = "experiment.yaml", preset: str | None = None) -> Experiment:
    """Check the text of an experiment, and of all its presets, as the file ``source`` has it."""
    return _checked(text, source, preset).experiment


def _checked(
    text: str, source: str, preset: str | None = None, changes: Sequence[str] = ()
) -> Loaded:
    root, content = positions.read(text, source)
    name = content.get("kind", _USUAL)
    if not isinstance(name, str) or name not in KINDS:
        hint = suggest(str(name), KINDS)
        message = f"unknown kind {name!r}{hint} (known: {', '.join(KINDS)})"
        raise ConfigError(_line(source, positions.at(root, ("kind",), message)))
    kind = KINDS[name]
    place = _Place(Path(source).parent, content.get("experiment"))
    mistakes = set(positions.repeated_keys(root))
    variants: dict[str | None, tuple[yaml.Node, dict]] = {None: (root, content)}
    if not mistakes:
        variants.update(_presets(root, content))
    for variant_root, variant in variants.values():
        mistakes |= _mistakes(kind, variant_root, variant, place)
    if mistakes:
        lines = [one_line(_line(source, mistake)) for mistake in sorted(mistakes)]
        raise Mistakes("\n".join(lines))
    if preset not in variants:
        names = ", ".join(filter(None, variants)) or "none"
        raise ConfigError(f"{source}: unknown preset {preset!r} (known: {names})")
    root, content = variants[preset]
    content = {key: value for key, value in content.items() if key != "presets"}
    if changes:
        content = _changed(kind, content, changes, place)
    content = completed(content, kind.model)
    experiment = kind.model.model_validate(content, context=place.context(content))
    experiment._folder = place.base_of(content).resolve()
    for row, mistake in estimator_places(root, content).items():
        experiment._places[row] = _line(source, mistake)
    return Loaded(experiment, _elsewhere(content, place))


def _line(source: str, mistake: positions.Mistake) -> str:
    line, column, text = mistake
    return f"{source}:{line}:{column}: {text}"


class _Place(NamedTuple):
    folder: Path
    experiment: Any

    def base_of(self, content: dict[str, Any]) -> Path:
        base = content.get("base")
        return self.folder / Path(base).expanduser() if isinstance(base, str) else self.folder

    def context(self, content: dict[str, Any]) -> dict[str, Any]:
        return {"folder": str(self.base_of(content)), "experiment": self.experiment}


def _elsewhere(content: dict[str, Any], place: _Place) -> dict[str, Any]:
    """Return an experiment without its base, its files called as in the file that it is from."""
    rest = {key: value for key, value in content.items() if key != "base"}
    dataset = rest.get("dataset")
    if isinstance(dataset, dict) and "files" in dataset:
        rest["dataset"] = {"name": place.experiment, **dataset}
    return rest


def _changed(
    kind: Kind, content: dict[str, Any], changes: Sequence[str], place: _Place
) -> dict[str, Any]:
    root, content = positions.read(
        write_yaml(positions.changed(content, changes)), "experiment.yaml"
    )
    mistakes = [text for _, _, text in sorted(_mistakes(kind, root, content, place))]
    if mistakes:
        arguments = " ".join(changes)
        raise Mistakes("\n".join(one_line(f"changes='{arguments}': {text}") for text in mistakes))
    return content


def _presets(root: yaml.Node, content: dict[str, Any]) -> dict[str, tuple[yaml.Node, dict]]:
    """Return the nodes and the content of the experiment as each preset changes it."""
    variants = {}
    for key, node in root.value:
        presets = content.get("presets")
        if key.value != "presets" or not isinstance(presets, dict):
            continue
        for name, preset in node.value:
            keys = presets.get(name.value)
            if not isinstance(keys, dict):
                continue  # the model reports the mistake
            pairs = [pair for pair in root.value if pair[0].value not in keys]
            pairs += preset.value
            nodes = yaml.MappingNode(root.tag, pairs, root.start_mark, root.end_mark)
            title = f"{content.get('experiment')}-{name.value}"
            changed = {**content, "claims": [], **keys, "experiment": title}
            variants[name.value] = (nodes, changed)
    return variants


def _mistakes(
    kind: Kind, root: yaml.Node, content: dict[str, Any], place: _Place
) -> set[positions.Mistake]:
    mistakes = {
        *map_mistakes(root, content, kind.row_keys, takes_estimators=kind.takes_estimators),
        *feature_mistakes(root, content),
        *name_mistakes(root, content),
        *kind.mistakes(root, content),
    }
    try:
        complete = completed(content, kind.model)
        experiment = kind.model.model_validate(complete, context=place.context(complete))
    except ValidationError as refused:
        return mistakes | {_from_pydantic(root, kind.model, error) for error in refused.errors()}
    return mistakes or set(selection_mistakes(root, kind, experiment))


@cache
def described(name: str) -> Experiment:
    """Return a packaged experiment, without fitting its maps."""
    return described_in(packaged()[name])


def overview(name: str) -> tuple[str, str]:
    """Return on which data a packaged experiment is and what it is about, without checking it."""
    path = packaged()[name]
    _, content = positions.read(_text_of(path), str(path))
    dataset = content.get("dataset")
    if isinstance(dataset, dict):
        dataset = dataset["name"]
    other = "uniform samples" if "uniform" in content else content.get("kind", _USUAL)
    return dataset or other, content["about"]


def described_in(path: Path) -> Experiment:
    """Return the experiment in a file, without fitting its maps."""
    _, content = positions.read(_text_of(path), str(path))
    kind = KINDS.get(str(content.get("kind", _USUAL)))
    if kind is None:
        raise ConfigError(f"{path}: unknown kind {content['kind']!r}")
    place = _Place(path.parent, content.get("experiment"))
    content = completed(content, kind.model)
    try:
        return kind.model.model_validate(content, context=place.context(content))
    except ValidationError as refused:
        place = ".".join(map(str, refused.errors()[0]["loc"]))
        raise ConfigError(f"{path}: {place}: {refused.errors()[0]['msg']}") from None


def _from_pydantic(root: yaml.Node, model_of_file: type[Model], error: Any) -> positions.Mistake:
    place = tuple(step for step in error["loc"] if step not in TAGS)
    kind = error["type"]
    value = error["input"]
    if kind == "missing":
        return positions.at(root, place[:-1], f"missing key {place[-1]!r}")
    if kind == "extra_forbidden":
        model = model_of_file
        for step in place[:-1]:
            if isinstance(step, str):
                model = _model_in(model.model_fields[step].annotation) or model
        return positions.at(
            root, place, positions.unknown_key(place[-1], model.model_fields), key=True
        )
    if kind == "model_type":
        return positions.at(
            root, place, f"expected a mapping (key: value), got {positions.brief(value)}"
        )
    return positions.at(root, place, positions.problem_of(error))


def _model_in(annotation: Any) -> type[Model] | None:
    """Return the model of a field, or of the items of its list; None where there is none."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return annotation
    models = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in models if model is not None), None)


class _Unmeasured:
    """A result that only measuring shows: it may turn out equal to anything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = object.__hash__


def selection_mistakes(
    root: positions.Node, kind: Kind, experiment: Experiment
) -> Iterator[positions.Mistake]:
    """Yield the claims whose selections pick no two rows, at the side that picks none."""
    if not experiment.claims:
        return
    constants = {"status": "ok", "dim": _Unmeasured()}
    lines = lines_of(constants | cell.columns for cell in kind.cells(experiment))
    for number, claim in enumerate(experiment.claims):
        entry = claim.model_dump()
        if next(compared(entry, lines), None):
            continue
        empty = [side for side in ("left", "right") if not _picks(entry[side], lines)]
        for side in empty:
            yield positions.at(root, ("claims", number, side), _why_none(entry[side], lines))
        if not empty:
            yield positions.at(root, ("claims", number), _why_no_two(entry))


def _picks(selection: Mapping[str, Any], lines: Lines) -> bool:
    return any(line.is_picked(selection) for line in lines)


def _why_none(selection: Mapping[str, Any], lines: Lines) -> str:
    rows = [{"kernel": line.kernel, **dict(line.names)} for line in lines]
    for name, value in selection.items():
        values = list(dict.fromkeys(str(row[name]) for row in rows if row.get(name) is not None))
        if not values:
            names = list(dict.fromkeys(name for row in rows for name in row))
            return f"no row has {name!r}{suggest(name, names) or _known(names)}"
        if not _picks({name: value}, lines):
            return f"no row has {name}: {value}{suggest(value, values) or _known(values)}"
    return "no row has all of these values"


def _known(words: Iterable[str]) -> str:
    return f" (known: {', '.join(words)})"


def _why_no_two(entry: Mapping[str, Any]) -> str:
    if entry["against"]:
        return "left and right pick no common row, and a claim with 'against' compares common rows"
    of_kernels = f" of the kernels {', '.join(entry['kernels'])}" if entry["kernels"] else ""
    return (
        f"left and right pick no two rows to compare{of_kernels}: two rows must have the same "
        "reduction, the same kernel unless a side names it, and the same values of all parameters "
        "that neither side names"
    )
