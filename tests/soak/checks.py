"""What holds of a search after every call. Counts and values in memory: `tests/search/invariants.py`; here, results."""

import json
from typing import Any

import numpy as np

import anabranch as ab
from anabranch.games.objects import ObjectGame
from anabranch.games.position import Position
from anabranch.search.memory.layout import POSITIONS
from tests.search.invariants import check_at_rest, check_counts, total_visits

SLACK = 1e-6  # of the range: chance events have priors in single precision
LARGE = 5_000  # positions from which on not everything is looked at every time


def has_root(search: ab.Search) -> bool:
    return search.rooted.driver is not None and search.rooted.driver.has_root


def state_of(search: ab.Search) -> tuple[Any, Any]:
    """All that a user can see: where the root is, and what was found."""
    found = None
    if has_root(search):
        view = search.graph
        found = view.nodes.tobytes(), view.edges.tobytes()
    return facts_of(search.position), found


def facts_of(position: Any) -> Any:
    """A position and how it came about, to compare."""
    if isinstance(position, Position):
        return position.data, position.moves, tuple(position.past), tuple(position.rewards), position.before
    return None if position is None else vars(position)


def check_memory(search: ab.Search) -> None:
    """Counts, and values where these follow from one another."""
    check_counts(search)
    game, rules, setting = search.game, search.options, search.rooted.setting
    plain = game.players == 2 and game.zero_sum and not game.events and game.discount == 1.0 and game.repetition == "nothing"
    turns = not isinstance(game, ab.SimultaneousGame) and "rewards" not in search.rooted.needs.columns
    averages = isinstance(rules.backup, ab.backup.Mean) and "bounds" not in search.rooted.needs.columns
    exact = not isinstance(setting.graph_rules.update, ab.graphs.CatchUp)
    if plain and turns and averages and exact:
        check_at_rest(search)


def check_result(result: ab.Result, search: ab.Search) -> None:
    """What a result says: numbers that can be, of actions that there are."""
    game, position = search.game, search.position
    visits = result.pairs if isinstance(result, ab.simultaneous.PairResult) else result.visits
    assert visits.sum() == total_visits(search)
    assert result.stats.bytes <= search.memory, f"{result.stats.bytes} bytes of {search.memory}"
    assert result.stats.nodes >= 1
    for number in numbers_of(result):
        assert np.isfinite(number).all()
    for policy in arrays_of(result.policy):
        assert abs(policy.sum() - 1.0) < 1e-6 or (policy.sum() == 0.0 and visits.sum() == 0)
    for target in arrays_of(result.target) + arrays_of(result.regularized):
        assert abs(target.sum() - 1.0) < 1e-6 or visits.sum() == 0
        assert (target >= 0.0).all()
    check_values(result, search)
    check_moves(result, search)
    if isinstance(game, ObjectGame) or game.repetition == "nothing":
        check_line(result.pv, game, position)
    json.dumps(result.to_dict(), allow_nan=False)
    assert str(result) and repr(result)


def arrays_of(found: Any) -> list[np.ndarray]:
    return list(found) if isinstance(found, tuple) else [found]


def moves_of(result: ab.Result) -> list[Any]:
    return [*result.moves[0], *result.moves[1]] if isinstance(result, ab.simultaneous.PairResult) else result.moves


def numbers_of(result: ab.Result) -> list[Any]:
    values = [move.value for move in moves_of(result) if move.value is not None]
    priors = [move.prior for move in moves_of(result)]
    return [*arrays_of(result.policy), *arrays_of(result.target), *arrays_of(result.regularized), result.value, values, priors]


def check_values(result: ab.Result, search: ab.Search) -> None:
    """Within what the game pays, where nothing is paid on the way."""
    game = search.game
    if "rewards" in search.rooted.needs.columns:
        return
    low, high = game.value_range
    if game.value_width() == 1 and game.players == 2:  # some are the other player's
        low, high = min(low, -high), max(high, -low)
    slack = SLACK * (high - low)
    moves = [move.value for move in moves_of(result) if move.value is not None]
    for value in [*np.atleast_1d(result.value), *moves]:
        assert low - slack <= value <= high + slack, f"a value of {value}, and the game pays {low} to {high}"


def check_moves(result: ab.Result, search: ab.Search) -> None:
    """All legal actions and no others."""
    position = search.position
    legal = legal_at(search.game, position)
    if isinstance(result, ab.simultaneous.PairResult):
        assert all(action in actions for action, actions in zip(result.best, position.legal_actions, strict=True))
        return
    shown = [move.action for move in result.moves]
    assert set(legal) <= set(shown) and len(set(shown)) == len(shown)
    assert result.best in (legal or shown)
    assert search.game.repetition == "forbidden" or len(shown) == len(legal)


def check_line(line: list[Any], game: Any, position: Any) -> None:
    """The principal variation can be played."""
    for action in line:
        if isinstance(game, ObjectGame):
            assert action in legal_at(game, position)
            position = game.play(position, action)
        else:
            position = position.play(action)


def legal_at(game: Any, position: Any) -> list[Any]:
    """What may be played or happen; edges, where both move."""
    if not isinstance(game, ObjectGame):
        return list(position.edges)
    if game.is_over(position):
        return []
    if game.to_play(position) == ab.CHANCE:
        return np.flatnonzero(game.probabilities(position)).tolist()
    return game.legal_actions(position)


def is_large(search: ab.Search) -> bool:
    return int(search.rooted.graph.used[POSITIONS]) > LARGE
