"""A game of two actions that the same two players repeat several times: the prisoner's dilemma, the stag hunt, chicken.

Every round pays at once, and the returns are the sums. The payoffs depend only on the last pair of actions, so that positions
differ only in the number of rounds: what came before matters to the players, not to the rules.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import rule
from anabranch.games.simultaneous import PLAYERS, SimultaneousGame
from anabranch.jit.random import GOLDEN, mix

MOST_ROUNDS = 1000


class Stage(NamedTuple):
    """What one round pays a player: both cooperate; only it does; only the other does; neither does."""

    reward: float
    sucker: float
    temptation: float
    punishment: float
    names: tuple[str, str] = ("cooperate", "defect")


STAGES = {
    "dilemma": Stage(3.0, 0.0, 5.0, 1.0),  # Axelrod's; defecting is better whatever the other does, but worse for both
    "stag": Stage(4.0, 0.0, 3.0, 3.0, ("stag", "hare")),  # together a stag; a hare is safe: both pairs are equilibria
    "chicken": Stage(3.0, 2.0, 5.0, 0.0, ("swerve", "straight")),  # best is to do what the other does not
}


class Repeated(SimultaneousGame):
    """The prisoner's dilemma, the stag hunt or chicken, several rounds; each round pays at once."""

    players, actions = PLAYERS, 2
    zero_sum = False
    state = np.dtype(
        [
            ("pays", "f8", (4,)),  # what a player gets: [2 * own action + the other's]
            ("spread", "f8"),  # half the difference between the lowest and the highest
            ("rounds", "i4"),  # in all
            ("round", "i4"),  # how many were played
        ]
    )

    def __init__(self, rounds: int = 5, stage: str | Sequence[float] = "dilemma") -> None:
        """rounds  how many
        stage   "dilemma", "stag", "chicken", or four payoffs: both cooperate, only it, only the other, neither
        """
        if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or not 1 <= rounds <= MOST_ROUNDS:
            raise GameError(f"rounds={rounds!r}: a game is repeated 1 to {MOST_ROUNDS:,} times")
        self.stage, self.named = _stage(stage), stage
        pays = np.array(self.stage[:4], np.float64)
        low, high = float(pays.min()), float(pays.max())
        if low == high:  # nothing to win, but a range is still needed
            low, high = low - 1.0, high + 1.0
        self.value_range = int(rounds) * low, int(rounds) * high
        super().__init__(rounds=int(rounds), pays=pays, spread=(high - low) / 2.0)

    @rule
    def setup(state):
        state.round = 0

    @rule
    def is_legal(state, player, action):
        return True

    @rule
    def play(state, first, second, rewards):
        rewards[0] += state.pays[2 * first + second]
        rewards[1] += state.pays[2 * second + first]
        state.round += 1

    @rule
    def is_over(state):
        return state.round == state.rounds

    @rule
    def returns(state, out):
        out[0] = out[1] = 0.0  # everything was paid along the way

    @rule
    def stake(state):
        return state.spread * max(state.rounds - state.round, 1)

    @rule
    def heuristic(state, out):
        mean = (state.pays[0] + state.pays[1] + state.pays[2] + state.pays[3]) / 4.0
        out[0] = out[1] = mean * (state.rounds - state.round)

    @rule
    def key(state):
        number = np.uint64(state.round) + GOLDEN
        return mix(number), mix(mix(number))

    def name_of(self, action: int) -> str:
        return self.stage.names[action]

    def text(self, state: Any) -> str:
        """What a round pays, as a table for both, and how many were played."""
        names = self.stage.names
        wide = max(len(name) for name in names)
        lines = [" " * wide + "".join(f"  {name:>{wide}}" for name in names)]
        for own, name in enumerate(names):
            pairs = [f"{state.pays[2 * own + other]:g}/{state.pays[2 * other + own]:g}" for other in range(2)]
            lines.append(f"{name:<{wide}}" + "".join(f"  {pair:>{wide}}" for pair in pairs))
        return "\n".join([*lines, f"round {state.round} of {state.rounds}"])

    def __repr__(self) -> str:
        return f"Repeated(rounds={self.fields['rounds']}, stage={self.named!r})"


def _stage(stage: Any) -> Stage:
    if isinstance(stage, str) and stage in STAGES:
        return STAGES[stage]
    try:
        pays = [] if isinstance(stage, str) else [float(each) for each in stage[:4]]
    except (TypeError, ValueError):
        pays = []
    if len(pays) != 4 or len(stage) > len(Stage._fields) or not np.isfinite(pays).all():
        known = ", ".join(map(repr, STAGES))
        four = "both cooperate, it alone, the other alone, nobody"
        raise GameError(f"stage={stage!r}: give one of {known}, or four payoffs: {four}")
    return stage if isinstance(stage, Stage) else Stage(pays[0], pays[1], pays[2], pays[3])
