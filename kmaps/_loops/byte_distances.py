"""Distances between rows of bytes, of which processors sum many in one operation."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kmaps._loops.compiling import loop
from kmaps._loops.entries import COMPILED


@intrinsic
def _add_difference(context, total, a, b):
    """Return total + abs(a - b) in 32 bits: numba's own 64 bits hide the sum from LLVM."""

    def generate(context, builder, signature, values):
        wide = ir.IntType(32)
        (total, *pair) = values
        difference = builder.sub(*(builder.zext(value, wide) for value in pair))
        negative = builder.icmp_signed("<", difference, wide(0))
        return builder.add(total, builder.select(negative, builder.neg(difference), difference))

    return types.int32(types.int32, types.uint8, types.uint8), generate


@loop(**COMPILED)
def byte_distances(walk, others, skip):
    """Return the sums of absolute differences between the rows of two blocks, float64.

    Row ``i`` is compared with the first ``i - skip + 1`` rows of ``others``, the rest are zeros.
    """
    out = np.zeros((len(walk), len(others)))
    for i in range(len(walk)):
        a = walk[i]
        for j in range(min(i - skip + 1, len(others))):
            b = others[j]
            total = np.int32(0)
            for t in range(len(a)):
                total = _add_difference(total, a[t], b[t])
            out[i, j] = total
    return out
