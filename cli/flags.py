"""The options of commands: in groups in ``--help``; errors of the library in their words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

_FEW = 5


class GroupedCommand(click.Command):
    """A command whose ``--help`` shows its options in ``groups``: a title, and names of options."""

    def __init__(self, *args: Any, groups: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._titles = {
            name: title for title, of_group in (groups or {}).items() for name in of_group.split()
        }

    def group_of(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the title above an option."""
        return self._titles.get(param.name or "", "Options")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                groups.setdefault(self.group_of(param, ctx), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)


def few_of(texts: Sequence[str]) -> str:
    """Return the first of some texts as one, and how many there are more."""
    more = [f"and {len(texts) - _FEW} more"] * (len(texts) > _FEW)
    return "; ".join([*texts[:_FEW], *more])


def in_flags(message: str, params: Iterable[click.Parameter]) -> str:
    """Return a message with ``argument=value`` as the option that gives the argument.

    Examples
    --------
    >>> force = click.Option(["--force"], is_flag=True)
    >>> order = click.Option(["--order"], type=int)
    >>> in_flags("out.npy: exists already; force=True replaces it", [force, order])
    'out.npy: exists already; --force replaces it'
    >>> in_flags("order=0: expected a whole number of at least 1", [force, order])
    '--order 0: expected a whole number of at least 1'
    """
    for param in params:
        if isinstance(param, click.Option) and param.name:
            flag = max(param.opts, key=len)
            given = rf"(?<![\w.-]){re.escape(param.name)}=('[^']*'|[^\s,:;()]+)"
            message = re.sub(given, lambda found, flag=flag: _option(flag, found[1]), message)
    return message


def _option(flag: str, value: str) -> str:
    return flag if value == "True" else f"{flag} {value.strip(chr(39))}"
