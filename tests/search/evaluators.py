"""Evaluators in Python that know nothing but say it in detail: the same of the same position, and different of others."""

import hashlib

import numpy as np

from anabranch.games import ConnectFour


def numbers_of(states):
    """A number a position, from its bytes."""
    rows = np.ascontiguousarray(states).view(np.uint8).reshape(len(states), -1)
    return np.array([int.from_bytes(hashlib.blake2b(row.tobytes(), digest_size=7).digest()) for row in rows], np.uint64)


class Counting:
    """Priors and values from a hash of the position; counts calls and keeps what it was asked."""

    def __init__(self, batch=1, actions=ConnectFour.actions, fault=None, after=0):
        self.batch, self.actions, self.fault, self.after = batch, actions, fault, after
        self.calls = []  # the numbers of the positions of each call

    def __call__(self, states):
        numbers = numbers_of(states)
        self.calls.append(numbers.tolist())
        if self.fault is not None and len(self.calls) > self.after:
            return self.fault(self, len(states))
        shifts = np.arange(self.actions, dtype=np.uint64)
        priors = 1.0 + ((numbers[:, None] >> shifts) % np.uint64(7)).astype(float)
        return priors / priors.sum(axis=1, keepdims=True), (numbers % np.uint64(1999)).astype(float) / 999.0 - 1.0

    @property
    def asked(self):
        return [number for call in self.calls for number in call]
