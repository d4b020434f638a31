"""Random numbers inside kernels: SplitMix64 (Steele, Lea & Flood 2014), one u8 of state.

The generator is an array of one `uint64` that callers pass in: one seed, one sequence, compiled or not. SplitMix64 is
short, passes BigCrush, and its additive state lets a processor start the next number before this one is mixed.
"""

import numpy as np

from anabranch.jit.dispatch import helper

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio: the step of the counter
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S32, S11 = (np.uint64(shift) for shift in (27, 30, 31, 32, 11))
UNIT = 2.0**-53  # spacing of the doubles that `uniform` returns


def generator(seed: int, stream: int = 0) -> np.ndarray:
    """A generator for `seed`; different streams of the same seed give different sequences."""
    state = np.random.SeedSequence([seed & (2**64 - 1), stream]).generate_state(1, np.uint64)
    return np.ascontiguousarray(state)


@helper
def mix(z):
    """Spread the bits of a u8: the finaliser of SplitMix64, also used to hash."""
    z = (z ^ (z >> S30)) * MIX_1
    z = (z ^ (z >> S27)) * MIX_2
    return z ^ (z >> S31)


@helper
def draw(random):
    """The next 64 random bits."""
    random[0] += GOLDEN
    return mix(random[0])


@helper
def below(random, n):
    """A uniform integer in 0 .. n-1, for n up to 2^31 (bias below n / 2^32)."""
    return np.int64(((draw(random) >> S32) * np.uint64(n)) >> S32)


@helper
def uniform(random):
    """A uniform double in [0, 1)."""
    return np.float64(draw(random) >> S11) * UNIT
