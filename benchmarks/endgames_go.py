"""Won games that stay won: the engine behind GTP plays itself until it is ahead and all is settled, then against somebody who
only passes, and against somebody who plays at random for a while. Under every rule set it must win."""

import random
from collections.abc import Iterator

from anabranch.games.go import RULE_SETS
from anabranch.goengine.endgame import settle
from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options
from anabranch.goengine.turns import with_turn
from measure import Figure, main, progress

GAMES, QUICK_GAMES = 20, 2  # for each rule set and opponent
SIZE, KOMI, VISITS = 7, 5.5, 100
RANDOM_MOVES = 12
SEES_WIN = 0.5  # a value from -1 to 1
COMMAND = "python benchmarks/endgames_go.py"


def run(quick: bool = False) -> list[Figure]:
    """One row a rule set."""
    return [kept(rules, QUICK_GAMES if quick else GAMES) for rules in RULE_SETS]


def kept(rules: str, games: int) -> Figure:
    """How many of the games that were won and settled are won in the end."""
    wins = [won for seed in range(games) for passes in (True, False) for won in ending(rules, seed, passes)]
    progress(f"{rules}: {sum(wins)} of {len(wins)} won and settled games are won")
    return Figure(
        what=f"Go {SIZE}x{SIZE}, {rules}, games that were won and settled, {VISITS} visits a move",
        ours=f"{sum(wins)} of {len(wins)} won",
        peer="",
        ratio="",
        target="all",
        met=all(wins),
        command=COMMAND,
        data={"games": len(wins), "won": sum(wins)},
    )


def ending(rules: str, seed: int, passes: bool) -> Iterator[bool]:
    """Play until the side to move is ahead, all is settled by playouts and the search agrees, then on: whether that side wins.
    Nothing, if that never happens. (Playouts alone take some capturing races for settled.)"""
    engine = Engine(Options(SIZE, KOMI, rules, visits=VISITS, resign=0, seed=seed, memory="64MB"))
    player = 0
    while not engine.position.is_over:
        found = settle(with_turn(engine.position, player))
        choice = engine.choose(player)
        sees_win = choice.result is not None and choice.result.value > SEES_WIN
        if found.is_settled and found.lead * (1 - 2 * player) > 0 and sees_win:
            yield play_on(engine, player, passes, random.Random(seed))
            return
        engine.commit(choice)
        player = 1 - player


def play_on(engine: Engine, player: int, passes: bool, dice: random.Random) -> bool:
    """The engine against somebody who passes, or plays at random first: whether it wins."""
    for number in range(10 * SIZE * SIZE):
        engine.commit(engine.choose(player))
        if engine.position.is_over:
            break
        legal = with_turn(engine.position, 1 - player).legal_actions
        engine.play(1 - player, legal[-1] if passes or number >= RANDOM_MOVES else dice.choice(legal))
        if engine.position.is_over:
            break
    all_live = engine.rules.dead == "none"
    lead = engine.game.lead(engine.position, dead=[]) if all_live else settle(engine.position).lead
    return lead * (1 - 2 * player) > 0


if __name__ == "__main__":
    main(run, __doc__)
