"""What GTP and JSON answer with a network: every field that KataGo documents, in range."""

import io
import json
import re
from dataclasses import replace

import pytest

from anabranch.goengine.engine import Engine
from anabranch.goengine.searches import Options
from anabranch.nets.katago.evaluator import KataGoNet
from anabranch.protocols.analysis import Server
from anabranch.protocols.gtp import Session
from tests.conftest import when_compiled
from tests.nets.katago_files import make_network, write_network

SIZE = 5
POINTS = SIZE * SIZE
GOOD = {"id": "foo", "moves": [["B", "C3"], ["W", "B2"]], "rules": "japanese", "komi": 6.5, "boardXSize": 5, "boardYSize": 5}
EVERYTHING = {
    **GOOD,
    "analysisPVLen": 3,
    "includeOwnership": True,
    "includeOwnershipStdev": True,
    "includeMovesOwnership": True,
    "includeMovesOwnershipStdev": True,
    "includePolicy": True,
    "includePVVisits": True,
    "includeNoResultValue": True,
}
MOVE_FIELDS = {
    "move", "visits", "edgeVisits", "winrate", "scoreMean", "scoreStdev", "scoreLead", "scoreSelfplay", "prior", "utility",
    "lcb", "utilityLcb", "weight", "edgeWeight", "order", "playSelectionValue", "pv", "pvVisits", "pvEdgeVisits",
    "noResultValue", "ownership", "ownershipStdev",
}  # fmt: skip
ROOT_FIELDS = {
    "winrate", "scoreLead", "scoreSelfplay", "scoreStdev", "utility", "visits", "weight", "thisHash", "symHash",
    "currentPlayer", "rawWinrate", "rawLead", "rawScoreSelfplay", "rawScoreSelfplayStdev", "rawNoResultProb", "rawStWrError",
    "rawStScoreError", "rawVarTimeLeft",
}  # fmt: skip
FIELDS = {"id", "isDuringSearch", "turnNumber", "moveInfos", "rootInfo", "ownership", "ownershipStdev", "policy"}


@pytest.fixture(scope="module", params=[8, 14])
def options(request, tmp_path_factory):
    """An engine with a network that does not estimate its errors, and with one that does."""
    file = tmp_path_factory.mktemp("katago") / "random.bin.gz"
    write_network(file, make_network(version=request.param, seed=3))
    return Options(size=SIZE, komi=6.5, rules="japanese", visits=40, memory="32MB", resign=0, net=KataGoNet(file))


def answers_to(options, *requests):
    out = io.StringIO()
    Server(options, [json.dumps(request) + "\n" for request in requests], out, threads=1).run()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def converse(options, text):
    out = io.StringIO()
    Session(Engine(options), text.splitlines(keepends=True), out).run()
    return out.getvalue().split("\n\n")[:-1]


@when_compiled
def test_an_answer_has_every_field_that_katago_documents_and_numbers_in_range(options):
    (answer,) = answers_to(options, EVERYTHING)
    assert set(answer) == FIELDS
    assert set(answer["rootInfo"]) >= ROOT_FIELDS
    assert all(set(move) == MOVE_FIELDS for move in answer["moveInfos"])
    for move in answer["moveInfos"]:
        assert 0 <= move["winrate"] <= 1 and 0 <= move["prior"] <= 1 and 0 <= move["noResultValue"] <= 1
        assert move["visits"] >= move["edgeVisits"] > 0 and len(move["pv"]) <= 4
        assert len(move["ownership"]) == len(move["ownershipStdev"]) == POINTS
        assert all(-1 <= number <= 1 for number in move["ownership"])
        assert all(0 <= number <= 1 for number in move["ownershipStdev"])
    assert sum(move["edgeVisits"] for move in answer["moveInfos"]) == answer["rootInfo"]["visits"] == 40
    legal = [number for number in answer["policy"] if number >= 0]
    assert len(answer["policy"]) == POINTS + 1 and len(legal) == POINTS - 1 and sum(legal) == pytest.approx(1, abs=1e-4)
    assert re.fullmatch("[0-9A-F]{32}", answer["rootInfo"]["thisHash"] and answer["rootInfo"]["symHash"])
    knows_errors = options.net.model().header.version > 8
    assert (answer["rootInfo"]["rawStWrError"] >= 0) == (answer["rootInfo"]["rawVarTimeLeft"] >= 0) == knows_errors


@when_compiled
def test_moves_are_ordered_by_what_they_are_selected_by(options):
    for turn in (0, 1, 2):
        (answer,) = answers_to(options, {**GOOD, "analyzeTurns": [turn]})
        values = [move["playSelectionValue"] for move in answer["moveInfos"]]
        assert values == sorted(values, reverse=True)


@when_compiled
def test_the_policy_also_has_moves_that_are_not_to_be_searched(options):
    avoid = [{"player": "B", "moves": ["D4", "A1"], "untilDepth": 1}]
    policies = [answers_to(options, {**EVERYTHING, **more})[0]["policy"] for more in ({}, {"avoidMoves": avoid})]
    assert policies[0] == pytest.approx(policies[1], abs=1e-4)


@when_compiled
def test_settings_of_the_search_are_used_and_others_named_in_a_warning(options):
    plain, wide = (
        answers_to(options, {**GOOD, "overrideSettings": {"wideRootNoise": 0, **more}})[-1]
        for more in ({}, {"cpuctExploration": 9.0, "rootFpuReductionMax": 0})
    )
    assert len(wide["moveInfos"]) > len(plain["moveInfos"])
    warning, _ = answers_to(options, {**GOOD, "overrideSettings": {"antiMirror": True, "cpuctExploration": 1}})
    assert "antiMirror" in warning["warning"] and "cpuct" not in warning["warning"]
    (error,) = answers_to(options, {**GOOD, "overrideSettings": {"cpuctExploration": -1}})
    assert error["field"] == "overrideSettings" and "cpuctExploration" in error["error"]
    (error,) = answers_to(options, {**GOOD, "overrideSettings": {"humanSLProfile": "rank_5k"}})
    assert "--human-net" in error["error"]


EXTRAS = "rootInfo ownership ownershipStdev movesOwnership movesOwnershipStdev pvVisits pvEdgeVisits noResultValue"


@when_compiled
def test_lines_of_an_analysis_have_what_was_asked_for(options):
    wanted = " ".join(f"{name} true" for name in EXTRAS.split())
    (answer,) = converse(options, f"kata-genmove_analyze b 10 {wanted}\n")
    *_, line, played = answer.splitlines()
    assert played.startswith("play ")
    first = line.removeprefix("info ").split(" info ")[0]
    words = re.split(r" (?=[a-z])(?!pass\b)", first)
    found = {word.split()[0]: word.split()[1:] for word in words}
    assert {
        "move",
        "visits",
        "edgeVisits",
        "utility",
        "winrate",
        "scoreMean",
        "scoreStdev",
        "scoreLead",
        "scoreSelfplay",
    } <= set(found)
    assert {"noResultValue", "prior", "lcb", "utilityLcb", "weight", "order"} <= set(found)
    assert len(found["pvVisits"]) == len(found["pvEdgeVisits"]) == len(found["pv"])
    assert len(found["movesOwnership"]) == len(found["movesOwnershipStdev"]) == POINTS
    root = line[line.index("rootInfo") :].split()
    assert {"visits", "utility", "winrate", "scoreLead", "weight", "rawStWrError", "rawStScoreError", "rawVarTimeLeft"} <= set(
        root
    )
    assert root.index("ownershipStdev") - root.index("ownership") == POINTS + 1 == len(root) - root.index("ownershipStdev")


@when_compiled
def test_parameters_are_read_and_set_one_by_one_or_together(options):
    commands = (
        "kata-get-param cpuctExploration\nkata-set-param cpuctExploration 2.5\nkata-get-param cpuctExploration\n"
        'kata-set-params {"maxVisits": 7, "fpuReductionMax": "0.3", "allowResignation": true}\nkata-get-params\n'
        'kata-set-params {"maxVisits": 9, "antiMirror": true}\nkata-get-param maxVisits\nkata-benchmark 10\n'
    )
    before, _, after, _, everything, refused, visits, benchmark = converse(options, commands)
    assert float(before[2:]) > 0 and after == "= 2.5"
    values = json.loads(everything[2:])
    assert (values["maxVisits"], values["fpuReductionMax"], values["allowResignation"]) == (7, 0.3, True)
    assert refused.startswith("? syntax error: there is no parameter 'antiMirror'") and visits == "= 7"
    assert benchmark.startswith("= 10 visits in ")


@when_compiled
def test_without_a_network_there_are_no_parameters_of_its_search():
    without = Options(size=SIZE, visits=40, memory="32MB")
    listed, refused, human = converse(without, "kata-list-params\nkata-set-param cpuctExploration 1\nkata-raw-human-nn 0\n")
    assert "cpuct" not in listed and refused.startswith("? syntax error") and "--human-net" in human


@when_compiled
def test_a_search_can_be_cancelled(options):
    slow = replace(options, visits=10**9)
    for name, cancelled in (("kata-search_cancellable", "= cancelled"), ("kata-search_analyze_cancellable", "play cancelled")):
        answers = converse(slow, f"{name} b\nname\n")
        assert answers[0].splitlines()[-1] == cancelled and answers[1] == "= Anabranch"


class Human:
    """A human-like network's place: the interface that is asked for reports."""

    def __init__(self, net):
        self._net = net
        self.path, self.batch, self.model = net.path, net.batch, net.model

    def for_profile(self, profile):
        return Human(self._net)

    def opinion(self, *arguments):
        return self._net.opinion(*arguments)


@when_compiled
def test_a_human_like_network_tells_how_people_would_play(options):
    both = replace(options, human_net=Human(options.net))
    (without,) = answers_to(both, EVERYTHING)
    assert "humanPolicy" not in without
    (answer,) = answers_to(both, {**EVERYTHING, "overrideSettings": {"humanSLProfile": "rank_5k"}})
    assert len(answer["humanPolicy"]) == POINTS + 1 and all("humanPrior" in move for move in answer["moveInfos"])
    names = {"humanWinrate", "humanScoreMean", "humanScoreStdev", "humanStWrError", "humanStScoreError"}
    assert names <= set(answer["rootInfo"])
    commands = (
        "kata-raw-human-nn 0\nkata-set-param humanSLProfile rank_3d\nkata-get-param humanSLProfile\nkata-raw-human-nn w all\n"
    )
    refused, _, profile, raw = converse(both, commands)
    assert "has to be told who plays" in refused and profile == "= rank_3d"
    assert raw.count("whiteScoreSq ") == 8 and "whiteLead" not in raw and "varTimeLeft" not in raw
    (models,) = converse(both, "kata-get-models\n")
    assert len(json.loads(models[2:])) == 2


@when_compiled
def test_reports_come_during_the_search_with_the_same_fields(options):
    watched = {**EVERYTHING, "maxVisits": 10_000, "reportDuringSearchEvery": 0.05}
    *during, final = answers_to(options, watched)
    assert during and all(report["isDuringSearch"] for report in during) and not final["isDuringSearch"]
    assert all(set(report) == FIELDS and set(report["rootInfo"]) >= ROOT_FIELDS for report in during)


@when_compiled
def test_the_network_is_loaded_before_the_first_command(options, monkeypatch):
    loaded = []
    monkeypatch.setattr("anabranch.nets.katago.evaluator.KataGoModel", lambda *arguments: loaded.append(arguments))
    move, _, ownership = converse(options, "genmove b\nboardsize 6\nanabranch-ownership\n")
    assert move.startswith("= ") and len(ownership.split()) == 37 and not loaded


@when_compiled
def test_what_is_played_for_and_the_temperature_of_the_root_can_be_set(options):
    (plain,) = answers_to(options, GOOD)
    (win,) = answers_to(options, {**GOOD, "overrideSettings": {"staticScoreUtilityFactor": 0, "dynamicScoreUtilityFactor": 0}})
    assert win["rootInfo"]["utility"] == pytest.approx(2 * win["rootInfo"]["winrate"] - 1, abs=0.02)
    assert abs(plain["rootInfo"]["utility"] - (2 * plain["rootInfo"]["winrate"] - 1)) > 1e-3
    (error,) = answers_to(options, {**GOOD, "overrideSettings": {"dynamicScoreUtilityFactor": 7}})
    assert "dynamicScoreUtilityFactor must be a number from 0 to 1" in error["error"]
    (flat,) = answers_to(options, {**GOOD, "overrideSettings": {"rootPolicyTemperature": 50, "wideRootNoise": 0}})
    assert len(flat["moveInfos"]) >= len(plain["moveInfos"])
    said = converse(options, "kata-set-param rootPolicyTemperature 1.5\nkata-get-param rootPolicyTemperature\n")
    assert "1.5" in said[-1]
