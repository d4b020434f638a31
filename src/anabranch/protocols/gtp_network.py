"""Commands about the engine's networks, as KataGo has them: `kata-raw-nn`, `kata-raw-human-nn`, `kata-get-models`."""

import json
from typing import TYPE_CHECKING

import numpy as np

from anabranch.goengine.turns import with_turn
from anabranch.nets.katago.evaluator import KataGoNet, Opinion
from anabranch.nets.katago.symmetry import SYMMETRIES
from anabranch.protocols.answers import models_of
from anabranch.protocols.details import MISSING
from anabranch.protocols.gtp_words import SYNTAX, Arguments, Refused, command

if TYPE_CHECKING:
    from anabranch.protocols.gtp import Session

ALL = "all"
ROOT_OPTIMISM = 0.2  # KataGo's rootPolicyOptimism


@command("kata-raw-nn")
def kata_raw_nn(session: "Session", arguments: Arguments) -> str:
    """What the network says of the position: [COLOUR] SYMMETRY [OPTIMISM], with a symmetry from 0 to 7 or "all"."""
    return _raw(session, arguments, _net(session), is_human=False)


@command("kata-raw-human-nn")
def kata_raw_human_nn(session: "Session", arguments: Arguments) -> str:
    """What the human-like network says of the position: [COLOUR] SYMMETRY."""
    options = session.engine.options
    if options.human_net is None:
        raise Refused("there is no human-like network; start the engine with --human-net FILE")
    if not options.human_profile:
        raise Refused("the human-like network has to be told who plays: kata-set-param humanSLProfile rank_5k")
    return _raw(session, arguments, options.human_net, is_human=True)


def _raw(session: "Session", arguments: Arguments, net: KataGoNet, is_human: bool) -> str:
    player = arguments.player_if_any()
    symmetries = _symmetries(arguments)
    optimism = 0.0 if is_human else arguments.number("optimism", 0, 1) if arguments else ROOT_OPTIMISM
    engine = session.engine
    engine.stop()
    position = with_turn(engine.position, engine.position.to_play if player is None else player)
    side = 1.0 if position.to_play == 1 else -1.0  # to white's view
    opinions = ((symmetry, net.opinion(position, symmetry, optimism)) for symmetry in symmetries)
    return "\n\n".join(f"symmetry {symmetry}\n{_described(opinion, side, is_human)}" for symmetry, opinion in opinions)


@command("kata-get-models")
def kata_get_models(session: "Session", arguments: Arguments) -> str:
    """The engine's networks as JSON; none if it evaluates by playouts."""
    return json.dumps(models_of(session.engine.options))


def _net(session: "Session") -> KataGoNet:
    net = session.engine.options.net
    if net is None:
        raise Refused("there is no network; start the engine with --net FILE")
    return net


def _symmetries(arguments: Arguments) -> list[int]:
    word = arguments.word("symmetry").lower()
    if word == ALL:
        return list(range(SYMMETRIES))
    if not (word.isdecimal() and len(word) == 1 and int(word) < SYMMETRIES):
        raise Refused(f"{SYNTAX}: a symmetry is a number from 0 to {SYMMETRIES - 1}, or {ALL}, not {word[:20]!r}")
    return [int(word)]


def _described(opinion: Opinion, side: float, is_human: bool) -> str:
    """An opinion in KataGo's words, for white. Human-like networks predict the score of people's games."""
    found = opinion.evaluation
    win, loss = (found.win[0], found.loss[0]) if side > 0 else (found.loss[0], found.win[0])
    score, square = side * found.score_mean[0], found.score_square[0]
    numbers = [("whiteWin", win, 6), ("whiteLoss", loss, 6), ("noResult", found.no_result[0], 6)]
    if is_human:
        numbers += [("whiteScore", score, 3), ("whiteScoreSq", square, 3)]
    else:
        numbers += [
            ("whiteLead", side * found.lead[0], 3),
            ("whiteScoreSelfplay", score, 3),
            ("whiteScoreSelfplaySq", square, 3),
            ("varTimeLeft", _or_missing(found.variance_time), 3),
        ]
    numbers += [
        ("shorttermWinlossError", _or_missing(found.value_error), 3),
        ("shorttermScoreError", _or_missing(found.score_error), 3),
    ]
    height, width = found.ownership.shape[1:]
    priors = np.where(opinion.legal, opinion.priors, np.nan)
    policy = _rows(priors[:-1].reshape(height, width), 6)
    ownership = _rows(side * found.ownership[0], 7)
    lines = [f"{name} {number:.{digits}f}" for name, number, digits in numbers]
    return "\n".join([*lines, "policy", policy, f"policyPass {priors[-1]:.6f}", "whiteOwnership", ownership])


def _or_missing(numbers: np.ndarray | None) -> float:
    return MISSING if numbers is None else float(numbers[0])


def _rows(board: np.ndarray, digits: int) -> str:
    """A number for each point, the top row first; NAN where there is none."""
    return "\n".join(" ".join("    NAN" if n != n else f"{n:.{digits}f}" for n in row) for row in board[::-1])
