"""What GTP refuses, and in which words: a wrong command changes nothing, a wrong option is one clear error."""

import re
import subprocess
import sys

import pytest

from anabranch.cli import main
from tests.conftest import needs, program
from tests.protocols.talk import converse

REFUSED = {
    "boardsize": r"syntax error.*",
    "boardsize nine": r"syntax error.*",
    "boardsize 1": r"unacceptable size.*",
    "boardsize 26": r"unacceptable size.*",
    "boardsize 99999999999999999999999999": r"syntax error.*",
    "rectangular_boardsize 9 99": r"unacceptable size.*",
    "komi": r"syntax error.*",
    "komi nan": r"syntax error.*",
    "komi inf": r"syntax error.*",
    "komi 6.3": r"syntax error: komi=6\.3: give whole or half points.*",
    "play b": r"syntax error.*",
    "play green D4": r"syntax error.*",
    "play b I5": r"syntax error.*",
    "play b K5": r"syntax error.*",
    "play b D0": r"syntax error.*",
    "play b D44": r"syntax error.*",
    "play b D4\nplay w D4": r"illegal move: D4 .*there is a stone.*",
    "play w A2\nplay w B1\nplay b A1": r"illegal move: A1 .*it is suicide.*",
    "genmove": r"syntax error.*",
    "genmove purple": r"syntax error.*",
    "undo": r"cannot undo.*",
    "play b D4\ngg-undo 2": r"cannot undo.*",
    "gg-undo 0": r"cannot undo.*",
    "fixed_handicap": r"syntax error.*",
    "fixed_handicap 1": r"invalid number of stones.*",
    "fixed_handicap 10": r"invalid number of stones.*",
    "play b D4\nfixed_handicap 2": r"board not empty",
    "place_free_handicap 1": r"invalid number of stones.*",
    "place_free_handicap 81": r"invalid number of stones.*",
    "set_free_handicap": r"bad vertex list.*",
    "set_free_handicap A1": r"bad vertex list.*",
    "set_free_handicap A1 A1": r"bad vertex list.*",
    "set_free_handicap A1 pass": r"syntax error.*",
    "time_settings 10 10": r"syntax error.*",
    "time_settings -1 0 0": r"syntax error.*",
    "time_left b": r"syntax error.*",
    "time_left b x 0": r"syntax error.*",
    "final_status_list": r"syntax error.*",
    "final_status_list sleepy": r"syntax error.*",
    "loadsgf": r"syntax error.*",
    "loadsgf nowhere.sgf": r"cannot load file: nowhere\.sgf cannot be read.*",
    "loadsgf nowhere.sgf 5": r"cannot load file: nowhere\.sgf cannot be read.*",
    "last_move": r"no previous move known",
    "list_stones": r"syntax error.*",
    "kgs-rules martian": r"syntax error: there are no rules called 'martian'.*",
    "kgs-time_settings sandglass 5": r"syntax error.*",
    "kgs-time_settings byoyomi 5": r"syntax error.*",
    "kata-set-rules {": r"syntax error.*",
    'kata-set-rules {"ko":"TRIPLE"}': r"syntax error.*",
    'kata-set-rules {"hasButton":true,"scoring":"TERRITORY"}': r"syntax error.*[Bb]utton.*",
    "kata-set-rule ko": r"syntax error.*",
    "kata-set-rule weather fine": r"syntax error.*",
    "kata-set-param numSearchThreads 3": r"syntax error.*",
    "kata-get-param weather": r"syntax error.*",
    "gogui-play_sequence b D4 w": r"syntax error.*",
    "gogui-play_sequence b D4 w D4": r"illegal move.*",
    "gogui-setup b A1 w B1 w A2": r"cannot set up.*",
    "set_position b A1 w A1": r"syntax error: A1 is given twice",
    "anabranch-options colour red": r"there is no option 'colour'.*",
    "lz-analyze z": r"syntax error.*",
    "kata-analyze b 10 ownership perhaps": r"syntax error.*",
    "kata-analyze b interval": r"syntax error.*",
    "kata-analyze b avoid b Z9 1": r"syntax error.*",
    "kata-analyze b avoid b A1 30": r"syntax error: only the first move can be restricted: the depth must be 1, not 30",
    "kata-analyze b allow b A1 1 avoid b B1 1": r"syntax error: allow can be given once, and not together with avoid",
    "play b A1\nkata-analyze b allow b A1 1": r"no legal move is left to search",
    "kata-set-param analysisWideRootNoise 7": r"syntax error: analysisWideRootNoise must be a number from 0 to 5",
    "set_random_seed x": r"syntax error.*",
    "": None,
    "genmove_cleanup b": r"unknown command",
    "GENMOVE b": r"unknown command",
}


@pytest.mark.parametrize("lines", [line for line in REFUSED if line], ids=lambda lines: lines.replace("\n", "; "))
def test_wrong_arguments_are_refused_and_change_nothing(lines):
    *before, _ = lines.split("\n")
    answers = converse("\n".join([*before, "showboard", lines.split("\n")[-1], "showboard"]) + "\n")
    assert re.fullmatch(r"\? " + REFUSED[lines], answers[-2])
    assert answers[-1] == answers[-3]


def test_failures_begin_as_gnu_go_words_them_where_the_specification_does():
    """GNU Go is GTP's reference implementation."""
    needs("gnugo")
    lines = ["boardsize 30", "play b D4", "play w D4", "nonsense", "clear_board", "undo", "play b D4", "fixed_handicap 2"]
    done = subprocess.run(
        [program("gnugo"), "--mode", "gtp"], input="\n".join(lines) + "\nquit\n", capture_output=True, text=True, check=True
    )
    theirs = done.stdout.split("\n\n")[: len(lines)]
    for ours, their in zip(converse("\n".join(lines) + "\n", size=19), theirs, strict=True):
        assert ours.split(":")[0].strip() == their.strip()


BAD = {
    ("gtp", "--size", "99"): "Go is played on boards with sides of 2 to 25",
    ("gtp", "--komi", "6.3"): "give whole or half points",
    ("gtp", "--rules", "martian"): "there are no rules called 'martian'",
    ("gtp", "--visits", "0"): "--visits=0: must be a whole number of 1 or more",
    ("gtp", "--seconds", "0"): "--seconds=0.0: must be above 0",
    ("gtp", "--memory", "lots"): 'such as "512MB"',
    ("gtp", "--lag", "-1"): "--lag=-1.0: must be 0 or more",
    ("gtp", "--resign", "5"): "--resign=5.0: a win rate is from 0 to 1",
    ("gtp", "--c", "-1"): "c=-1.0",
    ("analyze", "--threads", "0"): "--threads=0: must be a whole number of 1 or more",
    ("analyze", "--memory", "lots"): 'such as "512MB"',
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_options_give_one_clear_error(arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["anabranch", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main()
    out, err = capsys.readouterr()
    assert leaving.value.code == 2 and out == ""
    assert BAD[arguments] in err and len(err.strip().splitlines()) == 1
