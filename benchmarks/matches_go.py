"""Matches between searches of Go that differ in their playouts: which rule of a playout policy is worth its time.

Both sides search the same number of simulations from scratch at every move, take turns as black, and are seeded by the game's
number, so that no game is played twice. The first plies are random, the same in games 2k and 2k + 1. A game ends by two
passes, or after CAP board sizes; the score is the area as it stands (searches pass only where that is enough). Every game is
written down as it ends (docs/results/go_matches.jsonl), so a match that was broken off goes on, and one that was played is not
played again.

    python benchmarks/matches_go.py --list
    python benchmarks/matches_go.py mogo-light --games 200
"""

import argparse
import json
import multiprocessing
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from anabranch import UCT, Rollout, Search
from anabranch.games.go import Go, Light, MoGo, Softmax
from measure import Figure, progress
from strength_connect_four import wilson

FILE = Path(__file__).parents[1] / "docs" / "results" / "go_matches.jsonl"
SIZE, KOMI, SIMULATIONS = 9, 7.5, 1_000
GAMES, FEWER_GAMES = 200, 100  # of a match with a target, and of others
TARGETS = {"mogo-light": 0.75}
C = 0.5  # of UCT, on both sides
OPENING = 2  # random plies
CAP = 4  # board sizes after which a game is scored as it stands


class Match(NamedTuple):
    """Two policies for the same search."""

    ours: Any
    theirs: Any


MATCHES: dict[str, Match] = {
    "mogo-light": Match(MoGo(), Light()),
    "self-atari": Match(MoGo(), MoGo(self_atari=0.0)),
    "eye-shape": Match(MoGo(eye_shape=1.0), MoGo()),
    "empty-region": Match(MoGo(empty_region=4), MoGo()),
    "nakade": Match(MoGo(nakade=1.0), MoGo()),
    "two-liberties": Match(MoGo(two_liberties=1.0), MoGo()),
    "second-last": Match(MoGo(second_last=1.0), MoGo()),
    "pattern-95": Match(MoGo(pattern=0.95), MoGo()),
    "capture-90": Match(MoGo(capture=0.9), MoGo()),
    "softmax": Match(Softmax(), MoGo()),
}


def play(name: str, number: int) -> dict[str, Any]:
    """One game; what came of it, for `ours`."""
    match = MATCHES[name]
    black = number % 2  # who is: 0 ours
    policies = (match.ours, match.theirs) if black == 0 else (match.theirs, match.ours)
    game = Go(SIZE, komi=KOMI, rules="tromp-taylor")
    searches = [
        Search(game, select=UCT(c=C), evaluate=Rollout(policy=policy), seed=2 * number + i) for i, policy in enumerate(policies)
    ]
    position = game.start()
    opening = np.random.default_rng(number // 2)
    for _ in range(OPENING):
        position = position.play(int(opening.choice(position.legal_actions[:-1])))
    while not position.is_over and len(position.moves) < CAP * SIZE * SIZE:
        position = position.play(searches[position.to_play].run(position, visits=SIMULATIONS).best)
    lead = game.lead(position)
    return {
        "match": name,
        "game": number,
        "won": int((lead > 0) == (black == 0)),
        "black": black == 0,
        "plies": len(position.moves),
    }


def played(name: str) -> dict[int, dict[str, Any]]:
    """The games of a match that were written down, by number."""
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    games = (json.loads(line) for line in lines)
    return {game["game"]: game for game in games if game["match"] == name}


def play_missing(name: str, games: int, processes: int = 1) -> Iterator[dict[str, Any]]:
    """Play what is missing of a match, and write it down."""
    missing = [number for number in range(games) if number not in played(name)]
    if not missing:
        return
    yield _write(play(name, missing[0]))  # compiles, for all processes
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for result in pool.imap_unordered(_play, [(name, number) for number in missing[1:]]):
            yield _write(result)


def _play(job: tuple[str, int]) -> dict[str, Any]:
    return play(*job)


def _write(result: dict[str, Any]) -> dict[str, Any]:
    with FILE.open("a") as file:
        file.write(json.dumps(result) + "\n")
    return result


def figure(name: str, games: Collection[dict[str, Any]]) -> Figure:
    """How a match stands."""
    match, won, count = MATCHES[name], sum(game["won"] for game in games), len(games)
    low, high = wilson(won, count) if count else (0.0, 1.0)
    target = TARGETS.get(name, 0.0)
    return Figure(
        what=f"Go 9x9, UCT, {SIMULATIONS:,} simulations a move: {written(match.ours)} against {written(match.theirs)}",
        ours=f"{won} of {count}",
        peer=f"{count - won}",
        ratio=f"{won / max(count, 1):.1%} ({low:.1%} to {high:.1%})",
        target=f">= {target:.0%}" if target else "reported",
        met=won >= target * count,
        command=f"python benchmarks/matches_go.py {name} --games {count}",
        data={"match": name, "won": won, "games": count},
    )


def written(policy: Any) -> str:
    """A policy with what is not its default."""
    defaults = policy._field_defaults
    changed = ", ".join(f"{field}={value:g}" for field, value in policy._asdict().items() if value != defaults[field])
    return f"`{type(policy).__name__}({changed})`"


def run(quick: bool = False) -> list[Figure]:
    """All matches; what was played before is taken from the file."""
    if quick:
        return [figure("mogo-light", [play("mogo-light", number) for number in range(2)])]
    figures = []
    for name in MATCHES:
        for _ in play_missing(name, GAMES if name in TARGETS else FEWER_GAMES):
            pass
        figures.append(figure(name, played(name).values()))
        progress(f"{figures[-1].what}: {figures[-1].ratio}")
    return figures


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matches", nargs="*", metavar="MATCH", help="by default all")
    parser.add_argument("--games", type=int, default=GAMES)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="say what there is, and how it stands")
    arguments = parser.parse_args()
    for name in arguments.matches or list(MATCHES):
        if not arguments.list:
            for done, _ in enumerate(play_missing(name, arguments.games, arguments.processes), start=1):
                if done % 10 == 0:
                    progress(f"{name}: {figure(name, played(name).values()).ratio}")
        print(figure(name, played(name).values()).markdown(), flush=True)


if __name__ == "__main__":
    main()
