"""Answers of KataGo's analysis protocol: what a search has found, as the fields of a JSON object. Above: `analysis.py`."""

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from anabranch.games.go import Go
from anabranch.games.go.layout import NO_CELL, action_of
from anabranch.games.position import Position
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.report import LONGEST_LINE, Candidate, Report, report_of
from anabranch.goengine.searches import Options
from anabranch.goengine.turns import LETTERS, go_of
from anabranch.nets.katago.evaluator import KataGoNet, Opinion
from anabranch.protocols.details import MISSING, Details, raw_errors, selection_values
from anabranch.protocols.info_lines import from_the_top
from anabranch.protocols.queries import Query
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search

DIGITS = 6  # behind the decimal point
MOST_OWNED = 10  # moves, the best ones, whose ownership is reported if that is wanted: by playouts, each takes some 200


def fields_of(
    query: Query, position: Position, search: Search, result: Result, estimator: Estimator, view: str
) -> dict[str, Any]:
    """What is said of a position; `view`: whose win rates are reported."""
    guess = estimator(search, result)
    details = Details(search, estimator, guess)
    longest = LONGEST_LINE if query.longest_line is None else query.longest_line + 1
    report = report_of(result, position, guess, query.hidden[position.to_play], longest=longest)
    flip = view != "SIDETOMOVE" and view[0] != LETTERS[report.player]
    moves = _moves(report, details, flip)
    fields: dict[str, Any] = {"moveInfos": moves, "rootInfo": _root(report, position, flip)}
    if details.opinion is not None:
        fields["rootInfo"] |= _raw(details.opinion, flip)
    for move, info in zip(report.moves, moves, strict=True):
        info |= _extras(query, move, details, flip)
    if query.wants_ownership and report.ownership is not None:
        fields["ownership"] = _board(report.ownership, details.game, flip)
    if query.wants_ownership_spread and (spread := details.ownership_spread()) is not None:
        fields["ownershipStdev"] = _board(spread, details.game)
    if query.wants_policy:
        policy = details.policy({move.action: move.prior for move in result.moves})
        fields["policy"] = _policy(policy, details.game)
    if details.human is not None:
        _add_human(query, report, details, fields, flip)
    return fields


def _add_human(query: Query, report: Report, details: Details, fields: dict[str, Any], flip: bool) -> None:
    """How people would play, where there is a network that says so."""
    human = details.human
    assert human is not None
    fields["rootInfo"] |= _human(human, flip)
    for move, info in zip(report.moves, fields["moveInfos"], strict=True):
        info["humanPrior"] = round(float(human.priors[move.action]), DIGITS)
    if query.wants_policy:
        fields["humanPolicy"] = _policy(np.where(human.legal, human.priors, -1.0), details.game)


def _policy(priors: np.ndarray, game: Go) -> list[float]:
    """A number for each point, and for a pass."""
    return [*_board(priors[:-1], game), round(float(priors[-1]), DIGITS)]


def _extras(query: Query, move: Candidate, details: Details, flip: bool) -> dict[str, Any]:
    """What was asked for of each move."""
    extras: dict[str, Any] = {}
    if query.wants_line_visits:
        extras["pvVisits"], extras["pvEdgeVisits"] = details.line_visits(move.line)
    if query.wants_no_result and (chance := details.no_result(move.action)) is not None:
        extras["noResultValue"] = round(chance, DIGITS)
    if query.wants_moves_ownership and (details.net is not None or move.order < MOST_OWNED):
        extras["ownership"] = _board(details.ownership_after(move), details.game, flip)
    if query.wants_moves_ownership_spread and (spread := details.ownership_spread(move.action)) is not None:
        extras["ownershipStdev"] = _board(spread, details.game)
    return extras


def _board(numbers: np.ndarray, game: Go, flip: bool = False) -> list[float]:
    """A number for each point, the top row first, for the player to move or for the opponent."""
    return _rounded(from_the_top(-numbers if flip else numbers, game))


def _rounded(numbers: Iterable[float]) -> list[float]:
    return [round(number, DIGITS) for number in numbers]


def _moves(report: Report, details: Details, flip: bool) -> list[dict[str, Any]]:
    selected = selection_values(report)
    return [
        {
            "move": move.name,
            "visits": details.visits(move),
            "edgeVisits": move.visits,
            "weight": float(details.visits(move)),
            "edgeWeight": float(move.visits),
            "playSelectionValue": selected[move.action],
            **_values(move, flip),
            "prior": round(move.prior, DIGITS),
            "order": move.order,
            "pv": list(move.line),
        }
        for move in report.moves
    ]


def _root(report: Report, position: Position, flip: bool) -> dict[str, Any]:
    low, high = position.key
    return {
        "visits": report.visits,
        "weight": float(report.visits),
        **_values(report, flip),
        "currentPlayer": LETTERS[report.player],
        "thisHash": f"{high:016X}{low:016X}",
        "symHash": symmetric_hash(position),
    }


def symmetric_hash(position: Position) -> str:
    """A hash of the stones, who moves and the simple ko, the same for positions that are symmetric to one another."""
    game, state = go_of(position), position.state
    board = np.zeros(game.actions - 1, np.uint8)
    for action, player in stones_of(position).items():
        board[action] = 1 + (player or 0)
    if state.ko_cell != NO_CELL:
        board[int(action_of(state, np.uint64(state.ko_cell)))] = 3
    sides = (board[points].tobytes() + bytes([position.to_play]) for points in game.symmetries().points)
    return min(hashlib.blake2b(side, digest_size=16).hexdigest().upper() for side in sides)


def _raw(opinion: Opinion, flip: bool) -> dict[str, float]:
    """What the network alone says of the root, from the view that is wanted."""
    found, errors = opinion.evaluation, raw_errors(opinion)
    side = -1.0 if flip else 1.0
    win = float(found.win[0] + found.no_result[0] / 2)
    if errors["rawStWrError"] != MISSING:
        errors["rawStWrError"] /= 2  # from win - loss to win rates
    raw = {
        "rawWinrate": 1.0 - win if flip else win,
        "rawLead": side * float(found.lead[0]),
        "rawScoreMean": side * float(found.score_mean[0]),
        "rawScoreSelfplay": side * float(found.score_mean[0]),
        "rawScoreSelfplayStdev": float(found.score_stdev[0]),
        "rawNoResultProb": float(found.no_result[0]),
        **errors,
    }
    return {name: round(number, DIGITS) for name, number in raw.items()}


def _human(opinion: Opinion, flip: bool) -> dict[str, float]:
    """What a human-like network says of the root, from the view that is wanted."""
    raw = _raw(opinion, flip)
    names = {
        "humanWinrate": "rawWinrate",
        "humanScoreMean": "rawScoreSelfplay",
        "humanScoreStdev": "rawScoreSelfplayStdev",
        "humanStWrError": "rawStWrError",
        "humanStScoreError": "rawStScoreError",
    }
    return {name: raw[own] for name, own in names.items()}


def models_of(options: Options) -> list[dict[str, Any]]:
    """The engine's networks, as KataGo describes them."""
    return [_model_info(net) for net in (options.net, options.human_net) if net is not None]


def _model_info(net: KataGoNet) -> dict[str, Any]:
    header = net.model().header
    return {
        "name": net.path.name,
        "internalName": header.name,
        "maxBatchSize": net.batch,
        "usesHumanSLProfile": header.has_metadata,
        "version": header.version,
        "usingFP16": "false",
    }


def _values(said: Candidate | Report, flip: bool) -> dict[str, float]:
    """Numbers from the view that is wanted."""
    side, points = -1.0 if flip else 1.0, said.points
    winrate, lcb = (1.0 - said.winrate, 1.0 - said.lcb) if flip else (said.winrate, said.lcb)
    found = {"winrate": winrate, "lcb": lcb, "utility": side * said.utility, "utilityLcb": side * said.utility_lcb}
    if points is not None:
        lead, score = side * points.lead, side * points.score
        found |= {"scoreLead": lead, "scoreMean": lead, "scoreSelfplay": score, "scoreStdev": points.spread}
    return {name: round(number, DIGITS) for name, number in found.items()}
