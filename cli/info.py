"""``kmaps info``: what a report of a problem should say about the machine."""

import json
from pathlib import Path
from typing import Any

import click


@click.command(epilog="\b\nExample:\n  kmaps info --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """Show versions, processor, threads, caches, and which datasets are there."""
    from kmaps._loops.encode import take
    from kmaps.bench.run.environment import describe
    from kmaps.data import available, cache_root, load_manifest
    from kmaps.parallel import num_threads

    root = cache_root()
    state = {
        **describe(),
        "threads": num_threads(),
        "data_dir": str(root),
        "compiled_dir": take.stats.cache_path,
        "datasets": {name: _status(root, load_manifest(name)) for name in available()},
    }
    click.echo(json.dumps(state, indent=2) if as_json else _text(state))


def _status(root: Path, manifest: Any) -> str:
    """Say whether a dataset can be used; a dataset that cannot says how to mend it."""
    from kmaps.data.cache import stamped_files
    from kmaps.errors import DataError

    if manifest.embedded:
        return "embedded in scikit-learn"
    try:
        stamped_files(root, manifest)
    except DataError as error:
        return str(error)
    return f"present, {manifest.size / 1e6:.1f} MB"


def _text(state: dict[str, Any]) -> str:
    commit = f"{state['commit']}{', changed since' if state['dirty'] else ''}" or "no checkout"
    versions = ", ".join(f"{name} {version}" for name, version in state["versions"].items())
    lines = {
        "versions": versions,
        "Python": state["python"],
        "commit": commit,
        "processor": f"{state['cpu']}, {state['cores']} cores, {state['threads']} threads used",
        "datasets in": state["data_dir"],
        "compiled loops in": state["compiled_dir"],
    } | {f"dataset {name}": status for name, status in state["datasets"].items()}
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {text}" for name, text in lines.items())
