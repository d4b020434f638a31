"""Matches between players: who is stronger, and how sure that is.

    notation.py    players as text                      players.py     ours, alive: position -> action
    process.py     a child that may die or hang         gtp_client.py  a program over GTP; gtp_player.py: as a player
    match.py       two players and their terms          openings.py    how games begin
    playing.py     one game, from number to result      referee.py     who won
    worker.py      a process that plays                 worker_pool.py several of them
    store.py       the database                         series.py      plays what is missing of matches
    rating.py      win rates, Elo, Bradley-Terry        sprt.py        when to stop
    standing.py    how a match stands                   tournament.py  many matches from a file
    game_threads.py  games of one process that share   record.py      a game as SGF
                   the calls of their networks          plot.py        charts
    text.py        text of others, cut and cleaned

Read `match.py` first, then `playing.py` and `series.py`. `anabranch match` and `anabranch tournament` are the faces.
"""

from anabranch.arena.match import Match
from anabranch.arena.rating import Estimate, Rating, Tally, elo_difference, ratings, wilson, win_rate
from anabranch.arena.series import play
from anabranch.arena.sprt import Sprt
from anabranch.arena.standing import Standing
from anabranch.arena.store import Store
from anabranch.arena.tournament import Tournament

__all__ = [
    "Estimate",
    "Match",
    "Rating",
    "Sprt",
    "Standing",
    "Store",
    "Tally",
    "Tournament",
    "elo_difference",
    "play",
    "ratings",
    "wilson",
    "win_rate",
]
