"""The parts of kmaps' YAML files that judging needs, read without the models that check them."""

from collections.abc import Iterable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from kmaps.bench.paper.statements import claims, criterion
from kmaps.bench.records.row import NAME_KEY, NAMED

_DEFAULTS: dict[str, Any] = {
    "text": "",
    "kernels": [],
    "measure": "accuracy",
    "against": None,
    "matrices": None,
    "part": "",
    "by": None,
}


def packaged() -> dict[str, Path]:
    """Return the files of the packaged experiments by their names."""
    folder = Path(str(resources.files("kmaps.experiments")))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


@cache
def _read(name: str) -> dict[str, Any]:
    path = packaged().get(name)
    return yaml.safe_load(path.read_text("utf-8")) if path else {}


def paper_of(name: str) -> str:
    """Return the short name of the paper that an experiment reproduces; empty where it is none."""
    return _read(name).get("paper", "")


def about(name: str) -> str:
    """Return the subject of an experiment; empty where it does not come with kmaps."""
    return _read(name).get("about", "")


def claim_entries(names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the claims of each packaged experiment by its name; other experiments have none."""
    by_name = {}
    for name in names:
        by_name[name] = [_whole(entry) for entry in _read(name).get("claims", [])]
    return by_name


def may_name_rows(path: Path) -> bool:
    """Return whether the file of an experiment names a row; the check of the file says more."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
        lists = [content.get(key) or [] for key in NAMED]
        return any(NAME_KEY in entry for entries in lists for entry in entries)
    except (yaml.YAMLError, UnicodeDecodeError, AttributeError, TypeError):
        return True  # it is no experiment, which the check refuses


def _whole(entry: dict[str, Any]) -> dict[str, Any]:
    entry = _DEFAULTS | entry
    if entry["id"] in claims():
        of_paper = criterion(entry["id"], entry["part"])
        entry |= {"relation": of_paper.relation, "by": of_paper.by}
    return entry


@cache
def n_samples(dataset: str) -> int | None:
    """Return the number of samples of a dataset of kmaps; None where its manifest has none."""
    file = resources.files("kmaps.datasets") / f"{dataset}.yaml"
    return yaml.safe_load(file.read_text("utf-8")).get("n_samples") if file.is_file() else None
