"""Outputs of KataGo networks are read as KataGo reads them: compared with formulas for one position, written out."""

import math

import numpy as np
import pytest

from anabranch.errors import NetworkError, OptionError
from anabranch.nets.katago.layers import Header, Multipliers
from anabranch.nets.katago.outputs import RawOutputs, read_policy, read_values
from anabranch.nets.katago.symmetry import look_from, turn_back

HEIGHT, WIDTH = 3, 4
POINTS = HEIGHT * WIDTH
NUMBERS = Multipliers(20.0, 21.0, 22.0, 23.0, 41.0, 0.3, 145.0)


def random_outputs(n=4, channels=2, scores=6, seed=0):
    random = np.random.default_rng(seed)
    shapes = (n, channels, POINTS), (n, channels), (n, 3), (n, scores), (n, HEIGHT, WIDTH)
    return RawOutputs(*(random.normal(0, 2, shape).astype(np.float32) for shape in shapes))


def random_legal(n=4, seed=1):
    legal = np.random.default_rng(seed).random((n, POINTS + 1)) < 0.6
    legal[:, -1] = True
    return legal


# --- policy ---


def expected_priors(raw, legal, i, optimism):
    weights = []
    for move in range(POINTS + 1):
        logits = raw.policy[i, :, move] if move < POINTS else raw.passing[i]
        mixed = float(logits[0]) if len(logits) == 1 else (1 - optimism) * float(logits[0]) + optimism * float(logits[1])
        weights.append(math.exp(mixed) if legal[i, move] else 0.0)
    return np.array(weights) / sum(weights)


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("optimism", [0.0, 0.2, 1.0])
def test_priors_are_shares_of_legal_moves(channels, optimism):
    raw, legal = random_outputs(channels=channels), random_legal()
    priors = read_policy(raw, legal, optimism)
    assert priors.dtype == np.float32 and not priors[~legal].any()
    for i in range(4):
        assert np.allclose(priors[i], expected_priors(raw, legal, i, optimism), atol=1e-6)


def test_each_position_may_have_its_own_optimism():
    raw, legal, optimism = random_outputs(), random_legal(), np.array([0.0, 0.2, 0.7, 1.0])
    for i, priors in enumerate(read_policy(raw, legal, optimism)):
        assert np.allclose(priors, expected_priors(raw, legal, i, optimism[i]), atol=1e-6)


def test_huge_logits_do_not_overflow():
    raw, legal = random_outputs(), random_legal()
    raw.policy[:] *= 1e6
    assert np.allclose(read_policy(raw, legal).sum(axis=1), 1.0)


def test_a_position_without_legal_moves_has_no_priors():
    assert not read_policy(random_outputs(), np.zeros((4, POINTS + 1), bool)).any()


# --- values ---


def softplus(x):
    return x if x > 40.0 else math.log(1.0 + math.exp(x))


@pytest.mark.parametrize("version", range(8, 18))
@pytest.mark.parametrize("may_end_without_result", [True, False])
def test_values_follow_the_version(version, may_end_without_result):
    raw = random_outputs(scores=6 if version >= 9 else 4)
    values = read_values(raw, Header("net", version, NUMBERS), may_end_without_result)
    for i in range(4):
        win, loss, none = (math.exp(x) for x in raw.value[i])
        none *= may_end_without_result
        total = win + loss + none
        mean, deviation, lead = raw.score[i, 0] * 21.0, softplus(raw.score[i, 1]) * 22.0, raw.score[i, 2] * 23.0
        ends = 1.0 - none / total
        assert values.win[i] == pytest.approx(win / total) and values.loss[i] == pytest.approx(loss / total)
        assert values.no_result[i] == pytest.approx(none / total)
        assert values.score_mean[i] == pytest.approx(mean * ends) and values.lead[i] == pytest.approx(lead * ends)
        assert values.score_square[i] == pytest.approx((mean**2 + deviation**2) * ends)
        assert np.allclose(values.ownership[i], np.tanh(raw.ownership[i]))
        if not may_end_without_result:
            assert values.score_stdev[i] == pytest.approx(deviation)
        if version == 8:
            assert values.variance_time is None and values.value_error is None and values.score_error is None
            continue
        assert values.variance_time[i] == pytest.approx(softplus(raw.score[i, 3]) * 41.0)
        of_value, of_score = (float(x) for x in raw.score[i, 4:])
        if version == 9:
            errors = softplus(of_value), 10.0 * softplus(of_score)
        elif version < 14:
            errors = math.sqrt(0.3 * softplus(of_value)), math.sqrt(145.0 * softplus(of_score))
        else:
            errors = math.sqrt(0.3) * softplus(of_value / 2), math.sqrt(145.0) * softplus(of_score / 2)
        assert (values.value_error[i], values.score_error[i]) == pytest.approx(errors)


def test_each_position_may_have_its_own_rules():
    raw, header = random_outputs(), Header("net", 11)
    mixed = read_values(raw, header, np.array([True, False, True, False]))
    assert np.array_equal(mixed.no_result > 0, [True, False, True, False])
    assert np.array_equal(mixed.win[1::2], read_values(raw, header, False).win[1::2])


def test_outputs_that_are_not_finite_are_refused():
    for field in ("value", "score", "ownership"):
        raw = random_outputs()
        getattr(raw, field)[1].flat[0] = np.nan
        with pytest.raises(NetworkError, match="net gave an evaluation that is not finite"):
            read_values(raw, Header("net", 11), True)
    raw = random_outputs()
    raw.policy[2, 1, 3] = np.inf
    with pytest.raises(NetworkError, match="gave a policy that is not finite"):
        read_policy(raw, random_legal())


# --- symmetries ---

SQUARE = np.array([list("abc"), list("def"), list("ghi")])
SIDES = ["abc def ghi", "ghi def abc", "cba fed ihg", "ihg fed cba", "adg beh cfi", "gda heb ifc", "cfi beh adg", "ifc heb gda"]


@pytest.mark.parametrize(("symmetry", "side"), list(enumerate(SIDES)))
def test_sides_are_numbered_as_in_katago(symmetry, side):
    seen = look_from(SQUARE[None], symmetry)[0]
    assert " ".join("".join(row) for row in seen) == side
    assert np.array_equal(turn_back(seen[None], symmetry)[0], SQUARE)


@pytest.mark.parametrize("symmetry", range(8))
def test_boards_that_are_not_square_are_not_transposed(symmetry):
    board = np.arange(2 * 5 * 3 * 4).reshape(2, 5, 3, 4)
    seen = look_from(board, symmetry)
    assert np.array_equal(seen, look_from(board, symmetry % 4)) and np.array_equal(turn_back(seen, symmetry), board)


def test_each_position_may_be_seen_from_its_own_side():
    random = np.random.default_rng(0)
    planes, sides = random.random((20, 3, 5, 5)), random.integers(0, 8, 20)
    seen = look_from(planes, sides)
    for one, board, side in zip(seen, planes, sides, strict=True):
        assert np.array_equal(one, look_from(board[None], int(side))[0])
    assert np.array_equal(turn_back(seen, sides), planes)


@pytest.mark.parametrize("symmetry", [*range(8), np.array([3, 0, 6, 1])])
def test_outputs_are_turned_back(symmetry):
    raw = random_outputs()
    shape = 4, 2, HEIGHT, WIDTH
    seen = raw._replace(
        policy=look_from(raw.policy.reshape(shape), symmetry).reshape(raw.policy.shape),
        ownership=look_from(raw.ownership, symmetry),
    )
    for ours, theirs in zip(seen.turned_back(symmetry), raw, strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("symmetry", [-1, 8, np.array([0, 9])])
def test_there_are_8_symmetries(symmetry):
    with pytest.raises(OptionError, match="from 0 to 7"):
        look_from(np.zeros((2, 1, 3, 3)), symmetry)
