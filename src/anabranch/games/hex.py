"""Hex: x joins top and bottom, o joins left and right; one of them must succeed.

The board is stored in one array with a border of stones that belong to the edges. Every stone records which of its owner's two
edges its chain is connected to: a new stone takes this from its six neighbours and, if that is new to its chain, updates the
chain. One record serves all sizes. Actions are the cells, row by row; each row is shifted right by half a cell, as in
OpenSpiel.
"""

import numpy as np

from anabranch.errors import GameError
from anabranch.games.board import Grid, cell_name
from anabranch.games.game import Game, rule
from anabranch.games.rules import word
from anabranch.games.symmetry import half_turn, on_points
from anabranch.jit import helper
from anabranch.jit.random import GOLDEN, mix

LARGEST = 19
STRIDE = LARGEST + 2  # cells from one row to the next, border included
WORDS = (STRIDE * STRIDE + 7) // 8  # u8 that the cells fill

# A cell's bits, for x; for o they are shifted left by O_SHIFT. A cell without a STONE of either is empty.
STONE, FIRST_EDGE, SECOND_EDGE = 1, 2, 4  # x: top and bottom; o: left and right
BOTH_EDGES = FIRST_EDGE | SECOND_EDGE
O_SHIFT = 3
STONES = np.uint64(0x0909090909090909)  # the stone bits of eight cells

CELL = np.zeros((LARGEST + 1, LARGEST**2), np.int16)  # [size, action]: the index of the action's cell
for size in range(1, LARGEST + 1):
    rows, columns = np.divmod(np.arange(size * size), size)
    CELL[size, : size * size] = (rows + 1) * STRIDE + columns + 1


class Hex(Game):
    """Join your two sides of the board; x has top and bottom, o left and right."""

    players, actions = 2, LARGEST**2
    player_names = ("X", "O")
    planes = 3, LARGEST, LARGEST  # the mover's stones; the other's; all ones if o moves, who has left and right
    state = np.dtype(
        [
            ("cells", "i1", (8 * WORDS,)),
            ("chain", "i2", (LARGEST**2,)),  # scratch of `tell`: all zeros between moves
            ("size", "i4"),
            ("turn", "i1"),
            ("over", "i1"),  # 1: the player who moved last has won
        ]
    )

    def __init__(self, size: int = 11) -> None:
        if not isinstance(size, (int, np.integer)) or not 1 <= size <= LARGEST:
            raise GameError(f"Hex is played on boards of size 1 to {LARGEST}, not {size!r}")
        super().__init__(size=int(size))
        self.actions = int(size) ** 2
        self.planes = 3, int(size), int(size)

    @rule
    def setup(state):
        cells, size = state.cells, state.size
        cells[:] = 0
        for i in range(1, size + 1):
            cells[i] = STONE | FIRST_EDGE
            cells[(size + 1) * STRIDE + i] = STONE | SECOND_EDGE
            cells[i * STRIDE] = (STONE | FIRST_EDGE) << O_SHIFT
            cells[i * STRIDE + size + 1] = (STONE | SECOND_EDGE) << O_SHIFT
        state.turn, state.over = 0, 0

    @rule
    def action_limit(state):
        return state.size * state.size

    @rule
    def to_play(state):
        return state.turn

    @rule
    def is_legal(state, action):
        return state.cells[CELL[state.size, action]] == 0

    @rule
    def play(state, action):
        cells = state.cells
        cell = int(CELL[state.size, action])
        shift = O_SHIFT * state.turn
        above = cells[cell - STRIDE] | cells[cell - STRIDE + 1]
        below = cells[cell + STRIDE] | cells[cell + STRIDE - 1]
        edges = (int(above | below | cells[cell - 1] | cells[cell + 1]) >> shift) & BOTH_EDGES
        cells[cell] = (STONE | edges) << shift
        if edges == BOTH_EDGES:
            state.over = 1
        elif edges != 0:
            tell(state, cell, edges, shift)
        state.turn = 1 - state.turn

    @rule
    def is_over(state):
        return state.over != 0

    @rule
    def returns(state, out):
        out[1 - state.turn] = 1.0
        out[state.turn] = -1.0

    @rule
    def key(state):
        low, high = GOLDEN, mix(GOLDEN)
        for i in range(((state.size + 1) * STRIDE + 7) // 8):
            stones = word(state, i) & STONES
            low = mix(low ^ stones)
            high = mix(high + stones)
        return low, high  # whose turn it is follows from the number of stones

    @rule
    def encode(state, planes):
        for row in range(state.size):
            for column in range(state.size):
                cell = int(state.cells[CELL[state.size, row * state.size + column]])
                planes[0, row, column] = cell >> (O_SHIFT * state.turn) & STONE
                planes[1, row, column] = cell >> (O_SHIFT * (1 - state.turn)) & STONE
        planes[2] = state.turn

    def symmetries(self):
        return on_points(half_turn(*self.planes[1:]), self.actions)

    def name_of(self, action):
        return cell_name(action, self.fields["size"])

    def _grid(self, state):
        size = state.size
        cells = [int(state.cells[CELL[size, action]]) for action in range(size**2)]
        owners = [(cell & STONE) + 2 * (cell >> O_SHIFT & STONE) for cell in cells]
        rows = [owners[start : start + size] for start in range(0, size**2, size)]
        return Grid(rows, rows=True, shift=0.5, hexagons=True, colours=("#efe8d8", "#c8453b", "#2f62b5"), background="#ffffff")

    def text(self, state):
        return self._grid(state).text()

    def svg(self, state):
        return self._grid(state).svg()


@helper
def tell(state, start, edges, shift):
    """Record in the whole chain of the stone at `start` which edge it is connected to."""
    cells, chain = state.cells, state.chain
    told = edges << shift
    mark = STONE << shift
    chain[0] = start
    count = 1
    while count > 0:
        count -= 1
        cell = int(chain[count])
        chain[count] = 0
        for step in (-STRIDE, 1 - STRIDE, -1, 1, STRIDE - 1, STRIDE):
            content = int(cells[cell + step])
            if content & (told | mark) == mark:
                cells[cell + step] = content | told
                chain[count] = cell + step
                count += 1
