"""What a class says of itself, read from its source text: importing it may take seconds."""

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Declared:
    """What a class says of itself.

    Attributes
    ----------
    name : str
    doc : str
        Its docstring, without indentation.
    attributes : mapping
        What its body assigns, where that is a literal.
    fields : mapping
        Those of them that are fields of a dataclass, in their order; its bases' in the same file
        come first.
    parameters : mapping
        The defaults of the parameters of its ``__init__``; ``inspect.Parameter.empty`` where one
        has none.
    """

    name: str
    doc: str
    attributes: Mapping[str, Any]
    fields: Mapping[str, Any]
    parameters: Mapping[str, Any]


@cache
def declared(place: str | type) -> Declared:
    """Read a class from its file, which is not imported; only the package at the top is.

    Parameters
    ----------
    place : str or type
        ``package.module.Class``; or a class that is imported already.

    Raises
    ------
    LookupError
        When there is no such class in the file.

    Examples
    --------
    >>> told = declared("kmaps.maps.homogeneous.HomogeneousMap")
    >>> told.attributes["source"], told.parameters["order"]
    ('hkm eq. 17-19', 1)
    """
    if not isinstance(place, str):
        return _of_class(place)
    *parents, module, name = place.split(".")
    top = Path(str(import_module(parents[0]).__file__)).parent
    tree = ast.parse(top.joinpath(*parents[1:], f"{module}.py").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if name not in classes:
        raise LookupError(f"no class {name} in {place.rpartition('.')[0]}")
    node = classes[name]
    doc = inspect.cleandoc(ast.get_docstring(node) or "")
    return Declared(name, doc, _attributes(node), _fields(node, classes), _parameters(node))


def _of_class(cls: type) -> Declared:
    attributes = {name: value for name, value in inspect.getmembers(cls) if name[0] != "_"}
    own = {field.name: field.default for field in fields(cls)} if is_dataclass(cls) else {}
    parameters = inspect.signature(cls).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    return Declared(cls.__name__, inspect.cleandoc(cls.__doc__ or ""), attributes, own, defaults)


def _fields(body: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for base in body.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            found |= _fields(classes[base.id], classes)
    own = [
        node.target.id
        for node in body.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and not ast.unparse(node.annotation).startswith("ClassVar")
    ]
    values = _attributes(body)
    return found | {name: values[name] for name in own if name in values}


def _attributes(body: ast.ClassDef) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            targets = [node.target.id]
        elif isinstance(node, ast.Assign):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            continue
        if node.value is not None and _is_literal(node.value):
            found |= dict.fromkeys(targets, ast.literal_eval(node.value))
    return found


def _parameters(body: ast.ClassDef) -> dict[str, Any]:
    for node in body.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            names = [one.arg for one in node.args.args[1:]]
            given = [ast.literal_eval(one) for one in node.args.defaults]
            without = [inspect.Parameter.empty] * (len(names) - len(given))
            positional = dict(zip(names, [*without, *given], strict=True))
            keywords = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            return positional | {
                one.arg: ast.literal_eval(default) if default else inspect.Parameter.empty
                for one, default in keywords
            }
    return {}


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True
