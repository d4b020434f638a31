"""Who has what at the end. Read first: `layout.py`.

Area: stones, and empty regions that touch one colour only. Territory is the same less the moves that each side made
(`balance`): a stone on the board or a prisoner was a move once, so both countings differ by nothing else. That also tells
playouts what to do: they fill their own territory, which must cost nothing, so the balance stays what it was where they began.
Dead stones that are taken off become a point of territory and a prisoner, since their moves stay in the balance.

**Dead stones**, where the rules know them, are those in the opponent's unconditional territory (`life.py`) after two passes.
**Tax**: a group is what hangs together of one owner's living stones and territory. If it touches a neutral point it is in
seki, and its territory does not count. With the tax on all groups, every other one pays two points of its territory: its eyes.

`area` is the quick way, which playouts take; `settled_area` looks at everything. Both count the same without dead stones and
tax.
"""

import numpy as np

from anabranch.games.go.layout import (
    BLACK,
    BLACK_BUTTON,
    EMPTY,
    OFF,
    ONE,
    WHITE,
    WHITE_BUTTON,
    cell_of,
    empty_neighbours,
    pass_of,
    stride,
    surrounded_by,
)
from anabranch.games.go.life import LIFE, mark_life
from anabranch.games.go.rulesets import AGREED, ALL_TAX, NO_TAX, SEKI_TAX, TERRITORY
from anabranch.games.go.stones import BOTH
from anabranch.games.go.utility import score_utility
from anabranch.jit import helper, kernel, routine

EYES = 2  # points that a group cannot fill: what each pays under the tax on all groups

# What `mark` holds of a point when its owner is known, beside LIFE: SEEN, and 1 << colour for each colour that reaches it.
SEEN, OWNERS, TAXED = 1, 1 << BLACK | 1 << WHITE, 8


@helper
def half_points(state):
    """Twice what black is ahead by as the board stands, komi and balance included."""
    points = area(state)
    if is_to_settle(state):
        points = settled_area(state)
    if state.scoring == TERRITORY:
        points += state.balance
    return 2 * points - half_bonus(state)


@helper
def half_bonus(state):
    """Twice what white gets besides the board: komi, handicap bonus and the button."""
    return state.half_komi + np.int64(state.button == WHITE_BUTTON) - np.int64(state.button == BLACK_BUTTON)


@helper
def is_to_settle(state):
    """Whether the quick way will not do. Playouts know no dead stones: they take them. Nor do they leave a neutral point, and
    with it a seki: where both colours touch, one of them can play."""
    return state.tax == ALL_TAX or (state.tax == SEKI_TAX and state.quick == 0) or has_dead(state)


@helper
def has_dead(state):
    """Whether stones in the opponent's unconditional territory are taken for dead."""
    return state.quick == 0 and state.dead == AGREED and state.passes >= 2


@helper
def pay(state, out):
    """What a score is worth to both players."""
    half = np.float64(half_points(state))
    sign = 1.0 if half > 0.0 else -1.0 if half < 0.0 else 0.0
    most = np.float64(state.width * state.height) * (2.0 if state.scoring == TERRITORY else 1.0) + 0.5 * abs(half_bonus(state))
    points = min(max(0.5 * half, -most), most)
    out[0] = state.win_weight * sign + state.score_weight * points
    if state.static_weight + state.dynamic_weight > 0.0:
        out[0] += score_utility(state, points)
    out[1] = -out[0]


def final(lead: float) -> str:
    """A score as people write it: B+3.5, W+12, or 0 for a draw."""
    return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}" if lead else "0"


# --- the quick way -----------------------------------------------------------------------------------------------------------


@helper
def area(state):
    """Black's area less white's, all stones taken for alive."""
    total = np.int64(state.stones)
    open_cells = 0
    for i in range(state.empty_count):
        around = state.around[state.empties[i]]
        total += int(surrounded_by(around, BLACK)) - int(surrounded_by(around, WHITE))
        open_cells += int(empty_neighbours(around) > 0)
    if open_cells > 0:
        total += open_regions(state)
    return total


@routine
def open_regions(state):
    """What empty regions of two cells or more add to black's area."""
    total = 0
    for i in range(state.empty_count):
        cell = np.uint64(state.empties[i])
        if state.mark[cell] == 0 and empty_neighbours(state.around[cell]) > 0:
            total += region(state, cell)
    for i in range(state.empty_count):
        state.mark[state.empties[i]] = 0
    return total


@helper
def region(state, cell):
    """Mark the empty region of this cell; what it adds to black's area."""
    s = stride(state)
    state.queue[0] = cell
    state.mark[cell] = 1
    done, count = 0, 1
    touched = 0  # bit 1: black, bit 2: white
    while done < count:
        cell = np.uint64(state.queue[done])
        state.queue[done] = 0
        done += 1
        for neighbour in (cell + ONE, cell - ONE, cell + s, cell - s):
            colour = state.colour[neighbour]
            touched |= 1 << colour
            if colour == EMPTY and state.mark[neighbour] == 0:
                state.mark[neighbour] = 1
                state.queue[count] = neighbour
                count += 1
    owner = touched & OWNERS
    return count if owner == 1 << BLACK else -count if owner == 1 << WHITE else 0


# --- dead stones and tax -----------------------------------------------------------------------------------------------------


@routine
def settled_area(state):
    """Black's area less white's, as the rules on dead stones and tax have it."""
    if has_dead(state):
        for colour in (BLACK, WHITE):
            mark_life(state, colour)
    mark_owners(state)
    marks = state.mark
    total = 0
    for i in range(len(marks)):
        total += owner_of(marks[np.uint64(i)])
    if state.tax != NO_TAX:
        total -= taxes(state)
    state.mark[:] = 0
    return total


@helper
def owner_of(mark):
    """What a point's mark says after `mark_owners`: 1 for black's, -1 for white's, 0 for a neutral one."""
    owners = mark & OWNERS
    return int(owners == 1 << BLACK) - int(owners == 1 << WHITE)


@routine
def mark_owners(state):
    """Write who owns it into `mark` of each point; stones that are marked as the other colour's by `mark_life` are dead. The
    caller clears `mark`."""
    colours, marks = state.colour, state.mark
    for i in range(len(colours)):
        cell = np.uint64(i)
        content = colours[cell]
        if content != OFF and (marks[cell] & SEEN) == 0:
            if lives(content, marks[cell]):
                marks[cell] |= SEEN | 1 << content
            else:
                mark_region(state, cell)


@helper
def lives(content, mark):
    """Whether a cell with this content and mark has a stone that is not dead."""
    return (content in (BLACK, WHITE)) and (mark & (LIFE << (BOTH - content))) == 0


@helper
def mark_region(state, cell):
    """Mark all that is connected to this cell, and is not a living stone, with the colours that it touches."""
    s = stride(state)
    colours, marks, queue = state.colour, state.mark, state.queue
    queue[0] = cell
    marks[cell] |= SEEN
    done, count = 0, 1
    touched = 0
    while done < count:
        cell = np.uint64(queue[done])
        done += 1
        for near in (cell + ONE, cell - ONE, cell + s, cell - s):
            content = colours[near]
            if lives(content, marks[near]):
                touched |= 1 << content
            elif content != OFF and (marks[near] & SEEN) == 0:
                marks[near] |= SEEN
                queue[count] = near
                count += 1
    for i in range(count):
        marks[queue[i]] |= touched
        queue[i] = 0


@helper
def taxes(state):
    """What black pays less what white does."""
    marks = state.mark
    total = 0
    for i in range(len(marks)):
        cell = np.uint64(i)
        owner = owner_of(marks[cell])
        if owner != 0 and (marks[cell] & TAXED) == 0:
            total += owner * tax_of(state, cell)
    return total


@routine
def tax_of(state, cell):
    """What the group of this cell pays."""
    s = stride(state)
    colours, marks, queue = state.colour, state.mark, state.queue
    owners = marks[cell] & OWNERS
    queue[0] = cell
    marks[cell] |= TAXED
    done, count, territory = 0, 1, 0
    is_seki = False
    while done < count:
        cell = np.uint64(queue[done])
        queue[done] = 0
        done += 1
        territory += int(not lives(colours[cell], marks[cell]))
        for near in (cell + ONE, cell - ONE, cell + s, cell - s):
            found = marks[near]
            if (found & OWNERS) == OWNERS:
                is_seki = True
            elif (found & OWNERS) == owners and (found & TAXED) == 0:
                marks[near] |= TAXED
                queue[count] = near
                count += 1
    if is_seki:
        return territory
    return min(territory, EYES) if state.tax == ALL_TAX else 0


@kernel
def settle(states, owners):
    """Write who owns each point of states[0] if the game ended here: 1 for black, -1 for white, 0 for a neutral one. Returns
    twice what black is ahead by."""
    state = states[0]
    half = half_points(state)
    if has_dead(state):
        for colour in (BLACK, WHITE):
            mark_life(state, colour)
    mark_owners(state)
    for action in range(pass_of(state)):
        owners[action] = owner_of(state.mark[cell_of(state, action)])
    state.mark[:] = 0
    return half
