"""The Go engine with a network: it plays for KataGo's utility, and reports and resigns by win rates."""

import pytest

from anabranch.games.go import Go, Utility
from anabranch.goengine.engine import Engine
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.report import report_of
from anabranch.goengine.searches import Options, new_search
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.nets.katago.search import KataGoSearch
from tests.conftest import when_compiled
from tests.nets.katago_files import make_network, write_network

SIZE, KOMI = 5, 2.5

pytestmark = when_compiled


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    """A network with random weights."""
    file = tmp_path_factory.mktemp("katago") / "random.bin.gz"
    write_network(file, make_network(version=8, seed=3))
    return KataGoNet(file, symmetry="none")


def options(net, **more) -> Options:
    return Options(size=SIZE, komi=KOMI, net=net, visits=40, memory="20MB", **more)


def test_a_game_is_played_to_its_end(net):
    engine = Engine(options(net, resign=0.0))
    while not engine.position.is_over and len(engine.moves) < 120:
        engine.commit(engine.choose(engine.position.to_play))
    assert engine.moves
    assert isinstance(engine.search, KataGoSearch)


def test_reports_tell_win_rates_from_utilities(net):
    chosen = options(net, utility=Utility(win=1.0, static=0.4, dynamic=0.4))
    game = Go(SIZE, KOMI)
    search, position = new_search(game, chosen, 0), game.position(["C3", "B2"])
    result = search.run(position, visits=60)
    report = report_of(result, position, Estimator(position, chosen)(search, result))
    assert report.utility == pytest.approx(result.value)
    assert report.winrate == pytest.approx(search.averages().root.winrate)
    assert 0.0 <= report.lcb <= report.winrate <= 1.0
    assert report.utility - report.utility_lcb == pytest.approx(2 * (report.winrate - report.lcb))
    for move in report.moves:
        assert move.utility == pytest.approx(next(row.value for row in result.moves if row.action == move.action))
        assert move.winrate == pytest.approx(search.averages().moves[move.action].winrate)


def test_the_engine_resigns_by_its_win_rate(net):
    engine = Engine(options(net, resign=1.0))  # every win rate is too low
    engine.set_komi(90.5)
    for _ in range(2):
        engine.commit(engine.choose(0))
        engine.play(1, engine.game.actions - 1)
    assert engine.choose(0).action is None
    engine.options = options(net, resign=0.0)
    assert engine.choose(0).action is not None


def test_another_komi_is_another_game_for_the_same_network(net):
    engine = Engine(options(net))
    engine.commit(engine.choose(0))
    before = engine.search.net
    engine.set_komi(-20.5)
    engine.commit(engine.choose(1))
    assert engine.search.net is not before and engine.search.net.model() is before.model()
