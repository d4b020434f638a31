"""`anabranch bench nets`."""

import json
import sys

from anabranch.cli import main


def test_bench_nets_shows_speeds_by_batch(connect_four, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anabranch", "bench", "nets", "--model", str(connect_four[1]), "--seconds", "0.01"])
    assert _status() == 0
    out = capsys.readouterr().out
    assert "positions/s" in out and "ONNX Runtime" in out and "PyTorch" not in out


def test_bench_nets_compares_a_new_network_with_pytorch(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anabranch", "bench", "nets", "tictactoe", "--seconds", "0.01"])
    assert _status() == 0
    assert "times as fast as PyTorch at batch 16, one thread" in capsys.readouterr().out


def test_bench_nets_as_json_is_read_by_a_program(connect_four, monkeypatch, capsys):
    arguments = ["anabranch", "bench", "nets", "--model", str(connect_four[1]), "--seconds", "0.01", "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert _status() == 0
    assert {row["batch"] for row in json.loads(capsys.readouterr().out)} == {1, 4, 16, 64, 256}


def test_a_model_for_another_game_is_one_line(connect_four, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anabranch", "bench", "nets", "othello", "--model", str(connect_four[1])])
    assert _status() == 2
    assert capsys.readouterr().err.startswith("anabranch: ")


def _status():
    try:
        main()
    except SystemExit as leaving:
        return leaving.code or 0
    return 0
