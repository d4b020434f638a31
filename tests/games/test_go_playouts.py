"""Playouts of Go: what they may play, how often, and what they know of tactics."""

import itertools

import numpy as np
import pytest
from tests.conftest import in_soak, when_compiled

import anabranch as ab
from anabranch.games import rules
from anabranch.games.go import Go, Light, MoGo, Softmax
from anabranch.games.go.layout import BLACK, EMPTY, WHITE, action_of, cell_of, in_atari, last_liberty
from anabranch.games.go.mogo import eye_move, is_lonely, pattern_moves
from anabranch.games.go.patterns import NONE, pattern_at
from anabranch.games.go.softmax import mark_moves, urgency
from anabranch.games.go.stones import is_eye, may_put
from anabranch.games.go.tactics import (
    capturing_moves,
    find_hot,
    is_hot,
    is_self_atari,
    nakade_move,
    saving_moves,
    two_liberty_moves,
    word_after,
)
from anabranch.games.playout import begin, is_enough, pick
from anabranch.jit import COMPILED, kernel, readable
from anabranch.jit.random import below, generator

POLICIES = [
    Light(),
    MoGo(),
    MoGo(nakade=0.5, two_liberties=0.5, second_last=0.5, eye_shape=0.5, empty_region=2, self_atari=0.5),
    Softmax(),
]
NO_REWARDS = np.zeros(2)


@pytest.fixture(autouse=True)
def wrap_around():
    """Machine integers wrap around silently, as in kernels."""
    with np.errstate(over="ignore"):
        yield


def state_of(position):
    """A record of a position to work on."""
    return readable(position.record())[0]


def board(drawing, to_play=0, last=None):
    """The state of a drawn board, with the last move where it is said to be."""
    rows = drawing.split()
    game = Go((len(rows[0]), len(rows)))
    state = state_of(game.drawn("\n".join(rows), to_play))
    if last:
        state.last = int(cell_of(state, game.action(last)))
    return game, state


def names(game, state, count):
    """The moves in `queue`."""
    return {game.name_of(int(action_of(state, np.uint64(cell)))) for cell in state.queue[:count]}


def moves(game, state, cell):
    return None if int(cell) == 0 else game.name_of(int(action_of(state, cell)))


def at(game, state, name):
    return cell_of(state, game.action(name))


def saves(game, state, cell, colour):
    """Whether this is the last liberty of an own chain."""
    return any(liberties == {int(cell)} for chain, liberties in chains(game, state) if state.colour[min(chain)] == colour)


# --- what all of them keep to ----------------------------------------------------------------------------------------------


@kernel
def play_on(states, policy, most, random, rewards):
    """Play one playout on states[0], at most so many plies; how many it took."""
    state = states[0]
    begin(policy, state)
    plies = 0
    while plies < most and not rules.is_over(state) and not is_enough(policy, state, plies):
        rules.play(state, pick(policy, state, random), rewards)
        plies += 1
    return plies


@when_compiled
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_a_playout_is_the_same_compiled_and_plain(policy):
    for seed in range(3):
        one, other = Go(7).start().record(), Go(7).start().record()
        plies = play_on(one, policy, 1000, generator(seed), NO_REWARDS)
        assert plies == play_on.plain(other, policy, 1000, generator(seed), NO_REWARDS)
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: type(policy).__name__)
def test_playouts_play_legal_moves_and_fill_no_own_eye_but_to_save_a_chain(policy):
    game, random = Go(7), generator(5)
    for _ in range(5):
        state = state_of(game.start())
        begin(policy, state)
        while not rules.is_over(state):
            action = pick(policy, state, random)
            assert rules.is_legal(state, action)
            if action != game.actions - 1:
                cell, colour = cell_of(state, action), state.turn + 1
                assert not is_eye(state, cell, colour) or saves(game, state, cell, colour)
            rules.play(state, action, NO_REWARDS)
        for i in range(state.empty_count):  # both passed since nothing else was left
            cell = np.uint64(state.empties[i])
            for colour in (BLACK, WHITE):
                assert is_eye(state, cell, colour) or not may_put(state, cell, colour) or cell == state.ko_cell


def test_a_playout_ends_at_its_cap_and_by_mercy():
    for policy in (Light(cap=0.5), MoGo(cap=0.5), Softmax(cap=0.5)):
        assert play_on.plain(Go(8).start().record(), policy, 1000, generator(0), NO_REWARDS) == 32
    leads = []
    for seed in range(20):
        states = Go(9).start().record()
        play_on(states, Light(mercy=6), 1000, generator(seed), NO_REWARDS)
        if states["passes"][0] < 2:
            leads.append(abs(int(states["stones"][0])))
    assert len(leads) > 10
    assert min(leads) >= 6


@when_compiled
def test_a_policy_without_its_rules_plays_like_the_light_one():
    bare = MoGo(save=0.0, pattern=0.0, capture=0.0, self_atari=0.0)
    lengths = {policy: [] for policy in (Light(), bare)}
    for policy, seed in itertools.product(lengths, range(400)):
        lengths[policy].append(play_on(Go(7).start().record(), policy, 1000, generator(seed), NO_REWARDS))
    light, other = (np.array(lengths[policy], float) for policy in lengths)
    assert abs(light.mean() - other.mean()) < 4 * np.hypot(light.std(), other.std()) / np.sqrt(len(light))


# --- no bias from the order of a list --------------------------------------------------------------------------------------


@kernel
def count_picks(states, policy, counts, draws, random):
    """How often each action is picked at states[0], always from the same list."""
    for _ in range(draws):
        states[1] = states[0]
        counts[pick(policy, states[1], random)] += 1


@kernel
def count_scans(states, counts, draws, random):
    """The same for the way that starts at a random place of the list and takes the first move that will do."""
    state = states[0]
    for _ in range(draws):
        i = below(random, np.int64(state.empty_count))
        while True:
            cell = np.uint64(state.empties[i])
            if may_put(state, cell, np.int64(state.turn) + 1) and not is_eye(state, cell, np.int64(state.turn) + 1):
                break
            i = (i + 1) % np.int64(state.empty_count)
        counts[action_of(state, cell)] += 1


def unevenness(counts, expected):
    """Pearson's chi-squared by its degrees of freedom: near 1 if the counts are what is expected."""
    return ((counts - expected) ** 2 / expected).sum() / (len(counts) - 1)


EYES = """
    X . X X . O O . O
    . X X . O . O O O
    X X . O O O . O .
    . . . . O O O O O
    X X X X X . . . .
    X . X . X X X . .
    . X X X X . X . O
    X X . X X X X . .
    . X X X . X . . .
"""


@when_compiled
def test_light_moves_are_equally_likely_whatever_stands_before_them_in_the_list():
    game = Go(9)
    position = game.drawn(EYES)
    state = state_of(position)
    good = [a for a in position.legal_actions[:-1] if not is_eye(state, cell_of(state, a), BLACK)]
    assert 10 < len(good) < len(position.legal_actions) - 4  # some are passed over
    states, draws = np.concatenate([position.record()] * 2), 200_000
    counts = np.zeros(game.actions, np.int64)
    count_picks(states, Light(), counts, draws, generator(1))
    assert counts.sum() == counts[good].sum() == draws
    assert unevenness(counts[good], draws / len(good)) < 2.0
    counts[:] = 0
    count_scans(states, counts, draws, generator(1))
    assert unevenness(counts[good], draws / len(good)) > 50.0  # so the test above can fail


@when_compiled
def test_softmax_moves_are_as_likely_as_their_urgency_says():
    game, policy = Go(5), Softmax(temperature=1.5)
    position = game.drawn(".....\n.XO..\n.OX..\n.....\n.....")
    state = state_of(position)
    state.last = int(at(game, state, "C3"))
    find_hot(state)
    mark_moves(state, BLACK)
    weights = np.zeros(game.actions)
    for action in position.legal_actions[:-1]:
        cell = cell_of(state, action)
        weights[action] = np.exp(urgency(policy, state, cell, BLACK, int(state.mark[cell])) / policy.temperature)
    states, draws = np.concatenate([position.record()] * 2), 200_000
    states["last"] = state.last
    counts = np.zeros(game.actions, np.int64)
    count_picks(states, policy, counts, draws, generator(2))
    likely = weights > 0
    assert len(set(weights[likely])) >= 3
    assert counts[likely].sum() == draws
    assert unevenness(counts[likely], draws * weights[likely] / weights.sum()) < 2.0


# --- chains in atari -------------------------------------------------------------------------------------------------------


def chains(game, state):
    """Every chain as its cells and the set of its liberties, by flood fill."""
    cells = {int(cell_of(state, action)) for action in range(game.actions - 1)}
    stride = game.width and int(cell_of(state, game.width)) - int(cell_of(state, 0))
    seen, found = set(), []
    for start in sorted(cells):
        if state.colour[start] == EMPTY or start in seen:
            continue
        chain, liberties, todo = {start}, set(), [start]
        while todo:
            cell = todo.pop()
            for near in (cell + 1, cell - 1, cell + stride, cell - stride):
                if near in cells and state.colour[near] == EMPTY:
                    liberties.add(near)
                elif near in cells and state.colour[near] == state.colour[start] and near not in chain:
                    chain.add(near)
                    todo.append(near)
        seen |= chain
        found.append((chain, liberties))
    return found


def test_words_and_hot_chains_are_what_flood_fill_finds():
    met = 0
    for game, seed in ((Go(7), 1), (Go((3, 9)), 2), (Go(13), 3)):
        state, random = state_of(game.start()), generator(seed)
        begin(Light(), state)
        for ply in range(150 if COMPILED else 100):
            if rules.is_over(state):
                break
            find_hot(state)
            hot = {int(head) for head in state.hot[: state.hot_count] if is_hot(state, np.uint64(head))}
            expected = set()
            for chain, liberties in chains(game, state):
                head = int(state.chain[min(chain)])
                assert head in chain
                assert int(state.size[head]) == len(chain)
                assert bool(in_atari(state.liberties[head])) == (len(liberties) == 1)
                if len(liberties) == 1:
                    assert int(last_liberty(state.liberties[head])) == min(liberties)
                    expected.add(head)
            assert hot == expected, ply
            met += len(hot)
            rules.play(state, pick(Light(), state, random), NO_REWARDS)
    assert met > 100


def test_self_atari_is_foreseen():
    """A move's word is that of the chain after it; a capture of several stones may give more liberties than foreseen."""
    game, random = Go(7), generator(7)
    state, foreseen = state_of(game.start()), 0
    begin(Light(), state)
    while not rules.is_over(state) and state.ply < 120:
        colour = state.turn + 1
        for i in range(0, int(state.empty_count), 3):
            cell = np.uint64(state.empties[i])
            if not may_put(state, cell, colour):
                continue
            after = readable(np.frombuffer(bytearray(state.tobytes()), game.record))[0]
            word = word_after(state, cell, colour)
            rules.play(after, action_of(state, cell), NO_REWARDS)
            real = after.liberties[after.chain[cell]]
            if int(after.empty_count) == int(state.empty_count) - 1:
                assert word == real
            else:
                assert int(word) & 2047 <= int(real) & 2047
            if is_self_atari(state, cell, colour) and int(after.empty_count) == int(state.empty_count) - 1:
                foreseen += 1
                assert in_atari(real)
        rules.play(state, pick(Light(), state, random), NO_REWARDS)
    assert foreseen > 20


# --- moves on drawn boards -------------------------------------------------------------------------------------------------


def test_a_chain_in_atari_runs_or_takes_its_attacker():
    game, state = board("..... ..O.. .OXO. .X.X. .....", to_play=0, last="D3")
    find_hot(state)
    assert names(game, state, saving_moves(state, BLACK)) == {"C2"}
    game, state = board("..... .XOX. ..XOX .O.O. .....", to_play=0, last="B2")
    assert saving_moves(state, BLACK) == 0  # the black stones have two liberties
    game, state = board("..... .O... OXOX. ..X.. .....", to_play=0, last="A3")
    find_hot(state)
    assert names(game, state, saving_moves(state, BLACK)) == {"B2", "C4"}  # B3 runs, or C3 is taken


def test_running_into_another_atari_saves_nothing():
    game, state = board("OX... .O... ..... ..... .....", to_play=0, last="B4")
    find_hot(state)
    assert names(game, state, saving_moves(state, WHITE)) == set()
    game, state = board("XO... .O... ..... ..... .....", to_play=0, last="B5")
    find_hot(state)
    assert saving_moves(state, BLACK) == 0  # A4 gives one liberty only


def test_captures_are_found_anywhere_but_not_a_ko_that_may_not_be_retaken():
    game, state = board("XOX.. ..... ..... ...XO ...X.", to_play=0)
    find_hot(state)
    assert names(game, state, capturing_moves(state, BLACK)) == {"B4"}  # E2 has two liberties
    game = Go(5)
    position = game.drawn(".XO..\nX.XO.\n.XO..\n.....\n.....", to_play=1).play("B4")  # takes C4
    state = state_of(position)
    find_hot(state)
    assert capturing_moves(state, BLACK) == 0
    state.ko_cell = 0
    assert names(game, state, capturing_moves(state, BLACK)) == {"C4"}


def test_two_liberties_are_attacked_from_the_side_on_which_the_chain_cannot_run():
    game, state = board("..... ..... ..... OX... .....", to_play=0, last="A2")
    assert names(game, state, two_liberty_moves(state, BLACK)) == {"A3"}  # then A1 is no way out; after A1, A3 would be one
    game, state = board(".OXX. .XX.. ..... ..... .....", to_play=0, last="B5")
    assert two_liberty_moves(state, BLACK) == 0  # B5 is in atari: that is for others


def test_a_small_eye_space_is_played_at_its_key_point():
    game, state = board("...O. OOOO. ..... ..... .....", to_play=0, last="D5")
    assert moves(game, state, nakade_move(state, BLACK)) == "B5"
    game, state = board("..O.. .OO.. OO... ..... .....", to_play=0, last="C5")
    assert moves(game, state, nakade_move(state, BLACK)) == "A5"
    game, state = board("....O OOOOO ..... ..... .....", to_play=0, last="E5")
    assert moves(game, state, nakade_move(state, BLACK)) is None  # four in a row live
    game, state = board("..XO. OOOO. ..... ..... .....", to_play=0, last="D5")
    assert moves(game, state, nakade_move(state, BLACK)) is None


def test_an_attacked_eye_is_made_whole():
    game, state = board("..... .XXO. .X.X. ..X.. .....", to_play=0, last="D4")
    assert moves(game, state, eye_move(state, BLACK)) in {"B2", "D2"}


def test_a_lonely_point_has_nothing_around_it():
    game, state = board("..... ..... ..... ...X. .....", to_play=0)
    assert is_lonely(state, at(game, state, "A5"))
    assert not is_lonely(state, at(game, state, "C3"))


# --- patterns --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("drawing", "move", "colour"),
    [
        ("..... .XOX. ..... ..... .....", "C3", BLACK),  # hane
        ("..... .XOX. ..... ..... .....", "C3", WHITE),
        ("..... .XO.. ..... ..... .....", "C3", BLACK),
        ("..... .XO.. .X... ..... .....", "C3", WHITE),  # magari
        ("..... .XOO. ..... ..... .....", "C3", BLACK),
        ("..... .XO.. .O... ..... .....", "C3", BLACK),  # cut
        ("..... ..X.. .O.O. ..... .....", "C3", WHITE),
        ("..... ..... ..... .X... .O...", "C1", BLACK),  # at the edge
        ("..... ..... ..... ..X.. ...O.", "C1", BLACK),
        ("..... ..... ..... ..XO. .....", "C1", BLACK),
        ("..... ..... ..... ..XO. .....", "C1", WHITE),
    ],
)
def test_shapes_of_mogo_are_known(drawing, move, colour):
    game, state = board(drawing)
    assert pattern_at(state, at(game, state, move), colour) != NONE


@pytest.mark.parametrize(
    ("drawing", "move", "colour"),
    [
        ("..... ..... ..... ..... .....", "C3", BLACK),
        ("..... .XOO. ..... ..... .....", "C3", WHITE),  # hane 4 is black's only
        ("..... .XO.. .O.O. ..... .....", "C3", BLACK),  # three O and an empty neighbour: no cut
        ("..... ..... ..... X.... .O...", "A1", BLACK),  # no pattern in a corner
        ("..... ..XX. ..... ..... .....", "C3", BLACK),
    ],
)
def test_other_shapes_are_not(drawing, move, colour):
    game, state = board(drawing)
    assert pattern_at(state, at(game, state, move), colour) == NONE


@pytest.mark.when_compiled
def test_patterns_do_not_depend_on_colours_or_on_how_the_board_is_turned():
    random = np.random.default_rng(4)
    found = 0
    for _ in range(150):
        rows = random.choice(list(".XO"), size=(3, 3), p=[0.5, 0.25, 0.25])
        rows[1, 1] = "."
        swapped = np.where(rows == "X", "O", np.where(rows == "O", "X", "."))
        kinds = set()
        for grid, colour in ((rows, BLACK), (swapped, WHITE)):
            for flipped in (grid, grid.T):
                for turns in range(4):
                    middle = np.full((5, 5), ".")
                    middle[1:4, 1:4] = np.rot90(flipped, turns)
                    game, state = board(" ".join("".join(row) for row in middle))
                    if state.colour[at(game, state, "C3")] == EMPTY:
                        kinds.add(int(pattern_at(state, at(game, state, "C3"), colour)))
        assert len(kinds) == 1
        found += kinds != {NONE}
    assert found > 10


def test_patterns_around_the_last_move_can_refuse_self_atari():
    game, state = board("..... ..... .OX.. O..X. .OO..", to_play=0, last="B3")
    both = names(game, state, pattern_moves(state, np.uint64(state.last), BLACK, False))
    careful = names(game, state, pattern_moves(state, np.uint64(state.last), BLACK, True))
    assert careful <= both
    assert all(not is_self_atari(state, at(game, state, name), BLACK) for name in careful)


# --- in a search -----------------------------------------------------------------------------------------------------------


@in_soak
def test_a_search_uses_the_games_own_policy_unless_told_otherwise():
    visits = 200 if COMPILED else 8
    own = ab.Search(Go(5)).run(visits=visits)
    assert type(Go.policy).__name__ in own.settings["evaluate"]
    assert own.visits.sum() == visits
    assert "Softmax" in ab.Search(Go(5), evaluate=ab.Rollout(policy=Softmax())).run(visits=visits).settings["evaluate"]
