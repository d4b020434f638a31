"""Reviews of games: what moves lost, whatever a record holds, and what is drawn and written of it."""

import re
import warnings
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anabranch.chart import Field
from anabranch.errors import SgfError
from anabranch.goengine import review as reviews
from anabranch.goengine.report import Candidate
from anabranch.goengine.review import (
    Judgement,
    Rate,
    Review,
    Reviewed,
    begun,
    joined,
    judge,
    review,
    standard_error,
    turns_of,
)
from anabranch.goengine.review_chart import board_picture, winrate_chart
from anabranch.goengine.review_sgf import annotate
from anabranch.goengine.review_summary import lead_curve, points_a_move, size_of, sizes, to_dict, turning_points
from anabranch.goengine.searches import Options
from anabranch.protocols import sgf
from anabranch.protocols.sgf import Player
from tests.conftest import needs, when_compiled
from tests.protocols.records import BLACK, WHITE, board

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = Options(visits=100, memory="64MB")

# Whoever plays E7 takes the other's stones, and wins:
#   7 . . X O . . .
#   6 . . X O X O .   ... and so on down to
#   1 . . X O X O .
RACE = "(;GM[1]FF[4]SZ[7]KM[0.5]RU[Chinese]PB[Ann]PW[Bob]RE[W+R]AB[ca:cg][eb:eg]AW[da:dg][fb:fg]PL[B]"
LOST_RACE = RACE + ";B[ad];W[ea])"  # black plays elsewhere
SETTLED = "(;GM[1]SZ[5]KM[0.5]RU[Chinese]AB[ca:ce]AW[da:de][ae]PL[B];B[];W[])"  # A1 is dead


def fake(position, options, following=None, is_reviewed=False):
    """A judgement that depends on the position alone."""
    rate = (position.key[0] % 1000) / 1000
    if position.is_over:
        return Judgement(rate, 0.0, 0, None)
    choice = position.legal_actions[position.key[1] % len(position.legal_actions)]
    return Judgement(rate, 20 * rate - 10, 100, choice, (position.game.name_of(choice),))


@pytest.fixture
def quick(monkeypatch):
    """Nothing is searched."""
    monkeypatch.setattr(reviews, "judge", fake)


def names(turns):
    return " ".join(f"{'BW'[turn.player]}{turn.before.game.name_of(turn.action)}" for turn in turns)


# --- what moves lose ----------------------------------------------------------------------------------------------------------


def test_a_lost_race_is_the_worst_move_and_the_winning_one_is_preferred():
    found = review(sgf.read(LOST_RACE), replace(OPTIONS, visits=400))
    (worst,) = found.swings(1)
    assert (worst.turn.number, worst.turn.player, worst.name) == (1, BLACK, "A4")
    assert worst.loss > 0.6 and worst.rates[0] > 0.8 and worst.rates[1] < 0.3
    assert worst.before.line[0] == "E7" and not worst.is_first_choice
    second = found.moves[1]
    assert second.is_first_choice and second.turn.player == WHITE and abs(second.loss) < 0.1
    assert found.side(WHITE) == (1, second.loss, 1) and found.side(BLACK) == (1, worst.loss, 0)
    assert [number for number, _ in found.curve] == [0, 1, 2]
    assert found.curve[0][1] > 0.8 and found.curve[2][1] < 0.3  # black's view, whoever is to move


def test_the_same_seed_says_the_same_and_a_part_says_what_the_whole_does():
    tree = sgf.read("(;GM[1]SZ[5]KM[3.5];B[cc];W[cb];B[bb];W[dc];B[dd];W[bc])")
    options = replace(OPTIONS, visits=30)
    whole = review(tree, options).to_dict(3)
    assert whole == review(tree, options).to_dict(3)
    part = review(tree, options, first=3, last=4).to_dict(3)
    assert part["moves"] == whole["moves"][2:4]
    assert review(tree, replace(options, seed=1)).to_dict(3)["moves"] != whole["moves"]


def test_at_the_end_dead_stones_count_as_dead_and_passing_costs_nothing():
    found = review(sgf.read(SETTLED), OPTIONS)
    assert [rate for _, rate in found.curve[1:]] == [1.0, 1.0]
    assert found.moves[1].before.lead == found.moves[1].after.lead == 4.5  # 15 points to 10, less komi
    assert all(abs(move.loss) < 0.05 for move in found.moves)
    assert found.moves[1].is_first_choice
    assert found.moves[1].after.choice is None


def test_where_all_stones_count_dead_ones_do_as_well():
    tree = sgf.read(SETTLED.replace("Chinese", "Tromp-Taylor"))
    assert review(tree, OPTIONS, first=2).moves[0].after.lead == -6.5  # five stones to eleven


def test_a_pass_in_an_open_game_is_searched():
    tree = sgf.read("(;GM[1]SZ[5]KM[0.5];B[cc];W[])")
    (turn,) = turns_of(tree, first=2)
    assert judge(turn.after, OPTIONS).visits == 100


def test_progress_counts_every_position_that_is_searched(quick):
    heard = []
    review(sgf.read(LOST_RACE), OPTIONS, on_progress=lambda *told: heard.append(told))
    assert heard == [(1, 3), (2, 3), (3, 3)]
    heard.clear()
    review(sgf.read("(;SZ[5];B[aa];B[bb];W[cc])"), OPTIONS, on_progress=lambda *told: heard.append(told))
    assert heard == [(number, 5) for number in range(1, 6)]  # between black's two moves it is nobody's turn twice


@pytest.mark.parametrize("where", ["in a search", "between two"])
def test_an_interrupted_review_keeps_what_it_has(monkeypatch, where):
    answers = [Judgement(0.5, 0.0, 1, 0, ("A1",)), Judgement(0.4, 0.0, 1, 0, ("A1",)), None]

    def judged(*_):
        if len(answers) == 1 and where == "between two":
            raise KeyboardInterrupt
        return answers.pop(0)

    monkeypatch.setattr(reviews, "judge", judged)
    found = review(sgf.read(LOST_RACE), OPTIONS)
    assert not found.is_complete and len(found.moves) == 1


# --- two views, and the noise ---


OPENING = "(;GM[1]SZ[9]KM[7.5];B[ee];W[gc];B[cg];W[gg];B[cc];W[ec];B[ce];W[ge];B[eg];W[dh])"


def hopeful(by, error=0.01):
    """Searches of an even game, each of them too hopeful for the side that moves."""

    def judged(position, options, following=None, is_reviewed=False):
        rate = 0.5 + by if position.to_play == BLACK else 0.5 - by
        return Judgement(rate, 0.0, 100, following, ("A1",), error, rate if is_reviewed else None, error)

    return judged


@pytest.mark.parametrize("by", [0.0, 0.04, 0.2])
def test_hope_of_the_side_to_move_is_no_loss(monkeypatch, by):
    """Each view by itself would have every move lose twice as much as searches are too hopeful, or the curve be a saw."""
    monkeypatch.setattr(reviews, "judge", hopeful(by))
    found = review(sgf.read(OPENING), OPTIONS)
    assert [rate for _, rate in found.curve] == pytest.approx([0.5] * 11)
    assert all(move.loss == pytest.approx(0.0) and move.is_noise for move in found.moves)
    assert found.side(BLACK).loss == pytest.approx(0.0) and not found.is_loud


def test_a_loss_is_the_middle_of_what_both_sides_see():
    """Before the move its search has black at 60 % and, after the move that was played, at 50 %; the search after it says 40 %,
    and the one before white's last move said 54 %."""
    (turn,) = turns_of(sgf.read("(;GM[1]SZ[5];B[cc])"))
    before, after = Judgement(0.6, 0.0, 100, 0, played=0.5), Judgement(0.4, 0.0, 100, 0)
    move = Reviewed(turn, before, after, Rate((0.54 + 0.6) / 2, 0.01), joined(before, after))
    assert move.rates == pytest.approx((0.57, 0.45))
    assert move.loss == pytest.approx((0.1 + 0.14) / 2)
    assert move.error == pytest.approx(0.02)  # half the difference between the two
    assert not move.is_noise
    first = replace(move, rate_before=begun(before, joined(before, after)))
    assert first.loss == pytest.approx(0.1)  # there is but one view


def test_a_loss_that_the_two_sides_do_not_agree_on_is_noise():
    (turn,) = turns_of(sgf.read("(;GM[1]SZ[5];B[cc])"))
    before, after = Judgement(0.6, 0.0, 100, 0, played=0.6), Judgement(0.3, 0.0, 100, 0)
    move = Reviewed(turn, before, after, Rate(0.6, 0.01), joined(before, after))
    assert move.loss == pytest.approx(0.15) and move.error == pytest.approx(0.15) and move.is_noise


def test_playouts_have_a_standard_error_and_few_of_them_a_large_one(monkeypatch):
    even = Candidate(0, "A1", 98, 0.5, 0.4, 0.1, 0, ("A1",), None)
    assert standard_error(even) == pytest.approx(0.05)
    assert standard_error(replace(even, visits=9998)) == pytest.approx(0.005)
    assert 0.0 < standard_error(replace(even, winrate=1.0)) < 0.02
    monkeypatch.setattr(reviews, "judge", hopeful(0.04, error=0.2))
    found = review(sgf.read(OPENING), OPTIONS)
    assert found.is_loud and found.to_dict(1)["too_few_visits"] and found.to_dict(1)["moves"][0]["within_noise"]


@when_compiled
def test_a_review_searches_as_the_engine_plays_and_gives_the_move_as_many_visits_as_its_own():
    found = review(sgf.read("(;GM[1]SZ[9]KM[7.5];B[ee];W[ai])"), OPTIONS)
    assert found.options.select == "best"
    before = found.moves[1].before
    assert before.choice != found.moves[1].turn.action and before.visits == 100
    assert before.played_error < 2.5 * before.error  # by itself the search would not have looked at the corner
    assert before.played > before.winrate  # black's, after a poor move of white's


# --- what records hold --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;SZ[9]HA[2]AB[gc][cg];W[ee];B[])", "WE5 Bpass"),
        ("(;SZ[9]HA[2];B[gc];B[cg];W[ee])", "BG7 BC3 WE5"),
        ("(;SZ[5];B[aa];W[];B[];W[])", "BA5 Wpass Bpass"),  # the last pass comes behind the end
        ("(;SZ[5];B[];W[];B[aa];W[bb])", "Bpass Wpass BA5 WB4"),  # the game was resumed
        ("(;SZ[5];B[aa];AW[bb]PL[B];B[cc])", "BA5 BC3"),
        ("(;SZ[5]B[aa];W[bb])", "BA5 WB4"),  # a move in the first node
        ("(;SZ[5];B[aa](;W[bb];B[cc])(;W[ee]))", "BA5 WB4 BC3"),
        ("(;SZ[3]RU[Japanese];B[ba];W[bc];C[nothing];B[bb])", "BB3 WB1 BB2"),
    ],
)
def test_all_moves_of_the_main_line_are_gone_through(quick, text, moves):
    tree = sgf.read(text)
    assert names(turns_of(tree)) == moves
    found = review(tree, OPTIONS)
    assert [move.turn.number for move in found.moves] == list(range(1, len(moves.split()) + 1))


def test_stones_that_are_set_up_stand_before_the_move_of_their_node():
    first, second = turns_of(sgf.read("(;SZ[5];B[aa];AW[bb]PL[B];B[cc])"))
    assert board(second.before) == ["X....", ".O...", ".....", ".....", "....."]
    assert board(first.after) == ["X....", ".....", ".....", ".....", "....."]


def test_moves_that_repeat_a_position_are_believed():
    """Superko forbids white's second capture, but whoever watched over the game let it pass; taking a ko back at once is
    no move of Go at all."""
    ko = "(;SZ[5]RU[Chinese]AB[ba][ab][bc]AW[ca][db][cc][bb];B[cb]"
    assert len(turns_of(sgf.read(ko + ";W[];B[];W[bb])"))) == 4
    with pytest.raises(SgfError, match="move 2, by white: B4 is not legal here: it retakes a ko at once"):
        turns_of(sgf.read(ko + ";W[bb])"))
    assert len(turns_of(sgf.read(ko + ";W[bb])"), last=1)) == 1


@pytest.mark.parametrize(
    ("text", "range_", "complaint"),
    [
        ("(;SZ[9]C[nothing])", {}, "there are no moves in the game"),
        ("(;SZ[9];B[aa];W[aa])", {}, "move 2, by white: A9 is not legal here: there is a stone"),
        ("(;SZ[9];B[aa];W[bb])", {"first": 3}, "there is no move 3 to begin with: the game has 2 moves"),
    ],
)
def test_what_cannot_be_gone_through_is_told(text, range_, complaint):
    with pytest.raises(SgfError, match=complaint):
        turns_of(sgf.read(text), **range_)


def test_komi_and_rules_may_be_others_than_recorded():
    tree = sgf.read("(;SZ[9]KM[5.5]RU[house rules]HA[2]AB[aa][bb];W[cc])")
    tree.change(komi=0.5)
    assert (tree.komi, tree.game.komi, tree.game.rules.handicap_bonus) == (0.5, 2.5, "stones")
    assert "RU[house rules]" in sgf.write(tree)
    tree.change(rules=sgf.read("(;RU[AGA])").game.rules)
    assert (tree.komi, tree.game.komi) == (0.5, 1.5)
    assert "RU[AGA]" in sgf.write(tree) and "KM[0.5]" in sgf.write(tree) and "house" not in sgf.write(tree)
    assert turns_of(tree)[0].before.game is tree.game


# --- what is written ----------------------------------------------------------------------------------------------------------

MOVES = st.lists(st.integers(0, 24), min_size=1, max_size=12)


def random_review(choices, names=("", "")):
    """A review of made-up judgements of a game on 5x5."""
    tree = sgf.read("(;GM[1]SZ[5]KM[0.5])")
    tree.players = tuple(map(Player, names))
    position = tree.game.start()
    for choice in choices:
        action = position.legal_actions[choice % len(position.legal_actions)]
        position = position.play(action)
        tree.add(action)
        if position.is_over:
            break
    turns = turns_of(tree)
    judged = [fake(turn.before, None) for turn in turns] + [fake(turns[-1].after, None)]
    moves = [Reviewed(turn, *pair) for turn, pair in zip(turns, pairwise(judged), strict=True)]
    return Review(tree, OPTIONS, moves)


@given(MOVES)
@settings(max_examples=25)
def test_sgfmill_reads_what_is_written_and_the_game_is_still_there(choices):
    needs("sgfmill")
    from sgfmill import sgf as outside

    found = random_review(choices)
    before = found.tree.main_line()
    annotate(found)
    text = sgf.write(found.tree)
    assert sgf.read(text).main_line() == before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        game = outside.Sgf_game.from_string(text)
    main = game.get_main_sequence()
    assert len(main) == len(found.moves) + 1
    for node, (_, rate) in zip(main, found.curve, strict=True):
        assert abs(float(node.get_raw("SBKV")) - 100 * rate) < 0.01
    for move, node, parent in zip(found.moves, main[1:], main, strict=False):
        assert node.get("V") == pytest.approx(move.after.lead, abs=0.06)
        assert f"loss {move.loss:+.1%} (standard error {move.error:.1%}" in node.get("C")
        assert ("within the noise" in node.get("C")) == move.is_noise
        branches = {child.get_move() for child in parent}
        choice = move.before.choice
        where = None if choice == 25 else divmod(choice, 5)
        assert ("bw"[move.turn.player], where) in branches
        assert len(branches) == (1 if move.is_first_choice else 2)


@given(MOVES)
@settings(max_examples=25)
def test_a_second_review_replaces_the_first(choices):
    found = random_review(choices)
    found.moves[0].turn.node.comment = "a fine start"
    once = sgf.write(annotate(found))
    assert sgf.write(annotate(found)) == once
    assert "C[a fine start\n\nAnabranch: " in once


def test_a_variation_ends_where_its_moves_are_not_legal():
    found = random_review([12, 3])
    line = ("A1", "B1", "A1", "C1")
    first = found.moves[0]
    found.moves[0] = replace(first, before=replace(first.before, choice=0, line=line))
    (_, branch) = annotate(found).root.children
    assert [found.tree.game.name_of(node.action) for node in (branch, *branch.children)] == ["A1", "B1"]
    assert branch.children[0].children == []


def test_a_review_for_programs_has_all_numbers(quick):
    told = review(sgf.read(LOST_RACE), OPTIONS).to_dict(1)
    assert told["players"]["black"] == {"name": "Ann", "rank": ""} and told["result"] == "W+R"
    assert told["settings"] == {"visits": 100, "seconds": None, "seed": 0}
    assert [move["move"] for move in told["moves"]] == ["A4", "E7"]
    for move in told["moves"]:
        before, after = move["black_winrate"]
        assert move["loss"] == pytest.approx(before - after if move["player"] == "black" else after - before)
    assert len(told["swings"]) <= 1


# --- points -------------------------------------------------------------------------------------------------------------------


def with_points(*leads, rates=None, views=None):
    """A review of as many moves in turn as there are leads after the first; black's, as a network sees them."""
    tree = sgf.read("(;SZ[5];B[cc];W[bb];B[bc];W[cb])")
    turns = turns_of(tree)[: len(leads) - 1]
    rates = rates or [0.5 + lead / 100 for lead in leads]
    found = Review(tree, OPTIONS)
    for place, turn in enumerate(turns):
        played, after = leads[place + 1], (views or leads)[place + 1]
        before = Judgement(rates[place], leads[place], 50, 0, ("A1",), 0.001, rates[place + 1], 0.001, played)
        found.moves.append(Reviewed(turn, before, Judgement(rates[place + 1], after, 50, 0, ("A1",), 0.001)))
    return found


def test_moves_are_ranked_and_named_by_the_points_that_they_lose():
    found = with_points(0.0, -3.5, 3.5, -10.0, -10.5)
    assert [size_of(move) for move in found.moves] == ["inaccuracy", "mistake", "blunder", None]
    assert [move.turn.number for move in found.swings(5)] == [3, 2, 1]
    assert sizes(found, BLACK) == {"blunder": 1, "mistake": 0, "inaccuracy": 1}
    assert points_a_move(found, WHITE) == pytest.approx((7 - 0.5) / 2)
    assert lead_curve(found) == [(0, 0.0), (1, -3.5), (2, 3.5), (3, -10.0), (4, -10.5)]


def test_points_that_the_searches_disagree_on_are_no_mistake():
    (move,) = with_points(0.0, -20.0, views=(0.0, 0.0)).moves
    assert move.points_lost == 10.0 == move.points_error and size_of(move) is None


def test_without_points_moves_are_named_by_win_rates():
    (move,) = with_points(0.0, -20.0, rates=(0.6, 0.35)).moves
    assert size_of(replace(move, before=replace(move.before, played_lead=None))) == "mistake"


def test_the_lead_changes_hands_once_it_is_clear():
    found = with_points(0, 0, 0, 0, 0, rates=(0.5, 0.6, 0.48, 0.52, 0.4))
    assert turning_points(found) == [(1, BLACK), (4, WHITE)]
    told = to_dict(found, 2)
    assert told["turning_points"] == [{"move": 1, "ahead": "black"}, {"move": 4, "ahead": "white"}]
    assert told["moves"][0]["size"] is None and told["sides"]["black"]["sizes"]["blunder"] == 0
    assert turning_points(with_points(0, 0, rates=(0.5, 0.5))) == []


def test_a_chart_with_points_has_the_lead_below_and_points_as_labels():
    text = winrate_chart(with_points(0.0, -3.5, 3.5, -10.0), 5)
    ElementTree.fromstring(text)
    assert 'class="points"' in text and "3 B B3 -13.5" in text
    assert 'class="points"' not in winrate_chart(random_review([12, 3, 8]), 3)


def test_the_board_shows_whose_points_are_whose_and_what_was_preferred():
    found = with_points(0.0, -3.5, 3.5)
    first = found.moves[0]
    found.moves[0] = replace(first, after=replace(first.after, ownership=np.linspace(-1, 1, 25)))
    drawn = board_picture(found, 1)
    ElementTree.fromstring(drawn)
    assert drawn != board_picture(found) and len(drawn) > len(board_picture(found))
    with pytest.raises(SgfError, match="move 3 was not reviewed"):
        board_picture(found, 3)


def test_comments_tell_points_and_sizes():
    tree = annotate(with_points(0.0, -12.5))
    node = tree.root.children[0]
    assert "Points lost: 12.5, a blunder." in node.comment and node.other["V"] == ["-12.5"]


# --- what is drawn ------------------------------------------------------------------------------------------------------------


@given(MOVES, st.text(max_size=30), st.integers(0, 12))
@settings(max_examples=25)
def test_every_chart_is_xml_with_its_moves_labelled(choices, name, swings):
    found = random_review(choices, (name, "<&>"))
    root = ElementTree.fromstring(winrate_chart(found, swings))
    worst = found.swings(swings)
    discs = [element for element in root.iter(SVG + "circle") if element.get("class") == "swing"]
    labels = [element for element in root.iter(SVG + "g") if element.get("class") == "label"]
    assert len(discs) == len(labels) == len(worst) <= swings
    told = {element.find(SVG + "text").text.split(" ")[0] for element in labels}
    assert told == {str(move.turn.number) for move in worst}


@given(st.lists(st.integers(0, 24), min_size=4, max_size=12))
@settings(max_examples=25)
def test_labels_do_not_cover_each_other(choices):
    root = ElementTree.fromstring(winrate_chart(random_review(choices), 5))
    boxes = []
    for label in (element for element in root.iter(SVG + "g") if element.get("class") == "label"):
        x, y, width, height = (float(label.find(SVG + "rect").get(side)) for side in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height))
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_the_curve_runs_through_blacks_win_rates():
    found = random_review([12, 3, 8])
    drawn = re.search(r'class="winrate" d="M([^"]*)"', winrate_chart(found, 0))[1]
    points = [tuple(map(float, point.split())) for point in drawn.split("L")]
    scale = Field(0, 0, 1, 1, (0, 3), (0.0, 1.0))
    across = [(x - points[0][0]) / (points[-1][0] - points[0][0]) for x, _ in points]
    assert across == pytest.approx([scale.x(number) for number, _ in found.curve], abs=0.001)
    heights = [y for _, y in points]
    rates = [rate for _, rate in found.curve]
    slope = (heights[0] - heights[1]) / (rates[1] - rates[0])
    assert heights == pytest.approx([heights[0] - slope * (rate - rates[0]) for rate in rates], abs=0.3) and slope > 0
