"""Memory: bytes a simulation of a Connect Four tree, against OpenSpiel's C++ `MCTSBot`.

Each side searches in a process of its own, warmed by a small search, and reports how much its resident memory grew. Ours also
reports what it says itself (`Result.stats.bytes`: slots used times their size); the larger of the two is held to the target.
"""

import json
import sys

from measure import Figure, child_json, main, progress, resident_bytes

C = 1.4
SIMULATIONS, PEER_SIMULATIONS = 1_000_000, 200_000
WARM_UP = 100
TARGET = 80
COMMAND = "python benchmarks/memory.py"


def ours(simulations: int) -> dict[str, float]:
    """What a tree of ours takes, in this process."""
    from anabranch import UCT, Search
    from anabranch.games import ConnectFour

    game = ConnectFour()
    Search(game, select=UCT(c=C)).run(game.start(), visits=WARM_UP)
    search = Search(game, select=UCT(c=C), seed=1)
    before = resident_bytes()
    result = search.run(game.start(), visits=simulations)
    grown = resident_bytes() - before
    return {"simulations": simulations, "said": result.stats.bytes, "grown": grown}


def openspiel(simulations: int) -> dict[str, float]:
    """The same for OpenSpiel's."""
    import pyspiel

    from speed_openspiel import bot

    game = pyspiel.load_game("connect_four")
    bot(game, WARM_UP, seed=9).mcts_search(game.new_initial_state())
    searcher = bot(game, simulations, seed=1)
    before = resident_bytes()
    root = searcher.mcts_search(game.new_initial_state())
    grown = resident_bytes() - before
    return {"simulations": root.explore_count, "grown": grown}


def run(quick: bool = False) -> list[Figure]:
    """Both sides, in fresh processes."""
    shrink = 10 if quick else 1
    mine = child_json(sys.executable, __file__, "ours", str(SIMULATIONS // shrink))
    peer = child_json(sys.executable, __file__, "openspiel", str(PEER_SIMULATIONS // shrink))
    said, grown = (mine[key] / mine["simulations"] for key in ("said", "grown"))
    theirs = peer["grown"] / peer["simulations"]
    progress(f"{said:.1f} bytes a simulation in slots, {grown:.1f} in resident memory; OpenSpiel {theirs:.1f}")
    return [
        Figure(
            what=f"Connect Four UCT, bytes a simulation at {mine['simulations']:,}",
            ours=f"{said:.1f} in slots, {grown:.1f} resident",
            peer=f"{theirs:.1f} (OpenSpiel, resident, at {peer['simulations']:,})",
            ratio=f"{max(said, grown) / theirs:.2f}",
            target=f"<= {TARGET} bytes",
            met=max(said, grown) <= TARGET,
            command=COMMAND,
            data={"ours": mine, "openspiel": peer},
        )
    ]


if __name__ == "__main__":
    if sys.argv[1:2] in (["ours"], ["openspiel"]):
        print(json.dumps({"ours": ours, "openspiel": openspiel}[sys.argv[1]](int(sys.argv[2]))))
    else:
        main(run, __doc__)
