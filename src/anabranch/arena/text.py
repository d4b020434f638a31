"""Text that others wrote, made fit to be kept and printed: what programs answer, what players raise, what a database holds.

Nothing of it is trusted: a terminal would obey its control characters, and it may be of any length.
"""

from anabranch.printable import printable

REASON = 500  # characters of why a game was lost
NAME = 100  # characters of what a program calls itself
KEPT_LINES, KEPT_WIDTH = 40, 200  # what is kept of stderr or of a traceback: its last lines, the beginning of each


def clipped(text: str, most: int) -> str:
    """At most so many characters of it."""
    return text if len(text) <= most else text[: most - 3] + "..."


def one_line(text: str, most: int = REASON) -> str:
    """A short sentence, blanks between its words."""
    return clipped(" ".join(printable(text).split()), most)


def last_lines(text: str) -> str:
    """The end of a long story."""
    return "\n".join(clipped(printable(line), KEPT_WIDTH) for line in text.splitlines()[-KEPT_LINES:])
