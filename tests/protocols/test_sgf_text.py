"""The text of game records: characters, depth, damage; beside sgfmill, which reads and writes the same, and GNU Go."""

import os
import re
import shutil
import subprocess
import sys
from itertools import takewhile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill
from sgfmill import sgf_grammar as sgfmill_grammar

from anabranch.errors import SgfError
from anabranch.games.go import RULE_SETS, Go, draw
from anabranch.goengine.game_tree import stones_of
from anabranch.goengine.review import turns_of
from anabranch.protocols import sgf, sgf_grammar
from anabranch.protocols.sgf import GameTree, Node, Player
from tests.conftest import needs
from tests.protocols.records import BLACK, WHITE, shown
from tests.protocols.talk import converse

DEEP = 10 * sys.getrecursionlimit()


# --- characters ---


@pytest.mark.parametrize(
    ("charset", "name"),
    [
        ("UTF-8", "Lee Sedol 李世乭"),
        ("ISO-8859-1", "Müller"),
        ("Shift_JIS", "表ソ]十\\"),
        ("gb2312", "聶衛平"),
        ("EUC-KR", "이세돌"),
    ],
)
def test_the_character_set_that_a_file_names_is_used(charset, name):
    written = name.replace("\\", "\\\\").replace("]", "\\]")
    data = f"(;SZ[9]PB[{written}]CA[{charset}];B[ee])".encode({"gb2312": "gbk"}.get(charset, charset))
    tree = sgf.read(data)
    assert tree.players[BLACK].name == name
    assert tree.main_line() == [40]
    assert sgf.read(sgf.write(tree).encode()).players[BLACK].name == name


@pytest.mark.parametrize(
    ("data", "name"),
    [
        ("(;PB[Müller])".encode(), "Müller"),
        ("(;PB[Müller])".encode("latin-1"), "Müller"),
        (b"\xef\xbb\xbf" + "(;CA[latin-1]PB[Müller])".encode(), "Müller"),
        ("(;CA[no-such-set]PB[Müller])".encode(), "Müller"),
        ("(;CA[utf-16]PB[Müller])".encode(), "Müller"),
        ("(;CA[hex]PB[Müller])".encode(), "Müller"),
        ("(;CA[UTF-8]PB[Müller])".encode("latin-1"), "M\ufffdller"),
    ],
)
def test_without_a_usable_name_the_bytes_are_utf_8_or_latin_1(data, name):
    assert sgf.read(data).players[BLACK].name == name


@pytest.mark.parametrize(
    "name",
    [
        "idna",
        "punycode",
        "unicode_escape",
        "raw_unicode_escape",
        "utf-7",
        "utf-32",
        "undefined",
        "rot13",
        "zlib",
        "cp037",
        "x" * 99,
    ],
)
def test_codecs_that_are_no_character_sets_are_not_used(name):
    text = f"(;CA[{name}]SZ[9]PB[M\xfcller \\\\u0041]C[{'a-' * 20_000}];B[ee])"
    tree = sgf.read(text.encode("latin-1"))
    assert tree.players[0].name == "M\xfcller \\u0041" and tree.main_line() == [40]


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_comment_comes_back(comment):
    tree = GameTree(Go(9))
    tree.add("E5", comment=comment)
    plain = re.sub("\r\n|\n\r|\r", "\n", comment)
    expected = re.sub("[\t\v\f]", " ", plain)
    text = sgf.write(tree)
    assert sgf.read(text).root.children[0].comment == expected
    assert sgf.read(text.encode()).root.children[0].comment == expected
    theirs = sgfmill.Sgf_game.from_string(text)
    assert expected == "" or theirs.get_last_node().get("C") == expected


# --- deep and large ---


def test_moves_by_the_thousand_are_read_and_written():
    text = "(;SZ[9]" + ";B[aa];W[bb]" * (DEEP // 2) + ")"
    tree = sgf.read(text)
    assert len(tree.main_line()) == DEEP
    assert len(tree.path()) == DEEP + 1
    assert shown(sgf.read(sgf.write(tree))) == shown(tree)
    assert repr(tree.path()[1]) == "<Node: black plays 72, children: 1>"


def test_variations_in_one_another_by_the_thousand_are_read_and_written():
    text = "(;SZ[9]" + "(;B[aa](;W[cc])" * DEEP + ")" * DEEP + ")"
    tree = sgf.read(text)
    assert sum(1 for _ in tree.nodes()) == 2 * DEEP + 1
    assert shown(sgf.read(sgf.write(tree))) == shown(tree)


@pytest.mark.parametrize("node", [";B[]", ";AB[aa]", ";B[];AE[aa]"])
def test_a_game_of_more_moves_than_can_be_played_is_read_but_not_played(node, tmp_path):
    tree = sgf.read("(;SZ[9]" + node * 20_000 + ")")
    sgf.save(tree, tmp_path / "long.sgf")
    too_long = "the game is too long: at most 4,000 moves are played"
    for play in (tree.position, lambda: turns_of(tree)):
        with pytest.raises(SgfError, match=too_long):
            play()
    assert converse(f"loadsgf {tmp_path / 'long.sgf'}\n") == [f"? cannot load file: {too_long}"]


def test_stones_that_are_set_up_again_and_again_take_time_in_proportion(tmp_path):
    """Each position comes from the one before, not from the beginning."""
    path = tmp_path / "setups.sgf"
    path.write_text("(;SZ[9]" + ";B[ee];AE[ee]" * 300 + ")", encoding="utf-8")
    assert converse(f"loadsgf {path}\nlist_stones b\n") == ["= ", "= "]
    assert len(turns_of(sgf.load(path))) == 300


@pytest.mark.parametrize("text", ["(;SZ[25]AB" + "[aa:yy]" * 10_001 + ")", "(;" + ";TR[aa:ss]" * 10_001 + ")"])
def test_a_short_text_may_not_stand_for_millions_of_stones(text):
    with pytest.raises(SgfError, match="there are more than 10,000 rectangles of points in the text"):
        sgf.read(text)


def test_too_much_text_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(sgf, "MOST", 20)
    (tmp_path / "long.sgf").write_bytes(b"(;SZ[9];B[aa];W[bb])x")
    for read in (lambda: sgf.read("(;C[" + "a" * 20 + "])"), lambda: sgf.load(tmp_path / "long.sgf")):
        with pytest.raises(SgfError, match="too long: it has more than 20 bytes"):
            read()


# --- broken ---


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "^the text is empty$"),
        (" \n", "^the text is empty$"),
        ("hello", "the text contains no game"),
        ("()", "the text contains no game"),
        ("(;B[aa]", r"the text ends inside a game: a \) is missing"),
        ("(;B[aa](;W[bb])", "the text ends inside a game"),
        ("(;B[aa);W(", "line 1: the value of B has no ] at its end"),
        ("(;SZ[9]\n;B\n)", "line 2: the property B has no value"),
        ("(;SZ[9];[aa])", "line 1: a value stands without its property"),
        ("(;B[aa]\n\n 5)", "line 3: '5' is not SGF"),
        ("(;B[aa]())", "line 1: a variation has no nodes"),
        ("(;B[aa](;W[bb]);W[cc])", "line 1: a node stands behind a variation"),
        ("(;B[aa](;W[bb])C[x])", "line 1: the property C stands outside of a node"),
        ("(;GM[2];B[aa])", r"not a game of Go: it says GM\[2\]"),
        ("(;SZ[1])", "boards with sides of 2 to 25"),
        ("(;SZ[26])", "boards with sides of 2 to 25"),
        ("(;SZ[19:99])", "boards with sides of 2 to 25"),
        ("(;SZ[big])", r"SZ\[big\] is not a board size"),
        ("(;SZ[٩])", "is not a board size"),
        ("(;KM[much])", r"KM\[much\] is not a komi"),
        ("(;KM[nan])", "is not a komi"),
        ("(;KM[1e999])", "is not a komi"),
        ("(;KM[6.3])", "is not a komi"),
        ("(;KM[99999])", "komi=99999"),
        ("(;HA[-2])", r"HA\[-2\] is not a handicap"),
        ("(;SZ[9];B[aa];W[jj])", r"move 2, by white: W\[jj\] is not on a board of 9x9"),
        ("(;SZ[9];B[a])", r"move 1, by black: B\[a\] is not on a board of 9x9"),
        ("(;SZ[9];B[tt]AB[tt])", r"AB\[tt\] is not on a board of 9x9"),
        ("(;SZ[9];B[aa];W[bb]B[cc])", "move 2: there are two moves in one node"),
        ("(;SZ[9];B[aa][bb])", "move 1: there are two moves in one node"),
    ],
)
def test_what_is_broken_is_refused_in_one_line(text, complaint):
    for form in (text, text.encode()):
        with pytest.raises(SgfError, match=complaint) as refused:
            sgf.read(form)
        assert "\n" not in str(refused.value)


def test_files_that_cannot_be_read_or_written_are_named(tmp_path):
    broken = tmp_path / "broken.sgf"
    broken.write_bytes(b"(;")
    with pytest.raises(SgfError, match=r"broken\.sgf: the text ends inside"):
        sgf.load(broken)
    with pytest.raises(SgfError, match=r"none\.sgf cannot be read: No such file"):
        sgf.load(tmp_path / "none.sgf")
    with pytest.raises(SgfError, match="cannot be written"):
        sgf.save(GameTree(Go(9)), tmp_path)


def test_a_saved_record_is_loaded_again(tmp_path):
    tree = GameTree(Go(9), players=(Player("李世乭"), Player()))
    tree.add("E5", comment="lone surrogate \ud800")
    sgf.save(tree, tmp_path / "game.sgf")
    back = sgf.load(tmp_path / "game.sgf")
    assert back.players == tree.players
    assert back.main_line() == [40]


@given(
    st.binary(max_size=60)
    | st.lists(st.sampled_from([b"(", b";", b")", b"B[aa]", b"C[", b"]", b"\\", b"SZ[9]", b"KM[", b"abc[x]"])).map(b"".join)
)
def test_nothing_but_our_own_error_comes_of_any_bytes(data):
    try:
        tree = sgf.read(b"(;" + data)
    except SgfError:
        return
    assert shown(sgf.read(sgf.write(tree))) == shown(tree)


# --- round trips, and sgfmill beside us ---


@st.composite
def trees(draw_from, square=False):
    width = draw_from(st.integers(2, 25))
    height = width if square else draw_from(st.integers(2, 25))
    game = Go((width, height), komi=draw_from(st.integers(-20, 20)) / 2, rules=draw_from(st.sampled_from(list(RULE_SETS))))
    points = st.integers(0, width * height - 1)
    line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
    tree = GameTree(game, players=(Player(draw_from(line)), Player("w", draw_from(line))), result=draw_from(line))
    nodes = [tree.root]
    for _ in range(draw_from(st.integers(0, 8))):
        parent = draw_from(st.sampled_from(nodes))
        node = Node(draw_from(st.integers(0, width * height)), draw_from(st.integers(0, 1)), draw_from(line), parent=parent)
        node.stones = draw_from(st.dictionaries(points, st.sampled_from([BLACK, WHITE, None]), max_size=3))
        node.to_play = draw_from(st.sampled_from([None, BLACK, WHITE]))
        node.marks = draw_from(
            st.dictionaries(points, st.sampled_from(["triangle", "square", "circle", "cross"]) | line, max_size=3)
        )
        node.other = draw_from(
            st.dictionaries(st.sampled_from(["N", "XY"]), st.lists(line.map(sgf_grammar.escaped), min_size=1))
        )
        parent.children.append(node)
        nodes.append(node)
    return tree


@given(trees())
def test_every_tree_comes_back_as_it_was_written(tree):
    text = sgf.write(tree)
    assert shown(sgf.read(text)) == shown(tree)
    assert sgf.write(sgf.read(text)) == text


@given(trees(square=True))
def test_sgfmill_reads_what_is_written(tree):
    theirs = sgfmill.Sgf_game.from_string(sgf.write(tree))
    assert (theirs.get_size(), theirs.get_komi()) == (tree.game.width, tree.game.komi)
    waiting = [(tree.root, theirs.get_root())]
    while waiting:
        ours, other = waiting.pop()
        assert len(ours.children) == len(other)
        waiting += zip(ours.children, other, strict=True)
        if ours.action is not None:
            passes = ours.action == tree.game.actions - 1
            assert other.get_move() == ("bw"[ours.colour], None if passes else divmod(ours.action, tree.game.width))
        assert (other.get("C") if other.has_property("C") else "") == ours.comment
        black, white, empty = other.get_setup_stones()
        for points, player in ((black, BLACK), (white, WHITE), (empty, None)):
            assert {row * tree.game.width + column for row, column in points} == {
                action for action, owner in ours.stones.items() if owner == player
            }


@given(st.lists(st.sampled_from(["(", ";", ")", "A", "AB[x]", "[y]", "[\\]]", "[", "]", "\\", " ", "\n", "7"]), max_size=14))
@settings(max_examples=300)
def test_sgfmill_takes_the_same_texts_for_the_same_games(pieces):
    text = "(;" + "".join(pieces)
    try:
        coarse = sgfmill_grammar.parse_sgf_game(text.encode())
    except ValueError:
        with pytest.raises(SgfError):
            first_game(text)
        return
    waiting, theirs = [(coarse, -1)], []
    while waiting:
        tree, parent = waiting.pop()
        for properties in tree.sequence:
            own = {name: [value.decode() for value in values] for name, values in properties.items()}
            theirs.append((parent, own))
            parent = len(theirs) - 1
        waiting += [(child, parent) for child in reversed(tree.children)]
    assert first_game(text) == theirs


def first_game(text):
    """The nodes of the first game."""
    return list(takewhile(lambda node: node[0] != sgf_grammar.END, sgf_grammar.parsed(text)))


@given(
    st.integers(2, 19),
    st.lists(st.tuples(st.integers(0, 360), st.text(st.characters(exclude_categories=["Cs", "Cc"]))), max_size=8),
)
def test_what_sgfmill_writes_is_read(size, moves):
    theirs = sgfmill.Sgf_game(size, "UTF-8")
    theirs.get_root().set("KM", 5.5)
    for number, (point, comment) in enumerate(moves):
        node = theirs.extend_main_sequence()
        node.set_move("bw"[number % 2], divmod(point % size**2, size) if point else None)
        node.set("C", comment)
    tree = sgf.read(theirs.serialise())
    assert (tree.game.width, tree.game.height, tree.game.komi) == (size, size, 5.5)
    assert tree.main_line() == [point % size**2 if point else size**2 for point, _ in moves]
    assert [node.comment for node in tree.path()[1:]] == [comment for _, comment in moves]


# --- GNU Go beside us ---


@pytest.fixture
def gnugo(monkeypatch):
    """GNU Go, which Debian keeps where PATH does not lead."""
    monkeypatch.setenv("PATH", os.environ["PATH"] + os.pathsep + "/usr/games")
    needs("gnugo")
    return shutil.which("gnugo")


@pytest.mark.parametrize("handicap", [0, 4])
def test_what_gnu_go_writes_is_read(gnugo, tmp_path, handicap):
    path = tmp_path / "gnugo.sgf"
    options = ["--mode", "ascii", "--boardsize", "9", "--level", "0", "--komi", "5.5", "--handicap", str(handicap)]
    moves = "A1\npass\nJ1\nquit\n"
    run = subprocess.run([gnugo, *options, "-o", path], input=moves, capture_output=True, text=True, timeout=60, check=False)
    tree = sgf.load(path)
    assert (tree.game.komi, tree.game.handicap) == (5.5, handicap)
    assert tree.game.rules == RULE_SETS["japanese"]
    diagrams = re.findall(r"(?:^ +\d .* \d$\n)+", run.stdout.replace("\r", ""), re.MULTILINE)
    _, _, black, white = draw.parse(re.sub(r"\s+(?:WHITE|BLACK).*$", "", diagrams[-1], flags=re.MULTILINE))
    stones = stones_of(tree.position())
    assert sorted(stones) == sorted(black + white)
    assert all(stones[action] == BLACK for action in black)


def test_gnu_go_reads_what_is_written(gnugo, tmp_path):
    position = Go(9, komi=6.5).position(["E5", "E4", "D4", "D5", "C5", "F5", "D6", "G3", "E6", "pass", "C3"])
    sgf.save(GameTree.from_position(position, comments={3: "a ] and a \\"}), tmp_path / "ours.sgf")
    commands = f"loadsgf {tmp_path / 'ours.sgf'}\nlist_stones black\nlist_stones white\nget_komi\nquit\n"
    run = subprocess.run([gnugo, "--mode", "gtp"], input=commands, capture_output=True, text=True, timeout=60, check=True)
    colour, black, white, komi, _ = (answer.lstrip("= ") for answer in run.stdout.strip().split("\n\n"))
    assert (colour, float(komi)) == ("white", 6.5)
    stones = stones_of(position)
    for listed, player in ((black, BLACK), (white, WHITE)):
        assert sorted(map(position.game.action, listed.split())) == sorted(a for a, owner in stones.items() if owner == player)
