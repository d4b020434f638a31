"""KataGo's analysis protocol: what is asked for is answered, once, by whatever thread, and nothing that is sent ends it."""

import io
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from anabranch._version import __version__
from anabranch.protocols.analysis import READY, Server
from tests.conftest import when_compiled
from tests.protocols import fuzz
from tests.protocols.asking import GOOD, Client, answer_to, answers_to
from tests.protocols.talk import OPTIONS

REQUESTS = int(os.environ.get("ANABRANCH_FUZZ_REQUESTS", "300"))
SEED = int(os.environ.get("ANABRANCH_FUZZ_SEED", "0"))
ENDLESS = {**GOOD, "maxVisits": 10**12}

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
def test_moves_that_are_to_be_avoided_are_not_searched():
    first, second, *_ = (move["move"] for move in answer_to({**GOOD, "maxVisits": 200})["moveInfos"])
    avoid = [{"player": "B", "moves": [first, "pass"], "untilDepth": 1}, {"player": "W", "moves": [second], "untilDepth": 1}]
    names = {move["move"] for move in answer_to({**GOOD, "avoidMoves": avoid, "maxVisits": 200})["moveInfos"]}
    assert not {first, "pass"} & names and second in names
    allow = [{"player": "B", "moves": ["D4", "A1", "B9"], "untilDepth": 1}]
    answer = answer_to({**GOOD, "allowMoves": allow, "maxVisits": 200, "overrideSettings": {"wideRootNoise": 1}})
    assert sum(move["visits"] for move in answer["moveInfos"]) == 200 == answer["rootInfo"]["visits"]
    assert {move["move"] for move in answer["moveInfos"]} == {"D4", "A1", "B9"}
    assert all(move["visits"] > 0 for move in answer["moveInfos"])


@when_compiled
def test_a_restriction_that_leaves_nothing_is_an_error():
    allow = [{"player": "B", "moves": ["E5"], "untilDepth": 1}]  # where a stone is
    assert "no legal move is left" in answer_to({**GOOD, "allowMoves": allow})["error"]


@when_compiled
def test_width_spreads_the_visits_of_an_analysis():
    def visits(**settings):
        moves = answer_to({**GOOD, "maxVisits": 500, "overrideSettings": settings})["moveInfos"]
        return sorted((move["visits"] for move in moves), reverse=True)

    narrow, usual, wide = visits(wideRootNoise=0), visits(), visits(wideRootNoise=1)
    assert narrow[0] > 2 * wide[0] and len(wide) > len(narrow)
    assert usual == visits(wideRootNoise=0.04) != narrow


@when_compiled
def test_the_spread_of_scores_is_the_same_in_all_reports_of_a_position():
    """It was asked at the end of variations, which change."""
    with Client() as client:
        client.send({**ENDLESS, "id": "watched", "reportDuringSearchEvery": 0.2})
        answers = [client.read() for _ in range(4)]
    assert len({answer["rootInfo"]["scoreStdev"] for answer in answers}) == 1
    assert len({answer["rootInfo"]["visits"] for answer in answers}) == 4


@when_compiled
def test_warnings_come_before_the_answer():
    warning, answer = answers_to({**GOOD, "overrideSettings": {"rootNumSymmetries": 8}})
    assert warning["field"] == "overrideSettings" and warning["id"] == "foo" and "rootNumSymmetries" in warning["warning"]
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
    options = ("--size", "9", "--visits", "20", "--threads", "2", "--report-as", "sidetomove")
    command = [sys.executable, "-m", "anabranch", "analyze", *options]
    requests = [{**GOOD, "id": f"q{number}", "analyzeTurns": [0, 1, 2]} for number in range(3)]
    text = "\n".join(map(json.dumps, requests)) + "\nbroken\n"
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=300, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == 10 and READY in done.stderr
