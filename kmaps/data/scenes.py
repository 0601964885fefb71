"""The scenes of a downloaded dataset of images with boxes."""

from pathlib import Path

from kmaps.data.annotations import Scene, load_inria, load_voc
from kmaps.data.cache import cache_root, stamped_files
from kmaps.data.formats import get_format
from kmaps.data.manifest import Manifest, load_manifest
from kmaps.errors import ConfigError

_READERS = {"voc-scenes": load_voc, "inria-scenes": load_inria}


def load_scenes(name: str, subset: str, *, data_dir: str | Path | None = None) -> list[Scene]:
    """Read images with boxes that `download` put into the cache.

    Parameters
    ----------
    name : str
        The dataset, voc2007 or inria-person.
    subset : str
        Its part: train, val, trainval or test of VOC 2007, Train or Test of INRIA person.
    data_dir : str or Path, optional
        The folder of datasets; by default ``KMAPS_DATA_DIR`` or the platform's folder for caches.

    Returns
    -------
    list of Scene
        The images of the subset with their boxes, in the order of the publisher's list.

    Raises
    ------
    ConfigError
        If the dataset has no boxes, or no such subset.
    DataError
        If it is not in the cache, or damaged there.
    """
    return scenes_of(load_manifest(name), subset, data_dir=data_dir)


def scenes_of(
    manifest: Manifest, subset: str, *, data_dir: str | Path | None = None
) -> list[Scene]:
    """Read the scenes of the dataset that a manifest describes, as :func:`load_scenes` does."""
    if not get_format(manifest).scenes:
        raise ConfigError(
            f"{manifest.name}: has no boxes; load its samples with kmaps.data.load_dataset"
        )
    root = cache_root(data_dir)
    stamped_files(root, manifest.name, manifest.digest)
    return _READERS[manifest.format](root / manifest.name, subset)
