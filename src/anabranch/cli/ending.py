"""How a game in the terminal ended, in words, and its record as SGF. Used by `play.py`."""

from pathlib import Path

from anabranch.cli.files import write
from anabranch.cli.terminal import console
from anabranch.errors import AnabranchError
from anabranch.games.go import Go
from anabranch.games.position import Position

GAVE_UP = object()  # in place of a position
LETTERS = "BW"  # of black and white in results


class Record:
    """The game for `--save` and `save`: who played it, and where it goes."""

    def __init__(self, path: Path | None, person: int) -> None:
        self.path, self.person = path, person

    def save(self, position: Position, name: str) -> None:
        """Write it into a file of that name, by default the one of `--save`, and say what came of it."""
        path = Path(name).expanduser() if name else self.path
        if path is None:
            console.say("name a file to save to, such as: save game.sgf", "red")
            return
        try:
            write(path, record_of(position, self.person))
        except AnabranchError as error:
            console.say(str(error), "red")
        else:
            console.say(f"saved in {path}")

    def save_at_end(self, position: Position, resigned: int | None = None) -> None:
        """Write it into the file of `--save`, if there is one."""
        if self.path is not None:
            write(self.path, record_of(position, self.person, resigned))
            console.say(f"saved in {self.path}")


def record_of(position: Position, person: int, resigned: int | None = None) -> str:
    """The game as SGF."""
    from anabranch.protocols import sgf

    players = [sgf.Player("you" if side == person else "anabranch") for side in range(position.game.players)]
    tree = sgf.GameTree.from_position(position, start=position.game.start(), players=(players[0], players[-1]))
    if resigned is not None:
        tree.result = f"{LETTERS[1 - resigned]}+R"
    return sgf.write(tree)


def outcome(position: Position, person: int, resigned: int | None = None) -> str:
    """How the game ended: who won, by how much where that is known, and what it means to the person, if there is one."""
    game = position.game
    if resigned is not None:
        others = [game.player_name(side) for side in range(game.players) if side != resigned]
        return f"You resign: {' and '.join(others)} {'wins' if len(others) == 1 else 'win'}."
    totals = [end + paid for end, paid in zip(position.returns, position.rewards, strict=True)]
    if isinstance(game, Go):
        result = go_score(game, position)
    elif game.value_range == (-1.0, 1.0) and len(totals) == 2 and totals[0] == -totals[1] and abs(totals[0]) in (0.0, 1.0):
        result = "a draw" if not totals[0] else f"{game.player_name(int(totals[1] > 0))} wins"
    else:
        result = ", ".join(f"{game.player_name(side)} {total:+g}" for side, total in enumerate(totals))
    verdict = ""
    if person >= 0 and len(totals) == 2 and totals[0] != totals[1]:
        verdict = " You win." if totals[person] > totals[1 - person] else " The engine wins."
    return f"The game is over: {result}.{verdict}"


def go_score(game: Go, position: Position) -> str:
    """Who won by how much, such as: black wins by 3.5 points (B+3.5)."""
    if position.state.passes < 2:
        return "a draw, since a position came again"
    lead = game.lead(position)
    if lead == 0:
        return "a draw (0)"
    points = f"{abs(lead):g} point{'' if abs(lead) == 1 else 's'}"
    return f"{game.player_name(int(lead < 0))} wins by {points} ({game.result(position)})"
