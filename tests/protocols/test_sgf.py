"""Game records: what they say of games of Go, and what is made of games played here. Their text: `test_sgf_text.py`."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.errors import IllegalMove, SgfError
from anabranch.games import TicTacToe
from anabranch.games.go import RULE_SETS, Go, RuleSet
from anabranch.games.go.rulesets import CHOICES
from anabranch.protocols import sgf
from anabranch.protocols.sgf import GameTree, Node, Player
from anabranch.protocols.sgf_go import rules_called, rules_name
from tests.protocols.records import BLACK, WHITE, board, names, shown

# --- what is read ---


def test_a_record_with_variations_comments_and_marks():
    tree = sgf.read(
        """(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese]PB[Lee]BR[9p]PW[Cho]WR[8p]RE[B+0.5]DT[1999-01-01]
        C[A game]
        ;B[ee]C[the middle];W[cc](;B[gg]TR[ee][cc]LB[gg:1][aa:here];W[gc])
        (;B[cg]MA[cg]C[better\\: \\]]
          (;W[gg])(;W[]N[a pass])))"""
    )
    assert repr(tree.game) == "Go(size=9, komi=6.5, rules='japanese')"
    assert tree.players == (Player("Lee", "9p"), Player("Cho", "8p"))
    assert (tree.result, tree.root.comment, tree.root.other) == ("B+0.5", "A game", {"DT": ["1999-01-01"]})
    assert names(tree, tree.main_line()) == "E5 C7 G3 G7"
    first = tree.root.children[0]
    assert (first.colour, first.comment, first.parent) == (BLACK, "the middle", tree.root)
    second = first.children[0]
    main, better = second.children
    assert {tree.game.name_of(action): mark for action, mark in main.marks.items()} == {
        "E5": "triangle",
        "C7": "triangle",
        "G3": "1",
        "A9": "here",
    }
    assert (better.comment, list(better.marks.values())) == ("better: ]", ["cross"])
    assert [names(tree, [node.action]) for node in better.children] == ["G3", "pass"]
    assert better.children[1].other == {"N": ["a pass"]}
    assert tree.position(better.children[0]).moves == tuple(map(tree.game.action, ["E5", "C7", "C3", "G3"]))
    assert repr(tree) == "<GameTree: Lee - Cho, Go(size=9, komi=6.5, rules='japanese'), 4 moves, B+0.5>"


def test_a_board_without_a_size_has_19_lines_and_no_komi():
    assert sgf.read("(;B[pd])").game == Go(19, komi=0)


def test_boards_may_be_rectangular():
    tree = sgf.read("(;SZ[7:10];B[aa];W[gj])")
    assert (tree.game.width, tree.game.height) == (7, 10)
    assert names(tree, tree.main_line()) == "A10 G1"
    assert "SZ[7:10]" in sgf.write(tree)


@pytest.mark.parametrize("size", [9, 19])
def test_both_ways_to_pass_are_read_on_boards_up_to_19(size):
    tree = sgf.read(f"(;SZ[{size}];B[];W[tt])")
    assert tree.main_line() == [size * size] * 2
    assert tree.position().is_over
    assert sgf.write(tree).count("[]") == 2


def test_on_larger_boards_tt_is_a_point():
    tree = sgf.read("(;SZ[21];B[tt];W[])")
    assert names(tree, tree.main_line()) == "U2 pass"


def test_old_names_of_properties_blanks_and_junk_around_are_understood():
    tree = sgf.read("From: me\n( ; GaMe[1] SiZe [9]\n AddBlack[aa]\n[bb] ; White [cc] )\nand more")
    assert tree.root.stones == {72: BLACK, 64: BLACK}
    assert names(tree, tree.main_line()) == "C7"


def test_a_property_that_comes_twice_counts_once_with_all_values():
    assert len(sgf.read("(;SZ[9]AB[aa]AB[bb])").root.stones) == 2


def test_points_are_read_from_rectangles():
    tree = sgf.read("(;SZ[5]AB[aa:be]AW[ea:ed];AE[aa:ab]TR[cc:ba])")
    assert board(tree.position(tree.root)) == ["XX..O", "XX..O", "XX..O", "XX..O", "XX..."]
    assert board(tree.position()) == [".X..O", ".X..O", "XX..O", "XX..O", "XX..."]
    assert len(tree.root.children[0].marks) == 6


def test_marks_that_one_point_cannot_hold_together_are_kept_as_they_are():
    text = "(;SZ[9]TR[aa]LB[aa:x][bb:square][zz:off][cc:c])"
    tree = sgf.read(text)
    assert tree.root.marks == {72: "triangle", 56: "c"}
    assert tree.root.other == {"LB": ["aa:x", "bb:square", "zz:off"]}
    assert shown(sgf.read(sgf.write(tree))) == shown(tree)


def test_all_games_of_a_collection_are_read():
    text = "(;SZ[9];B[aa]) (;SZ[5];B[bb](;W[cc])(;W[dd]))\n(;SZ[7])"
    assert [tree.game.width for tree in sgf.read_all(text)] == [9, 5, 7]
    assert sgf.read(text).game.width == 9
    assert names(sgf.read_all(text)[1], sgf.read_all(text)[1].main_line()) == "B4 C3"


def test_what_is_broken_behind_the_first_game_does_not_matter_to_it():
    text = "(;SZ[9];B[aa])(;SZ[9];B[zz"
    assert sgf.read(text).main_line() == [72]
    with pytest.raises(SgfError):
        sgf.read_all(text)


def test_marks_of_a_node_can_be_drawn():
    tree = sgf.read("(;SZ[9];B[ee]TR[ee]LB[cc:A])")
    node = tree.root.children[0]
    assert ">A</text>" in tree.game.svg(tree.position(node).state, marks=node.marks)


# --- rules, komi, handicap ---


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("Chinese", "chinese"),
        ("cn", "chinese"),
        ("JAPANESE", "japanese"),
        ("Japanese Rules", "japanese"),
        ("Korean", "japanese"),
        ("AGA", "aga"),
        ("NZ", "new-zealand"),
        ("New Zealand", "new-zealand"),
        ("Tromp-Taylor", "tromp-taylor"),
        ("tromp taylor", "tromp-taylor"),
        ("koPOSITIONALscoreAREAtaxNONEsui1", "tromp-taylor"),
        ("koSIMPLEscoreTERRITORYtaxSEKIsui0fpok1", "japanese"),
    ],
)
def test_rules_are_known_by_their_usual_names(name, rules):
    tree = sgf.read(f"(;SZ[9]RU[{name}])")
    assert tree.game.rules == RULE_SETS[rules]
    assert tree.root.other == {}


@pytest.mark.parametrize("name", RULE_SETS)
def test_the_names_that_are_written_are_read(name):
    assert sgf.read(sgf.write(GameTree(Go(9, rules=name)))).game == Go(9, rules=name)


@given(st.builds(RuleSet, suicide=st.booleans(), **{name: st.sampled_from(choices) for name, choices in CHOICES.items()}))
def test_rules_without_a_name_are_written_point_by_point(rules):
    assert rules_called(rules_name(rules)) == rules


@pytest.mark.parametrize("name", ["Ing", "GOE", "house rules: no \\] ko", "koSPIGHTscoreAREAtaxNONEsui0"])
def test_unknown_rules_are_played_as_chinese_without_a_warning_and_their_name_is_kept(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = sgf.read(f"(;SZ[9]RU[{name}])")
    assert tree.game.rules == RULE_SETS["chinese"]
    assert f"RU[{name}]" in sgf.write(tree)


@pytest.mark.parametrize(
    ("properties", "komi"),
    [
        ("KM[6.5]", 6.5),
        ("KM[-3]", -3),
        ("KM[0.00]", 0),
        ("KM[]", 0),
        ("KM[5,5]", 5.5),
        ("KM[3.75]", 7.5),
        ("KM[375]AP[foxwq]", 7.5),
        ("KM[650]AP[GNU Go:3.8]AP[foxwq]", 6.5),
        ("KM[0]AP[foxwq]", 0),
        ("KM[375]", 375),
    ],
)
def test_komi_is_in_points_or_as_chinese_servers_write_it(properties, komi):
    tree = sgf.read(f"(;SZ[9]{properties})")
    assert tree.game.komi == komi
    assert sgf.read(sgf.write(tree)).game.komi == komi


def test_a_handicap_on_the_usual_points_is_the_game_s():
    tree = sgf.read("(;SZ[9]KM[0.5]HA[2]AB[gc][cg])")
    assert tree.game == Go(9, komi=0.5, handicap=2)
    assert tree.position() == tree.game.start()
    assert tree.position().to_play == WHITE
    assert shown(sgf.read(sgf.write(tree))) == shown(tree)


def test_stones_for_a_handicap_elsewhere_are_paid_for_as_the_rules_say():
    tree = sgf.read("(;SZ[9]KM[0.5]HA[2]AB[ee][cg])")
    usual = sgf.read("(;SZ[9]KM[0.5]HA[2]AB[gc][cg])")
    assert (tree.free_handicap, tree.game.komi) == (2, 2.5)
    assert tree.position().state.half_komi == usual.position().state.half_komi == 5
    assert tree.position().to_play == WHITE
    text = sgf.write(tree)
    assert "KM[0.5]HA[2]" in text
    assert shown(sgf.read(text)) == shown(tree)


def test_black_may_put_handicap_stones_one_by_one():
    tree = sgf.read("(;SZ[9]HA[3];B[cc];B[gg];B[gc];W[ee])")
    position = tree.position()
    assert names(tree, position.moves) == "C7 pass G3 pass G7 E5"
    assert names(tree, tree.main_line()) == "C7 G3 G7 E5"
    assert position.to_play == BLACK


def test_a_handicap_of_one_is_kept_and_means_nothing():
    tree = sgf.read("(;SZ[9]HA[1];B[ee])")
    assert tree.game == Go(9, komi=0)
    assert "HA[1]" in sgf.write(tree)


# --- positions ---


def test_white_begins_where_the_record_says_so():
    assert sgf.read("(;SZ[9];W[ee])").position().moves == (40,)
    assert sgf.read("(;SZ[9]PL[W])").position().to_play == WHITE
    tree = sgf.read("(;SZ[9]AB[aa];W[ee];B[ef])")
    assert tree.position(tree.root).to_play == WHITE


def test_whoever_is_said_to_play_does_even_if_another_moves():
    tree = sgf.read("(;SZ[9]AB[aa]PL[B];W[ee])")
    assert tree.position(tree.root).to_play == BLACK
    assert names(tree, tree.position().moves) == "pass E5"


def test_stones_set_up_in_mid_game_make_a_new_start():
    tree = sgf.read("(;SZ[5];B[aa];W[bb];AB[cc]AE[bb];B[dd];W[ee];PL[W];W[ea])")
    position = tree.position()
    assert board(position) == ["X...O", ".....", "..X..", "...X.", "....O"]
    assert names(tree, position.moves) == "E5"


def test_what_is_said_already_is_no_new_start():
    tree = sgf.read("(;SZ[5];B[aa];W[bb];AB[aa]AW[bb]AE[cc]PL[B];B[dd])")
    assert names(tree, tree.position().moves) == "A5 B4 D2"


def test_passes_behind_the_end_are_passed_over():
    tree = sgf.read("(;SZ[5];B[aa];W[];B[];W[];B[])")
    assert names(tree, tree.position().moves) == "A5 pass pass"


@pytest.mark.parametrize(
    ("moves", "complaint"),
    [
        (";B[aa];W[aa]", "move 2, by white: A5 is not legal here: there is a stone"),
        (";B[ab];W[cc];B[ba];W[aa]", "move 4, by white: A5 is not legal here: it is suicide"),
        (";B[aa];W[];B[];W[bb]", "move 4, by white: B4: the game is over"),
        (";B[ba];W[ca];B[ab];W[db];B[bc];W[cc];B[cb];W[bb];B[cb]", "move 9, by black: C4 is not legal here: it retakes a ko"),
        (";C[nothing];B[aa];AW[bb];B[bb]", "move 2, by black: B4 is not legal here"),
        (";AB[aa:ee]", "stones without liberties"),
        (";AB[ab][ba]AW[aa]", "stones without liberties"),
    ],
)
def test_what_the_rules_forbid_is_read_but_not_played(moves, complaint):
    tree = sgf.read(f"(;SZ[5]{moves})")
    with pytest.raises(SgfError, match=complaint) as refused:
        tree.position()
    assert "\n" not in str(refused.value)


def test_a_node_of_another_tree_has_no_position_here():
    with pytest.raises(SgfError, match="another tree"):
        GameTree(Go(9)).position(Node())


# --- games that were played here ---


def test_a_game_is_recorded_with_comments_and_its_result():
    position = Go(9, komi=6.5).position(["E5", "C3", "pass", "pass"])
    tree = GameTree.from_position(
        position, comments={0: "all of it", 2: "a mistake"}, players=(Player("me"), Player("you", "1d"))
    )
    assert [node.comment for node in tree.path()] == ["all of it", "", "a mistake", "", ""]
    assert tree.result == "W+6.5"
    back = sgf.read(sgf.write(tree))
    assert shown(back) == shown(tree)
    assert back.position() == position
    assert back.position().moves == position.moves


@pytest.mark.parametrize(
    ("game", "moves", "result"),
    [
        (Go(3, komi=0.5), ["B2", "pass", "pass"], "B+8.5"),
        (Go(3, komi=0, returns="score"), ["pass", "pass"], "0"),
        (Go(3, komi=2, returns="mix"), ["pass", "pass"], "W+2"),
        (Go(3), ["B2"], ""),
    ],
)
def test_a_result_is_by_points_once_the_game_is_over(game, moves, result):
    assert GameTree.from_position(game.position(moves)).result == result


def test_a_handicap_game_is_recorded_with_its_stones():
    position = Go(13, handicap=4).position(["G7", "C3"])
    text = sgf.write(GameTree.from_position(position))
    assert "HA[4]" in text
    assert "PL[" not in text
    assert sgf.read(text).position() == position


def test_a_position_that_was_arranged_is_recorded_as_set_up():
    game = Go(5)
    start = game.drawn("..X..\n.....\n..O..\n.....\n.....", to_play=1)
    assert sgf.read(sgf.write(GameTree.from_position(start))).position() == start
    position = start.play("A1").play("B1")
    tree = GameTree.from_position(position, start=start)
    assert sgf.read(sgf.write(tree)).position() == position
    with pytest.raises(SgfError, match="say where it began with start="):
        GameTree.from_position(position)


def test_only_go_is_recorded():
    with pytest.raises(SgfError, match="games of Go, not of"):
        GameTree.from_position(TicTacToe().start())


def test_a_comment_on_a_move_that_was_not_played_is_refused():
    with pytest.raises(SgfError, match="comment on move 2 of a game of 1 moves"):
        GameTree.from_position(Go(9).position(["E5"]), comments={2: "?"})


@given(st.integers(2, 6), st.integers(2, 6), st.lists(st.integers(0, 36), max_size=30))
@settings(max_examples=25)
def test_any_game_comes_back_as_it_was_played(width, height, choices):
    position = Go((width, height), komi=0.5, rules="japanese").start()
    for choice in choices:
        legal = position.legal_actions
        if not legal:
            break
        position = position.play(legal[choice % len(legal)])
    back = sgf.read(sgf.write(GameTree.from_position(position)))
    assert back.position() == position
    assert back.main_line() == list(position.moves)


# --- trees that grow ---


def test_moves_are_added_in_turn_and_variations_behind_the_main_line():
    tree = GameTree(Go(9))
    first = tree.add("E5")
    tree.add("C3")
    other = tree.add("G7", after=first, comment="or here")
    assert tree.add("G7", after=first) is other
    assert [node.action for node in first.children] == [20, 60]
    assert (first.colour, other.colour, other.comment) == (BLACK, WHITE, "or here")
    assert tree.add("D4", after=other, colour=WHITE).colour == WHITE
    assert tree.main_line() == [40, 20]
    assert GameTree(Go(9, handicap=2)).add("E5").colour == WHITE
    assert sgf.read("(;SZ[9]PL[W])").add("E5").colour == WHITE


def test_moves_that_are_none_are_not_added():
    tree = GameTree(Go(9))
    for wrong in ("Z9", 82, -1):
        with pytest.raises(IllegalMove):
            tree.add(wrong)
    with pytest.raises(SgfError, match="0 for black or 1 for white"):
        tree.add("E5", colour=2)


@pytest.mark.parametrize(
    ("other", "complaint"),
    [({"lower": ["x"]}, "not the name of a property"), ({"XX": []}, "has no value"), ({"XX": ["a]"]}, "not escaped")],
)
def test_properties_that_would_break_the_text_are_not_written(other, complaint):
    tree = GameTree(Go(9))
    tree.root.other = other
    with pytest.raises(SgfError, match=complaint):
        sgf.write(tree)


@pytest.mark.parametrize("node", [Node(marks={-1: "x"}), Node(marks={81: "circle"}), Node(stones={82: BLACK}), Node(82, BLACK)])
def test_moves_stones_and_marks_off_the_board_are_not_written(node):
    with pytest.raises(SgfError, match="is not a point of"):
        sgf.write(GameTree(Go(9), node))


def test_a_tree_of_a_handicap_game_has_its_stones():
    tree = GameTree(Go(9, handicap=2))
    assert tree.position() == tree.game.start()
    assert sgf.read(sgf.write(tree)).game == tree.game
