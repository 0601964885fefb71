"""Loops over functions of other libraries, given as pointers of ctypes: a call for each value."""

from numba import njit


@njit(nogil=True)
def expand(evaluate, state, values, out):
    """Let ``evaluate(state, address, stride, x)`` write the outputs of each value into its row.

    The type of a function that is a pointer is part of what is compiled, so nothing is cached.

    Parameters
    ----------
    evaluate : ctypes function of (size_t, size_t, size_t, double)
    state : int
        Address of what the function works with.
    values : ndarray of float32, shape (n,)
    out : ndarray of float32, shape (n, r), contiguous
    """
    start, step = out.ctypes.data, out.strides[0]
    for i in range(values.size):
        evaluate(state, start + i * step, 1, values[i])
