"""A small board that takes moves back: what reading ladders needs, and no more. Above: `ladders.py`.

Cells, colours and the words of chains are those of `games/go/layout.py`; a board is made of the colours alone, so that boards
of the past can be read too. `put` writes what it changes into a log, and `undo` reads it from there. Names of chains and
orders of stones are the same after an `undo` as before.
"""

import numpy as np

from anabranch.games.go.layout import EMPTY, NO_CELL, OFF, ONE, cells_of, in_atari, last_liberty, only_at, weight
from anabranch.games.go.stones import BOTH
from anabranch.jit import helper, routine
from anabranch.nets.katago.layers import LARGEST_BOARD

CELLS = cells_of(LARGEST_BOARD)
DEEPEST = LARGEST_BOARD * LARGEST_BOARD * 3 // 2 + 1  # moves that a ladder can be deep
LOGGED = 12  # numbers in the log for a move: eight, and one for each of four neighbours
TRIED = 64 * DEEPEST  # moves to try in a whole stack: on average far below 64 for each
MANY = 4  # liberties that need no further counting

BOARD = np.dtype(
    [
        ("liberties", "i8", (CELLS,)),  # a chain's word, at its head
        ("colour", "u1", (CELLS,)),
        ("chain", "u2", (CELLS,)),  # a stone's chain, named by its head; NO_CELL without a stone
        ("next", "u2", (CELLS,)),  # the next stone of the chain, in a ring
        ("size", "u2", (CELLS,)),  # stones of a chain, at its head
        ("ko_cell", "u2"),
        ("stride", "u8"),
        ("width", "i8"),
        ("height", "i8"),
        ("log", "i8", (DEEPEST * LOGGED,)),  # what `put` changed
        ("logged", "i8"),
        # of `ladders.py`
        ("count", "u1", (CELLS,)),  # a chain's liberties, at its head; MANY or fewer
        ("verdict", "u1", (CELLS,)),  # what is known of a chain, at its head
        ("working", "u1", (CELLS,)),  # 1 << colour where a ladder begins that captures a chain of this colour
        ("moves", "u2", (TRIED,)),  # to try, one list for each depth
        ("first", "i4", (DEEPEST + 1,)),  # where the moves of a depth that are still to be tried begin
        ("end", "i4", (DEEPEST + 1,)),
        # of `areas.py`
        ("area", "u1", (CELLS,)),  # whose a point is
        ("seen", "u1", (CELLS,)),
        ("queue", "u2", (CELLS,)),
    ],
    align=True,
)


def new_board() -> np.ndarray:
    """An array of one board, to be loaded."""
    return np.zeros(1, BOARD)


@routine
def load(board, colours, ko_cell, stride, width, height):
    """Make the board of these colours."""
    board.stride, board.width, board.height = stride, width, height
    board.ko_cell, board.logged = ko_cell, 0
    s = np.uint64(stride)
    for i in range(len(colours)):
        cell = np.uint64(i)
        board.colour[cell] = colours[cell]
        board.chain[cell] = NO_CELL
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            cell = np.uint64(row) * s + np.uint64(column)
            if board.colour[cell] != EMPTY:
                new_chain(board, cell)
                join(board, cell, cell - ONE)
                join(board, cell, cell - s)


@helper
def new_chain(board, cell):
    """A stone is a chain of its own."""
    s = board.stride
    word = np.int64(0)
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        if board.colour[near] == EMPTY:
            word += weight(near)
    board.chain[cell] = cell
    board.next[cell] = cell
    board.size[cell] = 1
    board.liberties[cell] = word


@helper
def join(board, cell, neighbour):
    """Make one chain of the stone's and the neighbour's, if that has the same colour. The chain whose name is given up, or
    NO_CELL."""
    smaller = np.uint64(board.chain[cell])
    larger = np.uint64(board.chain[neighbour])
    if board.colour[neighbour] != board.colour[cell] or larger == smaller:
        return np.uint64(NO_CELL)
    if board.size[larger] < board.size[smaller]:
        larger, smaller = smaller, larger
    board.liberties[larger] += board.liberties[smaller]
    board.size[larger] += board.size[smaller]
    rename(board, smaller, larger)
    swap_next(board, larger, smaller)
    return smaller


@helper
def rename(board, stone, head):
    """Give a name to the chain of a ring of stones."""
    first = stone
    while True:
        board.chain[stone] = head
        stone = np.uint64(board.next[stone])
        if stone == first:
            break


@helper
def swap_next(board, one, other):
    """Make one ring of two, or two of one."""
    after = board.next[one]
    board.next[one] = board.next[other]
    board.next[other] = after


# --- moves --------------------------------------------------------------------------------------------------------------------


@helper
def may_put(board, cell, colour):
    """Whether a stone may be put on this empty cell. A ko is closed to both players; suicide is never of use in a ladder."""
    if cell == board.ko_cell:
        return False
    s = board.stride
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        content = board.colour[near]
        if content == EMPTY:
            return True
        if content != OFF and only_at(board.liberties[board.chain[near]], cell) == (content != colour):
            return True
    return False


@routine
def put(board, cell, colour):
    """Put a stone on an empty cell where it may be put, and take off what it captures."""
    s = board.stride
    note(board, board.next[cell])
    note(board, board.size[cell])
    note(board, board.liberties[cell])
    note(board, board.ko_cell)
    lost = weight(cell)
    in_enemy_eye = True
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        board.liberties[board.chain[near]] -= lost
        in_enemy_eye &= board.colour[near] == OFF or board.colour[near] == BOTH - colour
    board.colour[cell] = colour
    new_chain(board, cell)
    joined, taken, stones = 0, 0, 0
    board.ko_cell = NO_CELL
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        smaller = join(board, cell, near)
        if smaller != NO_CELL:
            note(board, smaller)
            joined += 1
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        head = np.uint64(board.chain[near])
        if board.colour[near] == BOTH - colour and board.liberties[head] == 0:
            note(board, head)
            taken += 1
            stones += remove(board, head)
            if stones == 1 and in_enemy_eye:
                board.ko_cell = near
    if stones != 1:
        board.ko_cell = NO_CELL
    note(board, joined)
    note(board, taken)
    note(board, cell)


@helper
def note(board, number):
    """Write a number into the log."""
    board.log[board.logged] = number
    board.logged += 1


@helper
def noted(board):
    """Take the last number from the log."""
    board.logged -= 1
    return board.log[board.logged]


@helper
def remove(board, head):
    """Take a chain off the board; how many stones it had."""
    stone = head
    while True:
        board.colour[stone] = EMPTY
        board.chain[stone] = NO_CELL
        stone = np.uint64(board.next[stone])
        if stone == head:
            break
    change_liberties(board, head, np.int64(1))
    return np.int64(board.size[head])


@helper
def change_liberties(board, head, sign):
    """The stones of a ring become liberties of what is around, or cease to be, while no chain has their cells."""
    s = board.stride
    stone = head
    while True:
        change = sign * weight(stone)
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            board.liberties[board.chain[near]] += change
        stone = np.uint64(board.next[stone])
        if stone == head:
            break


@routine
def undo(board):
    """Take the last move back."""
    s = board.stride
    cell = np.uint64(noted(board))
    taken, joined = noted(board), noted(board)
    enemy = BOTH - board.colour[cell]
    for _ in range(taken):
        head = np.uint64(noted(board))
        change_liberties(board, head, np.int64(-1))
        rename(board, head, head)
        recolour(board, head, enemy)
    for _ in range(joined):
        part(board, np.uint64(noted(board)))
    board.colour[cell] = EMPTY
    board.chain[cell] = NO_CELL
    gained = weight(cell)
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        board.liberties[board.chain[near]] += gained
    board.ko_cell = noted(board)
    board.liberties[cell] = noted(board)
    board.size[cell] = noted(board)
    board.next[cell] = noted(board)


@helper
def recolour(board, head, colour):
    """Put the stones of a ring back."""
    stone = head
    while True:
        board.colour[stone] = colour
        stone = np.uint64(board.next[stone])
        if stone == head:
            break


@helper
def part(board, smaller):
    """Give a chain its name back that it gave up in `join`."""
    larger = np.uint64(board.chain[smaller])
    swap_next(board, larger, smaller)
    rename(board, smaller, smaller)
    board.size[larger] -= board.size[smaller]
    board.liberties[larger] -= board.liberties[smaller]


# --- liberties ----------------------------------------------------------------------------------------------------------------


@routine
def count_liberties(board, head):
    """How many liberties a chain has, up to MANY, and the first two of them."""
    s = board.stride
    none = np.uint64(NO_CELL)
    word = board.liberties[head]
    if word == 0:
        return 0, none, none
    if in_atari(word):
        return 1, last_liberty(word), none
    a, b, c = none, none, none
    stone = head
    while True:
        for near in (stone - s, stone - ONE, stone + ONE, stone + s):
            if board.colour[near] == EMPTY and near != a and near != b and near != c:
                if a == none:
                    a = near
                elif b == none:
                    b = near
                elif c == none:
                    c = near
                else:
                    return MANY, a, b
        stone = np.uint64(board.next[stone])
        if stone == head:
            return (2 if c == none else 3), a, b
