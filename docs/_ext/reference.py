"""The reference: every public name, every command, and what to cite."""

import importlib
from pathlib import Path

import generate

MODULES = {
    "kmaps": "Everything that most users need.",
    "kmaps.maps": "The maps, their registry and what a map can do.",
    "kmaps.svm": "The learners and their building blocks.",
    "kmaps.models": "Whole models, their choice of C and width, evaluation, files.",
    "kmaps.codes": "One byte per value.",
    "kmaps.kernels": "Kernels of two numbers.",
    "kmaps.io": "Files of rows, block by block.",
    "kmaps.dask": "The same for collections of Dask.",
    "kmaps.errors": "The errors that users cause, each with an exit code.",
}


def write_all(docs: Path) -> None:
    generate.write(docs / "reference" / "api.rst", _api())
    generate.write(docs / "reference" / "commands.rst", _commands())


def _title(text: str, under: str) -> str:
    return f"{text}\n{under * len(text)}\n"


def _api() -> str:
    parts = [_title("Python API", "=")]
    seen: set[int] = set()
    for name, about in MODULES.items():
        module = importlib.import_module(name)
        names = [one for one in _public(module) if id(getattr(module, one)) not in seen]
        seen |= {id(getattr(module, one)) for one in names}
        rows = "".join(f"   {one}\n" for one in names)
        parts += [_title(name, "-"), about, f".. currentmodule:: {name}\n"]
        parts += [f".. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"]
    return "\n\n".join(parts)


def _public(module) -> list[str]:
    """Return the classes and functions of a module, those with a docstring of their own."""
    found = []
    for name in sorted(getattr(module, "__all__", None) or vars(module)):
        value = getattr(module, name)
        own = getattr(value, "__module__", "").startswith("kmaps")
        if not name.startswith("_") and own and callable(value) and value.__doc__:
            found.append(name)
    return found


def _commands() -> str:
    from kmaps.cli.main import COMMANDS

    parts = [_title("Options of every command", "=")]
    for name in COMMANDS:
        module = f"kmaps.cli.{name}"
        parts.append(f".. click:: {module}:command\n   :prog: kmaps {name}\n   :nested: full\n")
    return "\n\n".join(parts)
