"""The cache of evaluations gives back what was put in, each position once, and forgets what was not asked for the longest."""

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anabranch.nets.cache import FEW, SEEN, SETS, WAYS, Cache


def keys(*numbers):
    return np.array([(number, number * 7) for number in numbers], np.uint64).reshape(-1, 2)


def answers(asked):
    """Numbers that tell whose answers they are."""
    return np.stack([asked[:, 0], asked[:, 1]], axis=1).astype(np.float32), asked[:, :1].astype(float)


def ask(cache, asked):
    """Look up and evaluate what is missing; which positions that were, and all answers."""
    found = cache.look_up(asked)
    cache.keep(asked, found, *answers(asked[found.first]))
    return asked[found.first][:, 0].tolist(), found


def test_a_position_is_evaluated_once():
    cache = Cache(actions=2, width=1, entries=100)
    assert ask(cache, keys(5, 6, 0))[0] == [5, 6, 0]
    assert ask(cache, keys(6, 7, 5, 0))[0] == [7]


def test_a_position_that_comes_twice_in_a_call_is_evaluated_once():
    for entries in (0, 100):
        evaluated, found = ask(Cache(2, 1, entries=entries), keys(3, 4, 3, 3, 4))
        assert evaluated == [3, 4]
        assert found.values[:, 0].tolist() == [3, 4, 3, 3, 4]


def test_without_entries_nothing_is_remembered():
    cache = Cache(2, 1, entries=0)
    assert ask(cache, keys(1))[0] == [1]
    assert ask(cache, keys(1))[0] == [1]


def test_what_was_not_asked_for_the_longest_goes_first():
    cache = Cache(2, 1, entries=WAYS)  # a single set
    for number in range(WAYS):
        ask(cache, keys(number))
    ask(cache, keys(0))
    assert ask(cache, keys(100))[0] == [100]
    assert ask(cache, keys(0, *range(2, WAYS), 100))[0] == []
    assert ask(cache, keys(1))[0] == [1]


def test_the_first_answer_stays():
    cache = Cache(2, 1, entries=8)
    first, second = cache.look_up(keys(1)), cache.look_up(keys(1))
    for found, value in ((first, 0.25), (second, 0.75)):
        cache.keep(keys(1), found, np.zeros((1, 2), np.float32), np.full((1, 1), value))
    assert cache.look_up(keys(1)).values[0, 0] == 0.25


def test_a_cache_keeps_to_its_memory():
    for room in (0, 64_000, 640_000):
        rows = Cache(actions=7, width=1, room=room).table.keys.base
        assert room * (1 - 2 / FEW) - WAYS * rows.itemsize <= rows.nbytes <= room


def test_a_cache_begins_small_and_forgets_nothing_before_it_has_grown():
    cache = Cache(2, 1, entries=256 * WAYS * FEW)
    for start in range(0, 4000, 500):
        ask(cache, keys(*range(start, start + 500)))
        used = WAYS * int(cache.table.counters[SETS])
        assert used <= 64 * max(start, WAYS * FEW), "what is not needed is not touched"
        assert not cache.table.times[used:].any()
    assert used > 4000
    assert ask(cache, keys(*range(4000)))[0] == []


def test_clear_forgets():
    for entries in (8, 20_000):
        cache = Cache(2, 1, entries=entries)
        ask(cache, keys(*range(2000)))
        cache.clear()
        assert not cache.table.times.any()
        assert ask(cache, keys(1))[0] == [1]


@given(st.lists(st.lists(st.integers(0, 40), max_size=20), max_size=20), st.integers(0, 64))
def test_answers_are_those_of_the_position_whatever_was_asked_before(calls, entries):
    cache = Cache(2, 1, entries=entries)
    for numbers in calls:
        asked = keys(*numbers)
        evaluated, found = ask(cache, asked)
        assert len(evaluated) == len(set(evaluated)) and set(evaluated) <= set(numbers)
        assert np.array_equal(found.priors, answers(asked)[0]) and np.array_equal(found.values, answers(asked)[1])
        assert all((place == SEEN) == (number not in evaluated) for place, number in zip(found.place, numbers, strict=True))


def test_threads_share_a_cache():
    cache = Cache(2, 1, entries=1_000)
    wrong = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(100):
            asked = keys(*random.integers(2_000, size=16))
            _, found = ask(cache, asked)
            wrong.extend(np.flatnonzero(found.values[:, 0] != asked[:, 0]))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
