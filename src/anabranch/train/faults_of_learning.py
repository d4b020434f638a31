"""Faults of learning: values that say nothing, a wrong learning rate, a learner that is too slow, networks that do not improve.

Each check gives what it found; `findings.py` calls them all.
"""

from collections.abc import Iterator

import numpy as np

from anabranch.train.evidence import LEAST_LINES, LEAST_ROWS, NOTE, WARNING, Finding, Seen, is_done, latest_mean, size_now
from anabranch.train.progress import anchors_of, number, numbers

FLAT = 0.03  # standard deviation of values, which are between -1 and 1: all positions look alike
GUESSING = 0.55  # share of winners named: 0.5 is chance, and a balanced game is learnt beyond this within minutes
LONG = 3_000  # steps after which a value should be better than a guess
RISE = 1.1  # the loss, from the beginning to the end of a quarter; new games move it by a few per cent
EXPLODED = 5.0  # gradients, against the earlier ones
FALL = 0.01  # of the loss, over all steps: less is standing still
BEHIND = 0.5  # of the wanted reuse: the learner lets half of the positions go by
ELO_LINES = 4  # ratings that are compared with as many before them
ELO_RISE = 10.0  # Elo: less is inside the error of ratings by a few dozen games
CEILING = 300.0  # Elo above the best anchor, which is 85 % of points: beyond it, ratings say little
REFUSED = 3  # networks in a row: by chance, that is rare


def value_flat(seen: Seen) -> Iterator[Finding]:
    """All positions have the same value."""
    found = latest_mean(seen.steps, "value_spread")
    if found is not None and found < FLAT and seen.step >= LONG / 3:
        targets = seen.run.settings.targets
        yield Finding(
            "the value is always the same",
            WARNING,
            f"After {seen.step:,.0f} steps the values of different positions have a standard deviation of {found:.3f}, and "
            "they could be between -1 and 1: nothing but the mean has been learnt. Check that games have different results and "
            f"that `encode` shows who is to move, and raise targets.value (now {targets.value:g}).",
        )


def value_guesses(seen: Seen) -> Iterator[Finding]:
    """The value does not know who wins."""
    found = latest_mean(seen.steps, "value_accuracy")
    if found is not None and 0.0 < found < GUESSING and seen.step >= LONG:
        yield Finding(
            "the value does not know who wins",
            WARNING,
            f"After {seen.step:,.0f} steps the network names the winner in {found:.0%} of positions; a guess is right in 50 %. "
            "Check that `encode` shows the position in the view of the player to move and that `returns` has the right sign "
            "(`anabranch check`); then try a larger network (network.size, now "
            f'"{size_now(seen)}").',
        )


def rate_too_high(seen: Seen) -> Iterator[Finding]:
    """The loss rises, or gradients explode."""
    settings, losses = seen.run.settings.learner, numbers(seen.steps, "loss")[:, 1]
    last = losses[-(len(losses) // 4) :] if len(losses) >= LEAST_LINES else losses[:0]
    third = len(last) // 3
    if third:
        before, after = last[:third].mean(), last[-third:].mean()
        noise = 2.0 * last.std() / np.sqrt(third)
        if before > 0.0 and after > RISE * before and after - before > noise:
            yield Finding(
                "the loss rises",
                WARNING,
                f"Over the last quarter of steps the loss rose from {before:.3f} to {after:.3f}. {_lower_rate(seen)} If games "
                f"have just become more varied, it falls again by itself.",
            )
    norms = numbers(seen.steps, "gradient")[:, 1]
    if len(norms) >= LEAST_LINES:
        usual, now = float(np.median(norms[: -len(norms) // 4])), float(norms[-(len(norms) // 4) :].mean())
        if usual > 0.0 and now > EXPLODED * usual and now > settings.clip:
            yield Finding(
                "gradients explode",
                WARNING,
                f"Their norm is {now:.3g} lately; before, it was {usual:.3g}. {_lower_rate(seen)} learner.clip (now "
                f"{settings.clip:g}) bounds single ones.",
            )


def _lower_rate(seen: Seen) -> str:
    used = number(seen.steps[-1], "rate")
    at_present = f", {used:.2g} at this step" if used is not None else ""
    rate = seen.run.settings.learner.learning_rate
    return f"The learning rate may be too high: lower learner.learning_rate (now {rate:g}{at_present})."


def rate_too_low(seen: Seen) -> Iterator[Finding]:
    """The loss stands still from the beginning on."""
    settings = seen.run.settings.learner
    losses = numbers([line for line in seen.steps if (number(line, "step") or 0.0) > settings.warm_up], "loss")[:, 1]
    tenth = len(losses) // 10
    if len(losses) < 2 * LEAST_LINES or losses[:tenth].mean() <= 0.0:
        return
    before, after = losses[:tenth].mean(), losses[-tenth:].mean()
    if abs(1.0 - after / before) < FALL:
        yield Finding(
            "the loss does not fall",
            NOTE,
            f"It was {before:.3f} at first and is {after:.3f} after {seen.step:,.0f} steps. The learning rate "
            f"may be too low: raise learner.learning_rate (now {settings.learning_rate:g}) or learner.half_life (now "
            f"{settings.half_life:,}).",
        )


def learner_behind(seen: Seen) -> Iterator[Finding]:
    """Positions come faster than they are learnt from."""
    settings, self_play = seen.run.settings.learner, seen.run.settings.self_play
    half = seen.steps[len(seen.steps) // 2 :]
    samples, rows = numbers(half, "samples")[:, 1], numbers(half, "rows")[:, 1]
    if len(samples) < LEAST_LINES // 2 or len(samples) != len(rows) or rows[-1] - rows[0] < 10 * LEAST_ROWS:
        return
    reuse = (samples[-1] - samples[0]) / (rows[-1] - rows[0])
    if reuse < BEHIND * settings.reuse:
        yield Finding(
            "the learner is behind",
            NOTE,
            f"A position is learnt from {reuse:.1f} times, and learner.reuse allows {settings.reuse:g}: self-play is faster "
            f"than learning. Give learning more of the machine (learner.threads, now {settings.threads}; fewer "
            f"self_play.processes, now {self_play.processes or 'one a core'}), or play better games with more self_play.visits "
            f"(now {self_play.visits}).",
        )


# --- strength ---------------------------------------------------------------------------------------------------------


def elo_stands(seen: Seen) -> Iterator[Finding]:
    """New networks are not stronger, or stronger than can be measured."""
    elos = numbers(seen.ratings, "elo")[:, 1]
    if not len(elos):
        return
    best = max(anchors_of(seen.ratings[-1]).values(), default=None)
    if best is not None and elos[-1] > best + CEILING:
        yield Finding(
            "the anchors are too weak",
            NOTE,
            f"The latest network has Elo {elos[-1]:.0f}, {elos[-1] - best:.0f} above the best anchor: it wins nearly every "
            "game against it, so the curve says little from here on. Add a stronger player to gate.anchors.",
        )
    elif len(elos) >= 2 * ELO_LINES:
        before, after = elos[-2 * ELO_LINES : -ELO_LINES].mean(), elos[-ELO_LINES:].mean()
        if after - before < ELO_RISE:
            yield Finding(
                "Elo does not rise",
                WARNING if not is_done(seen) else NOTE,
                f"The last {ELO_LINES} ratings have a mean of {after:.0f}, the {ELO_LINES} before {before:.0f}. If no other "
                f"finding explains it: more self_play.visits (now {seen.run.settings.self_play.visits}), a larger network.size "
                f'(now "{size_now(seen)}"; that needs a new run), or a smaller learner.learning_rate (now '
                f"{seen.run.settings.learner.learning_rate:g}). It may also be as strong as this network can be.",
            )


def gates_refuse(seen: Seen) -> Iterator[Finding]:
    """Several networks in a row were refused."""
    last = [line.get("accepted") for line in seen.gates[-REFUSED:]]
    if len(last) == REFUSED and not any(last):
        refused = next((n for n, line in enumerate(reversed(seen.gates)) if line.get("accepted")), len(seen.gates))
        elos = ", ".join(f"{elo:+.0f}" for elo in numbers(seen.gates[-REFUSED:], "elo")[:, 1])
        yield Finding(
            "networks are refused",
            WARNING,
            f"The last {refused} networks were weaker than the one in use (the latest by Elo {elos or 'unknown'}), so "
            f"self-play still uses network {seen.gates[-1].get('against', '?')}. The learner does not improve on it: lower "
            f"learner.learning_rate (now {seen.run.settings.learner.learning_rate:g}) or learner.reuse (now "
            f"{seen.run.settings.learner.reuse:g}); if refusals are close calls, lower gate.refuse (now "
            f"{seen.run.settings.gate.refuse:g}).",
        )
