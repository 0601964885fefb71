"""What a method has to store, in bytes."""

from typing import Any

from scipy.sparse import issparse

from kmaps.maps import FeatureMap
from kmaps.svm import CodedSVC

_WEIGHTS = ("weights", "intercept", "calibration")


def storage(
    train: Any, feature_map: FeatureMap | None, encoded: Any, model_bytes: int
) -> dict[str, int]:
    """Count the storage of a trained method: its training set, its tables and its model.

    This is the definition behind every storage column, the same for every method:

    - the training set in the method's own form. A map whose samples can live as codes: one code a
      value, at the bits a code needs. Another map: its encoded rows. Linear and exact: the raw rows
      (the Gram matrix is a means, not something to keep). Dense rows take rows × columns × bytes of
      a value, 4 for float32; CSR rows their data, column indices and row pointers;
    - the tables: what the map learnt and encoding needs, in float32; none for a formula;
    - the model that prediction needs: the weights of a linear machine, or the support vectors' rows
      and dual coefficients of an exact one.

    For the coded solver see :func:`coded_storage`.

    Parameters
    ----------
    train : ndarray or CSR, shape (n, d)
        The raw training rows.
    feature_map : FeatureMap or None
        The fitted map; None: the method trains on the raw rows.
    encoded : ndarray or CSR, shape (n, dim)
        The rows the method trains on.
    model_bytes : int

    Returns
    -------
    dict of str to int
        ``train_bytes``, ``table_bytes``, ``model_bytes`` and their sum, ``storage_bytes``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.zeros((10, 3), np.float32)
    >>> storage(X, None, X, 16)["storage_bytes"]
    136
    """
    code_bits = None if feature_map is None else feature_map.code_bits_
    if code_bits is not None:
        n, d = train.shape
        train_bytes = -(-n * d * code_bits // 8)  # rounded up
    elif issparse(encoded):
        train_bytes = encoded.data.nbytes + encoded.indices.nbytes + encoded.indptr.nbytes
    else:
        train_bytes = encoded.nbytes
    counted = {
        "train_bytes": int(train_bytes),
        "table_bytes": 0 if feature_map is None else int(feature_map.table_bytes_),
        "model_bytes": int(model_bytes),
    }
    return {**counted, "storage_bytes": sum(counted.values())}


def coded_storage(model: CodedSVC, n_train: int) -> dict[str, int]:
    """Count the storage of a machine of the coded solver, in the same columns as :func:`storage`.

    - the training set: one code a value at the bits a code needs, or the codes that are not zero
      as they are listed in memory (with their features), whichever is smaller;
    - the tables: levels, their range and the functions that the weights belong to, as in the file;
    - the model: weights, intercepts and calibration.
    """
    held = model.model_
    n_codes = held.levels.shape[1] if held.cells is None else int(held.cells.max()) + 1
    packed = -(-n_train * model.n_features_in_ * int(n_codes - 1).bit_length() // 8)
    weights = sum(array.nbytes for name, array in held.arrays.items() if name in _WEIGHTS)
    counted = {
        "train_bytes": min(packed, model.codes_bytes_),
        "table_bytes": held.nbytes - weights,
        "model_bytes": weights,
    }
    return {**counted, "storage_bytes": sum(counted.values())}
