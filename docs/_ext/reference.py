"""The reference: every public name, every command, and what to cite."""

import importlib
import json
import re
from pathlib import Path

import generate
import schema

from kmaps.bench.report.forms import markdown_table

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
    generate.write(docs / "reference" / "cite.md", _cite())
    yaml = docs / "reference" / "yaml.md"
    generate.write(yaml, yaml.read_text("utf-8").partition(_TYPES)[0] + _TYPES + _types())


def _cite() -> str:
    """Return what to cite: the software, and the paper of each map."""
    from kmaps.cli.list import bibtex

    entries = "\n\n".join(
        f"```bibtex\n{entry}\n```" for entry in re.split(r"\n\n", bibtex().strip())
    )
    software = (generate.ROOT / "CITATION.cff").read_text("utf-8").partition("references:")[0]
    return f"""\
# Cite

Cite the paper of the map that you use; `kmaps list maps --bibtex` prints this list, each paper
below the names of its maps.

{entries}

The software is cited by what `CITATION.cff` says:

```yaml
{software.rstrip()}
```
"""


_TYPES = "\n## Types and defaults\n"


def _types() -> str:
    """Return the keys of each kind of experiment, as the models that check them have them."""
    made = schema.schema()
    parts = [
        """
The models that check files say the same. `experiments/schema.json` has it as a JSON schema: editors
complete and check a file whose first line names it, as all packaged ones do.
"""
    ]
    for kind in made["properties"]["kind"]["enum"]:
        of = made["$defs"][kind]
        rows = [
            [key, _type(value), json.dumps(value["default"]) if "default" in value else "required"]
            for key, value in of["properties"].items()
            if key not in ("kind", "presets")
        ]
        parts.append(f"### {kind}\n\n{markdown_table(['key', 'type', 'default'], rows, texts=3)}")
    return "\n\n".join(parts) + "\n"


def _type(of: dict) -> str:
    """Return the type of a key in words."""
    if "$ref" in of:
        return of["$ref"].rpartition("/")[2]
    if "enum" in of or "const" in of:
        return " or ".join(map(str, of.get("enum", [of.get("const")])))
    for several in ("anyOf", "allOf", "oneOf"):
        if several in of:
            return " or ".join(map(_type, of[several]))
    if of.get("type") == "array":
        return f"list of {_type(of.get('items', {}))}"
    return of.get("type", "anything")


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
