"""`python -m anabranch` and `anabranch` are the program."""

import os
import sys

from anabranch import interrupts


def main() -> None:
    """Run it; Ctrl-C may come before it is even imported."""
    try:
        with interrupts.policy():
            from anabranch.cli import main as run

            run()
    except KeyboardInterrupt:
        _leave(128 + interrupts.CTRL_C)
    except SystemExit as leaving:
        _leave(leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None))


def _leave(code: int) -> None:
    """End the process; nobody waits for a compiler that is still at work."""
    if interrupts.is_working():
        from anabranch.cli import streams

        streams.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
