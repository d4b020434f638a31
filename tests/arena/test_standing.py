"""What is told of results, in words, numbers and drawings."""

import json
from xml.etree import ElementTree

import pytest

from anabranch.arena.match import Match
from anabranch.arena.playing import Played
from anabranch.arena.plot import rating_chart, running, running_score
from anabranch.arena.rating import Tally, ratings, wilson
from anabranch.arena.sprt import parse
from anabranch.arena.standing import Standing, elo_text, ratings_of
from anabranch.chart import ticks

MATCH = Match("a: random", "b: random", game="nim")


def game(number, score, **more):
    black = number % 2
    points = score if black == 0 else 1 - score
    fields = {"result": {1: "1-0", 0.5: "1/2-1/2", 0: "0-1"}[points], "ending": "played out", "reason": "", "referee": "rules"}
    return Played(number, black, score, **{**fields, "moves": str(number), "plies": 10, "seconds": (1.0, 0.5), **more})


def standing(scores, sprt=None, **more):
    return Standing(MATCH, ("a", "b"), [game(number, score, **more) for number, score in enumerate(scores)], sprt)


def test_points_are_counted_by_side_and_seat():
    stands = standing([1, 0, 1, 0.5, 1, 0])
    assert stands.counts == Tally(3, 1, 2)
    assert stands.moving(0) == Tally(3, 0, 0) and stands.moving(1) == Tally(0, 1, 2)
    assert str(stands).splitlines()[:3] == [
        "player  points  won  drawn  lost     first    second  forfeits  s/move",
        "a          3.5    3      1     2    3 of 3  0.5 of 3         0   0.200",
        "b          2.5    2      1     3  2.5 of 3    0 of 3         0   0.100",
    ]
    assert "58.3 % (" in str(stands) and "6 games, 6 of them different; played out 6" in str(stands)


def test_games_that_repeat_another_one_are_noticed():
    assert standing([1, 1, 1, 1], moves="1 2 3").different == 2  # one a seat


def test_forfeits_are_told_with_the_last_reason():
    stands = standing([1, 0], ending="crash", reason="it died")
    assert len(stands.forfeits(0)) == len(stands.forfeits(1)) == 1
    assert "b forfeited 1 of 2 games; the last by crash: it died" in stands.lines()


def test_versions_are_told_where_they_differ():
    both = Standing(MATCH, ("a", "b"), [game(0, 1, version="1"), game(1, 0, version="2")])
    assert "played by versions 1, 2 of the program" in both.lines()


def test_a_match_without_games_is_no_trouble():
    assert standing([]).lines() == ["no game has ended yet"]
    assert json.loads(json.dumps(standing([]).to_dict()))["games"] == 0
    ElementTree.fromstring(running_score(standing([])))


def test_everything_is_there_for_programs_and_infinity_is_null():
    told = json.loads(json.dumps(standing([1] * 10, parse("0,100")).to_dict(), allow_nan=False))
    assert told["elo"]["value"] is None and told["elo"]["low"] > 0 and told["rate"]["value"] == 1.0
    assert told["sprt"]["accepted"] is None and told["sprt"]["games"] == 10
    assert told["match"] == MATCH.to_dict() and told["forfeits"] == [0, 0]


def test_an_infinite_elo_is_told_by_the_end_that_is_known():
    assert elo_text(standing([1] * 10).elo) == "above +166"
    assert elo_text(standing([0] * 10).elo) == "below -166"


def test_ratings_add_up_matches_of_the_same_players():
    rated = ratings_of([standing([1, 0, 1]), standing([1, 1, 0])])
    assert [(rating.name, rating.games, rating.score) for rating in rated] == [("a", 6, 4.0), ("b", 6, 2.0)]


# --- drawings ---------------------------------------------------------------------------------------------------------


def test_the_running_score_is_drawn_with_its_interval():
    scores = [1, 0, 1, 0.5]
    assert running(scores) == [(n, sum(scores[:n]) / n, *wilson(sum(scores[:n]), n)) for n in range(1, 5)]
    drawing = running_score(standing(scores, parse("0,50")))
    ElementTree.fromstring(drawing)
    assert drawing.count('class="score"') == drawing.count('class="interval"') == 1
    assert drawing.count('class="hypothesis"') == 2 and "a against b" in drawing
    assert len(running([1.0] * 10_000)) <= 401


def test_ratings_are_drawn_a_row_a_player_and_names_are_no_markup():
    rated = ratings({("a<b>", "c & d"): Tally(6, 0, 4), ("c & d", "e"): Tally(6, 0, 4)})
    drawing = rating_chart(rated, "A cup & more")
    ElementTree.fromstring(drawing)
    assert drawing.count('class="rating"') == 3 and "a&lt;b&gt;" in drawing
    ElementTree.fromstring(rating_chart([], "nobody"))


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 7), (0, 400), (-230, 180), (0, 12345), (1799, 1801)])
def test_ticks_are_few_round_numbers_within_the_scale(low, high):
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 9 and all(low <= mark <= high for mark in marks)
