"""Whose moves a human-like network predicts: KataGo's profiles by name, as the 192 numbers that such a network is told.

    rank_5k           players of 5 kyu, ranks from 20k to 9d, in games of 2020, when people had learnt from computers
    rank_1d_5k        black is 1 dan and white 5 kyu
    preaz_5k          the same in games of 2016
    proyear_1990      professionals of a year from 1800 to 2023

The numbers say what a record of the game would: who plays, at what rank, under which time limits, on which day and where. Ranks
and humans are in the view of who moves. `evaluator.py` gives them to the model.
"""

import difflib
import math
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from anabranch.errors import OptionError
from anabranch.nets.katago.layers import METADATA

RANKS = tuple(f"{dan}d" for dan in range(9, 0, -1)) + tuple(f"{kyu}k" for kyu in range(1, 21))  # the strongest first
RANKED = {"rank": date(2020, 3, 1), "preaz": date(2016, 9, 1)}  # when the games of a kind of profile are played
PRO_YEARS = range(1800, 2024)
FIRST_OF_GO4GO = 2021  # before, games of professionals come from the collection GoGoD
ALLOWED = (
    "rank_5k, preaz_5k (before AlphaZero), rank_1d_5k (black, white) with ranks from 20k to 9d, "
    f"or proyear_1990 with years from {PRO_YEARS[0]} to {PRO_YEARS[-1]}"
)

# Where numbers are
HUMAN, RANK, RATED, BYO_YOMI, TIMES, AREA, DATE, SOURCE = 0, 6, 74, 79, 82, 86, 87, 151
UNKNOWN_TIME = 75  # instead of BYO_YOMI
LONGEST_RANK = 34  # numbers for the rank of one player
KGS, GOGOD, GO4GO = 2, 5, 6  # sources of games
RATED_UNKNOWN = 0.5  # between rated games, 0, and others, 1
FULL_AREA = 361

# A date is a number of days, as a hand on each of 32 dials; the fastest goes round in a week, the slowest in 1,500 years.
EPOCH = date(1970, 1, 1)
DIALS = 32
FASTEST = 7.0  # days
SLOWEST = 80_000.0  # times the fastest


class Clock(NamedTuple):
    """Time limits of both players."""

    main: float = 0.0  # seconds
    period: float = 0.0  # of byo-yomi, seconds
    periods: int = 0


KGS_CLOCK = Clock(main=1200.0, period=30.0, periods=5)


class Profile(NamedTuple):
    """Who plays, when and where."""

    black: int  # the rank, from 1 for 9 dan to 29 for 20 kyu
    white: int
    day: date
    source: int
    clock: Clock | None  # None: not known; games of professionals


def parse_profile(name: str) -> Profile:
    """The profile of this name."""
    kind, _, rest = str(name).partition("_")
    ranks = rest.split("_")
    if kind in RANKED and len(ranks) <= 2 and set(ranks) <= set(RANKS):
        black, white = RANKS.index(ranks[0]) + 1, RANKS.index(ranks[-1]) + 1
        return Profile(black, white, RANKED[kind], KGS, KGS_CLOCK)
    if kind == "proyear" and rest in map(str, PRO_YEARS):
        year = int(rest)
        return Profile(1, 1, date(year, 6, 1), GO4GO if year >= FIRST_OF_GO4GO else GOGOD, None)
    near = difflib.get_close_matches(str(name).lower(), profile_names(), n=1)
    hint = f"did you mean {near[0]}? Give" if near else "give"
    raise OptionError(f"profile={name!r} is unknown; {hint} {ALLOWED}")


def profile_names() -> list[str]:
    """The names of all profiles in which both players have the same rank."""
    ranked = [f"{kind}_{rank}" for kind in RANKED for rank in reversed(RANKS)]
    return ranked + [f"proyear_{year}" for year in PRO_YEARS]


@lru_cache(maxsize=1024)
def metadata_of(name: str, points: int) -> np.ndarray:
    """What a network is told of a profile on a board of so many points, f4 (2, 192): with black to move, and with white."""
    profile = parse_profile(name)
    black, white = profile.black, profile.white
    rows = np.stack([_fill(profile, points, black, white), _fill(profile, points, white, black)])
    rows.setflags(write=False)
    return rows


def _fill(profile: Profile, points: int, own: int, other: int) -> np.ndarray:
    """The numbers for one player to move."""
    row = np.zeros(METADATA)
    row[HUMAN : HUMAN + 2] = 1.0  # both are
    row[RANK : RANK + own] = 1.0
    row[RANK + LONGEST_RANK : RANK + LONGEST_RANK + other] = 1.0
    row[RATED] = 0.0 if profile.clock is None else RATED_UNKNOWN
    row[UNKNOWN_TIME if profile.clock is None else BYO_YOMI] = 1.0
    row[TIMES:AREA] = _times(profile.clock or Clock())
    row[AREA] = 0.5 * math.log(points / FULL_AREA)
    row[DATE:SOURCE] = _hands((profile.day - EPOCH).days)
    row[SOURCE + profile.source] = 1.0
    return row.astype(np.float32)


def _times(clock: Clock) -> list[float]:
    """Main time, period, number of periods, and moves in Canadian byo-yomi, which no profile has."""
    return [
        0.4 * (math.log(clock.main + 60.0) - 6.5),
        0.3 * (math.log(clock.period + 1.0) - 3.0),
        0.5 * (math.log(clock.periods + 2.0) - 1.5),
        0.25 * (math.log(2.0) - 1.5),
    ]


def _hands(days: int) -> np.ndarray:
    """Cosine and sine of the hand on each dial after so many days."""
    periods = FASTEST * SLOWEST ** (np.arange(DIALS) / (DIALS - 1))
    angles = 2.0 * math.pi * days / periods
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).ravel()
