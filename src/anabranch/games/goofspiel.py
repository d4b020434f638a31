"""Goofspiel: both bid a card for each prize, at once; the higher card wins it.

Each player has the cards 1 to n and bids each of them once. A prize on which both bid the same is discarded. Prizes come in a
known order, or are drawn (`GoofspielRandom`: a chance event before each bid). Hands are open: they follow from the bids so far.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from anabranch.errors import GameError
from anabranch.games.game import rule
from anabranch.games.rules import CHANCE, EVERYONE
from anabranch.games.simultaneous import PLAYERS, SimultaneousGame
from anabranch.jit import helper
from anabranch.jit.random import GOLDEN, mix

MOST_CARDS = 16
HIGHEST_PRIZE = 100
ORDERS = ("descending", "ascending", "random")
WIN, POINTS = range(2)
RETURNS = ("win", "points")


class Goofspiel(SimultaneousGame):
    """Bid your cards for prizes, both at once; the higher card takes the prize, equal cards discard it."""

    players, actions = PLAYERS, MOST_CARDS
    state = np.dtype(
        [
            ("points", "i4", (PLAYERS,)),  # won so far
            ("left", "i4"),  # the sum of the prizes still to be won
            ("hands", "u2", (PLAYERS,)),  # bit c: card c + 1 is still there
            ("prizes", "u1", (MOST_CARDS + 1,)),  # by round; 0: not drawn yet, or none
            ("cards", "u1"),
            ("rounds", "u1"),  # in all
            ("round", "u1"),  # how many were played
            ("pays", "u1"),  # WIN or POINTS
        ]
    )

    def __new__(cls, cards: Any = 4, prizes: Any = "descending", *arguments: Any, **options: Any) -> "Goofspiel":
        return super().__new__(GoofspielRandom if cls is Goofspiel and _is(prizes, "random") else cls)

    def __init__(
        self,
        cards: int = 4,
        prizes: str | Sequence[int] = "descending",
        returns: str = "win",
        rounds: int | None = None,
    ) -> None:
        """cards    how many each player has, from 1 up
        prizes   their order: "descending" from the number of cards, "ascending", "random", or a list: any prizes, one per
                 round, at most as many as cards
        returns  "win": 1, 0, -1 at the end; "points": each prize when it is won, and lost by the other
        rounds   how many prizes are bid for, if not all
        """
        if isinstance(cards, bool) or not isinstance(cards, (int, np.integer)) or not 1 <= cards <= MOST_CARDS:
            raise GameError(f"cards={cards!r}: Goofspiel is played with 1 to {MOST_CARDS} cards each")
        if returns not in RETURNS:
            raise GameError(f"returns={returns!r}: Goofspiel is played for one of {', '.join(map(repr, RETURNS))}")
        if _is(prizes, "random") != (self.events > 0):
            raise GameError(f"{type(self).__name__} is not for prizes={prizes!r}; write Goofspiel(...)")
        cards = int(cards)
        self.order, self.plays_for = prizes, returns
        listed = _prizes(prizes, cards)
        rounds = _rounds(rounds, len(listed))
        if _is(prizes, "random"):
            total, listed = sum(listed), []
        else:
            listed = listed[:rounds]
            total = sum(listed)
        self.rounds = rounds
        self.actions = cards
        self.value_range = (-1.0, 1.0) if returns == "win" else (-float(total), float(total))
        super().__init__(
            cards=cards,
            rounds=rounds,
            prizes=np.array(listed + [0] * (MOST_CARDS + 1 - len(listed)), np.uint8),
            left=total,
            pays=RETURNS.index(returns),
        )

    # --- the rules ---

    @rule
    def actions_each(state):
        return np.int64(state.cards)

    @rule
    def setup(state):
        state.points[:] = 0
        state.hands[:] = (1 << np.int64(state.cards)) - 1
        state.round = 0

    @rule
    def is_legal(state, player, action):
        return np.int64(state.hands[player]) >> action & 1 != 0

    @rule
    def play(state, first, second, rewards):
        state.hands[0] ^= 1 << first
        state.hands[1] ^= 1 << second
        prize = np.int64(state.prizes[state.round])
        if first != second:
            winner = 0 if first > second else 1
            state.points[winner] += prize
            if state.pays == POINTS:
                rewards[winner] += prize
                rewards[1 - winner] -= prize
        state.left -= prize
        state.round += 1

    @rule
    def is_over(state):
        return state.round == state.rounds

    @rule
    def returns(state, out):
        out[0] = np.sign(state.points[0] - state.points[1]) if state.pays == WIN else 0
        out[1] = 0.0 - out[0]

    @rule
    def stake(state):
        return 1.0 if state.pays == WIN else np.float64(max(state.left, 1))

    @rule
    def key(state):
        return mixed(state, 0)  # which prize is open follows from the round

    # --- names, text and drawings ---

    def name_of(self, action: int) -> str:
        return str(action + 1)

    def text(self, state: Any) -> str:
        prizes = [int(prize) for prize in state.prizes[state.round : state.rounds] if prize]
        line = f"prize {prizes[0]}" if prizes else "no prize" if state.round == state.rounds else "a prize is drawn"
        if prizes[1:]:
            line += f", then {' '.join(map(str, prizes[1:]))}"
        lines = [line]
        for player in range(PLAYERS):
            hand = " ".join(str(card + 1) for card in range(state.cards) if state.hands[player] >> card & 1)
            lines.append(f"player {player}: {state.points[player]} points, cards {hand or 'none'}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        returns = f", returns={self.plays_for!r}" if self.plays_for != "win" else ""
        given = self.actions if isinstance(self.order, str) else len(self.order)
        rounds = f", rounds={self.rounds}" if self.rounds < given else ""
        return f"Goofspiel(cards={self.actions}, prizes={self.order!r}{returns}{rounds})"


class GoofspielRandom(Goofspiel):
    """Goofspiel in which the prizes 1 to n are drawn one by one, each before it is bid for."""

    events = MOST_CARDS

    @rule
    def to_play(state):
        return CHANCE if state.prizes[state.round] == 0 else EVERYONE

    @rule
    def chance(state, probabilities):
        drawn = gone(state)
        for prize in range(state.cards):
            if drawn >> (prize + 1) & 1 == 0:
                probabilities[prize] = 1.0 / (state.cards - state.round)

    @rule
    def happen(state, event):
        state.prizes[state.round] = event + 1

    @rule
    def key(state):
        return mixed(state, gone(state) | np.int64(state.prizes[state.round]) << (MOST_CARDS + 1))

    def event_name(self, event: int) -> str:
        return str(event + 1)


@helper
def gone(state):
    """The prizes of earlier rounds, bit by bit."""
    found = np.int64(0)
    for played in range(state.round):
        found |= 1 << np.int64(state.prizes[played])
    return found


@helper
def mixed(state, prizes):
    """A key of hands, round and points, and of `prizes`."""
    hands = np.int64(state.hands[0]) | np.int64(state.hands[1]) << 16 | np.int64(state.round) << 32
    points = np.int64(state.points[0]) | np.int64(state.points[1]) << 16 | np.int64(prizes) << 32
    low = mix(np.uint64(hands) + GOLDEN)
    return mix(low ^ np.uint64(points)), mix(low + np.uint64(points) * GOLDEN)


def _is(prizes: Any, order: str) -> bool:
    return isinstance(prizes, str) and prizes == order


def _rounds(rounds: Any, most: int) -> int:
    if rounds is None:
        return most
    if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or not 1 <= rounds <= most:
        raise GameError(f"rounds={rounds!r}: there are prizes for 1 to {most}")
    return int(rounds)


def _prizes(prizes: Any, cards: int) -> list[int]:
    """The prizes in their order; in any order if they are drawn."""
    if isinstance(prizes, str) and prizes in ORDERS:
        return list(range(cards, 0, -1)) if prizes == "descending" else list(range(1, cards + 1))
    try:
        listed = [] if isinstance(prizes, str) else [int(prize) for prize in prizes]
    except (TypeError, ValueError):
        listed = []
    if not 1 <= len(listed) <= cards or not all(1 <= prize <= HIGHEST_PRIZE for prize in listed):
        orders = ", ".join(map(repr, ORDERS))
        limits = f"1 to {cards} prizes, one for each round, from 1 to {HIGHEST_PRIZE}"
        raise GameError(f"prizes={prizes!r}: give one of {orders}, or a list of {limits}")
    return listed
