"""What goes on over GTP while a search runs: analysis that ends with the next line, interruption, pondering."""

import re
import time

import pytest

from anabranch.games.go import Go
from anabranch.goengine.estimate import Estimate, estimate
from anabranch.goengine.report import lower_bound, report_of
from anabranch.protocols.info_lines import kata_line, lz_line
from tests.conftest import when_compiled
from tests.protocols.talk import Client, seconds_for

pytestmark = when_compiled
AT_ONCE = 0.2  # seconds in which an analysis ends


@pytest.fixture
def client():
    with Client(visits=None, seconds=600) as found:  # nothing ends by itself
        found.engine.warm()
        yield found


def pairs_of(line):
    """What a line says of each move, as clients read it: keys and values, and the line behind `pv`."""
    found = []
    for part in re.split(r"\s*info\s+", line)[1:]:
        values, _, variation = part.partition(" pv ")
        words = values.split()
        found.append({**dict(zip(words[::2], words[1::2], strict=True)), "pv": variation.split()})
    return found


# --- analysis -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ending", ["name", "", "# a comment", "lz-analyze 10"], ids=["command", "newline", "comment", "analysis"]
)
@pytest.mark.parametrize("command", ["lz-analyze b 10", "kata-analyze 10"])
def test_an_analysis_goes_on_until_the_next_line_and_ends_at_once(client, command, ending):
    times = []
    while not times or (min(times) >= AT_ONCE and len(times) < 4):  # a busy machine may be late, but not always
        client.send(f"7 {command}")
        assert client.line() == "=7"
        assert client.line().startswith("info move ") and client.line().startswith("info move ")
        client.send(ending)
        times.append(seconds_for(client.answer))
        if ending == "name":
            assert client.answer() == "= Anabranch"
        elif ending.startswith("lz-"):
            assert client.ask("").startswith("=")
    assert min(times) < AT_ONCE
    assert client.ok("name") == "Anabranch"


def test_ends_are_quick_on_the_median_also_if_the_machine_is_busy(client):
    times = []
    for _ in range(9):
        client.send("kata-analyze 10 ownership true")
        client.until("info move ")
        client.send("")
        times.append(seconds_for(client.answer))
    assert sorted(times)[len(times) // 2] < AT_ONCE / 2


def test_an_analysis_does_not_change_the_game(client):
    client.ok("play b E5")
    before = client.ok("showboard")
    for command in ("lz-analyze 10", "kata-analyze b 10", "analyze w 10"):
        client.send(command)
        client.until("info move ")
        client.ask("")
    assert client.ok("showboard") == before


def test_lines_come_as_often_as_was_asked_for(client):
    client.send("lz-analyze interval 50")
    client.until("info move ")
    began = time.monotonic()
    for _ in range(3):
        client.until("info move ")
    assert 1.0 < time.monotonic() - began < 5.0
    client.send("")


def test_what_leela_zero_would_write(client):
    client.send("lz-analyze b 30")
    moves = pairs_of(client.until("info "))
    assert [move["order"] for move in moves] == [str(order) for order in range(len(moves))]
    assert len(moves) > 20 and {move["move"] for move in moves} <= {*map(Go(9).name_of, range(82))}
    for move in moves:
        assert set(move) == {"move", "visits", "winrate", "prior", "lcb", "order", "pv"}
        assert move["pv"][0] == move["move"]
        assert 0 <= int(move["lcb"]) <= int(move["winrate"]) + 5000 and 0 <= int(move["winrate"]) <= 10_000
    visits = [int(move["visits"]) for move in moves]
    assert visits == sorted(visits, reverse=True)


def test_what_katago_would_write(client):
    client.ok("play b E5")
    client.send("kata-analyze W 30 maxmoves 3 ownership true rootInfo true")
    line = client.until("info ")
    line, _, owned = line.partition(" ownership ")
    line, _, root = line.partition(" rootInfo ")
    moves = pairs_of(line)
    assert len(moves) == 3
    for move in moves:
        assert {"visits", "winrate", "scoreLead", "scoreMean", "scoreStdev", "lcb", "prior", "order", "utility"} <= set(move)
        assert 0 <= float(move["winrate"]) <= 1 and "." in move["winrate"]  # by the point Sabaki tells it from Leela Zero's
    numbers = [float(number) for number in owned.split()]
    assert len(numbers) == 81 and all(-1 <= number <= 1 for number in numbers)
    assert numbers[40] < 0  # E5 is black's, and the numbers are white's
    assert root.split()[0] == "visits"


def test_fewer_and_more_moves(client):
    client.send("lz-analyze b 10 maxmoves 2")
    assert client.until("info ").count("info move") == 2
    client.ask("")
    client.send("lz-analyze b 10 minmoves 82")
    assert client.until("info ").count("info move") == 82


def test_what_is_to_be_avoided_is_neither_shown_nor_played(client):
    client.send("lz-analyze b 10 avoid b E5,D4,pass 1 avoid w C5,C6,E4,F5,G5 1")
    shown = {move["move"] for move in pairs_of(client.until("info "))}
    assert not {"E5", "D4", "pass"} & shown
    assert {"C5", "C6", "E4", "F5", "G5"} & shown  # those are white's
    client.ask("")
    client.ok("kata-set-param analysisWideRootNoise 1")
    client.ok("clear_board")
    client.send("lz-analyze b 10 allow b A1,B1 1")
    moves = pairs_of(client.until("info "))
    assert {move["move"] for move in moves} == {"A1", "B1"} and all(int(move["visits"]) > 0 for move in moves)
    client.ask("")
    client.ok("kata-set-param maxVisits 30")
    assert client.ask("kata-genmove_analyze b 10 allow b A1 1").endswith("\nplay A1")


# --- moves --------------------------------------------------------------------------------------------------------------------


def test_a_move_is_interrupted_by_a_comment_and_still_played(client):
    client.send("genmove b")
    time.sleep(0.5)
    client.send("# interrupt")
    began = time.monotonic()
    answer = client.answer()
    assert time.monotonic() - began < 2.0
    assert re.fullmatch(r"= [A-J][1-9]", answer)
    assert len(client.ok("list_stones b").split()) == 1


def test_an_interruption_does_not_reach_the_next_move(client):
    client.send("# interrupt")
    client.ok("kata-set-param maxVisits 100000")
    client.send("genmove b")
    time.sleep(0.4)
    client.send("# interrupt")
    client.answer()
    client.ok("kata-set-param maxTime 1")
    assert seconds_for(lambda: client.ok("genmove w")) > 0.5


def test_while_a_move_is_found_lines_come_and_no_other_line_disturbs(client):
    client.ok("kata-set-param maxTime 1")
    client.send("5 lz-genmove_analyze b 20")
    client.send("6 name")
    assert re.fullmatch(r"=5\n(info move .*\n){2,}play [A-J][1-9]", client.answer())
    assert client.answer() == "=6 Anabranch"
    assert len(client.ok("list_stones b").split()) == 1


def test_the_search_goes_on_while_the_opponent_thinks():
    with Client(visits=100, ponder=True) as client:
        client.engine.warm()
        client.ok("genmove b")
        time.sleep(1.0)
        search = client.engine._search
        assert client.ok("time_left w 100 0") == "" and client.ok("name") == "Anabranch"  # these do not end it
        client.engine.stop()
        root, reply = search.position, search.run(visits=1).best_name
        client.ok(f"play w {reply}")
        assert root == client.engine.history[-2]
        assert client.engine.choose(0).result.stats.kept > 5
        client.ok("genmove b")
        client.ok("kgs-game_over")
        assert not client.engine._running


def test_the_end_of_the_input_ends_everything():
    with Client(visits=None, seconds=600, ponder=True) as client:
        client.engine.warm()
        client.send("kata-analyze b 10")
        client.until("info move")
    assert not client.engine._running


# --- numbers ------------------------------------------------------------------------------------------------------------------


def test_a_lower_bound_is_below_the_rate_and_rises_with_visits():
    bounds = [lower_bound(0.6, visits) for visits in (0, 1, 10, 100, 10_000)]
    assert bounds == sorted(bounds) and bounds[-1] < 0.6
    assert bounds[0] == 0 and lower_bound(1.0, 10**6) > 0.99


def test_points_agree_with_win_rates():
    guess = Estimate(ownership=None, lead=10.0, spread=8.0)
    even = guess.leads(0, 0.5, 1000)
    assert even.lead == 0 and even.of(0.6, 1000) > 0 > even.of(0.4, 1000)
    won = guess.leads(0, 0.999, 100_000)
    assert won.lead > 10 and won.of(0.9, 100_000) < won.lead
    assert Estimate(None, 40.0, 5.0).leads(0, 1.0, 1000).lead == 40.0  # decided: the mean counts
    assert Estimate(None, 40.0, 5.0).leads(1, 0.0, 1000).lead == -40.0


def test_an_estimate_follows_the_expected_line_and_knows_komi():
    game = Go(9, komi=0.5)
    ahead = game.position(["E5", "pass", "D4", "pass", "F6", "pass", "D6", "pass"])
    guess = estimate(ahead)
    assert guess.lead > 0 and guess.spread > 1 and guess.ownership.shape == (81,)
    assert guess.ownership[game.action("E5")] > 0.5
    assert estimate(Go(9, komi=80.5).position(ahead.moves)).lead < guess.lead - 70
    wall = estimate(game.start(), line=[game.action(name) for name in ("E5", "pass") * 6])  # illegal from the second E5 on
    assert wall.lead > -40


def test_reports_put_what_will_be_played_first():
    import anabranch as ab

    game = Go(9)
    result = ab.Search(game, graph=True, memory="64MB").run(game.start(), visits=60)
    report = report_of(result, game.start())
    assert report.moves[0].action == result.best and report.points is None
    assert len(report.moves) == sum(move.visits > 0 for move in result.moves)
    assert "score" not in kata_line(report, game) and "ownership" not in kata_line(report, game, {"ownership"})
    assert lz_line(report.at_most(1), game).count("info") == 1
