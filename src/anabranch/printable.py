"""Text that others wrote (games, files, programs, users) made fit for a terminal, which would obey its control characters.
Used by `cli/terminal.py` for all that is printed, and by `arena/text.py` for what is kept."""

UNPRINTABLE = "\ufffd"  # stands where a character was that cannot be printed


def printable(text: str) -> str:
    """The same in one line, without control characters and marks that turn the direction of writing."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else UNPRINTABLE for c in text)


def printable_lines(text: str) -> str:
    """The same, line by line."""
    return "\n".join(map(printable, text.split("\n")))
