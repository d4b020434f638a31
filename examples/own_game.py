"""A game of one's own, checked, searched, and played to its end by the engine.

python examples/own_game.py
"""

import numpy as np

import anabranch as ab


class Nim(ab.Game):
    """Take one to three of some stones; whoever takes the last one wins."""

    players, actions = 2, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1")])

    def __init__(self, stones: int = 21) -> None:
        super().__init__(stones=stones)  # fills this field of the record before `setup` sees it

    @ab.rule
    def setup(state):
        """The starting position."""
        state.turn = 0

    @ab.rule
    def to_play(state):
        """Whose turn it is."""
        return state.turn

    @ab.rule
    def is_legal(state, action):
        """Actions 0, 1, 2 take 1, 2, 3 stones."""
        return action < state.stones

    @ab.rule
    def play(state, action):
        """Change the record in place."""
        state.stones -= action + 1
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        """No stones are left."""
        return state.stones == 0

    @ab.rule
    def returns(state, out):
        """Whoever should move now has lost."""
        out[state.turn], out[1 - state.turn] = -1.0, 1.0

    def name_of(self, action: int) -> str:
        """Actions as people say them. This and `text` are plain Python and never compiled."""
        return str(action + 1)

    def text(self, state) -> str:
        """One line a position."""
        return f"{'|' * state.stones} ({state.stones})"


def main() -> None:
    """Check the rules, then let one search play both sides."""
    report = ab.check(Nim())
    print(report)
    assert report.ok

    game = Nim(stones=13)
    search = ab.Search(game)
    position = game.start()
    while not position.is_over:
        result = search.run(position, visits=5_000)
        print(f"{position!s:20} player {position.to_play} takes {result.best_name}")
        position = position.play(result.best)
        search.advance(result.best)
    winner = position.returns.index(1.0)
    print(f"player {winner} wins")
    assert winner == 0  # 13 is not a multiple of 4, so whoever begins can win, and the search sees it


if __name__ == "__main__":
    main()
