"""Random games on small graphs: positions are numbers, and where moves lead is data of the instance."""

import numpy as np
from hypothesis import strategies as st

import anabranch as ab

SIZE, ACTIONS = 16, 3
NOWHERE = -1


class Maze(ab.Game):
    """Two players move a token in turn along arrows; where none leaves, the game is over and pays what stands there."""

    players, actions = 2, ACTIONS
    state = np.dtype(
        [("place", "i4"), ("leads", "i4", (SIZE, ACTIONS)), ("mover", "i1", (SIZE,)), ("pays", "f8", (SIZE,))], align=True
    )

    def __init__(self, leads, mover, pays):
        super().__init__(leads=np.array(leads, "i4"), mover=np.array(mover, "i1"), pays=np.array(pays, "f8"))

    @ab.rule
    def setup(state):
        state.place = 0

    @ab.rule
    def to_play(state):
        return state.mover[state.place]

    @ab.rule
    def is_legal(state, action):
        return state.leads[state.place, action] >= 0

    @ab.rule
    def play(state, action):
        state.place = state.leads[state.place, action]

    @ab.rule
    def is_over(state):
        for action in range(ACTIONS):  # noqa: SIM110 (kernels know no generators)
            if state.leads[state.place, action] >= 0:
                return False
        return True

    @ab.rule
    def returns(state, out):
        out[0] = state.pays[state.place]
        out[1] = -out[0]

    @ab.rule
    def key(state):
        return np.uint64(state.place), np.uint64(0)

    def exact(self):
        """The value of every place to the first player, if arrows lead to higher numbers only."""
        leads, values = self.fields["leads"], np.array(self.fields["pays"])
        for place in reversed(range(SIZE)):
            targets = [target for target in leads[place] if target != NOWHERE]
            if targets:
                best = max if self.fields["mover"][place] == 0 else min
                values[place] = best(values[target] for target in targets)
        return values


@st.composite
def mazes(draw, cycles=False):
    """A maze; without cycles, arrows lead to higher numbers."""
    leads = np.full((SIZE, ACTIONS), NOWHERE)
    for place in range(SIZE - 1):
        if place > 0 and draw(st.integers(0, 5)) == 0:
            continue  # an end
        targets = st.integers(0 if cycles else place + 1, min(place + 5, SIZE - 1))
        chosen = draw(st.lists(targets, min_size=1, max_size=ACTIONS, unique=True))
        leads[place, : len(chosen)] = chosen
    mover = draw(st.lists(st.integers(0, 1), min_size=SIZE, max_size=SIZE))
    pays = draw(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=SIZE, max_size=SIZE))
    return Maze(leads, mover, pays)
