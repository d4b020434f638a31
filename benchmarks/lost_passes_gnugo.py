"""Games of a match that an engine lost by a pass: GNU Go counts the board before each of its passes, and so says who was ahead.

A pass is suspicious if GNU Go's `estimate_score` has the engine ahead before it and the game was lost. Name the player whose
passes are looked at by a part of its text.

    python benchmarks/lost_passes_gnugo.py matches.db "anabranch gtp"
"""

import json
import shutil
import sqlite3
import sys
from typing import NamedTuple

from anabranch.arena import Match
from anabranch.arena.gtp_client import GtpClient
from anabranch.arena.gtp_player import COLOURS, set_board
from anabranch.arena.referee import SCORE, gnugo_command
from anabranch.games.go import Go

PATIENCE = 120.0  # seconds for an answer


class Pass(NamedTuple):
    """A pass of the engine, and by how much it was ahead then."""

    ply: int
    lead: float


def passes_of(client: GtpClient, game: Go, moves: list[str], seat: int) -> list[Pass]:
    """All passes of a player."""
    found = []
    set_board(client, game, game.start())
    for ply, move in enumerate(moves):
        if ply % 2 == seat and move == "pass":
            score = SCORE.match(client.ask("estimate_score"))
            lead = 0.0 if score is None else float(score["lead"]) * (1 if score["winner"].upper() == "B" else -1)
            found.append(Pass(ply + 1, lead * (1 - 2 * seat)))
        client.ask(f"play {COLOURS[ply % 2]} {move}")
    return found


def main() -> None:
    """The program."""
    file, name = sys.argv[1:]
    if shutil.which("gnugo") is None:
        sys.exit("this needs gnugo on the path")
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        for number, terms, *names in database.execute("SELECT id, terms, first, second FROM matches ORDER BY id").fetchall():
            ours = next((place for place, text in enumerate(names) if name in text), None)
            if ours is None:
                continue
            game = Match.from_dict(json.loads(terms)).table.game
            client = GtpClient(gnugo_command(game), PATIENCE)
            query = "SELECT number, black, result, ending, moves FROM games WHERE match = ? ORDER BY number"
            told = {"games": 0, "lost": 0, "lost after a pass while ahead": 0}
            for game_number, black, result, ending, text in database.execute(query, (number,)).fetchall():
                seat = 0 if black == ours else 1
                told["games"] += 1
                if not result.upper().startswith("WB"[seat]):
                    continue
                told["lost"] += 1
                ahead = [
                    f"move {ply}, ahead by {lead:g}" for ply, lead in passes_of(client, game, text.split(), seat) if lead > 0
                ]
                if ahead:
                    told["lost after a pass while ahead"] += 1
                    print(f"game {game_number}: {result}, {ending}; passed at {'; '.join(ahead)}")
            client.close()
            print(", ".join(f"{key}: {count}" for key, count in told.items()), flush=True)


if __name__ == "__main__":
    main()
