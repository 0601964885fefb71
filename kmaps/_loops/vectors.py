"""Vectors of float32 or float64 for compiled loops.

LLVM turns a loop over one long array into vector instructions by itself, but not a sum of many
short products, one row of a table for each value: there, these operations spell the vectors out.
They are LLVM's own portable vectors, which it maps to the registers that the processor has.

``lanes`` is a tuple whose only use is its length, which is part of the compiled type.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_jitable, register_model

_FLOAT = ir.FloatType()
_KINDS = {types.float32: _FLOAT, types.float64: ir.DoubleType()}
_SINGLE = np.dtype(np.float32)
_ALIGNMENT = 64  # bytes of a register, and of a cache line


class Vector(types.Type):
    """The compiled type of a vector of so many lanes of ``number``."""

    def __init__(self, lanes: int, number: types.Float):
        self.lanes = lanes
        self.number = number
        super().__init__(f"Vector({lanes}, {number})")

    @property
    def form(self):
        """LLVM's type."""
        return ir.VectorType(_KINDS[self.number], self.lanes)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, vector.form)


@register_jitable
def aligned_zeros(size: int, dtype: np.dtype = _SINGLE) -> np.ndarray:
    """Return zeros, by default in float32, that begin on a line of the cache."""
    room = np.zeros(size + _ALIGNMENT, dtype)
    start = -room.ctypes.data % _ALIGNMENT // room.itemsize
    return room[start : start + size]


@intrinsic
def item(typing, array, k):
    """Return ``array[k]`` of a contiguous array: unchecked, and not counted from the end."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return context.unpack_value(builder, array.dtype, builder.gep(values, [arguments[1]]))

    return array.dtype(array, types.intp), generate


@intrinsic
def prefetch(typing, array, k):
    """Ask for the line of the cache that ``array[k]`` is on."""

    def generate(context, builder, signature, arguments):
        values = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(values, [arguments[1]]), ir.IntType(8).as_pointer())
        i32 = ir.IntType(32)
        signature_type = ir.FunctionType(ir.VoidType(), [place.type, i32, i32, i32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], signature_type)
        builder.call(function, [place, i32(0), i32(2), i32(1)])  # a read, to the second cache
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def fill(typing, value, lanes):
    """Return a vector with ``value`` in every lane."""
    vector = Vector(len(lanes), value)

    def generate(context, builder, signature, arguments):
        filled = ir.Constant(vector.form, ir.Undefined)
        for lane in range(vector.lanes):
            filled = builder.insert_element(filled, arguments[0], ir.IntType(32)(lane))
        return filled

    return vector(value, lanes), generate


@intrinsic
def load(typing, array, start, lanes):
    """Return ``array[start : start + len(lanes)]`` of a contiguous array, unchecked."""
    vector = Vector(len(lanes), array.dtype)

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments, vector)
        return builder.load(place, align=vector.number.bitwidth // 8)

    return vector(array, types.intp, lanes), generate


@intrinsic
def store(typing, array, start, vector):
    """Write a vector to ``array[start:]`` of a contiguous array, unchecked."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature, arguments, vector)
        builder.store(arguments[2], place, align=vector.number.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@intrinsic
def add(typing, a, b):
    """Return ``a + b``."""

    def generate(context, builder, signature, arguments):
        return builder.fadd(*arguments)

    return a(a, b), generate


@intrinsic
def multiply_add(typing, a, b, c):
    """Return ``a * b + c``, rounded once where the processor can."""

    def generate(context, builder, signature, arguments):
        fused = ("contract",)
        product = builder.fmul(arguments[0], arguments[1], flags=fused)
        return builder.fadd(product, arguments[2], flags=fused)

    return a(a, b, c), generate


@intrinsic
def widened(typing, vector, array):
    """Return a vector of float32 in the number type of an array, which may be wider."""
    wide = Vector(vector.lanes, array.dtype)

    def generate(context, builder, signature, arguments):
        if wide.number == vector.number:
            return arguments[0]
        return builder.fpext(arguments[0], wide.form)

    return wide(vector, array), generate


@intrinsic
def larger(typing, a, b):
    """Return the larger of two float64 that are not NaN, as LLVM knows it in vectors."""

    def generate(context, builder, signature, arguments):
        double = ir.DoubleType()
        signature_type = ir.FunctionType(double, [double, double])
        function = builder.module.declare_intrinsic("llvm.maxnum", [double], signature_type)
        return builder.call(function, arguments, fastmath=("nnan", "nsz"))

    return types.float64(types.float64, types.float64), generate


@intrinsic
def total(typing, vector):
    """Return the sum of the lanes, of float32."""

    def generate(context, builder, signature, arguments):
        signature_type = ir.FunctionType(_FLOAT, [_FLOAT, vector.form])
        name = f"llvm.vector.reduce.fadd.v{vector.lanes}f32"
        function = cgutils.get_or_insert_function(builder.module, signature_type, name)
        zero = ir.Constant(_FLOAT, 0.0)
        return builder.call(function, [zero, arguments[0]], fastmath=("reassoc",))

    return types.float32(vector), generate


def _place(context, builder, signature, arguments, vector):
    """Return the address of a vector in the array that is the first argument."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    address = builder.gep(array.data, [arguments[1]])
    return builder.bitcast(address, vector.form.as_pointer())
