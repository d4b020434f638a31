"""`KataGoNet` as an evaluator: what a search gets from it, what is cached, and the averages of whole searches."""

import pickle

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import NetworkError, OptionError
from anabranch.games.connectfour import ConnectFour
from anabranch.games.go import Go
from anabranch.games.go.rulesets import RULE_SETS
from anabranch.games.position import Position
from anabranch.nets.files import open_network
from anabranch.nets.katago.averages import SearchAverages
from anabranch.nets.katago.columns import LEAD, LOSS, WIN
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.inputs import encode_position
from anabranch.nets.katago.outputs import read_values
from anabranch.nets.network import Network
from anabranch.presets import katago_options
from tests.conftest import when_compiled
from tests.nets.katago_files import make_network, write_network

SIZE = 5


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A network of version 8 with random weights."""
    file = tmp_path_factory.mktemp("katago") / "random.bin.gz"
    write_network(file, make_network(version=8, seed=3))
    return file


@pytest.fixture(scope="module")
def certain(tmp_path_factory):
    """One that estimates its own errors."""
    file = tmp_path_factory.mktemp("katago") / "certain.bin.gz"
    write_network(file, make_network(version=14, seed=4))
    return file


def records(*positions: Position) -> np.ndarray:
    return np.concatenate([position.record() for position in positions])


def test_a_search_gets_priors_of_legal_moves_and_values_for_the_mover(path):
    game = Go(SIZE, 2.5)
    net = KataGoNet(path, symmetry="none", game=game)
    positions = [game.start(), game.position(["C3"]), game.position(["C3", "B2", "B3"])]
    priors, values = net(records(*positions))
    for position, prior, value in zip(positions, priors, values, strict=True):
        opinion = net.opinion(position, symmetry=0)
        assert np.flatnonzero(prior).tolist() == position.legal_actions
        assert prior.sum() == pytest.approx(1.0, abs=1e-5)
        assert np.abs(prior - opinion.priors).max() < 1e-5
        assert value == pytest.approx(opinion.evaluation.win[0] - opinion.evaluation.loss[0], abs=1e-5)


def test_values_are_what_the_game_pays(path):
    won, scored = Go(SIZE, 2.5), Go(SIZE, 2.5, returns="score")
    position = won.position(["C3", "B2"])
    evaluation = KataGoNet(path, symmetry="none").opinion(position, 0).evaluation
    values = KataGoNet(path, symmetry="none", game=scored)(records(scored.position(["C3", "B2"]))).values
    assert values[0] == pytest.approx(np.clip(evaluation.score_mean[0], *scored.value_range), abs=1e-4)
    mixed = Go(SIZE, 2.5, returns="mix")
    win, point = (mixed.fields[name] for name in ("win_weight", "score_weight"))
    values = KataGoNet(path, symmetry="none", game=mixed)(records(mixed.position(["C3", "B2"]))).values
    wanted = win * (evaluation.win[0] - evaluation.loss[0]) + point * evaluation.score_mean[0]
    assert values[0] == pytest.approx(wanted, abs=1e-5)


def test_all_symmetries_are_averaged(path):
    game = Go(SIZE, 2.5)
    position = game.position(["C3", "B2", "D4"])
    net = KataGoNet(path, symmetry="all", game=game)
    priors, values = net(records(position))
    each = [net.opinion(position, symmetry) for symmetry in range(8)]
    assert np.abs(priors[0] - np.mean([one.priors for one in each], axis=0)).max() < 1e-5
    assert values[0] == pytest.approx(np.mean([one.evaluation.win[0] - one.evaluation.loss[0] for one in each]), abs=1e-5)
    assert max(one.priors.argmax() for one in each) < game.actions


def test_a_random_symmetry_depends_on_the_position_and_the_seed_alone(path):
    game = Go(SIZE, 2.5)
    states = records(*(game.position(moves.split()) for moves in ("C3", "B2", "C3 B2", "D4 A1")))
    first = KataGoNet(path, game=game, seed=1)(states)
    again = KataGoNet(path, game=game, seed=1, batch=2)
    one_by_one = [again(states[i : i + 1]) for i in (3, 1, 0, 2)]
    for answer, i in zip(one_by_one, (3, 1, 0, 2), strict=True):
        assert np.abs(answer.priors[0] - first.priors[i]).max() < 1e-6
    others = [KataGoNet(path, game=game, seed=seed)(states).priors for seed in range(2, 6)]
    assert any(np.abs(other - first.priors).max() > 1e-6 for other in others)


def test_errors_of_values_are_told_if_the_network_knows_them(certain):
    game = Go(SIZE, 2.5)
    answer = KataGoNet(certain, game=game)(records(game.start()))
    assert answer.deviations[0] > 0.0
    assert katago_options(KataGoNet(certain))["backup"] == ab.backup.ByCertainty()


def test_rectangular_boards_and_white_to_move(path):
    game = Go((7, 4), 2.5)
    net = KataGoNet(path, symmetry="random", game=game)
    position = game.position(["G1", "A4", "D2"])
    opinion = net.opinion(position)
    assert opinion.evaluation.ownership.shape == (1, 4, 7)
    assert not opinion.legal[game.action("G1")] and not opinion.legal[game.action("A4")]
    assert opinion.legal.sum() == 28 + 1 - 3 and (opinion.priors[~opinion.legal] == 0).all()


def test_one_network_serves_many_games_with_one_model(path):
    net = KataGoNet(path)
    small, large = net.for_game(Go(SIZE, 2.5)), net.for_game(Go(7, 2.5))
    assert small.model() is large.model() is net.model()
    assert small.for_game(Go(SIZE, 2.5)) is small
    assert net.game is None


def test_copies_go_to_other_processes(path):
    game = Go(SIZE, 2.5)
    net = KataGoNet(path, symmetry="none", optimism=0.5, game=game)
    copy = pickle.loads(pickle.dumps(net))
    assert copy.optimism == 0.5 and copy.game == game
    assert np.abs(copy(records(game.start())).priors - net(records(game.start())).priors).max() < 1e-6


@pytest.mark.parametrize("symmetry", ["none", "random", "all"])
def test_a_root_has_less_optimism_than_the_tree(certain, symmetry):
    game = Go(SIZE, 2.5)
    position = game.position(["C3", "B2"])
    net = KataGoNet(certain, symmetry=symmetry, game=game)
    assert (net.optimism, net.root_optimism) == (1.0, 0.2)
    priors = net.root_priors(position)
    same = KataGoNet(certain, symmetry=symmetry, optimism=0.2, game=game)
    assert np.abs(priors - same(records(position)).priors[0])[position.legal_actions].max() < 1e-6
    assert np.abs(priors - net(records(position)).priors[0]).max() > 1e-4
    done = net.stats.evaluations
    assert net.root_priors(position) is priors and net.stats.evaluations == done  # searched once more
    net.root_optimism = 0.3
    assert np.abs(net.root_priors(position) - priors).max() > 1e-5


def test_a_root_is_like_the_tree_where_optimism_makes_no_difference(path, certain):
    position = Go(SIZE, 2.5).start()
    assert KataGoNet(path).root_priors(position) is None  # there is one policy only
    assert KataGoNet(certain, optimism=0.1).root_optimism == 0.1
    assert KataGoNet(certain, optimism=0.1).root_priors(position) is None
    assert KataGoNet(certain, root_optimism=1.0).root_priors(position) is None
    with pytest.raises(OptionError, match=r"root_optimism=-1: give a number from 0 to 1"):
        KataGoNet(certain, root_optimism=-1)


@when_compiled
def test_a_search_puts_the_optimism_of_roots_on_its_root_and_takes_it_off_again(certain):
    game = Go(SIZE, 2.5)
    options = katago_options(KataGoNet(certain, symmetry="none", game=game, batch=1)) | {"final": ab.final.MostVisits()}
    search, net = ab.Search(game, **options, seed=1), options["evaluate"]
    assert search.run(visits=1).best == net.root_priors(game.start()).argmax()
    edges = search.graph.edges[search.graph.edges["source"] == 0]
    assert edges["prior"] == pytest.approx(net(records(game.start())).priors[0][edges["action"]], abs=1e-6)


def test_mistakes_are_told(path, tmp_path):
    with pytest.raises(NetworkError, match="is a network for Go"):
        KataGoNet(path, game=ConnectFour())
    with pytest.raises(NetworkError, match="boards of up to 19 lines"):
        KataGoNet(path, game=Go(25))
    with pytest.raises(NetworkError, match="make another KataGoNet"):
        KataGoNet(path, game=Go(SIZE)).bind(Go(7))
    with pytest.raises(OptionError, match="optimism=2"):
        KataGoNet(path, optimism=2)
    with pytest.raises(OptionError, match="symmetry='some'"):
        KataGoNet(path, symmetry="some")
    with pytest.raises(NetworkError, match="there is no such file"):
        KataGoNet(tmp_path / "none.bin.gz")


def test_files_are_told_apart_by_their_ending(path, connect_four):
    assert isinstance(open_network(path, Go(SIZE), batch=3), KataGoNet)
    assert isinstance(open_network(connect_four[1], ConnectFour()), Network)


def test_a_network_that_wants_pass_alive_area_with_suicide_gets_it(tmp_path):
    network = make_network(version=17, seed=2)
    assert network.header.pass_alive_with_suicide
    game = Go(SIZE, 2.5, RULE_SETS["chinese"])
    net = KataGoNet(write_network(tmp_path / "net.bin.gz", network), symmetry="none", game=game)
    position = game.drawn("O . X X X\n. . X X X\nX X X X X\nX X X X X\nX X X X .")
    with_it, without = encode_position(position, with_suicide=True), encode_position(position, with_suicide=False)
    assert not np.array_equal(with_it[0], without[0])
    raw = net.model()(*with_it[:2])
    wanted = read_values(raw, network.header, may_end_without_result=False)
    assert net.opinion(position, 0).evaluation.win == pytest.approx(wanted.win, abs=1e-5)
    assert net(position.record()).values == pytest.approx(wanted.win - wanted.loss, abs=1e-5)


@when_compiled
@pytest.mark.parametrize("graph", [False, True])
def test_the_averages_of_a_search_are_those_of_a_walk_through_it(path, graph):
    game = Go(SIZE, 2.5)
    net = KataGoNet(path, symmetry="none", game=game)
    search = ab.Search(game, **{**katago_options(net), "graph": graph}, seed=2)
    result = search.run(game.position(["C3"]), visits=150)
    view = search.graph
    found = SearchAverages(view, net)
    win, lead, owned, _weight = walked(view, net, 0)
    assert found.root.winrate == pytest.approx(win, abs=1e-6)
    assert found.root.lead == pytest.approx(lead, abs=1e-5)
    assert np.abs(found.ownership()[0] - owned).max() < 1e-5
    assert found.root.winrate == pytest.approx(1.0 - (result.value + 1.0) / 2.0, abs=0.02)  # white moves
    best = view.edges[view.edges["source"] == 0]
    best = best[best["action"] == result.best][0]
    assert found.moves[result.best].lead == pytest.approx(walked(view, net, int(best["target"]))[1], abs=1e-5)
    assert np.abs(found.ownership(result.best)[0] - walked(view, net, int(best["target"]))[2]).max() < 1e-5
    assert set(found.moves) == {int(action) for action in np.flatnonzero(result.visits)}


def walked(view, net, node, known=None):
    """Win rate, lead and ownership below a node, black's, by going down every edge; how many evaluations that are is last."""
    known = {} if known is None else known
    if node in known:
        return known[node]
    is_known, numbers, owned = net.recall(view.nodes["key"][node : node + 1])
    sign = -1.0 if view.nodes["player"][node] == 1 else 1.0
    total = np.zeros(2 + owned.shape[1])
    wins = points = 0.0
    if view.nodes["over"][node]:
        total[0], wins = (1.0 + np.sign(view.nodes["value"][node, 0])) / 2.0, 1.0
    elif is_known[0]:
        total[0] = numbers[0, WIN if sign > 0 else LOSS]
        total[1], total[2:], wins, points = sign * numbers[0, LEAD], sign * owned[0], 1.0, 1.0
    for edge in view.edges[view.edges["source"] == node]:
        if edge["visits"] and edge["target"] >= 0:
            win, lead, below, has_points = walked(view, net, int(edge["target"]), known)
            total[0] += edge["visits"] * win
            wins += edge["visits"]
            if has_points:
                total[1] += edge["visits"] * lead
                total[2:] += edge["visits"] * below
                points += edge["visits"]
    known[node] = total[0] / wins, total[1] / max(points, 1e-9), total[2:] / max(points, 1e-9), points > 0
    return known[node]
