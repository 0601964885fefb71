"""Errors of the library in the words of the command line: its flags for Python's arguments."""

import re
from collections.abc import Iterable

import click


def in_flags(message: str, params: Iterable[click.Parameter]) -> str:
    """Return a message with ``argument=value`` as the option that gives the argument.

    Parameters
    ----------
    message : str
        As the library says it.
    params : iterable of click.Parameter
        Of the command; arguments that are none of them stay as they are.

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
