"""The folder of a run: made once, opened again, locked, tidied; and what is refused."""

import os
import subprocess
import sys

import pytest

from anabranch.errors import AnabranchError, TrainingError
from anabranch.train.run import CHECKPOINTS, GAMES, KEPT_NETWORKS, NETWORKS, SETTINGS, Run, replace_file
from anabranch.train.settings import RunSettings, Settings

GAME = """
import numpy as np
import anabranch as ab

class Own(ab.Game):
    players, actions = 2, 3
    planes = 1, 1, 3
    state = np.dtype([("stones", "i4"), ("turn", "i1")])

    @ab.rule
    def setup(state):
        state.stones, state.turn = {stones}, 0

    @ab.rule
    def to_play(state):
        return state.turn

    @ab.rule
    def is_legal(state, action):
        return action < state.stones

    @ab.rule
    def play(state, action):
        state.stones -= action + 1
        state.turn = 1 - state.turn

    @ab.rule
    def is_over(state):
        return state.stones == 0

    @ab.rule
    def returns(state, out):
        out[1 - state.turn], out[state.turn] = 1.0, -1.0

    @ab.rule
    def encode(state, planes):
        planes[0] = state.stones / 10.0  # {comment}
"""

HOLD = """
import sys, time
from anabranch.train.run import Run

with Run(sys.argv[1]).locked("gate"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "tictactoe", Settings().but(run_disk="1KB", run_keep_checkpoints=2))


# --- beginning and opening ---


def test_a_run_is_opened_as_it_was_made(run):
    again = Run(run.path)
    assert again.settings == run.settings and again.game == run.game and again.game_name == "tictactoe"
    assert (again.networks, again.checkpoints, again.game_files, again.network_in_use) == ([], [], [], None)


def test_a_folder_has_one_run(run):
    before = (run.path / SETTINGS).read_bytes()
    with pytest.raises(TrainingError, match="has a run already; continue it, or name another folder"):
        Run.create(run.path, "connectfour")
    assert (run.path / SETTINGS).read_bytes() == before


def test_games_of_an_earlier_run_are_not_taken_over(run):
    (run.path / GAMES / "00-000000.games").write_bytes(b"")
    (run.path / SETTINGS).unlink()
    with pytest.raises(TrainingError, match="games has files of an earlier run"):
        Run.create(run.path, "connectfour")


def test_a_folder_may_have_other_files(tmp_path):
    (tmp_path / "notes.txt").write_text("for later")
    assert Run.create(tmp_path, "tictactoe").game_name == "tictactoe"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrainingError, match="cannot be written: Not a directory"):
        Run.create(tmp_path / "file" / "run", "tictactoe")


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"run_disk": "lots"}, "run.disk = 'lots': must be an amount of memory"),
        ({"self_play_memory": ""}, "self_play.memory = '': must be"),
        ({"self_play_cache": "-1MB"}, "self_play.cache = '-1MB': must be"),
    ],
)
def test_settings_that_cannot_be_used_leave_no_run_behind(tmp_path, settings, complaint):
    with pytest.raises(TrainingError, match=complaint):
        Run.create(tmp_path / "run", "tictactoe", Settings().but(**settings))
    assert not (tmp_path / "run").exists()


def test_a_game_without_planes_has_no_residual_network(tmp_path):
    with pytest.raises(TrainingError, match=r"network\.size = 'tiny': Nim\(\) has no `planes`, .* leave it at \"auto\""):
        Run.create(tmp_path / "run", "nim", Settings().but(network_size="tiny"))
    assert not (tmp_path / "run").exists()


def test_settings_that_were_never_checked_leave_no_run_behind(tmp_path):
    with pytest.raises(TrainingError, match=r"run\.keep_checkpoints = 0: must be at least 1"):
        Run.create(tmp_path / "run", "tictactoe", Settings(run=RunSettings(keep_checkpoints=0)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("game", "complaint"),
    [
        ("tests.train.games:Crowd", "its record of 100,002 values is too large for networks to see as it is"),
        ("tictactow", "did you mean tictactoe"),
        ("no.py:Game", "no file"),
    ],
)
def test_games_that_cannot_be_learnt(tmp_path, game, complaint):
    with pytest.raises(AnabranchError, match=complaint):
        Run.create(tmp_path / "run", game)
    assert not (tmp_path / "run").exists()


def test_what_is_no_run(tmp_path, run):
    with pytest.raises(TrainingError, match=r"is not a run of training: it has no run\.toml"):
        Run(tmp_path)
    text = (run.path / SETTINGS).read_text()
    (run.path / SETTINGS).write_text(text.partition("\n")[2])
    with pytest.raises(TrainingError, match=r"run\.toml: there is no line game = \.\.\."):
        Run(run.path)
    (run.path / SETTINGS).write_text(text.replace('disk = "1KB"', 'disk = "1XB"'))
    with pytest.raises(TrainingError, match=r"run\.toml: run\.disk = '1XB': must be an amount of memory"):
        Run(run.path)


# --- the rules of the game ---


def forget(path):
    """Let the next look at a game's file read it anew."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(path):
            del sys.modules[name]


def test_rules_that_have_changed_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / "own.py"
    path.write_text(GAME.format(stones=10, comment="stones"))
    run = Run.create(tmp_path / "run", f"{path}:Own")
    forget(path)
    path.write_text(GAME.format(stones=10, comment="another comment"))
    assert Run(run.path).game.start().state.stones == 10
    forget(path)
    path.write_text(GAME.format(stones=12, comment="stones"))
    with pytest.raises(TrainingError, match=r"the rules of .*own\.py:Own have changed since"):
        Run(run.path)
    forget(path)
    path.write_text(GAME.format(stones=10, comment="stones"))
    Run(run.path)
    forget(path)


def test_a_game_in_a_file_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(GAME.format(stones=10, comment="stones"))
    run = Run.create("run", "mine.py:Own")
    monkeypatch.chdir("/")
    assert Run(tmp_path / "run").game == run.game


# --- locks ---


def test_a_part_is_worked_on_once_at_a_time(run):
    with run.locked("learner"):
        with (
            pytest.raises(TrainingError, match=r"another process works on .* \(learner\)"),
            run.locked("learner"),
        ):
            pass
        with run.locked("gate"):
            pass
    with run.locked("learner"):
        pass


def test_a_lock_ends_with_its_process(run):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(run.path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(TrainingError, match="another process"), run.locked("gate"):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with run.locked("gate"):
        pass


def test_a_lock_in_a_folder_that_is_gone(run):
    (run.path / SETTINGS).unlink()
    for folder in run.path.iterdir():
        folder.rmdir()
    run.path.rmdir()
    with pytest.raises(TrainingError, match=r"gate\.lock cannot be written"), run.locked("gate"):
        pass


# --- networks ---


def test_the_network_in_use_is_the_one_named(run):
    path = run.path / NETWORKS / "000003.onnx"
    path.write_bytes(b"x")
    run.use(path)
    assert run.network_in_use == path
    path.unlink()
    assert run.network_in_use is None


def test_networks_and_checkpoints_are_in_the_order_of_their_numbers(run):
    for number in (10, 2, 100):
        (run.path / NETWORKS / f"{number}.onnx").touch()
        (run.path / CHECKPOINTS / f"{number}.pt").touch()
    for other in ("a.onnx", "2.onnx.txt", "-1.onnx", ".000001.onnx.5.part"):
        (run.path / NETWORKS / other).touch()
    assert [path.stem for path in run.networks] == [path.stem for path in run.checkpoints] == ["2", "10", "100"]


def test_only_files_of_workers_are_games(run):
    for name in ("00-000001.games", "00-000000.games", "10-000000.games", "00-000000 (copy).games", "a.games", "00-000002.txt"):
        (run.path / GAMES / name).touch()
    assert [path.name for path in run.game_files] == ["00-000000.games", "00-000001.games", "10-000000.games"]


# --- files appear whole ---


def test_a_file_that_is_being_replaced_stays_as_it_was_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")

    def fail(partial):
        partial.write_text("ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        replace_file(path, fail)
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["a"]
    replace_file(path, lambda partial: partial.write_text("new"))
    assert path.read_text() == "new" and os.listdir(tmp_path) == ["a"]


# --- tidying ---


def filled(run, workers=2, files=3):
    """Files of games of 1,000 bytes, each later than the one before; their names."""
    names = []
    for number in range(files):
        for worker in range(workers):
            path = run.path / GAMES / f"{worker:02}-{number:06}.games"
            path.write_bytes(b"x" * 1000)
            os.utime(path, (len(names), len(names)))
            names.append(path.name)
    return names


def kept(run):
    return {path.name for path in run.game_files}


def test_games_that_are_learnt_from_are_never_deleted(run):
    names = filled(run)
    run.tidy()
    assert kept(run) == set(names)


def test_the_latest_file_of_each_worker_is_never_deleted(run):
    names = filled(run)
    run.tidy(names)
    assert kept(run) == {"00-000002.games", "01-000002.games"}


def test_the_oldest_games_go_first_and_no_more_than_necessary(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe", Settings().but(run_disk="4KB"))
    names = filled(run)
    run.tidy(names[:4])
    assert kept(run) == set(names[2:])


def test_within_the_limit_everything_stays(tmp_path):
    run = Run.create(tmp_path / "run", "tictactoe")
    names = filled(run)
    run.tidy(names)
    assert kept(run) == set(names)


def test_the_network_in_use_and_the_latest_ones_stay(run):
    paths = [run.path / NETWORKS / f"{number:06}.onnx" for number in range(KEPT_NETWORKS + 3)]
    for path in paths:
        path.write_bytes(b"x" * 1000)
    run.use(paths[1])
    run.tidy()
    assert run.networks == [paths[1], *paths[3:]]
    assert run.network_in_use == paths[1]


def test_so_many_checkpoints_are_kept(run):
    for number in range(5):
        (run.path / CHECKPOINTS / f"{number:08}.pt").write_bytes(b"x")
    run.tidy()
    assert [path.name for path in run.checkpoints] == ["00000003.pt", "00000004.pt"]


def test_what_killed_writers_left_is_deleted_and_what_is_being_written_is_not(run):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = [run.path / f".run.toml.{ended.pid}.part", run.path / NETWORKS / f".000001.onnx.{ended.pid}.part"]
    left.append(run.path / NETWORKS / ".strange.part")
    fresh = run.path / CHECKPOINTS / f".00000001.pt.{os.getpid()}.part"
    for path in [*left, fresh]:
        path.touch()
    run.tidy()
    assert fresh.exists() and not any(path.exists() for path in left)
