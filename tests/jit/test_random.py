"""The generator: one seed one sequence, compiled or not, and uniform as far as a test can see."""

import numpy as np

from anabranch.jit import kernel
from anabranch.jit.random import below, draw, generator, uniform


@kernel
def many_below(random, n, out):
    for i in range(len(out)):
        out[i] = below(random, n)


@kernel
def many_uniform(random, out):
    for i in range(len(out)):
        out[i] = uniform(random)


def test_the_first_numbers_are_those_of_splitmix64():
    random = np.array([0], np.uint64)  # the published sequence for seed 0
    with np.errstate(over="ignore"):
        numbers = [int(draw(random)) for _ in range(3)]
    assert numbers == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_compiled_and_plain_draw_the_same_numbers():
    fast, slow = np.zeros(500, np.int64), np.zeros(500, np.int64)
    many_below(generator(7), 100, fast)
    many_below.plain(generator(7), 100, slow)
    assert (fast == slow).all()


def test_seeds_and_streams_give_different_sequences():
    states = {int(generator(seed, stream)[0]) for seed in range(50) for stream in range(4)}
    assert len(states) == 200


def test_numbers_below_n_are_uniform():
    out = np.zeros(70_000, np.int64)
    many_below(generator(1), 7, out)
    counts = np.bincount(out, minlength=7)
    chi_square = ((counts - 10_000) ** 2 / 10_000).sum()
    assert len(counts) == 7 and chi_square < 22.5  # 0.1 % of the distribution with 6 degrees of freedom


def test_uniform_numbers_stay_in_the_half_open_interval():
    out = np.zeros(100_000)
    many_uniform(generator(2), out)
    assert 0.0 <= out.min() < 0.001 and 0.999 < out.max() < 1.0
    assert abs(out.mean() - 0.5) < 0.005
