"""What matches and tournaments show: a live table on a terminal, plain lines elsewhere, a summary at the end."""

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from anabranch.arena.match import Match
from anabranch.arena.playing import OVER, Played
from anabranch.arena.rating import Rating
from anabranch.arena.series import Series, play
from anabranch.arena.sprt import Sprt
from anabranch.arena.standing import HEAD, Standing, counted, elo_text, percent, ratings_of
from anabranch.arena.store import Store
from anabranch.cli.terminal import Rows, console, errors

REFRESH = 4  # times a second
PLAIN_EVERY = 1.0  # seconds between two plain lines
MOST_ROWS = 12  # matches, and players, in the live table


def played(
    matches: list[Match],
    games: int,
    db: Path,
    processes: int,
    timeout: float,
    sgf: Path | None,
    sprt: Sprt | None,
    quiet: bool,
    together: int = 1,
) -> list[Standing]:
    """Play what is missing and show it. Ctrl-C shows how it stands, and leaves."""
    with progress(quiet) as reporter:
        try:
            return play(
                matches,
                games,
                db,
                processes=processes,
                together=together,
                timeout=timeout,
                sgf=sgf,
                sprt=sprt,
                on_begin=reporter.begin,
                on_game=reporter.game,
                on_stderr=reporter.line,
            )
        except KeyboardInterrupt:
            reporter.stop()
    for standing in kept_standings(db, matches, sprt):
        if standing.games:
            print_standing(standing)
    errors.say(f"stopped; the same command goes on, from what is in {db}", "yellow")
    raise typer.Exit(130)


def kept_standings(db: Path, matches: list[Match], sprt: Sprt | None = None) -> list[Standing]:
    """How these matches stand in a database."""
    with Store(db, create=False) as store:
        ids = [store.find(match) for match in matches]
        games = [[] if number is None else store.games(number) for number in ids]
    return [Standing(match, match.names, played, sprt) for match, played in zip(matches, games, strict=True)]


# --- while it runs ----------------------------------------------------------------------------------------------------


class Teller:
    """Tells of games as they end, in plain lines on stderr."""

    every = PLAIN_EVERY

    def __init__(self) -> None:
        self.began = 0.0  # when the first game ended: what came before was preparation
        self.ended = 0  # games since then
        self.reported = 0.0

    def begin(self, series: Series) -> None:
        """Say how much of it was played before, and what of that does not count."""
        db = series.store.path
        self.line(f"{series.done:,} of {series.total:,} games come from {db}")
        for game in dict.fromkeys(match.game for match in series.matches):
            others = sum(series.of_other_rules[match.key] for match in series.matches if match.game == game)
            if others:
                self.line(
                    f"{others:,} games in {db} do not count: the rules of {game} have changed since. They are played anew; "
                    "those of the other rules stay in the file, and --show shows them as a match of their own"
                )

    def game(self, series: Series, match: Match, played: Played) -> None:
        """A game has ended."""
        now = time.monotonic()
        self.began, self.ended = self.began or now, self.ended + 1
        if now - self.reported >= self.every or series.done == series.total:
            self.reported = now
            self.report(series, match, played)

    def report(self, series: Series, match: Match, played: Played) -> None:
        """Say what the last game was, and how it stands."""
        standing = series.standing(match)
        how = "" if played.ending == OVER else f" by {played.ending}"
        names = " - ".join(standing.names if played.black == 0 else standing.names[::-1])
        self.line(f"{self.pace(series)}: {names} {played.result}{how}; {standing.names[0]} {percent(standing.rate)}")

    def pace(self, series: Series) -> str:
        """How far it is, and how long it will take."""
        left, since = series.total - series.done, self.ended - 1
        seconds = left * (time.monotonic() - self.began) / max(since, 1)
        remaining = f", about {duration(seconds)} left" if left and since else ""
        return f"game {series.done:,} of {series.total:,}{remaining}"

    def line(self, text: str) -> None:
        """Something to read."""
        errors.say(text, "dim")

    def stop(self) -> None:
        """No more will come."""


class LiveTeller(Teller):
    """Draws a table again and again."""

    every = 1.0 / REFRESH

    def __init__(self, live: Live) -> None:
        super().__init__()
        self.live = live

    def report(self, series: Series, match: Match, played: Played) -> None:
        """Draw the table anew."""
        self.live.update(live_view(series, self.pace(series)))

    def line(self, text: str) -> None:
        """Something to read, above the table."""
        console.say(text, "dim")

    def stop(self) -> None:
        """Take the table away."""
        self.live.stop()


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Teller]:
    """A live table on a terminal; elsewhere, or if only JSON is wanted on stdout, plain lines on stderr."""
    if quiet or not console.is_terminal:
        yield Teller()
        return
    with Live(Text("preparing players ...", style="dim"), console=console, refresh_per_second=REFRESH, transient=True) as live:
        yield LiveTeller(live)


def live_view(series: Series, pace: str) -> RenderableType:
    """How all matches stand."""
    standings = series.standings()
    if len(standings) == 1:
        return Group(standing_rows(standings[0]), *(Text(line) for line in standings[0].lines()), Text(pace, style="dim"))
    begun = [standing for standing in standings if standing.games]
    rated = rating_rows(ratings_of(begun)[:MOST_ROWS], None)
    return Group(match_rows(begun[:MOST_ROWS]), Text(""), rated, Text(pace, style="dim"))


def duration(seconds: float) -> str:
    """Time as people say it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# --- tables -----------------------------------------------------------------------------------------------------------


def standing_rows(standing: Standing) -> Rows:
    """A player a row."""
    return Rows(HEAD, standing.rows())


def match_rows(standings: Sequence[Standing]) -> Rows:
    """A match a row; the game is named if there are several."""
    names = ("first", "second", "games", "won", "drawn", "lost", "points", "Elo", "forfeits")
    mixed = len({standing.match.game for standing in standings}) > 1
    rows = []
    for standing in standings:
        counts = standing.counts
        forfeits = " : ".join(str(len(standing.forfeits(side))) for side in (0, 1))
        results = [percent(standing.rate), elo_text(standing.elo), forfeits] if standing.games else ["", "", ""]
        game = [standing.match.game] * mixed
        rows.append((*game, *standing.names, f"{counts.games}", *map(str, counts), *results))
    return Rows((*["game"] * mixed, *names), rows, left=2 + mixed)


def rating_rows(rated: Sequence[Rating], anchor: str | None) -> Rows:
    """A player a row, the best first."""
    head = ("place", "player", "Elo", "error", "95 % interval", "points", "games")
    rows = [
        (
            f"{place}",
            rating.name,
            f"{rating.elo:.0f}",
            "fixed" if rating.name == anchor else f"{rating.error:.0f}",
            "" if rating.name == anchor else f"{rating.low:.0f} to {rating.high:.0f}",
            f"{rating.score:g}",
            f"{rating.games}",
        )
        for place, rating in enumerate(rated, start=1)
    ]
    return Rows(head, rows, left=2)


def print_standing(standing: Standing) -> None:
    """The summary of a match."""
    console.say(standing_rows(standing))
    for line in standing.lines():
        console.say(line)


def print_tournament(name: str, standings: Sequence[Standing], rated: Sequence[Rating], anchor: str | None) -> None:
    """Matches, then ratings."""
    console.say(name, "bold")
    console.say(match_rows(standings))
    for line in (line for standing in standings for line in standing.lines() if "forfeited" in line):
        console.say(line, "yellow")
    if rated:
        console.say()
        console.say(rating_rows(rated, anchor))
    referees: Counter[str] = sum((standing.referees for standing in standings), start=Counter())
    if referees:
        console.say(f"decided by {counted(referees)}")
