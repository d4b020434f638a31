"""The latest games of a run as drawings of every position, for the report, which lets readers step through them.

Drawings share their lines: a move changes few of them, and a game with large boards has hundreds of moves. Games come from the
ends of the newest files (`game_file.py`), so old games cost nothing.
"""

import contextlib
import re
import time
from collections import deque
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch.errors import TrainingError
from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE
from anabranch.train.game_file import FRAME, LARGEST, MAGIC, PlayedGame, read_games, row_type
from anabranch.train.run import Run

GAMES = 12
ROOM = 2_400_000  # characters for all games, so that browsers show the page at once
SECONDS = 5.0  # for drawing: the first game is drawn in any case, the others until then
PREFERRED = 3  # moves of the search's policy that are named
PIECES = re.compile(r"(?<=>)(?=<)|(?<=\n)")  # where a drawing may be cut


class Replay(NamedTuple):
    """A game to step through."""

    title: str
    about: str
    frames: list[int]  # the number of each position's drawing, the start first
    moves: list[str]  # between them, with who played
    words: list[str]  # what the search said of each position; empty where it was not asked


class Drawings:
    """Drawings, each stored as runs of pieces that others may have, too."""

    def __init__(self) -> None:
        self.pieces: dict[str, int] = {}
        self.drawings: list[list[int]] = []  # is it text, then first piece and number of pieces, again and again
        self.size = 0  # characters, about
        self._known: dict[str, int] = {}

    def add(self, drawing: str, is_text: bool) -> int:
        """The number of this drawing."""
        if drawing not in self._known:
            stored = [int(is_text)]
            for piece in PIECES.split(drawing):
                if piece not in self.pieces:
                    self.pieces[piece] = len(self.pieces)
                    self.size += len(piece) + 6
                number = self.pieces[piece]
                if len(stored) > 1 and stored[-2] + stored[-1] == number:
                    stored[-1] += 1
                else:
                    stored += [number, 1]
                    self.size += 8
            self._known[drawing] = len(self.drawings)
            self.drawings.append(stored)
        return self._known[drawing]


def replays(run: Run, count: int = GAMES, room: int = ROOM, seconds: float = SECONDS) -> tuple[list[Replay], Drawings]:
    """The latest games, so many of them as there is room and time for, at least one."""
    made: list[Replay] = []
    drawings, used, began = Drawings(), 0, time.monotonic()
    for game in latest_games(run, count):
        if made and (time.monotonic() - began > seconds or drawings.size + used > room):
            break
        before = drawings.size
        replay = replay_of(run.game, game, drawings, room, began + seconds)
        used += sum(len(move) + len(words) + 10 for move, words in zip(replay.moves, replay.words, strict=False))
        if made and drawings.size + used > room and drawings.size > before:
            break
        made.append(replay)
    return made, drawings


def replay_of(game: Game, played: PlayedGame, drawings: Drawings, room: int = ROOM, until: float = float("inf")) -> Replay:
    """A game as drawings; where there is no more room or time, its end is left out."""
    frames, moves, words = [], [], []
    said = {int(row["ply"]): row for row in played.rows}
    position, problem = game.start_on(played.board), ""
    for ply in range(len(played.moves) + 1):
        frames.append(drawn(position, drawings))
        words.append(search_text(game, position, said[ply]) if ply in said else "")
        if ply == len(played.moves):
            break
        if drawings.size > room or time.monotonic() > until:
            problem = f"; only the first {ply} plies are shown, to keep this page small and quick"
            break
        move: Any = tuple(played.moves[ply]) if isinstance(played.moves[ply], list) else played.moves[ply]
        try:
            following = position.play(move)
        except Exception as error:  # the rules are the user's, and may raise anything
            problem = f"; it cannot be shown beyond ply {ply}: {error}"
            break
        moves.append(f"{player_text(position)}: {move_text(position, move)}")
        position = following
    title = f"game {played.number}: {result_text(game, played)}, {len(played.moves)} plies"
    return Replay(title, about_text(played) + problem, frames, moves, words)


def drawn(position: Position, drawings: Drawings) -> int:
    """A position's drawing, or its text where it has none."""
    try:
        drawing = position.svg()
        if not isinstance(drawing, str) or "<svg" not in drawing:
            raise TypeError
        if "xmlns=" not in drawing:
            drawing = drawing.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        return drawings.add(drawing, is_text=False)
    except Exception:  # a drawing is the user's code; a report does without it
        pass
    try:
        return drawings.add(str(position), is_text=True)
    except Exception as error:
        return drawings.add(f"this position cannot be shown: {error}", is_text=True)


# --- words ------------------------------------------------------------------------------------------------------------


def player_text(position: Position) -> str:
    """Who moves."""
    player = position.to_play
    return "chance" if player == CHANCE else "both" if player < 0 else position.game.player_name(player)


def move_text(position: Position, move: Any) -> str:
    """The name of a move, an event or a pair of moves."""
    game: Any = position.game
    if isinstance(move, tuple):
        return str(game.pair_name(move))
    return str(game.event_name(move) if position.to_play == CHANCE else game.name_of(move))


def search_text(game: Game, position: Position, row: Any) -> str:
    """What the search said: the value, and the moves that it preferred."""
    values = ", ".join(f"{value:+.2f}" for value in np.ravel(row["search"]))
    whose = "for whoever moves" if game.value_width() == 1 else "for each player"
    policies = np.asarray(row["policy"], float).reshape(-1, game.actions)
    parts = []
    for policy in policies:
        best = [action for action in np.argsort(-policy, kind="stable")[:PREFERRED] if policy[action] >= 0.005]
        parts.append(", ".join(f"{game.name_of(int(action))} {policy[action]:.0%}" for action in best))
    return f"value {values} {whose}{', proven' if row['proven'] else ''}; {' | '.join(parts)}"


def result_text(game: Game, played: PlayedGame) -> str:
    """Who won, or what everybody got."""
    if game.players == 2 and game.zero_sum:
        first = played.returns[0]
        return "draw" if first == 0 else f"{game.player_name(int(first < 0))} won"
    paid = ", ".join(f"{game.player_name(player)}: {value:g}" for player, value in enumerate(played.returns))
    return paid


def about_text(played: PlayedGame) -> str:
    """Where a game comes from."""
    how = {"over": "", "resigned": "; ended by resignation", "cap": "; cut off as too long", "proven": "; ended as proven"}
    count = "the first move was" if played.opening == 1 else f"the first {played.opening} moves were"
    opening = f"; {count} not searched" if played.opening else ""
    network = f" by {played.network}" if played.network else ""
    return f"worker {played.worker}, game {played.number}{network}{opening}{how.get(played.ending, f'; {played.ending}')}"


# --- files ------------------------------------------------------------------------------------------------------------


def latest_games(run: Run, count: int) -> Iterator[PlayedGame]:
    """The latest games, newest first, of each worker in turn."""
    by_worker: dict[str, list[Path]] = {}
    for path in reversed(run.game_files):
        by_worker.setdefault(path.name.partition("-")[0], []).append(path)
    in_turn = zip_longest(*(_latest_of(paths, row_type(run.game), count) for _, paths in sorted(by_worker.items())))
    games = [game for games in in_turn for game in games if game is not None]
    yield from games[:count]


def _latest_of(paths: list[Path], dtype: np.dtype, count: int) -> list[PlayedGame]:
    """The latest games of a worker's files, the newest file first."""
    found: list[PlayedGame] = []
    for path in paths:
        with contextlib.suppress(OSError, TrainingError):  # deleted meanwhile, or by another version
            places = last_places(path, count - len(found))
            if places:
                found += [game for game, _ in read_games(path, dtype, places[0])][::-1]
        if len(found) >= count:
            break
    return found[:count]


def last_places(path: Path, count: int) -> list[int]:
    """Where the last games of a file begin."""
    size, here = path.stat().st_size, len(MAGIC)
    places: deque[int] = deque(maxlen=count)
    with open(path, "rb") as file:
        while True:
            file.seek(here)
            head = file.read(FRAME.size)
            if len(head) < FRAME.size:
                break
            length, _ = FRAME.unpack(head)
            if length > LARGEST or here + FRAME.size + length > size:
                break
            if here > len(MAGIC):  # the first frame is the header
                places.append(here)
            here += FRAME.size + length
    return list(places)
