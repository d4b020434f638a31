"""The rules of a game as generic functions: what kernels call, and what each means.

A game implements the first six; the others have defaults. `state` is one record of the game's dtype and is changed in
place by `setup` and `play`. Players are numbered from 0; `CHANCE` moves at chance events. Nothing here is specific to
a game. Next: `game.py`, where a class's rules are registered.
"""

from anabranch.jit import generic, helper
from anabranch.jit.random import GOLDEN, below, mix, uniform
from anabranch.jit.records import word, words

CHANCE = -1  # to_play's answer where no player moves
EVERYONE = -2  # and where all players move at once
REPETITIONS = ("nothing", "draw", "loss", "forbidden")  # what a repetition may mean, the last two for the player who caused it
NOTHING, DRAW, LOSS, FORBIDDEN = range(4)

# --- every game has these -------------------------------------------------------------------------------------------


@generic
def setup(state):
    """Make the record the starting position. Fields of the instance (board size, ...) are filled in before."""


@generic
def to_play(state):
    """The player to move, or CHANCE."""


@generic
def is_legal(state, action):
    """Whether the player to move may play this action, 0 <= action < action_limit(state)."""


@generic
def play(state, action, rewards):
    """Play a legal action or a chance event. `rewards` (one number per player) is all zeros; add what is paid now."""


@generic
def is_over(state):
    """Whether the game has ended."""


@generic
def returns(state, out, random):
    """What the end pays, one number per player. A game with a random outcome takes `random`, and the search averages; others
    leave that argument out."""


# --- and may have these ---------------------------------------------------------------------------------------------


@generic(default=True)
def key(state):
    """Two u8 that are equal for equal positions; by default a hash of the record's bytes."""
    low, high = GOLDEN, mix(GOLDEN)
    for i in range(words(state)):
        low = mix(low ^ word(state, i))
        high = mix(high + word(state, i))
    return low, high


@generic(default=True)
def repetition_key(state):
    """Two u8 that are equal for positions that count as repeated, for games with a repetition rule; by default the key. A game
    defines another one if its key must distinguish positions that count as the same (superko in Go compares only stones)."""
    return key(state)


@generic(default=True)
def may_repeat(state):
    """Whether the action that led here may repeat a position (a pass in Go)."""
    return False


@generic(default=True)
def keeps_meaning(state, action):
    """Whether an action has a similar effect now and a few moves later, so that RAVE may learn about it from later moves; the
    same in all positions. By default yes. Not so a pass in Go: at the end of a playout it means that nothing is left to do."""
    return True


@generic(default=True)
def chance(state, probabilities):
    """At CHANCE: fill in the probability of each event (an index like an action); impossible events stay 0."""


@generic(default=True)
def legal_actions(state, out):
    """Write the legal actions into `out`, in ascending order, and return how many there are."""
    count = 0
    for action in range(action_limit(state)):
        if is_legal(state, action):
            out[count] = action
            count += 1
    return count


@generic(default=True)
def random_action(state, random):
    """A legal action, uniformly at random. By default: draw until one is legal, but not forever."""
    limit = action_limit(state)
    for _ in range(limit):
        action = below(random, limit)
        if is_legal(state, action):
            return action
    count = 0
    chosen = -1
    for action in range(limit):
        if is_legal(state, action):
            count += 1
            if below(random, count) == 0:
                chosen = action
    return chosen


@generic(default=True)
def heuristic(state, out):
    """An estimate of the remaining return, one number per player, where a playout is cut off. By default there is none: `out`
    is left as it is, at the middle of the declared range."""


@generic(default=True)
def encode(state, planes):
    """For networks: write the position into `planes`, all zeros before, of the shape `Game.planes`: (channels, height, width).
    In the view of the player to move; at CHANCE, of player 0. Positions with the same key have the same planes."""


@generic
def action_limit(state):
    """One more than the largest action of this instance; by default the class's `actions`."""


# --- games of simultaneous moves have these; `simultaneous.py` builds the rules above from them -------------------------------


@generic
def may_play(state, player, action):
    """Whether a player may play this action, 0 <= action < actions_each(state)."""


@generic
def play_both(state, first, second, rewards):
    """Play a legal action of each player. `rewards` (one number per player) is all zeros; add what is paid now."""


@generic(default=True)
def outcome(state, player, action):
    """The representative of all legal actions of this player with the same effect as this one, which is legal. By default the
    action itself: all differ."""
    return action


@generic(default=True)
def happen(state, event):
    """Apply a chance event; for games with chance."""


@generic
def stake(state):
    """How much a player can still win or lose from here on, above 0: values are scaled by it. By default half the declared
    range."""


@generic
def actions_each(state):
    """How many actions a player has; by default the class's `actions`."""


# --- and these come from the class's attributes -----------------------------------------------------------------------


@generic
def players(state):
    """How many players there are."""


@generic
def value_width(state):
    """How many numbers a value has: 1 if player 0's suffices (one player; two and zero-sum), else one per player."""


@generic
def has_rewards(state):
    """Whether `play` can pay rewards."""


@generic
def at_once(state):
    """Whether both players move at once: see `simultaneous.py`."""


@generic
def has_chance(state):
    """Whether the game has chance events."""


@generic
def has_random_returns(state):
    """Whether `returns` is random."""


@generic
def has_repetition_key(state):
    """Whether repetitions have a key of their own."""


@helper
def random_event(state, probabilities, random):
    """A chance event, drawn by its probability. `probabilities` is scratch."""
    probabilities[:] = 0.0
    chance(state, probabilities)
    left = uniform(random)
    last = -1
    for event in range(len(probabilities)):
        if probabilities[event] > 0.0:
            last = event
            left -= probabilities[event]
            if left < 0.0:
                break
    return last
