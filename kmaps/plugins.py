"""What comes with kmaps by name, and what installed packages add to it by entry points."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Value = TypeVar("Value")


class Extended(MutableMapping[str, Value]):
    """Values by name: kmaps' own, then those of entry points, loaded when they are asked for.

    A name of kmaps' own stays its own, whatever a package gives under it.

    Parameters
    ----------
    own : mapping of str
    group : str
        The group of the entry points, as packages name it.
    accept : callable
        ``accept(loaded)`` returns the value of what an entry point names, or raises a ValueError
        that says what is expected.

    Examples
    --------
    >>> known = Extended({"one": 1}, "no.such.group", int)
    >>> list(known), known["one"], "two" in known
    (['one'], 1, False)
    """

    def __init__(
        self, own: Mapping[str, Value], group: str, accept: Callable[[Any], Value]
    ) -> None:
        self._own = own
        self._set: dict[str, Value] = {}
        self._group = group
        self._accept = accept

    @cached_property
    def _added(self) -> dict[str, "EntryPoint"]:
        from importlib.metadata import entry_points  # kmaps' own names need no package read

        found = sorted(entry_points(group=self._group), key=lambda entry: entry.name)
        return {entry.name: entry for entry in found}

    def package_of(self, name: str) -> str:
        """Return the package that a name is from, with its version; ``""``: kmaps itself."""
        if name in self._set or name in self._own:
            return ""
        package = self._added[name].dist
        return f"{package.name} {package.version}" if package else "unknown"

    def __getitem__(self, name: str) -> Value:
        if name in self._set:
            return self._set[name]
        if name in self._own:
            return self._own[name]
        entry = self._added[name]
        try:
            return self._accept(entry.load())
        except Exception as error:
            told = " ".join(f"{type(error).__name__}: {error}".split())
            raise ConfigError(
                f"{name!r} of the package {self.package_of(name)} ({self._group}) cannot be used: "
                f"{told}; mend or uninstall it"
            ) from error

    def __setitem__(self, name: str, value: Value) -> None:
        self._set[name] = value

    def __delitem__(self, name: str) -> None:
        del self._set[name]

    def __contains__(self, name: object) -> bool:
        return name in self._set or name in self._own or name in self._added

    def __iter__(self) -> Iterator[str]:
        # Without the values: kmaps' own may be loaded when they are asked for.
        yield from dict.fromkeys([*self._own, *self._set, *self._added])

    def __len__(self) -> int:
        return sum(1 for _ in self)
