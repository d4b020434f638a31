"""The program: `anabranch search`, `graph`, `play`, `check`, `warm`, `bench`, `games`, `match`, `tournament`, `train`, `gtp`,
`analyze`, `review`. It parses, calls and prints, no more.

    app.py        the application and the options that commands share
    commands.py   `search`, `graph`, `play` and the small commands; setup.py: from what is typed to a search
    arena.py      `match` and `tournament`; show_arena.py: what they print
    train.py      `train`; show_train.py: the live screen
    protocols.py  `gtp` and `analyze`, which other programs talk to
    review.py     `review`; show_review.py: what it prints
    play.py       a game in the terminal; ending.py: how it ended, and its record
    show.py       tables and progress           boards.py     boards with visits and ownership
    terminal.py   what everything is printed through: text stays text, tables fit
    streams.py    standard input and output that are closed, full or broken
    files.py      files that commands write

Ctrl-C, SIGTERM and SIGHUP mean the same to every command: a search ends and shows what it has found; what has nothing to show
yet, the compiler included, ends at once, with the exit code 130 (128 and the signal's number). See `interrupts.py`.

Everything heavy is imported inside the commands, so that `anabranch --help` answers at once.
"""

import sys

from anabranch import interrupts
from anabranch.cli import commands  # noqa: F401  (commands are listed in the order of these imports)

# isort: split
from anabranch.cli import arena, protocols, review, streams, train  # noqa: F401
from anabranch.cli.app import app
from anabranch.errors import AnabranchError, OutputError


def main() -> None:
    """Run the program; errors of ours are one line on stderr, without a traceback."""
    streams.prepare()
    with interrupts.policy() as signals:
        code = _run()
    if signals.came is not None and (code != 0 or signals.came != interrupts.CTRL_C):
        code = 128 + signals.came  # a search that Ctrl-C ended has done its work
    sys.exit(code)


def _run() -> int:
    """The exit code."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except KeyboardInterrupt:
        return 1
    except AnabranchError as error:
        if isinstance(error, OutputError):
            streams.abandon_stdout()
        from anabranch.cli.terminal import print_error

        print_error(error)
        return 2
    except BrokenPipeError:  # nobody reads on, as in `anabranch ... | head`
        streams.abandon_stdout()
        return 1
    return 0
