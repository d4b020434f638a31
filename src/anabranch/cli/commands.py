"""The commands, one function each, in the order of `anabranch --help`."""

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch import interrupts
from anabranch._version import __version__
from anabranch.cli.files import check_outputs, check_replaced, write
from anabranch.errors import SearchError

app = typer.Typer(
    help="Monte-Carlo search in games: search, play and check, at machine speed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GAME_HELP = "A game's name, with options (hex:size=7), or your own: mygame.py:Nim"
DEFAULT_VISITS = 100_000
NETS = "nets"  # where `bench` expects games
DRAWN_VISITS = 10_000  # by default, where a search is drawn


class Select(StrEnum):
    """Selection rules by name; `best` is what plays the game best, heuristic and all."""

    best = "best"
    uct = "uct"
    rave = "rave"
    puct = "puct"
    greedy = "greedy"
    decoupled = "decoupled"
    regret = "regret"
    exp3 = "exp3"
    equilibrium = "equilibrium"


class Evaluate(StrEnum):
    """Evaluators by name."""

    rollout = "rollout"
    uniform = "uniform"


class Backup(StrEnum):
    """Backup operators by name."""

    mean = "mean"
    max = "max"
    mix = "mix"


Game = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP, show_default=False)]
Games = Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="Some games; all, if none is given")]
Moves = Annotated[
    str,
    typer.Option(help="Moves that lead to the position, divided by commas or blanks (d3,c5,e6), or letters (ddc)"),
]
Visits = Annotated[int | None, typer.Option(help="Simulations to run")]
Seconds = Annotated[float | None, typer.Option(help="Time to search")]
SelectOption = Annotated[
    Select, typer.Option(help="Selection rule; best: as the game is played best; the last four: where both move at once")
]
Exploration = Annotated[float | None, typer.Option("--c", help="Exploration constant of the rule")]
EvaluateOption = Annotated[Evaluate, typer.Option(help="What leaves are worth: random playouts, or nothing known")]
BackupOption = Annotated[Backup, typer.Option(help="How values travel up the tree")]
Net = Annotated[Path | None, typer.Option(help="A network in an .onnx file in place of playouts", show_default=False)]
Batch = Annotated[int, typer.Option(help="With --net: positions that it sees at once")]
Threads = Annotated[int, typer.Option(help="Threads that share the tree")]
Depth = Annotated[int | None, typer.Option(help="Deepest level of the tree; 1 is flat Monte-Carlo")]
Prove = Annotated[bool, typer.Option("--prove", help="Carry wins, losses and draws that are certain up the tree")]
Seed = Annotated[int, typer.Option(help="One seed, one tree")]
Memory = Annotated[str, typer.Option(help="Most memory of the tree, such as 512MB")]
Ownership = Annotated[bool, typer.Option("--ownership", help="Show whose points will be whose as well, by playouts (Go)")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs")]


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version and leave")] = False) -> None:
    """Options of the program itself."""
    if show:
        print(f"anabranch {__version__}")
        raise typer.Exit


@app.command()
def search(
    game: Game,
    moves: Moves = "",
    visits: Visits = None,
    seconds: Seconds = None,
    select: SelectOption = Select.best,
    c: Exploration = None,
    evaluate: EvaluateOption = Evaluate.rollout,
    net: Net = None,
    batch: Batch = 16,
    threads: Threads = 1,
    backup: BackupOption = Backup.mean,
    depth: Depth = None,
    graph: Annotated[bool, typer.Option("--graph", help="Let positions that several paths reach share one node")] = False,
    prove: Prove = False,
    seed: Seed = 0,
    memory: Memory = "1GB",
    load: Annotated[Path | None, typer.Option(help="Go on with the search that was saved in this file")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the search into this file at its end")] = None,
    as_json: Json = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the position into this file; in Go with visits and ownership")] = None,
    heat: Annotated[bool, typer.Option("--heat/--no-heat", help="Show the visits on the board as well (Go)")] = True,
    ownership: Ownership = False,
) -> None:
    """Search a position and show its moves. Ctrl-C shows the best so far."""
    from anabranch.cli import boards, show

    position = find_position(game, moves)
    check_outputs(svg)
    if save is not None:
        check_replaced(save)
    if ownership:
        boards.check_ownership(position.game)
    searcher = make_search(
        position, select, c, evaluate, backup, depth, seed, memory, graph, prove, network=(net, batch), threads=threads
    )
    if load is not None:
        if moves:
            raise SearchError("--moves: the position comes from the file of --load; leave one of them out")
        searcher.load(load)
        position = searcher.position
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS
    has_board = boards.shows_heat(position.game)
    if as_json:
        result = searcher.run(position, visits=visits, seconds=seconds)
        owned = {"ownership": boards.owned_by(position, result, seed=seed).tolist()} if ownership else {}
        print_json({**result.to_dict(), "moves_played": list(position.moves), **owned})
    else:
        show.print_position(position)
        with show.live_table(searcher):
            result = searcher.run(position, visits=visits, seconds=seconds)
        boards.print_boards(position, result, heat and has_board, ownership, seed=seed)
        show.print_result(result)
    if svg is not None:
        write(svg, boards.drawing(position, result, seed=seed) if has_board else position.svg())
    if save is not None:
        searcher.save(save)


@app.command()
def graph(
    game: Game,
    moves: Moves = "",
    visits: Visits = DRAWN_VISITS,
    merge: Annotated[bool, typer.Option("--graph/--tree", help="Whether positions on several paths share a node")] = True,
    prove: Prove = False,
    nodes: Annotated[int, typer.Option(help="Most nodes in a drawing, the most visited ones; JSON has them all")] = 40,
    seed: Seed = 0,
    memory: Memory = "1GB",
    output: Annotated[Path, typer.Option("--output", "-o", help="A file: .svg, .dot or .json")] = Path("graph.svg"),
) -> None:
    """Search a position and draw what was searched, for people (.svg), for Graphviz (.dot) or for programs (.json). Ctrl-C
    draws what was found so far."""
    from anabranch.cli import show  # noqa: F401  (reports compilations)
    from anabranch.cli.terminal import console
    from anabranch.games.simultaneous import SimultaneousGame
    from anabranch.search.checks import at_least_one

    kind, limit = output.suffix.lower(), at_least_one(nodes, "--nodes")
    if kind not in (".svg", ".dot", ".json"):
        raise SearchError(f"{output}: the file's name says what is written; end it with .svg, .dot or .json")
    check_outputs(output)
    position = find_position(game, moves)
    rule = Select.decoupled if isinstance(position.game, SimultaneousGame) else Select.uct
    searcher = make_search(position, rule, None, Evaluate.rollout, Backup.mean, None, seed, memory, merge, prove)
    result = searcher.run(position, visits=visits)
    view = searcher.graph
    write(output, view.to_json() if kind == ".json" else view.to_dot(limit) if kind == ".dot" else view.svg(limit))
    tried = int((view.edges["visits"] > 0).sum())
    shown = len(view.nodes) if kind == ".json" else min(limit, len(view.nodes))
    console.say(
        f"{len(view.nodes):,} nodes, {tried:,} edges tried, {result.stats.merges:,} merges; {shown:,} nodes are in {output}"
    )


@app.command()
def play(
    game: Game,
    moves: Moves = "",
    visits: Visits = None,
    seconds: Seconds = None,
    player: Annotated[
        str, typer.Option(help="Which player you are, by name (black, X) or number from 0; -1 watches the engine alone")
    ] = "0",
    select: SelectOption = Select.best,
    c: Exploration = None,
    evaluate: EvaluateOption = Evaluate.rollout,
    net: Net = None,
    batch: Batch = 16,
    threads: Threads = 1,
    seed: Seed = 0,
    memory: Memory = "1GB",
    heat: Annotated[bool, typer.Option("--heat", help="Show the engine's visits on the board after its moves (Go)")] = False,
    ownership: Ownership = False,
    save: Annotated[Path | None, typer.Option(help="Save the game as SGF into this file at its end (Go)")] = None,
) -> None:
    """Play against the engine in the terminal."""
    from anabranch.cli import boards
    from anabranch.cli.play import Play, Shown

    position = find_position(game, moves)
    person = find_player(position.game, player)
    if save is not None:
        boards.check_record(position.game)
        check_outputs(save)
    if ownership:
        boards.check_ownership(position.game)
    if heat and not boards.shows_heat(position.game):
        raise SearchError(f"--heat: visits are shown on boards of Go only, not of {position.game!r}")
    network = net, batch
    searcher = make_search(position, select, c, evaluate, Backup.mean, None, seed, memory, network=network, threads=threads)
    if visits is None and seconds is None:
        seconds = 1.0
    Play(searcher, person, {"visits": visits, "seconds": seconds}, Shown(heat, ownership), save).run(position)


@app.command()
def games(as_json: Json = False) -> None:
    """List the games."""
    from anabranch.cli import show
    from anabranch.games.registry import names

    known = names()
    print_json(known) if as_json else show.print_pairs("game", "what it is", list(known.items()))


@app.command()
def check(
    game: Game,
    count: Annotated[int, typer.Option("--games", help="Random games to play")] = 30,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Check that a game keeps its contract: plain against compiled rules, keys, names, drawings."""
    from anabranch.cli import show  # noqa: F401  (reports compilations)
    from anabranch.cli.terminal import console
    from anabranch.games.check import check as check_game
    from anabranch.games.registry import load

    report = check_game(load(game), games=count, seed=seed)
    print_json({"ok": report.ok, **vars(report)}) if as_json else console.say(str(report))
    raise typer.Exit(0 if report.ok else 1)


@app.command()
def warm(
    names: Games = None,
) -> None:
    """Compile kernels ahead of time, so that the first search, or the first game, starts at once: those that the game is best
    searched with. Go means the boards of 9, 13 and 19; others are named, as in go:size=25."""
    import time

    from anabranch.cli import show  # noqa: F401  (reports compilations)
    from anabranch.engines import best_options, boards_of
    from anabranch.games.go import Go
    from anabranch.games.registry import load
    from anabranch.games.registry import names as all_names
    from anabranch.protocols.engine import Options
    from anabranch.protocols.engine import warm as warm_engine
    from anabranch.search.warm import warm_up

    began = time.perf_counter()
    for name in (board for given in names or list(all_names()) for board in boards_of(given)):
        game = load(name)
        warm_up(game, best_options(game))
        if isinstance(game, Go):
            warm_engine(game, Options())
    print(f"ready after {time.perf_counter() - began:.1f} s")


@app.command()
def bench(
    names: Games = None,
    seconds: Annotated[float, typer.Option(help="Time for each measurement")] = 1.0,
    model: Annotated[Path | None, typer.Option(help="With nets: an .onnx file; by default a new 6x64 network")] = None,
    as_json: Json = False,
) -> None:
    """Measure the speed of this machine: simulations a second of UCT with random playouts, from the start, one thread. Ctrl-C
    shows what was measured so far.

    With `bench nets [GAME]`: positions a second of a network, by batch and threads.
    """
    from anabranch.cli import show
    from anabranch.games.registry import load
    from anabranch.games.registry import names as all_names
    from anabranch.search.searcher import Search

    if seconds <= 0:
        raise SearchError(f"seconds={seconds}: must be above 0")
    if names and names[0] == NETS:
        bench_nets(load(names[1] if len(names) > 1 else "connectfour"), model, seconds, as_json)
        return
    rows: list[dict[str, Any]] = []
    try:
        for name in names or list(all_names()):
            game = load(name)
            result = Search(game).run(game.start(), seconds=seconds)
            cost = result.stats
            size = cost.bytes / cost.simulations
            rows.append({"game": name, "simulations_per_second": cost.speed, "bytes_per_simulation": size})
            interrupts.check()
    except KeyboardInterrupt:
        if not rows:
            raise
    print_json(rows) if as_json else show.print_speeds(rows)
    interrupts.check()


@app.command()
def demo() -> None:
    """Search a position of Connect Four and say what to try next."""
    from anabranch.cli import show

    search("connectfour", moves="d,d,d,e,c", visits=200_000)
    interrupts.check()
    show.print_next(
        [
            ("play othello --seconds 2", "play against it"),
            ("search hex:size=7 --select puct --seconds 3", "another game, another rule"),
            ("bench", "how fast this machine is"),
        ]
    )


def bench_nets(game: Any, model: Path | None, seconds: float, as_json: bool) -> None:
    """The part of `bench` that is about networks."""
    from anabranch.cli import show
    from anabranch.nets.ladder import ladder

    if as_json:
        print_json([rung._asdict() for rung in ladder(game, model, seconds)])
    else:
        show.print_ladder(repr(game), ladder(game, model, seconds))


# --- shared ------------------------------------------------------------------------------------------------------------


def find_position(name: str, moves: str) -> Any:
    """The position of a named game after some moves; what is one word but not one move is a move a letter, as in Python."""
    from anabranch.games.registry import load

    game, words = load(name), moves.replace(",", " ").split()
    if len(words) == 1 and not _is_playable(game, words[0]) and _is_playable(game, words[0][0]):
        words = list(words[0])
    return game.position(words)


def find_player(game: Any, name: str) -> int:
    """A player's number from its name or number; -1 for nobody."""
    names = {str(number): number for number in range(-1, game.players)}
    names |= {called.lower(): number for number, called in enumerate(game.player_names)}
    if name.strip().lower() not in names:
        called = f" ({', '.join(game.player_names)})" if game.player_names else ""
        raise SearchError(f"--player {name}: {game!r} has players 0 to {game.players - 1}{called}; -1 watches")
    return names[name.strip().lower()]


def _is_playable(game: Any, move: str) -> bool:
    """Whether a game can begin with this."""
    from anabranch.errors import IllegalMove

    try:
        game.start().play(move)
    except IllegalMove:
        return False
    return True


def make_search(
    position: Any,
    select: Select,
    c: float | None,
    evaluate: Evaluate,
    backup: Backup,
    depth: int | None,
    seed: int,
    memory: str,
    graph: bool = False,
    prove: bool = False,
    network: tuple[Path | None, int] = (None, 1),
    threads: int = 1,
) -> Any:
    """A search with options given by name; `network`: its file, and the batch that it sees at once."""
    import anabranch as ab
    from anabranch.engines import best_options

    rules: dict[Select, Any] = {
        Select.uct: ab.UCT(),
        Select.rave: ab.Rave(),
        Select.puct: ab.PUCT(),
        Select.greedy: ab.Greedy(),
        Select.decoupled: ab.Decoupled(),
        Select.regret: ab.RegretMatching(),
        Select.exp3: ab.simultaneous.Exp3(),
        Select.equilibrium: ab.simultaneous.Equilibrium(),
    }
    at_once = isinstance(position.game, ab.SimultaneousGame)
    options = best_options(position.game) if select is Select.best else {"select": rules[select]}
    if network[0] is not None:
        if evaluate is not Evaluate.rollout:
            raise SearchError(f"--net: it says what leaves are worth; leave out --evaluate {evaluate}")
        evaluator = ab.Network(network[0], batch=network[1], game=position.game)
        usual = ab.Decoupled() if at_once else ab.PUCT()
        options = {"select": usual if select is Select.best else options["select"], "evaluate": evaluator}
    rule = options.setdefault("select", ab.Decoupled() if at_once else ab.UCT())
    if c is not None:
        if "c" not in rule._fields:
            others = "decoupled" if at_once else "uct or puct"
            raise SearchError(f"--c: the {select} rule has no exploration constant; use --select {others}")
        options["select"] = rule._replace(c=c)
    if evaluate is Evaluate.uniform:
        options["evaluate"] = ab.Uniform()
    if graph:
        options["graph"] = True
    return ab.Search(
        position.game,
        **options,
        backup={Backup.mean: None, Backup.max: ab.backup.Max(), Backup.mix: ab.backup.Mix()}[backup],
        expand=ab.select.Expansion(depth=depth),
        prove=prove,
        seed=seed,
        memory=memory,
        threads=threads,
    )


def print_json(data: Any) -> None:
    """Print data for programs; JSON has no numbers that are infinite or none, so those are null."""
    print(json.dumps(_finite(data), allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
