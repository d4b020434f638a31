"""From what is typed to what is searched: positions, players and searches by name."""

from pathlib import Path
from typing import Any

from anabranch.cli.app import BEST, MEAN, ROLLOUT
from anabranch.errors import AnabranchError, SearchError


def find_position(name: str, moves: str) -> Any:
    """The position of a named game after some moves; a single word that is not a move is read as one move a letter."""
    from anabranch.games.registry import load

    game, words = load(name), moves.replace(",", " ").split()
    if len(words) == 1 and not _is_playable(game, words[0]) and _is_playable(game, words[0][0]):
        words = list(words[0])
    return game.position(words)


def find_player(game: Any, name: str) -> int:
    """A player's number from its name or number; -1 for nobody."""
    names = {str(number): number for number in range(-1, game.players)}
    names |= {called.lower(): number for number, called in enumerate(game.player_names)}
    if name.strip().lower() not in names:
        called = f" ({', '.join(game.player_names)})" if game.player_names else ""
        raise SearchError(f"--player {name}: {game!r} has players 0 to {game.players - 1}{called}; -1 watches")
    return names[name.strip().lower()]


def _is_playable(game: Any, move: str) -> bool:
    """Whether a game can begin with this."""
    from anabranch.errors import IllegalMove

    try:
        game.start().play(move)
    except IllegalMove:
        return False
    return True


def make_search(
    position: Any,
    select: str = BEST,
    c: float | None = None,
    evaluate: str = ROLLOUT,
    network: tuple[Path | None, int | None] = (None, None),
    backup: str = MEAN,
    graph: bool = False,
    **options: Any,
) -> Any:
    """A search with options given by name; `network`: its file (None: the package's, where that is best), and how many
    positions it evaluates at once. `options` are passed to `Search` as they are."""
    from anabranch.nets.trained import trained_file
    from anabranch.presets import best_options
    from anabranch.search.graph_options import grouped
    from anabranch.search.searcher import Search

    game = position.game
    file = network[0]
    if file is None and select == BEST and evaluate == ROLLOUT:
        file = trained_file(game)
    chosen = best_options(game, networks=False) if select == BEST else {"select": named_option("select", select, game)}
    if file is not None:
        from anabranch.nets.files import open_network
        from anabranch.presets import network_options

        if evaluate != ROLLOUT:
            raise SearchError(f"--net replaces the evaluator; leave out --evaluate {evaluate}")
        preset = network_options(open_network(file, game, network[1]), game)
        chosen = preset if select == BEST else preset | chosen
    elif evaluate != ROLLOUT:
        chosen["evaluate"] = named_option("evaluate", evaluate, game)
    if c is not None:
        chosen["select"] = with_exploration(chosen, c, select, game)
    if backup != MEAN:
        chosen["backup"] = named_option("backup", backup, game)
    if graph:
        chosen["graph"] = True
    return Search(game, **grouped(chosen | options))


def named_option(role: str, text: str, game: Any) -> Any:
    """An option of the command line, such as --select."""
    from anabranch.option_names import option_of

    try:
        return option_of(role, text, game)
    except AnabranchError as error:
        raise SearchError(f"--{role}: {error}") from None


def with_exploration(chosen: dict[str, Any], c: float, name: str, game: Any) -> Any:
    """The selection rule with another exploration constant."""
    from anabranch.games.simultaneous import SimultaneousGame
    from anabranch.search.configure import default_rule
    from anabranch.search.evaluate.rollout import Rollout

    rule = chosen.get("select", default_rule(game, chosen.get("evaluate", Rollout())))
    if "c" not in rule._fields:
        others = "decoupled" if isinstance(game, SimultaneousGame) else "uct or puct"
        raise SearchError(f"--c: the {name} rule has no exploration constant; use --select {others}")
    return rule._replace(c=c)
