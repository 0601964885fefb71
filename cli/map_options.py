"""The parameters of a map as options of a command.

A command with ``cls=MapCommand`` has an option ``--map`` and, next to its own, one option for each
parameter of the map that was chosen: ``--order 2`` or ``--window uniform`` work because the map's
``__init__`` has such a parameter. A new map needs no word here. The command's function takes the
name as ``map_name`` and the parameters that were given as further keyword arguments.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from kmaps.errors import ConfigError, suggest

DEFAULT_MAP = "homogeneous"
_META = "kmaps.map_options"


class AnyValue(click.ParamType):
    """A number, a word, true, false or none: for parameters whose default is None."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value as Python has it."""
        words = {"none": None, "true": True, "false": False}
        if not isinstance(value, str) or value.lower() in words:
            return words[value.lower()] if isinstance(value, str) else value
        for kind in (int, float):
            try:
                return kind(value)
            except ValueError:
                pass
        return value


class MapCommand(click.Command):
    """A command whose ``--map`` decides which further options it has."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.insert(
            sum(isinstance(param, click.Argument) for param in self.params),
            click.Option(
                ["--map", "map_name"],
                default=DEFAULT_MAP,
                show_default=True,
                metavar="NAME",
                help="The map; `kmaps list maps` shows them, `--map NAME --help` the options of "
                "one.",
                shell_complete=_complete_map,
            ),
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the map before the options are parsed, because it says which there are."""
        name = _chosen_map(args)
        if ctx.resilient_parsing and name not in _maps():
            name = DEFAULT_MAP  # a shell completing a half-typed line wants no complaint
        ctx.meta[_META] = name, map_options(name)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own parameters and those of the map."""
        return [*super().get_params(ctx), *ctx.meta.get(_META, ("", []))[1]]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the map's options in a section of their own."""
        name, of_map = ctx.meta.get(_META, ("", []))
        for title, params in (
            ("Options", super().get_params(ctx)),
            (f"Options of the {name} map", of_map),
        ):
            options = [param for param in params if isinstance(param, click.Option)]
            records = [record for o in options if (record := o.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def _chosen_map(args: list[str]) -> str:
    name = DEFAULT_MAP
    for i, arg in enumerate(args):
        if arg == "--":
            break
        if arg == "--map" and i + 1 < len(args):
            name = args[i + 1]
        elif arg.startswith("--map="):
            name = arg.removeprefix("--map=")
    return name


def _complete_map(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in _maps() if name.startswith(incomplete)]


@contextmanager
def _without_pandas() -> Iterator[None]:
    # scikit-learn imports pandas where it is installed: 60 MB for type checks that no command with
    # a map needs. None in this place makes an import fail as if the package were not there.
    absent = "pandas" not in sys.modules
    if absent:
        sys.modules["pandas"] = None
    try:
        yield
    finally:
        if absent:
            del sys.modules["pandas"]


def _maps() -> dict[str, type]:
    with _without_pandas():
        from kmaps.maps import MAPS
    return MAPS


def map_class(name: str) -> type:
    """Return the class of a map.

    Raises
    ------
    ConfigError
        When there is no map of that name; the message suggests the nearest.
    """
    maps = _maps()
    if name not in maps:
        raise ConfigError(f"unknown map {name!r}{suggest(name, maps)} (maps: {', '.join(maps)})")
    return maps[name]


def map_options(name: str) -> list[click.Option]:
    """Return one option for each parameter of a map, typed by its default."""
    cls = map_class(name)
    documented = _documented(cls.__doc__ or "")
    options = []
    for parameter in inspect.signature(cls).parameters.values():
        kinds, text = documented.get(parameter.name, ("", ""))
        default = "none" if parameter.default is None else parameter.default
        choices = re.findall(r'"([^"]+)"', kinds) if kinds.startswith("{") else []
        options.append(
            click.Option(
                [f"--{parameter.name.replace('_', '-')}", parameter.name],
                type=_TYPES.get(type(parameter.default), AnyValue()),
                metavar="|".join(choices) or None,
                help=f"{text} [default: {default}]".lstrip(),
            )
        )
    return options


_TYPES = {bool: click.BOOL, int: click.INT, float: click.FLOAT, str: click.STRING}


def _documented(docstring: str) -> dict[str, tuple[str, str]]:
    """Return the type and the first sentence of each parameter in a numpydoc docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)",
        inspect.cleandoc(docstring),
        re.DOTALL | re.MULTILINE,
    )
    entries = re.findall(
        r"^(\w+) *: *([^\n]*)\n((?:[ \t]+[^\n]*\n?)*)", section[1] if section else "", re.MULTILINE
    )
    return {name: (kinds, _first_sentence(text)) for name, kinds, text in entries}


def _first_sentence(text: str) -> str:
    plain = re.sub(r":\w+:|`", "", " ".join(text.split()))
    return re.split(r"[.;:](?: |$)", plain)[0] + "."


def build_map(name: str, given: dict[str, Any]) -> Any:
    """Construct a map from the options of a command, leaving out those that were not given."""
    return map_class(name)(**{key: value for key, value in given.items() if value is not None})
