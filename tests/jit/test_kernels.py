"""What a compilation leaves behind."""

import gc
import os
import random
import signal

import pytest

from anabranch.jit import kernel
from anabranch.jit import kernels as kernels_module
from anabranch.jit.kernels import Reporter

pytestmark = pytest.mark.when_compiled


def new_kernel():
    """A kernel that nobody has compiled before."""
    names = {}
    exec(f"def adds(x): return x + {random.SystemRandom().getrandbits(60)}", names)
    names["adds"].__module__ = __name__
    return kernel(names["adds"])


@pytest.fixture
def collecting(monkeypatch):
    """Whether garbage was collected when a compilation began, of each."""
    found = []

    class Watch(Reporter):
        def started(self, what):
            found.append(gc.isenabled())

    monkeypatch.setattr(kernels_module, "_reporter", Watch())
    yield found
    gc.enable()


def test_garbage_is_not_looked_for_while_a_kernel_is_compiled(collecting):
    adds = new_kernel()
    adds(1)
    assert adds.compilations == 1 and collecting == [False] and gc.isenabled()


def test_nor_afterwards_if_it_was_not_before(collecting):
    gc.disable()
    new_kernel()(1)
    assert collecting == [False] and not gc.isenabled()


class Alarm(Exception):
    pass


@pytest.mark.skipif(not hasattr(signal, "SIGUSR1"), reason="needs signals")
def test_what_a_signal_raises_while_a_kernel_compiles_is_not_taken_for_an_error_of_the_kernel(monkeypatch):
    def raise_alarm(number, frame):
        raise Alarm

    class Alarming(Reporter):
        def started(self, what):
            os.kill(os.getpid(), signal.SIGUSR1)

    monkeypatch.setattr(kernels_module, "_reporter", Alarming())
    before = signal.signal(signal.SIGUSR1, raise_alarm)
    try:
        adds = new_kernel()
        with pytest.raises(Alarm):
            adds(1)
        monkeypatch.setattr(kernels_module, "_reporter", Reporter())
        assert adds(1) > 1  # compiled all the same, or now
    finally:
        signal.signal(signal.SIGUSR1, before)
