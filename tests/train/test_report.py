"""The page of a run: it has every section, whatever games and logs contain, and what cannot be shown harms nothing else."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from anabranch.games import TicTacToe
from anabranch.games.registry import load
from anabranch.train import report as report_module
from anabranch.train.curves import MOST_POINTS, Curve, line_chart, thinned
from anabranch.train.game_file import GameWriter, PlayedGame, row_type
from anabranch.train.opinions import evenly
from anabranch.train.replays import Drawings, latest_games, replay_of, replays
from anabranch.train.report import write_report
from anabranch.train.run import Run
from anabranch.train.settings import Settings
from tests.conftest import needs

HOSTILE = '</script><script>alert("x")</script>\x1b[2J&<b>'
SECTIONS = ["Findings", "Curves", "New networks", "The latest games", "What the networks think of the start", "Settings"]


class Page(HTMLParser):
    """What a browser would make of it, as far as tests ask."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.attributes, self.titles, self.inside = [], [], [], ""
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes
        self.inside = tag

    def handle_data(self, data):
        if self.inside == "h2" and data.strip():
            self.titles.append(data)

    @property
    def charts(self):
        return re.findall(r"<figure>(.*?)</figure>", self.text, re.DOTALL)

    @property
    def games(self):
        found = re.search(r'<script type="application/json" id="games">(.*?)</script>', self.text, re.DOTALL)
        return json.loads(found[1])


def drawing(data, number):
    is_text, *runs = data["drawings"][number]
    return is_text, "".join("".join(data["pieces"][first : first + n]) for first, n in zip(runs[::2], runs[1::2], strict=True))


def played(game, moves, number=0, **facts):
    position = game.start()
    rows = np.zeros(len(moves), row_type(game))
    for ply, move in enumerate(moves):
        rows[ply]["ply"] = ply
        rows[ply]["policy"][: game.actions] = 1.0 / game.actions
        position = position.play(move)
    usual = {"network": "000001.onnx", "opening": 0, "returns": list(position.returns), "ending": "over"}
    return PlayedGame(**{"worker": 0, "number": number, "moves": moves, "rows": rows} | usual | facts)


def write_games(run, games, worker=0, file=0):
    writer = GameWriter(run.path / "games" / f"{worker:02}-{file:06}.games", {"game": run.game_name})
    for game in games:
        writer.write(game)
    writer.close()


WON = [0, 3, 1, 4, 2]  # X takes the first row
DRAWN = [0, 4, 2, 1, 7, 3, 5, 8, 6]


@pytest.fixture
def run(tmp_path):
    """A run with a log and two games."""
    run = Run.create(tmp_path / "run", "tictactoe")
    write_games(run, [played(run.game, WON, 0), played(run.game, DRAWN, 1, opening=1)])
    for n in range(3):
        scores = {"first": 1, "draw": 1}
        run.log.add("self-play", worker=0, seconds=1.0, games=2, rows=14, entropy=1.0, scores=scores, of_network={})
        run.log.add("step", step=n, rows=14 * n, window=14, loss=2.0, policy=1.5, value=0.5, entropy=1.0, accuracy=0.5)
        run.log.add("gate", network=n, against=0, score=0.5, games=10, accepted=n != 1, elo=5.0, low=-40.0, high=50.0)
        run.log.add("rating", network=n, elo=100.0 * n, low=100.0 * n - 30, high=None, anchors={"random": 0.0, HOSTILE: 200.0})
    run.log.add("time", seconds=30.0, of=60.0)
    return run


def test_the_page_has_all_sections_and_needs_no_other_host(run):
    page = Page(write_report(run))
    assert page.titles == SECTIONS and "This cannot be shown" not in page.text
    assert page.tags.count("script") == 2 and "link" not in page.tags
    assert not [value for name, value in page.attributes if name in ("src", "href")]
    assert "30 s left" in page.text and "No known fault" in page.text and "refused" in page.text


def test_the_page_of_an_empty_run_says_what_is_missing(tmp_path):
    page = Page(write_report(Run.create(tmp_path / "run", "tictactoe")))
    assert page.titles == SECTIONS
    for words in ("nothing in the log", "No game has ended", "There is no network", "No network has been tried"):
        assert words in page.text


def test_charts_are_well_formed_and_show_what_the_log_has(run):
    charts = Page(write_report(run)).charts
    titles = []
    for chart in charts:
        tree = ElementTree.fromstring(chart)
        titles.append(next(each.text for each in tree.iter() if each.get("font-weight") == "bold"))
    assert titles[:3] == ["Elo", "Loss", "Entropy of policies, nats"] and "Norm of gradients" not in titles


def test_text_from_files_is_escaped(run, monkeypatch):
    monkeypatch.setattr(TicTacToe, "name_of", lambda self, action: HOSTILE)
    monkeypatch.setattr(TicTacToe, "player_names", (HOSTILE, HOSTILE))
    run.log.add("gate", network=HOSTILE, against=HOSTILE, score=0.5, games=1, accepted=True)
    run.log.add("state", part=HOSTILE, doing=HOSTILE)
    page = Page(write_report(run))
    assert page.tags.count("script") == 2 and "b" not in page.tags and "\x1b" not in page.text
    assert HOSTILE in page.games["games"][0]["moves"][0]


def test_games_are_the_latest_first_and_can_be_stepped_through(run):
    data = Page(write_report(run)).games
    titles = [game["title"] for game in data["games"]]
    assert titles == ["game 1: draw, 9 plies", "game 0: X won, 5 plies"]
    game = data["games"][1]
    assert (len(game["frames"]), len(game["moves"]), len(game["words"])) == (6, 5, 6)
    position = load("tictactoe").position(WON)
    assert drawing(data, game["frames"][-1]) == (0, position.svg())
    assert game["moves"][0] == "X: a1" and "value +0.00 for whoever moves" in game["words"][0] and game["words"][-1] == ""
    assert data["games"][0]["frames"][0] == game["frames"][0]  # the start is drawn once


def test_workers_take_turns_and_newer_files_come_first(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe")
    for worker in (0, 1):
        for file in (0, 1):
            write_games(run, [played(run.game, WON, 10 * file + n, worker=worker) for n in range(3)], worker, file)
    assert [(game.worker, game.number) for game in latest_games(run, 8)] == [
        *((0, 12), (1, 12), (0, 11), (1, 11), (0, 10), (1, 10), (0, 2), (1, 2))
    ]


def test_games_are_left_out_where_there_is_no_room(tmp_path):
    run = Run.create(tmp_path / "run", "connectfour")
    write_games(run, [played(run.game, [n % 7, (n + 1) % 7] * 3, n) for n in range(6)])
    assert len(replays(run)[0]) == 6
    few, drawings = replays(run, room=7_000)
    assert 1 <= len(few) < 6 and drawings.size < 10_000
    assert len(replays(run, seconds=0.0)[0]) == 1
    (cut,) = replays(run, room=1)[0]
    assert "only the first 0 plies" in cut.about and len(cut.frames) == 1


def test_drawings_share_what_they_have_in_common():
    drawings, game = Drawings(), load("pyrat")
    numbers = [drawings.add(game.position(["up/left"] * n).svg(), is_text=False) for n in (0, 0, 1)]
    assert numbers == [0, 0, 1]
    assert drawings.size < 1.2 * sum(map(len, drawings.pieces)) + 12_000 < 1.5 * len(game.start().svg()) + 20_000


def test_pairs_of_moves_are_replayed_and_have_names():
    game = load("pyrat")
    replay = replay_of(game, played(game, [[0, 1], [1, 0]], returns=[1.0, 0.5]), Drawings())
    assert replay.moves == [f"both: {game.pair_name((0, 1))}", f"both: {game.pair_name((1, 0))}"]
    assert "; |" not in replay.words[0] and " | " in replay.words[0] and "0.5" in replay.title


def test_a_game_whose_drawing_fails_is_shown_as_text(run, monkeypatch):
    monkeypatch.setattr(TicTacToe, "svg", lambda self, state: 1 / 0)
    data = Page(write_report(run)).games
    is_text, shown = drawing(data, data["games"][0]["frames"][0])
    assert is_text and shown == str(load("tictactoe").start())
    monkeypatch.setattr(TicTacToe, "text", lambda self, state: 1 / 0)
    data = Page(write_report(run)).games
    assert "cannot be shown" in drawing(data, 0)[1]


def test_a_game_of_other_rules_is_shown_as_far_as_it_goes(run):
    game = played(run.game, WON)
    game.moves = [0, 0, 1]
    replay = replay_of(run.game, game, Drawings())
    assert "cannot be shown beyond ply 1" in replay.about and len(replay.frames) == 2


def test_files_that_vanish_or_are_damaged_harm_nothing(run, monkeypatch):
    (run.path / "games" / "01-000000.games").write_bytes(b"no games")
    (run.path / "networks" / "000001.onnx").write_bytes(b"no network")
    gone = [*run.game_files, run.path / "games" / "02-000000.games"]
    monkeypatch.setattr(Run, "game_files", property(lambda self: gone))
    page = Page(write_report(run))
    assert len(page.games["games"]) == 2 and "This cannot be shown" not in page.text


def test_a_section_that_cannot_be_made_says_why_and_the_others_are_there(run, monkeypatch):
    def fail(run):
        raise ValueError(f"no curves {HOSTILE}")

    monkeypatch.setattr(report_module, "curves", fail)
    page = Page(write_report(run))
    assert page.titles == SECTIONS and "This cannot be shown: ValueError: no curves &lt;/script" in page.text


def test_the_latest_opinions_about_the_start_are_shown(tmp_path):
    needs("torch", "onnxruntime")
    from anabranch.nets.model import export, make_model

    run = Run.create(tmp_path / "run", "tictactoe", Settings().but(network_size="tiny"))
    for number in (0, 3):
        export(make_model(run.game, blocks=1, channels=4), run.game, run.path / "networks" / f"{number:06}.onnx")
    page = Page(write_report(run))
    assert [chart for chart in page.charts if "Policy at the start" in chart and "b2" in chart]
    assert [chart for chart in page.charts if "Value of the start" in chart]


def test_networks_are_chosen_evenly_with_both_ends():
    assert evenly(list(range(5)), 20) == [0, 1, 2, 3, 4]
    chosen = evenly(list(range(100)), 20)
    assert len(chosen) == 20 and chosen[0] == 0 and chosen[-1] == 99


def test_long_lines_are_thinned_and_one_value_has_a_scale():
    assert len(thinned([(float(n), 1.0) for n in range(5000)])) == MOST_POINTS
    ElementTree.fromstring(line_chart("one", [Curve("x", [(0.0, 0.0)])], ("hours", 0.0, 0.0)))
    ElementTree.fromstring(line_chart("flat", [Curve("x", [(0.0, 7.0), (1.0, 7.0)])], ("hours", 0.0, 1.0)))
