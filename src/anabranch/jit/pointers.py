"""Named tuples that kernels pass on as one pointer.

Numba spreads a tuple into its parts at every call. For a graph of thirty arrays that is two hundred arguments, for each of
the hundreds of helpers that a kernel consists of, and most of the compile time. A class marked with `by_pointer` reaches a
kernel as the address of a block of memory that holds the fields, and reading a field is a load from there:

    @by_pointer
    class Tree(NamedTuple):
        nodes: Any
        ...

A kernel that creates a tuple of such a class has it by value, which works everywhere but takes long to compile; `refer` puts it
on the stack of the function that calls `refer`, where its lifetime ends: it can be passed down, but not returned.

The arguments of a kernel never change while it runs, and loads from them say so (`invariant.load`). What `refer` returns has
another type, since the next iteration of a loop overwrites it. In plain Python both are the tuple itself. Next: `dispatch.py`.
"""

import hashlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import PrimitiveModel, register_default
from numba.core.pythonapi import NativeValue
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_builtin, lower_getattr_generic, type_callable, typeof_impl, unbox

Class = TypeVar("Class", bound=type)
Place = tuple[int, ...]  # indices that lead to a number inside nested structures

WORD = ir.IntType(64)  # one for every number of every field


class Pointer(types.Type):
    """The type of a pointer to the fields of a named tuple."""

    def __init__(self, pointed: Any, is_local: bool = False) -> None:
        self.pointed = pointed  # the type of the tuple
        self.is_local = is_local  # whether a kernel created it; else it is an argument, and never changes
        self.instance_class = pointed.instance_class
        self.types = pointed.types
        self.positions = {name: i for i, name in enumerate(pointed.fields)}
        # The name becomes part of every symbol and is hashed at every step of the compiler, so it is short.
        classes = [f"{made_by.__module__}.{made_by.__qualname__}" for made_by in _classes(pointed)]
        digest = hashlib.sha256(repr((str(pointed), classes)).encode()).hexdigest()[:16]
        super().__init__(f"{'local ' if is_local else ''}{self.instance_class.__name__}*{digest}")

    @property
    def key(self) -> Any:
        """What distinguishes this type from others: its name, unless two classes have the same name."""
        return self.name, self.pointed

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Pointer) and self.key == other.key)


def fields_of(numba_type: Any) -> tuple[Any, ...]:
    """The types of the fields of a tuple or of a pointer to one; empty for anything else."""
    return tuple(numba_type.types) if isinstance(numba_type, (types.BaseTuple, Pointer)) else ()


def class_of(numba_type: Any) -> Any:
    """The class of a named tuple, by value or by pointer; None for anything else."""
    return numba_type.instance_class if isinstance(numba_type, (types.BaseNamedTuple, Pointer)) else None


def by_pointer(named_tuple: Class) -> Class:
    """Pass instances of this class of named tuples to kernels as a pointer."""
    typeof_tuple = typeof_impl.dispatch(tuple)

    @typeof_impl.register(named_tuple)
    def typeof_pointed(value: Any, context: Any) -> Any:
        pointed = typeof_tuple(value, context)
        return None if pointed is None else Pointer(pointed)

    return named_tuple


def refer(value: Any) -> Any:
    """A pointer to this named tuple, which lives as long as the calling function runs; a pointer stays as it is."""
    return value


def _classes(numba_type: Any) -> Iterator[Any]:
    if class_of(numba_type) is not None:
        yield class_of(numba_type)
    for field in fields_of(numba_type):
        yield from _classes(field)


# --- for the compiler -------------------------------------------------------------------------------------------------------


@register_default(Pointer)
class PointerModel(PrimitiveModel):
    """An address of words: those of the first field, then those of the second, and so on."""

    def __init__(self, models: Any, pointer: Pointer) -> None:
        super().__init__(models, pointer, WORD.as_pointer())
        self.kinds = [models.lookup(field).get_value_type() for field in pointer.types]
        self.parts = [_parts(kind) for kind in self.kinds]
        self.firsts = [0, *itertools.accumulate(len(parts) for parts in self.parts)]


@infer_getattr
class PointerFields(AttributeTemplate):
    """The types of a pointer's attributes."""

    key = Pointer

    def generic_resolve(self, pointer: Pointer, name: str) -> Any:
        """That of the field of this name."""
        position = pointer.positions.get(name)
        return None if position is None else pointer.types[position]


@lower_getattr_generic(Pointer)
def load_field(context: Any, builder: Any, pointer: Pointer, address: Any, name: str) -> Any:
    """Read one field."""
    position = pointer.positions[name]
    model = context.data_model_manager.lookup(pointer)
    kind = model.kinds[position]
    known = _known_parts(context, pointer.types[position], kind)
    value = ir.Constant(kind, ir.Undefined)
    for word, (place, part) in enumerate(model.parts[position], model.firsts[position]):
        if place in known:
            loaded = known[place]
        else:
            loaded = builder.load(_address(builder, address, word, part))
            if not pointer.is_local:
                loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
        value = builder.insert_value(value, loaded, place) if place else loaded
    return value


def store_fields(context: Any, builder: Any, pointed: Any, value: Any) -> Any:
    """The address of a new stack block of the function being compiled, filled with the fields of this tuple."""
    parts = _parts(context.get_value_type(pointed))
    block = cgutils.alloca_once(builder, ir.ArrayType(WORD, max(len(parts), 1)))
    address = builder.bitcast(block, WORD.as_pointer())
    for word, (place, part) in enumerate(parts):
        builder.store(builder.extract_value(value, place), _address(builder, address, word, part))
    return address


@unbox(Pointer)
def unbox_pointer(pointer: Pointer, instance: Any, c: Any) -> NativeValue:
    """Unbox an argument: the fields are read from Python once, before the kernel starts, and live until it ends."""
    native = c.unbox(pointer.pointed, instance)
    address = store_fields(c.context, c.builder, pointer.pointed, native.value)
    # If a small kernel is inlined into its wrapper, invariant loads must not be moved before these stores: an empty asm
    # statement that may write any memory yields an address that did not exist before.
    barrier = ir.FunctionType(address.type, [address.type])
    address = c.builder.asm(barrier, "", "=r,0,~{memory}", [address], side_effect=True)
    return NativeValue(address, is_error=native.is_error, cleanup=native.cleanup)


@type_callable(refer)
def type_refer(context: Any) -> Callable[[Any], Any]:
    """A tuple becomes a local pointer."""

    def typer(value: Any) -> Any:
        if isinstance(value, types.BaseNamedTuple):
            return Pointer(value, is_local=True)
        return value if isinstance(value, Pointer) else None

    return typer


@lower_builtin(refer, types.BaseNamedTuple)
def refer_to_tuple(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Store the tuple in memory and return its address."""
    return store_fields(context, builder, signature.args[0], arguments[0])


@lower_builtin(refer, Pointer)
def refer_to_pointer(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Return the pointer as it is."""
    return arguments[0]


def _known_parts(context: Any, field: Any, kind: Any) -> dict[Place, Any]:
    """Parts of an array that need no load. Without Numba's runtime, the owner of the memory is never read."""
    if not isinstance(field, types.Array) or context.enable_nrt:
        return {}
    model = context.data_model_manager.lookup(field)
    size = context.get_abi_sizeof(context.get_data_type(field.dtype))
    contents = {"meminfo": None, "parent": None, "itemsize": size}
    positions = {model.get_field_position(name): content for name, content in contents.items()}
    return {(position,): ir.Constant(kind.elements[position], content) for position, content in positions.items()}


def _parts(kind: Any, place: Place = ()) -> list[tuple[Place, Any]]:
    """The numbers and addresses that a value of this LLVM type consists of: their places in it and their types."""
    if isinstance(kind, ir.ArrayType):
        inner = [kind.element] * kind.count
    elif isinstance(kind, ir.BaseStructType):
        inner = list(kind.elements)
    else:
        return [(place, kind)]
    return [found for i, part in enumerate(inner) for found in _parts(part, (*place, i))]


def _address(builder: Any, address: Any, word: int, part: Any) -> Any:
    """The address of the number in this word."""
    slot = builder.gep(address, [ir.Constant(ir.IntType(32), word)], inbounds=True)
    return slot if part == WORD else builder.bitcast(slot, part.as_pointer())
