"""What training shows on a terminal, elsewhere, and afterwards."""

import pytest
from rich.cells import cell_len

from anabranch.cli import show_train
from anabranch.cli.show_train import Screen, print_summary
from anabranch.cli.train import check_same, parsed
from anabranch.errors import TrainingError
from anabranch.train.run import Run
from anabranch.train.settings import Settings
from tests.cli.conftest import unstyled

HOSTILE = "[/75] [bold]x[/bold] :ant: \x1b[2J"


@pytest.fixture
def run(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe", Settings().but(self_play_select="puct", self_play_noise_weight=0.0))
    stats = {"evaluations": 900, "hits": 100, "seconds": 1.0}
    facts = {"games": 40, "rows": 300, "entropy": 1.25, "scores": {"draw": 40}, "of_network": stats}
    run.log.add("self-play", worker=0, network="000001.onnx", seconds=10.0, **facts)
    run.log.add("step", step=700, window=300, loss=1.5, policy=1.25, value=0.25, entropy=1.1, value_accuracy=0.75, rate=2e-3)
    run.log.add("gate", network=2, against=1, score=0.6, games=50, accepted=True, elo=70.0)
    run.log.add("rating", network=2, elo=321.0, low=250.0, high=390.0, anchors={"random": 0.0})
    run.log.add("time", seconds=600.0, of=7200.0)
    run.log.add("state", part="self-play 0", doing=f"playing {HOSTILE}")
    return run


@pytest.fixture
def every_time(monkeypatch):
    for name in ("DRAW_EVERY", "PLAIN_EVERY", "CHECK_EVERY"):
        monkeypatch.setattr(show_train, name, 0.0)


def updated(run, times=2):
    with Screen() as screen:
        for _ in range(times):
            screen.update(run)


def test_a_terminal_has_a_screen_that_fits_it(run, terminal, capsys, every_time):
    terminal(60)
    updated(run)
    out = capsys.readouterr().out
    shown = unstyled(out)
    wanted = ["1 h 50 min left", "4 games/s", "90 evaluations/s", "1.250 nats", "1.500 (policy 1.250, value 0.250)"]
    for words in [*wanted, "who wins 75%", "Elo 321", "noise is off", "self-play 0"]:
        assert words in " ".join(shown.split()), words
    assert all(cell_len(line) <= 60 for line in shown.splitlines())


def test_lines_are_at_most_80_columns_however_wide_the_terminal_is(run, terminal, capsys, every_time):
    terminal(200)
    updated(run)
    shown = unstyled(capsys.readouterr().out)
    assert all(len(line.rstrip()) <= 80 for line in shown.splitlines())
    assert "\x1b" not in shown and "\ufffd[2J" in shown and "[bold]x[/bold] :ant:" in " ".join(shown.split())


def test_without_a_terminal_there_is_a_plain_line_and_each_finding_once(run, capsys, every_time):
    updated(run, times=3)
    _, err = capsys.readouterr()
    lines = err.splitlines()
    assert len([line for line in lines if line.startswith("tictactoe: 40 games, 300 positions")]) == 3
    assert len([line for line in lines if line.startswith("warning: noise is off")]) == 1


def test_a_plain_line_comes_every_30_seconds_and_no_more_often(run, capsys):
    updated(run, times=5)
    assert capsys.readouterr().err.count("tictactoe:") == 1


def test_the_summary_says_what_to_do(run, capsys):
    print_summary(run, run.path / "report.html")
    out = capsys.readouterr().out
    assert "Elo 321 (250 to 390) for network 2" in out and "2 accepted with 60% of points" not in out  # none is in use yet
    assert 'self_play.select = "gumbel"' in out and str(run.path / "report.html") in out


def test_an_empty_run_has_a_summary(tmp_path, capsys):
    print_summary(Run.create(tmp_path / "run", "pyrat"))
    assert "0 games, 0 positions" in capsys.readouterr().out


def test_the_same_command_continues_a_run_and_other_settings_are_refused(run):
    check_same(run, parsed(["self_play.select=puct", "self_play.noise_weight=0"]))
    with pytest.raises(TrainingError, match=r"--set self_play.visits=64: .* another value; change it in .*run.toml"):
        check_same(run, parsed(["self_play.select=puct", "self_play.visits=64"]))
    with pytest.raises(TrainingError, match="did you mean `visits`"):
        check_same(run, parsed(["self_play.visit=64"]))
