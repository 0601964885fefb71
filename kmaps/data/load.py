"""Loading the samples of a dataset, wherever they come from."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kmaps.data.cache import cache_root, repair_hint, stamped_digest, stamped_files
from kmaps.data.formats import Dataset, TableDataset, get_format
from kmaps.data.manifest import Manifest, load_manifest
from kmaps.data.text_rows import equal_rows
from kmaps.errors import DataError

if TYPE_CHECKING:
    from kmaps.data.user_files import UserFiles


def load_dataset(
    name: "str | Manifest | UserFiles",
    *,
    data_dir: str | Path | None = None,
    skip_bad: bool = False,
) -> Dataset | TableDataset:
    """Load images or a table: from the cache, from scikit-learn, or from the user's files.

    The cache is ``data_dir``, ``KMAPS_DATA_DIR`` or the platform's folder for caches. ``skip_bad``
    accepts damaged image files, which the result names, unless all of a class are damaged.
    """
    if not isinstance(name, str | Manifest):
        from kmaps.data.user_tables import load_user_files  # imports SciPy, which takes long

        return load_user_files(name, data_dir=data_dir)
    manifest = name if isinstance(name, Manifest) else load_manifest(name)
    root = cache_root(data_dir)
    chosen = get_format(manifest)
    faults: dict[str, str] = {}
    noted = faults if skip_bad and not chosen.shaped else None
    paths = [] if manifest.embedded else stamped_files(root, manifest.name, manifest.digest, noted)
    digest = manifest.digest or stamped_digest(root, manifest.name)
    samples, y, groups = chosen.load(manifest, root / manifest.name, paths)
    if chosen.tabular:
        clusters = equal_rows(samples) if manifest.equal_rows_together else None
        return TableDataset(manifest.name, samples, y, groups, digest, manifest.classes, clusters)
    damaged = {row: faults[path] for row, path in enumerate(paths) if path in faults}
    without_images = set(y.tolist()) - set(np.delete(y, list(damaged)).tolist())
    if without_images:
        raise DataError(
            f"{root / manifest.name}: every image of {manifest.classes[min(without_images)]!r} is "
            f"damaged; {repair_hint(manifest.name)}"
        )
    return Dataset(
        name=manifest.name,
        images=samples,
        y=y,
        groups=groups,
        digest=digest,
        class_names=manifest.classes,
        max_level=manifest.max_level,
        damaged=damaged,
    )


def content_digest(manifest: Manifest, *, data_dir: str | Path | None = None) -> str:
    """Return the digest of a dataset's content: the recorded one, else that of the cache's copy."""
    return manifest.digest or stamped_digest(cache_root(data_dir), manifest.name)
