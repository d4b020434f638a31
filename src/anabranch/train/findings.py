"""Known faults of training, recognised in a run's log: what is seen, in numbers, and which setting to change.

    for finding in findings(run):
        print(finding.severity, finding.name, finding.text)

Each check looks for one fault, and says nothing where there is too little to see: `faults_of_self_play.py`,
`faults_of_learning.py`, and here what concerns the whole run. What they look at: `evidence.py`, `progress.py`.
"""

import time
from collections.abc import Callable, Iterator

from anabranch.games.encoding import REMEDY, planes_of
from anabranch.train import faults_of_learning as learning
from anabranch.train import faults_of_self_play as self_play
from anabranch.train.evidence import NOTE, WARNING, Finding, Seen, is_done
from anabranch.train.progress import Line, played, time_text
from anabranch.train.run import Run

SILENT = 600.0  # seconds without a line from a part that should write one every 15


def findings(run: Run, now: float | None = None) -> list[Finding]:
    """What is wrong with a run, warnings first; nothing if all is well, or if it is too early to say."""
    kinds: dict[str, list[Line]] = {}
    for line in run.log.read():
        kinds.setdefault(line["what"], []).append(line)
    seen = Seen(
        run=run,
        now=time.time() if now is None else now,
        played=played(kinds.pop("self-play", [])),
        steps=kinds.pop("step", []),
        gates=kinds.pop("gate", []),
        ratings=kinds.pop("rating", []),
        others=[line for rest in kinds.values() for line in rest],
    )
    found = [finding for check in CHECKS for finding in check(seen)]
    return sorted(found, key=lambda finding: finding.severity != WARNING)


def record_shown(seen: Seen) -> Iterator[Finding]:
    """Networks see the fields of the record, since there is nothing better."""
    game = seen.run.game
    if game.planes is None:
        yield Finding(
            "networks see the record",
            NOTE,
            f"{game!r} has no `planes`, so networks see the fields of its record as {planes_of(game)[0]:,} numbers. Where they "
            "are a board, or are not in the view of the player to move, networks learn more from planes: give the game "
            f"{REMEDY}.",
        )


def silence(seen: Seen) -> Iterator[Finding]:
    """Nothing has happened for a long time."""
    last = {name: lines[-1]["time"] for name, lines in (("games", seen.played), ("steps", seen.steps)) if lines}
    newest = max([*last.values(), *(line["time"] for line in (*seen.gates, *seen.ratings, *seen.others))], default=None)
    if newest is None or is_done(seen):
        return
    if seen.now - newest > SILENT:
        yield Finding(
            "nothing happens",
            NOTE,
            f"The last line of the log is {time_text(seen.now - newest)} old: training is not running, or hangs. The same "
            f"command goes on where it stopped; {seen.run.path / 'logs'} has what the processes printed.",
        )
    elif "games" in last and newest - last["games"] > SILENT:
        yield Finding(
            "self-play is silent",
            WARNING,
            f"It has written no line for {time_text(newest - last['games'])}, and other parts have. See "
            f"{seen.run.path / 'logs'}; if a round of moves simply takes that long, lower self_play.games (now "
            f"{seen.run.settings.self_play.games}) or self_play.visits (now {seen.run.settings.self_play.visits}).",
        )


CHECKS: tuple[Callable[[Seen], Iterator[Finding]], ...] = (
    self_play.targets_collapsed,
    self_play.network_collapsed,
    self_play.noise_off,
    self_play.one_opening,
    learning.value_flat,
    learning.value_guesses,
    learning.rate_too_high,
    learning.gates_refuse,
    learning.elo_stands,
    self_play.wrong_resignations,
    self_play.results_alike,
    learning.rate_too_low,
    learning.learner_behind,
    self_play.crowded,
    self_play.network_outside,
    silence,
    record_shown,
)
