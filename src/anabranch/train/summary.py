"""What a process of self-play has done since its last line in the log."""

import time
from collections import Counter
from typing import Any

import numpy as np

from anabranch.games.game import Game
from anabranch.train.game_file import PlayedGame
from anabranch.train.rows import entropies, surprises

FIRST_MOVES = 6  # plies that are counted as an opening


class Summary:
    """Counts of games, moves and rows."""

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.cpu = time.process_time()
        self.games = self.moves = self.rows = self.simulations = 0
        self.entropy = self.surprise = 0.0
        self.scores: Counter[str] = Counter()
        self.resigned: Counter[str] = Counter()
        self.openings: set[tuple[Any, ...]] = set()

    def count_moves(self, simulations: np.ndarray) -> None:
        """Count moves, each searched with so many simulations."""
        self.moves += len(simulations)
        self.simulations += int(simulations.sum())

    def count_rows(self, rows: np.ndarray) -> None:
        """Count what is learnt of moves."""
        targets = rows["policy"].astype(float)
        self.rows += len(rows)
        self.entropy += float(entropies(targets).sum())
        self.surprise += float(surprises(targets, rows["prior"].astype(float)).sum())

    def count_game(self, game: Game, played: PlayedGame) -> None:
        """Count a game that has ended."""
        self.games += 1
        first = played.returns[0] if game.players == 2 and game.zero_sum else None
        if first is not None:
            self.scores["first" if first > 0 else "second" if first < 0 else "draw"] += 1
        self.openings.add(tuple(map(str, played.moves[:FIRST_MOVES])))
        if played.would_resign >= 0:
            if played.ending == "resigned":
                self.resigned["resigned"] += 1
            else:
                wrong = played.returns[played.would_resign] >= 0
                self.resigned["checked, wrong" if wrong else "checked, right"] += 1

    def facts(self) -> dict[str, Any]:
        """As the log has it."""
        rows = max(self.rows, 1)
        return {
            "seconds": time.perf_counter() - self.began,
            "cpu": time.process_time() - self.cpu,
            "games": self.games,
            "moves": self.moves,
            "rows": self.rows,
            "simulations": self.simulations,
            "entropy": self.entropy / rows,
            "surprise": self.surprise / rows,
            "openings": len(self.openings),
            "scores": dict(self.scores),
            "resigned": dict(self.resigned),
        }
