"""One row at a time, by several threads: each adds up parts of it, and tells the others its sums.

Threads that descend together all do the same, on variables of their own, but for the weights, of
which each evaluates and changes those of its features alone. So at each row they need of each other
one number a part. Half a row of a thousand codes takes a third of a microsecond; a lock would take
several, so a thread waits for a number by looking for it again and again.

A number and the count of the row that it belongs to are one word of memory, which a processor
writes and reads in one piece. Two words a part take turns: a thread is at most one row ahead.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import int64, njit, types, uint64
from numba.extending import intrinsic

from kmaps._loops.vectors import item

_WORD = ir.IntType(64)
WORDS_A_PART = 16  # two lines of the cache, so that no part is told on the line of another
_LOOKS = 1_000_000  # about a ms; the other thread may be waiting for this processor

_yield_processor = types.ExternalFunction("sched_yield", types.int32())


class Share(NamedTuple):
    """What a thread does of a problem: the parts ``first`` … ``last`` - 1 of every row.

    Part p has the features ``columns[p]`` … ``columns[p + 1]`` - 1. In a row it begins where
    ``cuts[i, p - 1]`` says, counted from the row's begin, or ``cuts[0, p - 1]`` if all rows are
    alike. The sums of parts are told through ``mail``; its last word, if not zero, calls all off.
    """

    columns: np.ndarray  # int64 (parts + 1,)
    cuts: np.ndarray  # uint32 (rows or 1, parts - 1)
    first: int
    last: int
    mail: np.ndarray  # int64 (parts * WORDS_A_PART + 1,)


@njit(cache=True, nogil=True)
def find_cuts(bounds, features, columns, cuts):
    """Fill ``cuts`` for rows that list their features, in order."""
    for i in range(len(cuts)):
        for p in range(cuts.shape[1]):
            low, high = bounds[i], bounds[i + 1]
            while low < high:
                middle = (low + high) // 2
                if features[middle] < columns[p + 1]:
                    low = middle + 1
                else:
                    high = middle
            cuts[i, p] = low - bounds[i]


@njit(cache=True, nogil=True)
def parts_of(bounds, cuts, i, first, last):
    """Return where part ``first`` of row i begins, and part ``last`` would."""
    return _begin(bounds, cuts, i, first), _begin(bounds, cuts, i, last)


@njit(cache=True, nogil=True)
def _begin(bounds, cuts, i, p):
    if p == 0:
        return bounds[i]
    if p > cuts.shape[1]:
        return bounds[i + 1]
    return bounds[i] + int64(item(cuts, (i if len(cuts) > 1 else 0) * cuts.shape[1] + p - 1))


@njit(cache=True, nogil=True)
def told(mail, k, count):
    """Return the number that word k has for row ``count``, as soon as it is there."""
    looks = 0
    while True:
        word = _read(mail, k)
        if word >> uint64(32) == uint64(count) & uint64(0xFFFFFFFF):
            return _number(word)
        looks += 1
        if looks > _LOOKS:
            if mail[len(mail) - 1] != 0:
                return np.float32(0)
            _yield_processor()


@intrinsic
def tell(typing, mail, k, count, number):
    """Write a number and the last 32 bits of a count as word k."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        bits = builder.zext(builder.bitcast(arguments[3], ir.IntType(32)), _WORD)
        word = builder.or_(builder.shl(arguments[2], _WORD(32)), bits)
        builder.store_atomic(word, place, "monotonic", 8)
        return context.get_dummy_value()

    return types.void(mail, types.intp, types.int64, types.float32), generate


@intrinsic
def _read(typing, mail, k):
    """Return word k, unsigned."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments)
        return builder.load_atomic(place, "monotonic", 8)

    return types.uint64(mail, types.intp), generate


@intrinsic
def _number(typing, word):
    """Return the number in a word."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(builder.trunc(arguments[0], ir.IntType(32)), ir.FloatType())

    return types.float32(types.uint64), generate


def _place(context, builder, signature, arguments):
    """Return the address of word k of an array: both are the first arguments."""
    mail = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(mail.data, [arguments[1]])
