"""What else shows a search in which both players move at once: drawings of its graph, and who refuses it."""

import json

import pytest

import anabranch as ab
from anabranch.games import PyRat
from anabranch.games.goofspiel import Goofspiel
from tests.conftest import in_soak

GAME = PyRat(preset="5x5")


@pytest.fixture(scope="module")
def search():
    found = ab.Search(GAME, evaluate=ab.Uniform(), graph=True)
    found.run(visits=100)
    return found


@in_soak
def test_edges_are_drawn_by_the_names_of_both_actions(search):
    view = search.graph
    assert "up/down" in view.to_dot(10) and "up/down" in view.svg(10)
    named = {edge["name"] for edge in json.loads(view.to_json())["edges"]}
    assert {"up/down", "right/left", "stay/stay"} <= named


def test_an_ensemble_refuses_it():
    with pytest.raises(ab.errors.SearchError, match="both move at once"):
        ab.Ensemble(GAME, threads=2)


@in_soak
def test_a_line_that_begins_with_luck_can_be_played():
    search = ab.Search(Goofspiel(3, "random"), evaluate=ab.Uniform())
    position = search.game.start()
    for move in search.run(visits=60).pv:
        position = position.play(move)
    assert len(position.moves) > 1
