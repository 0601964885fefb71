"""The parameters of a map as options of a command.

A command with ``cls=MapCommand`` has an option ``--map`` and, next to its own, one option for each
parameter of the map that was chosen: ``--order 2`` or ``--window uniform`` work because the map's
``__init__`` has such a parameter. A new map needs no word here. The command's function takes the
name as ``map_name`` and the parameters that were given as further keyword arguments.
"""

import inspect
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from kmaps.cli.completing import kernels, names
from kmaps.cli.flags import GroupedCommand
from kmaps.errors import ConfigError, suggest
from kmaps.maps import MAPS, refuse_parameters, signature_of

DEFAULT_MAP = "homogeneous"
EXPONENTIAL_MAP = "generalized-rbf"  # for --kernel exp-chi2, exp-js, …
_META = "kmaps.map_options"
"""The key of the chosen maps, in words, and of their options in the meta of click's context."""


class AnyValue(click.ParamType):
    """The type of parameters without annotation: a number, a word, true, false or none."""

    name = "value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in Python's type, but "none" as the word: None means not given."""
        if not isinstance(value, str):
            return value
        words = {"none": "none", "true": True, "false": False}
        if value.lower() in words:
            return words[value.lower()]
        for number_type in (int, float):
            with suppress(ValueError):
                return number_type(value)
        return value


class MapCommand(GroupedCommand):
    """A command whose ``--map`` decides which further options it has."""

    default_maps: ClassVar[tuple[str, ...]] = (DEFAULT_MAP,)
    map_option: ClassVar[dict[str, Any]] = {
        "default": DEFAULT_MAP,
        "metavar": "NAME",
        "help": "The map; `kmaps list maps` shows them, `--map NAME --help` the options of one.",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        option = click.Option(
            ["--map", "map_name"], shell_complete=names(lambda: MAPS), **self.map_option
        )
        n_arguments = sum(isinstance(param, click.Argument) for param in self.params)
        self.params.insert(n_arguments, option)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse ``--map`` and ``--kernel`` first: the map decides which other options there are."""
        values = _MAP_AND_KERNEL.make_context("", [*args], resilient_parsing=True).params
        from kmaps.kernels import EXP_KERNELS  # additive maps do not have these kernels

        texts = values["map"]
        if not texts and values["kernel"] in EXP_KERNELS:
            texts = (EXPONENTIAL_MAP,)
            args = ["--map", EXPONENTIAL_MAP, *args]
        map_names = self._names(texts)
        if ctx.resilient_parsing:  # completion of half-typed lines must not fail
            map_names = [name for name in map_names if name in MAPS]
        map_names = map_names or self.default_maps
        options = {option.name: option for name in map_names for option in map_options(name)}
        for param in self.params:
            options.pop(param.name, None)
        ctx.meta[_META] = " or ".join(dict.fromkeys(map_names)), options
        return super().parse_args(ctx, args)

    def _names(self, texts: Sequence[str]) -> Sequence[str]:
        """Return the names of the maps that the texts of ``--map`` choose."""
        return texts[-1:]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's parameters and those of the chosen map."""
        _, options = ctx.meta.get(_META, ("", {}))
        return [*super().get_params(ctx), *options.values()]

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the heading under which ``--help`` shows a parameter."""
        map_names, options = ctx.meta.get(_META, ("", {}))
        if options.get(param.name) is param:
            return f"Options of the {map_names} map"
        return super().group_of(param, ctx)


_MAP_AND_KERNEL = click.Command(  # reads these two options and ignores all others
    "map and kernel",
    params=[click.Option(["--map"], multiple=True), click.Option(["--kernel"])],
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    add_help_option=False,
)


class MapsCommand(MapCommand):
    """A command that takes ``--map`` several times, each with its parameters if need be.

    ``--map homogeneous:order=3`` sets one map's; an option such as ``--order 3`` is for all maps
    that take it. `build_maps` constructs them.
    """

    map_option: ClassVar[dict[str, Any]] = {
        "default": (DEFAULT_MAP,),
        "multiple": True,
        "metavar": "NAME[:PARAMETER=VALUE,…]",
        "help": "A map, and its parameters; repeat to compare. `kmaps list maps` shows the "
        "maps, `--map NAME --help` the options of one.",
    }

    def _names(self, texts: Sequence[str]) -> Sequence[str]:
        return [text.partition(":")[0] for text in texts]


def _check_map(name: str) -> None:
    if name not in MAPS:
        raise ConfigError(f"unknown map {name!r}{suggest(name, MAPS)} (maps: {', '.join(MAPS)})")


class AnnotatedValue(click.ParamType):
    """The type of a map's parameter that is annotated with a union or with words.

    The first member that reads the text gives the value. Text that none reads is left to the map,
    whose check names what it expects.
    """

    name = "value"

    def __init__(self, members: Sequence[Any]) -> None:
        self.words = {str(member): member for member in members if not isinstance(member, type)}
        self.types = [member for member in _TYPES if member in members]
        self.takes_none = NoneType in members
        self.choices = list(self.words)
        if self.takes_none:
            self.choices.append("none")
        type_names = [_TYPES[member].name.upper() for member in self.types]
        self.metavar = "|".join([*type_names, *self.choices])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value in Python's type, but "none" as the word: None means not given."""
        if not isinstance(value, str):
            return value
        if self.takes_none and value.lower() == "none":
            return "none"
        if value in self.words:
            return self.words[value]
        for member in self.types:
            with suppress(click.BadParameter):
                return _TYPES[member].convert(value, param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the words that complete what is typed."""
        return [CompletionItem(word) for word in self.choices if word.startswith(incomplete)]


_TYPES: dict[type, click.ParamType] = {
    bool: click.BOOL,
    int: click.INT,
    float: click.FLOAT,
    str: click.STRING,
}


def _option_type(parameter: inspect.Parameter) -> click.ParamType | None:
    """Return the type of a parameter's option by its annotation; None: text cannot give it."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty or isinstance(annotation, str):
        return _TYPES.get(type(parameter.default), AnyValue())
    members = _members(annotation)
    readable = [member for member in members if member in _TYPES or not isinstance(member, type)]
    if not readable:
        return None
    if len(members) == 1 and members[0] in _TYPES:
        return _TYPES[members[0]]
    if readable == [str]:  # the name of a function, such as a kernel
        return click.STRING
    return AnnotatedValue(members)


def _members(annotation: Any) -> list[Any]:
    """Return the types of an annotation, and in place of a `Literal` its words."""
    if get_origin(annotation) in (Union, UnionType):
        return [member for alternative in get_args(annotation) for member in _members(alternative)]
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [get_origin(annotation) or annotation]


def map_options(name: str) -> list[click.Option]:
    """Return one option for each parameter of a map that text can give."""
    _check_map(name)
    sentences = _parameter_sentences(MAPS[name].__doc__ or "")
    options = []
    for key, parameter in signature_of(name).parameters.items():
        value_type = _option_type(parameter)
        if value_type is None:
            continue
        default = "none" if parameter.default is None else parameter.default
        metavar = value_type.metavar if isinstance(value_type, AnnotatedValue) else None
        options.append(
            click.Option(
                [f"--{key.replace('_', '-')}", *_SHORT.get(key, []), key],
                type=value_type,
                metavar="NAME" if key == "kernel" else metavar,
                shell_complete=names(kernels) if key == "kernel" else None,
                help=f"{sentences.get(key, '')} [default: {default}]".lstrip(),
            )
        )
    return options


_SHORT = {"n_frequencies": ["-m"]}


def _parameter_sentences(docstring: str) -> dict[str, str]:
    """Return the first sentence on each parameter in a numpydoc docstring."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)",
        inspect.cleandoc(docstring),
        re.DOTALL | re.MULTILINE,
    )
    entries = re.findall(
        r"^(\w+(?:, \w+)*)(?: *:[^\n]*)?\n((?:[ \t]+[^\n]*\n?)*)",
        section[1] if section else "",
        re.MULTILINE,
    )
    sentences = {}
    for keys, text in entries:
        for key in keys.split(", "):
            sentences[key] = _first_sentence(text)
    return sentences


def _first_sentence(text: str) -> str:
    without_roles = re.sub(r":\w+:|`", "", " ".join(text.split()))
    return re.split(r"[.;:](?: |$)", without_roles)[0] + "."


def build_map(name: str, options: dict[str, Any]) -> Any:
    """Construct a map from the options of a command, leaving out those that were not given.

    Parameters out of range are refused here, before the slow imports.
    """
    parameters = {}
    for key, value in options.items():
        if value is not None:
            parameters[key] = None if value == "none" else value
    _check_map(name)
    refuse_parameters(name, parameters)
    return MAPS[name](**parameters)


def build_maps(texts: Iterable[str], shared_parameters: dict[str, Any]) -> dict[str, Any]:
    """Construct the maps of a `MapsCommand`, by label: the name and its parameters."""
    maps = {}
    for text in texts:
        name, _, own_parameters = text.partition(":")
        options = {option.name: option for option in map_options(name)}
        parameters = {key: value for key, value in shared_parameters.items() if key in options}
        for pair in filter(None, own_parameters.split(",")):
            key, equals, value = pair.partition("=")
            key = key.replace("-", "_")
            if not equals or key not in options:
                hint = suggest(key, options) if equals else ", expected PARAMETER=VALUE"
                raise ConfigError(f"--map {text}: unknown parameter {pair!r}{hint}")
            parameters[key] = options[key].type.convert(value, None, None)
        label = f"{name} {own_parameters.replace(',', ' ')}".strip()
        maps[label] = build_map(name, parameters)
    return maps
