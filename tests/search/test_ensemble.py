"""Independent trees, added up."""

import numpy as np
import pytest
from pytest import approx

import anabranch as ab
from anabranch.games import ConnectFour, TriNim

GAME = ConnectFour()


@pytest.mark.when_compiled
def test_an_ensemble_is_the_sum_of_its_searches():
    ensemble = ab.Ensemble(GAME, threads=3, memory="30MB", seed=4)
    result = ensemble.run(visits=1000)
    alone = [ab.Search(GAME, memory="10MB", seed=4 + n).run(visits=334 if n == 0 else 333) for n in range(3)]
    assert result.visits.tolist() == np.sum([each.visits for each in alone], axis=0).tolist()
    assert result.stats.simulations == result.visits.sum() == 1000
    assert result.policy == approx(result.visits / 1000)
    weights = [each.visits.sum() for each in alone]
    assert result.value == approx(np.average([each.value for each in alone], weights=weights))
    for move in result.moves:
        rows = [next(row for row in each.moves if row.action == move.action) for each in alone]
        assert move.visits == sum(row.visits for row in rows)
        assert move.value == approx(sum(row.value * row.visits for row in rows) / move.visits)
    assert result.moves[0].action == result.best == int(result.visits.argmax())
    assert result.pv[0] == result.best
    assert "ensemble" in result.to_dict()["settings"]


def test_an_ensemble_goes_on():
    ensemble = ab.Ensemble(GAME, threads=2, memory="20MB")
    ensemble.advance(ensemble.run(visits=400).best)
    result = ensemble.run(total=500)
    assert result.visits.sum() == 500
    assert result.stats.kept > 0
    assert len(ensemble.position.moves) == 1


def test_values_of_several_players_are_averaged():
    result = ab.Ensemble(TriNim(), threads=2, memory="2MB").run(visits=200)
    assert len(result.value) == 3
    assert sum(result.value) == approx(sum(ab.Search(TriNim(), memory="1MB").run(visits=200).value), abs=0.5)


def test_fewer_simulations_than_trees():
    assert ab.Ensemble(GAME, threads=4, memory="4MB").run(visits=2).visits.sum() == 2


def test_what_an_ensemble_is_given_is_checked():
    with pytest.raises(ab.errors.SearchError, match="threads"):
        ab.Ensemble(GAME, threads=0)
    with pytest.raises(ab.errors.SearchError, match="how long"):
        ab.Ensemble(GAME, threads=2, memory="2MB").run()
