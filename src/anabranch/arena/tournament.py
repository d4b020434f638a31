"""Many matches from a TOML file: a round robin, a gauntlet, or a ladder; all into the same database, with ratings at the end.

    game = "go:size=9,komi=6.5"
    games = 100                       # of each pair
    system = "round-robin"            # all pairs; "gauntlet": the first against the others; "ladder": each against the next
    anchor = { gnugo = 1800 }         # a rating that is known
    opening_plies = 2                 # and all other terms of a match, see `Match`

    [players]
    gnugo = "gnugo --mode gtp --level 1"
    light = "uct visits=1000"

    [series]                          # further players: one text over a list of values
    player = "uct visits=1000 policy=MoGo c={value}"
    values = [0.0, 0.2, 0.5]

Read first: `match.py`, `series.py`.
"""

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from anabranch.arena.match import Match
from anabranch.arena.notation import LABEL
from anabranch.arena.openings import read_lines
from anabranch.errors import ArenaError
from anabranch.games.registry import load

ROUND_ROBIN, GAUNTLET, LADDER = "round-robin", "gauntlet", "ladder"
SYSTEMS = (ROUND_ROBIN, GAUNTLET, LADDER)
TERMS = {field.name for field in fields(Match)} - {"first", "second"}
OWN = {"name", "games", "system", "players", "series", "anchor", "processes", "timeout", "db", "sgf"}
KINDS: dict[str, Any] = {
    "name": str, "game": str, "system": str, "db": str, "sgf": str, "openings": str, "referee": str, "players": dict,
    "series": dict, "anchor": dict, "games": int, "processes": int, "visits": int, "opening_plies": int, "cap": int,
    "seed": int, "seconds": (int, float), "timeout": (int, float), "random_boards": bool,
}  # fmt: skip
VALUE = "{value}"
GAMES = 100


@dataclass(frozen=True)
class Tournament:
    """Players, who meets whom, and on which terms."""

    name: str
    matches: tuple[Match, ...]
    games: int = GAMES  # of each pair
    anchor: tuple[str, float] | None = None  # a player and its rating
    processes: int | None = None
    timeout: float | None = None
    db: str | None = None
    sgf: str | None = None

    @classmethod
    def read(cls, path: str | Path) -> "Tournament":
        """From a TOML file; paths in it start from where it is."""
        path = Path(path)
        try:
            data = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ArenaError(f"{path} cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ArenaError(f"{path} is not TOML: {error}") from None
        try:
            return cls.from_dict(data, path.stem, path.parent)
        except ArenaError as error:
            raise ArenaError(f"{path}: {error}") from None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "tournament", home: Path = Path()) -> "Tournament":
        """From what such a file holds."""
        _check(data)
        if "game" not in data:
            raise ArenaError('name a game: game = "go:size=9"')
        players = {**data.get("players", {}), **_series(data.get("series"))}
        for label, text in players.items():
            if not isinstance(text, str) or not LABEL.fullmatch(label):
                raise ArenaError(f'player {label!r}: write a name and a text, such as light = "uct visits=1000"')
        if len(players) < 2:
            raise ArenaError("a tournament needs two players or more, in [players] or [series]")
        terms = {key: data[key] for key in TERMS & data.keys()}
        if "openings" in terms:
            lines = read_lines(home / terms["openings"], load(terms["game"]))
            terms["openings"] = tuple(map(tuple, lines))
        meetings = pairings(data.get("system", ROUND_ROBIN), list(players))
        matches = [Match(first=players[a], second=players[b], **terms) for a, b in meetings]
        named = tuple(_named(match, names) for match, names in zip(matches, meetings, strict=True))
        _check_different(named)
        return cls(data.get("name", name), named, anchor=_anchor(data, players), **_how(data, home))

    @property
    def players(self) -> list[str]:
        """Their names."""
        return list(dict.fromkeys(name for match in self.matches for name in match.names))


def pairings(system: str, names: list[str]) -> list[tuple[str, str]]:
    """Who meets whom."""
    if system == ROUND_ROBIN:
        return list(combinations(names, 2))
    if system == GAUNTLET:
        return [(names[0], other) for other in names[1:]]
    if system == LADDER:
        return list(zip(names[1:], names, strict=False))
    raise ArenaError(f"there is no system {system!r}; choose from {', '.join(SYSTEMS)}")


def _named(match: Match, names: tuple[str, str]) -> Match:
    """The same with the names of the file."""
    texts = [spec.text for spec in match.table.specs]
    return replace(match, first=f"{names[0]}: {texts[0]}", second=f"{names[1]}: {texts[1]}")


def _check_different(matches: tuple[Match, ...]) -> None:
    """A player's text is its identity: under two names, its games would be counted for one of them only."""
    names: dict[str, str] = {}
    for match in matches:
        for name, spec in zip(match.names, match.table.specs, strict=True):
            other = names.setdefault(spec.text, name)
            if other != name:
                raise ArenaError(f"{other} and {name} are the same player, {spec.text!r}")


def _series(series: Mapping[str, Any] | None) -> dict[str, str]:
    """A player for each value, named after what changes."""
    if series is None:
        return {}
    text, values = series.get("player"), series.get("values")
    unknown = series.keys() - {"player", "values"}
    if unknown or not isinstance(text, str) or VALUE not in text or not isinstance(values, list) or not values:
        raise ArenaError(f'[series] needs player = "... {VALUE} ..." and values = [...], and nothing else')
    words = text.split()
    place = next(i for i, word in enumerate(words) if VALUE in word)
    shown = words[place] if words[place] != VALUE or place == 0 else f"{words[place - 1]} {VALUE}"
    name = shown.lstrip("-")
    return {name.replace(VALUE, str(value)): text.replace(VALUE, str(value)) for value in values}


def _anchor(data: Mapping[str, Any], players: Mapping[str, str]) -> tuple[str, float] | None:
    anchor = data.get("anchor")
    if anchor is None:
        return None
    ((name, rating), *more) = anchor.items() or [("", 0.0)]
    if more or name not in players or isinstance(rating, bool) or not isinstance(rating, (int, float)):
        raise ArenaError(f"anchor = {{ player = rating }}: one player of {', '.join(players)}, and a number")
    return name, float(rating)


def _how(data: Mapping[str, Any], home: Path) -> dict[str, Any]:
    """What does not belong to a match."""
    given = {key: data[key] for key in ("games", "processes", "timeout") if key in data}
    return {**given, **{key: str(home / data[key]) for key in ("db", "sgf") if key in data}}


def _check(data: Mapping[str, Any]) -> None:
    known = sorted(TERMS | OWN)
    for key, value in data.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise ArenaError(f"there is no key `{key}`; {hint}{'Known' if hint else 'known'} keys: {', '.join(known)}")
        if not isinstance(value, KINDS[key]) or isinstance(value, bool):
            raise ArenaError(f"{key} = {value!r} has the wrong type or value")
