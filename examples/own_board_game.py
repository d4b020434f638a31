"""A board game of one's own that a network can learn: it has planes, and says under which reflections it stays the same.

python examples/own_board_game.py                                       checks the rules
anabranch train examples/own_board_game.py:Breakthrough --hours 1       learns the game, see docs/training.md
"""

import numpy as np

import anabranch as ab
from anabranch.games.symmetry import Symmetries, mirror

SIDE = 6
CELLS = SIDE * SIDE
LETTERS = "abcdef"
WAYS = ("l", "", "r")  # to the left, straight on, to the right


class Breakthrough(ab.Game):
    """Pawns step forward, straight or diagonally, and take diagonally. Whoever reaches the last row wins, white from below."""

    players, actions = 2, 3 * CELLS  # 3 * cell + way
    player_names = ("white", "black")
    planes = 3, SIDE, SIDE  # the mover's pawns; the other's; all ones if black moves
    state = np.dtype([("board", "i1", (CELLS,)), ("pawns", "i1", (2,)), ("turn", "i1"), ("won", "i1")])

    @ab.rule
    def setup(state):
        """Two rows of pawns each."""
        state.board[: 2 * SIDE] = 2  # black
        state.board[CELLS - 2 * SIDE :] = 1  # white
        state.pawns[:] = 2 * SIDE
        state.turn, state.won = 0, 0

    @ab.rule
    def to_play(state):
        """Whose turn it is."""
        return state.turn

    @ab.rule
    def is_legal(state, action):
        """Whether a pawn of one's own stands there, and where it goes is free or, diagonally, the other's."""
        cell, way = action // 3, action % 3 - 1
        column = cell % SIDE + way
        if state.board[cell] != 1 + state.turn or column < 0 or column >= SIDE:
            return False
        there = state.board[cell + way + (SIDE if state.turn else -SIDE)]
        return there == 0 or (way != 0 and there == 2 - state.turn)

    @ab.rule
    def play(state, action):
        """Change the record in place."""
        cell, way = action // 3, action % 3 - 1
        goal = cell + way + (SIDE if state.turn else -SIDE)
        state.pawns[1 - state.turn] -= state.board[goal] != 0
        state.board[goal], state.board[cell] = 1 + state.turn, 0
        if goal < SIDE or goal >= CELLS - SIDE or state.pawns[1 - state.turn] == 0:
            state.won = 1
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        """Somebody has reached the last row, or taken everything."""
        return state.won != 0

    @ab.rule
    def returns(state, out):
        """Whoever moved last has won."""
        out[1 - state.turn], out[state.turn] = 1.0, -1.0

    @ab.rule
    def encode(state, planes):
        """What a network sees."""
        for cell in range(CELLS):
            planes[0, cell // SIDE, cell % SIDE] = state.board[cell] == 1 + state.turn
            planes[1, cell // SIDE, cell % SIDE] = state.board[cell] == 2 - state.turn
        planes[2] = state.turn

    def symmetries(self):
        """Left and right may be swapped: for each cell, and each action, where it comes from."""
        points = mirror(SIDE, SIDE)
        plain, turned = points
        actions = [
            [3 * cell + way for cell in plain for way in (0, 1, 2)],
            [3 * cell + way for cell in turned for way in (2, 1, 0)],
        ]
        return Symmetries(points, np.array(actions))

    def name_of(self, action):
        """The cell that a pawn leaves, with l or r if it does not step straight on: b2, b2l."""
        row, column = divmod(action // 3, SIDE)
        return f"{LETTERS[column]}{SIDE - row}{WAYS[action % 3]}"

    def text(self, state):
        """The board."""
        rows = [" ".join(".ox"[pawn] for pawn in row) for row in state.board.reshape(SIDE, SIDE)]
        return "\n".join(f"{SIDE - number} {row}" for number, row in enumerate(rows)) + "\n  " + " ".join(LETTERS)


def main() -> None:
    """Check the rules, and search the first move."""
    game = Breakthrough()
    report = ab.check(game)
    print(report)
    assert report.ok
    result = ab.Search(game).run(visits=5_000)
    print(game.start())
    print(f"{result.best_name}: {result.value:+.2f}")


if __name__ == "__main__":
    main()
