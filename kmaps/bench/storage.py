"""What a method has to store, in bytes."""

from typing import Any

from scipy import sparse


def storage(train: Any, table_bytes: int, model_bytes: int) -> dict[str, int]:
    """Count the storage of a trained method: its training set, its tables and its model.

    This is the definition behind every storage column, the same for every method:

    - the training set in the form the method trains on: the raw rows for linear and exact (whose
      Gram matrix is a means, not something to keep), the encoded rows for a map. Dense: rows ×
      columns × bytes of a value (4 for float32); CSR: data, column indices and row pointers;
    - the tables that prediction needs besides, none for a map computed from a formula;
    - the model that prediction needs: the weights of a linear machine, or the support vectors' rows
      and dual coefficients of an exact one.

    Parameters
    ----------
    train : ndarray or CSR matrix, shape (n, dim)
        The training set as the method holds it.
    table_bytes, model_bytes : int
        Sizes of the tables and of the model.

    Returns
    -------
    dict of str to int
        ``train_bytes``, ``table_bytes``, ``model_bytes`` and their sum, ``storage_bytes``.

    Examples
    --------
    >>> import numpy as np
    >>> storage(np.zeros((10, 3), np.float32), 0, 16)["storage_bytes"]
    136
    """
    parts = (train.data, train.indices, train.indptr) if sparse.issparse(train) else (train,)
    counted = {
        "train_bytes": sum(int(part.nbytes) for part in parts),
        "table_bytes": int(table_bytes),
        "model_bytes": int(model_bytes),
    }
    return {**counted, "storage_bytes": sum(counted.values())}
