"""``kmaps info``: show and check the installation, or show what a model is."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from kmaps.bench.report.forms import aligned
from kmaps.cli.array_files import look_for, seekable
from kmaps.cli.completing import files
from kmaps.cli.flags import megabytes, refuse_run, say
from kmaps.errors import ConfigError, one_line

_MOST_SHOWN = 10  # classes, or names of features


@click.command(
    epilog="\b\nExamples:\n  kmaps info --json\n  kmaps info --check\n  kmaps info model.npz"
)
@click.argument("model_file", metavar="[MODEL]", required=False, shell_complete=files)
@click.option(
    "--check",
    is_flag=True,
    help="Examine versions, threads, libraries, folders, mirrors and leftovers, and say what to "
    "do.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, model_file: str | None, check: bool, as_json: bool) -> None:
    """Show versions, processor, threads, caches, and which datasets are there.

    With MODEL, a file of `kmaps train`, describe the model instead: its map, kernel, levels, C,
    classes and sizes, how it was trained, and whether training ended before it had converged; -
    reads the model from standard input.

    With --check nothing is changed and no address is contacted. The exit code is 2 when something
    has to be done before commands can work or times can be compared.
    """
    if check and model_file is not None:
        raise ConfigError("--check: examines the installation; leave MODEL out")
    if check:
        if _check(as_json):
            ctx.exit(2)
        return
    if model_file is None:
        facts = _installation()
        lines = _installation_lines
    else:
        facts = _model(model_file)
        lines = model_lines
    if as_json:
        say(json.dumps(facts, indent=2))
    else:
        rows = [(one_line(name), one_line(text)) for name, text in lines(facts).items()]
        say("\n".join(aligned(rows, texts=2)))


def _check(as_json: bool) -> bool:
    """Print the diagnoses on the installation; return whether one of them is a fault."""
    from kmaps import compiled_folder
    from kmaps.bench.run.doctor import examine

    diagnoses = examine(compiled_folder())
    if as_json:
        say(json.dumps([asdict(diagnosis) for diagnosis in diagnoses], indent=2))
    else:
        width = max(len(diagnosis.subject) for diagnosis in diagnoses)
        for diagnosis in diagnoses:
            mark = " "
            if diagnosis.fault:
                mark = "!"
            elif diagnosis.remedy:
                mark = "?"
            say(f"{mark} {diagnosis.subject:{width}}  {diagnosis.state}")
            if diagnosis.remedy:
                say(f"  {'':{width}}  → {diagnosis.remedy}")
    return any(diagnosis.fault for diagnosis in diagnoses)


def _model(path: str) -> dict[str, Any]:
    look_for(path)
    refuse_run(path)
    from kmaps.svm import ModelFile

    with seekable(path, ".npz") as name:
        ModelFile(name)  # refuses a file that is no model, before the slow imports
        from kmaps.models import describe_model

        return describe_model(name)


def _installation() -> dict[str, Any]:
    from kmaps import compiled_folder, num_threads
    from kmaps.bench.run.environment import describe
    from kmaps.data import available, cache_root, load_manifest

    root = cache_root()
    return {
        **describe(),
        "threads": num_threads(),
        "data_dir": str(root),
        "compiled_dir": str(compiled_folder()),
        "datasets": {name: _status(root, load_manifest(name)) for name in available()},
    }


def _status(root: Path, manifest: Any) -> str:
    from kmaps.data.cache import stamped_files
    from kmaps.errors import DataError

    if manifest.embedded:
        return "embedded in scikit-learn"
    try:
        stamped_files(root, manifest.name, manifest.digest)
    except DataError as error:
        return str(error)
    return f"present, {megabytes(manifest.size)}"


def _installation_lines(state: dict[str, Any]) -> dict[str, str]:
    commit = f"{state['commit']}{', changed since' if state['dirty'] else ''}" or "no checkout"
    versions = ", ".join(f"{name} {version}" for name, version in state["versions"].items())
    return {
        "versions": versions,
        "Python": state["python"],
        "commit": commit,
        "processor": f"{state['cpu']}, {state['cores']} cores, {state['threads']} threads used",
        "datasets in": state["data_dir"],
        "compiled loops in": state["compiled_dir"],
    } | {f"dataset {name}": status for name, status in state["datasets"].items()}


def model_lines(model: dict[str, Any]) -> dict[str, str]:
    """Return the description by `describe_model` as names and texts."""
    facts = dict(model)
    record = dict(facts.pop("record") or {})
    classes = facts.pop("classes")
    written = facts.pop("written")
    columns = record.pop("columns", None)
    record.pop("column_ranges", None)
    record.pop("column_histograms", None)
    names = facts.pop("feature_names") or columns
    lines = {
        "model": f"{facts.pop('estimator')}, {facts.pop('map')} map",
        "classes": "none, a regression" if classes is None else _counted(len(classes), classes),
        "features": _counted(facts.pop("features"), names),
        "size": f"{facts.pop('model_bytes'):,} bytes, the file {facts.pop('file_bytes'):,}",
    }
    lines |= {name: _value(value) for name, value in facts.items() if value is not None}
    if written:
        lines["written"] = f"{written.get('time')} by kmaps {written.get('kmaps')}"
    if not record:
        lines["trained"] = "the file does not say how"
        return lines
    unfinished = record.pop("unfinished", None)
    record.pop("kernel", None)
    for name, value in record.items():
        if value is not None and value != []:
            lines[f"trained: {name.replace('_', ' ')}"] = _value(value)
    lines["converged"] = "yes" if unfinished == [] else "the file does not say"
    if unfinished:
        lines["converged"] = f"no: {_value(unfinished)}"
    return lines


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return "; ".join(map(_value, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_value(inner)}" for name, inner in value.items())
    return str(value)


def _counted(count: int, values: Any) -> str:
    """Return the number of some values, and the first of them where they are known."""
    if not isinstance(values, list):
        return f"{count:,}"
    from kmaps.io import label_line

    texts = [label_line(value) for value in values[:_MOST_SHOWN]]
    if len(values) > _MOST_SHOWN:
        texts.append("…")
    return f"{count:,}: {', '.join(texts)}"
