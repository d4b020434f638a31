"""A game in the terminal: a person against the engine, or the engine alone."""

import random
from typing import Any, NamedTuple

from rich.text import Text

from anabranch.cli.boards import print_boards
from anabranch.cli.show import console, print_position, result_table
from anabranch.errors import AnabranchError, IllegalMove, SearchError
from anabranch.games.position import Position
from anabranch.games.rules import CHANCE, EVERYONE

HELP = "a move, or [b]?[/b] for the legal ones, [b]hint[/b] to ask the engine, [b]undo[/b] to take back, [b]quit[/b]"
LONGEST_ANSWER = 100  # characters


class Shown(NamedTuple):
    """What is shown of the engine's search before its move."""

    heat: bool  # its visits on the board
    ownership: bool  # whose points will be whose


def play_game(search: Any, position: Position, person: int, visits: int | None, seconds: float | None, shown: Shown) -> None:
    """Play until the game is over or the person leaves."""
    if not -1 <= person < position.game.players:
        raise SearchError(f"--player {person}: {position.game!r} has players 0 to {position.game.players - 1}; -1 watches")
    dice = random.Random(search.seed)
    past: list[Position] = []  # positions at which the person moved
    console.print(Text.from_markup(f"You are player {person}. Write {HELP}.\n") if person >= 0 else "The engine plays alone.\n")
    while not position.is_over:
        print_position(position)
        if position.to_play == CHANCE:
            event = dice.choices(range(position.game.events), position.probabilities)[0]
            console.print(f"chance: {position.game.event_name(event)}\n")
            position = position.play(event)
        elif position.to_play == EVERYONE:
            chosen = both(search, position, person, past, visits, seconds)
            if chosen is None:
                return
            position = chosen
        elif position.to_play == person:
            chosen = ask(search, position, past, visits, seconds)
            if chosen is None:
                return
            position = chosen
        else:
            result = search.run(position, visits=visits, seconds=seconds)
            print_boards(position, result, *shown, seed=search.seed)
            console.print(Text.assemble("engine plays ", (result.best_name, "bold"), "   ", (f"{result.summary}\n", "dim")))
            position = position.play(result.best)
        follow(search, position)
    print_position(position)
    console.print(outcome(position, person))


def both(
    search: Any, position: Any, person: int, past: list[Position], visits: int | None, seconds: float | None
) -> Position | None:
    """The position after a turn in which the person, if there is one, and the engine have moved at once; None to leave."""
    pair: list[Any] = [None, None]
    if person >= 0:
        answer = ask(search, position, past, visits, seconds, person)
        if answer is None or isinstance(answer, Position):
            return answer
        pair[person] = answer
    result = search.run(position, visits=visits, seconds=seconds)
    pair = [best if own is None else position.game.action(own) for own, best in zip(pair, result.best, strict=True)]
    name = position.game.pair_name(tuple(pair))
    console.print(Text.assemble("played: ", (name, "bold"), "   ", (f"{result.summary}\n", "dim")))
    if person >= 0:
        past.append(position)
    return position.play(tuple(pair))


def ask(
    search: Any, position: Any, past: list[Position], visits: int | None, seconds: float | None, person: int | None = None
) -> Any:
    """The position after the person's move, or an earlier one after `undo`; None to leave. Where both move at once, `person` is
    asked for its own action alone, and that is given."""
    legal = position.legal_actions if person is None else position.legal_actions[person]
    while True:
        try:
            answer = console.input("your move: ").strip()
        except (EOFError, KeyboardInterrupt):
            console.print()
            return None
        if answer in ("quit", "q", "exit"):
            return None
        if len(answer) > LONGEST_ANSWER:
            console.print(f"that is no move: it has {len(answer):,} characters", style="red")
            continue
        if answer in ("?", "help", ""):
            console.print(" ".join(position.game.name_of(action) for action in legal))
        elif answer == "hint":
            console.print(result_table(search.run(position, visits=visits, seconds=seconds), limit=5))
        elif answer == "undo":
            if past:
                return past.pop()
            console.print("there is nothing to take back")
        else:
            try:
                if person is not None:
                    if position.game.action(answer) in legal:
                        return answer
                    raise IllegalMove(f"{answer} is not legal here")
                following = position.play(answer)
                past.append(position)
                return following
            except AnabranchError as error:
                console.print(str(error), style="red")


def follow(search: Any, position: Position) -> None:
    """Let the search keep its tree if this position follows its root by one move."""
    root = search.position
    if root is not None and root.moves == position.moves[:-1] and not position.is_over:
        search.advance(position.moves[-1])


def outcome(position: Position, person: int) -> str:
    """How the game ended, from the person's side where there is one."""
    totals = [end + paid for end, paid in zip(position.returns, position.rewards, strict=True)]
    if person < 0 or len(totals) != 2:
        return "The game is over: " + ", ".join(f"player {i} {total:+g}" for i, total in enumerate(totals))
    if totals[0] == totals[1]:
        return "A draw."
    return "You win." if totals[person] > totals[1 - person] else "The engine wins."
