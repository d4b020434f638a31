"""Whose value is it? Views, units and players; what a search must find; counters that do not stop."""

import functools
import math

import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Nim, Pig, TicTacToe, Treasure, TriNim
from anabranch.jit import COMPILED
from anabranch.search.results.read import edge_records
from tests.conftest import in_soak, when_compiled
from tests.search.games import Duel, Percent, Trio
from tests.search.trees import read_tree

VISITS = 3000 if COMPILED else 200
ENOUGH = 30_000 if COMPILED else 600  # for the 243 lines of Duel and Trio
SELECTS = pytest.mark.parametrize("select", [ab.UCT(), ab.PUCT()], ids=["UCT", "PUCT"])


def tictactoe(drawing):
    """The position on a drawn board, x first."""
    cells = drawing.split()
    assert len(cells) == 9
    stones = [[cell for cell in range(9) if cells[cell] == side] for side in "xo"]
    moves = [stones[ply % 2][ply // 2] for ply in range(sum(map(len, stones)))]
    return TicTacToe().position(moves)


# --- two players ---

WON_IN_ONE = """
    x x .
    o o .
    . . .
"""
WON_IN_ONE_FOR_O = """
    x x .
    o o .
    x . .
"""
LOST_IN_TWO = """
    x . x
    . o .
    o . x
"""


@SELECTS
@pytest.mark.parametrize(("drawing", "best"), [(WON_IN_ONE, "c1"), (WON_IN_ONE_FOR_O, "c2")], ids=["x", "o"])
def test_a_win_in_one_is_found_and_worth_1_to_the_player_who_has_it(drawing, best, select):
    result = ab.Search(TicTacToe(), select=select).run(tictactoe(drawing), visits=VISITS)
    assert result.best_name == best
    assert result.value > 0.85
    assert result.moves[0].value == 1.0


@SELECTS
def test_a_lost_position_is_worth_minus_1_to_the_player_in_it(select):
    result = ab.Search(TicTacToe(), select=select).run(tictactoe(LOST_IN_TWO), visits=VISITS)
    assert result.value < -0.8


@when_compiled
@SELECTS
def test_nim_is_won_by_leaving_a_multiple_of_four(select):
    for stones in (9, 10, 11):
        position = functools.reduce(lambda position, _: position.play("1"), range(21 - stones), Nim().start())
        result = ab.Search(Nim(), select=select).run(position, visits=VISITS)
        assert int(result.best_name) == stones % 4
        assert result.value > 0.5


# With so much exploration every line is followed to its end many times, and maxima are exact but for rounding.
EVERY_LINE = {"select": ab.UCT(c=50.0), "backup": ab.backup.Max(), "final": ab.final.ByValue(floor=0.0)}


@functools.cache
def minimax(position):
    """What each player gets in all if everyone plays their best."""
    if position.is_over:
        return tuple(before + end for before, end in zip(position.rewards, position.returns, strict=True))
    return max((minimax(position.play(action)) for action in position.legal_actions), key=lambda value: value[position.to_play])


@pytest.mark.when_compiled
def test_maximum_backups_are_exact_where_players_do_not_alternate():
    """The wrong player's value, backed up anywhere, would show."""
    start = Duel().start()
    position = start
    while not position.is_over:
        result = ab.Search(Duel(), **EVERY_LINE).run(position, visits=ENOUGH)
        assert result.value == pytest.approx(minimax(position)[position.to_play], abs=1e-9)
        position = position.play(result.best)
        assert minimax(position) == minimax(start)
    assert {start.play(0).to_play, start.play(0).play(0).to_play} == {0, 1}


def test_maximum_backups_are_exact_for_three_players():
    start = Trio().start()
    result = ab.Search(Trio(), **EVERY_LINE).run(start, visits=ENOUGH)
    assert result.value == pytest.approx(minimax(start), abs=1e-9)
    assert minimax(start.play(result.best)) == minimax(start)


@when_compiled
@SELECTS
def test_mean_backups_find_the_same_line(select):
    result = ab.Search(Duel(), select=select).run(visits=ENOUGH)
    assert tuple(Duel().position(result.pv).returns) == minimax(Duel().start())


# --- one player, three players, chance ---


def test_with_three_players_a_value_is_one_number_a_player():
    position = TriNim(stones=4).position(["1"])  # player 1 takes the other three
    result = ab.Search(TriNim(stones=4)).run(position, visits=VISITS)
    assert result.best_name == "3"
    assert result.value == pytest.approx([-0.5, 1.0, -0.5], abs=0.15)
    assert result.moves[0].value == 1.0


@pytest.mark.parametrize("steps", [2, 4])
def test_with_one_player_rewards_on_the_way_are_discounted_and_counted_once(steps):
    start = Treasure(steps).start()
    result = ab.Search(Treasure(steps), **EVERY_LINE).run(visits=ENOUGH)
    assert result.value == pytest.approx(minimax(start)[0], abs=1e-9)
    assert minimax(start.play(result.best)) == minimax(start)


def test_at_chance_the_value_is_the_mean_by_probability():
    """18 to 0 of 20 with the die in the air: a 1 passes the turn, any other face is enough to win."""
    position = Pig().position(["roll", "6", "roll", "6", "roll", "6", "hold", "roll", "1", "roll"])
    result = ab.Search(Pig()).run(position, visits=VISITS)
    assert result.visits.sum() == VISITS
    assert result.visits == pytest.approx([VISITS / 6] * 6, abs=4 * math.sqrt(VISITS * 5 / 36))  # four standard deviations
    assert result.value > 0.6


# --- units ---


@when_compiled
@SELECTS
@pytest.mark.parametrize("moves", [["a1", "b2", "b1", "c1"], ["a1"]], ids=["first player", "second player"])
def test_values_that_are_not_centred_on_0_are_searched_alike(select, moves):
    """In positions where one move alone does not lose: a3 against the diagonal, b2 against the corner."""
    plain = ab.Search(TicTacToe(), select=select).run(TicTacToe().position(moves), visits=20_000)
    percent = ab.Search(Percent(), select=select).run(Percent().position(moves), visits=20_000)
    middle = 50.0 if len(moves) % 2 == 0 else -50.0  # for the player to move
    assert percent.best == plain.best
    assert percent.policy == pytest.approx(plain.policy, abs=0.08)
    assert percent.value == pytest.approx(middle + 50.0 * plain.value, abs=3.0)


@in_soak
@pytest.mark.parametrize("fpu", [ab.select.ParentFPU(), ab.select.ReducedFPU()])
def test_an_untried_edge_is_as_good_as_its_parent_and_not_0(fpu):
    """With values around 50, a first-play urgency of 0 would keep the search on the first edge it tried."""
    result = ab.Search(Percent(), select=ab.PUCT(fpu=fpu)).run(visits=200)
    assert (result.visits > 0).all()


# --- counters ---


def test_counters_go_on_beyond_2_to_the_24():
    """Where a float of 32 bits stops counting."""
    search = ab.Search(TicTacToe(), seed=2)
    search.run(visits=500)
    many = 2**24
    root = search.rooted.graph.nodes[search.rooted.root : search.rooted.root + 1]
    edges = edge_records(search.rooted.graph, search.rooted.root)
    before = edges["visits"].copy()
    edges["visits"] += many
    edges["total"] += many
    root["visits"] += 9 * many
    result = search.run(visits=100)
    assert result.visits.sum() == 9 * many + 600
    assert root["visits"][0] == 9 * many + 601
    assert sorted(edges["visits"] - many - before)[-1] > 0
    assert read_tree(search)[0].own == 1


# --- whole games ---


@when_compiled
@SELECTS
@pytest.mark.parametrize("own", [0, 1], ids=["first", "second"])
def test_it_never_loses_tic_tac_toe_whatever_the_opponent_does(own, select):
    search = ab.Search(TicTacToe(), select=select, seed=own, memory="50MB")
    seen = set()
    open_positions = [TicTacToe().start()]
    while open_positions:
        position = open_positions.pop()
        if position in seen:
            continue
        seen.add(position)
        if position.is_over:
            assert position.returns[own] >= 0.0, f"lost:\n{position}"
        elif position.to_play == own:
            open_positions.append(position.play(search.run(position, visits=2000).best))
        else:
            open_positions.extend(position.play(action) for action in position.legal_actions)
    assert len(seen) > 100


def test_the_principal_variation_is_a_legal_line_and_begins_with_the_best_action():
    for game in (ConnectFour(), Pig(), TriNim(), Treasure()):
        search = ab.Search(game, seed=3)
        result = search.run(visits=VISITS)
        assert result.pv[0] == result.best
        assert len(result.pv) == result.stats.depth > 1
        game.position(result.pv)  # raises IllegalMove if it is not
        node = read_tree(search)[0]
        for action in result.pv:
            followed = next(edge for edge in node.edges if edge.action == action)
            assert followed.visits == max(edge.visits for edge in node.edges)
            node = followed.child
        assert node is None or all(edge.visits == 0 for edge in node.edges)
        for move in result.moves:
            position = game.start()
            for name in move.pv:
                position = position.play(name.strip("[]"))
