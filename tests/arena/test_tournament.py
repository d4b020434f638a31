"""Tournaments from files: who meets whom, who is rated how, and what is said of files that make no sense."""

import json

import pytest

from anabranch.arena import Tournament, play
from anabranch.arena.standing import ratings_of
from anabranch.arena.tournament import pairings
from anabranch.errors import ArenaError

FILE = """
game = "tictactoe"
games = 4
opening_plies = 1
seed = 5
anchor = { random = 1000 }
db = "here.db"

[players]
random = "random"
better = "uct visits=30"

[series]
player = "uct visits={value} c=0.7"
values = [5, 10]
"""


@pytest.fixture
def read(tmp_path):
    def reading(text):
        (tmp_path / "cup.toml").write_text(text)
        return Tournament.read(tmp_path / "cup.toml")

    return reading


def test_pairs_of_each_system():
    names = ["a", "b", "c", "d"]
    assert pairings("round-robin", names) == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    assert pairings("gauntlet", names) == [("a", "b"), ("a", "c"), ("a", "d")]
    assert pairings("ladder", names) == [("b", "a"), ("c", "b"), ("d", "c")]


def test_a_file_becomes_matches_with_its_names_and_terms(read, tmp_path):
    cup = read(FILE)
    assert cup.name == "cup" and cup.games == 4 and cup.anchor == ("random", 1000.0)
    assert cup.players == ["random", "better", "visits=5", "visits=10"]
    assert cup.db == str(tmp_path / "here.db")
    assert len(cup.matches) == 6
    match = cup.matches[-1]
    assert match.names == ("visits=5", "visits=10") and (match.opening_plies, match.seed) == (1, 5)
    assert [spec.text for spec in match.table.specs] == ["uct visits=5 c=0.7", "uct visits=10 c=0.7"]


def test_a_series_is_named_after_what_changes(read):
    def names(player, values):
        return read(f'game = "go:size=5"\nvisits = 9\n[series]\nplayer = "{player}"\nvalues = {json.dumps(values)}\n').players

    assert names("uct policy=MoGo(self_atari={value})", [0.5, 1]) == [
        "policy=MoGo(self_atari=0.5)",
        "policy=MoGo(self_atari=1)",
    ]
    assert names("sh --level {value}", [1, 2]) == ["level 1", "level 2"]
    assert names("uct final={value}", ["MostVisits", "ByValue"]) == ["final=MostVisits", "final=ByValue"]


def test_openings_are_found_beside_the_file(read, tmp_path):
    (tmp_path / "o.txt").write_text("b2 a1\n")
    assert read('openings = "o.txt"\n' + FILE).matches[0].openings == (("b2", "a1"),)


def test_a_tournament_is_played_rated_and_goes_on(read, in_process):
    cup = read(FILE)
    told = []
    standings = play(cup.matches, cup.games, cup.db, on_game=lambda *news: told.append(news))
    assert len(told) == 24 and all(len(standing.games) == 4 for standing in standings)
    rated = ratings_of(standings, *cup.anchor)
    assert {rating.name for rating in rated} == set(cup.players)
    assert next(rating for rating in rated if rating.name == "random").elo == 1000
    assert sum(rating.score for rating in rated) == 24
    told.clear()
    play(cup.matches, cup.games + 1, cup.db, on_game=lambda *news: told.append(news))
    assert len(told) == 6


BAD = {
    'games = 3\n[players]\na = "random"\nb = "random"': "name a game",
    'game = "nim"\n[players]\na = "random"': "two players or more",
    'game = "nim"\nsystem = "swiss"\n[players]\na = "random"\nb = "playout"': "there is no system 'swiss'; choose from",
    'game = "nim"\ngams = 3': "there is no key `gams`; did you mean games? Known keys",
    'game = "nim"\ngames = "many"': "games = 'many' has the wrong type or value",
    'game = "nim"\n[players]\na = "random"\nb = 3': "player 'b': write a name and a text",
    'game = "nim"\n[players]\na = "random"\n"b: c" = "random"': "player 'b: c': write a name and a text",
    'game = "nim"\n[series]\nplayer = "random"\nvalues = [1]': "needs player",
    'game = "nim"\nanchor = { c = 3 }\n[players]\na = "random"\nb = "playout"': "one player of a, b",
    'game = "nim"\n[players]\na = "random"\nb = "uct"': "how long may 'uct' search",
    'game = "nim"\n[players]\na = "random"\nb = "playout"\nc = "random"': "a and c are the same player, 'random'",
    "game = ": "is not TOML",
}


@pytest.mark.parametrize("text", BAD, ids=BAD.values())
def test_files_that_make_no_sense_are_told_with_their_name(read, text):
    with pytest.raises(ArenaError) as told:
        read(text)
    assert BAD[text] in str(told.value) and "cup.toml" in str(told.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ArenaError, match=r"none\.toml cannot be read: No such file"):
        Tournament.read(tmp_path / "none.toml")
