"""Faults of self-play: games that repeat one another, moves that are never tried, results that teach nothing, a busy machine.

Each check gives what it found; `findings.py` calls them all.
"""

from collections.abc import Iterator

from anabranch.games.game import Game
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.train.evidence import LEAST_GAMES, LEAST_ROWS, NOTE, WARNING, Finding, Seen, latest_mean, rule_of, size_now
from anabranch.train.progress import counts, mean, most_entropy, number, policies_of, total
from anabranch.train.summary import FIRST_MOVES

COLLAPSED = 0.03  # of the start's greatest entropy: then nearly every position has only one move left
OPENINGS = 3  # different ones in the games of a line, or fewer: games repeat one another
MANY_OPENINGS = 50  # a game that has fewer can show no variety
ALIKE = 0.97  # share of games with the same result
WRONG = 0.05  # of resignations: AlphaGo Zero kept them below this (Silver et al. 2017)
CHECKED = 20  # resignations that must have been checked
CROWDED = 0.6  # of a core that a process of self-play gets; below, processes wait for one another
OUTSIDE = 0.2  # share of self-play's time inside the network; below, a larger one costs little
LONG_ENOUGH = 60.0  # seconds of self-play, for shares of time


# --- policies ---------------------------------------------------------------------------------------------------------


def targets_collapsed(seen: Seen) -> Iterator[Finding]:
    """The policies that are learnt have one move each."""
    most, found = most_entropy(seen.run.game), mean(seen.lately, "entropy", "rows")
    if found is None or most == 0.0 or total(seen.lately, "rows") < LEAST_ROWS:
        return
    found /= policies_of(seen.run.game)
    if found < COLLAPSED * most:
        yield Finding(
            "the search's policy has collapsed",
            WARNING,
            f"The policies that the learner gets from self-play have an entropy of {found:.3f} nats; equal chances for all "
            f"moves at the start would be {most:.2f}. Nearly every position is reduced to one move, so nothing else is tried. "
            f"{_explore(seen)}",
        )


def network_collapsed(seen: Seen) -> Iterator[Finding]:
    """The network gives one move all of its policy."""
    most, found = most_entropy(seen.run.game), latest_mean(seen.steps, "entropy")
    if found is not None and most > 0.0 and found < COLLAPSED * most:
        yield Finding(
            "the network's policy has collapsed",
            WARNING,
            f"The network's policy has an entropy of {found:.3f} nats; equal chances for all moves at the start would be "
            f"{most:.2f}. It plays one move everywhere, and the search follows it. {_explore(seen)}",
        )


def _explore(seen: Seen) -> str:
    settings = seen.run.settings.self_play
    if rule_of(seen) == "gumbel":
        return f"Raise self_play.considered (now {settings.considered}) and self_play.visits (now {settings.visits})."
    return (
        f"Raise self_play.noise_weight (now {settings.noise_weight:g}), self_play.c (now {settings.c:g}) or "
        f"self_play.temperature_end (now {settings.temperature_end:g})."
    )


def noise_off(seen: Seen) -> Iterator[Finding]:
    """Nothing makes the search try what the network has given up. Gumbel samples at the root by itself."""
    settings = seen.run.settings.self_play
    if rule_of(seen) in ("puct", "decoupled") and (settings.noise_weight == 0.0 or settings.noise_alpha == 0.0):
        name = "noise_weight" if settings.noise_weight == 0.0 else "noise_alpha"
        yield Finding(
            "noise is off",
            WARNING,
            f"self_play.{name} is 0, and {rule_of(seen)} adds nothing random of its own: moves with a small prior are never "
            f"tried, so the network cannot learn that they are good. Set self_play.noise_weight = 0.25 and "
            "self_play.noise_alpha = 10, or self_play.select = "
            f'"{"regret" if isinstance(seen.run.game, SimultaneousGame) else "gumbel"}".',
        )


# --- games ------------------------------------------------------------------------------------------------------------


def one_opening(seen: Seen) -> Iterator[Finding]:
    """All games begin alike."""
    lines = [line for line in seen.lately if (number(line, "games") or 0.0) >= MANY_OPENINGS]
    games, found = total(lines, "games"), mean(lines, "openings", "games")
    if games >= LEAST_GAMES and found is not None and found <= OPENINGS and has_openings(seen.run.game, MANY_OPENINGS):
        settings = seen.run.settings.self_play
        yield Finding(
            "one opening only",
            WARNING,
            f"The last {games:,.0f} games have {found:.1f} different openings of {FIRST_MOVES} plies among each "
            f"{games / len(lines):,.0f}: they repeat one another, and the network learns few positions. Raise "
            f"self_play.opening_share (now {settings.opening_share:g}) and self_play.opening_plies (now "
            f"{settings.opening_plies}), or give a file of self_play.openings. {_explore(seen)}",
        )


def results_alike(seen: Seen) -> Iterator[Finding]:
    """Draws only, or one side always wins."""
    scores = counts(seen.lately, "scores")
    games = sum(scores.values())
    if games < LEAST_GAMES:
        return
    result, count = max(scores.items(), key=lambda item: item[1])
    if count < ALIKE * games:
        return
    opening = seen.run.settings.self_play.opening_plies
    varied = f"more random opening moves (self_play.opening_plies, now {opening}) give decided ones"
    if result == "draw":
        longest = seen.run.settings.self_play.longest
        text = (
            f"{count / games:.0%} of the last {games:,} games are draws, so values teach little. If games are cut off, raise "
            f"self_play.longest (now {longest:,} plies). If good play leads to a draw, this is the end of what can be learnt "
            f"from whole games; {varied}."
        )
        yield Finding("draws only", NOTE, text)
    else:
        text = (
            f"The {result} player wins {count / games:.0%} of the last {games:,} games. That may be the truth about the game; "
            f"if not, the other side's defence is not found: {varied.replace('give decided ones', 'let it win')}."
        )
        yield Finding(f"the {result} player always wins", NOTE, text)


def wrong_resignations(seen: Seen) -> Iterator[Finding]:
    """Players resign games that they would not lose."""
    found = counts(seen.lately, "resigned")
    wrong, checked = found.get("checked, wrong", 0), found.get("checked, wrong", 0) + found.get("checked, right", 0)
    if checked >= CHECKED and wrong > WRONG * checked:
        now = seen.run.settings.self_play.resign
        yield Finding(
            "resignations are wrong too often",
            WARNING,
            f"{wrong} of {checked} players who would have resigned did not lose ({wrong / checked:.0%}; up to {WRONG:.0%} is "
            f"usual), so games that teach the most are given up. Raise self_play.resign (now {now:g}), or set it to 0.",
        )


# --- the machine ------------------------------------------------------------------------------------------------------


def crowded(seen: Seen) -> Iterator[Finding]:
    """Processes of self-play wait for a core."""
    seconds, cpu = total(seen.lately, "seconds"), total(seen.lately, "cpu")
    if seconds > LONG_ENOUGH and 0.0 < cpu < CROWDED * seconds:
        settings = seen.run.settings
        yield Finding(
            "self-play waits for the processor",
            NOTE,
            f"A process of self-play gets {cpu / seconds:.0%} of a core. There are more busy processes than cores: lower "
            f"self_play.processes (now {settings.self_play.processes or 'one a core'}) or learner.threads (now "
            f"{settings.learner.threads}), or end other programs.",
        )


def network_outside(seen: Seen) -> Iterator[Finding]:
    """Self-play spends its time elsewhere than in the network."""
    seconds, inside = total(seen.lately, "cpu"), total(seen.lately, "model_seconds")
    evaluations, hits = total(seen.lately, "evaluations"), total(seen.lately, "hits")
    if seconds > LONG_ENOUGH and evaluations > 0.0 and inside < OUTSIDE * seconds:
        settings = seen.run.settings
        yield Finding(
            "little time in the network",
            NOTE,
            f"{inside / seconds:.0%} of the time of self-play is spent in the network ({hits / (hits + evaluations):.0%} of "
            f"positions come from its cache); the rest goes to the search and the rules. A larger network.size (now "
            f'"{size_now(seen)}") would cost little speed; more self_play.games (now {settings.self_play.games}) share '
            "the rest among more positions.",
        )


# --- parts of checks --------------------------------------------------------------------------------------------------


def has_openings(game: Game, many: int) -> bool:
    """Whether a game can begin in at least so many ways."""
    positions = [game.start()]
    for _ in range(FIRST_MOVES):
        positions = [each.after(edge) for each in positions for edge in ([] if each.is_over else each.edges)][:many]
        if len(positions) >= many:
            return True
    return False
