"""How a match stands: points, Elo, colours, forfeits, how games ended, what a sequential test says. For people and programs.

Made from results alone, so that a match can be shown where its players cannot be started. Read first: `rating.py`, `sprt.py`.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anabranch.arena.match import Match
from anabranch.arena.notation import without_label
from anabranch.arena.playing import Played
from anabranch.arena.rating import Estimate, Rating, Tally, elo_difference, ratings, tally, win_rate
from anabranch.arena.sprt import Sprt, Verdict, judge
from anabranch.arena.store import Store

SIDES = (0, 1)


@dataclass(frozen=True)
class Standing:
    """The results of a match, from the view of its first player."""

    match: Match
    names: tuple[str, str]
    games: Sequence[Played]  # by number
    sprt: Sprt | None = None

    # --- counts ---

    @cached_property
    def counts(self) -> Tally:
        """Wins, draws, losses."""
        return tally([game.score for game in self.games])

    def moving(self, place: int) -> Tally:
        """The same of games in which the first player moved first (0) or second (1)."""
        return tally([game.score for game in self.games if game.black == place])

    @property
    def rate(self) -> Estimate:
        """Share of points with its interval."""
        return win_rate(self.counts)

    @property
    def elo(self) -> Estimate:
        """Elo difference with its interval."""
        return elo_difference(self.counts)

    def forfeits(self, side: int) -> list[Played]:
        """Games that the first (0) or second (1) player lost by a failure of its own."""
        return [game for game in self.games if game.forfeit and game.score == float(side == 1)]

    def seconds_a_move(self, side: int) -> float:
        """Mean time of a player for a move, opening moves counted as if they took none."""
        plies = sum(game.plies for game in self.games) / 2
        return sum(game.seconds[side] for game in self.games) / plies if plies else 0.0

    @property
    def different(self) -> int:
        """How many games there are that do not repeat another one move by move."""
        return len({(game.black, game.moves) for game in self.games})

    @property
    def endings(self) -> Counter[str]:
        """How often games ended in which way."""
        return Counter(game.ending for game in self.games)

    @property
    def referees(self) -> Counter[str]:
        """How often who decided."""
        return Counter(game.referee for game in self.games)

    @cached_property
    def verdict(self) -> Verdict | None:
        """What the sequential test says to the games up to the first that is missing."""
        if self.sprt is None:
            return None
        in_order = [game.score for number, game in enumerate(self.games) if game.number == number]
        return judge(self.sprt, in_order)

    # --- as text ---

    def lines(self) -> list[str]:
        """The summary, line by line."""
        if not self.games:
            return ["no game has ended yet"]
        lines = [
            self.terms,
            f"{percent(self.rate)} of the points for {self.names[0]}; Elo {elo_text(self.elo)}",
            f"{self.counts.games:,} games, {self.different:,} of them different; {counted(self.endings)}",
            f"decided by {counted(self.referees)}",
        ]
        versions = sorted({game.version for game in self.games})
        if len(versions) > 1:
            lines.append(f"played by versions {', '.join(versions)} of the program")
        for side in SIDES:
            lost = self.forfeits(side)
            if lost:
                last = f"{lost[-1].ending}{': ' + lost[-1].reason if lost[-1].reason else ''}"
                lines.append(f"{self.names[side]} forfeited {len(lost)} of {len(self.games)} games; the last by {last}")
        if self.verdict is not None and self.sprt is not None:
            lines.append(self.verdict.sentence(self.sprt))
        return lines

    @property
    def terms(self) -> str:
        """What was played, and how."""
        match = self.match
        opening = f"{len(match.openings)} openings" if match.openings else f"openings of {match.opening_plies} random plies"
        opening += ", random boards" if match.random_boards else ""
        clock = f"; {match.seconds:g} s a side and game" if match.seconds is not None else ""
        visits = f"; {match.visits:,} visits a move" if match.visits is not None else ""
        return f"{match.game}; {opening}{clock}{visits}"

    def rows(self) -> list[tuple[str, ...]]:
        """The table: a player a row. HEAD names its columns."""
        rows = []
        for side in SIDES:
            whole, first, second = (
                counts if side == 0 else counts.flipped() for counts in (self.counts, self.moving(side), self.moving(1 - side))
            )
            rows.append(
                (
                    self.names[side],
                    f"{whole.score:g}",
                    *(f"{count}" for count in whole),
                    f"{first.score:g} of {first.games}",
                    f"{second.score:g} of {second.games}",
                    f"{len(self.forfeits(side))}",
                    f"{self.seconds_a_move(side):.3f}",
                )
            )
        return rows

    def to_dict(self) -> dict[str, Any]:
        """All of it, for programs; what is infinite is None."""
        verdict = self.verdict
        return {
            "match": self.match.to_dict(),
            "names": list(self.names),
            "games": self.counts.games,
            **dict(zip(("wins", "draws", "losses"), self.counts, strict=True)),
            "score": self.counts.score,
            "rate": estimate_dict(self.rate),
            "elo": estimate_dict(self.elo),
            "different_games": self.different,
            "moving_first": self.moving(0)._asdict(),
            "moving_second": self.moving(1)._asdict(),
            "forfeits": [len(self.forfeits(side)) for side in SIDES],
            "endings": dict(self.endings),
            "referees": dict(self.referees),
            "seconds_a_move": [self.seconds_a_move(side) for side in SIDES],
            "sprt": None if verdict is None or self.sprt is None else {**self.sprt._asdict(), **verdict._asdict()},
        }

    def __str__(self) -> str:
        return "\n".join([*aligned(HEAD, self.rows()), *self.lines()])


HEAD = ("player", "points", "won", "drawn", "lost", "first", "second", "forfeits", "s/move")


def standings_in(store: Store, sprt: Sprt | None = None) -> list[Standing]:
    """How all matches in a database stand. A name that several players have is followed by the player's text."""
    kept = store.matches()
    texts: dict[str, set[str]] = {}
    for one in kept:
        for name, text in ((one.first, one.match.first), (one.second, one.match.second)):
            texts.setdefault(name, set()).add(without_label(text))

    def named(name: str, text: str) -> str:
        return name if len(texts[name]) == 1 else f"{name}: {without_label(text)}"

    return [
        Standing(
            one.match,
            (named(one.first, one.match.first), named(one.second, one.match.second)),
            store.games(one.id),
            sprt,
        )
        for one in kept
    ]


def are_comparable(standings: Sequence[Standing]) -> bool:
    """Whether these matches were played on the same terms, so that one rating of a player fits them all."""
    terms = [{**standing.match.to_dict(), "first": "", "second": ""} for standing in standings]
    return all(one == terms[0] for one in terms)


def ratings_of(standings: Sequence[Standing], anchor: str | None = None, at: float = 0.0) -> list[Rating]:
    """Ratings of all players of some matches, by name."""
    results: dict[tuple[str, str], Tally] = {}
    for standing in standings:
        before = results.get(standing.names, Tally())
        results[standing.names] = Tally(*(a + b for a, b in zip(before, standing.counts, strict=True)))
    return ratings(results, anchor, at)


# --- words ------------------------------------------------------------------------------------------------------------


def aligned(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines of a table; the first columns stand to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    sides = ["<" if column < left else ">" for column in range(len(head))]
    columns = list(zip(sides, widths, strict=True))
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, (side, width) in zip(row, columns, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def percent(estimate: Estimate) -> str:
    """A share with its interval."""
    return f"{100 * estimate.value:.1f} % ({100 * estimate.low:.1f} to {100 * estimate.high:.1f} %)"


def elo_text(estimate: Estimate) -> str:
    """An Elo difference with its interval; of an infinite one, the end that is known."""
    if math.isinf(estimate.value):
        return f"above {estimate.low:+.0f}" if estimate.value > 0 else f"below {estimate.high:+.0f}"
    return f"{estimate.value:+.0f} ({estimate.low:+.0f} to {estimate.high:+.0f})"


def counted(counter: Counter[str]) -> str:
    """Words with their counts, the most frequent first."""
    return ", ".join(f"{word} {count}" for word, count in counter.most_common())


def estimate_dict(estimate: Estimate) -> dict[str, float | None]:
    """For JSON, which has no infinity."""
    return {name: value if math.isfinite(value) else None for name, value in estimate._asdict().items()}
