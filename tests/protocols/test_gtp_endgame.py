"""The end of a game over GTP: the engine passes when it should, cleans up when it must, and never loses a won game by it.

Each board is drawn so that its result is known. The opponent passes, as somebody does who knows that it is over.
"""

import pytest

from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.goengine.endgame import settle
from anabranch.goengine.game_tree import stones_of
from tests.conftest import when_compiled
from tests.protocols.talk import Client, converse

pytestmark = when_compiled
AGREED = [name for name, rules in RULE_SETS.items() if rules.dead == "agreed"]
AREA = [name for name, rules in RULE_SETS.items() if rules.scoring == "area"]
STONES = RuleSet(scoring="territory", dead="none")  # territory, and whatever stands there lives
BLACK, WHITE = 0, 1
COLOURS = "bw"

FINISHED = """
. X . X O . O
X . X X O O .
X X X O O . O
. X . X O O O
X X X X O . O
. X . X O O .
X . X X O . O
"""  # area: black 27, white 22; no move gains anything

NEUTRAL = """
. X . X . O .
X . X X . O O
X X X . O . O
. X . X O O O
X X X X O . O
. X . X . O .
X . X X . O O
"""  # five neutral points

DEAD_INSIDE = """
. X . . X O .
X X X O X O O
. . X . X O .
. O X X X O O
. . . . X O .
X O . X X O O
. . . . X O .
"""  # B2, B4 and D6 are dead; without them black has all up to column E, 35, and white 14

DEAD_IN_A_CORNER = """
. . . X O . O
. O . X O O .
X X X X O . O
X . X X O O O
X X X X O . O
. X . X O O .
X . X X O . O
"""  # B6 is dead, since nobody can live in that corner; but not unconditionally

SEKI = """
. X O . X O .
X X O . X O O
. X O O X O .
X X O X X O O
. X O X O O .
X X O X O . O
. X O X O O .
"""  # C1 and D1 share D6 and D7: whoever plays there is taken


IN_DOUBT = """
. . . X O O O
. . . . . O X
X . . X X X X
X . O X O O X
. X X O . O .
X X O . O X O
. . O . O . X
"""  # white is to answer F2, or loses all that is left; F2 itself can be taken at F1, so this is no seki


@pytest.fixture(scope="module")
def client():
    with Client(visits=80) as found:
        yield found


def set_up(client, drawing, rules, komi=0.5, passed=False):
    """Let the engine see a board; black to move, after a pass of white's if `passed`."""
    game = Go(7, komi)
    client.ok("boardsize 7")
    client.ok("clear_board")
    if isinstance(rules, RuleSet):
        client.engine.set_rules(rules)
    else:
        client.ok(f"kata-set-rules {rules}")
    client.ok(f"komi {komi}")
    pairs = [f"{COLOURS[player]} {game.name_of(stone)}" for stone, player in stones_of(game.drawn(drawing)).items()]
    client.ok("gogui-setup " + " ".join(pairs))
    if passed:
        client.ok("play w pass")


def play_on(client, player, command="genmove", most=30):
    """The engine moves until it passes, the opponent passes; the engine's moves."""
    moves = []
    while len(moves) < most:
        moves.append(client.ok(f"{command} {COLOURS[player]}"))
        if moves[-1] == "pass":
            return moves
        client.ok(f"play {COLOURS[1 - player]} pass")
    raise AssertionError(f"it does not stop: {' '.join(moves)}")


def winner(client):
    return client.ok("final_score")[0]


# --- what is settled ----------------------------------------------------------------------------------------------------------


def test_a_finished_board_is_settled():
    settled = settle(Go(7, 0.5).drawn(FINISHED))
    assert settled.is_settled and settled.dame == [] and settled.lead == 27 - 22 - 0.5
    assert settled.surest == (4.5, -4.5)


def test_neutral_points_are_found():
    game = Go(7, 0.5)
    settled = settle(game.drawn(NEUTRAL))
    assert settled.is_settled
    assert sorted(map(game.name_of, settled.dame)) == ["D5", "E1", "E2", "E6", "E7"]


def test_dead_stones_are_found_and_taken_off():
    game = Go(7, 0.5)
    settled = settle(game.drawn(DEAD_INSIDE))
    assert sorted(game.name_of(stone) for chain in settled.stones("dead") for stone in chain) == ["B2", "B4", "D6"]
    assert settled.stones("dead", BLACK) == []
    assert settled.lead == 35 - 14 - 0.5


def test_stones_in_seki_are_neither_dead_nor_safe():
    game = Go(7, 0.5)
    settled = settle(game.drawn(SEKI))
    assert settled.stones("dead") == []
    assert {game.name_of(chain[0]) for chain in settled.stones("seki")} == {"C1", "D1"}
    assert settled.is_settled and settled.dame == []


def test_what_can_be_taken_is_not_in_seki():
    settled = settle(Go(7, 5.5, "japanese").drawn(IN_DOUBT, to_play=1))
    assert settled.stones("seki") == [] and not settled.is_settled


def test_an_open_board_is_not_settled():
    settled = settle(Go(9).position(["E5", "C3", "G7"]))
    assert not settled.is_settled
    assert max(settled.surest) < 0  # nothing is sure for anybody


# --- passing ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("passed", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("rules", RULE_SETS)
def test_it_passes_where_nothing_is_left_to_play_for(client, rules, passed):
    for komi, wins in ((0.5, "B"), (6.5, "W")):  # also if that loses
        set_up(client, FINISHED, rules, komi, passed)
        assert play_on(client, BLACK) == ["pass"]
        assert winner(client) == wins


@pytest.mark.parametrize("rules", AREA)
def test_under_area_scoring_it_fills_neutral_points_before_it_passes(client, rules):
    even = settle(Go(7, 0).drawn(NEUTRAL)).lead
    set_up(client, NEUTRAL, rules, komi=even + 4.5)  # all five are needed to win
    moves = play_on(client, BLACK)
    assert sorted(moves[:-1]) == ["D5", "E1", "E2", "E6", "E7"]
    assert client.ok("final_score") == "B+0.5"


def test_under_territory_scoring_it_leaves_neutral_points_alone(client):
    set_up(client, NEUTRAL, "japanese")
    assert play_on(client, BLACK) == ["pass"]


@pytest.mark.parametrize("passed", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("rules", AGREED)
def test_where_dead_stones_are_agreed_upon_it_does_not_take_them_off(client, rules, passed):
    for komi in (-8.5, 0.5) if rules == "japanese" else (-8.5,):  # with area, it makes sure if only agreement would win
        set_up(client, DEAD_IN_A_CORNER, rules, komi, passed)
        assert play_on(client, BLACK) == ["pass"]
        assert winner(client) == "B"


@pytest.mark.parametrize("passed", [False, True], ids=["first", "second"])
@pytest.mark.parametrize("rules", AGREED)
def test_where_the_search_sees_a_danger_it_makes_sure_of_dead_stones_before_it_passes(client, rules, passed):
    set_up(client, DEAD_INSIDE, rules, passed=passed)
    assert len(play_on(client, BLACK)) <= 6
    assert winner(client) == "B"


def test_under_territory_scoring_it_does_not_lose_a_game_by_cleaning_up(client):
    """Black is ahead by half a point, but only if the three dead stones are dead: a single move at home would cost the game."""
    for seed in range(3):
        set_up(client, DEAD_INSIDE, "japanese")
        lead = float(client.ok("final_score").removeprefix("B+")) + 0.5
        client.ok(f"komi {lead - 0.5}")
        client.ok(f"set_random_seed {seed}")
        assert play_on(client, BLACK) == ["pass"]
        assert client.ok("final_score") == "B+0.5"


@pytest.mark.parametrize("rules", ["tromp-taylor", STONES], ids=["tromp-taylor", "territory"])
def test_where_all_stones_live_it_takes_dead_ones_off_and_wins(client, rules):
    set_up(client, DEAD_INSIDE, rules, komi=0.5 if rules == "tromp-taylor" else -20.5)
    client.ok("play w pass")
    game, position = client.engine.game, client.engine.position
    before = game.lead(position, dead=[])
    moves = play_on(client, BLACK)
    after = client.engine.game.lead(client.engine.position, dead=[])
    assert after > 0
    if rules == "tromp-taylor":
        assert before < after and len(moves) > 1
        assert winner(client) == "B"


def test_where_all_stones_live_it_passes_as_soon_as_the_board_wins_as_it_stands(client):
    set_up(client, DEAD_INSIDE, "tromp-taylor", komi=-30.5, passed=True)
    assert play_on(client, BLACK) == ["pass"]
    assert winner(client) == "B"


def test_it_does_not_pass_in_an_open_game_because_the_opponent_did(client):
    client.ok("boardsize 9")
    client.ok("kata-set-rules chinese")
    client.ok("komi 7.5")
    for line in ("play b E5", "play w pass", "play b C3", "play w pass"):
        client.ok(line)
    assert client.ok("genmove b") != "pass"  # it would win: but nothing is sure
    client.ok("undo")
    client.ok("play b pass")
    assert client.ok("genmove w") != "pass"  # that would lose at once


def test_under_territory_scoring_it_defends_what_has_come_into_doubt(client):
    for seed in range(3):
        set_up(client, IN_DOUBT, "japanese", komi=5.5)
        client.ok(f"set_random_seed {seed}")
        assert client.ok("genmove w") in {"D1", "D2", "E3", "F1", "G1", "G3"}


def test_it_leaves_a_seki_alone(client):
    for rules in RULE_SETS:
        for colour in COLOURS:
            set_up(client, SEKI, rules)
            moves = [client.ok(f"reg_genmove {colour}") for _ in range(3)]
            assert not {"D6", "D7"} & set(moves)


# --- clean-up that is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", AREA)
def test_asked_to_clean_up_it_takes_all_dead_stones_off_and_then_passes(client, rules):
    set_up(client, DEAD_INSIDE, rules)
    client.ok("play b pass")
    client.ok("play w pass")
    moves = play_on(client, BLACK, "kgs-genmove_cleanup")
    assert len(moves) > 3
    assert set(client.ok("list_stones white").split()) & {"B2", "B4", "D6"} == set()
    assert winner(client) == "B"


def test_asked_to_clean_up_under_territory_scoring_it_does_so_only_if_it_can_afford_it(client):
    set_up(client, DEAD_INSIDE, "japanese", komi=-50.5)
    assert len(play_on(client, BLACK, "kgs-genmove_cleanup")) > 3
    assert set(client.ok("list_stones white").split()) & {"B2", "B4", "D6"} == set()
    assert winner(client) == "B"
    set_up(client, DEAD_INSIDE, "japanese")
    lead = float(client.ok("final_score").removeprefix("B+")) + 0.5
    client.ok(f"komi {lead - 0.5}")
    assert play_on(client, BLACK, "kgs-genmove_cleanup") == ["pass"]
    assert client.ok("final_score") == "B+0.5"


def test_asked_to_clean_up_where_nothing_is_dead_it_passes(client):
    set_up(client, FINISHED, "chinese")
    assert play_on(client, BLACK, "kgs-genmove_cleanup") == ["pass"]
    assert client.ok("kgs-genmove_cleanup w") == "pass"


def test_a_move_that_nobody_has_tried_is_left_out_for_one_that_is_known():
    """With so few visits, what would be played instead of a pass was never tried, and so has no value to compare with."""
    stones = ("b E3", "w C4", "b D4", "w C3", "b A4", "w A2")
    lines = ["komi -20", "kata-set-rules japanese", *(f"play {stone}" for stone in stones), "genmove w"]
    assert converse("\n".join(lines) + "\n", size=5, visits=2)[-1].startswith("= ")
