"""Games of Go that were thrown away by a pass: who passed first, lost, and had a move that wins, as a search of UCT says.

Looks at the 9x9 games of a database of matches, docs/results/rave_matches.db if none is given, that are counted as they stand.
A match that is not played again keeps its old games, so this tells of programs as they were when these were played.

    python benchmarks/passes_go.py [DATABASE]
"""

import json
import sqlite3
import sys
from collections import Counter
from pathlib import Path

from anabranch import UCT, Search
from anabranch.arena import Match

DATABASE = Path(__file__).parents[1] / "docs" / "results" / "rave_matches.db"
SIMULATIONS = 2_000
WINS = 0.6  # of -1 to 1, from where on a search says that a position was won


def thrown_away(match: Match, moves: list[str]) -> bool:
    """Whether the first of the two passes at the end of a lost game was its mistake."""
    game = match.table.game
    position, end = game.position(moves[:-2]), game.position(moves)
    if moves[-2:] != ["pass", "pass"] or end.returns[position.to_play] > 0:
        return False
    found = Search(game, select=UCT(c=0.5), seed=1).run(position, visits=SIMULATIONS)
    return found.value > WINS and found.best_name != "pass"


def main() -> None:
    """The program."""
    file = sys.argv[1] if len(sys.argv) > 1 else DATABASE
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        for number, terms, *names in database.execute("SELECT id, terms, first, second FROM matches ORDER BY id").fetchall():
            match = Match.from_dict(json.loads(terms))
            if not match.game.startswith("go:size=9") or match.table.referee != "area":
                continue
            games = database.execute("SELECT black, moves FROM games WHERE match = ? AND ending = 'played out'", (number,))
            lost: Counter[str] = Counter()
            count = 0
            for black, text in games:
                moves = text.split()
                count += 1
                if thrown_away(match, moves):
                    lost[names[(len(moves) + black) % 2]] += 1
            told = ", ".join(f"{times} by {name}" for name, times in lost.items()) or "none thrown away"
            print(f"{names[0]} - {names[1]}: of {count} games {told}", flush=True)


if __name__ == "__main__":
    main()
