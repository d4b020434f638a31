"""How games begin: some random moves, the same for both games of a pair, or lines of a file.

Game numbers 2k and 2k + 1 are a pair: they begin alike, and the players change seats. Random moves are drawn from a generator
that is seeded by the match and the pair. A file has an opening a line, moves divided by blanks or commas; what follows # is a
comment. There may be fewer lines than pairs: then they come again, and the players' own seeds make the games differ.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.errors import ArenaError, IllegalMove
from anabranch.games.game import Game
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE

TRIES = 100  # to find random moves that do not end the game
OPENING, LUCK, BOARD = 2, 3, 4  # streams of random numbers, beside 0 and 1, those of the players
MOST_BOARDS = 2**53  # numbers of boards are below, as JSON wants them


def random_for(seed: int, *numbers: int) -> np.random.Generator:
    """Random numbers for one purpose of one game or pair."""
    return np.random.default_rng([seed & (2**63 - 1), *numbers])


def opening(
    game: Game, lines: Sequence[Sequence[str]], plies: int, seed: int, pair: int, random_boards: bool = False
) -> Position:
    """Where both games of a pair begin."""
    if lines:
        return game.position(lines[pair % len(lines)])
    random = random_for(seed, pair, OPENING)
    board = int(random_for(seed, pair, BOARD).integers(MOST_BOARDS)) if random_boards else None
    for _ in range(TRIES):
        position = _random_moves(game.start_on(board), plies, random)
        if position is not None:
            return position
    raise ArenaError(f"{game!r} was over within {plies} random moves {TRIES} times; ask for fewer with --opening-plies")


def _random_moves(position: Position, plies: int, random: np.random.Generator) -> Position | None:
    """The position after so many moves by players, if the game has not ended by then."""
    made = 0
    while made < plies:
        if position.is_over:
            return None
        made += position.to_play != CHANCE
        move = event(position, random) if position.to_play == CHANCE else _any_move(position, random)
        position = position.play(move)
    return None if position.is_over else position


def event(position: Position, random: np.random.Generator) -> int:
    """A chance event, drawn by its probability."""
    return int(random.choice(position.game.events, p=position.probabilities))


def _any_move(position: Position, random: np.random.Generator) -> Any:
    """A random legal action, or pair of them; not a pass in Go, if there is anything else."""
    if position.to_play == EVERYONE:
        return tuple(int(random.choice(actions)) for actions in position.legal_actions)
    actions = position.legal_actions
    if isinstance(position.game, Go):
        actions = actions[:-1] or actions
    return int(random.choice(actions))


def read_lines(path: str | Path, game: Game) -> list[list[str]]:
    """The openings in a file; each must be possible, and leave something to play."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArenaError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        moves = line.partition("#")[0].replace(",", " ").split()
        if not moves:
            continue
        try:
            over = game.position(moves).is_over
        except IllegalMove as error:
            raise ArenaError(f"{path}, line {number}: {error}") from None
        if over:
            raise ArenaError(f"{path}, line {number}: the game is over after these moves")
        lines.append(moves)
    if not lines:
        raise ArenaError(f"{path} contains no openings; write one a line, as moves")
    return lines
