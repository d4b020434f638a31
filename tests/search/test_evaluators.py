"""Evaluators in Python: what they are given, what they may answer, and what happens when they answer nonsense."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import Nim, Pig, PyRat, TicTacToe, Treasure, TriNim
from anabranch.search.evaluate.python import read_answer
from tests.conftest import in_soak
from tests.search.games import Board, Percent
from tests.search.trees import read_tree


def uniform(states):
    return np.full((1, 9), 1 / 9), np.zeros(1)


# --- what it is given, what it means ---


def test_it_is_given_an_array_of_one_record_that_it_may_keep():
    seen = []

    def evaluate(states):
        seen.append(states)
        return uniform(states)

    ab.Search(TicTacToe(), evaluate=evaluate).run(visits=20)
    assert {states.shape for states in seen} == {(1,)}
    assert all(states.dtype == TicTacToe().record for states in seen)
    assert len({states.tobytes() for states in seen}) == len(seen)


def test_it_is_given_a_list_of_one_object_in_a_game_of_objects():
    seen = []

    def evaluate(positions):
        seen.append(positions)
        return None, [0.0]

    ab.Search(Board, evaluate=evaluate).run(visits=20)
    assert all(type(positions) is list and len(positions) == 1 for positions in seen)
    assert len({positions[0].cells for positions in seen}) > 10


@in_soak
def test_it_is_asked_once_for_each_new_position_and_never_where_the_game_is_over():
    calls = []

    def evaluate(states):
        calls.append(states)
        assert states["stones"][0] > 0
        return None, [0.0]

    search = ab.Search(Nim(), evaluate=evaluate)
    six_left = Nim().position(["3"] * 5)
    result = search.run(six_left, visits=500)
    assert result.stats.evaluations == len(calls) < 100
    assert result.stats.nodes == len(read_tree(search))


@in_soak
def test_values_are_for_the_player_to_move():
    """Who faces a multiple of four loses: an evaluator that knows this makes few simulations enough, whoever moves."""

    def wise(states):
        return None, [-1.0 if states["stones"][0] % 4 == 0 else 1.0]

    for taken in range(1, 9):
        position = Nim().position(["1"] * taken)
        result = ab.Search(Nim(), evaluate=wise).run(position, visits=60)
        right = (21 - taken) % 4
        assert result.value > 0.0 if right else result.value < 0.0
        assert not right or result.best_name == str(right)


def test_priors_lead_the_search():
    def fond_of_the_corner(states):
        return np.array([[0.9, *[0.0125] * 8]]), [0.0]

    search = ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=fond_of_the_corner)
    result = search.run(visits=50)
    assert result.best == 0
    assert result.moves[0].prior == pytest.approx(0.9)


def test_priors_of_illegal_actions_are_left_out_and_the_others_add_up_to_1():
    search = ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=uniform)
    result = search.run(TicTacToe().position(["b2"]), visits=10)
    assert {move.action: move.prior for move in result.moves} == pytest.approx(dict.fromkeys([0, 1, 2, 3, 5, 6, 7, 8], 1 / 8))


@pytest.mark.parametrize("priors", [None, np.ones((1, 9)), [[1] * 9], np.full((1, 9), 0.001, np.float32)])
@pytest.mark.parametrize("values", [[0.5], (0.5,), np.array([0.5], np.float32), np.array([[0.5]])])
def test_answers_may_be_arrays_or_lists_and_priors_may_be_left_out(priors, values):
    search = ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=lambda states: (priors, values))
    search.run(visits=1)
    root = read_tree(search)[0]
    assert root.value == (0.5,)
    assert [edge.prior for edge in root.edges] == pytest.approx([1 / 9] * 9)


def test_with_three_players_there_is_one_value_a_player():
    def evaluate(states):
        return None, [[0.3, -0.1, 0.2]]

    search = ab.Search(TriNim(), evaluate=evaluate)
    search.run(visits=1)
    assert read_tree(search)[0].value == (0.3, -0.1, 0.2)


def test_chance_keeps_its_probabilities_whatever_the_priors():
    search = ab.Search(Pig(), evaluate=lambda states: (np.array([[1.0, 0.0]]), [0.0]), select=ab.PUCT())
    search.run(visits=100)
    at_chance = [node for node in read_tree(search) if node.player == ab.CHANCE and node.edges]
    assert at_chance
    for node in at_chance:
        assert [edge.prior for edge in node.edges] == pytest.approx([1 / 6] * 6)


def test_the_tree_is_no_deeper_than_asked():
    search = ab.Search(TicTacToe(), evaluate=uniform, expand=ab.select.Expansion(depth=2))
    search.run(visits=300)
    assert all(edge.child is None for node in read_tree(search)[1:] for edge in node.edges)


# --- nonsense ---


def raising(states):
    raise KeyError("weights")


NONSENSE = {
    "raised KeyError: 'weights'": raising,
    "returns (priors, values), but this one returned float": lambda states: 0.5,
    "returns (priors, values), but this one returned NoneType": lambda states: None,
    "returned tuple": lambda states: (None, [0.0], [0.1], "more"),
    "priors have the shape (9,)": lambda states: (np.ones(9), [0.0]),
    "priors have the shape (1, 10)": lambda states: (np.ones((1, 10)), [0.0]),
    "values have the shape (2,)": lambda states: (None, [0.0, 0.0]),
    "values have the shape ()": lambda states: (None, 0.0),
    "priors hold NaN or infinity": lambda states: (np.full((1, 9), np.nan), [0.0]),
    "values hold NaN or infinity": lambda states: (None, [np.inf]),
    "gave every legal action the prior 0": lambda states: (np.zeros((1, 9)), [0.0]),
    "gave a negative prior": lambda states: (np.full((1, 9), -1.0), [0.0]),
    "gave a prior of 1e+308; priors are probabilities": lambda states: (np.full((1, 9), 1e308), [0.0]),
    "priors are not numbers": lambda states: ([["a"] * 9], [0.0]),
    "values are not numbers": lambda states: (None, ["high"]),
}


@pytest.mark.parametrize("calls_before", [0, 1, 7], ids=["at the root", "at the first leaf", "later"])
@pytest.mark.parametrize(("message", "nonsense"), NONSENSE.items(), ids=NONSENSE)
def test_nonsense_is_told_and_the_search_is_usable_afterwards(message, nonsense, calls_before):
    calls = 0

    def evaluate(states):
        nonlocal calls
        calls += 1
        return nonsense(states) if calls == calls_before + 1 else uniform(states)

    search = ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=evaluate)
    with pytest.raises(ab.errors.EvaluatorError) as told:
        search.run(visits=20)
    assert message in str(told.value)
    before = 0 if search.rooted.root < 0 else int(read_tree(search)[0].visits) - 1
    result = search.run(visits=20)
    assert result.stats.simulations == 20
    assert result.visits.sum() == before + 20


def test_priors_that_are_0_on_what_is_legal_only_there_are_told_as_well():
    def only_the_centre(states):
        priors = np.zeros((1, 9))
        priors[0, 4] = 1.0
        return priors, [0.0]

    with pytest.raises(ab.errors.EvaluatorError, match="return None instead of priors"):
        ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=only_the_centre).run(TicTacToe().position(["b2"]), visits=5)


def test_one_value_is_not_enough_for_three_players():
    with pytest.raises(ab.errors.EvaluatorError, match=r"values have the shape \(1, 1\); for one position it is \(1, 3\)"):
        ab.Search(TriNim(), evaluate=lambda states: (None, [[0.0]])).run(visits=5)


# --- which rule goes with an evaluator ---


@pytest.mark.parametrize(
    ("evaluate", "rule"),
    [
        (None, ab.UCT()),
        (ab.Rollout(), ab.UCT()),
        (ab.Uniform(), ab.UCT()),
        (uniform, ab.PUCT()),
        (lambda states: (None, np.zeros(len(states))), ab.PUCT()),
        (ab.Network(uniform, game=TicTacToe()), ab.PUCT()),
    ],
    ids=["nothing", "Rollout", "Uniform", "function", "function without priors", "Network"],
)
def test_the_rule_follows_what_the_evaluator_gives(evaluate, rule):
    """PUCT where there are priors, and where a function may give some: if it answers None instead, they are uniform."""
    assert ab.Search(TicTacToe(), evaluate=evaluate).options.select == rule
    assert ab.Search(TicTacToe(), evaluate=evaluate, select=ab.UCT()).options.select == ab.UCT()


def test_priors_are_not_ignored_where_no_rule_is_given():
    def fond_of_the_corner(states):
        return np.tile([0.92, *[0.01] * 8], (len(states), 1)), np.zeros(len(states))

    visits = ab.Search(TicTacToe(), evaluate=fond_of_the_corner).run(visits=40).visits
    assert visits[0] > 30


def test_priors_that_are_told_are_not_ignored_either():
    search = ab.Search(TicTacToe())
    for _ in range(40):
        leaves = search.ask(1)
        search.tell(leaves, np.tile([0.92, *[0.01] * 8], (len(leaves), 1)), np.zeros(len(leaves)))
    assert search.result().visits[0] > 20
    assert search.result().settings["select"] == repr(ab.PUCT())


# --- values that no position has ---


@in_soak
@pytest.mark.parametrize(
    ("game", "moves", "value"),
    [
        (TicTacToe(), [], 1.5),
        (Percent(), [], -50.0),  # pays the first player 0 to 100,
        (Percent(), [0], 50.0),  # and so the second one -100 to 0
    ],
)
def test_values_out_of_range_are_refused_as_those_of_networks_are(game, moves, value):
    width = game.value_width()
    search = ab.Search(game, evaluate=lambda states: (None, np.full((len(states), width), value)))
    with pytest.raises(ab.errors.EvaluatorError, match=f"gave a value of {value:g}, and .* pays from"):
        search.run(game.position(moves), visits=5)


def test_what_is_still_to_come_lies_within_what_a_game_pays_in_all():
    """PyRat pays on the way: whoever has some of the five pieces of cheese already can get no more than the others. Treasure
    has a discount, so that what comes later is worth more by then."""
    maze = PyRat(width=5, height=5, cheese=5)
    read_answer((None, [[5.0, -5.0]]), 1, maze, 2)
    for value in (5.5, -1000.0):
        with pytest.raises(ab.errors.EvaluatorError, match=f"gave a value of {value:g}, and .* pays from -5 to 5"):
            read_answer((None, [[0.0, value]]), 1, maze, 2)
    read_answer((None, [1000.0]), 1, Treasure(), 1)


@in_soak
@pytest.mark.parametrize(("moves", "value"), [([], 80.0), ([0], -20.0)])
def test_values_are_in_the_view_of_who_moves(moves, value):
    game, first = Percent(), len(moves)
    search = ab.Search(game, evaluate=lambda states: (None, np.where(states["turn"] == first, value, -value)))
    assert search.run(game.position(moves), visits=1).stats.simulations == 1
