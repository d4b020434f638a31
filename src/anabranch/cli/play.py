"""A game in the terminal: a person against the engine, or the engine alone. How it ends, and its record: `ending.py`."""

import random
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from anabranch.cli.boards import print_boards
from anabranch.cli.ending import GAVE_UP, Record, outcome
from anabranch.cli.show import print_position, result_table, worth
from anabranch.cli.terminal import console
from anabranch.errors import AnabranchError, IllegalMove
from anabranch.games.go import Go
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE

SAVE = "save FILE.sgf"  # of games of Go
COMMANDS = {
    "?": "for the legal ones",
    "hint": "to ask the engine",
    "undo": "to take back",
    "resign": "",
    SAVE: "",
    "quit": "",
}
LONGEST_ANSWER = 100  # characters
LONGEST_SAVE = 4_096  # with the name of a file


class Shown(NamedTuple):
    """What is shown of the engine's search before its move."""

    heat: bool  # its visits on the board
    ownership: bool  # whose points will be whose


class Leave(Exception):
    """The person does not want to go on."""


class Play:
    """One game: who plays it, with which search, and what has happened so far."""

    def __init__(self, search: Any, person: int, limits: dict[str, Any], shown: Shown, save: Path | None) -> None:
        self.search, self.person, self.limits, self.shown = search, person, limits, shown
        self.dice = random.Random(search.seed)
        self.past: list[Position] = []  # positions at which the person moved
        self.record = Record(save, person)

    def run(self, position: Position) -> None:
        """Play until the game is over or the person leaves; what is to be saved is saved at its end."""
        game = position.game
        console.say(welcome(game, self.person) if self.person >= 0 else "The engine plays alone.\n")
        resigned = None
        try:
            while not position.is_over:
                print_position(position)
                following = self.next(position)
                if following is GAVE_UP:
                    resigned = self.person
                    break
                position = following
                follow(self.search, position)
        except Leave:
            self.record.save_at_end(position)
            return
        if resigned is None:
            print_position(position)
        console.say(outcome(position, self.person, resigned))
        self.record.save_at_end(position, resigned)

    def next(self, position: Any) -> Any:
        """The position after whoever moves here has moved, or an earlier one; GAVE_UP if the person resigns."""
        if position.to_play == CHANCE:
            event = self.dice.choices(range(position.game.events), position.probabilities)[0]
            console.say(f"chance: {position.game.event_name(event)}\n")
            return position.play(event)
        if position.to_play == EVERYONE:
            return self.both(position)
        if position.to_play == self.person:
            return self.ask(position)
        result = self.search.run(position, **self.limits)
        print_boards(position, result, *self.shown, seed=self.search.seed)
        who = "engine" if self.person >= 0 else position.game.player_name(position.to_play)
        self.announce(f"{who} plays ", result.best_name, position, result)
        return position.play(result.best)

    def both(self, position: Any) -> Any:
        """The position after a turn in which the person, if there is one, and the engine have moved at once."""
        pair: list[Any] = [None, None]
        if self.person >= 0:
            answer = self.ask(position, self.person)
            if answer is GAVE_UP or isinstance(answer, Position):
                return answer
            pair[self.person] = answer
        result = self.search.run(position, **self.limits)
        pair = [best if own is None else position.game.action(own) for own, best in zip(pair, result.best, strict=True)]
        self.announce("played: ", position.game.pair_name(tuple(pair)), position, result)
        if self.person >= 0:
            self.past.append(position)
        return position.play(tuple(pair))

    def ask(self, position: Any, person: int | None = None) -> Any:
        """The position after the person's move, or an earlier one after `undo`, or GAVE_UP. Where both move at once, `person`
        is asked for its own action alone, and that is given."""
        legal = position.legal_actions if person is None else position.legal_actions[person]
        while True:
            answer = read_answer()
            word, _, rest = answer.partition(" ")
            if answer in ("quit", "q", "exit"):
                raise Leave
            if answer == "resign":
                return GAVE_UP
            if len(answer) > (LONGEST_SAVE if word == "save" else LONGEST_ANSWER):
                console.say(f"that is not a move: it has {len(answer):,} characters", "red")
            elif word == "save":
                self.record.save(position, rest.strip())
            elif answer in ("?", "help", ""):
                console.say(" ".join(position.game.name_of(action) for action in legal))
                console.say(f"or {', '.join(commands(position.game))}", "dim")
            elif answer == "hint":
                console.say(result_table(self.search.run(position, **self.limits), limit=5, game=position.game))
            elif answer == "undo":
                if self.past:
                    return self.past.pop()
                console.say("there is no move to take back")
            else:
                try:
                    return self.played(position, answer, legal, person)
                except AnabranchError as error:
                    console.say(str(error), "red")

    def played(self, position: Any, answer: str, legal: list[int], person: int | None) -> Any:
        """What `ask` gives for a move."""
        if person is not None:
            if position.game.action(answer) in legal:
                return answer
            raise IllegalMove(f"{answer} is not legal here")
        following = position.play(answer)
        self.past.append(position)
        return following

    def announce(self, before: str, move: str, position: Position, result: Any) -> None:
        """What was played, and what the engine thinks of it."""
        visits = int(result.visits[result.best]) if isinstance(result.best, int) else int(result.pairs.sum())
        thought = f"{worth(position, result.value)}, {visits:,} visits{', proven' if result.proven else ''}"
        console.say(Text.assemble(before, (move, "bold"), "   ", (f"{thought}\n", "dim")))


def read_answer() -> str:
    """What the person writes; the end of the input means to leave."""
    try:
        return console.input("your move: ").strip()
    except (EOFError, KeyboardInterrupt):
        console.say()
        raise Leave from None


def commands(game: Any) -> dict[str, str]:
    """What can be written beside moves, and what it is for."""
    return {command: meaning for command, meaning in COMMANDS.items() if command != SAVE or isinstance(game, Go)}


def welcome(game: Any, person: int) -> Text:
    """Who the person is, and what can be written."""
    text = Text(f"You are {game.player_name(person)}. Write a move, or ")
    for place, (command, meaning) in enumerate(commands(game).items()):
        text.append(", " if place else "").append(command, "bold").append(f" {meaning}".rstrip())
    return text.append(".\n")


def follow(search: Any, position: Position) -> None:
    """Let the search keep its tree if this position follows its root by one move."""
    root = search.position
    if root is not None and root.moves == position.moves[:-1] and not position.is_over:
        search.advance(position.moves[-1])
