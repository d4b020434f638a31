"""Unconditional life, ladders, dead stones, and the scores that depend on them."""

import subprocess

import numpy as np
import pytest
from tests.conftest import needs, program, when_compiled

from anabranch.errors import GameError
from anabranch.games import rules
from anabranch.games.go import RULE_SETS, Go, Light
from anabranch.games.go.dead import dead_stones, ownership
from anabranch.games.go.ladder import is_captured
from anabranch.games.go.life import unconditional
from anabranch.games.go.rulesets import RuleSet
from anabranch.games.playout import pick
from anabranch.jit import COMPILED, readable
from anabranch.jit.random import generator


def drawn(*rows, to_play=0, **options):
    """A drawn board, and its game."""
    game = Go((len(rows[0]), len(rows)), **options)
    return game, game.drawn("\n".join(rows), to_play)


def names(game, actions):
    return {game.name_of(int(action)) for action in actions}


def owned(game, position, owner):
    """The points that are unconditionally this one's."""
    return names(game, np.flatnonzero(unconditional(position) == owner))


# --- unconditional life -------------------------------------------------------------------------------------------------------


def test_two_eyes_live_and_one_does_not():
    game, position = drawn(".X.X.", "XXXX.", ".....", ".....", ".....")
    assert {"A5", "B5", "C5", "D5", "A4"} <= owned(game, position, 1)
    game, position = drawn("..XX.", "XXXX.", ".....", ".....", ".....")
    assert not unconditional(position).any()


def test_two_chains_that_share_two_eyes_live_together():
    game, position = drawn(".X.X.", "XX.XX", ".....", ".....", ".....")
    assert not unconditional(position).any()  # each has one eye of its own; the region below is open
    game, position = drawn(".XX.X", "XXXXX", ".....", ".....", ".....")
    assert len(owned(game, position, 1)) == 10


def test_an_eye_that_can_be_taken_away_is_no_eye():
    game, position = drawn(".XO..", "X.XO.", "XXXO.", "OOOO.", ".....")
    assert {"A5", "B5", "B4"} <= owned(game, position, 1)  # two chains, both with both eyes
    game, position = drawn(".XO..", "O.XO.", "XXXO.", "OOOO.", ".....")
    assert not (unconditional(position) == 1).any()


def test_stones_in_unconditional_territory_are_counted_with_it():
    game, position = drawn(".X.OX", "XXXXX", ".....", ".....", ".....")
    assert "D5" in owned(game, position, 1)


def test_life_of_both_colours_is_told_apart():
    _game, position = drawn(".X.X.", "XXXXX", "OOOOO", ".O.O.", "OOOOO")
    assert (unconditional(position)[15:] == 1).all()
    assert (unconditional(position)[:15] == -1).all()


def test_what_lives_unconditionally_is_never_taken_by_an_attacker_who_plays_alone():
    """The definition itself: however the other side plays, and its owner always passes, the stones stay."""
    lived = 0
    game = Go(5, rules=RULE_SETS["tromp-taylor"].but(ko="simple"))
    for number in range(40 if COMPILED else 15):
        random = np.random.default_rng(number)
        position = light_game(game, number)
        life, colours = unconditional(position), contents(position)
        for owner, colour in ((1, 1), (-1, 2)):
            stones = np.flatnonzero((life == owner) & (colours == colour))
            lived += len(stones) > 0
            attack = game.arranged(np.flatnonzero(colours == 1), np.flatnonzero(colours == 2), to_play=2 - colour)
            for _ in range(30):
                moves = attack.legal_actions[:-1]
                if attack.is_over or not moves:
                    break
                attack = attack.after(int(random.choice(moves)))
                assert (contents(attack)[stones] == colour).all()
                attack = attack.after(game.actions - 1)
    assert lived > 10


def light_game(game, seed):
    """A position near the end of a game of light moves."""
    states, random = readable(game.start().record()), generator(seed)
    with np.errstate(over="ignore"):
        while not rules.is_over(states[0]) and states[0].ply < 45:
            rules.play(states[0], pick(Light(), states[0], random), np.zeros(2))
    colours = [states[0].colour[10 * (a // game.width + 1) + a % game.width + 1] for a in range(game.actions - 1)]
    black, white = ([a for a, content in enumerate(colours) if content == colour] for colour in (1, 2))
    return game.arranged(black, white)


def contents(position):
    return np.array([position.state.colour[cell(position, action)] for action in range(position.game.actions - 1)])


# --- ladders ------------------------------------------------------------------------------------------------------------------


LADDER = ["B3", "C2", "D2"]  # black's, around white's C3: a ladder to the upper right


def test_a_ladder_works_unless_a_stone_breaks_it():
    game = Go(9)
    assert is_captured(game.arranged(LADDER, ["C3"]), "C3")
    for breaker in ("E5", "G7", "F5"):
        assert not is_captured(game.arranged(LADDER, ["C3", breaker]), "C3"), breaker
    assert is_captured(game.arranged(LADDER, ["C3", "A9"]), "C3")  # far from it


def test_a_chain_in_atari_is_captured_if_its_only_way_leads_into_a_ladder():
    position = Go(9).arranged(LADDER, ["C3"]).play("C4")
    assert is_captured(position, "C3")
    assert not is_captured(Go(9).arranged([*LADDER, "C4"], ["C3", "E5"], to_play=1), "C3")


def test_three_liberties_are_no_ladder():
    _game, position = drawn(".....", ".....", ".XO..", ".....", ".....")
    assert not is_captured(position, "C3")


def test_taking_an_attacker_breaks_a_ladder():
    game = Go(9)
    position = game.arranged([*LADDER, "C4"], ["C3", "A3", "B4", "A2", "B1"], to_play=1)  # B3 has one liberty, B2
    assert is_captured(game.arranged([*LADDER, "C4"], ["C3"], to_play=1), "C3")
    assert not is_captured(position, "C3")


@when_compiled
def test_a_ladder_runs_across_the_whole_board():
    game = Go(19)
    assert is_captured(game.arranged(LADDER, ["C3"]), "C3")
    assert not is_captured(game.arranged(LADDER, ["C3", "Q17"]), "C3")


def test_there_must_be_a_stone():
    position = Go(9).arranged(LADDER, ["C3"])
    with pytest.raises(GameError, match="no stone at A1"):
        is_captured(position, "A1")


def brute_force(position, stone, defender, depth=40):
    """The same question by plain recursion on positions, for small boards."""
    state = position.state
    stones, liberties = chain_of(position, stone)
    mine = position.to_play == defender
    if not stones:
        return True
    if len(liberties) == 1 and not mine:
        return bool(set(liberties) & set(position.legal_actions))
    if len(liberties) > 2 or depth == 0:
        return False
    legal = set(position.legal_actions[:-1])
    if not mine:
        return any(brute_force(position.after(move), stone, defender, depth - 1) for move in liberties if move in legal)
    if len(liberties) == 2:
        return False
    tries = {move for move in liberties if move in legal}
    for near in {n for s in stones for n in beside(position.game, s)}:
        others, breaths = chain_of(position, near)
        if others and state.colour[cell(position, near)] != defender + 1 and len(breaths) == 1:
            tries |= set(breaths) & legal
    return all(brute_force(position.after(move), stone, defender, depth - 1) for move in tries)


def cell(position, action):
    return 10 * (action // position.game.width + 1) + action % position.game.width + 1


def beside(game, action):
    row, column = divmod(action, game.width)
    for y, x in ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column)):
        if 0 <= y < game.height and 0 <= x < game.width:
            yield y * game.width + x


def chain_of(position, action):
    colour = position.state.colour[cell(position, action)]
    if colour == 0:
        return set(), set()
    stones, liberties, todo = {action}, set(), [action]
    while todo:
        for near in beside(position.game, todo.pop()):
            content = position.state.colour[cell(position, near)]
            if content == 0:
                liberties.add(near)
            elif content == colour and near not in stones:
                stones.add(near)
                todo.append(near)
    return stones, liberties


def test_ladders_are_read_as_by_brute_force():
    random = np.random.default_rng(8)
    results = {True: 0, False: 0}
    for _ in range(60 if COMPILED else 20):
        game = Go(5, rules="chinese")
        position = game.start()
        for _ in range(14):
            position = position.play(int(random.choice(position.legal_actions[:-1])))
        for action in range(25):
            stones, liberties = chain_of(position, action)
            if not stones or action != min(stones):
                continue
            defender = position.state.colour[cell(position, action)] - 1
            attackers_turn = position.to_play != defender
            if len(liberties) > 2 or (len(liberties) == 2 and not attackers_turn):
                continue
            expected = brute_force(position, action, defender)
            assert is_captured(position, action) == expected, f"{position}\n{game.name_of(action)}"
            results[expected] += 1
    assert min(results.values()) > 5


# --- dead stones --------------------------------------------------------------------------------------------------------------


@when_compiled
def test_dead_stones_are_found_and_living_ones_are_not():
    game, position = drawn("..XO..", "..XO..", "..XO..", "O.XO..", "..XO.X", "..XO..")
    assert names(game, dead_stones(position)) == {"A3", "F2"}
    assert ownership(position).shape == (36,)
    assert ownership(position)[game.action("A6")] > 0.3 > -0.3 > ownership(position)[game.action("F6")]
    assert (ownership(position, seed=1) == ownership(position, seed=1)).all()


@when_compiled
def test_groups_with_two_eyes_are_never_dead():
    rows = (".X.X.OOOO", "XXXXXOOOO", "OOOOOOOO.", "OOOOOOOOO", "OO.OOOOOO", "OOOOOOOOO", "OOOOOOO.O", ".OOOOOOOO", "OOOOOO.OO")
    _game, position = drawn(*rows)
    assert dead_stones(position, policy=Light()) == []


def test_the_score_is_told_with_dead_stones_taken_off():
    game, position = drawn(".X.OX", "XXXXX", "OOOOO", "O.O.O", "OOOOO", komi=0.5, rules="tromp-taylor")
    before = game.lead(position)
    after = game.lead(position, dead=["D5"])
    assert after == before + 3  # white's stone is gone; its point and the neutral one beside it are black's
    assert game.result(position, dead=["D5"]) == ("B+" if after > 0 else "W+") + f"{abs(after):g}"
    with pytest.raises(GameError, match="no stone at B2"):
        game.lead(position, dead=["B2"])
    with pytest.raises(GameError, match="playouts"):
        game.lead(position, dead="somehow")


def test_stones_in_unconditional_territory_are_dead_after_two_passes_where_they_are_agreed_on():
    for name, lead in (("tromp-taylor", 8 - 16), ("chinese", 10 - 15)):
        game, position = drawn(".X.OX", "XXXXX", "OOOOO", "O.O.O", "OOOOO", komi=0, rules=name)
        over = position.play("pass").play("pass")
        assert over.is_over
        assert game.lead(over) == lead, name


def test_territory_and_area_agree_but_for_the_moves():
    rows = ("..X.O", "..X.O", "..XOO", "..XO.", "..XO.")
    area, territory = (drawn(*rows, komi=0, rules=RuleSet(scoring=scoring)) for scoring in ("area", "territory"))
    assert area[0].lead(area[1]) == (5 + 10) - (6 + 2)
    assert territory[0].lead(territory[1]) == 10 - 2
    position = territory[1].play("D4").play("D5")  # a neutral point each
    assert territory[0].lead(position) == 10 - 2


def test_points_in_seki_do_not_count_where_they_are_taxed():
    rows = (".XO.O", "XXOOO", "OOXXX", ".OX.X", "OOXXX")
    free, taxed = (drawn(*rows, komi=0, rules=RuleSet(tax=tax, dead="none")) for tax in ("none", "seki"))
    assert free[0].lead(free[1]) == taxed[0].lead(taxed[1])  # no neutral point: nobody is in seki
    rows = ("XO.X.", "XOOXX", "X.OXX", "XXOOO", ".XXXO")
    game, position = drawn(*rows, komi=0, rules=RuleSet(tax="none", dead="none"))
    taxing, same = drawn(*rows, komi=0, rules=RuleSet(tax="seki", dead="none"))
    assert taxing.lead(same) < game.lead(position)  # black's eyes touch neutral points


@when_compiled
def test_dead_stones_are_mostly_what_gnugo_says():
    needs("gnugo")
    game, random = Go(9, rules="chinese"), np.random.default_rng(5)
    agreed = stones = 0
    for _ in range(12):
        position = game.start()
        moves = []
        while len(moves) < 70 and not position.is_over:
            legal = position.legal_actions[:-1]
            if not legal:
                break
            action = int(random.choice(legal))
            position = position.play(action)
            moves.append(game.name_of(action))
        ours = names(game, dead_stones(position, playouts=400))
        lines = ["boardsize 9", "clear_board", *(f"play {'BW'[i % 2]} {move}" for i, move in enumerate(moves))]
        talk = "\n".join([*lines, "final_status_list dead", "quit"]) + "\n"
        command = [program("gnugo"), "--mode", "gtp", "--chinese-rules", "--positional-superko"]
        answers = subprocess.run(command, input=talk, capture_output=True, text=True, timeout=120).stdout.split("\n\n")
        theirs = set(answers[len(lines)].strip("= \n").split())
        on_board = {game.name_of(a) for a in range(81) if position.state.colour[cell(position, a)] != 0}
        agreed += len(on_board) - len(ours ^ theirs)
        stones += len(on_board)
    assert agreed > 0.7 * stones, f"{agreed} of {stones} stones"
