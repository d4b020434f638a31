"""Generic functions choose by type, compiled and in plain Python alike."""

from typing import NamedTuple

import numpy as np
import pytest

from anabranch.errors import OptionError
from anabranch.jit import generic, helper, kernel
from anabranch.jit.options import coerce


class Shape(NamedTuple):
    size: float = 1.0


class Square(NamedTuple):
    size: float = 1.0
    inner: Shape = Shape()


class Unknown(NamedTuple):
    size: float = 1.0


@generic
def area(shape, scale):
    """The area of a shape."""


@area.register(Square)
def area_square(shape, scale):
    return shape.size * shape.size * scale


@generic(default=True)
def corners(shape):
    return 0


@corners.register(Square)
def corners_square(shape):
    return 4


@helper
def twice(x):
    return 2 * x


@kernel
def measure(shape, scale):
    return twice(area(shape, scale)) + corners(shape)


def test_a_kernel_and_plain_python_choose_the_same_implementation():
    assert measure(Square(3.0), 2.0) == measure.plain(Square(3.0), 2.0) == 2 * 18 + 4


def test_a_kernel_that_is_ready_is_the_one_that_is_called():
    ready = measure.ready(Square(3.0), 2.0)
    before = measure.compilations
    assert ready(Square(3.0), 2.0) == measure(Square(3.0), 2.0) == 40.0
    assert ready(Square(1.0), 5.0) == measure.ready(Square(0.0), 0.0)(Square(1.0), 5.0) == 14.0
    assert measure.compilations == before


def test_a_default_serves_types_without_an_implementation():
    assert corners(Unknown()) == 0
    assert corners(Square()) == 4


def test_a_missing_implementation_is_told_by_name():
    with pytest.raises(TypeError, match="`area` is not defined for Unknown"):
        area(Unknown(), 1.0)


def test_changing_a_number_does_not_compile_again():
    before = measure.compilations
    measure(coerce(Square(5)), 2.0)
    measure(coerce(Square(7.5)), 2.0)
    assert measure.compilations - before <= 1


def test_coerce_gives_fields_their_declared_types_also_in_nested_options():
    option = coerce(Square(3, Shape(2)))
    assert [type(option.size), type(option.inner.size)] == [float, float]
    with pytest.raises(OptionError, match="Square: size must be a number, not 'big'"):
        coerce(Square("big"))
    with pytest.raises(OptionError, match=r"Square: inner must be an option such as Shape\(size=...\), not 3"):
        coerce(Square(1.0, 3))


def test_records_of_two_games_with_the_same_fields_are_told_apart():
    import anabranch as ab
    from anabranch.games import rules

    def make(name, start):
        def setup(state):
            state.turn = start

        body = {
            "players": 1,
            "actions": 1,
            "state": np.dtype([("turn", "i1")]),
            "setup": ab.rule(setup),
            "to_play": ab.rule(lambda state: 0),
            "is_legal": ab.rule(lambda state, action: True),
            "play": ab.rule(lambda state, action: None),
            "is_over": ab.rule(lambda state: False),
            "returns": ab.rule(lambda state, out: None),
        }
        return type(name, (ab.Game,), body)

    @kernel
    def begin(states):
        rules.setup(states[0])
        return states[0].turn

    left, right = make("Twin", 1), make("Twin", 2)
    assert begin(np.zeros(1, left.record)) == 1
    assert begin(np.zeros(1, right.record)) == 2
