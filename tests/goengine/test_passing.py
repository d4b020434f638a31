"""The search decides: what the engine plays is never worse than what the search prefers, by the search's own lower bounds.

Boards on which it matters when to pass: races, seki, nakade, ko for life, open small boards, settled ones. Each is looked at
with either player to move and under all rule sets.
"""

import pytest

from anabranch.games.go import RULE_SETS, Go
from anabranch.goengine.engine import Engine
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.passing import SecondLook, decide
from anabranch.goengine.report import lower_bound, winrate_of
from anabranch.goengine.searches import Options, new_search
from anabranch.goengine.turns import under
from tests.conftest import when_compiled
from tests.protocols import test_gtp_endgame as endgame

pytestmark = when_compiled
OPTIONS = {"memory": "64MB", "resign": 0}
VISITS, CHECKED = 200, 1_500  # of the engine, and of each move in question when it is checked
HOPELESS = 0.05
OTHER_SEED = 77

THE_RACE = """
. X . O X . O . .
. X X O X . O . .
. X X X O O O . .
. . . X X O . . .
. . . X X X O . .
. . X X X X O . .
. . X O O O O . .
. . X O X . O . .
. . X O X X O . .
"""  # playouts take all for settled, but whoever plays at the top first wins the race there: C9 for black

BEHIND_THE_WALL = """
X X X X X X X
. X X . X X X
X X . X X . X
"""  # black lives here, whatever happens

CORNERS = {
    "three in a row": ". . . O X X . / O O O O X . X / X X X X X X X / X . X X X . X",
    "bent three": ". . O X X X . / . O O X X . X / O O X X X X X / X X X X . X X",
    "square four": ". . O X X . X / . . O X . X X / O O O X X X X / X X X X X . X",
    "pyramid four": ". . . O X X . / O . O O X . X / O O O X X X X / X X X X X . X",
    "bulky five": ". . . O X X . / . . O O X . X / O O O X X X X / X X X X X . X",
    "a ko for the second eye": "X . X O . O X / . X O O O O X / X X X X X X X / X . X . X . X",
    "a ko that white has taken": "X O . O . O X / . X O O O O X / X X X X X X X / X . X . X . X",
}  # of white, who lives or not; the upper four rows

RACES = {
    "two liberties each": ("X . . . . O .", "X X . . O O O"),
    "one of them shared": ("X . . . . O .", "X X . X O O O"),
    "one of them shared, of the other": ("X . . . . O .", "X X O . O O O"),
    "all but over": ("X X . . O O .", "X X O X O O O"),
}  # of the chains C2 to C6 and D2 to D6: the first and the last row
BETWEEN = """
. X O X O . O
X X O X O O O
. X O X O . O
X X O X O O O
. X O X O . O
"""

OPEN = {
    "4x4, move 6": ". . X . / . X O . / . X O . / . . . .",
    "4x4, move 6, other corner": ". . . . / . X O . / X X O . / . . . .",
    "4x4, two stones": ". . . . / . X O . / . . . . / . . . .",
    "5x5, one stone each": ". . . . . / . . X . . / . . . . . / . . O . . / . . . . .",
    "5x5, two walls": ". . X O . / . . X O . / . . X O . / . . . . . / . . . . .",
    "5x5, a cut": ". . . . . / . X O . . / . O X . . / . . . . . / . . . . .",
    "6x6, a few stones": ". . . . . . / . X . . O . / . . . . . . / . . . . . . / . O . . X . / . . . . . .",
    "6x6, two walls": ". . . O . . / . X X O . . / . . X O . . / . . X O O . / . X X X O . / . . . . . .",
}

BOARDS = {
    "the race": (THE_RACE, 0.5),
    **{name: (text.replace(" / ", "\n") + BEHIND_THE_WALL, 40.5) for name, text in CORNERS.items()},
    **{f"race, {name}": (f"{first}{BETWEEN}{last}", 0.5) for name, (first, last) in RACES.items()},
    **{name: (text.replace(" / ", "\n"), 0.5) for name, text in OPEN.items()},
    "seki": (endgame.SEKI, 0.5),
    "seki, other colours": (endgame.SEKI.translate(str.maketrans("XO", "OX")), 0.5),
    "finished": (endgame.FINISHED, 0.5),
    "neutral points": (endgame.NEUTRAL, 5.5),
    "dead stones in a large territory": (endgame.DEAD_INSIDE, 0.5),
    "a dead stone in a small one": (endgame.DEAD_IN_A_CORNER, 0.5),
    "a group in doubt": (endgame.IN_DOUBT, 5.5),
}


def engine_at(drawing, komi, to_play, rules="chinese", visits=VISITS, **changes):
    """An engine that is shown a board."""
    rows = [row for row in drawing.splitlines() if row.strip()]
    engine = Engine(Options(len(rows), komi, rules, visits=visits, **{**OPTIONS, **changes}))
    stones = stones_of(engine.game.drawn(drawing))
    engine.arrange(*([stone for stone, player in stones.items() if player == side] for side in (0, 1)), to_play)
    return engine


def searched(position, action):
    """What a search that knows nothing yet says of an action: win rate, and visits.

    Where dead stones are agreed upon and moves cost points, the rules of the search are not those of the players: it does not
    know what they agree upon. There, moves after this one are free, so that dead stones can be taken off.
    """
    game, rules = position.game, position.game.rules
    if rules.scoring == "area":
        result = new_search(game, Options(**OPTIONS), OTHER_SEED).run(position, visits=CHECKED, action=action)
        value = next(move.value for move in result.moves if move.action == action)
        return winrate_of(value), CHECKED
    after = position.play(action)
    komi = int(after.state.half_komi) / 2 - int(after.state.balance)
    free = Go((game.width, game.height), komi, rules.but(scoring="area"))
    start = under(free, [after])[0]
    result = new_search(free, Options(**OPTIONS), OTHER_SEED).run(start, visits=CHECKED)
    return 1.0 - winrate_of(next(move.value for move in result.moves if move.action == result.best)), CHECKED


def assert_not_worse(choice):
    """What is played may be as good as what the search prefers, for all that is known; it is not worse. Where the preferred
    move wins one game in twenty, nothing is left to be lost."""
    if choice.action == choice.result.best:
        return
    played, preferred = (searched(choice.position, action) for action in (choice.action, choice.result.best))
    names = [choice.position.game.name_of(action) for action in (choice.action, choice.result.best)]
    is_lost = preferred[0] < HOPELESS
    upper = 1.0 - lower_bound(1.0 - played[0], played[1])
    assert is_lost or upper >= lower_bound(*preferred), (
        f"{names[0]} {played[0]:.3f} was played, and {names[1]} {preferred[0]:.3f} not"
    )


@pytest.mark.parametrize("rules", RULE_SETS)
@pytest.mark.parametrize("name", BOARDS)
def test_what_is_played_is_not_worse_than_what_the_search_prefers(name, rules):
    for to_play in (0, 1):
        choice = engine_at(*BOARDS[name], to_play, rules).choose(to_play, on_clock=False)
        assert_not_worse(choice)


def test_there_are_thirty_positions_and_more():
    assert 2 * len(BOARDS) >= 50


@pytest.mark.parametrize("visits", [500, 2_000, 20_000])
def test_a_race_that_playouts_take_for_settled_is_fought(visits):
    engine = engine_at(THE_RACE, 0.5, 0, visits=visits)
    assert engine.settle().is_settled
    assert engine.game.name_of(engine.choose(0, on_clock=False).action) == "C9"
    assert engine.game.name_of(engine.choose(0).action) == "C9"


@pytest.mark.parametrize("rules", RULE_SETS)
def test_an_open_game_on_a_small_board_is_played(rules):
    for seed in range(3):
        engine = Engine(Options(4, 0.5, rules, visits=100, **OPTIONS, seed=seed))
        for ply in range(7):
            engine.commit(engine.choose(ply % 2))
        assert engine.game.actions - 1 not in [action for _, action in engine.moves]


@pytest.mark.parametrize("rules", RULE_SETS)
def test_a_pass_is_not_answered_by_a_pass_that_loses(rules):
    """White to move would win all of these; whoever counts does not know it yet."""
    for name in ("the race", "race, two liberties each", "4x4, move 6"):
        engine = engine_at(*BOARDS[name], 1, rules)
        pass_ = engine.game.actions - 1
        engine.play(1, pass_)
        choice = engine.choose(0, on_clock=False)
        if engine.rules.dead == "none":  # the board as it stands is all that counts
            assert (choice.action == pass_) == (engine.game.lead(engine.position, dead=[]) > 0)
        elif rules != "japanese" or name != "the race":  # which is lost by two points
            assert choice.action != pass_


def name_of(engine, result, look):
    """The move that is played."""
    return engine.game.name_of(decide(engine.position, result, look))


@pytest.mark.parametrize("rules", ["chinese", "japanese"])
def test_without_time_for_a_second_look_the_search_has_its_way(rules):
    for name, (drawing, komi) in BOARDS.items():
        engine = engine_at(drawing, komi, 0, rules)
        search = engine.searcher()
        result = search.run(engine.position, visits=VISITS)
        look = SecondLook(search, lambda game: new_search(game, Options(**OPTIONS), 0), lambda: 0.0)
        is_proven = engine.settle().is_proven
        is_lost = result.value < 2 * HOPELESS - 1
        assert is_proven or is_lost or result.best_name in (name_of(engine, result, look), "pass"), name


def test_a_board_that_is_settled_for_good_needs_no_second_look():
    engine = engine_at(endgame.FINISHED, 0.5, 0)
    result = engine.searcher().run(engine.position, visits=VISITS)
    assert engine.settle().is_proven
    nobody = SecondLook(engine.searcher(), lambda game: pytest.fail("it was asked"), lambda: pytest.fail("it was asked"))
    assert decide(engine.position, result, nobody) == engine.game.actions - 1
