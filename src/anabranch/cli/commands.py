"""The commands about games and searches, one function each, in the order of `anabranch --help`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch import interrupts
from anabranch.cli.app import (
    BEST,
    MEAN,
    ROLLOUT,
    Backup,
    Batch,
    Depth,
    Evaluate,
    Exploration,
    Game,
    Games,
    Json,
    ListsNames,
    Memory,
    Moves,
    Net,
    Ownership,
    Prove,
    Seconds,
    Seed,
    Select,
    Threads,
    Visits,
    app,
    print_json,
)
from anabranch.cli.files import check_outputs, check_replaced, write
from anabranch.cli.setup import find_player, find_position, make_search
from anabranch.errors import SearchError

DEFAULT_VISITS = 100_000
NETWORK_VISITS = 10_000  # likewise, where a network evaluates: they take longer, and are worth more
NETS = "nets"  # in place of a game, for `bench`
DRAWN_VISITS = 10_000  # by default, where a search is drawn


@app.command(cls=ListsNames)
def search(
    game: Game,
    moves: Moves = "",
    visits: Visits = None,
    seconds: Seconds = None,
    select: Select = BEST,
    c: Exploration = None,
    evaluate: Evaluate = ROLLOUT,
    net: Net = None,
    batch: Batch = None,
    threads: Threads = 1,
    backup: Backup = MEAN,
    depth: Depth = None,
    graph: Annotated[
        bool, typer.Option("--graph", help="Merge transpositions: positions reached by several paths share a node")
    ] = False,
    prove: Prove = False,
    seed: Seed = 0,
    memory: Memory = "1GB",
    load: Annotated[Path | None, typer.Option(help="Continue the search saved in this file")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the search to this file at its end")] = None,
    as_json: Json = False,
    svg: Annotated[Path | None, typer.Option(help="Draw the position into this file; in Go with visits and ownership")] = None,
    heat: Annotated[bool, typer.Option("--heat/--no-heat", help="Also show the visits on the board (Go)")] = True,
    ownership: Ownership = False,
) -> None:
    """Search a position and show its moves. Without --visits and --seconds there are 100,000 simulations, or 10,000 with a
    network. Ctrl-C shows the best so far."""
    from anabranch.cli import boards, show
    from anabranch.nets.evaluator import NetworkEvaluator

    position = find_position(game, moves)
    check_outputs(svg)
    if save is not None:
        check_replaced(save)
    if ownership:
        boards.check_ownership(position.game)
    network = net, batch
    limits = {"depth": depth, "seed": seed, "memory": memory, "threads": threads}
    searcher = make_search(position, select, c, evaluate, network, backup, graph, prove=prove, **limits)
    if load is not None:
        if moves:
            raise SearchError("--moves and --load both give a position; leave one of them out")
        searcher.load(load)
        position = searcher.position
    if visits is None and seconds is None:
        visits = NETWORK_VISITS if isinstance(searcher.options.evaluate, NetworkEvaluator) else DEFAULT_VISITS
    has_board = boards.shows_heat(position.game)
    if as_json:
        result = searcher.run(position, visits=visits, seconds=seconds)
        owned = {"ownership": boards.owned_by(position, result, seed=seed).tolist()} if ownership else {}
        print_json({**result.to_dict(), "moves_played": list(position.moves), **owned})
    else:
        show.print_evaluator(searcher)
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
    merge: Annotated[bool, typer.Option("--graph/--tree", help="Whether to merge transpositions")] = True,
    prove: Prove = False,
    nodes: Annotated[
        int, typer.Option(help="Maximum number of nodes in a drawing, most visited first; JSON has all of them")
    ] = 40,
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
        raise SearchError(f"{output}: the file's extension chooses the format; use .svg, .dot or .json")
    check_outputs(output)
    position = find_position(game, moves)
    rule = "decoupled" if isinstance(position.game, SimultaneousGame) else "uct"
    searcher = make_search(position, rule, graph=merge, prove=prove, seed=seed, memory=memory)
    result = searcher.run(position, visits=visits)
    view = searcher.graph
    write(output, view.to_json() if kind == ".json" else view.to_dot(limit) if kind == ".dot" else view.svg(limit))
    tried = int((view.edges["visits"] > 0).sum())
    shown = len(view.nodes) if kind == ".json" else min(limit, len(view.nodes))
    console.say(
        f"{len(view.nodes):,} nodes, {tried:,} edges tried, {result.stats.merges:,} merges; {shown:,} nodes are in {output}"
    )


@app.command(cls=ListsNames)
def play(
    game: Game,
    moves: Moves = "",
    visits: Visits = None,
    seconds: Seconds = None,
    player: Annotated[
        str, typer.Option(help="Which player you are, by name (black, X) or number from 0; -1 watches the engine alone")
    ] = "0",
    select: Select = BEST,
    c: Exploration = None,
    evaluate: Evaluate = ROLLOUT,
    net: Net = None,
    batch: Batch = None,
    threads: Threads = 1,
    seed: Seed = 0,
    memory: Memory = "1GB",
    heat: Annotated[bool, typer.Option("--heat", help="Show the engine's visits on the board after its moves (Go)")] = False,
    ownership: Ownership = False,
    save: Annotated[Path | None, typer.Option(help="Save the game as SGF to this file at its end (Go)")] = None,
) -> None:
    """Play against the engine in the terminal."""
    from anabranch.cli import boards, show
    from anabranch.cli.play import Play, Shown

    position = find_position(game, moves)
    person = find_player(position.game, player)
    if save is not None:
        boards.check_record(position.game)
        check_outputs(save)
    if ownership:
        boards.check_ownership(position.game)
    if heat and not boards.shows_heat(position.game):
        raise SearchError(f"--heat works only in Go, not in {position.game!r}")
    network = net, batch
    searcher = make_search(position, select, c, evaluate, network, seed=seed, memory=memory, threads=threads)
    if visits is None and seconds is None:
        seconds = 1.0
    show.print_evaluator(searcher)
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
    """Check that a game is implemented correctly: plain against compiled rules, keys, names, drawings."""
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
    from anabranch.games.go import Go
    from anabranch.games.registry import load
    from anabranch.games.registry import names as all_names
    from anabranch.goengine.searches import Options
    from anabranch.goengine.searches import warm as warm_engine
    from anabranch.presets import best_options, boards_of
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
    """Search a position of Connect Four and suggest what to try next."""
    from anabranch.cli import show

    search("connectfour", moves="d,d,d,e,c", visits=200_000, select="uct")
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
    from anabranch.nets.speed import measure_speeds

    if as_json:
        print_json([row._asdict() for row in measure_speeds(game, model, seconds)])
    else:
        show.print_network_speeds(repr(game), measure_speeds(game, model, seconds))
