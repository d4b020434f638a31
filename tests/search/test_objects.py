"""Games of ordinary Python objects, searched through the same face."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import TicTacToe, Treasure
from anabranch.jit import COMPILED
from tests.conftest import in_soak, when_plain
from tests.search.games import Board, Coin, Take
from tests.search.trees import digest, read_tree

# --- the same evaluator for both kinds of tic-tac-toe ---


def taste(cells):
    """Priors and a value without sense, from the cells as a string of x, o and dots."""
    numbers = np.array([ord(cell) for cell in cells], float)
    priors = numbers[None] * np.arange(1.0, 10.0) % 7 + 0.1
    return priors, [float(np.sin(numbers @ np.arange(1.0, 10.0)))]


def taste_of_objects(positions):
    return taste(positions[0].cells)


def taste_of_records(states):
    first, second = (states["mover"][0], states["other"][0])[:: 1 if states["turn"][0] == 0 else -1]
    return taste(["x" if first >> cell & 1 else "o" if second >> cell & 1 else "." for cell in range(9)])


@pytest.mark.parametrize("select", [ab.UCT(), ab.PUCT()], ids=["UCT", "PUCT"])
def test_objects_and_records_of_one_game_give_the_same_tree(select):
    visits = 500 if COMPILED else 100
    objects = ab.Search(Board, select=select, evaluate=taste_of_objects, seed=6)
    records = ab.Search(TicTacToe(), select=select, evaluate=taste_of_records, seed=6)
    objects.run(Board("xo..o...x"), visits=visits)
    records.run(TicTacToe().position([0, 1, 8, 4]), visits=visits)
    assert digest(objects) == digest(records)
    assert any(node.edges == () for node in read_tree(objects))


# --- playouts ---


def test_random_playouts_of_objects_are_worth_as_much_as_the_kernels():
    flat = {"expand": ab.select.Expansion(depth=1), "select": ab.UCT(c=100.0)}  # every action as often as the others
    objects = ab.Search(Board, **flat).run(visits=4500 if COMPILED else 900)
    records = ab.Search(TicTacToe(), **flat).run(visits=45_000 if COMPILED else 900)
    slack = 0.12 if COMPILED else 0.35  # four standard errors
    by_action = {move.action: move.value for move in records.moves}
    for move in objects.moves:
        assert move.value == pytest.approx(by_action[move.action], abs=slack)


def test_the_winning_move_is_found():
    result = ab.Search(Take).run(Take(stones=6), visits=500)
    assert result.best == 1  # leaves four
    assert result.value > 0.4


def test_a_win_in_one_is_worth_1_to_either_player():
    for cells, best in (("xx.oo....", 2), ("xx.oo.x..", 5)):
        result = ab.Search(Board).run(Board(cells), visits=300)
        assert result.best == best
        assert result.value > 0.8
        assert result.best_name == Board.name_of(best)


def test_a_cut_off_playout_counts_as_the_middle_and_a_finished_one_as_what_it_pays():
    """With one stone left the playout is over after one ply; with three left it may be or not."""
    search = ab.Search(Take, evaluate=ab.Rollout(cutoff=1), expand=ab.select.Expansion(depth=1))
    search.run(Take(stones=4), visits=300)
    value_of_leaving = {3 - edge.action: edge.total[0] / edge.visits for edge in read_tree(search)[0].edges}
    assert value_of_leaving[1] == -1.0
    assert value_of_leaving[2] == pytest.approx(-1 / 2, abs=0.25)
    assert value_of_leaving[3] == pytest.approx(-1 / 3, abs=0.25)


# --- rewards ---


class Hunter:
    """`Treasure` as Python objects."""

    players, actions = 1, 4
    discount, value_range = Treasure.discount, Treasure.value_range

    def __init__(self, position=None, paid=0.0):
        self.position, self.reward = position or Treasure(steps=5).start(), paid

    def legal_actions(self):
        return self.position.legal_actions

    def to_play(self):
        return 0

    def is_over(self):
        return self.position.is_over

    def returns(self):
        return [0.0]

    def paid(self):
        return [self.reward]

    def play(self, action):
        following = self.position.play(action)
        lying = self.position.record()["lying"][0].sum() - following.record()["lying"][0].sum()
        return Hunter(following, float(lying))


@when_plain
def test_rewards_of_objects_count_as_those_of_records():
    visits = 300 if COMPILED else 60
    objects = ab.Search(Hunter, evaluate=ab.Uniform(), select=ab.PUCT(), seed=3)
    records = ab.Search(
        Treasure(steps=5), evaluate=lambda states: (None, [sum(Treasure.value_range) / 2]), select=ab.PUCT(), seed=3
    )
    objects.run(Hunter(), visits=visits)
    records.run(Treasure(steps=5).start(), visits=visits)
    assert digest(objects) == digest(records)


def test_playouts_of_objects_count_rewards():
    """With one step left a playout is that step: it pays 2 to the right, and nothing down."""
    search = ab.Search(Hunter, expand=ab.select.Expansion(depth=1))
    search.run(Hunter(Treasure(steps=2).start()), visits=200)
    value_of = {edge.action: edge.total[0] / edge.visits for edge in read_tree(search)[0].edges}
    assert value_of[1] == pytest.approx(2.0)  # and then nothing lies beside it
    assert value_of[2] == 0.0


def test_a_class_must_say_that_its_positions_pay():
    class Silent(Board):
        def __init__(self, cells="........."):
            super().__init__(cells)
            self.paid = [0.0, 0.0]

    with pytest.raises(ab.errors.GameError, match="their class does not"):
        ab.Search(Silent).run(Silent(), visits=1)


# --- chance ---


@pytest.mark.parametrize("position", [Coin(), Coin("toss")], ids=["choice", "toss"])
def test_chance_among_objects_is_drawn_by_its_probabilities(position):
    result = ab.Search(Coin).run(position, visits=400)
    if position.stage == "choice":
        assert result.best == Coin.STAKE
    else:
        assert result.visits / 400 == pytest.approx([0.25, 0.75], abs=0.1)
    assert result.value == pytest.approx(0.5, abs=0.2)
    assert str(result)


# --- the tree ---


def test_the_tree_is_kept_when_the_root_moves():
    search = ab.Search(Board)
    result = search.run(visits=300)
    search.advance(result.best)
    after = search.run(visits=10)
    assert after.stats.kept == result.visits[result.best] - 1
    assert search.position.cells.count("x") == 1


def test_an_action_must_be_legal():
    search = ab.Search(Take)
    search.run(Take(stones=2), visits=10)
    with pytest.raises(ab.errors.SearchError, match="action 2 is not legal here"):
        search.advance(2)


@pytest.mark.when_compiled
def test_when_memory_is_full_the_search_goes_on():
    search = ab.Search(Board, memory="8KB", evaluate=ab.Uniform())
    result = search.run(visits=1000)
    assert result.memory_full
    assert result.visits.sum() == 1000
    assert result.stats.bytes <= 8000


# --- what is refused ---


class Nothing:
    actions = 2

    def play(self, action):
        return self


def test_positions_that_lack_something_are_told_what():
    with pytest.raises(
        ab.errors.GameError, match="Nothing cannot be searched: it lacks legal_actions, is_over, returns, to_play"
    ):
        ab.Search(Nothing).run(visits=1)


def test_what_cannot_be_played_is_no_game():
    with pytest.raises(ab.errors.GameError, match="int cannot be searched"):
        ab.Search(7)


def test_positions_that_change_in_place_are_told_off():
    class Changing(Take):
        def play(self, action):
            self.stones -= action + 1
            return self

    with pytest.raises(ab.errors.GameError, match="must give a new position"):
        ab.Search(Changing).run(visits=5)


class Walk:
    """One step to the right or two; a position knows how it came about, and a repetition would be a draw."""

    actions, repetition = 2, "draw"

    def __init__(self, place=0, way=()):
        self.place, self.way = place, way

    def legal_actions(self):
        return [0, 1]

    def to_play(self):
        return self.place % 2

    def is_over(self):
        return self.place > 6

    def returns(self):
        return [1.0, -1.0]

    def key(self):
        return self.place

    def play(self, action):
        return Walk(self.place + 1 + action, (*self.way, action))


@in_soak
def test_on_a_graph_the_position_is_the_one_that_was_played():
    """The node may have been found by another path."""
    search = ab.Search(Walk, graph=True, evaluate=ab.Uniform())
    search.run(visits=30)
    for action in (0, 0, 1, 0):
        search.advance(action)
    assert search.position.way == (0, 0, 1, 0)


@in_soak
def test_back_remembers_what_was_played_before():
    search = ab.Search(Walk, graph=True, evaluate=ab.Uniform())
    search.run(visits=30)
    for action in (0, 0, 0):
        search.advance(action)
    search.back()
    assert len(search.rooted.history.keys) == 2
    assert search.run(visits=5).visits.sum() >= 5
