"""Registries: values by name, imported when they are used, to which installed packages add."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from kmaps.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Value = TypeVar("Value")


class Registry(MutableMapping[str, Value]):
    """Values by name: kmaps' values, then entry points; each is loaded when it is used.

    Use it for classes whose import takes seconds: names are listed without importing anything.

    Parameters
    ----------
    places : mapping of str to str
        The place of each value of kmaps by its name, such as ``collections.Counter``.
    group : str
        The group of the entry points that add values; they cannot replace a name of kmaps. None is
        looked for by default.
    accept : callable
        ``accept(loaded)`` returns the value for a loaded object, or raises a ValueError that names
        the expected type. By default the object is the value.

    See Also
    --------
    HomogeneousMap : A value of the registry of maps, ``kmaps.maps.MAPS``.

    Examples
    --------
    >>> registry = Registry({"counter": "collections.Counter", "none": "no.such.Class"})
    >>> list(registry), registry["counter"].__name__, "two" in registry
    (['counter', 'none'], 'Counter', False)
    """

    def __init__(
        self,
        places: Mapping[str, str],
        group: str = "",
        accept: Callable[[Any], Value] = lambda loaded: loaded,
    ) -> None:
        self.places = places
        self._loaded: dict[str, Value] = {}
        self._group = group
        self._accept = accept

    @cached_property
    def _added(self) -> dict[str, "EntryPoint"]:
        if not self._group:
            return {}
        from importlib.metadata import entry_points  # slow, and not needed for kmaps's names

        entries = sorted(entry_points(group=self._group), key=lambda entry: entry.name)
        return {entry.name: entry for entry in entries}

    def package_of(self, name: str) -> str:
        """Return the package that a value is from.

        Parameters
        ----------
        name : str
            The name of the value.

        Returns
        -------
        str
            The name and the version of the package; ``""`` for kmaps itself.
        """
        if name in self._loaded.keys() - self._added.keys() or name in self.places:
            return ""
        package = self._added[name].dist
        return f"{package.name} {package.version}" if package else "unknown"

    def __getitem__(self, name: str) -> Value:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Value:
        if name in self.places:
            module, _, attribute = self.places[name].rpartition(".")
            return self._accept(getattr(import_module(module), attribute))
        entry = self._added[name]
        try:
            return self._accept(entry.load())
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit too: nothing that it does may end the command
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise ConfigError(
                f"{name!r} of the package {self.package_of(name)} ({self._group}) cannot be used: "
                f"{reason}; fix or uninstall it"
            ) from error

    def __setitem__(self, name: str, value: Value) -> None:
        self._loaded[name] = value

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._loaded or name in self.places or name in self._added

    def __iter__(self) -> Iterator[str]:
        added = [name for name in self._loaded if name not in self._added]
        yield from dict.fromkeys([*self.places, *added, *self._added])

    def __len__(self) -> int:
        return sum(1 for _ in self)
