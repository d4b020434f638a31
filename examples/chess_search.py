"""Search chess through python-chess: a game of ordinary Python objects, no rules compiled.

    pip install chess
    python examples/chess_search.py

A position answers legal_actions, play, is_over, returns and to_play. Kernels walk the graph; Python plays and evaluates. Its
key lets positions that are reached by several orders of moves share one node, and tells when one comes again: the third time
is a draw, and the search treats a second time within its own lines as that.
"""

import math

import chess

import anabranch as ab

# An action is a number: 64 * 64 pairs of squares for each kind of promotion. Castling is a king's move over two squares.
PROMOTIONS = (None, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN)
WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}


def action_of(move: chess.Move) -> int:
    """The number of a move."""
    return (PROMOTIONS.index(move.promotion) * 64 + move.from_square) * 64 + move.to_square


def move_of(action: int) -> chess.Move:
    """The move of a number."""
    rest, to_square = divmod(action, 64)
    promotion, from_square = divmod(rest, 64)
    return chess.Move(from_square, to_square, PROMOTIONS[promotion])


class ChessPosition:
    """A board that is never changed once it is made."""

    actions = len(PROMOTIONS) * 64 * 64
    players = 2
    repetition, repetition_count = "draw", 3

    def __init__(self, board: chess.Board | None = None) -> None:
        self.board = board or chess.Board()
        self._outcome = self.board.outcome()

    @property
    def legal_actions(self) -> list[int]:
        """What the side to move may play."""
        return [action_of(move) for move in self.board.legal_moves]

    @property
    def to_play(self) -> int:
        """White is player 0."""
        return 0 if self.board.turn == chess.WHITE else 1

    @property
    def is_over(self) -> bool:
        """Mate, stalemate, dead positions, 75 moves, fivefold repetition (as far as the board's own moves go back)."""
        return self._outcome is not None

    @property
    def returns(self) -> list[float]:
        """What the end pays white and black."""
        if self._outcome is None or self._outcome.winner is None:
            return [0.0, 0.0]
        return [1.0, -1.0] if self._outcome.winner == chess.WHITE else [-1.0, 1.0]

    def play(self, action: int) -> "ChessPosition":
        """A new position; this one stays as it is."""
        board = self.board.copy(stack=8)
        board.push(move_of(action))
        return ChessPosition(board)

    @property
    def key(self) -> str:
        """Pieces, side to move, castling and en passant. The fifty-move count is left out: it would keep lines apart."""
        return self.board.epd()

    @staticmethod
    def name_of(action: int) -> str:
        """Moves are shown as in UCI: e2e4, e7e8q."""
        return move_of(action).uci()


def material(positions: list[ChessPosition]) -> tuple[None, list[float]]:
    """No priors; values for the side to move from the pieces on the board, after the best single capture."""
    return None, [math.tanh(balance(position.board) / 6.0) for position in positions]


def balance(board: chess.Board) -> float:
    """Own pieces less theirs, and the best exchange that one capture begins (its piece counted as lost if retaken)."""
    mine, theirs = board.turn, not board.turn
    total = sum(worth * (len(board.pieces(kind, mine)) - len(board.pieces(kind, theirs))) for kind, worth in WORTH.items())
    gains = [0]
    for move in board.generate_legal_captures():
        won = WORTH.get(board.piece_type_at(move.to_square) or chess.PAWN, 0)  # en passant takes a pawn from an empty square
        risked = WORTH.get(board.piece_type_at(move.from_square) or chess.KING, 0)
        gains.append(won - (risked if board.is_attacked_by(theirs, move.to_square) else 0))
    return total + max(gains)


PUZZLES = {  # what is to be found, the position, the moves that do it
    "mate in one": ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", ["d1d8"]),
    "mate in one, by promoting to a knight": ("7r/5QPk/8/8/8/3p2p1/1K6/8 w - - 0 1", ["g7g8n"]),
    "mate in one, by castling": ("8/8/7Q/8/R6B/5k2/8/2N1K2R w K - 0 1", ["e1g1"]),
    "mate in two, by giving up the rook (Morphy)": ("kbK5/pp6/1P6/8/8/8/8/R7 w - - 0 1", ["a1a6"]),
    "a draw by perpetual check, with mate threatened": ("6k1/6p1/8/7Q/8/8/rr5P/7K w - - 0 1", ["h5e8", "h5d5"]),
    "a queen that nothing guards": ("r1b1kbnr/pppp1ppp/2n5/4p1q1/4P3/3P1N2/PPP2PPP/RNBQKB1R w KQkq - 0 4", ["f3g5", "c1g5"]),
}


def main() -> None:
    """Solve the puzzles."""
    for what, (fen, solutions) in PUZZLES.items():
        position = ChessPosition(chess.Board(fen))
        search = ab.Search(ChessPosition, select=ab.UCT(), evaluate=material, graph=True)
        result = search.run(position, visits=5_000)
        shared = f"{result.stats.merges} of {result.stats.nodes} positions met again by another path"
        print(f"{what}: {result.best_name}, value {result.value:+.2f}, {shared}, {result.stats.seconds:.1f} s")
        assert result.best_name in solutions, result


if __name__ == "__main__":
    main()
