"""Answers of KataGo's analysis protocol: what a search has found, as the fields of a JSON object. Above: `analysis.py`."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from anabranch.games.go import Go
from anabranch.games.go.layout import NO_CELL, action_of
from anabranch.games.position import Position
from anabranch.goengine.estimates import Estimator
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.network_estimate import NetworkEstimate
from anabranch.goengine.report import LONGEST_LINE, Candidate, Report, report_of
from anabranch.goengine.turns import LETTERS, go_of
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.protocols.info_lines import from_the_top
from anabranch.protocols.queries import Query
from anabranch.search.memory.layout import NO_NODE
from anabranch.search.results.export import GraphView
from anabranch.search.results.result import Result
from anabranch.search.searcher import Search

DIGITS = 6  # behind the decimal point
MOST_OWNED = 10  # moves, the best ones, whose ownership is reported if that is wanted: by playouts, each takes some 200


def fields_of(
    query: Query, position: Position, search: Search, result: Result, estimator: Estimator, view: str
) -> dict[str, Any]:
    """What is said of a position; `view`: whose win rates are reported."""
    game, guess = go_of(position), estimator(search, result)
    longest = LONGEST_LINE if query.longest_line is None else query.longest_line + 1
    report = report_of(result, position, guess, query.hidden[position.to_play], longest=longest)
    flip = view != "SIDETOMOVE" and view[0] != LETTERS[report.player]
    moves = _moves(report, flip)
    fields: dict[str, Any] = {"moveInfos": moves, "rootInfo": _root(report, position, flip)}
    sign = (1 - 2 * report.player) * (-1 if flip else 1)  # from black's view to the one that is wanted
    if query.wants_ownership:
        fields["ownership"] = _rounded(from_the_top(sign * guess.ownership, game))
    if query.wants_moves_ownership:
        for info in moves[:MOST_OWNED]:
            owned = estimator.ownership_after(guess, [game.action(name) for name in info["pv"]])
            info["ownership"] = _rounded(from_the_top(sign * owned, game))
    if isinstance(guess, NetworkEstimate):
        fields["rootInfo"] |= _raw(search.options.evaluate, position, flip)
        _add_spreads(guess, query, game, fields)
    if query.wants_line_visits:
        graph = search.graph
        for info in moves:
            info["pvVisits"], info["pvEdgeVisits"] = line_visits(graph, [game.action(name) for name in info["pv"]])
    if query.wants_policy:
        policy = np.full(game.actions, -1.0)
        for move in result.moves:
            policy[move.action] = move.prior
        fields["policy"] = _rounded([*from_the_top(policy[:-1], game), float(policy[-1])])
    return fields


def _add_spreads(guess: NetworkEstimate, query: Query, game: Go, fields: dict[str, Any]) -> None:
    """What only a network says: how ownership varies over the search, and how likely no result is."""
    if query.wants_ownership_spread:
        fields["ownershipStdev"] = _rounded(from_the_top(guess.ownership_after(None)[1], game))
    averages = guess.averages.moves
    for info in fields["moveInfos"]:
        action = game.action(info["move"])
        if query.wants_moves_ownership_spread:
            info["ownershipStdev"] = _rounded(from_the_top(guess.ownership_after(action)[1], game))
        if query.wants_no_result and action in averages:
            info["noResultValue"] = round(averages[action].no_result, DIGITS)


def line_visits(view: GraphView, line: Sequence[int]) -> tuple[list[int], list[int]]:
    """How often the positions of a line were visited, and how often its moves were, from the root on."""
    node, of_nodes, of_edges = 0, [], []
    for action in line:
        first, end = np.searchsorted(view.edges["source"], (node, node + 1))
        edges = view.edges[first:end]
        (edge,) = edges[edges["action"] == action]
        node = int(edge["target"])
        of_edges.append(int(edge["visits"]))
        of_nodes.append(of_edges[-1] if node == NO_NODE else int(view.nodes["visits"][node]))
    return of_nodes, of_edges


def _rounded(numbers: Iterable[float]) -> list[float]:
    return [round(number, DIGITS) for number in numbers]


def _moves(report: Report, flip: bool) -> list[dict[str, Any]]:
    return [
        {
            "move": move.name,
            "visits": move.visits,
            "edgeVisits": move.visits,
            "weight": float(move.visits),
            "edgeWeight": float(move.visits),
            "playSelectionValue": float(move.visits),
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


def _raw(net: KataGoNet, position: Position, flip: bool) -> dict[str, float]:
    """What the network alone says of the root, from the view that is wanted."""
    found = net.opinion(position).evaluation
    side = -1.0 if flip else 1.0
    win = float(found.win[0] + found.no_result[0] / 2)
    raw = {
        "rawWinrate": 1.0 - win if flip else win,
        "rawLead": side * float(found.lead[0]),
        "rawScoreMean": side * float(found.score_mean[0]),
        "rawScoreSelfplay": side * float(found.score_mean[0]),
        "rawScoreSelfplayStdev": float(found.score_stdev[0]),
        "rawNoResultProb": float(found.no_result[0]),
    }
    errors = {"rawStWrError": found.value_error, "rawStScoreError": found.score_error, "rawVarTimeLeft": found.variance_time}
    raw |= {name: float(numbers[0]) for name, numbers in errors.items() if numbers is not None}
    return {name: round(number, DIGITS) for name, number in raw.items()}


def model_info(net: KataGoNet) -> dict[str, Any]:
    """A network, as KataGo describes one."""
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
