"""Human-like networks: profiles as numbers, and evaluations of a network that is told who plays."""

import pickle

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import OptionError
from anabranch.games.go import Go
from anabranch.nets.files import open_network
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.file import read_network
from anabranch.nets.katago.inputs import encode_position
from anabranch.nets.katago.profiles import metadata_of, parse_profile, profile_names
from anabranch.presets import katago_options
from tests.conftest import when_compiled
from tests.nets.katago_files import make_network, write_network
from tests.reference.katago_net import evaluate
from tests.reference.katago_profiles import metadata

SIZE = 5
BLACK, WHITE = 0, 1

# --- profiles ---

# Numbers that KataGo 1.17.2 computes: profile, points, who moves, and some of the 192 by their place.
KATAGO = [
    ("rank_5k", 361, BLACK, {0: 1, 19: 1, 20: 0, 74: 0.5, 79: 1, 82: 0.255546808, 83: 0.130196154, 84: 0.222955078, 86: 0}),
    ("rank_5k", 361, BLACK, {85: -0.201713204, 87: -0.90096885, 88: 0.433883727, 89: -0.997552752, 150: 0.204127505, 153: 1}),
    ("rank_3d_5k", 81, WHITE, {1: 1, 19: 1, 20: 0, 46: 1, 47: 0, 86: -0.747214377, 128: -0.956386864}),
    (
        "preaz_1d",
        25,
        BLACK,
        {14: 1, 15: 0, 75: 0, 86: -1.33500111, 87: 1, 89: -0.0345704295, 127: -0.471155673, 128: -0.882050097},
    ),
    (
        "proyear_1990",
        361,
        BLACK,
        {6: 1, 7: 0, 74: 0, 75: 1, 79: 0, 82: -0.962262154, 84: -0.403426409, 88: 0.781831503, 156: 1},
    ),
    ("proyear_2022", 169, WHITE, {83: -0.899999976, 86: -0.37948963, 88: -0.781831503, 127: 0.719464123, 156: 0, 157: 1}),
]


@pytest.mark.parametrize(("name", "points", "mover", "numbers"), KATAGO)
def test_profiles_are_the_numbers_of_katago(name, points, mover, numbers):
    row = metadata_of(name, points)[mover]
    for place, number in numbers.items():
        assert row[place] == pytest.approx(number, abs=1e-7), place


def test_all_profiles_are_those_of_the_slow_twin():
    names = [*profile_names(), "rank_9d_20k", "preaz_1k_1d", "rank_10k_9d"]
    assert len(names) == 2 * 29 + 224 + 3
    for name in names:
        for points in (361, 81, 28):
            for mover in (BLACK, WHITE):
                row = metadata_of(name, points)[mover]
                assert row.dtype == np.float32 and np.abs(row - metadata(name, points, mover == WHITE)).max() < 1e-7, name


def test_a_pair_of_ranks_is_black_and_white():
    black, white = metadata_of("rank_1d_5k", 361)
    assert np.array_equal(black[6:40], white[40:74]) and np.array_equal(white[6:40], black[40:74])
    assert black[6:40].sum() == 9 and white[6:40].sum() == 14


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("rank_5K", "did you mean rank_5k?"),
        ("rank_21k", "did you mean rank_2k?"),
        ("rank_0k", "rank_1d_5k (black, white) with ranks from 20k to 9d"),
        ("rank_5k_5k_5k", "give"),
        ("rank_5k_", "give"),
        ("proyear_1799", "or proyear_1990 with years from 1800 to 2023"),
        ("proyear_+1990", "did you mean proyear_1990?"),
        ("proyear_2024", "from 1800 to 2023"),
        ("", "is unknown; give rank_5k"),
        ("shusaku", "is unknown; give rank_5k"),
        (5, "profile=5 is unknown"),
    ],
)
def test_unknown_profiles_are_refused_in_one_line(name, said):
    with pytest.raises(OptionError) as info:
        parse_profile(name)
    assert said.lower() in str(info.value).lower() and "\n" not in str(info.value)


# --- networks ---


@pytest.fixture(scope="module")
def human(tmp_path_factory):
    """A human-like network with random weights."""
    return write_network(tmp_path_factory.mktemp("katago") / "human.bin.gz", make_network(15, metadata=True, seed=6))


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    return write_network(tmp_path_factory.mktemp("katago") / "ordinary.bin.gz", make_network(15, seed=6))


@pytest.mark.parametrize("name", ["rank_5k", "rank_1d_20k", "proyear_1846"])
def test_evaluations_are_those_of_the_reference(human, name):
    game = Go((6, 4), 2.5)
    net = KataGoNet(human, symmetry="none", game=game, profile=name)
    for moves in ([], ["C3"], ["C3", "B2", "B3"]):
        position = game.position(moves)
        planes, of_globals, legal = encode_position(position)
        told = np.array(metadata(name, 24, is_white=position.to_play == WHITE))
        wanted = evaluate(read_network(human), planes[0], of_globals[0], told)
        logits = np.append(wanted.policy[0], wanted.passing[0])  # the optimistic policy is not used
        priors = np.where(legal[0], np.exp(logits - logits.max()), 0.0)
        priors /= priors.sum()
        priors = np.append(priors[:-1].reshape(4, 6)[::-1], priors[-1])  # bottom row first
        assert np.abs(net.opinion(position, symmetry=0).priors - priors).max() < 1e-5
        assert np.abs(net.opinion(position, symmetry=0, optimism=1.0).priors - priors).max() < 1e-5
        assert np.abs(net(position.record()).priors[0] - priors).max() < 1e-5
        assert net.root_priors(position) is None


def test_each_profile_has_its_own_evaluations_and_cache(human):
    game = Go(SIZE, 2.5)
    record = game.position(["C3"]).record()
    net = KataGoNet(human, symmetry="none", game=game, profile="rank_20k")
    other = net.for_profile("rank_9d")
    assert other.model() is net.model() and other.game == game
    weak, strong = net(record), other(record)
    assert np.abs(weak.priors - strong.priors).max() > 1e-4
    alone = KataGoNet(human, symmetry="none", game=game, profile="rank_9d")(record)
    assert np.array_equal(strong.priors, alone.priors) and np.array_equal(strong.values, alone.values)
    assert np.array_equal(net(record).priors, weak.priors) and net.stats.evaluations == 1


def test_ranks_belong_to_colours(human):
    game = Go(SIZE, 2.5)
    black, white = game.start(), game.position(["C3"])
    mixed, own, other = (KataGoNet(human, profile=name) for name in ("rank_9d_20k", "rank_9d", "rank_20k_9d"))
    assert not np.allclose(mixed.opinion(black).priors, own.opinion(black).priors, atol=1e-6)  # the opponent counts too
    assert not np.allclose(mixed.opinion(white).priors, other.opinion(white).priors, atol=1e-6)


def test_profiles_go_to_other_games_and_processes(human):
    net = KataGoNet(human, symmetry="none", profile="preaz_3k", game=Go(SIZE, 2.5))
    copy = pickle.loads(pickle.dumps(net))
    assert copy.profile == "preaz_3k" and "profile='preaz_3k'" in repr(copy)
    record = Go(SIZE, 2.5).start().record()
    assert np.array_equal(copy(record).priors, net(record).priors)
    larger = net.for_game(Go(7, 2.5))
    assert larger.profile == "preaz_3k" and larger(Go(7, 2.5).start().record()).priors.shape == (1, 50)
    assert open_network(human, Go(SIZE), profile="rank_1d").opinion(Go(SIZE).start()).priors.sum() == pytest.approx(1.0)


def test_a_human_like_network_wants_a_profile_and_others_do_not(human, ordinary):
    with pytest.raises(OptionError, match=r'human\.bin\.gz is a human-like network; say whose .* profile="rank_5k"'):
        KataGoNet(human)
    with pytest.raises(OptionError, match=r"profile='rank_5k': .*ordinary\.bin\.gz is not a human-like network; leave"):
        KataGoNet(ordinary, profile="rank_5k")
    with pytest.raises(OptionError, match="profile='rank_5x' is unknown"):
        KataGoNet(human, profile="rank_5x")
    with pytest.raises(OptionError, match="profile='9d' is unknown"):
        KataGoNet(human, profile="rank_5k").for_profile("9d")


@when_compiled
def test_a_search_with_a_human_like_network(human):
    game = Go(SIZE, 2.5)
    net = KataGoNet(human, profile="rank_5k", game=game)
    result = ab.Search(game, **katago_options(net), seed=1).run(visits=50)
    assert result.visits.sum() == 50
