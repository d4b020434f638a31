"""`Network` as an evaluator: batches, cache, symmetries, values in the game's units, copies; and what it refuses."""

import copy
import pickle
import threading

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.games.connectfour import ConnectFour
from anabranch.games.encoding import encode
from anabranch.games.go import Go
from anabranch.games.hex import Hex
from anabranch.games.nim import Nim
from anabranch.games.objects import ObjectGame
from anabranch.games.othello import Othello
from anabranch.games.tictactoe import TicTacToe
from anabranch.nets.augment import augment
from anabranch.nets.outputs import LEAST_PRIOR
from anabranch.nets.runtimes import Model
from tests.nets.games import SeenPig, SeenTriNim, Shifted, played
from tests.train.games import SeenGoofspiel


class Fixed(torch.nn.Module):
    """The same outputs for every position."""

    def __init__(self, logits, values):
        super().__init__()
        self.logits, self.values = torch.tensor(logits), torch.tensor(values)

    def forward(self, planes):
        return self.logits.expand(len(planes), -1), self.values.expand(len(planes), -1)


class Chain:
    """Positions that are Python objects."""

    actions = 1

    def play(self, action):
        return Chain()


class Linear(torch.nn.Module):
    """Outputs that are linear in the planes, of any weights: nothing in it knows of symmetries."""

    def __init__(self, game, seed=0):
        super().__init__()
        torch.manual_seed(seed)
        size = int(np.prod(game.planes))
        self.policy, self.value = torch.nn.Linear(size, game.actions), torch.nn.Linear(size, 1)

    def forward(self, planes):
        flat = planes.flatten(1)
        return self.policy(flat), torch.tanh(self.value(flat))


class Pointwise(torch.nn.Module):
    """A logit at each point from what is there, and a value from sums: the same from all sides, exactly."""

    def __init__(self, others=0):
        super().__init__()
        self.others = others

    def forward(self, planes):
        own, other = planes[:, 0].flatten(1), planes[:, 1].flatten(1)
        logits = torch.cat([own - 2 * other, torch.zeros(len(planes), self.others)], dim=1)
        return logits, torch.tanh((own.sum(1) - other.sum(1)) / 8)


def uniform_zero(states):
    return np.ones((len(states), 7)), np.zeros(len(states))


# --- a function of states ---


def test_a_function_is_used_as_it_is_and_asked_once_about_a_position():
    asked = []

    def function(states):
        asked.extend(zip(states["mover"].tolist(), states["stones"].tolist(), strict=True))
        return np.tile(np.arange(7.0), (len(states), 1)), states["turn"] / 4

    network = ab.Network(function)
    states = played(ConnectFour(), 40, most=3)
    for _ in range(2):
        priors, values = network(states)
        assert np.array_equal(priors, np.tile(np.arange(7.0), (40, 1)))
        assert np.array_equal(values, states["turn"] / 4)
    assert len(asked) == len(set(asked))
    assert network.stats.evaluations == len(asked) and network.stats.hits == 80 - len(asked)


def test_a_function_without_priors_gets_uniform_ones():
    network = ab.Network(lambda states: (None, np.zeros(len(states))))
    assert (network(played(ConnectFour(), 2))[0] == 1).all()


def test_a_search_asks_a_network(connect_four):
    game = ConnectFour()
    network = ab.Network(connect_four[1], batch=8)
    result = ab.Search(game, select=ab.PUCT(), evaluate=network).run(game.start(), visits=100)
    assert result.visits.sum() == 100
    assert network.stats.evaluations > 50
    before = network.stats.evaluations
    ab.Search(game, select=ab.PUCT(), evaluate=network).run(game.start(), visits=100)
    assert network.stats.evaluations < before + 50, "searches that share a network share its cache"


class Middle(Model):
    """A model of one's own: the middle column, and a value that the stones make."""

    def __call__(self, planes):
        logits = np.zeros((len(planes), 7), np.float32)
        logits[:, 3] = 5.0
        return logits, np.tanh(planes[:, 0].sum((1, 2)) - planes[:, 1].sum((1, 2)))


def test_a_model_of_ones_own_sees_planes():
    priors, values = ab.Network(Middle(), symmetry="all")(ConnectFour().position("a").record())
    assert priors[0].argmax() == 3 and np.isclose(values[0], np.tanh(-1.0))


def test_positions_that_are_python_objects_are_handed_through():
    network = ab.Network(lambda positions: (None, [float(p) for p in positions]), cache=0)
    assert network([1, 2])[1] == [1.0, 2.0]


# --- outputs ---


def test_priors_are_a_softmax_over_legal_actions_alone():
    game = ConnectFour()
    full = game.position([0] * 6)
    network = ab.Network(Fixed([500.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], [0.0]))
    priors, _ = network(full.record())
    expected = np.exp([1.0] * 5 + [2.0]) / np.exp([1.0] * 5 + [2.0]).sum()
    assert priors[0, 0] == 0 and np.allclose(priors[0, 1:], expected, atol=1e-6)


def test_no_legal_action_is_worth_nothing():
    priors, _ = ab.Network(Fixed([900.0] + [-900.0] * 6, [0.0]))(ConnectFour().start().record())
    assert (priors > 0).all() and priors[0, 1] == np.float32(LEAST_PRIOR)


def test_values_are_in_the_movers_view_and_in_units_of_the_games_returns():
    game = Shifted()  # player 0 gets -1 to 3
    network = ab.Network(Fixed([0.0] * 9, [0.5]))
    states = np.concatenate([game.start().record(), game.position([4]).record()])
    assert network(states)[1].tolist() == [2.0, 0.0]  # 1 + 2 * 0.5 for player 0, -1 + 2 * 0.5 for player 1


def test_with_three_players_there_is_a_value_for_each():
    game = SeenTriNim(5)
    network = ab.Network(Fixed([0.0] * 3, [1.0, 0.0, -1.0]), game=game)
    priors, values = network(game.start().record())
    assert priors.shape == (1, 3)
    assert np.allclose(values, [[1.0, 0.25, -0.5]])  # the range is -0.5 to 1


def test_chance_has_no_priors():
    game = SeenPig(10)
    network = ab.Network(Fixed([0.0] * 2, [0.25]), game=game)
    priors, values = network(game.position([0]).record())
    assert not priors.any() and values.tolist() == [0.25]


# --- symmetries ---


@pytest.mark.parametrize("symmetry", ["random", "all"])
@pytest.mark.parametrize("game", [TicTacToe(), Othello(), Hex(4), Go(5)], ids=repr)
def test_policy_and_value_come_back_exactly(game, symmetry):
    module = Pointwise(others=game.actions - game.planes[1] * game.planes[2])
    states = played(game, 12)
    priors, values = ab.Network(module, game=game)(states)
    network = ab.Network(module, game=game, symmetry=symmetry)
    turned_priors, turned_values = network(states)
    assert np.allclose(turned_priors, priors, atol=1e-7) and np.allclose(turned_values, values, atol=1e-7)


def test_all_sides_together_make_any_model_symmetric():
    game = ConnectFour()
    plain, whole = (ab.Network(Linear(game), symmetry=symmetry) for symmetry in ("none", "all"))
    moves = [3, 2, 2, 6, 0, 1]
    here, there = game.position(moves).record(), game.position([6 - move for move in moves]).record()
    assert not np.allclose(plain(here)[1], plain(there)[1], atol=1e-3)
    assert np.allclose(whole(here)[1], whole(there)[1], atol=1e-6)
    assert np.allclose(whole(here)[0], whole(there)[0][:, ::-1], atol=1e-6)


def test_a_drawn_side_belongs_to_the_position_and_the_seed_not_to_what_was_asked_before():
    game = TicTacToe()
    states = played(game, 30, most=8)
    module = Linear(game)

    def answers(seed, order=slice(None)):
        return ab.Network(module, symmetry="random", seed=seed)(states[order])[1][order]

    assert np.allclose(answers(1), answers(1, slice(None, None, -1)), atol=1e-6)
    assert not np.allclose(answers(1), answers(2), atol=1e-3)
    ways = game.symmetries()
    planes = encode(game, states).reshape(30, 3, 9)
    sides = np.stack([module(torch.from_numpy(planes[:, :, points]))[1].detach().numpy()[:, 0] for points in ways.points])
    assert np.isclose(answers(1)[None], sides, atol=1e-6).any(axis=0).all()


@pytest.mark.parametrize("symmetry", ["random", "all"])
def test_both_players_logits_come_back(symmetry):
    game = SeenGoofspiel()
    module, states = Fixed([0.0, 1.0, 2.0, 5.0, 4.0, 3.0], [0.0]), game.start().record()
    expected = ab.Network(module, game=game)(states)[0]
    assert expected[0, 0].argmax() == 2 and expected[0, 1].argmax() == 0
    assert np.array_equal(ab.Network(module, game=game, symmetry=symmetry)(states)[0], expected)


def test_training_data_is_multiplied_by_all_symmetries():
    game = TicTacToe()
    position = game.position([0, 4])
    policy = np.zeros((1, 9))
    policy[0, 1] = 1.0  # b1
    planes, policies, values = augment(game, encode(game, position.record()), policy, np.array([0.5]))
    assert planes.shape == (8, 3, 3, 3) and policies.shape == (8, 9) and values.tolist() == [0.5] * 8
    for seen, wanted in zip(planes, policies, strict=True):
        corner, best = np.flatnonzero(seen[0])[0], np.flatnonzero(wanted)[0]
        assert abs(corner // 3 - best // 3) + abs(corner % 3 - best % 3) == 1, "the move is beside the stone from all sides"


def test_training_data_of_another_game_is_refused():
    with pytest.raises(ab.errors.GameError, match=r"planes have the shape \(n, 3, 3, 3\)"):
        augment(TicTacToe(), np.zeros((1, 3, 6, 7)), np.zeros((1, 9)), np.zeros(1))


# --- counting, copies, threads ---


def test_stats_tell_calls_fill_hits_and_time():
    network = ab.Network(uniform_zero, batch=20)
    states = played(ConnectFour(), 10, most=12)
    different = len({(int(s["mover"]), int(s["stones"])) for s in states})
    network(states)
    network(states)
    stats = network.stats
    assert (stats.evaluations, stats.calls, stats.hits) == (different, 1, 20 - different)
    assert stats.fill == different / 20 and 0 < stats.seconds < 1
    network.clear()
    assert network.stats == (0, 0, 0, 0.0, 0.0)
    network(states)
    assert network.stats.calls == 1


def test_cache_0_remembers_nothing():
    network = ab.Network(uniform_zero, cache=0)
    for _ in range(3):
        network(ConnectFour().start().record())
    assert network.stats.calls == 3 and network.stats.hits == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])
@pytest.mark.parametrize("kind", ["file", "module", "function"])
def test_copies_answer_alike_and_share_nothing(connect_four, kind, copied):
    model = {"file": connect_four[1], "module": connect_four[0], "function": uniform_zero}[kind]
    states = played(ConnectFour(), 5)
    network = ab.Network(model, batch=4, cache=50, game=ConnectFour())
    expected = network(states)
    other = copied(network)
    assert (other.batch, other.cache, other.game) == (4, 50, ConnectFour())
    for ours, theirs in zip(expected, other(states), strict=True):
        assert np.array_equal(ours, theirs)
    assert other.stats.calls == 1 and network.stats.calls == 1


def test_a_copy_loads_its_file_when_it_is_first_asked(connect_four, tmp_path):
    path = tmp_path / "moved.onnx"
    path.write_bytes(connect_four[1].read_bytes())
    content = pickle.dumps(ab.Network(path))
    path.unlink()
    other = pickle.loads(content)
    with pytest.raises(ab.errors.NetworkError, match="there is no such file"):
        other(ConnectFour().start().record())


def test_threads_may_ask_the_same_network(connect_four):
    game = ConnectFour()
    states = played(game, 200)
    expected = ab.Network(connect_four[1])(states)[1]
    network = ab.Network(connect_four[1], cache=100)
    wrong = []

    def work(seed):
        for order in np.random.default_rng(seed).permutation(200).reshape(20, 10):
            wrong.extend(np.flatnonzero(abs(network(states[order])[1] - expected[order]) > 1e-6))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and network.stats.evaluations + network.stats.hits == 600


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"batch": 0}, "batch=0: must be a whole number of 1 or more"),
        ({"threads": 1.5}, "threads=1.5"),
        ({"cache": -1}, "cache=-1: give a number of positions"),
        ({"cache": "much"}, "such as"),
        ({"symmetry": "some"}, "symmetry='some': it is one of 'none', 'random', 'all'"),
        ({"symmetry": "all"}, "a function sees states, not planes"),
    ],
)
def test_options_that_make_no_sense(options, complaint):
    with pytest.raises(ab.AnabranchError, match=complaint):
        ab.Network(uniform_zero, **options)


@pytest.mark.parametrize("model", [7, None, dict])
def test_what_is_no_model(model):
    with pytest.raises(ab.errors.NetworkError, match=r"give the path of an \.onnx file"):
        ab.Network(model)


def test_a_game_without_planes_is_seen_by_its_record():
    network = ab.Network(Fixed([0.0, 0.0, 50.0], [0.5]), game=Nim(), symmetry="all")
    priors, values = network(Nim().position([2]).record())
    assert np.allclose(priors, [[0.0, 0.0, 1.0]]) and np.allclose(values, [0.5])


def test_positions_that_are_python_objects_cannot_be_seen():
    with pytest.raises(ab.errors.NetworkError, match="are Python objects, which networks cannot see; give a function"):
        ab.Network(Fixed([0.0], [0.0]), game=ObjectGame(Chain))


def test_states_of_another_game_are_refused():
    network = ab.Network(uniform_zero, game=ConnectFour())
    with pytest.raises(ab.errors.NetworkError, match=r"evaluates positions of ConnectFour\(\), not of TicTacToe"):
        network(TicTacToe().start().record())
    with pytest.raises(ab.errors.NetworkError, match="make another Network for TicTacToe"):
        network.bind(TicTacToe())


def test_a_game_of_many_sizes_is_to_be_named():
    with pytest.raises(ab.errors.NetworkError, match="there are many games of Hex"):
        ab.Network(uniform_zero)(Hex(4).start().record())
    with pytest.raises(ab.errors.NetworkError, match=r"positions of Hex\(size=4\), and these are of another size"):
        ab.Network(Pointwise(), game=Hex(4))(Hex(5).start().record())


def test_states_of_no_game_are_refused():
    with pytest.raises(ab.errors.NetworkError, match="of an unknown game"):
        ab.Network(uniform_zero)(np.zeros(1, [("x", "i4")]))


@pytest.mark.parametrize(
    ("logits", "values", "complaint"),
    [
        ([np.nan] * 7, [0.0], "gave logits that are NaN or infinity"),
        ([0.0] * 7, [np.nan], "gave NaN or infinity for a value"),
        ([0.0] * 7, [3.5], "gave a value of 3.5; end its value head with a tanh"),
        ([0.0] * 9, [0.0], r"gives policies of the shape \(9,\); ConnectFour\(\) has 7 actions"),
        ([0.0] * 7, [0.0, 0.0], r"gives values of the shape \(2,\); a value of ConnectFour\(\) has 1 number"),
    ],
)
def test_outputs_that_cannot_be_used(logits, values, complaint):
    with pytest.raises(ab.errors.NetworkError, match=complaint):
        ab.Network(Fixed(logits, values))(ConnectFour().start().record())


@pytest.mark.parametrize("answer", [None, 3, (None,), (np.ones((1, 6)), np.zeros(1)), (None, np.zeros(2)), ("a", "b")])
def test_functions_that_answer_something_else(answer):
    with pytest.raises(ab.errors.NetworkError, match=r"\(priors, values\) of the shapes \(1, 7\) and \(1,\)"):
        ab.Network(lambda states: answer)(ConnectFour().start().record())


def test_planes_that_a_module_does_not_take():
    with pytest.raises(
        ab.errors.NetworkError, match=r"Linear does not take planes of the shape \(3, 8, 8\), those of Othello\(\)"
    ):
        ab.Network(Linear(TicTacToe()), game=Othello())
