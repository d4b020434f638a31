"""Selection rules and root methods for networks: the trees of `tests/reference/networks.py`, node for node."""

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anabranch as ab
from anabranch.games import ConnectFour, Pig, TicTacToe, Treasure, TriNim
from anabranch.jit import COMPILED
from anabranch.search.backup.variance import standard_error
from anabranch.search.memory.collect import collect
from anabranch.search.memory.graph import NOISE
from anabranch.search.results.read import edge_records
from anabranch.search.select.gumbel import visits_in_turn
from tests.conftest import in_soak, when_plain
from tests.reference.networks import NetworkSearch, halving
from tests.search.games import Percent
from tests.search.trees import assert_same_tree, digest, read_tree

GAMES = [TicTacToe(), Treasure(), TriNim()]  # two players, rewards and a discount, three players
VISITS = 150 if COMPILED else 40

RULES = [
    ab.select.MuZero(),
    ab.select.MuZero(c=0.5, base=20.0, q=ab.select.BetweenBounds(low=-1.5, high=1.0, untried=0.4)),
    ab.select.SprlPUCT(),
    ab.select.SprlPUCT(c=2.0, fpu=ab.select.ConstantFPU(0.0)),
    ab.select.SprlPUCT(fpu=ab.select.ParentFPU(0.25)),
    ab.select.KataGoPUCT(),
    ab.select.KataGoPUCT(c=0.7, growth=2.0, base=10.0, usual=0.2, weight=5.0, scale=1.5, root_fpu=ab.select.ParentFPU()),
    ab.select.Forced(),
    ab.select.Forced(rule=ab.PUCT(c=0.3), k=20.0),
    ab.select.Forced(rule=ab.select.MuZero(), k=4.0),
]
TO_COMPILE = [  # a kernel each; the others are tried in plain Python, where all is the same code
    pytest.param(TicTacToe(), ab.select.MuZero(), marks=in_soak),
    (Treasure(), ab.select.KataGoPUCT()),
    (TicTacToe(), ab.select.Forced()),
]
PAIRS = TO_COMPILE if COMPILED else [(game, rule) for rule in RULES for game in GAMES]
OTHER_GAMES = [
    (Percent(), ab.select.MuZero()),
    (Percent(), ab.select.KataGoPUCT()),
    (Pig(), ab.select.KataGoPUCT()),
    (Pig(), ab.select.MuZero()),
    (Percent(), ab.select.Gumbel()),
    (Pig(), ab.select.Gumbel(rescale=False)),
    (ConnectFour(), ab.select.Gumbel(considered=4, scale=0.0)),
]


def opinion(states):
    """Priors and values without sense, from every byte of each state."""
    game = next(game for game in [*GAMES, Percent(), Pig(), ConnectFour()] if game.record == states.dtype)
    priors, values = [], []
    for state in states:
        random = np.random.default_rng(zlib.crc32(state.tobytes()))
        low, high = game.value_range
        priors.append(random.dirichlet(np.full(game.actions, 0.7)) + 1e-3)
        if isinstance(game, Percent) and state["turn"] == 1:  # the second player pays what the first one gets
            low, high = -high, -low
        values.append(random.uniform(low, high, game.value_width()))
    return np.array(priors), np.array(values)[:, 0] if game.value_width() == 1 else np.array(values)


def both(game, rule, visits=VISITS, **options):
    """A search and the reference, run twice: the second time with what the first has found."""
    search = ab.Search(game, select=rule, evaluate=opinion, seed=4, memory="30MB", **options)
    reference = NetworkSearch(game, select=rule, evaluate=opinion, seed=4)
    position = game.start()
    result = None
    for count in (visits // 3, visits):
        result = search.run(position, visits=count)
        if isinstance(rule, ab.select.Gumbel):
            reference.plan(count, search.rooted.graph.plan[NOISE])
        reference.run(count)
    return search, reference, result


def by_action(game, node, numbers):
    found = np.zeros(game.edge_actions)
    found[[edge.action for edge in node.edges]] = numbers
    return found


@pytest.mark.parametrize(("game", "rule"), PAIRS, ids=repr)
def test_the_tree_is_that_of_the_reference(game, rule):
    search, reference, _ = both(game, rule)
    assert_same_tree(search, reference)


@when_plain
@pytest.mark.parametrize(("game", "rule"), OTHER_GAMES, ids=repr)
def test_it_is_so_with_other_games(game, rule):
    search, reference, _ = both(game, rule)
    assert_same_tree(search, reference)


@pytest.mark.parametrize("game", GAMES[:1] if COMPILED else GAMES, ids=repr)
@pytest.mark.parametrize(
    "rule",
    [
        ab.select.Gumbel(),
        ab.select.Gumbel(considered=3, scale=2.0, value_scale=1.0, visit_offset=5.0),
        ab.select.Gumbel(considered=2, scale=0.0, rescale=False, mixed=False),
    ],
    ids=repr,
)
def test_gumbels_tree_target_and_choice_are_those_of_the_reference(game, rule):
    search, reference, result = both(game, rule)
    assert_same_tree(search, reference)
    root = reference.root
    np.testing.assert_allclose(result.target, by_action(game, root, reference.improved_policy(rule, root)), atol=1e-9)
    new = np.array([edge.visits - reference.before[edge.action] for edge in root.edges])
    urges = reference.logits(rule, root) + [reference.noise[edge.action] for edge in root.edges]
    best = root.edges[int(np.argmax(np.where(new == new.max(), urges, -np.inf)))]
    assert result.best == best.action


@in_soak
def test_ties_go_to_the_lowest_action_if_asked():
    def nothing_known(states):
        return None, np.zeros(len(states))

    search = ab.Search(TicTacToe(), select=ab.select.MuZero(), evaluate=nothing_known, ties="lowest", seed=9)
    search.run(visits=5)
    assert [edge.action for edge in read_tree(search)[0].edges] == list(range(9))
    assert [edge.visits for edge in read_tree(search)[0].edges] == [1] * 5 + [0] * 4
    shuffled = ab.Search(TicTacToe(), select=ab.select.MuZero(), evaluate=nothing_known, seed=9)
    shuffled.run(visits=5)
    assert [edge.action for edge in read_tree(shuffled)[0].edges] != list(range(9))


@when_plain
def test_ties_go_to_the_lowest_action_with_playouts_too():
    search = ab.Search(ConnectFour(), evaluate=ab.Uniform(), ties="lowest")
    assert search.run(visits=3).visits.tolist() == [1, 1, 1, 0, 0, 0, 0]


# --- sequential halving ---


@given(considered=st.integers(1, 70), simulations=st.integers(1, 300))
def test_sequential_halving_knows_whose_turn_it_is(considered, simulations):
    expected = halving(considered, simulations)
    assert [int(visits_in_turn(considered, simulations, done)) for done in range(simulations)] == expected


def test_sequential_halving_shares_simulations_out_as_in_the_paper():
    """8 actions and 48 simulations: 2 to each, then 4 to half of them, then 8 to the last two."""
    result = ab.Search(TicTacToe(), select=ab.select.Gumbel(considered=8), evaluate=opinion, memory="10MB").run(visits=48)
    assert sorted(result.visits.tolist(), reverse=True) == [14, 14, 6, 6, 2, 2, 2, 2, 0]


@pytest.mark.parametrize("virtual", [ab.select.VirtualLoss(), ab.select.VirtualLoss(visits=3, loss=0.5)], ids=repr)
def test_it_does_so_in_batches(virtual):
    class Network:
        batch = 8

        def __call__(self, states):
            return opinion(states)

    search = ab.Search(TicTacToe(), select=ab.select.Gumbel(considered=8), evaluate=Network(), virtual=virtual, memory="10MB")
    assert sorted(search.run(visits=48).visits.tolist(), reverse=True) == [14, 14, 6, 6, 2, 2, 2, 2, 0]


def test_noise_decides_which_actions_are_considered_and_the_seed_decides_the_noise():
    def tried(seed):
        search = ab.Search(TicTacToe(), select=ab.select.Gumbel(considered=3), evaluate=opinion, seed=seed, memory="10MB")
        return tuple(np.flatnonzero(search.run(visits=12).visits))

    assert tried(1) == tried(1)
    assert len({tried(seed) for seed in range(8)}) > 1
    assert all(len(tried(seed)) == 3 for seed in range(8))


def test_a_kept_tree_is_halved_anew_by_the_visits_of_the_new_search():
    search = ab.Search(TicTacToe(), select=ab.select.Gumbel(considered=4, scale=0.0), evaluate=opinion, memory="10MB")
    first = search.run(TicTacToe().start(), visits=40)
    search.advance(first.best)
    kept = search.run(total=search.result().visits.sum() + 16)
    assert kept.stats.simulations == 16


def test_gumbel_wants_to_know_how_many_simulations_there_will_be():
    search = ab.Search(TicTacToe(), select=ab.select.Gumbel(), evaluate=opinion)
    with pytest.raises(ab.errors.SearchError, match="give visits= or total="):
        search.run(seconds=0.1)
    with pytest.raises(ab.errors.SearchError, match="give visits= or total="):
        search.start()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"select": ab.select.Widening(rule=ab.select.Gumbel())}, "stands by itself"),
        ({"select": ab.select.Forced(rule=ab.select.Gumbel())}, "stands by itself"),
        ({"select": ab.select.Forced(rule=ab.select.Regularized())}, "a selection rule that gives scores"),
        ({"select": ab.select.MuZero(q=ab.select.BetweenBounds(low=1.0, high=1.0))}, "low must be below high"),
        ({"select": ab.select.MuZero(q=ab.select.ParentFPU())}, "not an option for q"),
        ({"select": ab.select.KataGoPUCT(root_fpu=ab.backup.Mean())}, "not an option for root_fpu"),
        ({"final": ab.final.ByGumbel()}, "use it with select=Gumbel"),
        ({"ties": "first"}, "one of 'seed', 'lowest'"),
    ],
)
def test_what_does_not_go_together_is_refused(options, words):
    with pytest.raises(ab.errors.SearchError, match=words):
        ab.Search(TicTacToe(), **options)


# --- targets ---


def test_the_target_of_a_plain_rule_is_the_share_of_visits():
    result = ab.Search(TicTacToe(), select=ab.PUCT(), evaluate=opinion, memory="10MB").run(visits=40)
    np.testing.assert_allclose(result.target, result.policy)
    assert result.to_dict()["target"] == result.target.tolist()


@pytest.mark.parametrize("rule", [ab.select.Forced(), ab.select.Forced(rule=ab.PUCT(c=0.3), k=20.0)], ids=repr)
def test_the_target_of_forced_playouts_is_what_the_rule_would_have_visited(rule):
    _, reference, result = both(TicTacToe(), rule)
    kept = reference.pruned_visits(rule)
    expected = np.array([kept.get(action, 0) for action in range(9)], float)
    np.testing.assert_allclose(result.target, expected / expected.sum())


def test_visits_of_bad_actions_are_no_target():
    def centre_is_good(states):
        taken = (states["mover"] | states["other"]) >> 4 & 1
        return None, np.where(states["turn"] == 1, -0.8, 0.8) * np.where(taken, 1.0, -1.0)

    result = ab.Search(TicTacToe(), select=ab.select.Forced(k=10.0), evaluate=centre_is_good, memory="10MB").run(visits=60)
    assert result.best == 4
    assert (result.visits > 3).sum() > 4
    assert result.target[4] == 1.0


def test_forced_playouts_give_every_tried_action_its_due():
    result = ab.Search(TicTacToe(), select=ab.select.Forced(k=3.0), evaluate=opinion, memory="10MB").run(visits=200)
    for move in result.moves:
        assert move.visits == 0 or move.visits > math.sqrt(3.0 * move.prior * 199) - 1


def test_the_target_goes_by_the_priors_that_the_search_saw():
    """With noise, forced visits follow the noisy priors, while the result shows the clean ones."""
    noise = ab.final.Dirichlet(alpha=0.3, weight=0.9)
    search = ab.Search(TicTacToe(), select=ab.select.Forced(k=20.0), noise=noise, evaluate=opinion, memory="10MB")
    result = search.run(visits=100)
    root, noisy = search.rooted.driver.root_priors
    assert root == search.rooted.root
    edges = read_tree(search)[0].edges
    assert [edge.prior for edge in edges] != noisy.tolist()
    clean = ab.Search(TicTacToe(), select=ab.select.Forced(k=20.0), evaluate=opinion, memory="10MB").run(visits=100)
    assert [move.prior for move in sorted(result.moves, key=lambda move: move.action)] == [
        move.prior for move in sorted(clean.moves, key=lambda move: move.action)
    ]
    assert result.target.sum() == pytest.approx(1.0)


# --- the spread of values ---


def test_squares_are_those_of_all_values_that_came_up():
    search, reference, _ = both(Treasure(), ab.select.KataGoPUCT())
    root = search.rooted.root
    squares = search.rooted.graph.squares[root + 1 : root + 1 + len(reference.root.edges)]
    expected = [sum(value * value for value in reference.samples.get(id(edge), [])) for edge in reference.root.edges]
    np.testing.assert_allclose(squares, expected, rtol=1e-9)


@pytest.mark.parametrize("game", [Treasure()] if COMPILED else GAMES, ids=repr)
def test_the_lower_bound_chooses_what_is_surely_good(game):
    _, reference, result = both(game, ab.select.KataGoPUCT(), final=ab.final.ByLowerBound())
    node = reference.root
    most = max(edge.visits for edge in node.edges)
    bounds = {}
    for edge in node.edges:
        if edge.visits >= max(1, 0.15 * most):
            values = reference.samples[id(edge)]
            mean = sum(values) / len(values)
            error = standard_error(len(values), mean, sum(value * value for value in values))
            bounds[edge.action] = mean - 5.0 * error
    assert result.best == max(bounds, key=bounds.get)


def test_the_standard_error_falls_with_visits_and_doubts_a_single_one():
    assert standard_error(1, 0.9, 0.81) == pytest.approx(0.5)
    assert standard_error(400, 0.0, 400 * 0.25) == pytest.approx(0.5 / 20, rel=1e-3)
    assert standard_error(100, 1.0, 100.0) < 0.002


@in_soak
def test_a_search_without_need_keeps_no_squares_and_no_plan():
    search = ab.Search(TicTacToe(), select=ab.select.MuZero(), evaluate=opinion, memory="10MB")
    search.run(visits=3)
    assert len(search.rooted.graph.squares) == 0
    assert search.rooted.graph.plan.shape == (2, 0)


def test_squares_follow_their_edges_when_memory_is_collected():
    search = ab.Search(Treasure(), select=ab.select.KataGoPUCT(), evaluate=opinion, memory="10MB", graph=True)
    result = search.run(visits=VISITS)

    def squares():
        graph, root = search.rooted.graph, search.rooted.root
        edges = edge_records(graph, root)
        return dict(zip(edges["action"].tolist(), graph.squares[root + 1 : root + 1 + len(edges)].tolist(), strict=True))

    search.advance(result.best)
    before = squares()
    search.rooted.driver._renumber(collect(search.rooted.graph, search.rooted.root))
    assert squares() == before
    assert any(before.values())


def test_squares_are_kept_in_files(tmp_path):
    search = ab.Search(Treasure(), select=ab.select.KataGoPUCT(), evaluate=opinion, memory="10MB", seed=2)
    search.run(Treasure().start(), visits=60)
    search.save(tmp_path / "search")
    loaded = ab.Search(Treasure(), select=ab.select.KataGoPUCT(), evaluate=opinion, memory="10MB", seed=2)
    loaded.load(tmp_path / "search")
    assert digest(search) == digest(loaded)
    search.run(visits=30)
    loaded.run(visits=30)
    assert digest(search) == digest(loaded)
    with pytest.raises(ab.errors.SearchError, match="was saved with KataGoPUCT"):
        ab.Search(Treasure(), select=ab.PUCT(), evaluate=opinion, memory="10MB").load(tmp_path / "search")
