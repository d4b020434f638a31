"""A real KataGo network, and what KataGo itself says about one position. The folder with both is not part of the project."""

import re

import numpy as np
import pytest

from anabranch.nets.katago.model import KataGoModel
from anabranch.nets.katago.outputs import read_policy, read_values
from anabranch.nets.katago.symmetry import look_from
from tests.conftest import needs_folder
from tests.reference.katago_net import evaluate

FOLDER = needs_folder("ANABRANCH_KATAGO_DATA")
SIZE = 9
BLACK, WHITE = (6, 2), (3, 2)  # C3 and C6, from the top
KOMI = 7.5


@pytest.fixture(scope="module")
def model():
    return KataGoModel(FOLDER / "g170-b6c96-s175395328-d26788732.bin.gz")


def by_hand():
    """Planes and globals after B C3, W C6, Chinese rules, black to move."""
    planes, of_globals = np.zeros((1, 22, SIZE, SIZE), np.float32), np.zeros((1, 19), np.float32)
    planes[:, 0] = 1.0
    for plane in (1, 10, 18):  # own stones, the last move but one, own area
        planes[(0, plane, *BLACK)] = 1.0
    for plane in (2, 9, 19):
        planes[(0, plane, *WHITE)] = 1.0
    of_globals[0, 5], of_globals[0, 18] = -KOMI / 20.0, -0.5  # komi, and its wave
    return planes, of_globals


def expected():
    """By symmetry: numbers, policy and ownership."""
    answers = {}
    for part in (FOLDER / "rawnn-9x9.txt").read_text().split("symmetry ")[1:]:
        numbers = {name: float(number) for name, number in re.findall(r"^([a-zA-Z]+) ([-0-9.]+)$", part, re.MULTILINE)}
        policy, ownership = (
            np.array(part.split(f"\n{name}\n")[1].split()[: SIZE * SIZE], float) for name in ("policy", "whiteOwnership")
        )
        answers[int(part.split()[0])] = numbers, policy, ownership.reshape(SIZE, SIZE)
    return answers


def test_it_says_what_katago_says(model):
    planes, of_globals = by_hand()
    legal = np.append((planes[0, 1] + planes[0, 2] == 0).ravel(), True)
    answers = expected()
    assert len(answers) == 3
    for symmetry, (numbers, policy, ownership) in answers.items():
        raw = model(look_from(planes, symmetry), of_globals).turned_back(symmetry)
        priors, values = read_policy(raw, legal[None])[0], read_values(raw, model.header, may_end_without_result=True)
        assert values.loss[0] == pytest.approx(numbers["whiteWin"], abs=0.001)
        assert values.win[0] == pytest.approx(numbers["whiteLoss"], abs=0.001)
        assert values.no_result[0] == pytest.approx(numbers["noResult"], abs=0.00001)
        assert -values.lead[0] == pytest.approx(numbers["whiteLead"], abs=0.02)
        assert -values.score_mean[0] == pytest.approx(numbers["whiteScoreSelfplay"], abs=0.02)
        assert values.score_square[0] == pytest.approx(numbers["whiteScoreSelfplaySq"], abs=0.2)
        assert np.array_equal(np.isnan(policy), ~legal[:-1])
        assert np.abs(priors[:-1] - policy)[legal[:-1]].max() < 0.001
        assert priors[-1] == pytest.approx(numbers["policyPass"], abs=0.001)
        assert np.abs(-values.ownership[0] - ownership).max() < 0.002


def test_it_computes_what_the_slow_implementation_does(model):
    planes, of_globals = by_hand()
    wanted = evaluate(model.network, planes[0], of_globals[0])
    for ours, theirs in zip(model(planes, of_globals), wanted, strict=True):
        assert np.abs(ours.ravel() - theirs.ravel()).max() < 2e-5 * max(1.0, np.abs(theirs).max())
