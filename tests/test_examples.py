"""Every example runs, as a reader would run it, and what it promises about itself holds."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import needs, when_compiled

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))


@when_compiled
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    if "import chess" in script.read_text(encoding="utf-8"):
        needs("chess")
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.strip()
    assert not any(tmp_path.iterdir())  # leaves nothing behind


@pytest.fixture
def chess_search(monkeypatch):
    needs("chess")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import chess_search

    return chess_search


def test_chess_actions_stand_for_one_move_each_castling_and_promotion_included(chess_search):
    import chess

    boards = [
        chess.Board(),
        chess.Board("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),  # both castle both ways
        chess.Board("n1n1k3/1P6/8/8/8/8/6p1/4KB1B w - - 0 1"),  # promotions straight and by capture
        chess.Board("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"),  # en passant
    ]
    for board in boards:
        position = chess_search.ChessPosition(board)
        actions = position.legal_actions
        assert len(set(actions)) == board.legal_moves.count()
        assert all(0 <= action < position.actions for action in actions)
        assert {chess_search.move_of(action) for action in actions} == set(board.legal_moves)
        before = board.fen()
        for action in actions:
            position.play(action)
        assert position.board.fen() == before
