"""Digests of training data, by which a model file identifies the data it was trained on."""

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kmaps.matrices import issparse


class RunningDigest:
    """The SHA-256 of rows, the same in whatever blocks they come, and of their labels."""

    def __init__(self) -> None:
        self._hashes = sha256(), sha256(), sha256()  # values; indices, lengths of sparse rows
        self._dtype = ""  # of the values

    def add(self, X: Any) -> None:
        """Take the next rows, an array or a CSR matrix."""
        self._dtype, arrays = X.dtype.name, [X]
        if issparse(X):
            arrays = [X.data, X.indices.astype(np.int64), np.diff(X.indptr).astype(np.int64)]
        for digest, array in zip(self._hashes, arrays, strict=False):
            digest.update(np.ascontiguousarray(array).data)

    def of(self, y: ArrayLike) -> str:
        """Return the digest of the rows with the labels of all of them."""
        labels = "\n".join(map(str, np.asarray(y).tolist()))
        lines = [self._dtype, *(digest.hexdigest() for digest in self._hashes), labels]
        return sha256("\n".join(lines).encode()).hexdigest()


def data_digest(X: Any, y: ArrayLike) -> str:
    """Return the SHA-256 of rows (n, d), dense or CSR, and their labels (n,), in hexadecimal.

    It is ``data_sha256`` of `kmaps train` for a file of the same rows, in the same dtype, and the
    same labels. A model says it where ``save`` gets it as a part of ``record``; ``fit`` does not
    compute it, since it takes a second per gigabyte.

    Parameters
    ----------
    X : array-like or sparse matrix, shape (n, d)
        Rows.
    y : array-like, shape (n,)
        Their labels.

    Returns
    -------
    str

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from kmaps import CodedSVC, load_predictor
    >>> from kmaps.io import data_digest
    >>> X, y = np.array([[0.0], [0.4], [1.0]]), np.array([0, 0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = {"data_sha256": data_digest(X, y)}
    ...     CodedSVC("chi2").fit(X, y).save(f"{folder}/model.npz", record=record)
    ...     print(load_predictor(f"{folder}/model.npz").record["data_sha256"][:8])
    9fe9702b
    """
    running = RunningDigest()
    running.add(X.tocsr() if issparse(X) else np.asarray(X))
    return running.of(y)
