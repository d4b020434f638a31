"""The command `train`. What it shows is in `show_train.py`, what it does in the package `train`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from anabranch.cli.app import app
from anabranch.errors import TrainingError

RUNS = Path("runs")

What = Annotated[
    str,
    typer.Argument(
        metavar="GAME|RUN", help="A game's name, with options (hex:size=7), or your own: mygame.py:Nim; or the folder of a run"
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="SETTING=VALUE",
        help="Change a setting of a new run: self_play.visits=64; run.toml in its folder has all",
    ),
]


@app.command()
def train(
    what: What,
    hours: Annotated[float | None, typer.Option(help="Time that the run may take in all; by default, until Ctrl-C")] = None,
    run: Annotated[Path | None, typer.Option(help="Folder of the run; by default runs/GAME")] = None,
    settings: Set = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show how a run stands, write its page of curves, and train nothing")
    ] = False,
) -> None:
    """Train a network for a game, from its rules alone. The same command again continues the run; any process of it may be
    killed at any time."""
    from anabranch.train.run import SETTINGS, Run
    from anabranch.train.settings import Settings
    from anabranch.train.supervisor import train as train_in

    if hours is not None and not hours > 0:
        raise TrainingError(f"--hours {hours}: must be above 0")
    folder, game = find_run(what, run, SETTINGS)
    from anabranch.cli.show_train import Screen, print_summary
    from anabranch.cli.terminal import errors
    from anabranch.train.report import write_report

    if show:
        opened = Run(folder)
        print_summary(opened, write_report(opened))
        return
    wanted = parsed(settings or [])
    if wanted and (folder / SETTINGS).is_file():
        check_same(Run(folder), wanted)
    try:
        with Screen() as screen:
            trained = train_in(folder, game, Settings().but(**wanted), hours=hours, on_tick=screen.update)
    except KeyboardInterrupt:
        errors.say(f"stopped; `anabranch train {folder}` continues, `anabranch train {folder} --show` shows how it stands")
        raise
    print_summary(trained, write_report(trained))


def find_run(what: str, run: Path | None, marker: str) -> tuple[Path, str | None]:
    """The folder of the run, and the game if it is to begin there."""
    if run is None and (Path(what) / marker).is_file():
        return Path(what), None
    return run or RUNS / "".join(letter if letter.isalnum() else "-" for letter in Path(what).name).strip("-"), what


def check_same(run: Any, wanted: dict[str, Any]) -> None:
    """Raise if a run that exists has other settings than those."""
    for name, value in wanted.items():
        if run.settings.but(**{name: value}) != run.settings:
            file = run.path / "run.toml"
            raise TrainingError(f"--set {name}={value}: {run.path} has another value; change it in {file}, then continue")


def parsed(settings: list[str]) -> dict[str, Any]:
    """Settings as they are typed: TOML's values, or text without quotes."""
    import tomllib

    found: dict[str, Any] = {}
    for text in settings:
        name, equals, written = text.partition("=")
        if not equals:
            raise TrainingError(f"--set {text}: write SETTING=VALUE, such as self_play.visits=64")
        try:
            found[name.strip()] = tomllib.loads(f"value = {written.strip()}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = written.strip()
    return found
