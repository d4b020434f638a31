"""Search a position of Connect Four, read the result, play a move and search on with the tree that is kept.

python examples/quickstart.py
"""

import anabranch as ab
from anabranch.games import ConnectFour


def main() -> None:
    """Search, look, advance, search on."""
    game = ConnectFour()
    position = game.position(["d", "d", "e"])  # names or numbers of actions
    print(position)

    search = ab.Search(game, select=ab.UCT(c=1.4), evaluate=ab.Rollout(), seed=7)
    result = search.run(position, visits=20_000)
    print(result)  # a table; the columns are also there one by one:
    print(f"best {game.name_of(result.best)}, worth {result.value:+.2f} to player {position.to_play}")
    print("share of visits:", [round(float(share), 3) for share in result.policy])

    search.advance(result.best)  # the root moves, the part of the tree below it stays
    result = search.run(total=20_000)  # until the root's edges have that many visits, kept ones included
    print(f"kept {result.stats.kept:,} visits, added {result.stats.simulations:,}; the reply is {result.best_name}")


if __name__ == "__main__":
    main()
