"""KataGo's analysis protocol: what is asked for is answered, once, by whatever thread, and nothing that is sent ends it."""

import io
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from anabranch._version import __version__
from anabranch.errors import GameError
from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.protocols import kata_rules
from anabranch.protocols.analysis import READY, Server
from anabranch.protocols.queries import BadQuery, Positions, query_of
from tests.conftest import when_compiled
from tests.protocols import fuzz
from tests.protocols.talk import OPTIONS, PATIENCE

REQUESTS = int(os.environ.get("ANABRANCH_FUZZ_REQUESTS", "1000"))
SEED = int(os.environ.get("ANABRANCH_FUZZ_SEED", "0"))
GOOD = {"id": "foo", "moves": [["B", "E5"], ["W", "C3"]], "rules": "chinese", "komi": 7.5, "boardXSize": 9, "boardYSize": 9}
ENDLESS = {**GOOD, "maxVisits": 10**12}


def answers_to(*requests, **options):
    """All answers to these requests, in the order in which they came."""
    out = io.StringIO()
    text = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    Server(replace(OPTIONS, visits=30), [line + "\n" for line in text], out, **options).run()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def answer_to(request, **options):
    (answer,) = answers_to(request, **options)
    return answer


class Client:
    """Sends requests and reads answers, line by line."""

    def __init__(self, threads=2, **changes):
        self._lines, self._heard = queue.SimpleQueue(), queue.SimpleQueue()
        options = replace(OPTIONS, **{"visits": 50, **changes})
        self.server = Server(options, iter(self._lines.get, None), self, threads=threads)
        self._thread = threading.Thread(target=self.server.run, daemon=True)
        self._thread.start()

    def write(self, text):
        self._heard.put(json.loads(text))

    def flush(self):
        pass

    def send(self, *requests):
        for request in requests:
            self._lines.put(json.dumps(request))

    def read(self):
        return self._heard.get(timeout=PATIENCE)

    def final(self):
        """The next answer that is not a report from a search that goes on."""
        while (answer := self.read()).get("isDuringSearch"):
            pass
        return answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.put(json.dumps({"id": "end", "action": "terminate_all"}))
        self._lines.put(None)
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


# --- what a request means -----------------------------------------------------------------------------------------------------


def asked(**changes):
    return query_of({**GOOD, **changes}, Positions())


def test_by_default_the_last_position_is_meant():
    query = asked()
    assert list(query.positions) == [2] and query.priorities == {2: 0}
    assert query.positions[2] == Go(9, 7.5).position(["E5", "C3"])
    assert (query.visits, query.seconds, query.every, query.view) == (None, None, None, None)


def test_turns_stones_and_the_first_player():
    query = asked(initialStones=[["B", "A1"], ["W", "J9"]], initialPlayer="B", analyzeTurns=[0, 1], priorities=[5, 7])
    assert list(query.positions) == [0, 1] and query.priorities == {0: 5, 1: 7}
    assert query.positions[0] == Go(9, 7.5).arranged(["A1"], ["J9"], 0)
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
    assert asked(moves=[["B", "(0,0)"]]).positions[1] == Go(9, 7.5).position(["A9"])
    assert asked(moves=[["B", "(8, 8)"]]).positions[1] == Go(9, 7.5).position(["J1"])


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
        overrideSettings={"maxTime": 2, "reportAnalysisWinratesAs": "white", "wideRootNoise": 0.04}, rootPolicyTemperature=2
    )
    assert (query.seconds, query.view) == (2.0, "WHITE")
    assert {name for name, _ in query.warnings} == {"overrideSettings", "rootPolicyTemperature"}
    assert "wideRootNoise" in dict(query.warnings)["overrideSettings"]
    assert asked(overrideSettings={"maxVisits": 7}).visits == 7


BAD = {
    "id": [None, 5, ["a"]],
    "moves": [None, 5, "B C3", [["B"]], [["B", "Z9"]], [["X", "C3"]], [[1, 2]], [["B", "C3"], ["W", "C3"]], {}],
    "initialStones": [5, [["B", "pass"]], [["B", "A1"], ["W", "A1"]], [["B", "A1"], ["W", "A2"], ["W", "B1"]], [["B", "K1"]]],
    "initialPlayer": [5, "red", None],
    "rules": [None, 5, "martian", {"ko": "NEVER"}, {"weather": 1}, {"hasButton": True}, [], {"suicide": "yes"}],
    "komi": ["7.5", None, 6.3, float("nan"), 1e9, True, [], 10**400],
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
    "reportDuringSearchEvery": [0, -1, "1", None, float("inf")],
    "overrideSettings": [5, [], {"maxTime": -1}, {"reportAnalysisWinratesAs": "GREEN"}, {"maxVisits": 0}],
    "avoidMoves": [5, [5], [{}], [{"player": "B", "moves": ["Z9"], "untilDepth": 1}], [{"player": "B", "moves": ["A1"]}]],
    "allowMoves": [{"player": "B"}, [{"player": "G", "moves": [], "untilDepth": 1}]],
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
    assert kata_rules.rules_of(name) == RULE_SETS[name]
    assert kata_rules.rules_of(kata_rules.written(RULE_SETS[name])) == RULE_SETS[name]
    assert kata_rules.rules_of(kata_rules.fields_of(RULE_SETS[name])) == RULE_SETS[name]


def test_katagos_other_names_are_known():
    assert kata_rules.rules_of("chinese-kgs") == kata_rules.rules_of("Chinese_OGS") == RULE_SETS["chinese"]
    assert kata_rules.rules_of("korean") == RULE_SETS["japanese"]
    assert kata_rules.rules_of("stone_scoring") == RuleSet(ko="simple", tax="all")  # as KaTrain writes it
    assert kata_rules.with_point(RULE_SETS["chinese"], "friendlyPassOk", "false").dead == "none"
    with pytest.raises(GameError, match="button"):
        kata_rules.rules_of({"hasButton": True})
    with pytest.raises(BadQuery, match="no rules called"):
        asked(rules="button")


# --- answers ------------------------------------------------------------------------------------------------------------------


@when_compiled
def test_an_answer_has_what_katago_would_say():
    answer = answer_to({**GOOD, "includeOwnership": True, "includePolicy": True, "maxVisits": 200})
    assert (answer["id"], answer["turnNumber"], answer["isDuringSearch"]) == ("foo", 2, False)
    root, moves = answer["rootInfo"], answer["moveInfos"]
    assert root["visits"] == 200 == sum(move["visits"] for move in moves)
    assert root["currentPlayer"] == "B" and re.fullmatch(r"[0-9A-F]{32}", root["thisHash"])
    assert [move["order"] for move in moves] == list(range(len(moves)))
    for move in (root, *moves):
        assert 0 <= move["winrate"] <= 1 and {"scoreLead", "scoreMean", "scoreStdev", "lcb", "utility"} <= set(move)
    for move in moves:
        assert move["pv"][0] == move["move"] and 0 < move["prior"] < 1
    assert len(answer["ownership"]) == 81 and len(answer["policy"]) == 82
    assert sum(share for share in answer["policy"] if share >= 0) == pytest.approx(1, abs=1e-3)
    assert answer["policy"][4 * 9 + 4] == -1  # E5 has a stone


@when_compiled
def test_visits_of_variations_fall_from_move_to_move():
    """A position may have more visits than the move to it, by other paths."""
    moves = answer_to({**GOOD, "includePVVisits": True, "maxVisits": 400})["moveInfos"]
    assert max(len(move["pv"]) for move in moves) > 1
    for move in moves:
        edges, nodes = move["pvEdgeVisits"], move["pvVisits"]
        assert len(edges) == len(nodes) == len(move["pv"]) and edges[0] == move["visits"]
        assert all(edge <= node for edge, node in zip(edges, nodes, strict=True))
        assert all(later < node for node, later in zip(nodes, edges[1:], strict=False))
    assert "pvVisits" not in answer_to({**GOOD, "includePVVisits": False})["moveInfos"][0]


@when_compiled
def test_variations_are_counted_while_the_search_runs():
    with Client() as client:
        client.send({**ENDLESS, "includePVVisits": True, "reportDuringSearchEvery": 0.05})
        report = client.read()
        assert report["isDuringSearch"] and report["moveInfos"][0]["pvEdgeVisits"][0] == report["moveInfos"][0]["visits"]


@when_compiled
def test_the_ownership_of_moves_is_told_for_the_best_and_from_the_view_that_is_asked_for():
    request = {**GOOD, "includeMovesOwnership": True, "maxVisits": 100}
    moves = answer_to(request)["moveInfos"]
    assert [("ownership" in move) for move in moves] == [place < 10 for place in range(len(moves))]
    best = [move for move in moves[:10] if move["move"] != "pass"]
    points = [(9 - int(move["move"][1])) * 9 + "ABCDEFGHJ".index(move["move"][0]) for move in best]
    assert all(len(move["ownership"]) == 81 for move in best)
    own = sum(move["ownership"][point] for move, point in zip(best, points, strict=True)) / len(best)
    others = sum(move["ownership"][point] for move in best for point in points) / len(best) ** 2
    assert own > others + 0.2  # where black plays, points are black's more often than behind the other moves
    whites = answer_to({**request, "overrideSettings": {"reportAnalysisWinratesAs": "WHITE"}})["moveInfos"]
    assert whites[0]["ownership"] == [-number for number in moves[0]["ownership"]]


@when_compiled
def test_the_same_request_gets_the_same_answer():
    first, second = (answers_to({**GOOD, "id": "a"}, {**GOOD, "id": "b", "moves": []}, {**GOOD, "id": "c"}) for _ in range(2))
    assert sorted(map(json.dumps, first)) == sorted(map(json.dumps, second))
    by_id = {answer["id"]: {**answer, "id": ""} for answer in first}
    assert by_id["a"] == by_id["c"]


@when_compiled
def test_values_are_blacks_unless_another_view_is_asked_for():
    ahead = {**GOOD, "boardXSize": 7, "boardYSize": 7, "moves": [], "komi": 0.5, "includeOwnership": True, "maxVisits": 100}
    ahead["initialStones"] = [["B", name] for name in ("D4", "C3", "E5", "C5")]
    for player in "BW":
        views = {}
        for view in ("BLACK", "WHITE", "SIDETOMOVE"):
            settings = {"reportAnalysisWinratesAs": view}
            views[view] = answer_to({**ahead, "initialPlayer": player, "overrideSettings": settings})
        black, white, own = (views[view]["rootInfo"] for view in views)
        assert black["winrate"] > 0.5 > white["winrate"] and black["scoreLead"] > 0 > white["scoreLead"]
        assert own == (black if player == "B" else white)
        assert views["BLACK"]["ownership"] == [-number for number in views["WHITE"]["ownership"]]
        assert answer_to({**ahead, "initialPlayer": player})["rootInfo"] == black
        assert answer_to({**ahead, "initialPlayer": player}, view="WHITE")["rootInfo"] == white


@when_compiled
def test_moves_that_are_to_be_avoided_are_not_reported():
    first, second, *_ = (move["move"] for move in answer_to({**GOOD, "maxVisits": 200})["moveInfos"])
    avoid = [{"player": "B", "moves": [first, "pass"], "untilDepth": 1}, {"player": "W", "moves": [second], "untilDepth": 1}]
    names = {move["move"] for move in answer_to({**GOOD, "avoidMoves": avoid, "maxVisits": 200})["moveInfos"]}
    assert not {first, "pass"} & names and second in names
    allow = [{"player": "B", "moves": ["D4", "F6"], "untilDepth": 1}]
    assert {move["move"] for move in answer_to({**GOOD, "allowMoves": allow, "maxVisits": 200})["moveInfos"]} <= {"D4", "F6"}


@when_compiled
def test_warnings_come_before_the_answer():
    warning, answer = answers_to({**GOOD, "overrideSettings": {"wideRootNoise": 0.1}})
    assert warning["field"] == "overrideSettings" and warning["id"] == "foo" and "wideRootNoise" in warning["warning"]
    assert "moveInfos" in answer


@when_compiled
def test_katrain_asks_for_a_position_and_can_draw_the_answer():
    """The request that KaTrain's engine.py sends, and the fields that its game_node.py reads."""
    request = {
        "id": "QUERY:1", "rules": "japanese", "priority": 1, "analyzeTurns": [2], "maxVisits": 25, "komi": 6.5, "boardXSize": 9,
        "boardYSize": 9, "includeOwnership": True, "includeMovesOwnership": True, "includePolicy": True, "initialStones": [],
        "initialPlayer": "B", "moves": [["B", "E5"], ["W", "C3"]], "reportDuringSearchEvery": 1,
        "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "maxTime": 8.0, "wideRootNoise": 0.04},
    }  # fmt: skip
    answers = answers_to(request)
    assert all("warning" in answer for answer in answers[:-1])
    final = answers[-1]
    assert not final.get("isDuringSearch") and not final.get("noResults", False)
    lead, rate = final["rootInfo"]["scoreLead"], final["rootInfo"]["winrate"]
    assert final["rootInfo"]["visits"] == 25
    for move in final["moveInfos"]:
        assert isinstance(lead - move["scoreLead"], float) and isinstance(rate - move["winrate"], float)
        assert move["order"] >= 0 and move["visits"] > 0 and move["pv"] and move["move"]
    assert len(final["ownership"]) == 81 and len(final["policy"]) == 82
    alternatives = [{"moves": [move["move"] for move in final["moveInfos"][:5]], "player": "B", "untilDepth": 1}]
    others = answers_to({**request, "avoidMoves": alternatives})[-1]["moveInfos"]
    assert not {move["move"] for move in others} & set(alternatives[0]["moves"])


# --- many at once -------------------------------------------------------------------------------------------------------------


@when_compiled
def test_fifty_requests_are_in_flight_and_each_is_answered_once():
    with Client(threads=3) as client:
        client.send(*({**GOOD, "id": f"q{number}", "analyzeTurns": [0, 1, 2]} for number in range(50)))
        answers = [client.read() for _ in range(150)]
    assert {(answer["id"], answer["turnNumber"]) for answer in answers} == {
        (f"q{n}", turn) for n in range(50) for turn in range(3)
    }
    assert all(answer["rootInfo"]["visits"] == 50 for answer in answers)


@when_compiled
def test_high_priorities_come_first():
    with Client(threads=1) as client:
        client.send({**ENDLESS, "id": "first", "reportDuringSearchEvery": 0.1})
        client.read()  # it has begun
        client.send(*({**GOOD, "id": f"{priority}", "priority": priority} for priority in (1, 5, -3, 2, 5)))
        client.send({"id": "stop", "action": "terminate", "terminateId": "first"})
        order = [client.final()["id"] for _ in range(7)]
    assert [name for name in order if name not in ("first", "stop")] == ["5", "5", "2", "1", "-3"]


@when_compiled
def test_terminating_ends_what_runs_with_what_it_has_and_what_waits_with_nothing():
    with Client(threads=1) as client:
        client.send({**ENDLESS, "id": "runs", "reportDuringSearchEvery": 0.1})
        assert client.read()["isDuringSearch"] is True
        client.send({**ENDLESS, "id": "waits", "analyzeTurns": [0, 1, 2]})
        client.send({"id": "t1", "action": "terminate", "terminateId": "waits", "turnNumbers": [1]})
        nothing = {"id": "waits", "isDuringSearch": False, "noResults": True}
        assert client.final() == {**nothing, "turnNumber": 1} and client.final()["id"] == "t1"
        client.send({"id": "t2", "action": "terminate_all"})
        answers = {(answer["id"], answer.get("turnNumber")): answer for answer in (client.final() for _ in range(4))}
        assert set(answers) == {("runs", 2), ("waits", 0), ("waits", 2), ("t2", None)}
        assert answers["runs", 2]["rootInfo"]["visits"] > 0
        assert answers["waits", 0] == {**nothing, "turnNumber": 0}


@when_compiled
def test_reports_come_while_a_search_goes_on():
    with Client(threads=1) as client:
        client.send({**ENDLESS, "reportDuringSearchEvery": 0.2})
        reports = [client.read() for _ in range(3)]
        assert all(report["isDuringSearch"] for report in reports)
        visits = [report["rootInfo"]["visits"] for report in reports]
        assert visits == sorted(visits) and visits[0] > 0


@when_compiled
def test_a_time_limit_ends_a_search():
    with Client(threads=1) as client:
        began = time.monotonic()
        client.send({**ENDLESS, "overrideSettings": {"maxTime": 0.5}})
        assert client.read()["rootInfo"]["visits"] > 10
        assert time.monotonic() - began < 20


@when_compiled
def test_special_actions_are_echoed():
    with Client() as client:
        client.send({"id": "v", "action": "query_version"})
        assert client.read() == {"id": "v", "action": "query_version", "version": __version__, "git_hash": "<omitted>"}
        client.send({"id": "c", "action": "clear_cache", "what": "ever"})
        assert client.read() == {"id": "c", "action": "clear_cache", "what": "ever"}
        client.send({"id": "m", "action": "query_models"})
        assert client.read()["models"] == []
        client.send({"id": "t", "action": "terminate", "terminateId": "nobody"})
        assert client.read() == {"id": "t", "action": "terminate", "terminateId": "nobody"}


@when_compiled
def test_what_is_left_is_finished_at_the_end_of_the_input_unless_nobody_waits():
    requests = [{**GOOD, "id": f"q{number}"} for number in range(10)]
    assert len(answers_to(*requests)) == 10
    left = answers_to(*({**request, "maxVisits": 10**12} for request in requests), waits=False)
    assert len(left) == 10 and sum(answer.get("noResults", False) for answer in left) >= 8


@when_compiled
def test_random_and_broken_requests_are_answered_to_the_end(capsys):
    requests = list(fuzz.requests(REQUESTS, SEED))
    out = io.StringIO()
    Server(replace(OPTIONS, visits=2, memory="8MB"), [*requests, '{"id":"end","action":"query_version"}'], out, threads=2).run()
    answers = [json.loads(line) for line in out.getvalue().splitlines()]
    assert sum(answer.get("id") == "end" for answer in answers) == 1
    wanted = sum(bool(request.strip()) for request in requests)
    errors = sum("error" in answer for answer in answers)
    understood = {answer["id"] for answer in answers if "error" not in answer}
    assert 0.2 < errors / wanted < 0.8
    assert errors + len(understood) > 0.99 * wanted  # a mutation may give two requests one id
    assert not [answer for answer in answers if "Internal error" in answer.get("error", "")], capsys.readouterr().err


@when_compiled
def test_the_program_answers_on_stdout_and_says_on_stderr_that_it_is_ready():
    command = [sys.executable, "-m", "anabranch", "analyze", "--visits", "20", "--threads", "2", "--report-as", "sidetomove"]
    requests = [{**GOOD, "id": f"q{number}", "analyzeTurns": [0, 1, 2]} for number in range(3)]
    text = "\n".join(map(json.dumps, requests)) + "\nbroken\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 10 and READY in done.stderr
