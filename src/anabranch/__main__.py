"""`python -m anabranch` and `anabranch` are the program."""

import sys

from anabranch import interrupts


def main() -> None:
    """Run it; Ctrl-C may come before it is even imported."""
    try:
        with interrupts.policy():
            from anabranch.cli import main as run

            run()
    except KeyboardInterrupt:
        sys.exit(128 + interrupts.CTRL_C)


if __name__ == "__main__":
    main()
