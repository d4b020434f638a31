"""Every way to run a search of simultaneous moves: reuse, batches, fleets, threads, the caller's own loop, playouts."""

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import Goofspiel, PyRat
from anabranch.games.rules import CHANCE
from anabranch.search.graph_options import grouped
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.read import edge_records
from tests.conftest import when_compiled, when_plain
from tests.reference.simultaneous import assert_pairs_add_up
from tests.search.evaluators import numbers_of

MAZE = """
+---+---+---+
| *        B|
+   +   +---+
|     *   * |
+---+   +   +
|A    *     |
+---+---+---+
"""
GAME = PyRat.drawn(MAZE, max_turns=20)
UP, RIGHT, DOWN, LEFT, STAY = range(5)


class Opinion:
    """Priors of both players' actions and two values, from a hash of the position; keeps what it was asked."""

    def __init__(self, batch=1, actions=5, scale=2.0):
        self.batch, self.actions, self.scale, self.calls = batch, actions, scale, []

    def __call__(self, states):
        numbers = numbers_of(states)
        self.calls.append(numbers.tolist())
        shifts = np.arange(2 * self.actions, dtype=np.uint64).reshape(2, -1)
        priors = 1.0 + ((numbers[:, None, None] >> shifts) % np.uint64(7)).astype(float)
        values = (numbers[:, None] >> np.array([3, 9], np.uint64)) % np.uint64(1999)
        return priors / priors.sum(axis=2, keepdims=True), self.scale * values.astype(float) / 1999.0


def search_with(evaluate=None, game=GAME, **options):
    evaluate = ab.Uniform() if evaluate is None else evaluate
    return ab.Search(game, evaluate=evaluate, memory="5MB", seed=3, **grouped({"graph": True} | options))


# --- the root moves -----------------------------------------------------------------------------------------------------------


@when_plain
@pytest.mark.parametrize("pair", [(RIGHT, LEFT), ("right", "left"), "right/left", "r/l", [np.int64(1), 3]], ids=repr)
def test_advance_takes_pairs_in_any_form_and_keeps_what_was_found(pair):
    search = search_with()
    pairs = search.run(GAME.start(), visits=60).pairs
    search.advance(pair)
    assert search.position.moves == ((RIGHT, LEFT),) and pairs[RIGHT, LEFT] > 1
    assert search.run(visits=1).stats.kept >= pairs[RIGHT, LEFT] - 1
    assert_pairs_add_up(search)


@when_plain
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_an_action_into_a_wall_follows_the_edge_of_its_outcome(graph):
    into_walls, staying = search_with(graph=graph), search_with(graph=graph)
    for search, pair in ((into_walls, ("down", "up")), (staying, ("stay", "stay"))):
        search.run(GAME.start(), visits=60)
        assert search.result().pairs[STAY, STAY] > 1
        search.advance(pair)
    assert into_walls.position.moves == ((DOWN, UP),)
    first, second = (search.run(visits=5) for search in (into_walls, staying))
    assert first.stats.kept == second.stats.kept > 0
    assert first.pairs.tolist() == second.pairs.tolist()


@when_plain
def test_what_cannot_be_played_is_refused_and_nothing_happens():
    search = search_with()
    search.run(GAME.start(), visits=10)
    for wrong in ("right", 3, (1, 2, 3), "right/sideways", (7, 0)):
        with pytest.raises(ab.errors.IllegalMove):
            search.advance(wrong)
    assert search.position == GAME.start()


@when_plain
@pytest.mark.parametrize("evaluate", [ab.Uniform(), Opinion()], ids=["uniform", "python"])
def test_back_takes_a_pair_back(evaluate):
    search = search_with(evaluate)
    before = search.run(GAME.start(), visits=40).pairs
    search.advance("right/left")
    search.run(visits=10)
    search.back()
    assert search.position == GAME.start()
    after = search.run(visits=1).pairs
    assert (after >= before).all() and after.sum() == before.sum() + 1


@when_plain
def test_total_counts_what_was_kept_and_an_action_can_be_given_more():
    search = search_with()
    search.run(GAME.start(), visits=40)
    assert search.run(total=50).pairs.sum() == 50
    assert search.run(total=50).stats.simulations == 0
    before = search.result().pairs
    after = search.run(visits=7, action="down/left").pairs  # into a wall: stay
    assert (after - before)[STAY, LEFT] == 7 and (after - before).sum() == 7


@when_plain
def test_a_game_is_played_to_its_end_with_what_was_found():
    search = search_with(select=ab.RegretMatching())
    position, played = GAME.start(), 0
    while not position.is_over:
        result = search.run(position, visits=12)
        assert all(best in position.outcomes(player) for player, best in enumerate(result.best))
        search.advance(result.best)
        position, played = search.position, played + 1
    assert 0 < played <= 20 and position.moves == search.position.moves


@when_plain
def test_luck_and_players_take_turns_at_the_root():
    game = Goofspiel(3, "random")
    search = search_with(game=game)
    result = search.run(game.start(), visits=60)
    assert search.position.to_play == CHANCE and not isinstance(result, ab.simultaneous.PairResult)
    assert result.visits.sum() == 60
    search.advance("3")
    result = search.run(visits=60)
    assert isinstance(result, ab.simultaneous.PairResult) and result.pairs.sum() == 60 + result.stats.kept
    assert sum(isinstance(move, int) for move in result.pv) > 0  # events stand between the pairs
    search.advance("3/1")
    assert search.run(visits=5).stats.kept >= 0
    assert_pairs_add_up(search)


# --- evaluators in Python -----------------------------------------------------------------------------------------------------


@when_plain
def test_priors_of_actions_that_do_the_same_are_added_up():
    wanted = np.array([[0.1, 0.3, 0.2, 0.25, 0.15], [0.4, 0.1, 0.2, 0.2, 0.1]])

    def evaluate(states):
        return np.tile(wanted, (len(states), 1, 1)), np.zeros((len(states), 2))

    first, second = search_with(evaluate).run(GAME.start(), visits=2).moves
    assert {move.action: move.prior for move in first} == pytest.approx({RIGHT: 0.3, STAY: 0.7}, abs=1e-6)
    assert {move.action: move.prior for move in second} == pytest.approx({LEFT: 0.2, STAY: 0.8}, abs=1e-6)


@when_plain
def test_priors_of_illegal_actions_do_not_count():
    game = Goofspiel(3, returns="points")
    position = game.position(["3/1"])  # hands: 1 2 and 2 3

    def evaluate(states):
        return np.tile([[0.1, 0.3, 0.6], [0.6, 0.3, 0.1]], (len(states), 1, 1)), np.zeros(len(states))

    first, second = search_with(evaluate, game).run(position, visits=2).moves
    assert {move.action: move.prior for move in first} == pytest.approx({0: 0.25, 1: 0.75}, abs=1e-6)
    assert {move.action: move.prior for move in second} == pytest.approx({1: 0.75, 2: 0.25}, abs=1e-6)


@when_plain
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda n: (np.ones((n, 5)), np.zeros((n, 2))), r"priors have the shape \(1, 5\); for one position it is \(1, 2, 5\)"),
        (lambda n: (np.ones((n, 25)), np.zeros((n, 2))), r"priors have the shape \(1, 25\)"),
        (lambda n: (np.ones((n, 2, 4)), np.zeros((n, 2))), r"priors have the shape \(1, 2, 4\)"),
        (lambda n: (np.ones((n, 2, 5)), np.zeros(n)), r"values have the shape \(1,\); for one position it is \(1, 2\)"),
        (lambda n: (np.ones((n, 2, 5)), np.zeros((n, 3))), r"values have the shape \(1, 3\)"),
        (lambda n: (-np.ones((n, 2, 5)), np.zeros((n, 2))), "a negative prior"),
        (lambda n: (np.full((n, 2, 5), np.nan), np.zeros((n, 2))), "hold NaN or infinity"),
        (lambda n: (np.zeros((n, 2, 5)), np.zeros((n, 2))), "every legal action the prior 0"),
        (lambda n: (np.stack([np.ones((n, 5)), np.zeros((n, 5))], 1), np.zeros((n, 2))), "every legal action the prior 0"),
        (lambda n: np.zeros((n, 2)), "returns \\(priors, values\\)"),
    ],
)
def test_answers_of_another_shape_are_refused(answer, complaint):
    with pytest.raises(ab.errors.EvaluatorError, match=complaint):
        search_with(lambda states: answer(len(states))).run(GAME.start(), visits=5)


@when_plain
def test_no_priors_are_uniform_ones_over_outcomes():
    moves = search_with(lambda states: (None, np.zeros((len(states), 2)))).run(GAME.start(), visits=3).moves
    assert [move.prior for each in moves for move in each] == pytest.approx([0.5] * 4)


@when_plain
@pytest.mark.parametrize("graph", [False, True], ids=["tree", "graph"])
def test_leaves_come_in_batches(graph):
    evaluator = Opinion(batch=8)
    search = search_with(evaluator, graph=graph)
    result = search.run(GAME.start(), visits=120)
    assert result.pairs.sum() == 120 and max(map(len, evaluator.calls)) > 4
    assert_pairs_add_up(search)
    asked = [number for call in evaluator.calls for number in call]
    assert not graph or len(asked) == len(set(asked))


@when_plain
def test_a_batch_of_one_finds_what_asking_one_by_one_finds():
    one, asked = search_with(Opinion(), ties="lowest"), search_with(ties="lowest")
    one.run(GAME.start(), visits=50)
    evaluator = Opinion()
    leaves = asked.ask(1, GAME.start())
    while asked.rooted.root == NO_NODE or edge_records(asked.rooted.graph, asked.rooted.root)["visits"].sum() < 50:
        asked.tell(leaves, *(evaluator(leaves.states) if len(leaves) else ()))  # none: all was known
        leaves = asked.ask(1)
    asked.tell(leaves)
    ours, theirs = one.result().pairs, asked.result().pairs
    assert np.abs(ours - theirs).sum() <= 1 and ours.sum() == 50


@when_plain
def test_networks_with_a_cache_are_asked_once():
    evaluator = Opinion()
    network = ab.Network(evaluator, batch=8)
    search = search_with(network, graph=False)
    search.run(GAME.start(), visits=100)
    assert_pairs_add_up(search)
    assert network.stats.hits > 0 and network.stats.calls < 100  # the same position on several paths of the tree
    asked = [number for call in evaluator.calls for number in call]
    assert len(asked) == len(set(asked))


@when_plain
def test_a_fleet_finds_what_its_searches_would_find_alone():
    positions = [GAME.start(), GAME.position(["right/left"]), GAME.position(["stay/left"])]
    fleet = ab.Fleet(GAME, 3, evaluate=Opinion(batch=3), memory="15MB", seed=10, graph=True)
    results = fleet.run(positions, visits=40)
    for number, (position, result) in enumerate(zip(positions, results, strict=True)):
        alone = ab.Search(GAME, evaluate=Opinion(), memory="5MB", seed=10 + number, graph=True).run(position, visits=40)
        assert alone.pairs.tolist() == result.pairs.tolist()
        assert_pairs_add_up(fleet.searches[number])
    fleet.advance([result.best for result in results])
    assert [search.position.moves[-1] for search in fleet.searches] == [tuple(result.best) for result in results]
    assert all(result.pairs.sum() >= 10 for result in fleet.run(visits=10))


# --- playouts, threads --------------------------------------------------------------------------------------------------------


@when_plain
@pytest.mark.parametrize(
    "policy",
    [None, ab.evaluate.RandomPolicy(), ab.simultaneous.PerPlayer(GAME.policy, ab.evaluate.RandomPolicy())],
    ids=["its own", "random", "mixed"],
)
def test_playouts_are_worth_cheese(policy):
    search = ab.Search(GAME, evaluate=ab.Rollout(policy=policy), graph=True, memory="5MB", seed=1)
    result = search.run(GAME.start(), visits=40)
    assert_pairs_add_up(search)
    assert all(0.0 <= value <= 4.0 for value in result.value) and 2.0 < sum(result.value) <= 4.0


@when_plain
def test_a_greedy_player_beats_one_who_stands_still_in_the_eyes_of_the_search():
    search = ab.Search(GAME, evaluate=ab.Rollout(), graph=True, memory="5MB", seed=1)
    result = search.run(GAME.start(), visits=60)
    payoffs = result.payoffs[0]
    assert np.nanmean(payoffs[RIGHT]) > np.nanmean(payoffs[STAY])  # cheese is to the right
    assert GAME.name_of(result.best[0]) == "right"


@when_compiled
def test_threads_share_a_graph_and_leave_nothing_behind():
    game = PyRat(5, 5, cheese=5, walls=0.3, mud=0.1, max_turns=30, seed=2)
    for _ in range(3):
        search = ab.Search(game, evaluate=ab.Uniform(), graph=True, threads=2, memory="50MB", seed=5)
        result = search.run(game.start(), visits=30_000)
        assert result.stats.simulations == result.pairs.sum() == 30_000
        assert_pairs_add_up(search)
        search.advance(result.best)
        assert search.run(visits=1000).stats.simulations == 1000
        assert_pairs_add_up(search)


@when_plain
@pytest.mark.parametrize(
    "select", [ab.Decoupled(), ab.RegretMatching(), ab.simultaneous.Exp3()], ids=lambda rule: type(rule).__name__
)
def test_threads_in_plain_python(select):
    backup = None if isinstance(select, ab.Decoupled) else ab.backup.Mean()
    search = search_with(select=select, threads=2, backup=backup)
    assert search.run(GAME.start(), visits=60).pairs.sum() == 60
    assert_pairs_add_up(search)


@when_plain
@pytest.mark.parametrize("options", [{"evaluate": Opinion(batch=4)}, {"evaluate": ab.Rollout()}], ids=["batches", "playouts"])
def test_memory_that_runs_out_stops_nobody(options):
    game = PyRat(5, 5, cheese=5, walls=0.0, mud=0.0, max_turns=30)
    search = ab.Search(game, graph=True, memory="40KB", **options)
    result = search.run(game.start(), visits=150)
    assert result.memory_full and result.pairs.sum() == 150
    search.advance(result.best)
    assert search.run(visits=20).stats.simulations == 20


@when_plain
def test_a_graph_has_a_node_where_a_tree_has_several():
    tree, graph = search_with(graph=False, ties="lowest"), search_with(ties="lowest", ahead=ab.graphs.Continue())
    first, second = (search.run(GAME.start(), visits=150) for search in (tree, graph))
    assert first.stats.merges == 0 < second.stats.merges
    keys, new = [], [(int(tree.rooted.root), GAME.start())]
    while new:
        number, position = new.pop()
        keys.append(position.key)
        for edge in edge_records(tree.rooted.graph, number):
            if edge["child"] != NO_NODE:
                new.append((int(edge["child"]), position.after(int(edge["action"]))))
    assert len(keys) == first.stats.nodes > 1.2 * len(set(keys))  # duplicates
