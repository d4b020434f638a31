"""Results: what they say, how they print, and that they travel."""

import json
import pickle

import numpy as np
import pytest

import anabranch as ab
from anabranch.games import ConnectFour, Hex, Pig, TicTacToe, TriNim
from tests.search.games import Board


@pytest.fixture(scope="module")
def result():
    return ab.Search(ConnectFour(), select=ab.UCT(c=1.2), seed=11).run(visits=300)


def test_visits_and_policy_are_over_all_actions():
    position = ConnectFour().position("dddddd")  # the column d is full
    result = ab.Search(ConnectFour()).run(position, visits=300)
    assert result.visits.shape == result.policy.shape == (7,)
    assert result.visits[3] == result.policy[3] == 0
    assert result.policy.sum() == pytest.approx(1.0)
    assert {move.action for move in result.moves} == {0, 1, 2, 4, 5, 6}


def test_moves_stand_in_order_of_visits(result):
    assert [move.visits for move in result.moves] == sorted(result.visits.tolist(), reverse=True)
    assert result.moves[0].action == result.best == int(result.visits.argmax())
    assert result.best_name == ConnectFour().name_of(result.best)


def test_a_moves_value_and_share_are_its_own(result):
    for move in result.moves:
        assert move.visits == result.visits[move.action]
        assert move.share == pytest.approx(result.policy[move.action])
        assert -1.0 <= move.value <= 1.0
    means = sum(move.value * move.visits for move in result.moves) / 300
    assert result.value == pytest.approx(means, abs=1 / 150)  # the root's own evaluation is in it, too


def test_it_prints_as_a_table(result):
    lines = str(result).splitlines()
    assert lines[0].split() == ["move", "visits", "share", "value", "principal", "variation"]
    assert len(lines) == 1 + 7 + 1
    for line, move in zip(lines[1:8], result.moves, strict=True):
        assert line.split()[:2] == [move.name, str(move.visits)]
    assert "300 simulations" in lines[-1]
    assert "stopped by visits" in lines[-1]
    assert repr(result).startswith(f"Result(best={result.best_name}, visits=")


def test_a_long_table_is_cut():
    text = str(ab.Search(Hex(5)).run(visits=50))
    assert "... and 13 more" in text


def test_a_move_that_was_never_tried_has_no_value():
    result = ab.Search(TicTacToe()).run(visits=1)
    assert [move.value for move in result.moves[1:]] == [None] * 8
    assert str(result)
    json.dumps(result.to_dict())


def test_it_shows_itself_in_a_notebook(result):
    html = result._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<tr>") == 8


def test_three_players_and_chance_print_as_well():
    assert str(ab.Search(TriNim()).run(visits=50)).count("+") >= 3
    at_chance = ab.Search(Pig()).run(Pig().position(["roll"]), visits=200)
    assert {move.name for move in at_chance.moves} == set("123456")
    line = ab.Search(Pig()).run(visits=500).moves[0].pv
    assert line[0] == "roll"
    assert line[1].startswith("[") and line[1].endswith("]")


def test_as_a_dictionary_it_goes_through_json_and_carries_how_it_was_made(result):
    told = json.loads(json.dumps(result.to_dict()))
    assert told["best"] == result.best
    assert told["visits"] == result.visits.tolist()
    assert told["policy"] == pytest.approx(result.policy.tolist())
    assert told["stats"]["simulations"] == 300
    assert told["moves"][0]["pv"] == list(result.moves[0].pv)
    settings = told["settings"]
    assert settings["version"] == ab.__version__
    assert settings["seed"] == 11
    assert settings["game"] == "ConnectFour()"
    assert settings["select"] == "UCT(c=1.2, fpu=ConstantFPU(value=inf))"
    assert settings["evaluate"].startswith("Rollout(")


def test_the_settings_name_a_function():
    def my_network(states):
        return None, [0.0]

    result = ab.Search(TicTacToe(), evaluate=my_network).run(visits=2)
    assert "my_network" in result.settings["evaluate"]


def test_results_pickle(result):
    copy = pickle.loads(pickle.dumps(result))
    assert copy.to_dict() == result.to_dict()
    assert (copy.visits == result.visits).all()


def test_games_and_positions_pickle():
    for game in (Hex(5), Pig(target=30), TriNim(9)):
        copy = pickle.loads(pickle.dumps(game))
        assert copy == game
        assert copy.start() == game.start()
        position = game.start().play(game.start().legal_actions[0])
        assert pickle.loads(pickle.dumps(position)) == position


def test_the_speed_and_the_size_are_told(result):
    assert result.stats.speed == pytest.approx(300 / result.stats.seconds)
    assert result.stats.evaluations == 301
    assert result.stats.nodes == 301
    assert result.stats.merges == 0
    assert 300 * 24 < result.stats.bytes < 300 * 8 * 24


def test_objects_without_names_are_called_by_number():
    class Nameless(Board):
        name_of = None

    result = ab.Search(Nameless).run(visits=20)
    assert result.best_name == str(result.best)
    assert isinstance(result.best, int) and not isinstance(result.best, np.integer)
