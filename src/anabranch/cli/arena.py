"""The commands `match` and `tournament`. What they print is in `show_arena.py`, what they do in the room `arena`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.cli.app import Json, app
from anabranch.cli.files import check_folder, check_outputs, write
from anabranch.errors import ArenaError

PLAYER_HELP = 'A player: "uct visits=1000 policy=MoGo", "random", or a program over GTP: "gnugo --mode gtp --level 1"'
REFEREE_HELP = "Who decides the result: the rules of the game; for Go: area (default), gnugo or playouts"
GAMES, OPENING_PLIES, TIMEOUT, ERROR_RATE = 100, 2, 120.0, 0.05

Player = Annotated[str | None, typer.Argument(metavar="PLAYER", help=PLAYER_HELP, show_default=False)]
Db = Annotated[Path, typer.Option(help="Database of results; a match that it contains is resumed")]
Sgf = Annotated[Path | None, typer.Option(help="Folder for SGF records of games of Go")]
Svg = Annotated[Path | None, typer.Option(help="Also draw the result into this file")]
Show = Annotated[bool, typer.Option("--show", help="Show what the database contains, and play nothing")]


@app.command()
def match(
    first: Player = None,
    second: Player = None,
    game: Annotated[str | None, typer.Option(help="A game's name, with options: go:size=9,komi=6.5; or mygame.py:Nim")] = None,
    games: Annotated[int, typer.Option(help="Total number of games, including those in the database")] = GAMES,
    processes: Annotated[int, typer.Option(help="Games played at the same time, each in its own process")] = 1,
    together: Annotated[
        int, typer.Option(help="Games played at the same time in one process, sharing the calls of their networks")
    ] = 1,
    visits: Annotated[
        int | None, typer.Option(help="Simulations a move, for searches that do not set a limit themselves")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time for each side, for the whole game")] = None,
    opening_plies: Annotated[
        int, typer.Option(help="Random moves at the start, the same in both games of a pair")
    ] = OPENING_PLIES,
    openings: Annotated[Path | None, typer.Option(help="File of openings to use instead, one a line, as moves")] = None,
    random_boards: Annotated[
        bool,
        typer.Option("--random-boards", help="A new board for each pair of games, where the game draws its boards (PyRat)"),
    ] = False,
    referee: Annotated[str | None, typer.Option(help=REFEREE_HELP)] = None,
    cap: Annotated[int | None, typer.Option(help="Plies after which a game is adjudicated")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds that a program may take to answer, without a clock")] = TIMEOUT,
    seed: Annotated[int, typer.Option(help="Random seed of openings and players")] = 0,
    sprt: Annotated[
        str | None, typer.Option(help="Stop when a sequential test decides between two hypotheses: 0,50 (Elo) or 60%,75%")
    ] = None,
    alpha: Annotated[float, typer.Option(help="Probability of wrongly accepting the second hypothesis")] = ERROR_RATE,
    beta: Annotated[float, typer.Option(help="Probability of wrongly accepting the first")] = ERROR_RATE,
    db: Db = Path("matches.db"),
    sgf: Sgf = None,
    show: Show = False,
    as_json: Json = False,
    svg: Svg = None,
) -> None:
    """Play a match between two players, or resume it."""
    from anabranch.arena import sprt as tests
    from anabranch.cli import show_arena

    test = None if sprt is None else tests.parse(sprt, alpha, beta)
    check_outputs(svg)
    if show:
        show_matches(db, first, second, test, as_json, svg)
        return
    if first is None or second is None:
        raise ArenaError('name two players, such as "uct visits=1000" and "random", or use --show')
    if game is None:
        raise ArenaError("name a game: --game go:size=9, --game hex:size=7, --game mygame.py:Nim ...")
    chosen = make_match(
        first,
        second,
        game,
        openings,
        visits=visits,
        seconds=seconds,
        opening_plies=opening_plies,
        random_boards=random_boards,
        referee=referee,
        cap=cap,
        seed=seed,
    )
    check_folder(sgf)
    (standing,) = show_arena.played([chosen], games, db, processes, timeout, sgf, test, as_json, together)
    if svg is not None:
        from anabranch.arena.plot import running_score

        write(svg, running_score(standing))
    print(json.dumps(standing.to_dict())) if as_json else show_arena.print_standing(standing)


@app.command()
def tournament(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="The tournament: players, pairings and settings", show_default=False)
    ],
    games: Annotated[int | None, typer.Option(help="Games of each pair, instead of the number in the file")] = None,
    processes: Annotated[int | None, typer.Option(help="Games played at the same time, each in its own process")] = None,
    db: Annotated[Path | None, typer.Option(help="Database of results; by default the one in the file, or matches.db")] = None,
    sgf: Sgf = None,
    show: Show = False,
    as_json: Json = False,
    svg: Svg = None,
) -> None:
    """Play a tournament from a file, or resume it, and rate its players."""
    from anabranch.arena.standing import ratings_of
    from anabranch.arena.tournament import Tournament
    from anabranch.cli import show_arena

    plan = Tournament.read(file)
    check_outputs(svg)
    base = db or Path(plan.db or "matches.db")
    if show:
        standings = show_arena.kept_standings(base, list(plan.matches))
    else:
        folder = sgf or (None if plan.sgf is None else Path(plan.sgf))
        check_folder(folder)
        count, workers = games or plan.games, processes or plan.processes or 1
        standings = show_arena.played(list(plan.matches), count, base, workers, plan.timeout or TIMEOUT, folder, None, as_json)
    anchor, at = plan.anchor or (None, 0.0)
    played = {name for standing in standings if standing.games for name in standing.names}
    rated = ratings_of([standing for standing in standings if standing.games], anchor if anchor in played else None, at)
    if svg is not None:
        from anabranch.arena.plot import rating_chart

        write(svg, rating_chart(rated, plan.name))
    if as_json:
        print(json.dumps(to_dict(standings, rated, name=plan.name)))
    else:
        show_arena.print_tournament(plan.name, standings, rated, anchor)


# --- shared -----------------------------------------------------------------------------------------------------------


def make_match(first: str, second: str, game: str, openings: Path | None, **terms: Any) -> Any:
    """A match, read and checked."""
    from anabranch.arena.match import Match
    from anabranch.arena.openings import read_lines
    from anabranch.games.registry import load

    lines = () if openings is None else tuple(map(tuple, read_lines(openings, load(game))))
    made = Match(first, second, game, openings=lines, **terms)
    made.table  # noqa: B018  (raises what is wrong with it)
    return made


def show_matches(db: Path, first: str | None, second: str | None, test: Any, as_json: bool, svg: Path | None) -> None:
    """The matches in a database; with players, those between them, by name or text."""
    from anabranch.arena.plot import rating_chart, running_score
    from anabranch.arena.standing import are_comparable, ratings_of, standings_in
    from anabranch.arena.store import Store
    from anabranch.cli import show_arena

    wanted = [player for player in (first, second) if player is not None]
    with Store(db, create=False) as store:
        found = [
            standing
            for standing in standings_in(store, test)
            if all(player in (*standing.names, standing.match.first, standing.match.second) for player in wanted)
        ]
    if not found:
        raise ArenaError(f"{db} contains no match" + (f" of {' and '.join(wanted)}" if wanted else ""))
    begun = [standing for standing in found if standing.games]
    rated = ratings_of(begun) if len(begun) > 1 and are_comparable(begun) else []
    if svg is not None:
        write(svg, rating_chart(rated, str(db)) if rated else running_score(found[0]))
    if as_json:
        print(json.dumps(to_dict(found, rated)))
    elif len(found) == 1:
        show_arena.print_standing(found[0])
    else:
        show_arena.print_tournament(str(db), found, rated, None)


def to_dict(standings: list[Any], rated: list[Any], **more: Any) -> dict[str, Any]:
    """Matches and ratings, for programs."""
    ratings = [{**rating._asdict(), "low": rating.low, "high": rating.high} for rating in rated]
    return {**more, "matches": [standing.to_dict() for standing in standings], "ratings": ratings}
