"""What the file of a model on a random map has of the map: the key of its frequencies."""

import numpy as np
from scipy.sparse import csr_matrix

from kmaps.checks import is_number
from kmaps.errors import InputError
from kmaps.maps import MAP_VERSION
from kmaps.maps.frequencies import FREQUENCY_VERSION
from kmaps.maps.random_fourier import RandomFeatures
from kmaps.svm.model_file import ModelFile

_VERSIONS = {"frequency_version": FREQUENCY_VERSION, "map_version": MAP_VERSION}


def described(random_map: RandomFeatures) -> dict[str, object]:
    """Return what `read_map` needs of a fitted map, of what JSON can say."""
    return {
        "sigma": random_map.sigma_,
        "key": str(random_map.key_),  # of 64 bits, which not every reader of JSON keeps
        "frequency_version": random_map.frequency_version_,
        "map_version": MAP_VERSION,
    }


def read_map(
    file: ModelFile, random_map: RandomFeatures, sigma: float | None, n_features: int
) -> RandomFeatures:
    """Return an unfitted map with the very frequencies that the model in a file was trained on.

    ``sigma`` is the width that the model was made with, None: one that was learned.
    """
    key, trained = file.text("key"), file.fitted.get("sigma")
    if not (key.isascii() and key.isdigit() and len(key) <= 20):
        raise file.damaged(f"key is {key!r}, expected a whole number")
    if not is_number(trained) or sigma not in (None, trained):
        raise file.damaged(f"sigma is {trained!r}, expected the width that was trained with")
    width = csr_matrix((1, n_features), dtype=np.float32)
    with file.checking():
        random_map = random_map.set_params(sigma=trained, random_state=0)
        return random_map.fit(width).with_key(int(key))


def check_versions(file: ModelFile) -> None:
    """Refuse a model whose frequencies or map this version of kmaps makes otherwise."""
    for name, own in _VERSIONS.items():
        if file.fitted.get(name) != own:
            raise InputError(
                f"{file.path}: trained with {name.replace('_', ' ')} {file.fitted.get(name)}, this "
                f"kmaps has {own} and makes other frequencies; train it again, or use the kmaps "
                "that wrote it"
            )
