"""`anabranch play` as a person uses it: who is who, how it goes, how it ends, and what is kept."""

import re

import pytest

from anabranch.cli.ending import outcome
from anabranch.games import Go, Pig, TicTacToe
from anabranch.protocols import sgf

BOARD = ("play", "go:size=5,komi=0.5", "--visits", "20")


def test_go_is_played_by_black_and_white_with_win_rates(program):
    code, out, _ = program(*BOARD, answers=["C3", "hint", "quit"])
    assert code == 0
    assert "You are black." in out and "white to move" in out and "player 0" not in out
    assert re.search(r"engine plays \w+   win rate \d+\.\d% for white, \d+ visits", out)
    assert re.search(r"move +visits +share +win rate +principal variation", out)
    assert "value" not in out


def test_the_end_of_a_game_of_go_says_who_won_by_how_much(program):
    _, out, _ = program(*BOARD, "--moves", "C3,pass,B3,pass", answers=["pass"] * 30)
    assert re.search(
        r"The game is over: (black|white) wins by [\d.]+ points \([BW]\+[\d.]+\)\. (You win|The engine wins)\.", out
    )


@pytest.mark.parametrize(
    ("game", "moves", "person", "told"),
    [
        (Go(5, komi=0.5), "C3 pass pass", 0, "The game is over: black wins by 24.5 points (B+24.5). You win."),
        (Go(5, komi=26), "C3 pass pass", 0, "The game is over: white wins by 1 point (W+1). The engine wins."),
        (Go(5, komi=25), "C3 pass pass", 1, "The game is over: a draw (0)."),
        (TicTacToe(), "a1 b1 a2 b2 a3", -1, "The game is over: X wins."),
        (TicTacToe(), "a1 b1 a2 b2 a3", 1, "The game is over: X wins. The engine wins."),
        (TicTacToe(), "a1 b1 a2 b2 b3 a3 c1 c3 c2", 0, "The game is over: a draw."),
    ],
)
def test_an_outcome_is_told_in_words(game, moves, person, told):
    position = game.position(moves.split())
    assert position.is_over and outcome(position, person) == told


def test_a_game_is_saved_resigned_and_read_again(program, tmp_path):
    first, last = tmp_path / "first.sgf", tmp_path / "last.sgf"
    answers = ["C3", "undo", "C2", f"save {first}", "save", "save /nowhere/a.sgf", "resign"]
    code, out, _ = program(*BOARD, "--save", str(last), answers=answers)
    assert code == 0
    assert f"saved in {first}" in out and out.count(f"saved in {last}") == 2 and "/nowhere/a.sgf cannot be written" in out
    assert "You resign: white wins." in out
    early, late = sgf.load(first), sgf.load(last)
    assert early.main_line() == late.main_line() and len(late.main_line()) == 2
    assert (early.result, late.result) == ("", "W+R")
    assert [player.name for player in late.players] == ["you", "anabranch"]
    assert late.game == Go(5, komi=0.5) and late.game.name_of(late.main_line()[0]) == "C2"


def test_a_game_that_is_left_is_saved_as_well(program, tmp_path):
    program(*BOARD, "--player", "white", "--save", str(tmp_path / "a.sgf"), answers=["quit"])
    record = sgf.load(tmp_path / "a.sgf")
    assert len(record.main_line()) == 1 and record.players[1].name == "you"


def test_save_asks_where_to_and_is_for_go(program):
    _, out, _ = program(*BOARD, answers=["save", "quit"])
    assert "name a file to save to" in out
    _, out, _ = program("play", "tictactoe", answers=["save a.sgf", "quit"])
    assert "records are of games of Go" in out and "save FILE.sgf" not in out
    code, _, err = program("play", "tictactoe", "--save", "a.sgf")
    assert code == 2 and "--save writes SGF, for Go only, not for TicTacToe()" in err


def test_a_player_is_chosen_by_name_or_number(program):
    assert "You are O." in program("play", "tictactoe", "--player", "o", "--visits", "20", answers=["quit"])[1]
    assert "You are white." in program(*BOARD, "--player", "1", answers=["quit"])[1]
    code, _, err = program("play", "tictactoe", "--player", "black")
    assert code == 2 and "--player black: TicTacToe() has players 0 to 1 (X, O); -1 watches" in err


def test_players_without_names_have_numbers():
    assert outcome(Pig(target=2).position(["roll", "6", "hold"]), 0).startswith("The game is over: player 0 wins")


def test_moves_of_one_letter_need_no_commas(program):
    words = ("search", "connectfour", "--visits", "20", "--json", "--moves")
    together, apart = (program(*words, moves)[1] for moves in ("ddc", "d,d,c"))
    assert '"moves_played": [3, 3, 2]' in together and '"moves_played": [3, 3, 2]' in apart
    _, _, err = program("search", "connectfour", "--moves", "ddddddd")
    assert "move 7: d is not legal here" in err
    assert '"moves_played": [4]' in program("search", "tictactoe", "--visits", "20", "--json", "--moves", "b2")[1]
