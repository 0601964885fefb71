"""The errors that a user's input can cause, each with the exit code of the command line.

A message is one line: the given value, the expected values, the remedy.
"""

import difflib
import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager


class KmapsError(Exception):
    """Root of every error that is for the user to fix; shown without a traceback."""

    exit_code = 2


class ConfigError(KmapsError, ValueError):
    """An experiment, a parameter or a name that cannot be used (exit code 2)."""


class Mistakes(ConfigError):
    """Several mistakes of an experiment, one per line: messages of all others are one line."""


class InputError(KmapsError, ValueError):
    """An array or a file of the wrong shape, type or content (exit code 2)."""


class DataError(KmapsError):
    """A dataset that is missing, incomplete or corrupt (exit code 4)."""

    exit_code = 4


class CellsFailed(KmapsError):
    """Some cells of an experiment failed; the others are recorded (exit code 3)."""

    exit_code = 3


class GateFailed(KmapsError):
    """Results are worse than the baseline, or miss some of its cells (exit code 1)."""

    exit_code = 1


class NothingMeasured(KmapsError):
    """There is nothing to compare: no result, or an incompatible baseline (exit code 5)."""

    exit_code = 5


class ClampedWarning(UserWarning):
    """Values lie outside the range that a map or a model was fitted on, and were clamped to it."""


class FileNote(UserWarning):
    """What a reader decided on a file that does not say it, or left out of it."""


class ColumnNote(UserWarning):
    """What a model decided on some columns of its samples.

    Parameters
    ----------
    text : str
        The note, with ``{}`` in the place of the columns.
    columns : list of int
        The numbers of the columns, from 0 on.
    """

    def __init__(self, text: str, columns: list[int]) -> None:
        super().__init__(text, columns)
        self._text = text
        self._columns = columns

    def __str__(self) -> str:
        return self.naming(None)

    def naming(self, names: Sequence[str] | None) -> str:
        """Return the note with the columns' names, or with their numbers where there are none.

        Parameters
        ----------
        names : sequence of str or None
            The name of each column.

        Returns
        -------
        str
            The note; of many columns it names the first ones.
        """
        shown = self._columns[:_MOST_NAMED]
        if names is None:
            texts = [str(number) for number in shown]
        else:
            texts = [repr(str(names[number])) for number in shown]
        listed = ", ".join(texts)
        if len(self._columns) > len(shown):
            listed += f" and {len(self._columns) - len(shown)} more"
        noun = "column" if len(self._columns) == 1 else "columns"
        return self._text.replace("{}", f"{noun} {listed}")


_MOST_NAMED = 8

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def locking(path: object) -> Iterator[None]:
    """Name the file of a lock where its file system has none.

    Parameters
    ----------
    path : path
        The file that is locked inside the ``with`` block.

    Returns
    -------
    context manager
        An OSError inside its block that says that there are no locks becomes a ConfigError.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        raise ConfigError(
            f"{path}: its file system has no locks ({error.strerror}): use another file system"
        ) from None


def suggest(word: object, words: Iterable[str]) -> str:
    """Suggest the word that a user may have meant.

    Parameters
    ----------
    word : object
        What the user wrote.
    words : iterable of str
        What could have been written.

    Returns
    -------
    str
        Such as ``", did you mean 'order'?"`` for the nearest of the words; ``""`` if none is near.
    """
    nearest = difflib.get_close_matches(str(word), list(words), n=1)
    return f", did you mean '{nearest[0]}'?" if nearest else ""


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""ESC, BEL and the like, which steer a terminal, and what turns the direction of text."""


def printable(text: str) -> str:
    r"""Show the control characters of a text, so that it steers no terminal.

    Parameters
    ----------
    text : str
        Any text, such as the content of a file.

    Returns
    -------
    str
        The text with its control characters, but for tabs and newlines, as ``\x1b``. From DEL on
        they are as JSON has them, ``\u202e``, so that JSON stays what it is.
    """

    def escaped(match: re.Match[str]) -> str:
        number = ord(match[0])
        return f"\\x{number:02x}" if number < 32 else f"\\u{number:04x}"

    return _CONTROLS.sub(escaped, text)


_MOST_QUOTED = 200  # characters of a file in a message; the rest says no more
_QUOTED = re.compile(rf"(['\"])((?:(?!\1).){{{_MOST_QUOTED}}})(?:(?!\1).)+\1")
# No path, which is as long as it is; a colon at the end is the message's.
_LONG_WORD = re.compile(rf"([^\s/]{{{_MOST_QUOTED}}})[^\s/]+?(?=:?(?:[\s/]|$))")


def with_short_quotes(text: str) -> str:
    """Shorten quotations and words of more than 200 characters, which a file brought along.

    Parameters
    ----------
    text : str
        A message, such as that of an error.

    Returns
    -------
    str
        The text, with ``…`` in the place of what was cut off.

    Examples
    --------
    >>> len(with_short_quotes(f"expected a number, got {'x' * 5000!r}"))
    224
    """
    return _LONG_WORD.sub(r"\1…", _QUOTED.sub(r"\1\2\1…", text))


def one_line(text: object) -> str:
    r"""Show a text in one line.

    Parameters
    ----------
    text : object
        A text or, say, the path of a file, whose name may have newlines.

    Returns
    -------
    str
        The text with its newlines as ``\n``.
    """
    return str(text).replace("\n", r"\n")
