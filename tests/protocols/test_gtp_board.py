"""The board over GTP: stones, turns, kos, komi and handicaps, and records of games."""

import json

import pytest

from anabranch.games.go import RULE_SETS
from anabranch.goengine.clock import TimeSettings
from anabranch.protocols import sgf
from tests.protocols.talk import Client, converse


def test_either_player_may_move_at_any_time():
    answers = converse("play b D4\nplay b E4\nplay b F4\nplay w pass\nplay w D5\nlist_stones b\nlist_stones w\nmove_history\n")
    assert answers[-3:-1] == ["= D4 E4 F4", "= D5"]
    assert answers[-1] == "= white D5\nwhite pass\nblack F4\nblack E4\nblack D4"


def test_a_game_goes_on_after_two_passes():
    answers = converse("play b D4\nplay w pass\nplay b pass\nplay w E5\nplay b pass\nplay w pass\nplay b pass\nlist_stones w\n")
    assert answers[-1] == "= E5" and all(answer.startswith("=") for answer in answers)


def test_a_ko_may_not_be_retaken_at_once_but_a_longer_cycle_is_the_arbiters_business():
    ko = "gogui-setup b B1 b A2 b B3 w C1 w D2 w C3 w B2\nplay b C2\n"
    assert converse(ko + "play w B2\n")[-1].startswith("? illegal move: B2")
    lifted = converse(ko + "play w pass\nis_legal w B2\nplay w B2\nplay b H9\nplay w H8\nplay b C2\nlist_stones w\n")
    assert lifted[3:] == ["= 0", "= ", "= ", "= ", "= ", "= C1 D2 C3 H8"]  # superko forbids what is played all the same


def test_komi_and_rules_can_change_in_mid_game_and_stones_stay():
    with Client() as client:
        for line in ("play b D4", "play w E5", "komi 0.5", "kata-set-rules japanese", "play b F6"):
            client.ok(line)
        assert client.ok("list_stones b") == "D4 F6" and client.ok("list_stones w") == "E5"
        assert client.engine.position.state.half_komi == 1
        assert client.engine.game.rules.scoring == "territory"
        client.ok("gg-undo 2")
        assert client.ok("list_stones b") == "D4"
        assert client.engine.position.game == client.engine.game


def test_handicap_stones_are_worth_what_the_rules_say():
    with Client(komi=0.5) as client:
        client.ok("fixed_handicap 4")
        assert client.engine.position.to_play == 1
        assert client.engine.game.komi == 4.5 and client.ok("get_komi") == "0.5"  # Chinese rules: a point a stone
        client.ok("kata-set-rules japanese")
        assert client.engine.game.komi == 0.5
        client.ok("clear_board")
        client.ok("kata-set-rules chinese")
        assert client.engine.game.komi == 0.5
        assert client.ok("place_free_handicap 3") == "C3 G7 C7"


@pytest.mark.parametrize("size", [2, 3, 5, 6, 9])
def test_free_handicap_stones_stand_apart_on_any_board(size):
    most = size * size - 1
    for count in {2, min(5, most), most - 1} - {1, 0}:
        with Client(size=size) as client:
            stones = client.ok(f"place_free_handicap {count}").split()
            assert len(set(stones)) == count == len(client.ok("list_stones b").split())


def test_a_game_is_written_and_read_back(tmp_path):
    path = tmp_path / "a game.sgf"  # a blank in the name, which GoGui puts into quotes
    with Client() as client:
        for line in ("fixed_handicap 2", "komi 0.5", "play w E5", "play b D4", "play b D5", f'printsgf "{path}"'):
            client.ok(line)
        board = client.ok("showboard")
    with Client(komi=7.5) as client:
        client.ok(f'loadsgf "{path}"')
        assert client.ok("showboard") == board
        assert client.ok("get_komi") == "0.5" and client.engine.handicap == 2
        client.ok(f'loadsgf "{path}" 2')
        assert client.ok("move_history") == "white E5"
        client.ok(f"loadsgf {path} 1")
        assert client.ok("move_history") == "" and client.ok("list_stones b") == "C3 G7"
    assert sgf.load(path).main_line() == [40, 30, 39]


def test_a_record_with_stones_set_up_on_the_way_begins_there(tmp_path):
    path = tmp_path / "setup.sgf"
    path.write_text("(;SZ[9];B[ee];W[cc];AB[aa][ba]AE[ee]PL[W];W[gg];B[hh])", encoding="utf-8")
    with Client() as client:
        client.ok(f"loadsgf {path}")
        assert client.ok("move_history") == "black H2\nwhite G3"
        assert client.ok("list_stones b") == "H2 A9 B9"


KO = "(;SZ[5]AB[ad][be][bc]AW[bd][ce][cc][dd]PL[B];B[cd];W[];B[];W[bd])"  # white takes back at once: an arbiter allowed it


def test_a_repetition_that_was_allowed_is_remembered_in_whatever_order_rules_are_set(tmp_path):
    path = tmp_path / "ko.sgf"
    path.write_text(KO, encoding="utf-8")
    legal = []
    for lines in (["kata-set-rule ko POSITIONAL", f"loadsgf {path}"], [f"loadsgf {path}", "kata-set-rule ko POSITIONAL"]):
        with Client(size=5, rules=RULE_SETS["chinese"].but(ko="simple")) as client:
            for line in lines:
                client.ok(line)
            legal.append((client.ok("all_legal b"), client.engine.position.past))
    assert legal[0] == legal[1] and "C2" not in legal[0][0].split()


def test_a_record_brings_its_rules_and_its_komi_and_leaves_ours_where_it_names_none(tmp_path):
    path = tmp_path / "rules.sgf"
    with Client() as client:
        path.write_text("(;SZ[9]RU[Japanese]KM[6.5];B[ee])", encoding="utf-8")
        client.ok(f"loadsgf {path}")
        assert json.loads(client.ok("kata-get-rules"))["scoring"] == "TERRITORY" and client.ok("get_komi") == "6.5"
        path.write_text("(;SZ[9];B[ee])", encoding="utf-8")
        client.ok("komi 5.5")
        client.ok(f"loadsgf {path}")
        assert json.loads(client.ok("kata-get-rules"))["scoring"] == "TERRITORY" and client.ok("get_komi") == "5.5"
        path.write_text("(;SZ[9]RU[Martian]KM[1];B[ee])", encoding="utf-8")
        client.ok(f"loadsgf {path}")
        assert json.loads(client.ok("kata-get-rules"))["scoring"] == "TERRITORY" and client.ok("get_komi") == "1"
        assert client.ok("printsgf -") == client.ok("printsgf")


def test_fischer_time_may_be_capped():
    with Client() as client:
        client.ok("kata-time_settings fischer-capped 60 10 65 8")
        assert client.engine.clock.settings == TimeSettings("fischer", 60, 10, 0, 65, 8)
        client.ok("kata-time_settings fischer-capped 60 10 -1 -1")
        assert client.engine.clock.settings == TimeSettings("fischer", 60, 10)
        assert client.ask("kata-time_settings fischer-capped 60 10 50 -1").startswith("? syntax error")
        assert "fischer-capped" in client.ok("kata-list_time_settings")


def test_numbers_come_back_as_they_were_given():
    lines = ["kata-set-param maxVisits 1234567", "kata-set-param maxTime 1234567.25", "anabranch-options resign 0.1234567"]
    answers = converse("\n".join([*lines, "kata-get-param maxVisits", "kata-get-param maxTime", "anabranch-options"]) + "\n")
    assert answers[3:5] == ["= 1234567", "= 1234567.25"]
    assert answers[5].splitlines() == [
        "= [string] visits 1234567", "[string] seconds 1234567.25", "[string] resign 0.1234567", "[bool] ponder 0",
    ]  # fmt: skip
    assert converse("komi 9999.5\nget_komi\nkomi -7\nget_komi\n")[1::2] == ["= 9999.5", "= -7"]
