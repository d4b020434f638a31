"""What networks see of games without planes: every field of the record as numbers, and who is to move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.nets.games import played

import anabranch as ab
from anabranch.games.encoding import MOST_NUMBERS, encode, planes_of, symmetries_of
from anabranch.games.goofspiel import Goofspiel
from anabranch.games.nim import Nim
from anabranch.games.pig import Pig
from anabranch.games.record_planes import leaves_of, numbers_of
from anabranch.games.trinim import TriNim

PLACE = np.dtype([("row", "i1"), ("weight", "f4", (2,))])


class Fields(Nim):
    """Nim with fields of all kinds, and padding between them."""

    state = np.dtype(
        [
            ("turn", "i1"),
            ("board", "u1", (2, 3)),
            ("heat", "f8", (2, 2)),
            ("is_new", "?"),
            ("stones", "i8"),
            ("places", PLACE, (2,)),
            ("bits", "u8"),
        ]
    )


def numbers(game, states):
    return encode(game, states)[:, :, 0, 0]


def test_nim_shows_who_moves_and_its_stones_in_digits():
    (seen,) = numbers(Nim(), Nim().position([2, 2]).record())
    assert planes_of(Nim()) == (46, 1, 1)
    assert seen[:2].tolist() == [1.0, 0.0]
    assert np.isclose(seen[2], np.arcsinh(15) / np.arcsinh(2**31 - 1)) and seen[3] == 0.0
    assert seen[4:].tolist() == [1.0] * 4 + [0.0] * 38, "15 stones in 32 digits, then player 0 as an i1"
    (seen,) = numbers(Nim(), Nim().position([0]).record())
    assert seen[:2].tolist() == [0.0, 1.0] and seen[4:9].tolist() == [0.0, 0.0, 1.0, 0.0, 1.0]


def test_fields_come_in_order_without_padding_and_tag():
    assert any(name.startswith("pad:") for name in Fields.record.names)
    names = [".".join(leaf.path) for leaf in leaves_of(Fields.record)]
    assert names == ["turn", "board", "heat", "is_new", "stones", "places.row", "places.weight", "bits"]
    widths = [10, 6 * 9, 4, 1, 66, 2 * 10, 4, 65]
    assert [leaf.size * leaf.width for leaf in leaves_of(Fields.record)] == widths
    game = Fields()
    states = np.repeat(game.start().record(), 3)
    states["heat"][1] = [[0.0, 1.0], [-2.0, 1e300]]
    states["is_new"][1], states["bits"][1] = True, 2**63 + 1
    states["places"]["weight"][1, 1] = [np.nan, np.inf]
    seen = numbers(game, states)
    assert seen.shape == (3, 2 + sum(widths)) and np.isfinite(seen).all()
    assert np.array_equal(seen[0], seen[2]) and not np.array_equal(seen[0], seen[1])
    heat = 2 + widths[0] + widths[1]
    assert np.allclose(seen[1, heat : heat + 4], np.arcsinh([0.0, 1.0, -2.0, 1e300])) and seen[1, heat + 4] == 1.0
    assert seen[1, -64:].tolist() == [1.0] + [0.0] * 62 + [1.0]


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@given(data=st.data())
def test_whole_numbers_can_be_read_from_their_digits(kind, data):
    limits = np.iinfo(kind)
    value = data.draw(st.integers(int(limits.min), int(limits.max)) | st.sampled_from([int(limits.min), 0, int(limits.max)]))
    ((shown,),) = numbers_of(np.array([[value]], kind)).tolist()
    size, *rest = shown
    sign = -1 if limits.min < 0 and rest.pop(0) else 1
    assert sign * sum(int(digit) << place for place, digit in enumerate(rest)) == value
    assert abs(size) < 1.01 and np.sign(size) == np.sign(value)


def test_where_chance_or_everybody_moves_no_player_is_marked():
    assert numbers(Pig(), Pig().start().record())[0, :2].tolist() == [1.0, 0.0]
    assert not numbers(Pig(), Pig().position([0]).record())[0, :2].any(), "the die rolls"
    assert not numbers(Goofspiel(), Goofspiel().start().record())[0, :2].any()
    assert numbers(TriNim(), TriNim().position([0, 0]).record())[0, :3].tolist() == [0.0, 0.0, 1.0]


def test_many_states_are_shown_as_each_one_by_itself():
    states = played(Pig(), 9)
    seen = encode(Pig(), states)
    assert seen.dtype == np.float32 and seen.shape == (9, *planes_of(Pig()))
    assert all(np.array_equal(seen[i], encode(Pig(), states[i : i + 1])[0]) for i in range(9))
    assert encode(Pig(), states[:0]).shape == (0, *planes_of(Pig()))


def test_a_record_has_no_sides():
    ways = symmetries_of(Nim())
    assert ways.points.tolist() == [[0]] and ways.actions.tolist() == [[0, 1, 2]]


def test_a_record_that_is_too_large_is_refused():
    state = np.dtype([("stones", "i4"), ("turn", "i1"), ("heat", "f4", (100_000,))])
    game = type("Large", (Nim,), {"state": state})()
    wanted = rf"Large\(\) has no `planes`, and its record of 100,002 values .*; at most {MOST_NUMBERS:,}\): give it `planes ="
    with pytest.raises(ab.errors.GameError, match=wanted):
        encode(game, game.start().record())


def test_a_field_that_is_no_number_is_refused():
    game = type("Named", (Nim,), {"state": np.dtype([("stones", "i4"), ("turn", "i1"), ("name", "S4")])})()
    with pytest.raises(ab.errors.GameError, match=r"networks cannot see its field `name`, which is \|S4: give it `planes ="):
        encode(game, game.start().record())
