"""The commands that other programs talk to: `anabranch gtp` and `anabranch analyze`. stdout is theirs alone: messages go to
stderr, each in a line of its own, since some clients read both streams as one."""

import contextlib
import os
import sys
import threading
import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.cli.app import BEST, ListsNames, app
from anabranch.cli.setup import named_option
from anabranch.cli.streams import on_hangup
from anabranch.errors import AnabranchError, SearchError
from anabranch.interrupts import WORKER


class View(StrEnum):
    """Whose win rates are reported."""

    black = "black"
    white = "white"
    sidetomove = "sidetomove"


NET_HELP = "Evaluate with this network of KataGo's, such as b6c96.bin.gz, in place of playouts"
BATCH_HELP = "With --net: positions evaluated at once; by default 8, and fewer where there are less than 200 visits"
PROFILE_HELP = "If that is a human-like network: whose moves it predicts, such as rank_5k"
HUMAN_HELP = "Also report how people would play, by this human-like network of KataGo's, once a humanSLProfile is set"
NET_THREADS_HELP = "With --net: threads of the network; by default all cores, shared by the positions searched at once"
Seconds = Annotated[float | None, typer.Option(help="Time for a move; with a clock, at most this")]
Policy = Annotated[
    str | None, typer.Option(metavar="POLICY", help="Playout policy: {policy}; by default the one that plays best")
]
Select = Annotated[str, typer.Option(metavar="RULE", help="Selection rule: best (what plays best, with a heuristic), {select}")]
Exploration = Annotated[float | None, typer.Option("--c", help="Exploration constant of the rule")]
Graph = Annotated[bool, typer.Option("--graph/--tree", help="Whether to merge transpositions")]
Net = Annotated[Path | None, typer.Option(help=NET_HELP, show_default=False)]
Profile = Annotated[str | None, typer.Option(help=PROFILE_HELP, show_default=False)]
HumanNet = Annotated[Path | None, typer.Option(help=HUMAN_HELP, show_default=False)]
NetThreads = Annotated[int | None, typer.Option(help=NET_THREADS_HELP, show_default=False)]
NetBatch = Annotated[int | None, typer.Option(help=BATCH_HELP, show_default=False)]
Memory = Annotated[str, typer.Option(help="Memory limit of the searches, such as 512MB")]
Seed = Annotated[int, typer.Option(help="Random seed of the first game; each further game takes the next")]
RULES_HELP = "chinese, tromp-taylor, japanese, aga, new-zealand, or JSON in KataGo's format"
VERSION_HELP = "Answer to `version`, for clients that expect a certain one"
LEAVE_HELP = "Do not finish pending requests when the input ends"
ANYBODY = "rank_1d"  # a profile for loading a human-like network: it needs one
USUAL_BATCH, MANY_VISITS = 8, 200  # leaves in a batch, from so many visits on
GRACE = 0.5  # seconds to end what is running, once the other side has gone


@app.command(cls=ListsNames)
def gtp(
    size: Annotated[int, typer.Option(help="Side of the board, from 2 to 25")] = 9,
    komi: Annotated[float, typer.Option(help="Points that white gets as compensation")] = 7.5,
    rules: Annotated[str, typer.Option(help=RULES_HELP)] = "chinese",
    visits: Annotated[int | None, typer.Option(help="Visits a move, including those kept from earlier searches")] = None,
    seconds: Seconds = None,
    net: Net = None,
    profile: Profile = None,
    human_net: HumanNet = None,
    net_threads: NetThreads = None,
    batch: NetBatch = None,
    select: Select = BEST,
    policy: Policy = None,
    c: Exploration = None,
    graph: Graph = True,
    ponder: Annotated[bool, typer.Option("--ponder", help="Keep searching while the opponent thinks")] = False,
    resign: Annotated[float, typer.Option(help="Win rate below which to resign; 0: never")] = 0.05,
    lag: Annotated[float | None, typer.Option(help="Seconds a move lost between the engine and whoever keeps the time")] = None,
    seed: Seed = 0,
    memory: Memory = "512MB",
    override_version: Annotated[str | None, typer.Option(help=VERSION_HELP)] = None,
) -> None:
    """Play Go over GTP 2, for Sabaki, GoGui, Lizzie and others: see docs/protocols.md."""
    from anabranch.goengine.clock import LAG
    from anabranch.goengine.engine import Engine
    from anabranch.goengine.searches import Options
    from anabranch.protocols.gtp import Session
    from anabranch.protocols.kata_rules import own_rules_of
    from anabranch.protocols.lines import read_lines

    check_limits(visits, seconds, lag or 0.0, resign)
    options = Options(
        size=size,
        komi=komi,
        rules=own_rules_of(rules),
        visits=visits,
        seconds=seconds,
        net=net_of(net, profile, batch or batch_for(visits), net_threads),
        human_net=human_net_of(human_net, net_threads),
        select=rule_of(select),
        policy=policy_of(policy),
        exploration=c,
        graph=graph,
        memory=memory,
        seed=seed,
        ponder=ponder,
        resign=resign,
        lag=LAG if lag is None else lag,
    )
    engine = Engine(options)
    _talk(engine.game, options)
    session = Session(engine, read_lines(sys.stdin.fileno()), sys.stdout, override_version)
    on_hangup(sys.stdout, lambda: _hang_up(session))
    session.warm()
    session.run()
    _leave()


@app.command(cls=ListsNames)
def analyze(
    threads: Annotated[int, typer.Option(help="Positions searched at the same time")] = 2,
    size: Annotated[int, typer.Option(help="Board size to be ready for; others compile on their first request")] = 19,
    visits: Annotated[int | None, typer.Option(help="Visits a position, unless the request says otherwise")] = None,
    seconds: Annotated[float | None, typer.Option(help="Time for a position, unless the request says otherwise")] = None,
    net: Net = None,
    profile: Profile = None,
    human_net: HumanNet = None,
    net_threads: NetThreads = None,
    batch: NetBatch = None,
    select: Select = BEST,
    policy: Policy = None,
    c: Exploration = None,
    graph: Graph = True,
    seed: Seed = 0,
    memory: Memory = "1GB",
    report_as: Annotated[View, typer.Option(help="Whose win rates to report, unless the request says otherwise")] = View.black,
    quit_without_waiting: Annotated[bool, typer.Option("--quit-without-waiting", help=LEAVE_HELP)] = False,
) -> None:
    """Analyse positions of Go, a JSON request a line, as KataGo's analysis engine does: see docs/protocols.md."""
    from anabranch.games.go import Go
    from anabranch.goengine.searches import Options
    from anabranch.protocols.analysis import READY, Server
    from anabranch.protocols.lines import read_lines
    from anabranch.search.checks import at_least_one

    check_limits(visits, seconds)
    options = Options(
        visits=visits,
        seconds=seconds,
        net=net_of(net, profile, batch or batch_for(visits), net_threads, threads),
        human_net=human_net_of(human_net, net_threads, threads),
        select=rule_of(select),
        policy=policy_of(policy),
        exploration=c,
        graph=graph,
        seed=seed,
        memory=memory,
    )
    workers, board = at_least_one(threads, "--threads"), Go(size)
    _talk(board, options)
    requests = read_lines(sys.stdin.fileno())
    server = Server(options, requests, sys.stdout, workers, report_as.value.upper(), waits=not quit_without_waiting)
    on_hangup(sys.stdout, lambda: _hang_up(server))
    threading.Thread(target=_get_ready, args=(board, options, READY), name=WORKER, daemon=True).start()
    server.run()
    _leave()


def check_limits(visits: int | None, seconds: float | None, lag: float = 0.0, resign: float = 0.0) -> None:
    """Refuse limits that make no sense."""
    from anabranch.search.checks import at_least_one

    if visits is not None:
        at_least_one(visits, "--visits")
    if seconds is not None and not seconds > 0:
        raise SearchError(f"--seconds={seconds}: must be above 0")
    if not lag >= 0:
        raise SearchError(f"--lag={lag}: must be 0 or more")
    if not 0 <= resign < 1:
        raise SearchError(f"--resign={resign}: a win rate is from 0 to 1")


def rule_of(name: str) -> Any:
    """A selection rule by name, for Go; `best` stays as it is."""
    from anabranch.games.go import Go

    return name if name == BEST else named_option("select", name, Go())


def policy_of(name: str | None) -> Any:
    """A playout policy by name, for Go; None leaves it to the engine."""
    from anabranch.games.go import Go

    return None if name is None else named_option("policy", name, Go())


def net_of(path: Path | None, profile: str | None, batch: int, threads: int | None, searches: int = 1) -> Any:
    """A network for the Go engine by its file; None if there is none. So many searches will use it at once."""
    if path is None:
        return None
    from anabranch.nets.katago.evaluator import KataGoNet

    return KataGoNet(path, batch=batch, threads=threads or cores_for_each(searches), profile=profile)


def human_net_of(path: Path | None, threads: int | None, searches: int = 1) -> Any:
    """A human-like network by its file; None if there is none. It is not asked before a profile is set."""
    if path is None:
        return None
    from anabranch.nets.katago.evaluator import KataGoNet

    return KataGoNet(path, threads=threads or cores_for_each(searches), profile=ANYBODY)


def batch_for(visits: int | None) -> int:
    """How many leaves to collect for one call of a network. Each is chosen without knowing what the others of the batch are
    worth, so they should be a small part of all visits."""
    return min(max((visits or MANY_VISITS) * USUAL_BATCH // MANY_VISITS, 1), USUAL_BATCH)


def cores_for_each(searches: int) -> int:
    """The cores that this process may use, shared by so many searches."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores // max(searches, 1), 1)


def _talk(game: Any, options: Any) -> None:
    """Find out now if there is something wrong with the search; from now on, say what is compiled in whole lines."""
    from anabranch.goengine.searches import new_search
    from anabranch.jit import report_with
    from anabranch.jit.kernels import Reporter
    from anabranch.jit.settings import QUIET

    class Lines(Reporter):
        def started(self, what: str) -> None:
            if not QUIET:
                print(f"anabranch: compiling {what} (once; kept for the next time)", file=sys.stderr, flush=True)

        def finished(self, what: str, seconds: float, problem: str | None) -> None:
            if not QUIET:
                print(
                    f"anabranch: compiled in {seconds:.1f} s" + (f", not kept: {problem}" if problem else ""), file=sys.stderr
                )

    new_search(game, options, options.seed)
    report_with(Lines())


def _get_ready(board: Any, options: Any, words: str) -> None:
    """Say that we are ready when all is compiled; requests that come before that are heard, and wait."""
    from anabranch.goengine.searches import warm

    with contextlib.suppress(AnabranchError):  # the request that needs it will say what is wrong
        warm(board, options)
    print(words, file=sys.stderr, flush=True)


def _hang_up(talk: Any) -> None:
    """Whoever talked to us has gone: end, and do not wait for a compiler or a line."""
    talk.hang_up()
    time.sleep(GRACE)
    os._exit(0)


def _leave() -> None:
    """Leave at once, if there are threads that still compile or wait for a line: they have nothing left to do."""
    sys.stdout.flush()
    sys.stderr.flush()
    if threading.active_count() > 1:
        os._exit(0)
