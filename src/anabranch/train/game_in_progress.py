"""A game of self-play, from its opening until it is written: its position, its rows, who would resign."""

import numpy as np

from anabranch.games.game import Game
from anabranch.games.position import Position
from anabranch.games.rules import EVERYONE
from anabranch.train.game_file import PlayedGame
from anabranch.train.openings import Openings, after_chance, begun, number_of_board
from anabranch.train.rows import MOST_PLIES, as_seen, range_of
from anabranch.train.settings import SelfPlaySettings


class GameInProgress:
    """A game that is being played. All its random choices follow from its seed."""

    def __init__(self, game: Game, number: int, seed: int, settings: SelfPlaySettings, openings: Openings) -> None:
        self.game, self.number, self.settings = game, number, settings
        self.random = np.random.default_rng(seed)
        self.rows: list[np.void] = []
        self.row_positions: list[tuple[Position, int]] = []  # of each row: its position, and how many edges came before
        self.edges: list[int] = []  # that were followed after the opening
        self.low = [0] * game.players  # own moves in a row after which a player might resign
        self.may_resign = settings.resign > 0.0 and self.random.random() >= settings.resign_checked
        self.would_resign = -1
        self.resigned = -1
        self.board = number_of_board(game, settings, self.random)
        self.position = begun(game, self.board, settings, openings, self.random)
        self.opening = len(self.position.moves)

    @property
    def ply(self) -> int:
        """Moves so far."""
        return len(self.position.moves)

    def draw_fast(self) -> bool:
        """Whether the next move is to be searched fast, and not learnt."""
        return self.settings.fast_share > 0.0 and self.random.random() < self.settings.fast_share

    def add_row(self, row: np.void) -> None:
        """Keep what the search said of this position."""
        self.rows.append(row)
        self.row_positions.append((self.position, len(self.edges)))

    def follow(self, edge: int, position: Position) -> None:
        """Go on along an edge, to the position behind it, and through the chance events after it."""
        self.edges.append(edge)
        self.position = after_chance(position, self.random)

    def note_resignation(self, values: np.ndarray) -> None:
        """Let the player to move resign if its value was very low twice in a row; where nobody may, note that it would."""
        if self.settings.resign <= 0.0:
            return
        player = self.position.to_play
        if player == EVERYONE or self.game.value_width() != 1 or self.game.players != 2:
            return
        low, high = range_of(self.game, player)
        value = (float(values[0]) - (low + high) / 2) / ((high - low) / 2)
        self.low[player] = self.low[player] + 1 if value < -self.settings.resign else 0
        if self.low[player] >= 2 and self.would_resign < 0:
            self.would_resign = player
            if self.may_resign:
                self.resigned = player

    @property
    def ending(self) -> str:
        """How the game has ended; "" while it goes on."""
        if self.resigned >= 0:
            return "resigned"
        if self.position.is_over:
            return "over"
        return "cap" if self.ply >= self.settings.longest else ""

    def finished(self, dtype: np.dtype, worker: int, network: str) -> PlayedGame:
        """The game as it is written, with what each row's position led to."""
        end, fading, returns = self.position, self.game.discount, self._returns()
        rows = np.array(self.rows, dtype) if self.rows else np.zeros(0, dtype)
        for i, (position, edge) in enumerate(self.row_positions):
            to_come = (returns - np.array(position.rewards)) / fading ** len(position.moves)
            rows["outcome"][i] = as_seen(self.game, to_come, position.to_play)
            rows["left"][i] = min(len(end.moves) - len(position.moves), MOST_PLIES)
            rows["reply"][i] = self.edges[edge + 1] if edge + 1 < len(self.edges) else -1
        return PlayedGame(
            worker=worker,
            number=self.number,
            network=network,
            moves=list(end.moves),
            opening=self.opening,
            returns=[float(number) for number in returns],
            ending=self.ending,
            rows=rows,
            would_resign=self.would_resign,
            final=end.data,
            board=self.board,
        )

    def _returns(self) -> np.ndarray:
        """What each player gets in all."""
        ranges = [range_of(self.game, player) for player in range(self.game.players)]
        if self.ending == "resigned":
            final = np.array([low if player == self.resigned else high for player, (low, high) in enumerate(ranges)])
        elif self.ending == "cap":
            final = np.array([(low + high) / 2 for low, high in ranges])
        else:
            final = np.array(self.position.returns)
        return np.asarray(final * self.game.discount ** len(self.position.moves) + np.array(self.position.rewards))
