"""What a match is: two players, a game, and the terms on which they play. Plain data, as it is kept in the database.

    Match("uct visits=1000 policy=MoGo", "gnugo --mode gtp --level 1", game="go:size=9,komi=6.5", referee="gnugo")

Games of a match have numbers from 0 on, and a number says all about a game: who begins (in even numbers the first player), the
opening (the same in 2k and 2k + 1), the seeds of both players. So a game is never played twice, and one that was broken off can
be played again. How many games are played, in how many processes, does not belong to a match. Read next: `playing.py`.
"""

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from anabranch.arena import notation
from anabranch.arena.notation import ProgramSpec, SearchSpec, Spec
from anabranch.arena.openings import opening
from anabranch.errors import ArenaError
from anabranch.games.fingerprint import rules_fingerprint
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.games.registry import load

RULES, AREA, GNUGO, PLAYOUTS = "rules", "area", "gnugo", "playouts"
REFEREES = {
    RULES: "the game's own rules",
    AREA: "Go: stones and what they surround, as it stands; all stones count as alive, so both sides take dead ones off",
    GNUGO: "Go: GnuGo's final_score, which knows dead stones",
    PLAYOUTS: "Go: the game's rules, with dead stones found by playouts",
}
GO_CAP = 3  # board sizes after which a game of Go is scored as it stands
CAP = 5_000  # plies after which any other game is a draw
OPENING_PLIES = 2
KINDS: dict[str, Any] = {
    "first": str, "second": str, "game": str, "visits": int | None, "seconds": int | float | None, "opening_plies": int,
    "referee": str | None, "cap": int | None, "seed": int, "random_boards": bool,
}  # fmt: skip


@dataclass(frozen=True)
class Match:
    """Two players and the terms on which they play."""

    first: str  # players, as `notation.py` has them
    second: str
    game: str  # as the registry has it: "go:size=9", "mygame.py:Nim"
    visits: int | None = None  # simulations for a move of a search whose text sets no limit
    seconds: float | None = None  # for each side and game: a clock
    opening_plies: int = OPENING_PLIES  # random ones
    openings: tuple[tuple[str, ...], ...] = ()  # or these, pair by pair
    referee: str | None = None  # one of REFEREES; None: "area" in Go with area rules, else "rules"
    cap: int | None = None  # plies; None: 3 board sizes in Go, else 5,000
    seed: int = 0
    random_boards: bool = False  # each pair has a board of its own, where the game draws its boards (PyRat)

    @functools.cached_property
    def table(self) -> "Table":
        """All of it, read and checked."""
        return _prepared(self)

    @property
    def names(self) -> tuple[str, str]:
        """How tables call the players."""
        first, second = (spec.label for spec in self.table.specs)
        return (first, second) if first != second else (f"{first} (1)", f"{second} (2)")

    @functools.cached_property
    def key(self) -> str:
        """The match's identity as text. Other names of the players, and defaults that are written out, do not change it."""
        table = self.table
        first, second = (spec.text for spec in table.specs)
        terms = {"referee": table.referee, "cap": table.cap, "opening_plies": 0 if self.openings else self.opening_plies}
        named = {**asdict(self), "first": first, "second": second, **terms}
        if not self.random_boards:  # as in databases from before there was a choice
            del named["random_boards"]
        return json.dumps(named, sort_keys=True)

    @functools.cached_property
    def rules(self) -> str:
        """A fingerprint of the game's rules as they are now: results of others are not results of this match."""
        return rules_fingerprint(self.table.game)

    def to_dict(self) -> dict[str, Any]:
        """Lists, numbers and strings."""
        return {name: list(map(list, value)) if name == "openings" else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Match":
        """The same backwards. TypeError if it is not that."""
        known = {field.name for field in fields(cls)}
        openings = tuple(map(tuple, data.get("openings", ())))
        made = cls(**{**{k: v for k, v in data.items() if k in known}, "openings": openings})
        for name, kind in KINDS.items():
            if not isinstance(getattr(made, name), kind):
                raise TypeError(f"{name} of a match is {getattr(made, name)!r:.40}")
        return made

    # --- what a game's number says ---

    def begins(self, number: int) -> int:
        """Who is the game's player 0: 0 the first player, 1 the second."""
        return number % 2

    def opening(self, number: int) -> Position:
        """Where a game begins."""
        return opening(self.table.game, self.openings, self.opening_plies, self.seed, number // 2, self.random_boards)

    def seed_of(self, number: int, side: int) -> int:
        """The seed of the first or second player in a game."""
        state = np.random.SeedSequence([self.seed & (2**63 - 1), number, side]).generate_state(1)
        return int(state[0]) >> 1  # below 2**31, as programs want it


class Table(NamedTuple):
    """A match that can be played."""

    game: Game
    specs: tuple[Spec, Spec]
    referee: str
    cap: int


def _prepared(match: Match) -> Table:
    game = load(match.game)
    if game.players != 2:
        raise ArenaError(f"a match is between two, and {game!r} has {game.players} player{'s' * (game.players > 1)}")
    is_go = isinstance(game, Go)
    referee = match.referee or (AREA if isinstance(game, Go) and game.rules.scoring == "area" else RULES)
    if referee not in REFEREES:
        raise ArenaError(f"there is no referee {referee!r}; choose from {', '.join(REFEREES)}")
    if referee != RULES and not is_go:
        raise ArenaError(f"the referee {referee!r} is for Go; {game!r} is decided by its own rules")
    if referee == GNUGO and notation.find_program(GNUGO) is None:
        raise ArenaError("the referee gnugo needs the program gnugo, which is not installed; install it or use --referee area")
    if isinstance(game, Go) and referee == AREA:
        # Players must know what counts: nothing is dead that stands there.
        rules = game.rules.but(dead="none", scoring="area", tax="none")
        game = Go((game.width, game.height), game.komi, rules, game.handicap, game.plays_for)
    first, second = notation.parse(match.first, game), notation.parse(match.second, game)
    _check_terms(match, game, (first, second))
    return Table(game, (first, second), referee, match.cap or _usual_cap(game))


def _check_terms(match: Match, game: Game, specs: tuple[Spec, Spec]) -> None:
    for name in ("visits", "cap"):
        value = getattr(match, name)
        if value is not None and value < 1:
            raise ArenaError(f"{name}={value}: must be 1 or more")
    if match.seconds is not None and not match.seconds > 0:
        raise ArenaError(f"seconds={match.seconds}: must be above 0")
    if match.opening_plies < 0:
        raise ArenaError(f"opening_plies={match.opening_plies}: must be 0 or more")
    for spec in specs:
        if isinstance(spec, SearchSpec) and not spec.limits and match.visits is None and match.seconds is None:
            raise ArenaError(
                f"how long may {spec.label!r} search a move? Write visits=1000 behind it, or give the match a limit"
            )
    if match.seconds is not None and match.seconds < 1 and any(isinstance(spec, ProgramSpec) for spec in specs):
        raise ArenaError(f"seconds={match.seconds}: GTP tells programs whole seconds; give a game 1 or more")
    if match.random_boards and (match.openings or not game.draws_boards):
        why = "openings are for its own board" if game.draws_boards else f"{game!r} has only one"
        raise ArenaError(f"random_boards: {why}; leave it out")
    opening(game, match.openings, match.opening_plies, match.seed, 0, match.random_boards)


def _usual_cap(game: Game) -> int:
    return GO_CAP * game.width * game.height if isinstance(game, Go) else CAP
