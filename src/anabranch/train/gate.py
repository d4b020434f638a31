"""The gate: new networks play the one in use, which they replace unless they are weaker; now and then one plays the anchors.

    Gate(run).look()     one candidate, if there is one; returns whether there was

Games are matches of the arena in the run's `matches.db`, decided by a sequential test, so they can be resumed, and shown with
`anabranch match --show --db RUN/matches.db`. Ratings are on one scale for the whole run: its first anchor has 0.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from anabranch.arena.match import Match
from anabranch.arena.rating import Rating, Tally, elo_of, ratings, share_of, wilson
from anabranch.arena.series import Series, play
from anabranch.arena.sprt import Sprt
from anabranch.arena.standing import standings_in
from anabranch.arena.store import Store
from anabranch.games.simultaneous import SimultaneousGame
from anabranch.train.run import Run

MATCHES = "matches.db"
OPENING_PLIES = 4  # random ones: two networks of one run play alike
ERRORS = 0.1  # of the sequential test, on either side


class Stopped(Exception):
    """The gate was asked to end in the middle of a match."""


class Gate:
    """Judges the networks of a run."""

    def __init__(self, run: Run, stop: Callable[[], bool] = lambda: False) -> None:
        self.run, self.settings, self.stop = run, run.settings.gate, stop
        self.db = run.path / MATCHES

    def look(self) -> bool:
        """Judge the newest network that has not been judged, and rate the one in use if it is time; returns whether anything
        was done. A match that was broken off goes on."""
        try:
            return self._judge() or self._rate()
        except Stopped:
            return False

    # --- new networks ---

    def _judge(self) -> bool:
        used, candidate = self.run.network_in_use, self._candidate()
        if used is None or candidate is None:
            return False
        low = share_of(self.settings.refuse)
        test = Sprt(low, 0.5, ERRORS, ERRORS, f"{self.settings.refuse:g},0") if low < 0.5 else None
        match = self._match(self.player(candidate), self.player(used))
        standing = self._play(match, self.settings.games, test)
        counts, verdict = standing.counts, standing.verdict
        decided = None if verdict is None else verdict.accepted
        share = counts.score / counts.games
        accepted = decided == "high" if decided is not None else share >= (low + 0.5) / 2
        low_share, high_share = wilson(counts.score, counts.games)
        elo = {"elo": elo_of(share), "low": elo_of(low_share), "high": elo_of(high_share)}
        if accepted:
            self.run.use(candidate)
        self.run.log.add(
            "gate", network=candidate.name, against=used.name, score=share, games=counts.games, accepted=accepted, **elo
        )
        return True

    def _candidate(self) -> Path | None:
        """The newest network, if it is newer than the one in use and was not judged."""
        used, networks = self.run.network_in_use, self.run.networks
        judged = {line["network"] for line in self.run.log.read("gate")}
        if used is None or not networks or networks[-1].name in judged or int(networks[-1].stem) <= int(used.stem):
            return None
        return networks[-1]

    # --- ratings ---

    def _rate(self) -> bool:
        """Let the network in use play the anchors, and the one that was rated before it."""
        used = self.run.network_in_use
        rated = [line["network"] for line in self.run.log.read("rating")]
        if used is None or self.settings.rate_every == 0 or used.name in rated:
            return False
        if rated and int(used.stem) - int(Path(rated[-1]).stem) < self.settings.rate_every:
            return False
        opponents = list(self.anchors)
        before = self.run.path / "networks" / rated[-1] if rated else None
        if before is not None and before.is_file():
            opponents.append(self.player(before))
        for opponent in opponents:
            self._play(self._match(self.player(used), opponent), self.settings.rate_games)
        for first, second in zip(self.anchors, self.anchors[1:], strict=False):  # so that they are on one scale
            self._play(self._match(first, second), self.settings.rate_games)
        table = self.table()
        mine = table.get(used.stem)
        if mine is not None:
            place = {name: table[name].elo for name in map(name_of, self.anchors) if name in table}
            line = next((each for each in self.run.log.read("network") if each["network"] == used.name), {})
            facts = {"elo": mine.elo, "low": mine.low, "high": mine.high, "anchors": place}
            self.run.log.add("rating", network=used.name, rows=line.get("rows", 0), **facts)
        return True

    def table(self) -> dict[str, Rating]:
        """Ratings of all networks and anchors, by name, from all games of the run."""
        results: dict[tuple[str, str], Tally] = {}
        with Store(self.db) as store:
            for standing in standings_in(store):
                first, second = (name_of(text) for text in (standing.match.first, standing.match.second))
                counts, known = standing.counts, results.get((first, second), Tally())
                results[first, second] = Tally(*(a + b for a, b in zip(known, counts, strict=True)))
        anchor = name_of(self.anchors[0]) if self.anchors else None
        names = {name for pair in results for name in pair}
        return {rating.name: rating for rating in ratings(results, anchor if anchor in names else None)}

    # --- players ---

    @property
    def anchors(self) -> list[str]:
        """Players with a fixed place on the scale, as text."""
        both = isinstance(self.run.game, SimultaneousGame)
        texts = [text.strip() for text in self.settings.anchors.split(";") if text.strip()]
        return [text.replace("uct ", "decoupled ", 1) if both and text.startswith("uct ") else text for text in texts]

    def player(self, network: Path) -> str:
        """A network as a player of the arena, whose name is its number."""
        rule = "decoupled" if isinstance(self.run.game, SimultaneousGame) else "puct"
        path = str(network.resolve())
        quoted = f"net='{path}'" if " " in path or "," in path else f"net={path}"
        return f"{network.stem}: {rule} {quoted} visits={self.settings.visits}"

    def _match(self, first: str, second: str) -> Match:
        boards = self.run.game.draws_boards and self.run.settings.self_play.boards == "random"
        seed = self.run.settings.run.seed
        return Match(first, second, self.run.game_name, opening_plies=OPENING_PLIES, random_boards=boards, seed=seed)

    def _play(self, match: Match, games: int, test: Sprt | None = None) -> Any:
        """Play so many games, or until the test is decided; returns how the match stands."""

        def look_up(series: Series, match: Match, played: Any) -> None:
            if self.stop():
                raise Stopped

        return play([match], games, self.db, together=min(self.settings.together, games), sprt=test, on_game=look_up)[0]


def name_of(text: str) -> str:
    """The name of a player: what stands before a colon, or all of it."""
    name, colon, _ = text.partition(": ")
    return name if colon else text
