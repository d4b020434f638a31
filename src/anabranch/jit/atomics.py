"""Atomic operations on integer fields of record arrays, for threads that share one graph.

    add(nodes, i, "visits", 1) -> the value before        load(nodes, i, "lock") -> the value
    compare_and_swap(nodes, i, "lock", 0, 1) -> bool      store(nodes, i, "lock", 0)

    give_way()  yields the core to another thread

The field's name is a literal. Fields must be aligned (`align=True` in the dtype): an atomic on a packed field is 120
times slower where it works at all. In plain Python each function does the same under one lock.
"""

import sys
import threading
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

ORDER = "seq_cst"
TO_LOAD, TO_STORE = "acquire", "release"  # enough for locks, and a plain move on x86; "seq_cst" flushes the store buffer
_lock = threading.Lock()


def add(array, index, field, amount):
    """Add to the field and return its previous value."""
    with _lock:
        before = array[index][field]
        array[index][field] = before + amount
        return before


def compare_and_swap(array, index, field, expected, new):
    """If the field is `expected`, set it to `new`; returns whether it was."""
    with _lock:
        if array[index][field] != expected:
            return False
        array[index][field] = new
        return True


def load(array, index, field):
    """Read the field; unlike a plain read, it is never hoisted out of a waiting loop."""
    with _lock:
        return array[index][field]


def store(array, index, field, value):
    """Write the field, visible to other threads in order."""
    with _lock:
        array[index][field] = value


def give_way():
    """Yield the core to another thread."""
    time.sleep(0.0)


_sched_yield = types.ExternalFunction("sched_yield", types.int32())


@overload(give_way)
def _compile_give_way():
    def give_way():
        _sched_yield()

    def wait():
        pass

    return wait if sys.platform == "win32" else give_way  # there it has another name


def _field(array, field):
    """The Numba type of an aligned integer field of a record array, or None if this is not one."""
    if not isinstance(array, types.Array) or not isinstance(array.dtype, types.Record):
        return None
    if not isinstance(field, types.StringLiteral) or not isinstance(array.dtype.typeof(field.literal_value), types.Integer):
        return None
    return array.dtype.typeof(field.literal_value)


def _pointer(context, builder, signature, arguments):
    """The address of the field."""
    array_type, index_type, field = signature.args[:3]
    array = context.make_array(array_type)(context, builder, arguments[0])
    index = context.cast(builder, arguments[1], index_type, types.intp)
    record = cgutils.get_item_pointer(context, builder, array_type, array, [index], wraparound=False)
    start = builder.bitcast(record, ir.IntType(8).as_pointer())
    address = builder.gep(start, [ir.Constant(ir.IntType(64), array_type.dtype.offset(field.literal_value))])
    value_type = context.get_data_type(array_type.dtype.typeof(field.literal_value))
    return builder.bitcast(address, value_type.as_pointer())


def _operand(context, builder, signature, arguments, position):
    """An argument converted to the field's own type."""
    field = signature.args[0].dtype.typeof(signature.args[2].literal_value)
    return context.cast(builder, arguments[position], signature.args[position], field)


@intrinsic(prefer_literal=True)
def _add(typing, array, index, field, amount):
    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.atomic_rmw("add", pointer, _operand(context, builder, signature, arguments, 3), ORDER)

    return _field(array, field)(array, index, field, amount), build


@intrinsic(prefer_literal=True)
def _compare_and_swap(typing, array, index, field, expected, new):
    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        old, made = (_operand(context, builder, signature, arguments, position) for position in (3, 4))
        return builder.extract_value(builder.cmpxchg(pointer, old, made, ORDER, ORDER), 1)

    return types.boolean(array, index, field, expected, new), build


@intrinsic(prefer_literal=True)
def _load(typing, array, index, field):
    value = _field(array, field)

    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load_atomic(pointer, TO_LOAD, value.bitwidth // 8)

    return value(array, index, field), build


@intrinsic(prefer_literal=True)
def _store(typing, array, index, field, value):
    width = _field(array, field).bitwidth // 8

    def build(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        builder.store_atomic(_operand(context, builder, signature, arguments, 3), pointer, TO_STORE, width)
        return context.get_dummy_value()

    return types.none(array, index, field, value), build


@overload(add, prefer_literal=True)
def _compile_add(array, index, field, amount):
    if _field(array, field) is not None:
        return lambda array, index, field, amount: _add(array, index, field, amount)


@overload(compare_and_swap, prefer_literal=True)
def _compile_compare_and_swap(array, index, field, expected, new):
    if _field(array, field) is not None:
        return lambda array, index, field, expected, new: _compare_and_swap(array, index, field, expected, new)


@overload(load, prefer_literal=True)
def _compile_load(array, index, field):
    if _field(array, field) is not None:
        return lambda array, index, field: _load(array, index, field)


@overload(store, prefer_literal=True)
def _compile_store(array, index, field, value):
    if _field(array, field) is not None:
        return lambda array, index, field, value: _store(array, index, field, value)
