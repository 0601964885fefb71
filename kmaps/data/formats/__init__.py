"""From files to arrays: what each format holds, how the cache keeps it, how it is loaded.

A format decodes a source file into its content and digest, stores verified contents in a form that
loads fast, and loads that form. The order of the samples follows from the names of the members,
never from the order in which an archive lists them.
"""

from kmaps.data.formats.format import Format
from kmaps.data.formats.idx import IDX
from kmaps.data.formats.jpeg import JPEG_FOLDERS
from kmaps.data.formats.pgm import PGM_FOLDERS
from kmaps.data.formats.shipped import BREAST_CANCER, DIGITS, WINE
from kmaps.data.manifest import Manifest
from kmaps.errors import ConfigError, suggest

FORMATS: dict[str, Format] = {
    "scikit-learn-digits": DIGITS,
    "scikit-learn-breast-cancer": BREAST_CANCER,
    "scikit-learn-wine": WINE,
    "idx": IDX,
    "pgm-folders": PGM_FOLDERS,
    "jpeg-folders": JPEG_FOLDERS,
}
"""The formats that manifests name."""


def get_format(manifest: Manifest) -> Format:
    """Return the format a manifest names.

    Raises
    ------
    ConfigError
        If it is unknown, or the manifest lacks what it needs.
    """
    name, known = manifest.name, FORMATS
    if manifest.format not in known:
        raise ConfigError(
            f"{name}: unknown format {manifest.format!r}{suggest(manifest.format, known)} "
            f"(known: {', '.join(known)})"
        )
    chosen = known[manifest.format]
    expected, roles = chosen.roles(manifest), {source.role for source in manifest.files}
    if roles != expected:
        raise ConfigError(
            f"{name}: format {manifest.format} needs files of the roles {sorted(expected)}, "
            f"got {sorted(roles)}"
        )
    if chosen.shaped and manifest.shape is None:
        raise ConfigError(f"{name}: format {manifest.format} needs a shape, [height, width]")
    return chosen
