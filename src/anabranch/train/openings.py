"""How games of self-play begin: at the start, after a few random moves, or with an opening from a file."""

from pathlib import Path

import numpy as np

from anabranch.arena.openings import MOST_BOARDS
from anabranch.errors import IllegalMove, TrainingError
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.train.settings import SelfPlaySettings

Openings = list[tuple[str, ...]]


def number_of_board(game: Game, settings: SelfPlaySettings, random: np.random.Generator) -> int | None:
    """The board of a game, drawn if the game has several; None for its own."""
    if settings.boards == "given" or not game.draws_boards:
        return None
    return int(random.integers(MOST_BOARDS))


def begun(
    game: Game, board: int | None, settings: SelfPlaySettings, openings: Openings, random: np.random.Generator
) -> Position:
    """The first position of a game: after one of the given openings, or a few random moves, never at the end of the game."""
    if openings:
        given = after_chance(game.position(openings[random.integers(len(openings))]), random)
        if not given.is_over:  # chance may end the game
            return given
    position = after_chance(game.start_on(board), random)
    if random.random() >= settings.opening_share:
        return position
    for _ in range(int(random.integers(settings.opening_plies + 1))):
        edges = position.edges
        following = after_chance(position.after(int(edges[random.integers(len(edges))])), random)
        if following.is_over or following.repeats:
            break
        position = following
    return position


def after_chance(position: Position, random: np.random.Generator) -> Position:
    """The position once all chance events that come now have happened."""
    while not position.is_over and position.to_play == CHANCE:
        position = position.after(int(random.choice(len(position.probabilities), p=position.probabilities)))
    return position


def read_openings(path: str, game: Game) -> Openings:
    """The openings in a file, one a line; all of them are legal."""
    if not path:
        return []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise TrainingError(f"self_play.openings: {path} cannot be read: {getattr(error, 'strerror', error)}") from None
    openings = []
    for number, line in enumerate(lines, start=1):
        opening = () if line.lstrip().startswith("#") else tuple(line.replace(",", " ").split())
        try:
            is_over = bool(opening) and game.position(opening).is_over
        except IllegalMove as error:
            raise TrainingError(f"self_play.openings: {path}, line {number}: {error}") from None
        if is_over:
            raise TrainingError(f"self_play.openings: {path}, line {number}: the game is over after {' '.join(opening)}")
        if opening:
            openings.append(opening)
    if not openings:
        raise TrainingError(f"self_play.openings: {path} has none; write one a line, as moves")
    return openings
