"""Named tuples that kernels are handed as a pointer: the same as by value, in kernels and in plain Python."""

import os
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from anabranch.jit import COMPILED, by_pointer, generic, helper, kernel, refer
from anabranch.jit.fingerprint import leaves
from anabranch.jit.pointers import Pointer

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled")
CELL = np.dtype([("count", "i4"), ("weight", "f8", (2,))], align=True)


class Plus(NamedTuple):
    """An option."""

    amount: int


class Times(NamedTuple):
    """Another one."""

    factor: float


class Nothing(NamedTuple):
    """One without fields."""


@by_pointer
class Inner(NamedTuple):
    """What lies in another one."""

    numbers: Any
    option: Any


@by_pointer
class Memory(NamedTuple):
    """Something of each kind."""

    cells: Any
    table: Any
    flag: bool
    share: float
    option: Any
    switch: Any
    inner: Any


PLUS_THREE = Plus(3)


@generic
def apply(option, number):
    """What an option makes of a number."""


@apply.register(Plus)
def apply_plus(option, number):
    return number + option.amount


@apply.register(Times)
def apply_times(option, number):
    return number * option.factor


@generic
def size_of(memory):
    """Chosen by the class behind a pointer."""


@size_of.register(Memory)
def size_of_memory(memory):
    return len(memory.cells)


@size_of.register(Inner)
def size_of_inner(memory):
    return len(memory.numbers)


def a_memory(option=PLUS_THREE, flag=True):
    """With twelve numbers in a table that is no plain row."""
    inner = Inner(np.arange(5, dtype=np.int64), Times(0.5))
    return Memory(np.zeros(4, CELL), np.arange(24.0).reshape(4, 6)[:, ::2], flag, 0.25, option, Nothing(), inner)


@kernel
def read(memory):
    """A number of every field."""
    inner = memory.inner
    return (
        memory.table[1, 2],
        memory.table.shape[1],
        memory.flag,
        memory.share,
        apply(memory.option, 4),
        apply(inner.option, inner.numbers[4]),
        size_of(memory),
        size_of(inner),
    )


@helper
def count_up(memory, i):
    """Write through the pointer."""
    memory.cells[i].count += 1
    memory.cells[i].weight[1] = memory.share * i
    memory.inner.numbers[i] = -1


@kernel
def write(memory):
    """Change every cell."""
    for i in range(len(memory.cells)):
        count_up(memory, i)


@helper
def row_of(memory, i):
    """One row of the table, by value."""
    return Inner(memory.table[i], Plus(i))


@helper
def total_of(row):
    """The sum of a row, and its option's number for each."""
    total = 0.0
    for k in range(len(row.numbers)):
        total += apply(row.option, row.numbers[k])
    return total


@kernel
def sum_rows(memory, out):
    """A tuple made in every round of a loop, in the same place."""
    for i in range(len(out)):
        row = refer(row_of(memory, i))
        out[i] = total_of(refer(row))


def both(function, *arguments):
    """Compiled, if anything is, and plain."""
    return [function(*arguments), function.plain(*arguments)]


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize(("option", "applied"), [(Plus(3), 7), (Times(1.5), 6.0)])
def test_fields_are_read_as_from_the_tuple(option, applied, flag):
    for found in both(read, a_memory(option, flag)):
        assert found == (10.0, 3, flag, 0.25, applied, 2.0, 4, 5)


def test_arrays_are_written_through_it():
    for function in (write, write.plain):
        memory = a_memory()
        function(memory)
        function(memory)
        assert memory.cells["count"].tolist() == [2, 2, 2, 2]
        assert memory.cells["weight"][:, 1].tolist() == [0.0, 0.25, 0.5, 0.75]
        assert memory.inner.numbers.tolist() == [-1, -1, -1, -1, 4]


def test_a_tuple_made_in_a_loop_is_a_new_one_every_time():
    for function in (sum_rows, sum_rows.plain):
        out = np.zeros(4)
        function(a_memory(), out)
        assert out.tolist() == [6.0, 27.0, 48.0, 69.0]


def test_a_ready_kernel_takes_other_tuples_of_the_same_types():
    ready = read.ready(a_memory())
    assert ready(a_memory()._replace(share=0.75))[3] == 0.75


@compiled_only
def test_its_type_survives_pickling_and_changes_with_any_field():
    first = numba.typeof(a_memory())
    assert isinstance(first, Pointer) and len(first.name) < 40
    assert numba.typeof(a_memory()) is first and pickle.loads(pickle.dumps(first)) is first
    others = [
        a_memory(Times(1.0)),
        a_memory()._replace(cells=np.zeros(4)),
        a_memory()._replace(inner=Inner(np.zeros(5), Plus(1))),
    ]
    types = {first, *map(numba.typeof, others), Pointer(first.pointed, is_local=True)}
    assert len(types) == len({str(numba_type) for numba_type in types}) == 5
    assert {Memory, Inner, Plus, Times, Nothing} == {getattr(leaf, "instance_class", None) for leaf in leaves([first])} - {None}


def other_class():
    """A class that looks like `Plus`."""

    class Plus(NamedTuple):
        amount: int

    return Plus


@compiled_only
def test_two_classes_of_the_same_name_make_two_types():
    assert numba.typeof(a_memory(other_class()(3))) != numba.typeof(a_memory())


@compiled_only
def test_what_it_does_not_have_is_named():
    @kernel
    def read_nonsense(memory):
        return memory.nonsense

    with pytest.raises(Exception, match="nonsense"):
        read_nonsense(a_memory())


RUN = """
import numpy as np
import tests.jit.test_pointers as mine
memory = mine.a_memory()
out = np.zeros(4)
mine.sum_rows(memory, out)
print(mine.read(memory)[5], out[3], mine.read.compilations, mine.sum_rows.compilations)
"""


@compiled_only
def test_another_process_finds_the_kernel(tmp_path):
    tmp_path.chmod(0o700)
    environment = os.environ | {"ANABRANCH_CACHE": str(tmp_path), "ANABRANCH_QUIET": "1"}
    said = [
        subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert said == [["2.0", "69.0", "1", "1"], ["2.0", "69.0", "0", "0"]]
