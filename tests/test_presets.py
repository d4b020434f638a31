"""How games are best searched: the options go together, and those who say they use them do."""

import pytest

from anabranch.arena.notation import SearchSpec, parse
from anabranch.games import ConnectFour, Hex
from anabranch.games.go import Go, MoGo, Shapes
from anabranch.games.go.mogo import RELAXED
from anabranch.games.registry import load
from anabranch.games.tictactoe import TicTacToe
from anabranch.goengine.clock import TimeSettings
from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options, new_search
from anabranch.presets import best_options, boards_of
from anabranch.search.searcher import Search
from anabranch.search.select.rave import Rave
from anabranch.search.select.uct import UCT
from anabranch.search.select.wide_root import WideRoot


@pytest.mark.parametrize("game", [Go(9), Go(13), Go(19), Hex(size=5)], ids=repr)
def test_options_go_together(game):
    search = Search(game, **best_options(game))
    assert isinstance(search.options.select, Rave)


def test_a_game_without_measurements_has_the_defaults():
    assert best_options(TicTacToe()) == {} and best_options(ConnectFour(), networks=False) == {}


def test_nobody_changes_the_options_of_others():
    best_options(Go(9))["select"] = UCT()
    assert isinstance(best_options(Go(9))["select"], Rave)


def test_the_engine_behind_gtp_uses_them_unless_told_otherwise():
    best = new_search(Go(9), Options(), 0)
    assert isinstance(best.options.select.rule, Rave) and isinstance(best.heuristic, Shapes)
    assert best.options.evaluate.policy == RELAXED
    told = new_search(Go(9), Options(select="uct", exploration=0.3, policy=MoGo(nakade=1.0)), 0)
    assert told.options.select == WideRoot(UCT(0.3), 0.0) and told.heuristic is None
    assert told.options.evaluate.policy == MoGo(nakade=1.0)
    assert new_search(Go(9), Options(exploration=0.3), 0).options.select.rule.c == 0.3


def test_a_game_whose_boards_have_kernels_of_their_own_means_all_that_are_usual():
    kinds = {type(load(name)) for name in boards_of("go")}
    assert kinds == {type(Go(9)), type(Go(13)), type(Go(19))}
    assert boards_of("go:size=25") == ("go:size=25",) and boards_of("hex") == ("hex",)


def test_a_player_of_matches_is_called_best():
    spec = parse("best visits=10 bias=0.1", Go(9))
    assert isinstance(spec, SearchSpec)
    assert spec.options["select"].bias == 0.1 and isinstance(spec.options["heuristic"], Shapes)


def test_what_must_be_compiled_is_compiled_before_a_clock_runs(monkeypatch):
    warmed = []
    monkeypatch.setattr(Engine, "warm", lambda engine: warmed.append(engine.game.width))
    engine = Engine(Options(size=13))
    engine.set_time(TimeSettings())
    assert warmed == []
    engine.set_time(TimeSettings("absolute", 60.0))
    assert warmed == [13]
