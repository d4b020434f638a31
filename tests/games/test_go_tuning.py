"""Games between numbers drawn at random, and what decided them."""

import json

import numpy as np
import pytest
from benchmarks import tune_go

from anabranch.games.go import MoGo, Shapes
from anabranch.search.select.rave import Rave

FIRST = {name: values[0] for name, values in tune_go.NUMBERS.items()}


def test_what_values_are_worth_is_found_again():
    """Games whose winners were drawn by known differences of Elo; black is worth 50."""
    random = np.random.default_rng(2)
    truth = {("bias", 0.018): 120.0, ("own", 0.3): -80.0}
    games = []
    for _ in range(6000):
        sides = [{**FIRST, "bias": random.choice([0.009, 0.018]), "own": random.choice([0.0, 0.3])} for _ in range(2)]
        worth = [sum(elo for (name, value), elo in truth.items() if side[name] == value) for side in sides]
        chance = 1.0 / (1.0 + 10.0 ** ((worth[1] - worth[0] - 50.0) / 400.0))
        games.append({"black": sides[0], "white": sides[1], "black_won": bool(random.random() < chance)})
    found = tune_go.fit(games)
    assert {(name, value) for name, value, *_ in found} == set(truth)  # no word of what did not vary
    for name, value, elo, error, count in found:
        assert error < 10.0 and abs(elo - truth[name, value]) < 3.0 * error
        assert 2500 < count < 3500


@pytest.mark.when_compiled  # three games of Go
def test_games_are_played_on(tmp_path, capsys):
    path = tmp_path / "games.jsonl"
    values = tune_go.values_of(["bias=0.009,0.018", "own=0,0.3"])
    for games in (1, 3):
        tune_go.play(path, games, 10, values, seed=1)
    games = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(games) == 3
    for game in games:
        for side in (game["black"], game["white"]):
            assert side["bias"] in (0.009, 0.018) and side["own"] in (0.0, 0.3) and side["weight"] == FIRST["weight"]
    tune_go.show([path])
    assert "3 games" in capsys.readouterr().out


def test_numbers_are_those_of_the_player():
    options = tune_go.parse(tune_go.player({**FIRST, "bias": 0.5, "own": 0.25, "nakade": 0.75}), tune_go.GAME).options
    assert options["select"] == Rave(bias=0.5)
    assert options["heuristic"] == Shapes(own=0.25)
    assert options["evaluate"].policy == MoGo(0.8, 0.75, pattern=0.8, second_last=0.2, capture=0.8, self_atari=0.5)


def test_an_unknown_number_is_named():
    with pytest.raises(SystemExit, match="there is no number 'bais'; there are bias, c,"):
        tune_go.values_of(["bais=1"])
