"""Requests of KataGo's analysis protocol: what they mean, by which rules, and what is wrong with them. No search is made."""

import pytest

from anabranch.errors import GameError
from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.protocols import kata_rules
from anabranch.protocols.queries import BadQuery, Positions, query_of
from tests.protocols.asking import GOOD, answer_to, answers_to

KATAGO_CHINESE = RULE_SETS["chinese"].but(ko="simple")

# --- what a request means -----------------------------------------------------------------------------------------------------


def asked(**changes):
    return query_of({**GOOD, **changes}, Positions())


def test_by_default_the_last_position_is_meant():
    query = asked()
    assert list(query.positions) == [2] and query.priorities == {2: 0}
    assert query.positions[2] == Go(9, 7.5, KATAGO_CHINESE).position(["E5", "C3"])
    assert (query.visits, query.seconds, query.every, query.view) == (None, None, None, None)


def test_turns_stones_and_the_first_player():
    query = asked(initialStones=[["B", "A1"], ["W", "J9"]], initialPlayer="B", analyzeTurns=[0, 1], priorities=[5, 7])
    assert list(query.positions) == [0, 1] and query.priorities == {0: 5, 1: 7}
    assert query.positions[0] == Go(9, 7.5, KATAGO_CHINESE).arranged(["A1"], ["J9"], 0)
    assert asked(moves=[], initialPlayer="W").positions[0].to_play == 1
    assert asked(moves=[["W", "E5"]], analyzeTurns=[0]).positions[0].to_play == 1


def test_black_stones_alone_are_a_handicap_for_which_white_gets_what_the_rules_say():
    stones = [["B", "C3"], ["B", "G7"]]
    assert asked(initialStones=stones, moves=[]).positions[0].game.komi == 9.5
    assert asked(initialStones=stones, moves=[], rules="japanese").positions[0].game.komi == 7.5
    assert asked(initialStones=stones, moves=[], whiteHandicapBonus="N-1").positions[0].game.komi == 8.5
    assert asked(initialStones=[*stones, ["W", "A9"]], moves=[]).positions[0].game.komi == 7.5


def test_komi_is_guessed_if_it_is_not_said():
    request = {name: value for name, value in GOOD.items() if name != "komi"}
    assert query_of(request, Positions()).positions[2].game.komi == 7.5
    assert query_of({**request, "rules": "japanese"}, Positions()).positions[2].game.komi == 6.5


def test_players_need_not_take_turns_and_games_need_not_end_with_two_passes():
    query = asked(moves=[["B", "E5"], ["B", "D5"], ["W", "pass"], ["B", "pass"], ["W", "C3"]], analyzeTurns=[4, 5])
    assert not query.positions[4].is_over
    assert query.positions[5].to_play == 0


def test_locations_are_also_understood_as_coordinates_from_the_top_left():
    assert asked(moves=[["B", "(0,0)"]]).positions[1] == Go(9, 7.5, KATAGO_CHINESE).position(["A9"])
    assert asked(moves=[["B", "(8, 8)"]]).positions[1] == Go(9, 7.5, KATAGO_CHINESE).position(["J1"])


def test_a_board_may_be_wider_than_high():
    position = asked(boardXSize=7, boardYSize=5, moves=[["B", "G5"]]).positions[1]
    assert (position.game.width, position.game.height) == (7, 5)


def test_positions_are_played_once_however_often_they_are_asked_for():
    positions = Positions()
    moves = [["BW"[i % 2], name] for i, name in enumerate(("E5", "C3", "G7", "G3", "C7"))]
    first = query_of({**GOOD, "moves": moves}, positions).positions[5]
    again = query_of({**GOOD, "moves": moves, "analyzeTurns": [4, 5]}, positions).positions
    assert again[5] is first
    assert query_of({**GOOD, "moves": moves, "komi": 0.5}, positions).positions[5] is not first
    positions.clear()
    assert query_of({**GOOD, "moves": moves}, positions).positions[5] is not first


def test_settings_of_katago_are_followed_or_warned_of():
    query = asked(
        overrideSettings={"maxTime": 2, "reportAnalysisWinratesAs": "white", "wideRootNoise": 0.1, "rootNumSymmetries": 8},
        rootPolicyTemperature=2,
    )
    assert (query.seconds, query.view, query.width) == (2.0, "WHITE", 0.1)
    assert {name for name, _ in query.warnings} == {"overrideSettings", "rootPolicyTemperature"}
    assert dict(query.warnings)["overrideSettings"] == "Unknown settings, which this engine does not use: rootNumSymmetries"
    assert asked(overrideSettings={"maxVisits": 7}).visits == 7


def test_what_restrictions_do_not_go_together_is_told_in_words():
    """KataGo's protocol has untilDepth for deeper moves; here the first one alone can be restricted."""
    avoid = [{"player": "B", "moves": ["A1"], "untilDepth": 1}]
    with pytest.raises(BadQuery, match="untilDepth must be 1"):
        asked(avoidMoves=[{**avoid[0], "untilDepth": 30}])
    with pytest.raises(BadQuery, match="together with avoidMoves"):
        asked(avoidMoves=avoid, allowMoves=avoid)
    with pytest.raises(BadQuery, match="one entry"):
        asked(allowMoves=avoid * 2)


def test_each_player_may_have_moves_that_are_allowed():
    each = [{"player": player, "moves": ["A1"], "untilDepth": 1} for player in "BW"]
    hidden = asked(allowMoves=each).hidden
    assert len(hidden[0]) == len(hidden[1]) == 81


def test_of_two_stones_on_a_point_the_last_counts():
    twice = asked(initialStones=[["B", "A1"], ["W", "A1"]], moves=[]).positions[0]
    assert twice == asked(initialStones=[["W", "A1"]], moves=[]).positions[0]


def test_variations_may_be_longer():
    assert asked(analysisPVLen=40).longest_line == asked(overrideSettings={"analysisPVLen": 40}).longest_line == 40


BAD = {
    "id": [None, 5, ["a"]],
    "moves": [None, 5, "B C3", [["B"]], [["B", "Z9"]], [["X", "C3"]], [[1, 2]], [["B", "C3"], ["W", "C3"]], {}],
    "initialStones": [5, [["B", "pass"]], [["B", "A1"], ["W", "A2"], ["W", "B1"]], [["B", "K1"]]],
    "initialPlayer": [5, "red", None],
    "rules": [None, 5, "martian", {"ko": "NEVER"}, {"weather": 1}, {"hasButton": 1}, [], {"suicide": "yes"}],
    "komi": ["7.5", None, 6.3, 1e9, True, [], 10**400],
    "boardXSize": [None, 1, 26, 9.5, "9", True, 10**400],
    "boardYSize": [None, 0, -9, [9]],
    "analyzeTurns": [5, [], [3], [-1], ["0"], [0.5], None],
    "maxVisits": [0, -1, 2.5, "5", None, 10**20],
    "priority": ["high", 1.5, None],
    "priorities": [5, [], [1, 2]],
    "whiteHandicapBonus": ["some", 7],
    "includeOwnership": [1, "true", None],
    "includeMovesOwnership": [1, "true", None],
    "includePVVisits": [1, "true", None],
    "includePolicy": ["no"],
    "reportDuringSearchEvery": [0, -1, "1", None, 1e300],
    "overrideSettings": [
        5, [], {"maxTime": -1}, {"reportAnalysisWinratesAs": "GREEN"}, {"maxVisits": 0}, {"wideRootNoise": -1},
    ],
    "avoidMoves": [5, [5], [{}], [{"player": "B", "moves": ["Z9"], "untilDepth": 1}], [{"player": "B", "moves": ["A1"]}]],
    "allowMoves": [
        {"player": "B"}, [{"player": "G", "moves": [], "untilDepth": 1}], [{"player": "B", "moves": ["A1"], "untilDepth": 2}],
        [{"player": "B", "moves": ["A1"], "untilDepth": 1}, {"player": "B", "moves": ["A1"], "untilDepth": 1}],
    ],
    "action": [5, "dance", None],
    "terminateId": [5, None],
    "turnNumbers": [5],
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_with_a_field_is_said_by_its_name(name):
    for value in BAD[name]:
        request = {**GOOD, name: value}
        if name in ("terminateId", "turnNumbers"):
            request = {"id": "foo", "action": "terminate", "terminateId": "bar", **{name: value}}
        answer = answer_to(request)
        assert answer["field"] == name and answer["error"], value
        assert answer.get("id") == ("foo" if name != "id" else None)


@pytest.mark.parametrize("name", ["id", "moves", "rules", "boardXSize", "boardYSize"])
def test_what_is_missing_is_said(name):
    answer = answer_to({key: value for key, value in GOOD.items() if key != name})
    assert answer["field"] == name


def test_an_illegal_move_is_told_in_words_that_katrain_looks_for():
    assert answer_to({**GOOD, "moves": [["B", "C3"], ["W", "C3"]]})["error"].startswith("Illegal move 1: C3")


@pytest.mark.parametrize(
    "line", ["nonsense", "{", "[1,2]", '"text"', "5", "null", "{}", "[" * 100_000, '{"id": "\\ud800"', "\x00", "é"]
)
def test_what_is_no_request_is_refused_without_an_id(line):
    answer = answer_to(line)
    assert answer["error"] and "id" not in answer


def test_lines_of_nothing_get_no_answer():
    assert answers_to("", "   ", "\r") == []


# --- rules --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RULE_SETS)
def test_rules_are_written_and_read_back(name):
    assert kata_rules.own_rules_of(name) == RULE_SETS[name]
    assert kata_rules.rules_of(kata_rules.written(RULE_SETS[name])) == RULE_SETS[name]
    assert kata_rules.rules_of(kata_rules.fields_of(RULE_SETS[name])) == RULE_SETS[name]


@pytest.mark.parametrize("name", kata_rules.NAMES)
def test_katagos_names_are_known_however_they_are_spelt_and_can_be_read_back(name):
    rules = kata_rules.rules_of(name)
    for spelt in (name.upper(), name.replace("-", "_"), name.replace("-", " "), name.replace("-", "")):
        assert kata_rules.rules_of(spelt) == rules
    assert kata_rules.rules_of(kata_rules.written(rules)) == rules


def test_names_mean_what_they_mean_to_katago():
    assert kata_rules.rules_of("chinese") == RULE_SETS["chinese"].but(ko="simple")
    assert kata_rules.rules_of("chinese-kgs") == kata_rules.rules_of("Chinese_OGS") == RULE_SETS["chinese"]
    assert kata_rules.rules_of("korean") == RULE_SETS["japanese"]
    assert kata_rules.rules_of("bga") == kata_rules.rules_of("aga-button").but(button=False) == RULE_SETS["aga"]
    assert kata_rules.rules_of("stone_scoring") == RuleSet(ko="simple", tax="all")  # as KaTrain writes it
    assert kata_rules.with_point(RULE_SETS["chinese"], "friendlyPassOk", "false").dead == "none"
    assert kata_rules.rules_of({"hasButton": True}) == RULE_SETS["tromp-taylor"].but(button=True)
    assert kata_rules.rules_of({"score": "TERRITORY"}).tax == "seki"
    with pytest.raises(GameError, match="area scoring"):
        kata_rules.rules_of({"hasButton": True, "scoring": "TERRITORY"})
    with pytest.raises(BadQuery, match="no rules called"):
        asked(rules="button")
