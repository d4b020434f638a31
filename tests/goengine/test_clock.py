"""Time: with whatever clock, nobody loses on time, and time that is there is used."""

import random

import pytest

from anabranch.games import Nim
from anabranch.games.go import Go
from anabranch.goengine.clock import FEWEST_TO_GO, KINDS, Clock, TimeSettings, moves_to_come
from tests.protocols.referee import Referee

SETTINGS = [
    TimeSettings("absolute", 10),
    TimeSettings("absolute", 300),
    TimeSettings("absolute", 3600),
    TimeSettings("canadian", 0, 10, 25),
    TimeSettings("canadian", 60, 30, 10),
    TimeSettings("canadian", 600, 300, 25),
    TimeSettings("canadian", 0, 5, 1),
    TimeSettings("byoyomi", 0, 1, 1),
    TimeSettings("byoyomi", 0, 5, 3),
    TimeSettings("byoyomi", 60, 10, 1),
    TimeSettings("byoyomi", 1200, 30, 5),
    TimeSettings("fischer", 10, 1),
    TimeSettings("fischer", 60, 0.5),
    TimeSettings("fischer", 300, 5),
]


def name_of(settings):
    return f"{settings.kind}-{settings.main:g}-{settings.period:g}-{settings.count}"


@pytest.mark.parametrize("is_told", [True, False], ids=["told by the arbiter", "left alone"])
@pytest.mark.parametrize("settings", SETTINGS, ids=name_of)
def test_no_game_is_lost_on_time(settings, is_told):
    """Games of up to 400 moves by each side: longer than any on 19x19. A search may end early, never late, but answers take a
    while to arrive."""
    for seed in range(20):
        dice = random.Random(f"{name_of(settings)} {seed}")
        clock, referee = Clock(settings), Referee(settings)
        for number in range(400):
            budget = clock.budget(0, to_go=max(120 - number // 2, 10))
            searched = budget.seconds * dice.choice((1.0, 1.0, dice.random()))
            spent = max(searched, 0.01) + dice.uniform(0.0, 0.02)
            referee.move(spent)
            clock.spend(0, spent)
            if is_told:
                clock.correct(0, *referee.told)


@pytest.mark.parametrize("settings", [one for one in SETTINGS if one.main + 100 * one.period >= 60], ids=name_of)
def test_a_slow_line_does_not_lose_the_first_hundred_moves(settings):
    """Almost all of the declared lag is lost on the way each time, where overtime leaves room for that."""
    lag = 0.25 if settings.kind != "canadian" or settings.period / settings.count > 0.6 else 0.02
    clock, referee = Clock(settings), Referee(settings)
    for number in range(100):
        spent = max(clock.budget(0, to_go=120 - number).seconds, 0.01) + lag
        referee.move(spent)
        clock.spend(0, spent)
        clock.correct(0, *referee.told)


@pytest.mark.parametrize("settings", SETTINGS, ids=name_of)
def test_time_is_used(settings):
    clock = Clock(settings)
    for number in range(100):
        budget = clock.budget(0, to_go=100 - number).seconds
        clock.spend(0, budget + 0.02)
        if settings.kind == "byoyomi" and clock.left[0].main <= 0:
            assert budget >= settings.period / 2
    if settings.main >= 60 and settings.kind == "absolute":
        assert clock.left[0].main < settings.main / 3


def test_the_two_players_have_clocks_of_their_own():
    clock = Clock(TimeSettings("absolute", 100))
    clock.spend(0, 40)
    assert (clock.left[0].main, clock.left[1].main) == (60, 100)
    clock.correct(1, 5, 0)
    assert clock.budget(1, 20).seconds < clock.budget(0, 20).seconds


def test_without_limit_there_is_no_budget():
    clock = Clock()
    clock.spend(0, 1000)
    assert clock.budget(0, 50) is None
    assert Clock(TimeSettings.canadian(0, 1, 0)).budget(0, 50) is None  # GTP's way to say so


def test_what_gtp_says_of_time_is_understood():
    assert TimeSettings.canadian(60, 0, 0) == TimeSettings("absolute", 60)
    assert TimeSettings.canadian(60, 30, 5) == TimeSettings("canadian", 60, 30, 5)
    assert TimeSettings.canadian(60, 30, 0) == TimeSettings()
    assert {settings.kind for settings in SETTINGS} | {"none"} == set(KINDS)


def test_main_time_is_spent_before_overtime_and_not_saved_for_it():
    clock = Clock(TimeSettings("byoyomi", 20, 30, 3))
    assert clock.budget(0, 100).seconds > 25  # a byo-yomi period can be had anyway
    clock.spend(0, 28)
    assert clock.left[0].main == 0 and clock.left[0].count == 3
    clock.spend(0, 65)  # two whole periods and a bit of the third
    assert clock.left[0].count == 1


def test_a_canadian_period_begins_anew_when_its_stones_are_played():
    clock = Clock(TimeSettings("canadian", 0, 30, 2))
    clock.spend(0, 10)
    assert (clock.left[0].time, clock.left[0].count) == (20, 1)
    assert clock.budget(0, 50).seconds > 19  # one stone: all that is left of the period
    clock.spend(0, 10)
    assert (clock.left[0].time, clock.left[0].count) == (30, 2)


def test_only_time_that_stays_is_worth_saving():
    assert Clock(TimeSettings("absolute", 100)).budget(0, 50).is_kept
    assert Clock(TimeSettings("fischer", 100, 5)).budget(0, 50).is_kept
    assert Clock(TimeSettings("canadian", 0, 100, 5)).budget(0, 50).is_kept
    assert not Clock(TimeSettings("byoyomi", 0, 30, 5)).budget(0, 50).is_kept


def test_the_emptier_a_board_of_go_the_more_moves_are_to_come():
    start, later = Go(19).start(), Go(19).position(["D4", "Q16", "D16"])
    assert moves_to_come(start) > moves_to_come(later) > moves_to_come(Go(9).start()) > FEWEST_TO_GO
    assert moves_to_come(Nim().start()) == FEWEST_TO_GO  # nothing is known


def test_capped_fischer_time_does_not_add_up_and_no_move_takes_longer_than_it_may():
    clock = Clock(TimeSettings("fischer", 100.0, 20.0, most=105.0, longest=6.0), lag=1.0)
    assert clock.budget(0, 5).seconds == 5.0
    clock.spend(0, 3.0)
    assert clock.left[0].main == 105.0
