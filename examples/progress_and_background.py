"""Watch a search while it runs, and search in the background while the program does something else.

python examples/progress_and_background.py
"""

import time

import anabranch as ab
from anabranch.games import Hex


def show(result: ab.Result) -> None:
    """Called about ten times a second, in the thread that searches."""
    print(f"  {result.stats.simulations:>9,} simulations, best {result.best_name}, value {result.value:+.3f}")


def main() -> None:
    """A callback, then start/stop, then start/wait."""
    game = Hex(size=5)

    print("with a callback:")
    search = ab.Search(game)
    search.on_progress = show
    print(repr(search.run(game.start(), seconds=0.5)))

    print("in the background, until it is stopped:")
    search = ab.Search(game)
    search.start(game.start())
    time.sleep(0.3)  # here a program would wait for its opponent, or serve others
    result = search.stop()
    print(repr(result))

    print("in the background, with a limit, on the tree that is kept:")
    search.advance(result.best)
    search.start(visits=20_000)
    result = search.wait()  # what went wrong in the background would be raised here
    print(repr(result))


if __name__ == "__main__":
    main()
