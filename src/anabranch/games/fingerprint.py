"""A fingerprint of a game's rules that is stored with results, so that results under different rules are not mixed up.

It changes with the rules of the class, the helpers and tables they use, the facts that a game declares, and the data of the
instance: board size, komi, a maze. Comments, names of actions and drawings do not count. See `jit/fingerprint.py`.
"""

import numpy as np

from anabranch.games import rules
from anabranch.games.game import Game
from anabranch.jit.dispatch import TAG_PREFIX
from anabranch.jit.fingerprint import fingerprint_of_source

FACTS = (
    "players", "actions", "events", "zero_sum", "value_range", "discount", "repetition", "repetition_count",
)  # fmt: skip
IGNORED = ("encode", "heuristic", "random_action")  # rules that affect how well a game is played, not the game itself


def rules_fingerprint(game: Game) -> str:
    """A hex digest of a game's rules."""
    kind, key = type(game), TAG_PREFIX + type(game).tag
    names = sorted(name for name in kind._means.values() if name not in IGNORED)
    found = (getattr(rules, name).generic.find(iter([key])) for name in names)
    facts = [getattr(game, name) for name in FACTS]
    start = game.start().record()
    fields = [(name, str(start.dtype[name])) for name in start.dtype.names or () if not name.startswith(TAG_PREFIX)]
    data = [np.asarray(start[name]) for name, _ in fields]
    return fingerprint_of_source([rule for rule in found if rule is not None], key, kind.__name__, facts, fields, data)
