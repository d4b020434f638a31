"""The command `review`. What it prints is in `show_review.py`, what it does in `goengine/review.py`."""

from pathlib import Path
from typing import Annotated

import typer

from anabranch.cli.app import Json, ListsNames, Seed, app, print_json
from anabranch.cli.files import check_outputs, write
from anabranch.cli.protocols import (
    RULES_HELP,
    Exploration,
    Graph,
    Memory,
    Net,
    NetBatch,
    NetThreads,
    Policy,
    batch_for,
    check_limits,
    net_of,
    policy_of,
)
from anabranch.errors import SgfError

SWINGS = 5


@app.command(cls=ListsNames)
def review(
    file: Annotated[Path, typer.Argument(metavar="GAME.sgf", help="The record of a game of Go", show_default=False)],
    visits: Annotated[
        int | None,
        typer.Option(
            help="Simulations for each position, and up to as many again for the move played; 5,000 by default, 50 with --net"
        ),
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="Time for each position")] = None,
    first: Annotated[int, typer.Option(help="First move to review")] = 1,
    last: Annotated[int | None, typer.Option(help="Last move to review")] = None,
    swings: Annotated[int, typer.Option(help="How many of the moves that lost most to show")] = SWINGS,
    komi: Annotated[float | None, typer.Option(help="Instead of the record's, which is 0 if the record has none")] = None,
    rules: Annotated[str | None, typer.Option(help=f"Instead of the record's: {RULES_HELP}")] = None,
    net: Net = None,
    net_threads: NetThreads = None,
    batch: NetBatch = None,
    policy: Policy = None,
    c: Exploration = None,
    graph: Graph = True,
    seed: Seed = 0,
    memory: Memory = "512MB",
    svg: Annotated[Path | None, typer.Option(help="Also draw the win rates, and with --net the lead, into this file")] = None,
    sgf: Annotated[Path | None, typer.Option(help="Write the game to this file, with comments and variations")] = None,
    board: Annotated[Path | None, typer.Option(help="Draw the board with ownership into this file")] = None,
    at: Annotated[int | None, typer.Option(help="With --board: after which move; by default after the last one")] = None,
    as_json: Json = False,
) -> None:
    """Go through a game of Go: win rates move by move, the moves that lost most and whether that is more than noise, and what
    to play instead. Ctrl-C shows what was found so far."""
    from anabranch.cli import show_review
    from anabranch.goengine.review import NETWORK_VISITS
    from anabranch.goengine.review_chart import board_picture, winrate_chart
    from anabranch.goengine.review_sgf import annotate
    from anabranch.goengine.review_summary import to_dict
    from anabranch.goengine.searches import Options
    from anabranch.protocols import sgf as records
    from anabranch.protocols.kata_rules import own_rules_of
    from anabranch.search.checks import at_least_one

    check_limits(visits, seconds)
    at_least_one(first, "--first")
    if last is not None and at_least_one(last, "--last") < first:
        raise SgfError(f"--last={last}: comes before --first={first}")
    if swings < 0:
        raise SgfError(f"--swings={swings}: must be 0 or more")
    check_outputs(svg, sgf, board)
    tree = records.load(file)
    if komi is not None or rules is not None:
        tree.change(komi, None if rules is None else own_rules_of(rules))
    options = Options(
        visits=visits,
        seconds=seconds,
        net=net_of(
            net, None, batch or batch_for(NETWORK_VISITS if visits is None and seconds is None else visits), net_threads
        ),
        policy=policy_of(policy),
        exploration=c,
        graph=graph,
        seed=seed,
        memory=memory,
    )
    found = show_review.reviewed(file, tree, options, first, last)
    print_json(to_dict(found, swings)) if as_json else show_review.print_review(found, swings)
    if svg is not None:
        write(svg, winrate_chart(found, swings))
    if board is not None:
        write(board, board_picture(found, at))
    if sgf is not None:
        records.save(annotate(found), sgf)
