"""PyRat before the slow game of `tests/reference/pyrat.py`: random games, playouts and keys."""

import itertools
import random

import numpy as np
import pytest
from tests.conftest import in_soak, when_compiled
from tests.reference.pyrat import SlowPyRat

import anabranch as ab
from anabranch.games import PyRat, rules
from anabranch.games.playout import RandomPolicy, pick
from anabranch.games.pyrat import Nearest, PyRat64, PyRat1280
from anabranch.games.pyrat.greedy import ways
from anabranch.games.pyrat.keys import hash_board
from anabranch.games.pyrat.layout import flip
from anabranch.games.simultaneous import PerPlayer, pick_for
from anabranch.jit import COMPILED, kernel, readable
from anabranch.jit.random import generator

BOARDS = [
    {"preset": "5x5"},
    {"preset": "7x7"},
    {"width": 8, "height": 8, "cheese": 20, "mud": 0.5, "walls": 0.5, "max_turns": 100},
    {"width": 7, "height": 9, "cheese": 5, "mud": 1.0, "walls": 1.0, "max_turns": 300},
    {"preset": "tiny"},
    {"preset": "small"},
    {"preset": "default"},
    {"width": 63, "height": 5, "cheese": 31, "max_turns": 200},
    {"width": 1, "height": 40, "cheese": 12, "walls": 0.3},
    {"preset": "large"},
    {"preset": "huge"},
]
GAMES = 30 if COMPILED else 2


def slow_game(game):
    """The same game, slowly."""
    maze = game.maze

    def at(cell):
        return cell % maze.width, cell // maze.width

    return SlowPyRat(
        maze.width,
        maze.height,
        [(at(low), at(high)) for low, high in maze.walls],
        {(at(low), at(high)): turns for (low, high), turns in maze.mud.items()},
        [at(cell) for cell in maze.cheese],
        tuple(at(cell) for cell in maze.starts),
        game.max_turns,
    )


def boards(count):
    """Each of the boards, so many times."""
    return [
        pytest.param({**options, "seed": seed}, id=f"{' '.join(map(str, options.values()))} {seed}")
        for options in BOARDS
        for seed in range(count if COMPILED else 1)
    ]


@kernel
def replay(states, actions, places, stuck, points, left, over, rewards, edges, counts, keys):
    """Play pairs of actions from states[0] and write down what the rules say after each of them, and before the first."""
    states[1] = states[0]
    state = states[1]
    for turn in range(len(actions) + 1):
        for player in range(2):
            places[turn, player], stuck[turn, player] = state.place[player], state.stuck[player]
            points[turn, player] = state.points[player]
        left[turn] = state.left
        over[turn] = rules.is_over(state)
        counts[turn] = rules.legal_actions(state, edges[turn])
        keys[turn, 0], keys[turn, 1] = rules.key(state)
        if turn < len(actions):
            rules.play(state, actions[turn], rewards[turn])


def any_action(slow, player, chooser):
    """One of five."""
    return chooser.randrange(5)


def lively_action(slow, player, chooser):
    """Often towards cheese, so that games end in all ways."""
    if chooser.random() < 0.5 or slow.waiting[player]:
        return chooser.randrange(5)
    return chooser.choice(sorted(slow.steps_to_nearest_cheese(player)))


@pytest.mark.parametrize("options", boards(2))
def test_compiled_games_are_those_of_the_slow_game(options):
    game = PyRat(**options)
    chooser = random.Random(str(options))
    states = np.concatenate([game.start().record()] * 2)
    large = game.maze.cells > 200
    for number in range(1 if large else GAMES // 3 + 1):
        slow, told, collected, pairs = slow_game(game), [], [], []
        is_lively = number % 2 == 0 and not large
        while True:
            told.append((slow.facts(), slow.is_over(), slow.outcomes(0), slow.outcomes(1)))
            if slow.is_over():
                break
            act = lively_action if is_lively else any_action
            pairs.append((act(slow, 0, chooser), act(slow, 1, chooser)))
            collected.append([float(share) for share in slow.play(pairs[-1])])
        turns = len(pairs)
        places, stuck, points = np.zeros((3, turns + 1, 2), np.int64)
        left, counts = np.zeros((2, turns + 1), np.int64)
        over, rewards = np.zeros(turns + 1, bool), np.zeros((turns, 2))
        edges, keys = np.zeros((turns + 1, 25), np.int64), np.zeros((turns + 1, 2), np.uint64)
        actions = np.array([5 * first + second for first, second in pairs])
        replay(states, actions, places, stuck, points, left, over, rewards, edges, counts, keys)
        assert rewards.tolist() == collected
        for turn, ((where, waiting, cheese, scores, _), end, first, second) in enumerate(told):
            assert [divmod(cell, game.maze.width)[::-1] for cell in places[turn]] == list(where)
            assert tuple(stuck[turn]) == waiting
            assert tuple(points[turn] / 2) == scores and left[turn] == len(cheese)
            assert over[turn] == end
            assert edges[turn, : counts[turn]].tolist() == [5 * a + b for a in sorted(first) for b in sorted(second)]
        assert len({tuple(key) for key in keys.tolist()}) == turns + 1  # the turn is in the key


@pytest.mark.when_compiled
@pytest.mark.parametrize("options", [{"preset": "5x5"}, {"width": 8, "height": 8, "cheese": 20, "mud": 0.5, "max_turns": 60}])
def test_plain_games_are_those_of_the_slow_game(options):
    for seed in range(5):
        game = PyRat(**options, seed=seed)
        slow, position, chooser = slow_game(game), game.start(), random.Random(seed)
        while not slow.is_over():
            assert not position.is_over
            assert [position.outcomes(player) for player in range(2)] == [slow.outcomes(0), slow.outcomes(1)]
            pair = lively_action(slow, 0, chooser), lively_action(slow, 1, chooser)
            position = position.play(pair)
            slow.play(pair)
            assert position.rewards == tuple(map(float, slow.scores))
        assert position.is_over


# --- keys ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"preset": "5x5"}, {"width": 9, "height": 9, "cheese": 12, "mud": 0.4, "max_turns": 80}])
@pytest.mark.parametrize("turn_in_key", [True, False])
def test_keys_are_equal_exactly_where_all_that_matters_is(options, turn_in_key):
    game = PyRat(**options, turn_in_key=turn_in_key)
    facts_of, key_of, merges = {}, {}, 0
    for number in range(40 if COMPILED else 8):
        chooser = random.Random(number)
        slow, position = slow_game(game), game.start()
        for _ in range(12):
            facts = slow.facts() if turn_in_key else slow.facts()[:-1]
            merges += facts in key_of and slow.turn > 0
            for half in enumerate(position.key):  # each of them would do for a while
                assert facts_of.setdefault(half, facts) == facts
            assert key_of.setdefault(facts, position.key) == position.key
            if slow.is_over():
                break
            pair = chooser.randrange(5), chooser.randrange(5)
            position = position.play(pair)
            slow.play(pair)
    assert merges > (5 if COMPILED else 1)


def test_the_hash_of_maze_and_cheese_is_kept_up_to_date():
    game = PyRat(preset="tiny", walls=0.0)
    position, random_numbers = game.start(), generator(3)
    for _ in range(30):
        if position.is_over:
            break
        with np.errstate(over="ignore"):
            position = position.after(pick(Nearest(), readable(position.record())[0], random_numbers))
            state = readable(position.record())[0]
            kept = state.hash.tolist()
            hash_board(state)
            assert state.hash.tolist() == kept
    assert position.state.left < 10


def test_the_order_of_moves_does_not_matter_to_the_key():
    game = PyRat(5, 5, cheese=[(1, 0), (0, 1), (4, 4), (4, 3), (3, 4)], walls=0, mud=0, starts=[(0, 0), (2, 2)], max_turns=9)
    one = game.position(["right/up", "left/stay", "up/stay", "right/stay"])
    other = game.position(["up/stay", "down/stay", "right/up", "up/stay"])
    assert one.state.place.tolist() == other.state.place.tolist() and one.moves != other.moves
    assert one.key == other.key and one == other


def test_positions_that_differ_in_the_cheese_alone_have_keys_of_which_both_halves_differ():
    game = PyRat(5, 5, cheese=[(1, 0), (0, 1), (4, 4)], walls=0, mud=0, starts=[(0, 0), (2, 2)], max_turns=9)
    one, other = game.position(["right/stay", "left/stay"]), game.position(["up/stay", "down/stay"])
    for name in ("place", "points", "stuck", "left", "turn"):
        assert np.all(one.state[name] == other.state[name])
    assert one.key[0] != other.key[0] and one.key[1] != other.key[1]


def test_positions_that_differ_in_the_scores_alone_have_different_keys():
    game = PyRat(3, 3, cheese=[(1, 1), (0, 2), (2, 0), (1, 2)], walls=0, mud=0, starts=[(0, 1), (2, 1)], max_turns=9)
    mine = game.position(["right/stay", "left/stay"])
    theirs = game.position(["stay/left", "stay/right"])
    assert (
        mine.state.place.tolist() == theirs.state.place.tolist() and mine.state.cheese.tolist() == theirs.state.cheese.tolist()
    )
    assert mine.key != theirs.key


def test_the_turn_is_in_the_key_unless_told_otherwise():
    for turn_in_key in (True, False):
        game = PyRat(preset="5x5", turn_in_key=turn_in_key)
        assert (game.start().key != game.position(["stay/stay"]).key) == turn_in_key


@kernel
def key_of(states):
    """The key of states[0]."""
    return rules.key(states[0])


def test_the_key_tells_the_largest_numbers_apart():
    game = PyRat(preset="huge", max_turns=1000)
    keys = set()
    for turn, cell, points in itertools.product((0, 1, 511, 512, 999, 1000), (0, 1023, 1270), (0, 2048, 2560)):
        states = game.start().record()
        states["turn"], states["place"][0, 1], states["points"][0, 0] = turn, cell, points
        compiled = tuple(int(half) for half in key_of(states))
        assert compiled == tuple(int(half) for half in game.ask("key", readable(states)[0]))
        keys.add(compiled)
    assert len(keys) == 6 * 3 * 3


# --- playouts -----------------------------------------------------------------------------------------------------------------


@kernel
def picks(states, policy, first, second, both, random):
    """What a policy picks for one player, for the other, and for both at once, again and again."""
    for i in range(len(first)):
        first[i] = pick_for(policy, states[0], 0, random)
        second[i] = pick_for(policy, states[0], 1, random)
        both[i] = pick(policy, states[0], random)


@pytest.mark.parametrize("options", boards(1))
def test_nearest_takes_the_first_steps_of_shortest_ways_each_of_them_sometimes(options):
    game = PyRat(**options)
    slow, position, chooser = slow_game(game), game.start(), random.Random(str(options))
    numbers = generator(1)
    for turn in range(10 if not COMPILED or game.maze.cells > 320 else 40):
        if slow.is_over():
            break
        first, second, both = np.zeros((3, 60 if COMPILED else 8), np.int64)
        states = position.record()
        picks(states, Nearest(), first, second, both, numbers)
        assert states.tobytes() == position.data  # scratch is left as it was
        wanted = [{4} if slow.waiting[player] else slow.steps_to_nearest_cheese(player) for player in range(2)]
        assert set(first) | set(both // 5) <= wanted[0] and set(second) | set(both % 5) <= wanted[1], turn
        if COMPILED:
            assert set(first) == wanted[0] and set(second) == wanted[1]
        picks(states, Nearest(lowest=True), first, second, both, numbers)
        assert set(first) == {min(wanted[0])} == set(both // 5) and set(second) == {min(wanted[1])} == set(both % 5)
        pair = lively_action(slow, 0, chooser), lively_action(slow, 1, chooser)
        slow.play(pair)
        position = position.play(pair)


@kernel
def all_ways(states, places, cheese, found):
    """The first steps from each place to the one cheese that there is."""
    for i in range(len(places)):
        states[1] = states[0]
        flip(states[1].cheese, cheese[i])
        found[i] = ways(states[1], places[i], places[i])


@pytest.mark.parametrize(("width", "height"), [(8, 8), (13, 10), (9, 33), (60, 4)])
def test_shortest_ways_are_found_from_anywhere_to_anywhere(width, height):
    game = PyRat(width, height, cheese=2, walls=0.4, mud=0.4, seed=1)
    cells = width * height
    chooser = random.Random(width)
    places = np.array(sorted(set(range(cells)) if COMPILED else set(chooser.sample(range(cells), 12))))
    cheese = np.array([chooser.choice([cell for cell in range(cells) if cell != place]) for place in places])
    states = np.concatenate([game.start().record()] * 2)
    states["cheese"] = 0
    found = np.zeros(len(places), np.int64)
    all_ways(states, places, cheese, found)
    slow = slow_game(game)
    for place, target, steps in zip(places, cheese, found, strict=True):
        slow.places[0], slow.cheese = divmod(int(place), width)[::-1], {divmod(int(target), width)[::-1]}
        assert {action for action in range(4) if steps >> action & 1} == slow.steps_to_nearest_cheese(0)


@kernel
def playouts(states, policy, turns, rewards, random):
    """Playouts from states[0]."""
    for i in range(len(turns)):
        states[1] = states[0]
        while not rules.is_over(states[1]):
            rules.play(states[1], pick(policy, states[1], random), rewards[i])
            turns[i] += 1


POLICIES = [
    Nearest(),
    PerPlayer(Nearest(), RandomPolicy()),
    *(pytest.param(policy, marks=in_soak) for policy in (PerPlayer(Nearest(), Nearest()), PerPlayer(), RandomPolicy())),
]


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_playouts_come_to_an_end_and_greed_pays(policy):
    game = PyRat(preset="7x7")
    states = np.concatenate([game.start().record()] * 2)
    turns, rewards = np.zeros(GAMES, np.int64), np.zeros((GAMES, 2))
    playouts(states, policy, turns, rewards, generator(0))
    assert turns.max() <= 50 and rewards.sum(axis=1).max() <= 10
    assert (turns.mean() < 30) == ("Nearest" in repr(policy))
    if policy == PerPlayer(Nearest(), RandomPolicy()):
        assert rewards[:, 0].mean() > 2 * rewards[:, 1].mean()


def test_the_default_policy_is_greedy():
    assert PyRat(preset="7x7").policy == Nearest()


# --- the contract -------------------------------------------------------------------------------------------------------------


@when_compiled
@pytest.mark.parametrize(
    "game",
    [
        PyRat(preset="5x5"),
        PyRat64(8, 8, cheese=20, mud=0.5, max_turns=60),
        *(
            pytest.param(game, marks=in_soak)
            for game in (
                PyRat(preset="tiny", max_turns=60),
                PyRat1280(9, 5, cheese=5, max_turns=30),
                PyRat(preset="huge", max_turns=20),
            )
        ),
    ],
    ids=repr,
)
def test_pyrat_keeps_its_contract(game):
    report = ab.check(game, games=10)
    assert report.ok, report
