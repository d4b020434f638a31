"""Ladders as KataGo reads them, for its networks' planes. Read first: `ladder_board.py`.

The attacker takes one of two liberties; the defender answers on the last one, or takes a chain next to his own that is in
atari. Three liberties are an escape, one on the attacker's turn is the end. KataGo adds: the defender may begin by retaking
a ko; an attacker who leaves a ko behind has failed; two kos that cannot both be connected are the end; what is deeper than
one and a half times the board is the end, and what takes more than 25,000 moves is an escape.

One thing cannot be the same: the order of stones in a chain, which in KataGo depends on how the game came about. It matters
if 25,000 moves are not enough, and if a defender of three stones or more has captures at his last liberty and elsewhere.

`games/go/ladder.py` is the reader for players: it answers for either side to move, and counts what is too deep as an escape.
"""

import numpy as np

from anabranch.games.go.layout import EMPTY, NO_CELL, OFF, ONE, in_atari, last_liberty
from anabranch.games.go.stones import BOTH
from anabranch.jit import helper, routine
from anabranch.nets.katago.ladder_board import count_liberties, may_put, put, undo

OPEN, ESCAPED, CAPTURED = range(3)  # what is known of a position, or of a chain
MOST_MOVES = 25_000  # KataGo's limit
ENOUGH = 3  # liberties


@routine
def find_ladders(board):
    """Write the number of liberties of all chains into `count` and what becomes of those with one or two into `verdict`, both
    at their heads; and 1 << colour into `working` where an attack on a colour's chain of two liberties begins with success."""
    for i in range(len(board.colour)):
        board.count[i] = 0
        board.verdict[i] = OPEN
        board.working[i] = 0
    s = board.stride
    for row in range(board.height, 0, -1):
        for column in range(1, board.width + 1):
            stone = np.uint64(row) * s + np.uint64(column)
            head = np.uint64(board.chain[stone])
            if head != NO_CELL and board.count[head] == 0:
                count, first, second = count_liberties(board, head)
                board.count[head] = count
                if count == 1:
                    board.verdict[head] = read(board, stone)
                elif count == 2:
                    one, other = attack(board, stone, first), attack(board, stone, second)
                    board.verdict[head] = CAPTURED if CAPTURED in (one, other) else ESCAPED


@helper
def attack(board, stone, cell):
    """What becomes of a chain of two liberties if this one is taken; it is marked as working if that captures."""
    attacker = BOTH - board.colour[stone]
    if not may_put(board, cell, attacker):
        return ESCAPED
    put(board, cell, attacker)
    found = read(board, stone)
    undo(board)
    if found == CAPTURED:
        board.working[cell] |= 1 << board.colour[stone]
    return found


@routine
def read(board, stone):
    """Whether the chain of a stone, in atari and its owner to move, is CAPTURED or has ESCAPED."""
    colour = board.colour[stone]
    deepest = board.width * board.height * 3 // 2
    ko_cell = board.ko_cell
    board.ko_cell = NO_CELL
    depth, moves = 0, 0
    board.first[0] = 0
    found = look(board, stone, depth)
    while depth > 0 or found == OPEN:
        is_defender = depth % 2 == 0
        if found != OPEN:
            depth -= 1
            undo(board)
            if (found == CAPTURED) == (depth % 2 == 0):  # not what the player wants: the next move
                found = OPEN
        elif board.first[depth] == board.end[depth]:  # none was good enough for who plays here
            found = CAPTURED if is_defender else ESCAPED
        else:
            cell = np.uint64(board.moves[board.first[depth]])
            board.first[depth] += 1
            if may_put(board, cell, colour if is_defender else BOTH - colour):
                put(board, cell, colour if is_defender else BOTH - colour)
                moves += 1
                depth += 1
                if moves == MOST_MOVES:
                    give_up(board, depth)
                    return ESCAPED
                board.first[depth] = board.end[depth - 1]
                found = CAPTURED if depth >= deepest else look(board, stone, depth)
    board.ko_cell = ko_cell
    return found


@helper
def give_up(board, depth):
    """Take all moves back. (A ko stays open, as in KataGo.)"""
    for _ in range(depth):
        undo(board)


@helper
def look(board, stone, depth):
    """What is known of a position. If it is open, the moves to try are in `moves`, from `first` to `end`."""
    board.end[depth] = board.first[depth]
    head = np.uint64(board.chain[stone])
    count, first, second = count_liberties(board, head)
    if depth % 2 == 1:
        return look_to_attack(board, stone, depth, count, first, second)
    if count >= 2 or board.ko_cell != NO_CELL:
        return ESCAPED
    return look_to_defend(board, stone, depth, first)


@helper
def add(board, depth, cell):
    """Add a move to try, unless it is there."""
    for i in range(board.first[depth], board.end[depth]):
        if board.moves[i] == cell:
            return
    board.moves[board.end[depth]] = cell
    board.end[depth] += 1


# --- the defender -------------------------------------------------------------------------------------------------------------


@routine
def look_to_defend(board, stone, depth, liberty):
    """Captures first, then the last liberty. It is settled if the last of these moves is sure to give three liberties, or if it
    is the only one and gives one at most."""
    add_captures(board, stone, depth)
    add(board, depth, liberty)
    least, most = liberties_after(board, np.uint64(board.moves[board.end[depth] - 1]), board.colour[stone])
    if least >= ENOUGH:
        return ESCAPED
    if board.end[depth] == board.first[depth] + 1 and most <= 1:
        return CAPTURED
    return OPEN


@helper
def add_captures(board, stone, depth):
    """Add the moves that take a chain next to the stone's."""
    s = board.stride
    enemy = BOTH - board.colour[stone]
    start = stone
    while True:
        for near in (stone - s, stone - ONE, stone + ONE, stone + s):
            if board.colour[near] == enemy:
                word = board.liberties[board.chain[near]]
                if in_atari(word):
                    add(board, depth, last_liberty(word))
        stone = np.uint64(board.next[stone])
        if stone == start:
            break


@helper
def liberties_after(board, cell, colour):
    """At least, and at most, how many liberties a stone on this cell would have."""
    s = board.stride
    empty, captures, captured, joined, best = 0, 0, 0, 0, 0
    for near in (cell - s, cell - ONE, cell + ONE, cell + s):
        content = board.colour[near]
        if content == EMPTY:
            empty += 1
        elif content == colour:
            count, _, _ = count_liberties(board, np.uint64(board.chain[near]))
            joined += count - 1
            best = max(best, count - 1)
        elif content != OFF and in_atari(board.liberties[board.chain[near]]):
            captures += 1
            captured += int(board.size[board.chain[near]])
    return captures + max(best, empty), empty + captured + joined


# --- the attacker -------------------------------------------------------------------------------------------------------------


@routine
def look_to_attack(board, stone, depth, count, first, second):
    """Both liberties, the better one first; one alone if the defender would get three liberties there."""
    if count != 2:
        return CAPTURED if count < 2 else ESCAPED
    colour = board.colour[stone]
    one, other = empty_around(board, first), empty_around(board, second)
    if one == 0 and other == 0 and is_double_ko(board, stone, colour, first, second):
        return CAPTURED
    if abs(np.int64(first) - np.int64(second)) not in (1, np.int64(board.stride)):
        if one >= ENOUGH and other >= ENOUGH:
            return ESCAPED
        if one >= ENOUGH or other >= ENOUGH:
            add(board, depth, first if one >= ENOUGH else second)
            return OPEN
    if 2 * other + worth_joining(board, second, colour) > 2 * one + worth_joining(board, first, colour):
        first, second = second, first
    add(board, depth, first)
    add(board, depth, second)
    return OPEN


@helper
def empty_around(board, cell):
    """How many neighbours are empty."""
    s = board.stride
    empty = 0
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        empty += int(board.colour[near] == EMPTY)
    return empty


@helper
def worth_joining(board, cell, colour):
    """What chains of a colour next to a cell would bring to one another: twice their liberties less three. Many count as
    MANY."""
    s = board.stride
    worth = 0
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        if board.colour[near] == colour:
            count, _, _ = count_liberties(board, np.uint64(board.chain[near]))
            if count > 1:
                worth += 2 * count - 3
    return worth


# --- two kos ------------------------------------------------------------------------------------------------------------------


@routine
def is_double_ko(board, stone, colour, first, second):
    """Whether both liberties are kos that the attacker may take, neither gives the defender more than two liberties, and he has
    nothing to capture."""
    return (
        takes_ko(board, first, colour)
        and takes_ko(board, second, colour)
        and liberties_joined(board, first, colour) < ENOUGH
        and liberties_joined(board, second, colour) < ENOUGH
        and not has_captures(board, stone)
    )


@helper
def takes_ko(board, cell, colour):
    """Whether the cell lies among stones of a colour and border, and exactly one of these neighbours can be captured there: a
    single stone."""
    s = board.stride
    found, size = 0, 0
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        content = board.colour[near]
        if content == colour:
            if in_atari(board.liberties[board.chain[near]]):
                found += 1
                size = int(board.size[board.chain[near]])
        elif content != OFF:
            return False
    return found == 1 and size == 1


@helper
def liberties_joined(board, cell, colour):
    """How many liberties, up to three, a stone has that joins chains of its colour where it has no empty neighbour."""
    none = np.uint64(NO_CELL)
    s = board.stride
    a, b = none, none
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        if board.colour[near] == colour:
            start = near
            stone = near
            while True:
                for liberty in (stone + ONE, stone - ONE, stone + s, stone - s):
                    if board.colour[liberty] == EMPTY and liberty != cell and liberty != a and liberty != b:
                        if a == none:
                            a = liberty
                        elif b == none:
                            b = liberty
                        else:
                            return ENOUGH
                stone = np.uint64(board.next[stone])
                if stone == start:
                    break
    return int(a != none) + int(b != none)


@helper
def has_captures(board, stone):
    """Whether a chain next to the stone's is in atari."""
    s = board.stride
    enemy = BOTH - board.colour[stone]
    start = stone
    while True:
        for near in (stone + ONE, stone - ONE, stone + s, stone - s):
            if board.colour[near] == enemy and in_atari(board.liberties[board.chain[near]]):
                return True
        stone = np.uint64(board.next[stone])
        if stone == start:
            return False
