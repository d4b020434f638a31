"""The application that all commands join, the options that they share, and how their help lists what can be chosen.

Help texts name lists in braces, such as {select}; they are filled in from `option_names.py` when somebody asks for help, since
that imports the compiler and `anabranch --help` must not wait for it.
"""

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from anabranch._version import __version__

app = typer.Typer(
    help="Monte-Carlo search in games: search, play and check, at machine speed.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

BEST = "best"  # for --select: what plays the game best, heuristic and all
ROLLOUT, MEAN = "rollout", "mean"  # for --evaluate and --backup: the defaults, whose details the game and the rule decide
GAME_HELP = "A game's name, with options (hex:size=7), or your own: mygame.py:Nim"

Game = Annotated[str, typer.Argument(metavar="GAME", help=GAME_HELP, show_default=False)]
Games = Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="Games to use; by default, all of them")]
Moves = Annotated[
    str,
    typer.Option(help="Moves that lead to the position, separated by commas or spaces (d3,c5,e6), or as letters (ddc)"),
]
Visits = Annotated[int | None, typer.Option(help="Simulations to run")]
Seconds = Annotated[float | None, typer.Option(help="Time to search")]
Select = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="Selection rule: best (the settings known to play the game best), {select}; where both players move at once "
        "{select_pairs}. With fields: 'UCT(c=0.5)'; or a rule from the game's own file",
    ),
]
Exploration = Annotated[float | None, typer.Option("--c", help="Exploration constant of the rule")]
Evaluate = Annotated[str, typer.Option(metavar="EVALUATOR", help="How leaves are evaluated: {evaluate}")]
Backup = Annotated[str, typer.Option(metavar="OPERATOR", help="How values are backed up: {backup}")]
Net = Annotated[
    Path | None,
    typer.Option(
        help="Evaluate with the network in this file: .onnx, or one of KataGo's for Go; by default, if the rule is best, with "
        "the package's own (Connect Four)",
        show_default=False,
    ),
]
Batch = Annotated[int | None, typer.Option(help="With a network: positions evaluated at once")]
Threads = Annotated[int, typer.Option(help="Threads that share the tree")]
Depth = Annotated[int | None, typer.Option(help="Maximum depth of the tree; 1 is flat Monte-Carlo")]
Prove = Annotated[bool, typer.Option("--prove", help="Prove wins, losses and draws and back them up")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed grows the same tree")]
Memory = Annotated[str, typer.Option(help="Memory limit of the tree, such as 512MB")]
Ownership = Annotated[bool, typer.Option("--ownership", help="Also show who will own each point, estimated by playouts (Go)")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs")]


class ListsNames(TyperCommand):
    """A command whose help lists the names that its options take."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Options and their help, the lists filled in."""
        lists = named_lists()
        for parameter in self.params:
            text = getattr(parameter, "help", None) or ""
            for name, names in lists.items():
                text = text.replace(f"{{{name}}}", ", ".join(names))
            if text:
                parameter.help = text  # type: ignore[attr-defined]
        super().format_options(ctx, formatter)


def named_lists() -> dict[str, list[str]]:
    """What help texts can list."""
    from anabranch.games.go import Go
    from anabranch.option_names import short_names

    rules = short_names("select", Go())
    return {
        "select": list(rules),
        "select_pairs": [name for name in short_names("select") if name not in rules],
        "evaluate": list(short_names("evaluate")),
        "backup": list(short_names("backup")),
        "policy": list(short_names("policy", Go())),
    }


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, typer.Option("--version", help="Print the version and exit")] = False) -> None:
    """Options of the program itself."""
    if show:
        print(f"anabranch {__version__}")
        raise typer.Exit


def print_json(data: Any) -> None:
    """Print data for programs; JSON has no infinities and no NaN, so those become null."""
    print(json.dumps(_finite(data), allow_nan=False))


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: _finite(value) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
