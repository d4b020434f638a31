"""The engine as well-known programs talk to it. What they send and what they read out of the answers was taken from their
documentation and public sources:

Sabaki    docs/guides/engine-analysis-integration.md, src/modules/enginesyncer.js, and the package @sabaki/gtp
GoGui     its manual (Compatibility, Setup Commands, Interrupting Commands, Analyze Commands), GtpSynchronizer, GtpUtil
Lizzie    src/main/java/featurecat/lizzie/analysis/Leelaz.java and MoveData.java
kgsGtp    its manual, and KataGo's docs/GTP_Extensions.md for the time systems

KaTrain talks JSON: test_analysis.py.
"""

import re
import time

from tests.conftest import when_compiled
from tests.protocols.talk import Client

pytestmark = when_compiled


# --- Sabaki -------------------------------------------------------------------------------------------------------------------


def sabaki_reads(line):
    """Its parser: variations are split at `info`, keys and values come in pairs up to `pv`, and a point in the win rate says
    that it is a fraction."""
    before, _, owned = line.partition("ownership ")
    found = []
    for part in re.split(r"\s*info\s+", before)[1:]:
        variation = re.search(r"(pass|[A-Za-z]\d+)(\s+(pass|[A-Za-z]\d+))*$", part.strip())
        words = part.strip()[: variation.start()].split()[:-1]
        pairs = dict(zip(words[::2], words[1::2], strict=True))
        rate = float(pairs["winrate"]) * 100 if "." in pairs["winrate"] else float(pairs["winrate"]) / 100
        found.append((pairs["move"], int(pairs["visits"]), rate, variation[0].split()))
    return found, [float(number) for number in owned.split()]


def test_sabaki_starts_an_engine_and_keeps_it_in_step_with_its_board():
    with Client(visits=30) as client:
        for line in ("name", "version", "protocol_version", "list_commands"):
            client.send(line)  # all at once
        answers = [client.answer() for _ in range(4)]
        known = answers[3].removeprefix("= ").split("\n")
        assert {"analyze", "genmove_analyze", "undo", "set_free_handicap", "boardsize", "rectangular_boardsize"} <= set(known)
        assert client.ok("komi 6.5") == "" and client.ok("boardsize 9") == ""
        for line in ("clear_board", "play B E5", "play W C3", "undo", "play W G7"):
            client.ok(line)
        client.send("genmove_analyze B 20")
        lines = client.answer().split("\n")
        assert lines[0] == "=" and lines[-1].startswith("play ")
        moves, _ = sabaki_reads(lines[-2])
        assert moves and 0 <= moves[0][2] <= 100
        client.ok("rectangular_boardsize 7 9")
        client.ok("clear_board")
        client.ok("set_free_handicap C3 E7")


def test_sabaki_shows_an_analysis_and_breaks_it_off_with_another_command():
    with Client(visits=30) as client:
        client.ok("boardsize 9")
        for command in ("analyze B 20", "lz-analyze W 20", "kata-analyze B 20 ownership true"):
            client.send(command)
            assert client.line() == "="  # on a line of its own
            moves, owned = sabaki_reads(client.until("info "))
            assert sum(visits for _, visits, _, _ in moves) > 0
            assert len(owned) == (81 if "ownership" in command else 0)
            assert all(line[0] == name for name, _, _, line in moves)
            client.send("protocol_version")
            client.answer()
            assert client.answer() == "= 2"


# --- GoGui --------------------------------------------------------------------------------------------------------------------


def test_gogui_attaches_plays_goes_back_and_sets_up():
    with Client(visits=30) as client:
        assert client.ok("protocol_version") == "2"
        known = set(client.ok("list_commands").split())
        wanted = {
            "gogui-play_sequence", "gg-undo", "gogui-setup", "gogui-setup_player", "set_free_handicap", "gogui-interrupt",
            "gogui-analyze_commands", "kgs-genmove_cleanup", "final_status_list", "time_settings", "cputime", "gogui-title",
            "komi",
        }  # fmt: skip
        assert wanted <= known
        assert client.ok("name") and client.ok("version") and client.ok("gogui-title")
        for line in client.ok("gogui-analyze_commands").split("\n"):
            kind, label, command = line.split("/")
            assert kind in ("dboard", "gfx", "param", "string", "plist", "none") and label
            assert command.split()[0] in known
        client.ok("boardsize 9")
        client.ok("clear_board")
        client.ok("gogui-play_sequence b E5 w C3 b G7")
        client.ok("komi 6.5")
        client.ok("time_settings 0 1 0")  # its way to say: no limit
        assert client.engine.clock.budget(0, 30) is None
        client.ok("play w G3")
        client.ok("gg-undo 3")
        assert client.ok("move_history") == "black E5"
        assert re.fullmatch(r"[A-J][1-9]|pass", client.ok("genmove w"))
        client.ok("clear_board")
        client.ok("gogui-setup b A1 b B1 w J9")
        client.ok("gogui-setup_player w")
        assert client.engine.position.to_play == 1
        assert float(client.ok("cputime")) > 0


def test_gogui_gets_nothing_played_of_a_sequence_with_an_illegal_move():
    with Client() as client:
        client.ok("play b E5")
        assert client.ask("gogui-play_sequence w D4 b D5 w E5 b C3").startswith("? illegal move")
        assert client.ok("move_history") == "black E5"


def test_gogui_interrupts_and_shows_what_is_dead():
    with Client(visits=None, seconds=600) as client:
        client.engine.warm()
        client.send("genmove b")
        time.sleep(0.3)
        client.send("# interrupt")
        assert client.answer().startswith("= ")
        client.ok("boardsize 7")
        client.ok("gogui-setup b A3 b B3 b C3 b D3 b E3 b F3 b G3 b B5 b E5 w D6 w A1")
        dead = client.ok("final_status_list dead").split()
        assert "A1" in dead
        board = client.ok("anabranch-ownership").split("\n")
        assert len(board) == 7 and all(len(row.split()) == 7 for row in board)


# --- Lizzie -------------------------------------------------------------------------------------------------------------------


def lizzie_reads(line):
    """Its parser: words in pairs up to `pv`; a whole number in ten thousandths for Leela Zero, a fraction for KataGo."""
    found = []
    for part in line.removeprefix("info ").split(" info "):
        words = part.strip().split(" ")
        end = words.index("pv")
        found.append({**dict(zip(words[:end:2], words[1:end:2], strict=True)), "pv": words[end + 1 :]})
    return found


def test_lizzie_numbers_its_commands_and_reads_them_back():
    with Client(visits=30, version="0.17") as client:
        lines = ["1 name", "2 version", "3 boardsize 9", "4 komi 7.5", "5 lz-analyze 10"]
        for line in lines:
            client.send(line)
        assert client.answer() == "=1 Anabranch"
        version = client.answer().split(" ")
        assert version[0] == "=2" and int(version[1].split(".")[1]) >= 15  # it asks for 0.15 of Leela Zero, or later
        assert [client.answer().strip() for _ in range(2)] == ["=3", "=4"]
        assert client.line() == "=5"
        moves = lizzie_reads(client.until("info "))
        assert all(0 <= int(move["winrate"]) <= 10_000 and int(move["visits"]) > 0 and move["pv"] for move in moves)
        client.send("6 play B E5")
        client.send("7 kata-analyze 10 ownership true")
        client.answer()
        assert client.answer().strip() == "=6" and client.line() == "=7"
        line, _, owned = client.until("info ").partition(" ownership ")
        assert len(owned.split(" ")) == 81
        assert all(0 <= float(move["winrate"]) <= 1 and float(move["scoreMean"]) < 100 for move in lizzie_reads(line))
        client.send("8 undo")
        client.send("9 name")  # its way to stop
        client.answer()
        assert client.answer().strip() == "=8" and client.answer() == "=9 Anabranch"


def test_lizzie_plays():
    with Client(visits=None) as client:
        client.engine.warm()
        client.ok("1 time_settings 0 1 1")  # so many seconds for each move
        client.send("2 lz-genmove_analyze B 10")
        lines = client.answer().split("\n")
        assert lines[0] == "=2" and re.fullmatch(r"play [A-J][1-9]", lines[-1])
        client.ok("3 clear_board")
        assert len(client.ok("4 fixed_handicap 3").split()) == 3
        client.ok("5 clear_board")
        assert len(client.ok("6 place_free_handicap 2").split()) == 2
        client.send("7 lz-analyze 10 avoid w C3,D4 1")
        assert client.line() == "=7"
        assert not {"C3", "D4"} & {move["move"] for move in lizzie_reads(client.until("info "))}


# --- KGS ----------------------------------------------------------------------------------------------------------------------


def test_kgs_plays_a_game_with_a_clock_and_cleans_up():
    with Client(visits=30) as client:
        for line in (
            "boardsize 7", "komi 0.5", "clear_board", "kgs-rules japanese", "kgs-time_settings byoyomi 600 30 5",
            "time_left b 600 0", "time_left w 600 0",
        ):  # fmt: skip
            client.ok(line)
        client.ok("genmove b")
        client.ok("play w pass")
        client.ok("time_left b 25 3")  # in overtime: seconds of a period, and periods that are left
        assert 10 < client.engine.clock.budget(0, 20).seconds < 25
        client.ok("genmove b")
        for line in ("kgs-time_settings absolute 60", "kgs-time_settings canadian 60 30 5", "kgs-time_settings none"):
            client.ok(line)
        assert client.engine.clock.budget(0, 20) is None
        assert client.engine.game.rules.scoring == "territory"
        client.ok("kgs-genmove_cleanup b")
        assert client.ok("kgs-chat private somebody are you a robot?")
        client.ok("kgs-game_over")
        for rules in ("chinese", "aga", "japanese", "new_zealand"):
            client.ok(f"kgs-rules {rules}")
