"""A hint to the processor: this memory will be read soon. It changes no result and never fails, whatever the address.

In plain Python it does nothing.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

LINE = 64  # bytes of a cache line
READ, KEEP, DATA = 0, 3, 1  # llvm.prefetch: for reading; highest locality; data, not code


def prefetch(array, index, line):
    """Prefetch cache line number `line`, counted from the start of array[index]."""


@overload(prefetch)
def _compile_prefetch(array, index, line):
    return lambda array, index, line: _prefetch(array, index, line)


@intrinsic
def _prefetch(typing, array, index, line):
    def build(context, builder, signature, arguments):
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, arguments[0])
        index, line = (context.cast(builder, arguments[i], signature.args[i], types.intp) for i in (1, 2))
        start = cgutils.get_item_pointer(context, builder, array_type, view, [index], wraparound=False)
        start = builder.bitcast(start, ir.IntType(8).as_pointer())
        address = builder.gep(start, [builder.mul(line, ir.IntType(64)(LINE))])
        small = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), small, small, small])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(hint, [address, small(READ), small(KEEP), small(DATA)])
        return context.get_dummy_value()

    return types.none(array, index, line), build
