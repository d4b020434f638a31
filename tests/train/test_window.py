"""The window: the latest rows, drawn by weight, the same after a restart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anabranch.train.game_file import GameWriter, PlayedGame, row_type
from anabranch.train.run import GAMES, Run
from anabranch.train.settings import LearnerSettings, Settings
from anabranch.train.window import FIRST_ROOM, Window, window_size
from tests.reference import training


class Players:
    """Workers that write games of numbered rows: the number is in `left` and `reply`."""

    def __init__(self, run):
        self.run, self.dtype, self.rows, self.games = run, row_type(run.game), 0, 0
        self.writers, self.files = {}, {}

    def write(self, worker, count):
        rows = np.zeros(count, self.dtype)
        rows["reply"] = np.arange(self.rows, self.rows + count)
        rows["policy"] = rows["prior"] = 1 / 9
        rows["policy"][: count // 2, 0] = 0.5  # some surprise more than others
        if worker not in self.writers:
            number = self.files[worker] = self.files.get(worker, -1) + 1
            self.writers[worker] = GameWriter(self.run.path / GAMES / f"{worker:02}-{number:06}.games", {})
        self.writers[worker].write(PlayedGame(worker, self.games, "", [], 0, [0.0, 0.0], "over", rows))
        self.rows += count
        self.games += 1

    def next_file(self, worker):
        self.writers.pop(worker).close()


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", "tictactoe", Settings().but(learner_window_least=20, run_disk="1KB"))


def numbers(window):
    """The numbers of the rows in the window."""
    return window.rows["reply"][window.end - len(window) : window.end].tolist()


# --- its size ---


@pytest.mark.parametrize("power", [0.0, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("rows", [0, 5, 30, 31, 60, 1000, 5000])
def test_it_grows_by_kata_gos_formula(rows, power):
    settings = LearnerSettings(window_least=30, window_power=power, window_scale=0.4, window_most=900)
    expected = training.window_size(rows, 30, power, 0.4, 900)
    assert abs(window_size(rows, settings) - expected) <= 1.5


@given(st.integers(0, 10**8), st.integers(1, 10**6), st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6))
def test_it_never_has_more_than_there_is_and_never_reaches_further_back(rows, least, power, scale, most):
    settings = LearnerSettings(window_least=least, window_power=power, window_scale=scale, window_most=most)
    size, following = window_size(rows, settings), window_size(rows + 1, settings)
    assert 0 <= size <= min(rows, most)
    assert size <= following <= size + 1


# --- reading ---


def test_it_has_the_latest_rows_of_all_workers(run):
    players, window = Players(run), Window(run)
    for turn in range(30):
        players.write(turn % 3, 1 + turn % 4)
        assert window.read() == 1 + turn % 4
    assert (window.total, window.games) == (players.rows, 30)
    size = window_size(players.rows, run.settings.learner)
    assert numbers(window) == list(range(players.rows - size, players.rows))
    assert window.read() == 0


def test_it_drops_what_has_left_it(run):
    players, window = Players(run), Window(run)
    for _ in range(30):
        players.write(0, 1000)
        window.read()
    size = window_size(30_000, run.settings.learner)
    assert len(window.rows) <= FIRST_ROOM
    assert numbers(window) == list(range(30_000 - size, 30_000))


def same(first, second):
    """Whether two windows hold the same rows and draw the same."""
    assert numbers(first) == numbers(second)
    assert (first.total, first.games, first.places) == (second.total, second.games, second.places)
    drawn = [window.draw(50, np.random.default_rng(0)).tobytes() for window in (first, second)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("turns", [1, 9, 40])
def test_after_a_restart_it_is_the_same_and_goes_on_the_same(run, turns):
    players, window = Players(run), Window(run)
    random = np.random.default_rng(turns)
    for turn in range(turns):
        worker = int(random.integers(3))
        players.write(worker, int(random.integers(8)))
        if turn % 5 == 4:
            players.next_file(worker)
        if random.random() < 0.7:
            window.read()
    players.write(0, 3)
    window.read()
    players.write(1, 3)  # not read yet
    again = Window(Run(run.path))
    again.restore(**window.state())
    same(window, again)
    players.write(2, 4)
    assert window.read() == again.read() == 7
    same(window, again)


def test_what_is_in_the_window_is_never_tidied_away(run):
    players, window = Players(run), Window(run)
    for turn in range(60):
        players.write(turn % 2, 5)
        if turn % 2:
            players.next_file(0)
            players.next_file(1)
        window.read()
        run.tidy(window.left())
    assert len(run.game_files) < 30, "other games are"
    again = Window(run)
    again.restore(**window.state())
    assert numbers(again) == numbers(window) and again.total == window.total == 300


def test_games_that_have_not_been_read_are_never_tidied_away(run):
    players, window = Players(run), Window(run)
    for _ in range(5):
        players.write(0, 100)
        players.next_file(0)
    assert window.left() == []
    run.tidy(window.left())
    assert window.read() == 500


def test_games_that_were_deleted_are_counted_and_no_more(run):
    players, window = Players(run), Window(run)
    players.write(0, 30)
    window.read()
    state = window.state()
    run.game_files[0].unlink()
    again = Window(run)
    again.restore(**state)
    assert (len(again), again.total, again.games, again.places) == (0, 30, 1, {})


def test_a_damaged_end_is_skipped_and_other_files_are_read(run):
    players, window = Players(run), Window(run)
    players.write(0, 5)
    with open(run.game_files[0], "ab") as file:
        file.write(b"half a game")
    players.write(1, 5)
    assert window.read() == 10 and window.read() == 0


# --- drawing ---


def test_rows_are_drawn_by_their_weights(run):
    players, window = Players(run), Window(run)
    players.write(0, 20)
    window.read()
    window.weights[:20] = np.linspace(0.0, 2.0, 20)
    drawn = window.draw(40_000, np.random.default_rng(5))
    assert len(drawn) == 40_000 and drawn.dtype == window.dtype
    shares = np.bincount(drawn["reply"], minlength=20) / 40_000
    expected = window.weights[:20] / window.weights[:20].sum()
    deviation = np.sqrt(expected * (1 - expected) / 40_000)
    assert (abs(shares - expected) <= 4 * deviation).all()


def test_only_rows_of_the_window_are_drawn(run):
    players, window = Players(run), Window(run)
    players.write(0, 400)
    window.read()
    drawn = window.draw(5000, np.random.default_rng(0))
    assert set(drawn["reply"]) == set(numbers(window)) and len(window) < 400
