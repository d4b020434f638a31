"""What plain rules read from a record counts as in a kernel: expressions over all types of fields, plain against compiled."""

import math
import sys

import numba
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games.nim import Nim
from anabranch.jit import readable
from anabranch.jit.settings import OPTIONS

TYPES = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
FIELDS = [("x_b1", "b1"), *((f"x_{kind}", kind) for kind in TYPES), *((f"a_{kind}", kind, (2, 3)) for kind in TYPES)]
RECORD = np.dtype([*FIELDS, ("inner", np.dtype(FIELDS, align=True)), ("rows", np.dtype(FIELDS, align=True), (2,))], align=True)

compared = pytest.mark.when_compiled
ONE, NOTHING = np.uint64(1), np.uint64(0)


def compiled(function):
    """The function of a record as Numba compiles it, with the options of kernels: called with an array and an index."""
    inner = numba.njit(**OPTIONS)(function)
    return numba.njit(**OPTIONS)(lambda states, i: inner(states[i]))


def plainly(function, record):
    with np.errstate(over="ignore"):
        return function(readable(record.copy())[0])


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


# --- expressions ---

kinds = st.sampled_from(TYPES)
places = st.sampled_from(
    [
        "state.x_{}",
        "state.a_{}[0, 1]",
        "state.a_{}[1][2]",
        "state.a_{}[1, 1:][0]",
        "state.a_{}[:, 1][0]",
        "state.inner.x_{}",
        "state.inner.a_{}[1, 0]",
        "state.rows[1].x_{}",
        "state.rows[0].a_{}[0, 2]",
    ]
)
bools = st.sampled_from([("state.x_b1", False), ("state.inner.x_b1", False)])  # Numba has no arrays of them in records
reads = st.builds(lambda place, kind: (place.format(kind), kind[0] == "f"), places, kinds)
literals = st.sampled_from([("1", False), ("3", False), ("(-2)", False), ("2.5", True)])
leaves = reads | reads | reads | bools | literals


@st.composite
def operations(draw, sides):
    left, left_is_float = draw(sides)
    right, right_is_float = draw(sides)
    is_float = left_is_float or right_is_float
    anything = ("({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} // {1})", "({0} % {1})", "(-{0})", "abs({0})")
    whole = ("({0} & {1})", "({0} | {1})", "({0} ^ {1})", "(~{0})", "({0} >> ({1} & 7))", "({0} << ({1} & 3))")
    form = draw(st.sampled_from(anything if is_float else anything + whole))
    return form.format(left, right), is_float


@st.composite
def questions(draw, sides):
    """At the top: what does not go on being computed with as the same kind of number."""
    form = draw(st.sampled_from(["{0}", "{0}", "{0}", "({0} < {1})", "({0} == {1})", "({0} >= {1})", "({0} / {1})"]))
    return form.format(draw(sides)[0], draw(sides)[0])


expressions = questions(operations(leaves | operations(leaves)))


def random_records(seed, count=20):
    """Records of small and of extreme numbers. An i4 is kept to half of its bits, so that no product of four leaves 64."""
    random = np.random.default_rng(seed)
    records = np.zeros(count, RECORD)

    def fill(part):
        for name in part.dtype.names:
            field = part[name]
            if field.dtype.names:
                fill(field)
                continue
            kind = field.dtype.kind
            if kind == "f":
                field[...] = random.normal(0, 10, field.shape)
                continue
            if kind == "b":
                field[...] = random.integers(0, 2, field.shape)
                continue
            limits = np.iinfo("i2" if field.dtype == "i4" else field.dtype)
            low, high = int(limits.min), int(limits.max)
            wild = random.integers(low, high, field.shape, field.dtype, endpoint=True)
            small = random.integers(0, 7, field.shape).astype(field.dtype)
            field[...] = np.where(random.random(field.shape) < 0.6, wild, small)

    fill(records)
    return records


@compared
@settings(max_examples=12)
@given(expressions, st.integers(0, 2**32))
@example("(-state.x_i1)", 0)
@example("abs(state.x_i2)", 0)
@example("(-state.x_u1)", 0)
@example("(~state.x_u2)", 0)
@example("(-(-state.x_u4))", 0)
@example("(state.a_i1[0, 1] * 2)", 1)
@example("(state.a_u1[0, 1] - state.a_u2[1, 2])", 1)
@example("(state.x_u8 | 1)", 1)
@example("((state.x_u8 + state.x_i8) // 3)", 1)
@example("(state.x_f4 * state.a_i1[0, 1])", 1)
@example("(state.x_f4 * state.x_i4)", 1)
@example("(state.x_b1 + state.x_b1)", 1)
@example("(state.x_b1 + state.x_u8)", 1)
@example("(state.x_i1 - state.x_u8)", 1)
@example("(~state.x_b1)", 1)
@example("(state.a_i8[0, 1] * state.a_i8[1, 2])", 1)
@example("(state.a_f8[0, 1] // state.x_b1)", 0)
@example("((state.x_i1 + state.x_b1) < (~(state.x_b1 & state.x_b1)))", 0)
@example("(state.x_i8 + (~(~state.x_b1)))", 0)
def test_an_expression_over_fields_means_the_same_in_plain_python_and_compiled(expression, seed):
    names = {}
    exec(f"def rule(state):\n    return {expression}", names)
    ask = compiled(names["rule"])
    records = random_records(seed)
    for i in range(len(records)):
        try:
            plain = plainly(names["rule"], records[i : i + 1])
        except (ZeroDivisionError, OverflowError, RuntimeWarning):  # so that it is noticed; a kernel goes on with some number
            continue
        assert same(plain, ask(records, i)), (expression, i)


# --- loops, sums, changes in place ---


def adds_elements(state):
    total = 0
    for row in state.a_i1:
        for number in row:
            total += number * 3
    return total


def adds_columns(state):
    total = 0
    for number in state.a_u1[:, 1]:
        total += number - 200
    return total


def takes_apart(state):
    first, second = state.a_i1[0, 0], state.a_i1[0, 1]
    return first * second


def walks_all(state):
    total = 0
    for number in state.a_i2.flat:
        total += number * number
    return total


def sums_up(state):
    return state.a_i1.sum() * 2


def adds_in_place(state):
    state.a_i1[0, 0] = 3
    state.a_i1[0, 0] += 4
    state.a_i1[0, 0] *= 5
    state.x_u8 ^= 1
    state.a_u8[0, 0] ^= 1
    state.x_u8 -= state.x_i8
    state.x_i8 *= state.x_i8
    return state.a_i1[0, 0] * 100 + state.x_u8 % 10 + state.x_i8 + state.a_u8[0, 0] % 7


def adds_a_whole_row(state):
    state.a_i4[0] = 5
    state.a_i4[0, 1:] = state.x_i1
    return state.a_i4[0, 0] * state.a_i4[0, 2]


def mixes_with_constants(state):
    bits = ONE << np.uint64(state.x_u1 & 31)
    found = (state.x_u8 & ~bits) != NOTHING or bits == state.x_u8
    return (bits | state.a_u8[0, 0]) - (state.x_u8 ^ ONE) if found and state.x_u8 > NOTHING else bits


WHOLE = (mixes_with_constants, adds_elements, adds_columns, takes_apart, walks_all, sums_up, adds_in_place, adds_a_whole_row)


@compared
@pytest.mark.parametrize("rule", WHOLE, ids=lambda rule: rule.__name__)
def test_loops_and_changes_in_place_mean_the_same_in_plain_python_and_compiled(rule):
    ask = compiled(rule)
    for seed in range(5):
        records = random_records(seed)
        for i in range(len(records)):
            assert plainly(rule, records[i : i + 1]) == ask(records.copy(), i)


# --- as a user meets it ---


class Doubles(Nim):
    """Ends at once and pays twice what an i1 of an array says: 200."""

    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("cells", "i1", (2,))])
    value_range = (-300.0, 300.0)

    @ab.rule
    def play(state, action):
        state.cells[0] = 100
        state.stones = 0
        state.turn = 1 - state.turn

    @ab.rule
    def returns(state, out):
        out[0], out[1] = state.cells[0] * 2, -(state.cells[0] * 2)


def test_a_position_pays_what_the_search_sees():
    assert Doubles().start().play(0).returns == [200.0, -200.0]
    assert ab.Search(Doubles()).run(visits=20).value == 200.0
    assert ab.check(Doubles(), games=3)


def test_records_within_records_are_read_by_name():
    state = readable(np.zeros(1, RECORD))[0]
    state.inner.x_i1 = 100
    state.rows[1].a_u1[0, 0] = 200
    assert state.inner.x_i1 * 2 == 200
    assert state.rows[1].a_u1[0, 0] * 2 == 400


def test_what_does_not_fit_a_narrow_field_is_noticed():
    state = readable(np.zeros(1, RECORD))[0]
    state.a_i1[0, 0] = 100
    with pytest.raises(OverflowError):
        state.a_i1[0, 0] += 100
    with pytest.raises(OverflowError):
        state.x_u1 = state.a_i1[0, 0] - 101


def test_a_field_that_is_not_there_is_told_with_the_nearest_one():
    state = readable(np.zeros(1, [("stones", "i4"), ("turn", "i1")]))[0]
    with pytest.raises(AttributeError, match=r"the state has no field 'stonse'; did you mean 'stones'\?"):
        state.stonse = 3
    with pytest.raises(AttributeError, match="it has stones, turn"):
        _ = state.board


def test_reading_an_array_of_a_record_keeps_nothing_alive():
    seen = readable(np.zeros(1, RECORD))
    before = sys.getrefcount(seen)
    read = [int(seen[0].a_i4[0, 1]) + int(seen[0].inner.a_u8[1, 0]) for _ in range(10)]
    after = sys.getrefcount(seen)
    assert read == [0] * 10 and after == before
