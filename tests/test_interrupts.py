"""Signals that wait: in a block that holds them, but not while other people's code runs."""

import os
import signal
import threading

import pytest

from anabranch.interrupts import held, released


class Alarm(Exception):
    """What the handler raises."""


@pytest.fixture(autouse=True)
def came():
    """The signals whose handler ran; it raises each time."""
    numbers = []

    def handle(number, frame):
        numbers.append(number)
        raise Alarm

    before = {number: signal.signal(number, handle) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_waits_for_the_end_of_the_block(came):
    steps = []
    with pytest.raises(Alarm), held():
        signal.raise_signal(signal.SIGUSR1)
        steps.append("after the signal")
        assert not came
    assert steps and came == [signal.SIGUSR1]


def test_it_does_not_wait_while_other_peoples_code_runs(came):
    with held():
        with pytest.raises(Alarm), released():
            signal.raise_signal(signal.SIGUSR1)
        assert came == [signal.SIGUSR1]


def test_what_waits_comes_when_other_peoples_code_begins(came):
    with held():
        signal.raise_signal(signal.SIGUSR1)
        with pytest.raises(Alarm), released():
            raise AssertionError("it has come before")
    assert came == [signal.SIGUSR1]


def test_blocks_within_blocks(came):
    with held():
        with pytest.raises(Alarm), released(), held():
            signal.raise_signal(signal.SIGUSR1)
            assert not came
        assert came == [signal.SIGUSR1]
        signal.raise_signal(signal.SIGUSR2)
        assert came == [signal.SIGUSR1]
        with pytest.raises(Alarm), released():
            pass


def test_a_signal_is_not_lost_if_the_block_raises(came):
    with pytest.raises(Alarm) as found, held():
        signal.raise_signal(signal.SIGUSR1)
        raise ValueError
    assert isinstance(found.value.__context__, ValueError)


def test_handlers_are_as_they_were_afterwards():
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}
    for error in (None, ValueError):
        try:
            with held():
                with released():
                    pass
                if error:
                    raise error
        except ValueError:
            pass
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == before


def test_ctrl_c_can_be_asked_first():
    asked = []
    with held(lambda: not asked.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
    assert asked
    with pytest.raises(KeyboardInterrupt), held(lambda: False):
        os.kill(os.getpid(), signal.SIGINT)


def test_other_threads_have_nothing_to_do_with_it():
    results = []

    def work():
        with held(), released():
            results.append(signal.getsignal(signal.SIGINT))

    with held():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert len(results) == 1
