"""Matches of the RAVE family, played by the arena: against GNU Go, against UCT, and option against option.

Every match is a command of the program, and its games are kept in docs/results/rave_matches.db as they end, so that one that
was broken off goes on and one that was played is not played again.

    python benchmarks/matches_rave.py --list
    python benchmarks/matches_rave.py mc-rave best --processes 2
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from measure import Figure, progress

DATABASE = Path(__file__).parents[1] / "docs" / "results" / "rave_matches.db"
GNUGO = "gnugo --mode gtp --level 10"
GO = "go:size=9,komi=6.5"
HEX = "hex:size=11"
UCT = "uct visits=1000 c=0.5"
RAVE = "rave visits=1000"
# The default engine, in words that mean the same when the default has changed.
SENSE = "heuristic=Sense(second_line=40)"
SHAPES = "heuristic=Shapes(even=10,weight=7.0,usual=-4.0,own={})"  # with weights learnt anew it is another one
FORMER = "policy=MoGo(save=0.8,pattern=0.8,second_last=0.2,capture=0.8,self_atari=0.5)"  # before its numbers were tuned
RELAXED = "policy=MoGo(save=0.8,pattern=0.85,second_last=0.4,capture=0.8,self_atari=0.3)"
BEST = f"rave visits={{}} bias=0.018 {SHAPES.format(0.4)} {RELAXED}"


class Planned(NamedTuple):
    """A match, and what is expected of it."""

    what: str
    first: str
    second: str
    games: int = 200
    game: str = GO
    least: float = 0.0  # points in all
    least_low: float = 0.0  # the lower end of their interval
    sprt: str = ""  # must accept the second of two hypotheses

    @property
    def opening(self) -> int:
        """Random moves at the start: none against GNU Go, as in the paper; two among ourselves, so that games differ."""
        return 0 if self.second == GNUGO else 2

    @property
    def command(self) -> list[str]:
        """How the program plays it."""
        terms = ["--game", self.game, "--games", str(self.games)]
        terms += ["--opening-plies", str(self.opening), *(["--referee", "gnugo"] if self.second == GNUGO else [])]
        terms += ["--sprt", self.sprt] if self.sprt else []
        return ["match", self.first, self.second, *terms, "--db", os.path.relpath(DATABASE)]


MATCHES: dict[str, Planned] = {
    # against GNU Go 3.8, level 10, at 3,000 simulations a move
    "uct": Planned("UCT", "uct visits=3000 c=0.5", GNUGO, least_low=0.12),
    "mc-rave": Planned("MC-RAVE", "rave visits=3000", GNUGO, least=0.5),
    "heuristic": Planned("heuristic MC-RAVE", "rave visits=3000 heuristic=Handcrafted", GNUGO, least=0.6),
    "sense": Planned("a heuristic by hand, MoGo's playouts", f"rave visits=3000 {SENSE}", GNUGO, 135),  # before passes changed
    "relaxed": Planned("the same, rules left out now and then", f"rave visits=3000 {SENSE} {FORMER}", GNUGO),
    "best": Planned("the default engine", BEST.format(3000), GNUGO, least=0.8),
    # among ourselves
    "rave-uct": Planned("MC-RAVE against UCT", "rave visits=3000", "uct visits=3000 c=0.5", 400, sprt="60%,75%"),
    "double": Planned("twice the simulations", "rave visits=2000", RAVE),
    "hex": Planned("Hex 11x11, RAVE against UCT", RAVE, UCT, game=HEX, least_low=0.75),
    "connect-four": Planned("Connect Four, RAVE against UCT", RAVE, UCT, game="connectfour"),
    "othello": Planned("Othello, RAVE against UCT", RAVE, UCT, 100, game="othello"),
    "first-play": Planned("unknown actions as the node against all of them first", RAVE, f"{RAVE} fpu=ConstantFPU", 100),
    "hand-selected": Planned("minimum MSE against hand-selected", RAVE, f"{RAVE} schedule=HandSelected(1000)", 100),
    "exact": Planned("(46) against (47)", f"{RAVE} schedule=ExactMSE", RAVE, 100),
    "learnt": Planned("a learnt bias against 0.009", f"{RAVE} schedule=LearntBias", RAVE, 100),
    "only-amaf": Planned("MC-RAVE against AMAF values alone", RAVE, f"{RAVE} schedule=OnlyAmaf", 100),
    "grave": Planned("GRAVE against own AMAF values", f"{RAVE} source=Grave", RAVE, 100),
    "ancestors": Planned("with ancestors against own AMAF values", f"{RAVE} source=WithAncestors", RAVE, 100),
    "not-strict": Planned("later plays after the opponent's count", f"{RAVE} strict=False", RAVE, 100),
    "graph": Planned("on a graph against on a tree", f"{RAVE} graph", RAVE, 100),
    "c-0.05": Planned("c = 0.05 against 0", f"{RAVE} c=0.05", RAVE, 100),
    "c-0.2": Planned("c = 0.2 against 0", f"{RAVE} c=0.2", RAVE, 100),
    "light": Planned("light playouts, RAVE against UCT", f"{RAVE} policy=Light", f"{UCT} policy=Light", 100),
    "mogo": Planned("MoGo's playouts, RAVE against UCT", RAVE, UCT, 100),
    "prior": Planned("with `Sense`, RAVE against UCT", f"{RAVE} heuristic=Sense", f"{UCT} heuristic=Sense(own=1.0)", 100),
    "even": Planned("`EvenGame` against no heuristic", f"{RAVE} heuristic=EvenGame", RAVE, 100),
    "grandfather": Planned("`Grandfather` against no heuristic", f"{RAVE} heuristic=Grandfather", RAVE, 100),
    "handcrafted": Planned("`Handcrafted` against no heuristic", f"{RAVE} heuristic=Handcrafted", RAVE, 100),
    "shapes": Planned("the default engine against `Sense`", BEST.format(1000), f"{RAVE} {SENSE} {FORMER}", 100),
    "shapes-13": Planned("the same on 13x13", BEST.format(1000), f"{RAVE} {SENSE} {FORMER}", 100, game="go:size=13,komi=6.5"),
    "tuned": Planned("tuned numbers against those before", BEST.format(1000), f"{RAVE} {SHAPES.format(0.0)} {FORMER}", 100),
    "sense-none": Planned("`Sense` against no heuristic", f"{RAVE} heuristic=Sense", RAVE, 100),
    "widening": Planned(
        "progressive widening", "widening rule=Rave visits=1000 heuristic=Sense", f"{RAVE} heuristic=Sense", 100
    ),
    "pruning": Planned("progressive pruning", "pruning rule=Rave visits=1000", RAVE, 100),
    "soft-pruning": Planned("soft pruning", "pruning rule=Rave leak=0.1 visits=1000", RAVE, 100),
    "best-chance": Planned("Crazy Stone's selection against UCT", "bestchance visits=1000", UCT, 100),
}


def play(planned: Planned, processes: str = "1") -> None:
    """Play what is missing."""
    subprocess.run([sys.executable, "-m", "anabranch", *planned.command, "--processes", processes], check=True)


def standing(planned: Planned) -> dict[str, Any] | None:
    """How a match stands; None if nothing was played."""
    test = ["--sprt", planned.sprt] if planned.sprt else []
    shown = ["match", planned.first, planned.second, *test, "--db", planned.command[-1], "--show", "--json"]
    done = subprocess.run([sys.executable, "-m", "anabranch", *shown], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None
    wanted = {"game": planned.game, "opening_plies": planned.opening}
    found = [each for each in json.loads(done.stdout)["matches"] if wanted.items() <= each["match"].items()]
    return found[0] if found else None


def figure(name: str, found: dict[str, Any]) -> Figure:
    """How a match stands, beside what is expected of it."""
    planned = MATCHES[name]
    share, low, high = (found["rate"][key] for key in ("value", "low", "high"))
    target = f">= {planned.least:.0%}" if planned.least else f"at least > {planned.least_low:.0%}" if planned.least_low else ""
    met = share >= planned.least and low >= planned.least_low
    if planned.sprt:
        target, met = f"SPRT {planned.sprt} accepts the second", found["sprt"]["accepted"] == "high"
    return Figure(
        what=f"{planned.what}: `{planned.first}` against `{planned.second}`, {planned.game}",
        ours=f"{found['score']:g} of {found['games']}",
        peer=f"{found['games'] - found['score']:g}",
        ratio=f"{share:.1%} ({low:.1%} to {high:.1%})",
        target=target or "reported",
        met=met,
        command=shlex.join(["anabranch", *planned.command]),
        data={"match": name, "points": found["score"], "games": found["games"]},
    )


def run(quick: bool = False) -> list[Figure]:
    """All matches; what was played before is taken from the database."""
    figures = []
    for name in ["mogo"] if quick else MATCHES:
        play(MATCHES[name]._replace(games=2) if quick else MATCHES[name])
        found = standing(MATCHES[name])
        if found is not None:
            figures.append(figure(name, found))
            progress(f"{figures[-1].what}: {figures[-1].ratio}")
    return figures


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matches", nargs="*", metavar="MATCH", choices=[*MATCHES, []], help="by default all")
    parser.add_argument("--processes", default="1")
    parser.add_argument("--list", action="store_true", help="say what there is, and how it stands")
    arguments = parser.parse_args()
    for name in arguments.matches or list(MATCHES):
        if not arguments.list:
            play(MATCHES[name], arguments.processes)
        found = standing(MATCHES[name])
        print(f"{name}: " + (figure(name, found).markdown() if found else "not played"), flush=True)


if __name__ == "__main__":
    main()
