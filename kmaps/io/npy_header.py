"""The header of NumPy's ``.npy`` format, which says how the bytes after it are to be read.

It is a Python literal that NumPy parses; here it is held to a length, to sides that are not
negative, and to the size of the file.
"""

from dataclasses import dataclass
from io import BytesIO
from math import prod
from tokenize import TokenError
from typing import IO

import numpy as np

from kmaps.errors import InputError

_LONGEST_HEADER = 10_000  # bytes; NumPy's own limit, but it reads what is longer all the same


@dataclass(frozen=True)
class Header:
    """What a ``.npy`` file or a member of a ``.npz`` file says of its array.

    No side of the shape is negative, the dtype may be in the other byte order, and ``offset`` is
    how many bytes precede the first value.
    """

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype
    offset: int

    def check_size(self, size: int, name: str) -> None:
        """Refuse a file of another size in bytes than the header promises."""
        expected = self.offset + prod(self.shape) * self.dtype.itemsize
        if size < expected:
            raise InputError(f"{name}: truncated: {size:,} bytes, its header promises {expected:,}")
        if size > expected:
            raise InputError(
                f"{name}: {size:,} bytes, its header promises {expected:,}: a damaged file, or "
                "one of several arrays"
            )


def read_header(file: IO[bytes], name: str) -> Header:
    """Read the header of a ``.npy`` file that is open at its beginning."""
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format holds no plain numbers")
        size_bytes = 2 if version == (1, 0) else 4
        size = file.read(size_bytes)
        length = int.from_bytes(size, "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"its header has {length:,} bytes, at most {_LONGEST_HEADER:,} do")
        text = BytesIO(size + file.read(length))
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(text)
        else:
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(text)
        if any(isinstance(side, bool) or side < 0 for side in shape):
            raise ValueError(f"its header promises the shape {shape}")
    # The header is a Python literal: its reader raises what Python's own does.
    except (ValueError, SyntaxError, TypeError, TokenError, RecursionError, MemoryError) as error:
        raise InputError(f"{name}: not a whole .npy file ({reason(error)})") from None
    offset = np.lib.format.MAGIC_LEN + size_bytes + length
    return Header(shape, fortran, dtype, offset)


def reason(error: Exception) -> str:
    """Return what an exception of another library says, in one line."""
    said = error.args[0] if error.args else type(error).__name__
    return " ".join(str(said).split())
