"""Names that are imported when they are used: scikit-learn and numba take seconds, listing none."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


class Classes(MutableMapping[str, type[T]], Generic[T]):
    """Classes by name; each is imported when it is asked for, names alone import nothing.

    Parameters
    ----------
    places : mapping of str to str
        ``module.Class`` of each name.

    Attributes
    ----------
    places : dict
        That, and the classes themselves that were added since.

    Examples
    --------
    >>> known = Classes({"counter": "collections.Counter", "none": "no.such.Class"})
    >>> list(known), known["counter"].__name__
    (['counter', 'none'], 'Counter')
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places: dict[str, str | type[T]] = dict(places)

    def __getitem__(self, name: str) -> type[T]:
        place = self.places[name]
        if not isinstance(place, str):
            return place
        module, _, attribute = place.rpartition(".")
        return getattr(import_module(module), attribute)

    def __setitem__(self, name: str, place: type[T]) -> None:
        self.places[name] = place

    def __delitem__(self, name: str) -> None:
        del self.places[name]

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)


def importer(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package, whose names are imported when they are asked for.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        The module of each public name.
    """

    def load(name: str) -> object:
        if name in homes:
            return getattr(import_module(homes[name]), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load
