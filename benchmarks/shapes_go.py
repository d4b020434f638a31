"""Learn the weights of the heuristic `Shapes`: what a long search of Go likes, from games of a search with itself.

    python benchmarks/shapes_go.py play games.jsonl --games 200           # about five games a minute on a core; plays on
    python benchmarks/shapes_go.py fit games.jsonl                        # weights for src/anabranch/games/go/shapes.npy

`play` writes one line a game: its moves, and how the search divided its visits at each. Games begin with up to four stones at
random in the middle; for some moves the search then plays in proportion to visits, so that no two games are the same. `fit` is
multinomial logistic regression: the weights under which the softmax over the legal moves of a position comes closest to the
visits there. It keeps back every eighth game to tell how well that does, beside `Sense`.
"""

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import anabranch as ab
from anabranch.arena.notation import parse
from anabranch.games import rules
from anabranch.games.go import Go, Sense
from anabranch.games.go.layout import action_of
from anabranch.games.go.sense import weigh
from anabranch.games.go.shapes import FEATURES, LINE, LINE_PLACE, LINES, TIMES, WEIGHTS_FILE, features_of
from anabranch.games.go.stones import may_put
from anabranch.jit import kernel

GAME = Go(9, komi=6.5)
POINTS = 81
PLAYER, VISITS = "best", 5000
MOST_STONES = 4  # at random, to begin with
VARIED_PLIES = 16
MOST_PLIES = 120
DECIDED, DECIDED_PLIES = 0.96, 8  # a game is over when its value has been beyond this for so many plies
MOST_FEATURES = 16  # of a move
HELD_BACK = 8  # every so many games
EPOCHS, BATCH, RATE, DECAY, PENALTY = 8, 128, 0.05, 0.6, 1e-5  # of Adam: positions, step, its factor each epoch, of squares


# --- games --------------------------------------------------------------------------------------------------------------------


def play(path: Path, player: str, games: int, visits: int, seed: int) -> None:
    """Play until there are so many games in a file."""
    options = parse(f"{player} visits={visits}", GAME).options
    done = len(path.read_text().splitlines()) if path.exists() else 0
    for number in range(done, games):
        line = json.dumps(played(options, visits, random.Random(f"{seed} {number}")))
        with path.open("a") as file:
            file.write(line + "\n")
        print(f"game {number + 1} of {games}", flush=True)


def played(options: dict[str, Any], visits: int, chance: random.Random) -> dict[str, Any]:
    """A game: its moves, and visits of each action before each of them, none where the move was random."""
    search = ab.Search(GAME, **options, seed=chance.randrange(2**31))
    position = GAME.start()
    moves: list[int] = []
    counts: list[dict[int, int]] = []
    for _ in range(chance.randint(0, MOST_STONES)):
        moves.append(chance.choice([a for a in position.legal_actions if 2 <= a % 9 <= 6 and 2 <= a // 9 <= 6]))
        counts.append({})
        position = position.play(moves[-1])
    decided = 0
    while not position.is_over and len(moves) < MOST_PLIES and decided < DECIDED_PLIES:
        result = search.run(position, visits=visits)
        counts.append({move.action: move.visits for move in result.moves if move.visits > 0})
        best = result.best
        if len(moves) < VARIED_PLIES:
            best = chance.choices(list(counts[-1]), list(counts[-1].values()))[0]
        moves.append(best)
        position = position.play(best)
        decided = decided + 1 if abs(result.value) > DECIDED else 0
    return {"moves": moves, "visits": counts}


# --- what is seen in them -----------------------------------------------------------------------------------------------------


class Seen(NamedTuple):
    """Moves that were looked at, position by position."""

    features: np.ndarray  # of each move, filled up with FEATURES
    shares: np.ndarray  # of the visits, that each move has
    starts: np.ndarray  # the first move of each position, and the end
    games: np.ndarray  # the game of each position
    by_hand: np.ndarray  # what `Sense` says of each move


@kernel
def look(states, actions, sense, rewards, features, hand, seen, counts):
    """Play actions, and before each write the features of all legal moves, what `Sense` says of them, and which they are."""
    row = 0
    for ply in range(len(actions)):
        state = states[0]
        colour = np.int64(state.turn) + 1
        before = row
        for i in range(state.empty_count):
            cell = np.uint64(state.empties[i])
            if may_put(state, cell, colour):
                count = features_of(state, cell, colour)
                for k in range(count):
                    features[row, k] = state.queue[k]
                won, lost = weigh(sense, state, cell)
                hand[row] = won - lost
                seen[row] = action_of(state, cell)
                row += 1
        counts[ply] = row - before
        rules.play(state, actions[ply], rewards)
    return row


def seen_in(games: list[dict[str, Any]]) -> Seen:
    """All positions in which a search divided its visits."""
    parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    sizes, owners = [0], []
    for number, game in enumerate(games):
        for features, hand, shares in positions_of(game):
            parts.append((features, hand, shares))
            sizes.append(len(shares))
            owners.append(number)
    features, hand, shares = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Seen(features, shares, np.cumsum(sizes), np.array(owners), hand)


def positions_of(game: dict[str, Any]) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Features, what `Sense` says, and shares of visits of all moves of each position."""
    actions = np.array(game["moves"], np.int64)
    most = POINTS * len(actions)
    features = np.full((most, MOST_FEATURES), FEATURES, np.int16)
    hand, seen, counts = np.zeros(most), np.zeros(most, np.int64), np.zeros(len(actions), np.int64)
    states = GAME.start().record()
    look(states, actions, Sense(), np.zeros(GAME.players), features, hand, seen, counts)
    end = 0
    for count, visits in zip(counts, game["visits"], strict=True):
        rows = slice(end, end + count)
        end += count
        shares = np.array([visits.get(str(action), 0) for action in seen[rows]], np.float32)
        if shares.sum() > 0:
            yield features[rows].copy(), hand[rows].copy(), shares / shares.sum()


# --- weights ------------------------------------------------------------------------------------------------------------------


def log_sums(likings: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The logarithm of the sum of exponentials, for each position."""
    highest = np.maximum.reduceat(likings, starts[:-1])
    return highest + np.log(np.add.reduceat(np.exp(likings - np.repeat(highest, np.diff(starts))), starts[:-1]))


def log_shares(likings: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax, position by position."""
    return likings - np.repeat(log_sums(likings, starts), np.diff(starts))


def fit(seen: Seen, chosen: np.ndarray, seed: int = 0) -> np.ndarray:
    """Weights by Adam from these positions. The last one is no feature's, and 0."""
    weights, mean, square = (np.zeros(FEATURES + 1) for _ in range(3))
    generator, step, rate = np.random.default_rng(seed), 0, RATE
    for epoch in range(EPOCHS):
        for batch in np.array_split(generator.permutation(chosen), max(len(chosen) // BATCH, 1)):
            rows = np.concatenate([np.arange(seen.starts[p], seen.starts[p + 1]) for p in batch])
            starts = np.concatenate([[0], np.cumsum(np.diff(seen.starts)[batch])])
            features = seen.features[rows]
            off = np.exp(log_shares(weights[features].sum(1), starts)) - seen.shares[rows]
            gradient = np.bincount(features.ravel(), np.repeat(off, MOST_FEATURES), FEATURES + 1) / len(batch)
            gradient += 2.0 * PENALTY * weights
            gradient[FEATURES] = 0.0
            step += 1
            mean += 0.1 * (gradient - mean)
            square += 0.001 * (gradient**2 - square)
            weights -= rate * (mean / (1.0 - 0.9**step)) / (np.sqrt(square / (1.0 - 0.999**step)) + 1e-8)
        rate *= DECAY
        print(f"epoch {epoch + 1} of {EPOCHS}", flush=True)
    return weights


def centred(weights: np.ndarray, seen: Seen) -> np.ndarray:
    """Weights under which a liking is the logarithm of a probability, at each time of the game, on average: what all moves of a
    position have in common makes no difference to their shares, and `Shapes` does not divide by a sum."""
    found = weights.copy()
    times = (seen.features[seen.starts[:-1], LINE_PLACE] - LINE) % TIMES
    sums = log_sums(weights[seen.features].sum(1), seen.starts)
    for time in range(TIMES):
        found[LINE + time : LINE + LINES * TIMES : TIMES] -= sums[times == time].mean() if (times == time).any() else 0.0
    return found


def judge(seen: Seen, likings: np.ndarray, chosen: np.ndarray) -> dict[str, float]:
    """How close likings come: how often the first, or one of the first three, is the most visited; and, for a softmax, how many
    nats it is off."""
    first, third, off = [], [], []
    logs = log_shares(likings, seen.starts)
    for p in chosen:
        rows = slice(seen.starts[p], seen.starts[p + 1])
        shares = seen.shares[rows]
        order = np.argsort(-likings[rows], kind="stable")
        best = shares.argmax()
        first.append(best == order[0])
        third.append(best in order[:3])
        off.append((shares * (np.log(np.maximum(shares, 1e-9)) - logs[rows])).sum())
    return {"first": float(np.mean(first)), "of three": float(np.mean(third)), "nats": float(np.mean(off))}


def learn(paths: list[Path], out: Path) -> None:
    """Weights from all these games."""
    seen = seen_in([json.loads(line) for path in paths for line in path.read_text().splitlines()])
    held = seen.games % HELD_BACK == 0
    print(f"{seen.games[-1] + 1} games, {len(seen.games)} positions, {held.sum()} of them held back", flush=True)
    weights = centred(fit(seen, np.flatnonzero(~held)), seen)
    for name, likings in (("Shapes", weights[seen.features].sum(1)), ("Sense", seen.by_hand)):
        found = judge(seen, likings, np.flatnonzero(held))
        print(
            f"{name}: the move most visited is the first in {100 * found['first']:.1f} %, of the first three in "
            f"{100 * found['of three']:.1f} %" + (f"; {found['nats']:.3f} nats off" if name == "Shapes" else "")
        )
    np.save(out, weights[:FEATURES].astype(np.float16))
    print(f"weights in {out}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("play", help="games of a search with itself")
    one.add_argument("file", type=Path)
    one.add_argument("--player", default=PLAYER, help="what searches, as in `anabranch match` (%(default)s)")
    one.add_argument("--games", type=int, default=200)
    one.add_argument("--visits", type=int, default=VISITS)
    one.add_argument("--seed", type=int, default=0, help="another one for each file")
    two = commands.add_parser("fit", help="weights from games")
    two.add_argument("files", type=Path, nargs="+")
    two.add_argument("--out", type=Path, default=WEIGHTS_FILE)
    given = parser.parse_args()
    if given.command == "play":
        play(given.file, given.player, given.games, given.visits, given.seed)
    else:
        learn(given.files, given.out)


if __name__ == "__main__":
    main()
