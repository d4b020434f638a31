"""Whose each point is as the board stands, as KataGo's networks are told under area scoring. Read first: `ladder_board.py`.

Unconditionally alive stones and their territory come first (`games/go/life.py`; the stones in it are dead). Of the rest, stones
belong to their owner, and empty regions to the only colour that they touch. Where there is a tax, territory counts only if what
it hangs together with has independent life: all of it lies apart from neutral points, and none of its own stones is in atari.
"""

import numpy as np

from anabranch.games.go.layout import BLACK, EMPTY, ONE, WHITE, in_atari
from anabranch.games.go.life import LIFE, mark_life
from anabranch.games.go.rulesets import NO_TAX
from anabranch.jit import helper, routine


@routine
def find_area(state, board):
    """Write EMPTY, BLACK or WHITE into `area` of the board, which is loaded with the position of the state."""
    for colour in (BLACK, WHITE):
        mark_life(state, colour)
    for i in range(len(state.colour)):
        cell = np.uint64(i)
        board.seen[cell] = 0
        board.area[cell] = owner_at_first(state.colour[cell], state.mark[cell])
        state.mark[cell] = 0
    claim_regions(board)
    if state.tax != NO_TAX:
        drop_dependent_territory(board)


@helper
def owner_at_first(content, mark):
    """Whose a cell is, if it is alive or a stone."""
    if (mark & (LIFE << WHITE)) != 0:
        return WHITE
    if (mark & (LIFE << BLACK)) != 0:
        return BLACK
    return content if content in (BLACK, WHITE) else EMPTY


@helper
def claim_regions(board):
    """Give empty regions to the only colour that they touch, except where they have an owner."""
    s = board.stride
    for row in range(1, board.height + 1):
        for column in range(1, board.width + 1):
            cell = np.uint64(row) * s + np.uint64(column)
            if board.colour[cell] == EMPTY and board.seen[cell] == 0:
                claim_region(board, cell)


@routine
def claim_region(board, cell):
    """Give the empty region of this cell to the only colour that it touches, if there is one."""
    s = board.stride
    board.queue[0] = cell
    board.seen[cell] = 1
    done, count, touched = 0, 1, 0
    while done < count:
        cell = np.uint64(board.queue[done])
        done += 1
        for near in (cell + ONE, cell - ONE, cell + s, cell - s):
            content = board.colour[near]
            touched |= 1 << content
            if content == EMPTY and board.seen[near] == 0:
                board.seen[near] = 1
                board.queue[count] = near
                count += 1
    is_black, is_white = (touched & (1 << BLACK)) != 0, (touched & (1 << WHITE)) != 0
    if is_black != is_white:
        for i in range(count):
            cell = np.uint64(board.queue[i])
            if board.area[cell] == EMPTY:
                board.area[cell] = BLACK if is_black else WHITE


# --- with a tax ---------------------------------------------------------------------------------------------------------------


@routine
def drop_dependent_territory(board):
    """Take territory without independent life out of `area`; living stones stay."""
    s = board.stride
    board.seen[:] = 0
    for row in range(1, board.height + 1):
        for column in range(1, board.width + 1):
            cell = np.uint64(row) * s + np.uint64(column)
            if board.area[cell] != EMPTY and board.seen[cell] == 0 and is_in_seki(board, cell):
                mark_group(board, cell)
    for i in range(len(board.seen)):
        if board.seen[i] != 0 and board.colour[i] != board.area[i]:
            board.area[i] = EMPTY


@helper
def is_in_seki(board, cell):
    """Whether an owned cell is next to a neutral point, or has a stone of its owner in atari."""
    s = board.stride
    if board.colour[cell] == board.area[cell] and in_atari(board.liberties[board.chain[cell]]):
        return True
    for near in (cell + ONE, cell - ONE, cell + s, cell - s):
        if board.colour[near] == EMPTY and board.area[near] == EMPTY:
            return True
    return False


@helper
def mark_group(board, cell):
    """Mark all cells of one owner that hang together with this one."""
    s = board.stride
    owner = board.area[cell]
    board.queue[0] = cell
    board.seen[cell] = 1
    done, count = 0, 1
    while done < count:
        cell = np.uint64(board.queue[done])
        done += 1
        for near in (cell + ONE, cell - ONE, cell + s, cell - s):
            if board.area[near] == owner and board.seen[near] == 0:
                board.seen[near] = 1
                board.queue[count] = near
                count += 1
